//! What training starts from: the bytes of every word, or the tokens that an encoder cuts it into.
//!
//! In: a word. Out: its tokens, as training numbers them: the bytes in GPT-2's order, then the tokens that are there already.
//!
//! A table that somebody else made may have tokens that its own merges never give, or merges that use tokens of a higher
//! rank. Applied one after the other, such merges do not cut a word as its encoder does, so the encoder itself is asked.
//! Training then makes new tokens only: a new merge to a token that exists would change the ids of text that needs no new
//! token. And since no old merge knows of a new token, encoding with old and new merges cuts every word as training did.

use crate::bpe::Merger;
use crate::check_in::CheckIn;
use crate::counts::Counted;
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::vocabulary::Vocabulary;
use crate::word::Word;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub struct Start<'e>(Option<OldTable<'e>>);

/// The table that training continues, which somebody may have made elsewhere.
struct OldTable<'e> {
    encoder: &'e Encoder,
    /// Of every id of the encoder; special tokens and ids without a token have none.
    numbers: Vec<Option<u32>>,
    vocabulary: Vocabulary,
}

impl<'e> Start<'e> {
    /// `ids` are those of all tokens but the special ones, in the order of training's numbers: the bytes come first.
    pub fn encoded(encoder: &'e Encoder, ids: &[u32]) -> Result<Self> {
        let mut vocabulary = Vocabulary::new();
        vocabulary.only_new = true;
        let mut numbers = vec![None; encoder.vocabulary_size()];
        for (number, &id) in (0..).zip(ids) {
            let token = encoder.token(id).unwrap_or_default();
            if token.is_empty() || vocabulary.number(token)? != number {
                return Err(Error::Invalid(format!("token {id} cannot be number {number} of a training")));
            }
            numbers[id as usize] = Some(number);
        }
        Ok(Self(Some(OldTable { encoder, numbers, vocabulary })))
    }

    pub fn vocabulary(&self) -> Vocabulary {
        self.0.as_ref().map_or_else(Vocabulary::new, |old| old.vocabulary.clone())
    }

    /// Of a token that is there at the start, in bytes.
    #[inline]
    pub fn length(&self, number: u32) -> usize {
        match &self.0 {
            Some(old) if number > 255 => old.vocabulary.length(number),
            _ => 1,
        }
    }

    /// Cuts word after word; each thread needs its own.
    pub fn cutter<'s>(&'s self, stop: &'s AtomicBool) -> Cutter<'s> {
        Cutter { start: self, stop, merger: Merger::default(), numbers: Vec::new() }
    }
}

pub struct Cutter<'s> {
    start: &'s Start<'s>,
    stop: &'s AtomicBool,
    merger: Merger,
    numbers: Vec<u32>,
}

impl Cutter<'_> {
    /// The numbers of a word's tokens; `None` where all are bytes, as they mostly are: nobody need write them down.
    #[inline]
    pub fn cut(&mut self, word: &[u8]) -> Result<Option<&[u32]>> {
        let start = self.start;
        match &start.0 {
            None => Ok(None),
            Some(old) => {
                self.encode(old, word)?;
                Ok(Some(&self.numbers[..]).filter(|numbers| numbers.len() < word.len()))
            }
        }
    }

    fn encode(&mut self, old: &OldTable, word: &[u8]) -> Result<()> {
        let mut go_on = || !self.stop.load(Ordering::Relaxed);
        old.encoder.cut(Word::from(word), &mut self.merger, &mut CheckIn::new(&mut go_on))?;
        self.numbers.clear();
        for &id in &self.merger.ids {
            let number = old.numbers[id as usize];
            self.numbers.push(number.ok_or_else(|| {
                Error::Invalid(format!("token {id} has no number, but text is cut into it"))
            })?);
        }
        Ok(())
    }

    /// The number of tokens of a word.
    pub fn count(&mut self, word: &[u8]) -> Result<u64> {
        Ok(self.cut(word)?.map_or(word.len(), <[u32]>::len) as u64)
    }

    /// The number of tokens of a text.
    pub fn count_all(&mut self, text: &Counted) -> Result<u64> {
        let mut tokens = 0;
        for (word, count) in text.iter() {
            tokens += self.count(word)? * count;
        }
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Pretokenizer;
    use crate::strings::StringsBuf;
    use crate::tokens::Tokens;
    use crate::vocabulary::byte_ranks;

    /// The bytes; `abc`, made of `a` and `bc`, whose rank is higher; and `xyz`, which no merge makes.
    fn encoder() -> Encoder {
        let bytes = (0..=255_u8).map(|byte| vec![byte]);
        let tokens: StringsBuf = bytes.chain([b"abc".to_vec(), b"bc".to_vec(), b"xyz".to_vec()]).collect();
        let merges = [[97, 257, 256], [98, 99, 257]];
        let (whole, tokens) = (Pretokenizer::new(None).unwrap(), Tokens::new(tokens).unwrap());
        Encoder::new(whole, false, tokens, &[], &merges, true, &mut CheckIn::never()).unwrap()
    }

    fn ids() -> Vec<u32> {
        let mut ids: Vec<u32> = (0..=258).collect();
        for (byte, rank) in (0..).zip(byte_ranks()) {
            ids[usize::from(rank)] = byte;
        }
        ids
    }

    #[test]
    fn words_start_as_the_encoder_cuts_them() {
        let (encoder, stop) = (encoder(), AtomicBool::new(false));
        let start = Start::encoded(&encoder, &ids()).unwrap();
        let number = |byte: u8| u32::from(byte_ranks()[usize::from(byte)]);
        let mut cutter = start.cutter(&stop);
        assert_eq!(cutter.cut(b"xabc").unwrap(), Some(&[number(b'x'), 256][..]));
        assert_eq!(cutter.cut(b"xyz").unwrap(), Some(&[258][..]));
        assert_eq!(cutter.cut(b"xyzx").unwrap(), None, "all are bytes");
        assert_eq!(cutter.count(b"abcbc").unwrap(), 2);
        assert_eq!((start.length(256), start.length(number(b'x'))), (3, 1));
        let vocabulary = start.vocabulary();
        assert!(!vocabulary.may_join(number(b'a'), 257), "abc is there");
        assert!(vocabulary.may_join(256, 257));
    }

    #[test]
    fn tokens_in_another_order_are_refused() {
        let mut swapped = ids();
        swapped.swap(0, 1);
        for wrong in [&ids()[1..], &swapped, &[ids(), vec![258]].concat(), &[ids(), vec![999]].concat()] {
            assert!(Start::encoded(&encoder(), wrong).is_err());
        }
    }
}
