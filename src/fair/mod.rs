//! The pair that saves all languages together the most, where a token less is worth more in a language that costs more.
//!
//! In: what each language costs, updated now and then, and the pairs born in any language. Out: the pair with the highest
//! score, which is the sum of its counts in all languages, each times the weight of that language.
//!
//! Every pair that may come next has a row of counts. Counts only fall after a pair is born, so an outdated row gives an
//! upper bound of the score under any weights, and is corrected only when it reaches the top. New weights mean new scores:
//! only the rows near the top (`running`) are scored again, the others wait in tiers until what a tier may score reaches
//! the top.

mod rows;
mod tiers;
mod weights;

use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::heap::Heap;
use crate::joint::ROUNDING;
use crate::pair::{Candidate, Pair};
use crate::queue::order;
use crate::together::{Birth, Now};
use crate::turns::Gauge;
use crate::vocabulary::Vocabulary;
use rows::Rows;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use tiers::{FEW, TIERS, Tier};
pub use weights::{is_time_to_weigh, power};

/// What a power is at least, so that every language weighs something.
const LEAST: f64 = 1e-280;
/// Train texts are worth so many units at least and at most, so that no weight is out of range.
const SIZES: (f64, f64) = (1e-20, 1e20);
/// Pairs that cannot reach this share of the best score have no row.
const LISTED_FROM: f64 = 0.15;
/// Tiers take powers below this share of the largest for it: they may soon be larger.
const SMALL_POWER: f64 = 0.01;
/// Rows from this share of the best score on are in the heap.
const NEAR_FROM: f64 = 0.995;

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
    /// The same where the smallest may grow: what tiers are for.
    weights_to_come: Vec<f64>,
    /// How often there were new weights.
    edition: usize,
    is_new_weight: bool,
    /// The highest score when rows were last sorted.
    most: f64,
    running: Rows,
    most_running: usize,
    /// Of `running`: what each scores, or more.
    scores: Vec<f64>,
    /// The rows that score `near_limit` and more.
    near: Heap<Near>,
    near_limit: f64,
    /// From high bounds to low ones.
    tiers: Vec<Tier>,
    /// What pairs without a row score at most.
    unlisted: f64,
    /// The highest power in the languages of the last pair. A dearer language may have no pair left.
    power: f64,
    /// Empty: memory for a row that is placed, and for rows that are sorted.
    row: Rows,
    spare: Rows,
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
            weights_to_come: Vec::new(),
            edition: 0,
            is_new_weight: true,
            most: 0.0,
            running: Rows::default(),
            most_running: FEW,
            scores: Vec::new(),
            near: Heap::default(),
            near_limit: f64::INFINITY,
            tiers: TIERS.map(|_| Tier::new(sizes.clone())).into(),
            unlisted: f64::INFINITY,
            power: 1.0,
            spare: Rows::default(),
            row: Rows::default(),
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
        let least = self.sizes.iter().map(|size| SMALL_POWER * self.power / size);
        self.weights_to_come =
            self.weights.iter().zip(least).map(|(&weight, least)| weight.max(least)).collect();
        self.edition += 1;
        self.is_new_weight = true;
        self.tiers.iter_mut().for_each(|tier| tier.weigh(&self.weights));
    }

    /// The pair of the highest score; on a tie, the first in the order of their counts. Millions of pairs may have to be
    /// listed for it.
    pub fn best(&mut self, mut now: Now, check_in: &mut CheckIn) -> Result<Option<Candidate>> {
        if self.is_new_weight {
            self.is_new_weight = false;
            self.score_all();
            self.bound_unlisted(&now);
        }
        self.take_in_born(&mut now);
        loop {
            let top = self.top(&now);
            let most = top.map_or(0.0, |top| top.score);
            if self.running.len() > self.most_running {
                self.sort(None, most, &now, check_in)?;
                continue;
            }
            if let Some(tier) = self.tiers.iter().rposition(|tier| tier.reaches(most)) {
                self.sort(Some(tier), most, &now, check_in)?;
            } else if self.unlisted > 0.0 && self.unlisted >= most {
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
        self.forget_scores();
        let Self { running, weights, .. } = self;
        self.scores.extend((0..running.len()).map(|row| running.score(row, weights)));
    }

    fn forget_scores(&mut self) {
        self.scores.clear();
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
            self.list(births[0].pair, births.iter().copied(), now);
        }
    }

    fn list(&mut self, pair: Pair, births: impl Iterator<Item = Birth>, now: &Now) {
        let mut row = std::mem::take(&mut self.row);
        row.push(pair, births);
        if now.admission.admits(&Candidate { count: row.total(0), pair }, now.vocabulary) {
            self.place(&row, 0, now.vocabulary);
        }
        row.clear();
        self.row = row;
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

    /// Sorts the rows of a tier anew, or those that run; `most` is the highest score.
    fn sort(&mut self, tier: Option<usize>, most: f64, now: &Now, check_in: &mut CheckIn) -> Result<()> {
        let mut old = std::mem::take(&mut self.spare);
        self.most = most;
        match tier {
            Some(tier) => std::mem::swap(&mut self.tiers[tier].rows, &mut old),
            None => {
                std::mem::swap(&mut self.running, &mut old);
                self.forget_scores();
            }
        }
        for (tier, share) in self.tiers.iter_mut().zip(TIERS).filter(|(tier, _)| tier.rows.len() == 0) {
            tier.limit(&self.weights_to_come, self.edition, share * most);
        }
        for row in 0..old.len() {
            // Counts only fall: what is too rare stays so. Those in a tier were frequent enough when they came, and have
            // not been counted since.
            if tier.is_some() || old.total(row) >= now.admission.floor() {
                self.place(&old, row, now.vocabulary);
            }
            check_in.now()?;
        }
        if tier.is_none() {
            self.most_running = 2 * self.running.len() + FEW;
        }
        old.clear();
        self.spare = old;
        Ok(())
    }

    /// Puts a row where it need not be looked at for as long as possible.
    fn place(&mut self, rows: &Rows, row: usize, vocabulary: &Vocabulary) {
        let [to_come, score] = rows.scores(row, [&self.weights_to_come, &self.weights]);
        let (most, edition) = (self.most, self.edition);
        let mut tiers = self.tiers.iter_mut().zip(TIERS).rev();
        match tiers.find(|(tier, share)| to_come < share * most && tier.covers(rows, row, to_come, edition)) {
            Some((tier, _)) => tier.push(rows, row, score),
            None => {
                self.running.push_from(rows, row);
                self.scores.push(score);
                self.near_or_not(self.scores.len() - 1, vocabulary);
            }
        }
    }

    /// Takes in more pairs that have no row; `most` is the highest score of those that have one.
    fn list_rarer(&mut self, most: f64, now: &mut Now, check_in: &mut CheckIn) -> Result<()> {
        let most = if most > 0.0 { most } else { self.most_in_one_language(now, check_in)? };
        let by = self.weights_to_come.clone();
        // Of languages that weigh little yet, more is left out.
        let weighty: f64 = self.weights.iter().zip(&by).map(|(weight, by)| weight / by).sum();
        let each = LISTED_FROM * most / weighty;
        let rows = self.tiers.iter().map(|tier| &tier.rows).chain([&self.running]);
        let mut listed: FxHashSet<Pair> = rows.flat_map(|rows| rows.pairs.iter().copied()).collect();
        for (language, weight) in by.iter().enumerate() {
            // No pair without a row then scores more than `each` in any language.
            let from = ((each / weight) as u64).saturating_add(1);
            for Candidate { pair, .. } in now.together.learners[language].take_rarer(from) {
                if listed.insert(pair) {
                    self.list(pair, now.together.births_of(pair), now);
                }
                check_in.now()?;
            }
            check_in.look()?;
        }
        self.bound_unlisted(now);
        Ok(())
    }

    fn bound_unlisted(&mut self, now: &Now) {
        let most = now.together.learners.iter().map(|learner| (learner.queued_from() - 1) as f64);
        let most: f64 = most.zip(&self.weights).map(|(count, weight)| count * weight).sum();
        self.unlisted = most * ROUNDING;
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
