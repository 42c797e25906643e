//! Where tokens occur: most of them do in few languages, so most languages need not be asked about a pair.
//!
//! In: learners that are up to date with the log. Out: the languages in which both tokens of a pair have occurred. In all
//! others the pair never did.

use crate::learner::Learner;
use crate::log::{Log, Reader};
use crate::pair::Pair;
use std::sync::MutexGuard;

#[derive(Default)]
pub struct Occurring {
    reader: Reader,
    /// Bit l of a token: it has occurred in language l. So many words of bits for each token.
    words: usize,
    bits: Vec<u64>,
}

impl Occurring {
    /// `tokens`: how many there are now.
    pub fn catch_up(&mut self, tokens: usize, log: &Log, learners: &[MutexGuard<Learner>]) {
        let is_first = self.bits.is_empty();
        self.words = learners.len().div_ceil(64);
        self.bits.resize(tokens * self.words, 0);
        if is_first {
            (0..tokens).for_each(|token| self.note(token, learners));
        }
        loop {
            // A merge may make a token that was there before, in languages that did not have it.
            let made: Vec<u32> = self.reader.next_batch(log).iter().map(|merge| merge.new).collect();
            if made.is_empty() {
                return;
            }
            for token in made {
                self.note(token as usize, learners);
            }
        }
    }

    fn note(&mut self, token: usize, learners: &[MutexGuard<Learner>]) {
        for (language, learner) in learners.iter().enumerate() {
            if learner.has_seen(token) {
                self.bits[token * self.words + language / 64] |= 1 << (language % 64);
            }
        }
    }

    /// In ascending order.
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
