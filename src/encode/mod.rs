//! Encoding: text -> pre-tokens -> ids, and back.
//!
//! In: the tables of a tokenizer, and text. Out: ids, pre-token by pre-token; for ids, the bytes.
//!
//! The rule is that of every byte-level BPE: within a pre-token, merge the adjacent pair of the lowest rank, the leftmost one
//! on a tie, until no pair has a rank ([`crate::bpe`]). Pre-tokens that are tokens are looked up, and those seen before come
//! from a cache; this changes nothing but the time.

mod batch;
mod cache;
mod given;
mod slot;
#[cfg(test)]
mod tests;

pub use batch::batch;
pub use cache::MOST_SLOTS;
pub use given::{SpecialRules, Specials, Text};

use crate::bpe::{Merger, Pairs};
use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::pair::Pair;
use crate::split::Pretokenizer;
use crate::tokens::{self, Halves, IdsByBytes, Ranks, Tokens, byte_ids};
use crate::unicode::to_nfc;
use crate::word::Word;
use cache::{Cache, OpenCache};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How many pre-tokens wait while their places in the cache are prefetched.
const AHEAD: usize = 32;

/// In bytes: the buffers for a longer text are not kept.
const LONG_TEXT: usize = 1 << 20;

/// What a thread needs while it encodes.
struct Workspace<'c> {
    cache: OpenCache<'c>,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    merger: Merger,
    ids: Vec<u32>,
}

/// The ids of some texts end to end, and where those of each text end.
pub struct Encoded {
    pub ids: Vec<u32>,
    pub ends: Vec<usize>,
}

pub struct Encoder {
    pretokenizer: Pretokenizer,
    nfc: bool,
    tokens: Tokens,
    byte_ids: [u32; 256],
    ranks: Ranks,
    /// Pre-tokens that merging turns into one token, as a shortcut. With `whole_pretokens`, also tokens that merging never
    /// produces, as in tiktoken and with `ignore_merges`.
    ids_by_bytes: IdsByBytes,
    origins: Vec<Option<Pair>>,
    cache: Cache,
    /// Taken for some texts and given back.
    buffers: Mutex<Vec<Buffers>>,
}

impl Encoder {
    /// `merges` are (left, right, new) in the order of their ranks; the first of equal pairs counts.
    pub fn new(
        pretokenizer: Pretokenizer,
        nfc: bool,
        tokens: Tokens,
        special: &[u32],
        merges: &[[u32; 3]],
        whole_pretokens: bool,
        check_in: &mut CheckIn,
    ) -> Result<Self> {
        let by_bytes = tokens.by_bytes(special);
        let byte_ids = byte_ids(&by_bytes)?;
        let ranks = Ranks::new(merges, &tokens, &byte_ids)?;
        let mut ids: Vec<u32> = by_bytes.into_values().collect();
        let origins = find_origins(&tokens, special, &byte_ids, &ranks, check_in)?;
        if !whole_pretokens {
            ids.retain(|&id| origins[id as usize].is_some());
        }
        let ids_by_bytes = IdsByBytes::new(ids.into_iter(), &tokens);
        let (cache, buffers) = (Cache::new(MOST_SLOTS), Mutex::default());
        Ok(Self { pretokenizer, nfc, tokens, byte_ids, ranks, ids_by_bytes, origins, cache, buffers })
    }

    /// With a cache whose tables have at most this many slots: a power of two, and at least 2.
    pub fn with_cache(self, cache_slots: usize) -> Self {
        Self { cache: Cache::new(cache_slots.clamp(2, MOST_SLOTS).next_power_of_two()), ..self }
    }

    /// The bytes of a token.
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        self.tokens.get(id)
    }

    /// All ids are below this.
    pub fn vocabulary_size(&self) -> usize {
        self.tokens.size()
    }

    /// For every id, the two parts of its token when its bytes are encoded, whatever the list of merges says; none for bytes,
    /// special tokens, and tokens that merging never produces.
    pub fn origins(&self) -> &[Option<Pair>] {
        &self.origins
    }

    /// Calls `emit` with the ids, in order, a few at a time.
    pub fn encode(
        &self,
        text: Text,
        rules: SpecialRules,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        self.with_workspace(&[text], |workspace| self.one(text, rules, workspace, check_in, emit))
    }

    fn with_workspace<T>(&self, texts: &[Text], work: impl FnOnce(&mut Workspace) -> T) -> T {
        let pool = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let buffers = pool().pop().unwrap_or_default();
        let mut workspace = Workspace { cache: self.cache.open(), buffers };
        let result = work(&mut workspace);
        let is_long = texts.iter().any(|text| text.bytes().len() > LONG_TEXT);
        pool().push(if is_long { Buffers::default() } else { workspace.buffers });
        result
    }

    fn one(
        &self,
        text: Text,
        rules: SpecialRules,
        workspace: &mut Workspace,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        if let Some(disallowed) = rules.disallowed
            && let Some((_, start, end)) = disallowed.find(text.bytes(), 0)
        {
            let token = String::from_utf8_lossy(&text.bytes()[start..end]);
            return Err(Error::Invalid(format!(
                "the text contains the special token {token:?} (at byte {start}). To encode it as that token pass \
                 allowed_special={{{token:?}}} (--special-tokens token), to read it as plain text pass \
                 disallowed_special=() (--special-tokens text)."
            )));
        }
        self.with_specials(text, rules.allowed, workspace, check_in, emit)
    }

    /// The ids of some texts.
    pub fn encode_all(&self, texts: &[Text], rules: SpecialRules, check_in: &mut CheckIn) -> Result<Encoded> {
        let size: usize = texts.iter().map(|text| text.bytes().len()).sum();
        // About as many as most texts need, so the list rarely grows.
        let mut ids = Vec::with_capacity(size / 3);
        let mut ends = Vec::with_capacity(texts.len());
        self.with_workspace(texts, |workspace| {
            for &text in texts {
                self.one(text, rules, workspace, check_in, &mut |some| ids.extend_from_slice(some))?;
                ends.push(ids.len());
            }
            Ok(Encoded { ids, ends })
        })
    }

    /// How many ids each text has, without keeping them.
    pub fn count_all(
        &self,
        texts: &[Text],
        rules: SpecialRules,
        check_in: &mut CheckIn,
    ) -> Result<Vec<usize>> {
        let mut counts = Vec::with_capacity(texts.len());
        self.with_workspace(texts, |workspace| {
            for &text in texts {
                let mut count = 0;
                self.one(text, rules, workspace, check_in, &mut |some| count += some.len())?;
                counts.push(count);
            }
            Ok(counts)
        })
    }

    fn with_specials(
        &self,
        text: Text,
        allowed: Option<&Specials>,
        workspace: &mut Workspace,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        let bytes = text.bytes();
        let mut done = 0;
        while let Some((id, start, end)) = allowed.and_then(|specials| specials.find(bytes, done)) {
            self.plain(text.slice(done, start), workspace, check_in, emit)?;
            emit(&[id]);
            done = end;
        }
        self.plain(text.slice(done, bytes.len()), workspace, check_in, emit)
    }

    /// Text without special tokens. Stretches of bytes that are not UTF-8 are pre-tokens of their own.
    fn plain(
        &self,
        text: Text,
        workspace: &mut Workspace,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        match text {
            Text::Str(text) => self.valid(text, workspace, check_in, emit),
            Text::Bytes(bytes) => {
                let mut done = 0;
                let mut invalid = 0..0;
                for chunk in bytes.utf8_chunks() {
                    if !chunk.valid().is_empty() {
                        self.look_up(only(bytes, &invalid).as_slice(), workspace, check_in, emit)?;
                        self.valid(chunk.valid(), workspace, check_in, emit)?;
                        done += chunk.valid().len();
                        invalid = done..done;
                    }
                    done += chunk.invalid().len();
                    invalid.end = done;
                }
                self.look_up(only(bytes, &invalid).as_slice(), workspace, check_in, emit)
            }
        }
    }

    fn valid(
        &self,
        text: &str,
        workspace: &mut Workspace,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        let text = if self.nfc { to_nfc(text, check_in)? } else { Cow::Borrowed(text) };
        let mut waiting = [Word::default(); AHEAD];
        let mut count = 0;
        let mut outcome = Ok(());
        self.pretokenizer.split(&text, check_in, &mut |pretoken, check_in| {
            let word = Word::new(text.as_bytes(), pretoken);
            workspace.cache.prefetch(&word);
            waiting[count] = word;
            count += 1;
            if count == AHEAD {
                count = 0;
                if outcome.is_ok() {
                    outcome = self.look_up(&waiting, workspace, check_in, emit);
                }
            }
        })?;
        outcome?;
        self.look_up(&waiting[..count], workspace, check_in, emit)
    }

    /// Encodes some pre-tokens, at most [`AHEAD`], whose places in the cache are prefetched.
    #[inline(never)]
    fn look_up(
        &self,
        words: &[Word],
        workspace: &mut Workspace,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        let Workspace { cache, buffers: Buffers { merger, ids } } = workspace;
        let mut is_new = false;
        ids.clear();
        for (i, word) in words.iter().enumerate() {
            if cache.get(word, ids) {
                continue;
            }
            if !is_new {
                // If one word is new, others probably are too: prefetch what they will need.
                words[i..].iter().for_each(|word| self.ids_by_bytes.prefetch(word));
                is_new = true;
            }
            self.cut(*word, merger, check_in)?;
            cache.insert(word, &merger.ids);
            ids.extend_from_slice(&merger.ids);
        }
        emit(ids);
        Ok(())
    }

    /// Puts the ids of a pre-token into `merger.ids`, bypassing the cache.
    pub(crate) fn cut(&self, word: Word, merger: &mut Merger, check_in: &mut CheckIn) -> Result<()> {
        if word.bytes.len() > i32::MAX as usize {
            return Err(Error::Invalid(format!(
                "a pre-token of {} bytes is too long to encode; give the text in smaller pieces",
                word.bytes.len()
            )));
        }
        if let Some(id) = self.ids_by_bytes.get(word, &self.tokens) {
            merger.ids.clear();
            merger.ids.push(id);
            return Ok(());
        }
        merger.merge(word.bytes, &self.byte_ids, &self.ranks, check_in)
    }

    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for &id in ids {
            let token = self.tokens.get(id).ok_or_else(|| {
                let last = self.tokens.size() - 1;
                Error::Invalid(format!("id {id} is not in the vocabulary, whose ids go from 0 to {last}"))
            })?;
            bytes.extend_from_slice(token);
        }
        Ok(bytes)
    }
}

/// A pre-token, or none if it is empty.
fn only<'t>(text: &'t [u8], pretoken: &Range<usize>) -> Option<Word<'t>> {
    (!pretoken.is_empty()).then(|| Word::new(text, pretoken.clone()))
}

fn find_origins(
    tokens: &Tokens,
    special: &[u32],
    byte_ids: &[u32; 256],
    ranks: &Ranks,
    check_in: &mut CheckIn,
) -> Result<Vec<Option<Pair>>> {
    let halves = |_: &[u8], length| Halves { pairs: ranks, length };
    let mut origins = tokens::origins(tokens, special, byte_ids, halves, check_in)?;
    for (id, origin) in (0..).zip(&mut origins) {
        *origin = origin.filter(|pair| ranks.ranked(pair.left(), pair.right(), 0, 0) as u32 == id);
    }
    Ok(origins)
}
