//! The pair that saves all languages together the most, where a token less is worth more in a language that costs more.
//!
//! In: what each language costs, updated now and then, and the pairs born in any language. Out: the pair with the highest
//! score, which is the sum of its counts in all languages, each times the weight of that language.
//!
//! Every pair that may come next has a row of counts. Counts only fall after a pair is born, so an outdated row gives an
//! upper bound of the score under any weights, and is corrected only when it reaches the top. New weights mean new scores:
//! only the rows near the top (`running`) are scored again, the others wait in tiers until their bound reaches the top.

mod rows;
mod tiers;
mod weights;

use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::heap::Heap;
use crate::pair::{Candidate, Pair};
use crate::queue::order;
use crate::together::{Birth, Now};
use crate::turns::Gauge;
use crate::vocabulary::Vocabulary;
use rows::Rows;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use tiers::{Bound, FEW, TIERS, Tier};
pub use weights::{is_time_to_weigh, power};

/// What a power is at least, so that every language weighs something.
const LEAST: f64 = 1e-280;
/// Train texts are worth so many units at least and at most, so that no weight is out of range.
const SIZES: (f64, f64) = (1e-20, 1e20);
/// Pairs that cannot reach this share of the best score have no row.
const LISTED_FROM: f64 = 0.15;
/// Bounds take powers below this share of the largest for it: they may soon be larger.
const SMALL_POWER: f64 = 0.01;
/// Rows from this share of the best score on are in the heap.
const NEAR_FROM: f64 = 0.97;

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
    most_running: usize,
    /// Of `running`: what each scores, or more. Empty when the weights have changed.
    scores: Vec<f64>,
    /// The rows that score `near_limit` and more.
    near: Heap<Near>,
    near_limit: f64,
    /// From high bounds to low ones.
    tiers: Vec<Tier>,
    /// Of the pairs that have no row.
    unlisted: Bound,
    /// Those that have one, or had.
    listed: FxHashSet<Pair>,
    /// The highest power in the languages of the last pair. A dearer language may have no pair left.
    power: f64,
    /// Empty: memory for sorting.
    spare: Vec<Rows>,
}

impl Fair {
    /// From what the languages have before the first merge.
    pub fn new(beta: f64, train_tokens: &[u64], gauges: &[Gauge]) -> Fair {
        let size = |(&tokens, gauge): (&u64, &Gauge)| tokens as f64 * gauge.rate();
        let sizes = train_tokens.iter().zip(gauges).map(size).map(|size| size.max(SIZES.0).min(SIZES.1));
        let sizes: Vec<f64> = sizes.collect();
        // Nothing waits yet, and no pair has a row: by whatever weights.
        let bound = |limit: f64| Bound::new(sizes.clone(), limit, &sizes);
        let mut fair = Fair {
            beta,
            weights: Vec::new(),
            running: Rows::default(),
            most_running: FEW,
            scores: Vec::new(),
            near: Heap::default(),
            near_limit: f64::INFINITY,
            tiers: TIERS.map(|_| Tier::new(bound(0.0))).into(),
            unlisted: bound(f64::INFINITY),
            listed: FxHashSet::default(),
            power: 1.0,
            spare: Vec::new(),
            sizes,
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
        for bound in self.tiers.iter_mut().map(|tier| &mut tier.bound).chain([&mut self.unlisted]) {
            bound.weigh(&self.weights);
        }
    }

    /// The pair of the highest score; on a tie, the first in the order of their counts. Millions of pairs may have to be
    /// listed for it.
    pub fn best(&mut self, mut now: Now, check_in: &mut CheckIn) -> Result<Option<Candidate>> {
        if self.scores.is_empty() {
            self.score_all();
        }
        self.take_in_born(&mut now);
        if self.running.len() > self.most_running {
            self.open(1, &now, check_in)?;
        }
        loop {
            let top = self.top(&now);
            let most = top.map_or(0.0, |top| top.score);
            if let Some(last) = self.tiers.iter().rposition(|tier| tier.bound.reaches(most)) {
                self.open(last + 1, &now, check_in)?;
            } else if self.unlisted.reaches(most) {
                self.list_rarer(most, &mut now, check_in)?;
            } else {
                if let Some(Near { row, candidate, .. }) = top {
                    self.power = self.highest_power(row);
                    now.together.choose(candidate.pair, self.running.languages(row).collect());
                }
                return Ok(top.map(|top| top.candidate));
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

    fn take_in_born(&mut self, now: &mut Now) {
        for births in now.together.take_born().chunk_by(|a, b| a.pair == b.pair) {
            let pair = births[0].pair;
            self.listed.insert(pair);
            self.list(pair, births.iter().copied(), now);
        }
    }

    fn list(&mut self, pair: Pair, births: impl Iterator<Item = Birth>, now: &Now) {
        let row = self.running.len();
        self.running.push(pair, births);
        let candidate = Candidate { count: self.running.total(row), pair };
        if !now.admission.admits(&candidate, now.vocabulary) {
            return self.running.pop();
        }
        let below = |tier: &&mut Tier| self.running.score(row, &tier.bound.by) < tier.bound.limit;
        match self.tiers.iter_mut().rev().find(below) {
            Some(tier) => {
                tier.rows.push_from(&self.running, row);
                self.running.pop();
            }
            None => {
                self.scores.push(self.running.score(row, &self.weights));
                self.near_or_not(row, now.vocabulary);
            }
        }
    }

    fn near_or_not(&mut self, row: usize, vocabulary: &Vocabulary) {
        let score = self.scores[row];
        if score >= self.near_limit {
            let candidate = Candidate { count: self.running.total(row), pair: self.running.pairs[row] };
            self.near.push(Near { score, candidate, row }, |a, b| a.order(b, vocabulary));
        }
    }

    fn top(&mut self, now: &Now) -> Option<Near> {
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
                return Some(Near { score, candidate, row });
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

    /// Sorts the rows that run and those of the first tiers anew, and of further tiers that have too many.
    fn open(&mut self, at_least: usize, now: &Now, check_in: &mut CheckIn) -> Result<()> {
        let tiers =
            (at_least..TIERS.len()).find(|&last| self.tiers[last - 1].has_room()).unwrap_or(TIERS.len());
        let (by, opened) = (self.weights_to_come(), &mut self.tiers[..tiers]);
        let mut old = std::mem::take(&mut self.spare);
        old.resize_with(TIERS.len() + 1, Rows::default);
        let unsorted = opened.iter_mut().map(|tier| &mut tier.rows).chain([&mut self.running]);
        unsorted.zip(&mut old).for_each(|(rows, old)| std::mem::swap(rows, old));
        let (mut most, mut at_most) = (0.0, Vec::with_capacity(old.iter().map(Rows::len).sum()));
        for rows in &old {
            for row in 0..rows.len() {
                // Counts only fall: what is too rare stays so.
                let is_frequent = rows.total(row) >= now.admission.floor();
                most = f64::max(most, if is_frequent { rows.score(row, &self.weights) } else { 0.0 });
                at_most.push(is_frequent.then(|| rows.score(row, &by)));
                check_in.now()?;
            }
        }
        for (tier, share) in opened.iter_mut().zip(TIERS) {
            tier.bound = Bound::new(by.clone(), most * share, &self.weights);
        }
        let mut at_most = at_most.into_iter();
        for rows in &old {
            for (row, at_most) in (0..rows.len()).zip(&mut at_most) {
                if let Some(at_most) = at_most {
                    let tier = opened.iter_mut().rev().find(|tier| at_most < tier.bound.limit);
                    tier.map_or(&mut self.running, |tier| &mut tier.rows).push_from(rows, row);
                }
            }
            check_in.look()?;
        }
        // The last one opened has kept what belongs further down: it has no more room than before.
        let sorted = if tiers < TIERS.len() { tiers - 1 } else { tiers };
        opened[..sorted].iter_mut().for_each(Tier::make_room);
        old.iter_mut().for_each(Rows::clear);
        self.spare = old;
        self.most_running = 2 * self.running.len() + FEW;
        self.score_all();
        Ok(())
    }

    /// Takes in more pairs that have no row; `most` is the highest score of those that have one.
    fn list_rarer(&mut self, most: f64, now: &mut Now, check_in: &mut CheckIn) -> Result<()> {
        let most = if most > 0.0 { most } else { self.most_in_one_language(now, check_in)? };
        let by = self.weights_to_come();
        let each = LISTED_FROM * most / by.len() as f64;
        for (language, weight) in by.iter().enumerate() {
            // No pair without a row then scores more than `each` in any language.
            let from = ((each / weight) as u64).saturating_add(1);
            for Candidate { pair, .. } in now.together.learners[language].take_rarer(from) {
                if self.listed.insert(pair) {
                    self.list(pair, now.together.births_of(pair), now);
                }
                check_in.now()?;
            }
            check_in.look()?;
        }
        self.unlisted = Bound::new(by, LISTED_FROM * most, &self.weights);
        Ok(())
    }

    /// The weights that bounds are for: those of now, where the smallest may grow.
    fn weights_to_come(&self) -> Vec<f64> {
        let least = self.sizes.iter().map(|size| SMALL_POWER * self.power / size);
        self.weights.iter().zip(least).map(|(&weight, least)| weight.max(least)).collect()
    }

    fn highest_power(&self, row: usize) -> f64 {
        let powers =
            self.running.languages(row).map(|language| self.weights[language] * self.sizes[language]);
        powers.fold(0.0, f64::max)
    }

    /// Of the pairs without a row: the highest score that one language alone gives.
    fn most_in_one_language(&self, now: &Now, check_in: &mut CheckIn) -> Result<f64> {
        let mut most = 0.0;
        for (learner, weight) in now.together.learners.iter().zip(&self.weights) {
            most = f64::max(most, weight * learner.most_of_the_rarer() as f64);
            check_in.look()?;
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
    use crate::together::Together;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn listing_pairs_can_be_stopped() {
        let words = WordCounts { words: [b"abcde"].iter().collect(), counts: vec![3] };
        let (log, stop) = (Log::default(), AtomicBool::new(false));
        let texts = [words.counted()];
        let mut pool = Pool::new(&[&texts], &Start::default(), MOST_SYMBOLS, &log, false, 1, &stop).unwrap();
        let now = Now {
            together: &mut Together::new(pool.take_learners(), 256, true),
            vocabulary: &Vocabulary::new(),
            admission: &Admission { min_frequency: 0, max_token_length: 9, whole_characters: false },
        };
        let mut fair = Fair::new(1.0, &[15], &[Gauge { units: 3.0, ratio: 1.0, tokens: 15 }]);
        assert!(matches!(fair.best(now, &mut CheckIn::impatient()), Err(Error::Interrupted)));
    }
}
