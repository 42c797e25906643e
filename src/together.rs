//! All languages at once, for policies that ask each of them about a pair.
//!
//! In: learners, and the log. Out: how often a pair occurs in each language. Most tokens occur in few languages, so most
//! languages are neither asked about a pair nor told of a merge.

use crate::learner::Learner;
use crate::log::{Log, Reader};
use crate::pair::{Candidate, Pair};
use crate::queue::Admission;
use crate::shard::Scratch;
use crate::vocabulary::Vocabulary;

pub struct Together {
    pub learners: Vec<Learner>,
    pub occurring: Occurring,
    reader: Reader,
    /// The pair of the next merge, and where it occurs: not nearly everywhere where both of its tokens do.
    chosen: Option<(Pair, Vec<usize>)>,
    /// Of one merge. Kept so that nothing is allocated.
    births: Vec<Birth>,
    /// Those of pairs that a learner wants to know of, pair by pair; `None` where the learners keep their own.
    born: Option<Vec<Birth>>,
}

/// A pair that a merge made, and how often it occurs in a language.
#[derive(Clone, Copy)]
pub struct Birth {
    pub pair: Pair,
    pub language: u32,
    pub count: u64,
}

impl Together {
    /// `tokens`: how many there are before the first merge of the log. `tells`: whether pairs are taken from here when they are
    /// born, rather than from the learners.
    pub fn new(learners: Vec<Learner>, tokens: usize, tells: bool) -> Self {
        let mut occurring = Occurring { words: learners.len().div_ceil(64), bits: Vec::new() };
        for token in 0..tokens {
            let seen = (0..learners.len()).filter(|&language| learners[language].has_seen(token));
            occurring.note(token, seen);
        }
        let born = tells.then(Vec::new);
        Together { learners, occurring, reader: Reader::default(), chosen: None, births: Vec::new(), born }
    }

    /// Says in which languages the pair of the next merge occurs, so that no other is asked.
    pub fn choose(&mut self, pair: Pair, languages: Vec<usize>) {
        self.chosen = Some((pair, languages));
    }

    /// Applies the next batch of merges; `false` when there was none.
    pub fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) -> bool {
        let mut reader = std::mem::take(&mut self.reader);
        let merges = reader.next_batch(log);
        for merge in merges {
            let new = merge.new as usize;
            let is_made_again = self.occurring.knows(new);
            let pair = Pair::new(merge.left, merge.right);
            let asked = match self.chosen.take() {
                Some((chosen, languages)) if chosen == pair => languages,
                _ => self.occurring.languages(pair).collect(),
            };
            let merged: Vec<usize> = asked
                .into_iter()
                .filter(|&language| {
                    let learner = &mut self.learners[language];
                    if self.born.is_none() {
                        learner.apply(merge, scratch);
                    } else {
                        learner.apply_and_tell(merge, scratch, |Candidate { pair, count }| {
                            self.births.push(Birth { pair, language: language as u32, count });
                        });
                    }
                    learner.has_seen(new)
                })
                .collect();
            self.occurring.note(new, merged.into_iter());
            self.keep_births(is_made_again);
        }
        let any = !merges.is_empty();
        self.reader = reader;
        any
    }

    fn keep_births(&mut self, is_made_again: bool) {
        let Some(born) = &mut self.born else { return };
        let is_frequent = |birth: &Birth| birth.count >= self.learners[birth.language as usize].queued_from();
        if !self.births.iter().any(is_frequent) {
            return self.births.clear();
        }
        self.births.sort_unstable_by_key(|birth| (birth.pair, birth.language));
        for births in self.births.chunk_by(|a, b| a.pair == b.pair) {
            if !births.iter().any(is_frequent) {
                continue;
            }
            if is_made_again {
                // The pair may have occurred before, also where it was not born now.
                let pair = births[0].pair;
                born.extend(births_of(pair, &self.learners, &self.occurring));
            } else {
                born.extend_from_slice(births);
            }
        }
        self.births.clear();
    }

    /// What was born since the last call, pair by pair.
    pub fn take_born(&mut self) -> Vec<Birth> {
        self.born.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A pair as if it were born now.
    pub fn births_of(&self, pair: Pair) -> impl Iterator<Item = Birth> {
        births_of(pair, &self.learners, &self.occurring)
    }
}

fn births_of(pair: Pair, learners: &[Learner], occurring: &Occurring) -> impl Iterator<Item = Birth> {
    let birth = move |language: usize| Birth {
        pair,
        language: language as u32,
        count: learners[language].count(pair),
    };
    occurring.languages(pair).map(birth).filter(|birth| birth.count > 0)
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
    fn knows(&self, token: usize) -> bool {
        (token + 1) * self.words <= self.bits.len()
    }

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
