//! All languages at once, for policies that ask each of them about a pair.
//!
//! In: the learners, which helper threads bring up to date meanwhile, and where each merge occurs. Out: how often a pair
//! occurs in each language, and the pairs that merges made.
//!
//! A learner need not be up to date for that: a merge changes the counts of pairs with one of its own tokens and of no others,
//! so a count is right unless a merge that has yet to be applied has a token in common with the pair.

use crate::check_in::CheckIn;
use crate::error::Result;
use crate::learner::{Learner, Pool};
use crate::log::{Log, Places, ones};
use crate::pair::{Candidate, Pair};
use crate::queue::Admission;
use crate::shard::{Merge, Scratch};
use crate::vocabulary::Vocabulary;
use std::sync::MutexGuard;

pub struct Together<'p> {
    pool: &'p Pool<'p>,
    log: &'p Log,
    /// The merges in the log.
    merges: usize,
    /// So many of them have been applied by all learners.
    settled: usize,
    /// Of each token: how many merges there were after the last that made it or joined it to another.
    touched: Vec<usize>,
    occurring: Occurring,
    /// Where the next merge occurs, and where those do that are not settled.
    chosen: Places,
    unsettled: Places,
    /// The token of the last merge, if it was there before.
    made_again: Option<u32>,
    /// Whether the last merge joined a token to itself.
    is_last_doubled: bool,
    /// Of each language: tokens fewer than at the start.
    pub saved: Vec<u64>,
}

/// A pair that a merge made, and how often it occurs in a language.
#[derive(Clone, Copy)]
pub struct Birth {
    pub pair: Pair,
    pub language: u32,
    pub count: u64,
}

impl<'p> Together<'p> {
    /// The learners are up to date with the log, which has so many `merges`; so many `tokens` there are by now. `tells`: whether
    /// pairs are taken from here when they are born, rather than from the learners.
    pub fn new(pool: &'p Pool<'p>, log: &'p Log, merges: usize, tokens: usize, tells: bool) -> Self {
        let mut occurring = Occurring::new(pool.len(), tokens);
        let mut saved = Vec::new();
        for language in 0..pool.len() {
            let mut learner = pool.learner(language);
            for token in (0..tokens).filter(|&token| learner.has_seen(token)) {
                occurring.note(token, language);
            }
            saved.push(learner.saved);
            if tells {
                learner.keep_all_born();
            }
        }
        Together {
            pool,
            log,
            merges,
            settled: merges,
            touched: vec![0; tokens],
            occurring,
            chosen: Places::new(pool.len()),
            unsettled: Places::new(pool.len()),
            made_again: None,
            is_last_doubled: false,
            saved,
        }
    }

    /// So many merges all learners have applied.
    pub fn settled(&self) -> usize {
        self.settled
    }

    /// How many merges some learner may have yet to apply.
    pub fn ahead(&self) -> usize {
        self.merges - self.settled
    }

    /// Whether a pair that the last merge made may occur more often than its older neighbour did: (a, ab) where (a, a) was
    /// merged, or one that was there before.
    pub fn is_last_odd(&self) -> bool {
        self.made_again.is_some() || self.is_last_doubled
    }

    /// So many merges there were after the last that changed how often a pair occurs.
    pub fn touched(&self, pair: Pair) -> usize {
        self.touched[pair.left() as usize].max(self.touched[pair.right() as usize])
    }

    /// The learner of a language, which may not be up to date.
    pub fn learner(&self, language: usize) -> MutexGuard<'p, Learner> {
        self.pool.learner(language)
    }

    /// The same, up to date.
    pub fn learner_of_now(&self, language: usize, scratch: &mut Scratch) -> MutexGuard<'p, Learner> {
        let mut learner = self.learner(language);
        while learner.catch_up(self.log, scratch) {}
        learner
    }

    /// How often a pair occurs in a language.
    pub fn count(&self, language: usize, pair: Pair, scratch: &mut Scratch) -> u64 {
        let mut learner = self.learner(language);
        if learner.read() < self.touched(pair) {
            while learner.catch_up(self.log, scratch) {}
        }
        learner.count(pair)
    }

    /// The languages in which both tokens of a pair have occurred: in all others it never did.
    pub fn may_occur(&self, pair: Pair) -> impl Iterator<Item = usize> {
        self.occurring.languages(pair)
    }

    /// A pair as if it were born now.
    pub fn births_of(&self, pair: Pair, scratch: &mut Scratch) -> impl Iterator<Item = Birth> {
        let birth = move |language: usize| Birth {
            pair,
            language: language as u32,
            count: self.count(language, pair, scratch),
        };
        self.may_occur(pair).map(birth).filter(|birth| birth.count > 0)
    }

    /// Says how often the pair of the next merge occurs, in each language where it does.
    pub fn choose(&mut self, counts: impl Iterator<Item = (usize, u64)>) {
        self.chosen.clear();
        for (language, count) in counts {
            self.chosen.insert(language);
            self.saved[language] += count;
        }
    }

    pub fn chosen(&self) -> &Places {
        &self.chosen
    }

    /// To be called when the chosen merge is in the log.
    pub fn note(&mut self, merge: &Merge, scratch: &mut Scratch) {
        self.merges += 1;
        self.is_last_doubled = merge.left == merge.right;
        let is_new = merge.new as usize == self.touched.len();
        if is_new {
            self.touched.push(0);
        } else {
            self.made_again = Some(merge.new);
        }
        for token in [merge.left, merge.right, merge.new] {
            self.touched[token as usize] = self.merges;
        }
        for language in self.chosen.iter() {
            self.occurring.note(merge.new as usize, language);
            self.unsettled.insert(language);
            if self.is_last_doubled {
                // In `aaa` the pair is there twice, and is merged once.
                self.saved[language] = self.learner_of_now(language, scratch).saved;
            }
        }
    }

    /// Brings all learners up to date, while helper threads do the same. Returns the pairs born since the last time, in
    /// ascending order, each with its counts in all languages.
    pub fn settle(&mut self, scratch: &mut Scratch, check_in: &mut CheckIn) -> Result<Vec<Birth>> {
        let mut births = Vec::new();
        let mut take_born = |language: usize, mut learner: MutexGuard<Learner>| -> Result<()> {
            while learner.catch_up(self.log, scratch) {
                check_in.look()?;
            }
            let birth = |Candidate { pair, count }| Birth { pair, language: language as u32, count };
            births.extend(learner.take_born().map(birth));
            Ok(())
        };
        // First those that no helper has.
        let mut busy = Vec::new();
        for language in self.unsettled.iter() {
            match self.pool.idle_learner(language) {
                Some(learner) => take_born(language, learner)?,
                None => busy.push(language),
            }
        }
        for language in busy {
            take_born(language, self.learner(language))?;
        }
        if let Some(token) = self.made_again.take() {
            // Its pairs may have occurred before, also where they were not born now.
            let mut pairs: Vec<Pair> =
                births.iter().map(|birth| birth.pair).filter(|pair| pair.has(token)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            births.retain(|birth| !birth.pair.has(token));
            for pair in pairs {
                births.extend(self.births_of(pair, scratch));
            }
        }
        self.unsettled.clear();
        self.settled = self.merges;
        births.sort_unstable_by_key(|birth| (birth.pair, birth.language));
        Ok(births)
    }
}

/// What the next pair is chosen from.
pub struct Now<'n, 'p> {
    pub together: &'n mut Together<'p>,
    pub vocabulary: &'n Vocabulary,
    pub admission: &'n Admission,
    pub scratch: &'n mut Scratch,
}

/// In which languages each token has occurred.
struct Occurring {
    /// Bit l of a token: it has occurred in language l. So many words of bits for each token.
    words: usize,
    bits: Vec<u64>,
}

impl Occurring {
    fn new(languages: usize, tokens: usize) -> Occurring {
        let words = languages.div_ceil(64);
        Occurring { words, bits: vec![0; tokens * words] }
    }

    /// A merge may make a token that was there before, in languages that did not have it.
    fn note(&mut self, token: usize, language: usize) {
        let size = self.bits.len().max((token + 1) * self.words);
        self.bits.resize(size, 0);
        self.bits[token * self.words + language / 64] |= 1 << (language % 64);
    }

    /// Those in which both tokens of a pair have occurred, in ascending order.
    fn languages(&self, pair: Pair) -> impl Iterator<Item = usize> {
        let of = |token: u32| &self.bits[token as usize * self.words..][..self.words];
        ones(of(pair.left()).iter().zip(of(pair.right())).map(|(left, right)| left & right))
    }
}
