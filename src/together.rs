//! All languages at once, for policies that ask each of them about a pair.
//!
//! In: learners, and the log. Out: how often a pair occurs in each language. Most tokens occur in few languages, so most
//! languages are neither asked about a pair nor told of a merge.

use crate::learner::Learner;
use crate::log::{Log, Reader};
use crate::pair::Pair;
use crate::queue::Admission;
use crate::shard::Scratch;
use crate::vocabulary::Vocabulary;

pub struct Together {
    pub learners: Vec<Learner>,
    pub occurring: Occurring,
    reader: Reader,
}

impl Together {
    /// `tokens`: how many there are before the first merge of the log.
    pub fn new(learners: Vec<Learner>, tokens: usize) -> Self {
        let mut occurring = Occurring { words: learners.len().div_ceil(64), bits: Vec::new() };
        for token in 0..tokens {
            let seen = (0..learners.len()).filter(|&language| learners[language].has_seen(token));
            occurring.note(token, seen);
        }
        Together { learners, occurring, reader: Reader::default() }
    }

    /// Applies the next batch of merges; `false` when there was none.
    pub fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) -> bool {
        let merges = self.reader.next_batch(log);
        for merge in merges {
            let with_both = self.occurring.languages(Pair::new(merge.left, merge.right));
            let merged: Vec<usize> = with_both
                .filter(|&language| {
                    self.learners[language].apply(merge, scratch);
                    self.learners[language].has_seen(merge.new as usize)
                })
                .collect();
            self.occurring.note(merge.new as usize, merged.into_iter());
        }
        !merges.is_empty()
    }
}

/// What the next pair is chosen from.
pub struct Now<'n> {
    pub together: &'n mut Together,
    pub vocabulary: &'n Vocabulary,
    pub admission: &'n Admission,
}

/// In which languages each token has occurred.
pub struct Occurring {
    /// Bit l of a token: it has occurred in language l. So many words of bits for each token.
    words: usize,
    bits: Vec<u64>,
}

impl Occurring {
    /// A merge may make a token that was there before, in languages that did not have it.
    fn note(&mut self, token: usize, languages: impl Iterator<Item = usize>) {
        let size = self.bits.len().max((token + 1) * self.words);
        self.bits.resize(size, 0);
        for language in languages {
            self.bits[token * self.words + language / 64] |= 1 << (language % 64);
        }
    }

    /// Those in which both tokens of a pair have occurred, in ascending order. In all others the pair never did.
    pub fn languages(&self, pair: Pair) -> impl Iterator<Item = usize> {
        let of = |token: u32| &self.bits[token as usize * self.words..][..self.words];
        let both = of(pair.left()).iter().zip(of(pair.right()));
        both.enumerate().flat_map(|(word, (left, right))| {
            let mut rest = left & right;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.checked_sub(1)?;
                Some(64 * word + bit)
            })
        })
    }
}
