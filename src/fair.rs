//! The pair that saves all languages together the most, where a token less is worth more in a language that costs more.
//!
//! In: what each language costs now and then, and the pairs that are born in any. Out: the pair of the highest score, which
//! is the sum of its counts in all languages, each by the weight of that language.
//!
//! A pair that may be the next is kept as a row of its counts. Counts only fall after a pair's birth, so a row that is out
//! of date shows what the pair scores at most, whatever the weights are; it is put right when it comes to the top.

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::pair::{Candidate, Pair};
use crate::queue::{Admission, order};
use crate::turns::Gauge;
use crate::vocabulary::Vocabulary;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::MutexGuard;

/// What a power is at least, so that every language weighs something.
const LEAST: f64 = 1e-280;
/// Train texts are worth so many units at least and at most, so that no weight is out of range.
const SIZES: (f64, f64) = (1e-20, 1e20);
/// Rows below this share of the best score wait.
const RUNNING_FROM: f64 = 0.5;
/// Weights below this share of the largest are taken for it where rows are told apart: they may soon be larger.
const SMALL_WEIGHT: f64 = 0.01;
/// More than what sums are rounded by.
const ROUNDING: f64 = 1.0 + 1e-9;

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

/// A pair, its score, and its counts in the languages where it occurs: as they were at some time.
struct Row {
    score: f64,
    pair: Pair,
    counts: Box<[(u32, u64)]>,
}

impl Row {
    fn new(pair: Pair, learners: &[MutexGuard<Learner>]) -> Row {
        let counts = (0..).zip(learners).map(|(language, learner)| (language, learner.count(pair)));
        Row { score: 0.0, pair, counts: counts.filter(|&(_, count)| count > 0).collect() }
    }

    fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    fn by(&self, weights: &[f64]) -> f64 {
        self.counts
            .iter()
            .fold(0.0, |sum, &(language, count)| sum + weights[language as usize] * count as f64)
    }

    /// Puts the counts right; `false` if they were.
    fn recount(&mut self, learners: &[MutexGuard<Learner>]) -> bool {
        let mut changed = false;
        for (language, count) in &mut self.counts {
            let now = learners[*language as usize].count(self.pair);
            changed |= now != *count;
            *count = now;
        }
        changed
    }
}

impl Ord for Row {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.pair.cmp(&other.pair))
    }
}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Row {}

/// The weights, and the pairs by their scores.
pub struct Fair {
    beta: f64,
    /// How many units of the measure, such as dev lines, the train text of each language is worth.
    sizes: Vec<f64>,
    weights: Vec<f64>,
    /// The scores of `running` are not by these weights.
    changed: bool,
    running: BinaryHeap<Row>,
    waiting: Vec<Row>,
    /// What waits, and what has no row, scores at most `limit` by these weights.
    limit_by: Vec<f64>,
    limit: f64,
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
            changed: false,
            running: BinaryHeap::new(),
            waiting: Vec::new(),
            limit_by: sizes.clone(),
            sizes,
            limit: f64::INFINITY,
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
        self.changed = true;
    }

    /// The pair of the highest score; on a tie, the first in the order of their counts. All learners are up to date.
    pub fn best(
        &mut self,
        learners: &mut [MutexGuard<Learner>],
        vocabulary: &Vocabulary,
        admission: &Admission,
    ) -> Option<Candidate> {
        if self.changed {
            let mut rows = std::mem::take(&mut self.running).into_vec();
            rows.iter_mut().for_each(|row| row.score = row.by(&self.weights));
            self.running = rows.into();
            self.changed = false;
        }
        self.take_in_born(learners, vocabulary, admission);
        loop {
            let top = self.top(learners, vocabulary, admission);
            let growth =
                self.weights.iter().zip(&self.limit_by).map(|(now, then)| now / then).fold(0.0, f64::max);
            match top {
                Some((score, candidate)) if score > self.limit * growth * ROUNDING => return Some(candidate),
                _ if self.limit == 0.0 => return top.map(|(_, candidate)| candidate), // nothing waits
                _ => self.list_anew(top.map(|(score, _)| score), learners, vocabulary, admission),
            }
        }
    }

    /// A pair that is frequent enough in several languages is taken from the first of them.
    fn take_in_born(
        &mut self,
        learners: &mut [MutexGuard<Learner>],
        vocabulary: &Vocabulary,
        admission: &Admission,
    ) {
        for language in 0..learners.len() {
            for Candidate { pair, .. } in learners[language].take_born() {
                if learners[..language].iter().all(|other| other.count(pair) < other.queued_from()) {
                    let mut row = Row::new(pair, learners);
                    if admission.admits(&Candidate { count: row.total(), pair }, vocabulary) {
                        row.score = row.by(&self.weights);
                        self.list(row);
                    }
                }
            }
        }
    }

    fn list(&mut self, row: Row) {
        if row.by(&self.limit_by) < self.limit {
            self.waiting.push(row);
        } else {
            self.running.push(row);
        }
    }

    fn top(
        &mut self,
        learners: &[MutexGuard<Learner>],
        vocabulary: &Vocabulary,
        admission: &Admission,
    ) -> Option<(f64, Candidate)> {
        let mut best: Option<(f64, Candidate)> = None;
        let mut seen: Vec<Row> = Vec::new();
        while let Some(mut row) = self.running.pop() {
            if best.is_some_and(|(most, _)| row.score < most) {
                self.running.push(row);
                break;
            }
            let changed = row.recount(learners);
            let candidate = Candidate { count: row.total(), pair: row.pair };
            if candidate.count < admission.floor() {
                continue;
            }
            if changed {
                row.score = row.by(&self.weights);
                self.running.push(row);
                continue;
            }
            if seen.last() == Some(&row) {
                continue; // it came a second time, as a rare pair
            }
            if best.is_none_or(|(_, other)| order(&candidate, &other, vocabulary).is_gt()) {
                best = Some((row.score, candidate));
            }
            seen.push(row);
        }
        self.running.extend(seen);
        best
    }

    /// Decides anew which rows wait and which pairs have none.
    fn list_anew(
        &mut self,
        best: Option<f64>,
        learners: &mut [MutexGuard<Learner>],
        vocabulary: &Vocabulary,
        admission: &Admission,
    ) {
        let best = best.unwrap_or_else(|| {
            let waiting = self.waiting.iter().map(|row| row.by(&self.weights));
            let rarer = learners.iter().zip(&self.weights);
            let rarer = rarer.map(|(learner, weight)| weight * learner.most_of_the_rarer() as f64);
            waiting.chain(rarer).fold(0.0, f64::max)
        });
        self.limit = best * RUNNING_FROM;
        let least = self.sizes.iter().map(|size| SMALL_WEIGHT / size);
        self.limit_by = self.weights.iter().zip(least).map(|(&weight, least)| weight.max(least)).collect();
        let before: Vec<u64> = learners.iter().map(|learner| learner.queued_from()).collect();
        let each = self.limit / learners.len() as f64;
        let mut rows: Vec<Row> = std::mem::take(&mut self.running).into_vec();
        rows.append(&mut self.waiting);
        for language in 0..learners.len() {
            // No pair without a row then scores more than `each` in any language.
            let from = (each / self.limit_by[language]) as u64 + 1;
            for Candidate { pair, .. } in learners[language].take_rarer(from) {
                let row = Row::new(pair, learners);
                let is_there = row.counts.iter().any(|&(other, count)| {
                    count >= before[other as usize]
                        || (other as usize) < language && count >= learners[other as usize].queued_from()
                });
                if !is_there && admission.admits(&Candidate { count: row.total(), pair }, vocabulary) {
                    rows.push(row);
                }
            }
        }
        rows.iter_mut().for_each(|row| row.score = row.by(&self.weights));
        let (running, waiting) = rows.into_iter().partition(|row| row.by(&self.limit_by) >= self.limit);
        (self.running, self.waiting) = (Vec::into(running), waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn weights_are_renewed_less_often_as_merges_change_less() {
        assert!((0..2048).all(is_time_to_weigh));
        let between = |merges: std::ops::Range<usize>| merges.filter(|&done| is_time_to_weigh(done)).count();
        assert_eq!((between(2048..4096), between(4096..8192), between(16384..32768)), (1024, 1024, 1024));
    }
}
