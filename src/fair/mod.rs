//! The pair that saves all languages together the most, where a token less is worth more in a language that costs more.
//!
//! In: what each language costs now and then, and the pairs that are born in any. Out: the pair of the highest score, which
//! is the sum of its counts in all languages, each by the weight of that language.
//!
//! A pair that may be the next is kept as a row of its counts. Counts only fall after a pair's birth, so a row that is out
//! of date shows what the pair scores at most, whatever the weights are; it is put right when it comes to the top. Thousands of
//! rows are scored anew whenever weights change, so rows lie end to end; those near the top are in a heap as well.

mod rows;

use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::heap::Heap;
use crate::joint::ROUNDING;
use crate::learner::Learner;
use crate::pair::{Candidate, Pair};
use crate::queue::order;
use crate::together::{Now, Together};
use crate::turns::Gauge;
use crate::vocabulary::Vocabulary;
use rows::Rows;
use std::cmp::Ordering;

/// What a power is at least, so that every language weighs something.
const LEAST: f64 = 1e-280;
/// Train texts are worth so many units at least and at most, so that no weight is out of range.
const SIZES: (f64, f64) = (1e-20, 1e20);
/// Rows below this share of the best score wait.
const RUNNING_FROM: f64 = 0.7;
/// Weights below this share of the largest are taken for it where rows are told apart: they may soon be larger.
const SMALL_WEIGHT: f64 = 0.01;
/// Rows from this share of the best score on are in the heap.
const NEAR_FROM: f64 = 0.97;

/// Rows that may run, however few did when they were listed.
const FEW: usize = 10_000;

/// After every merge up to 2048, every second up to 4096, every fourth up to 8192, and so on.
pub fn is_time_to_weigh(merges: usize) -> bool {
    let doublings = (usize::BITS - merges.leading_zeros()).saturating_sub(11);
    merges.is_multiple_of(1 << doublings)
}

/// `measured`: whether each language is.
pub fn check(beta: f64, measured: bool) -> Result<()> {
    if !beta.is_finite() || beta < 0.0 {
        return Err(Error::Invalid(format!("beta is {beta}, and must be a finite number, 0 or more")));
    }
    if !measured {
        return Err(Error::Invalid("beta weighs languages by what they cost: each needs a measure".into()));
    }
    Ok(())
}

/// The same on every machine: products and square roots are rounded in one way only, `powf` is not.
pub fn power(base: f64, exponent: f64) -> f64 {
    let (mut result, mut square, mut whole) = (1.0, base, exponent.floor());
    while whole > 0.0 {
        let half = (whole / 2.0).floor();
        if whole > 2.0 * half {
            result *= square;
        }
        (square, whole) = (square * square, half);
    }
    let (mut root, mut part) = (base, exponent - exponent.floor());
    while part > 0.0 {
        (root, part) = (root.sqrt(), 2.0 * part);
        if part >= 1.0 {
            (result, part) = (result * root, part - 1.0);
        }
    }
    result
}

/// A row in the heap: what it scores and counts, or more.
#[derive(Clone, Copy)]
struct Near {
    score: f64,
    candidate: Candidate,
    row: usize,
}

impl Near {
    fn order(&self, other: &Near, vocabulary: &Vocabulary) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| order(&self.candidate, &other.candidate, vocabulary))
    }
}

/// The weights, and the pairs by their scores.
pub struct Fair {
    beta: f64,
    /// How many units of the measure, such as dev lines, the train text of each language is worth.
    sizes: Vec<f64>,
    weights: Vec<f64>,
    running: Rows,
    /// Of `running`: what each scores, or more. Empty when the weights have changed.
    scores: Vec<f64>,
    /// The rows that score `near_limit` and more.
    near: Heap<Near>,
    near_limit: f64,
    waiting: Rows,
    /// What waits, and what has no row, scores at most `limit` by these weights.
    limit_by: Vec<f64>,
    limit: f64,
    /// With more rows than this, too many run: the limit has become too low.
    most_running: usize,
}

impl Fair {
    /// From what the languages have before the first merge.
    pub fn new(beta: f64, train_tokens: &[u64], gauges: &[Gauge]) -> Fair {
        let size = |(&tokens, gauge): (&u64, &Gauge)| tokens as f64 * gauge.rate();
        let sizes = train_tokens.iter().zip(gauges).map(size).map(|size| size.max(SIZES.0).min(SIZES.1));
        let sizes: Vec<f64> = sizes.collect();
        let mut fair = Fair {
            beta,
            weights: Vec::new(),
            running: Rows::default(),
            scores: Vec::new(),
            near: Heap::default(),
            near_limit: f64::INFINITY,
            waiting: Rows::default(),
            limit_by: sizes.clone(),
            sizes,
            limit: f64::INFINITY,
            most_running: FEW,
        };
        fair.weigh(gauges);
        fair
    }

    /// The dearest language has the power 1, the others less.
    pub fn weigh(&mut self, gauges: &[Gauge]) {
        let lowest = gauges.iter().map(Gauge::rate).fold(f64::INFINITY, f64::min);
        let share = |gauge: &Gauge| (lowest / gauge.rate()).clamp(0.0, 1.0);
        let powers = gauges.iter().map(|gauge| power(share(gauge), self.beta).max(LEAST));
        self.weights = powers.zip(&self.sizes).map(|(power, size)| power / size).collect();
        self.scores.clear();
    }

    /// The pair of the highest score; on a tie, the first in the order of their counts. Millions of pairs may have to be
    /// listed for it.
    pub fn best(&mut self, mut now: Now, check_in: &mut CheckIn) -> Result<Option<Candidate>> {
        if self.scores.is_empty() {
            self.score_all();
        }
        self.take_in_born(&mut now);
        if self.running.len() > self.most_running {
            self.list_anew(&mut now, check_in)?;
        }
        loop {
            let top = self.top(&now);
            let growth =
                self.weights.iter().zip(&self.limit_by).map(|(now, then)| now / then).fold(0.0, f64::max);
            match top {
                Some((score, candidate)) if score > self.limit * growth * ROUNDING => {
                    return Ok(Some(candidate));
                }
                _ if self.limit == 0.0 => return Ok(top.map(|(_, candidate)| candidate)), // nothing waits
                _ => self.list_anew(&mut now, check_in)?,
            }
        }
    }

    fn score_all(&mut self) {
        let Self { running, weights, .. } = self;
        self.scores = (0..running.len()).map(|row| running.score(row, weights)).collect();
        self.near.clear();
        self.near_limit = f64::INFINITY;
    }

    /// Puts the rows that come next into the heap; `false` if there are none.
    fn bring_near(&mut self, vocabulary: &Vocabulary) -> bool {
        let below = self.near_limit;
        let best = self.scores.iter().copied().filter(|score| *score < below).fold(0.0, f64::max);
        if best == 0.0 {
            return false;
        }
        self.near_limit = best * NEAR_FROM;
        for row in 0..self.running.len() {
            if self.scores[row] < below {
                self.near_or_not(row, vocabulary);
            }
        }
        true
    }

    /// A pair is born in all languages at once, since equal stretches are cut alike in all: no row lacks a language.
    fn take_in_born(&mut self, now: &mut Now) {
        let born = now.together.learners.iter_mut().flat_map(Learner::take_born);
        let mut born: Vec<Pair> = born.map(|candidate| candidate.pair).collect();
        born.sort_unstable();
        born.dedup();
        for pair in born {
            self.list(pair, now);
        }
    }

    fn list(&mut self, pair: Pair, now: &Now) {
        let row = self.running.len();
        self.running.push_new(pair, now.together);
        let candidate = Candidate { count: self.running.total(row), pair };
        let is_admitted = now.admission.admits(&candidate, now.vocabulary);
        if is_admitted && self.running.score(row, &self.limit_by) >= self.limit {
            self.scores.push(self.running.score(row, &self.weights));
            self.near_or_not(row, now.vocabulary);
            return;
        }
        if is_admitted {
            self.waiting.push(pair, self.running.counts(row));
        }
        self.running.pop();
    }

    fn near_or_not(&mut self, row: usize, vocabulary: &Vocabulary) {
        let score = self.scores[row];
        if score >= self.near_limit {
            let candidate = Candidate { count: self.running.total(row), pair: self.running.pairs[row] };
            self.near.push(Near { score, candidate, row }, |a, b| a.order(b, vocabulary));
        }
    }

    fn top(&mut self, now: &Now) -> Option<(f64, Candidate)> {
        let order = |a: &Near, b: &Near| a.order(b, now.vocabulary);
        loop {
            let Some(&Near { candidate, row, score }) = self.near.top() else {
                if !self.bring_near(now.vocabulary) {
                    return None;
                }
                continue;
            };
            let changed = self.running.recount(row, &now.together.learners);
            let candidate = Candidate { count: self.running.total(row), ..candidate };
            let is_frequent = candidate.count >= now.admission.floor();
            if is_frequent && !changed {
                return Some((score, candidate));
            }
            let score = if is_frequent { self.running.score(row, &self.weights) } else { 0.0 };
            self.scores[row] = score;
            if score >= self.near_limit {
                self.near.lower_top(Near { score, candidate, row }, order);
            } else {
                self.near.pop(order);
            }
        }
    }

    /// Decides anew which rows wait and which pairs have none.
    fn list_anew(&mut self, now: &mut Now, check_in: &mut CheckIn) -> Result<()> {
        self.limit = RUNNING_FROM * self.most(now, check_in)?;
        let least = self.sizes.iter().map(|size| SMALL_WEIGHT / size);
        self.limit_by = self.weights.iter().zip(least).map(|(&weight, least)| weight.max(least)).collect();
        for old in [std::mem::take(&mut self.running), std::mem::take(&mut self.waiting)] {
            // Counts only fall: what is too rare stays so.
            for row in (0..old.len()).filter(|&row| old.total(row) >= now.admission.floor()) {
                let runs = old.score(row, &self.limit_by) >= self.limit;
                let rows = if runs { &mut self.running } else { &mut self.waiting };
                rows.push(old.pairs[row], old.counts(row));
                check_in.now()?;
            }
        }
        self.score_all();
        let before: Vec<u64> = now.together.learners.iter().map(Learner::queued_from).collect();
        let each = self.limit / before.len() as f64;
        for language in 0..before.len() {
            // No pair without a row then scores more than `each` in any language.
            let from = ((each / self.limit_by[language]) as u64).saturating_add(1);
            for Candidate { pair, .. } in now.together.learners[language].take_rarer(from) {
                let Together { learners, occurring, .. } = &*now.together;
                let is_there = occurring.languages(pair).any(|other| {
                    let count = learners[other].count(pair);
                    count >= before[other] || other < language && count >= learners[other].queued_from()
                });
                if !is_there {
                    self.list(pair, now);
                }
                check_in.now()?;
            }
            check_in.look()?;
        }
        self.most_running = 2 * self.running.len() + FEW;
        Ok(())
    }

    /// What the best row scores, or a little more; if there is none, the best pair in one language alone.
    fn most(&self, now: &Now, check_in: &mut CheckIn) -> Result<f64> {
        let waiting = (0..self.waiting.len()).map(|row| self.waiting.score(row, &self.weights));
        let mut most = self.scores.iter().copied().chain(waiting).fold(0.0, f64::max);
        if most == 0.0 {
            for (learner, weight) in now.together.learners.iter().zip(&self.weights) {
                most = most.max(weight * learner.most_of_the_rarer() as f64);
                check_in.look()?;
            }
        }
        Ok(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::WordCounts;
    use crate::learner::Pool;
    use crate::log::Log;
    use crate::queue::Admission;
    use crate::shard::MOST_SYMBOLS;
    use crate::start::Start;
    use std::sync::atomic::AtomicBool;

    /// `tests/training/test_fair.py` has the same numbers.
    #[test]
    fn powers_are_the_same_everywhere() {
        let powers = [(0.97, 150.0), (0.3, 0.1), (0.999, 1234.75), (0.5, 3.5), (0.2, 1e5), (0.7, 0.0)];
        let bits = powers.map(|(base, exponent)| power(base, exponent).to_bits());
        assert_eq!(
            bits,
            [
                0x3f853ca22d9c463f,
                0x3fec5ec42b8b4a10,
                0x3fd29b48d8527e46,
                0x3fb6a09e667f3bcd,
                0x0000000000000000,
                0x3ff0000000000000
            ]
        );
    }

    #[test]
    fn listing_pairs_can_be_stopped() {
        let words = WordCounts { words: [b"abcde"].iter().collect(), counts: vec![3] };
        let (log, stop) = (Log::default(), AtomicBool::new(false));
        let texts = [words.counted()];
        let mut pool = Pool::new(&[&texts], &Start::default(), MOST_SYMBOLS, &log, false, 1, &stop).unwrap();
        let now = Now {
            together: &mut Together::new(pool.take_learners(), 256),
            vocabulary: &Vocabulary::new(),
            admission: &Admission { min_frequency: 0, max_token_length: 9, whole_characters: false },
        };
        let mut fair = Fair::new(1.0, &[15], &[Gauge { units: 3.0, ratio: 1.0, tokens: 15 }]);
        assert!(matches!(fair.best(now, &mut CheckIn::impatient()), Err(Error::Interrupted)));
    }

    #[test]
    fn weights_are_renewed_less_often_as_merges_change_less() {
        assert!((0..2048).all(is_time_to_weigh));
        let between = |merges: std::ops::Range<usize>| merges.filter(|&done| is_time_to_weigh(done)).count();
        assert_eq!((between(2048..4096), between(4096..8192), between(16384..32768)), (1024, 1024, 1024));
    }
}
