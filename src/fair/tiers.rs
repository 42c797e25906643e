//! Tiers: rows that need no look for now, and why they do not.
//!
//! In: rows, and weights as they change. Out: up to what each tier may score by now.

use super::rows::Rows;
use crate::joint::ROUNDING;

/// Rows below these shares of the best score wait: in the first tier, in the second, and so on.
pub const TIERS: [f64; 6] = [0.95, 0.85, 0.6, 0.35, 0.12, 0.03];
/// The rows that run may double, and become so many more, before they are sorted anew.
pub const FEW: usize = if cfg!(test) { 3 } else { 2_000 };

/// By how much most weights may have grown, each a way to bound a tier: see [`Tier::weigh`].
const GROWTHS: [f64; 16] =
    [0.8, 0.9, 0.95, 0.98, 1.0, 1.01, 1.02, 1.04, 1.07, 1.1, 1.15, 1.2, 1.3, 1.5, 1.8, 2.5];

/// Rows that need no look until the best pair scores less than what they may score.
pub struct Tier {
    pub rows: Rows,
    /// Which weights `by` are.
    edition: usize,
    /// By the weights `by` each row scores less than `limit`,
    by: Vec<f64>,
    limit: f64,
    /// and this at most in each language,
    peaks: Vec<f64>,
    /// so by the weights of now, it scores this at most.
    ceiling: f64,
}

impl Tier {
    pub fn new(by: Vec<f64>) -> Tier {
        let peaks = vec![0.0; by.len()];
        Tier { rows: Rows::default(), edition: 0, by, limit: 0.0, peaks, ceiling: 0.0 }
    }

    /// For the rows to come: there are none now.
    pub fn limit(&mut self, by: &[f64], edition: usize, limit: f64) {
        self.by.copy_from_slice(by);
        self.edition = edition;
        self.peaks.fill(0.0);
        (self.limit, self.ceiling) = (limit, 0.0);
    }

    /// Whether a row is below the limit; `score` is by the weights of an edition, which often is that of this tier.
    pub fn covers(&self, rows: &Rows, row: usize, score: f64, edition: usize) -> bool {
        let score = if edition == self.edition { score } else { rows.score(row, &self.by) };
        score < self.limit
    }

    /// `score`: by the weights of now.
    pub fn push(&mut self, rows: &Rows, row: usize, score: f64) {
        for (language, count) in rows.counts(row) {
            let peak = &mut self.peaks[language];
            *peak = f64::max(*peak, self.by[language] * count as i64 as f64);
        }
        self.ceiling = f64::max(self.ceiling, score * ROUNDING);
        self.rows.push_from(rows, row);
    }

    /// What rows score at most by new weights. If no weight has grown by more than some factor, neither has a score. If a
    /// few have, a score has grown by that factor and by what these languages may add, which is little where all rows have
    /// low counts in them. So each factor gives a bound; the lowest one counts.
    pub fn weigh(&mut self, weights: &[f64]) {
        let mut ceilings = GROWTHS.map(|growth| growth * self.limit);
        for ((&now, &then), &peak) in weights.iter().zip(&self.by).zip(&self.peaks) {
            let grown = now / then;
            for (ceiling, growth) in ceilings.iter_mut().zip(GROWTHS) {
                *ceiling += f64::max(grown - growth, 0.0) * peak;
            }
        }
        self.ceiling = ceilings.into_iter().fold(f64::INFINITY, f64::min) * ROUNDING;
    }

    /// Whether one of the rows may score as much.
    pub fn reaches(&self, score: f64) -> bool {
        self.rows.len() > 0 && self.ceiling >= score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Pair;
    use crate::together::Birth;
    use proptest::prelude::*;

    fn weights() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(prop_oneof![1e-290..1e-200, 0.001..10.0], 3)
    }

    proptest! {
        #[test]
        fn no_row_scores_more_than_its_tier_may(
            given in prop::collection::vec([0..50u64, 0..50u64, 0..50u64], 1..9),
            times in [weights(), weights(), weights()],
        ) {
            let [by, then, now] = times;
            let mut rows = Rows::default();
            for counts in given {
                let births = (0..).zip(counts).map(|(language, count)| Birth { pair: Pair::new(0, 0), language, count });
                rows.push(Pair::new(0, 0), births);
            }
            let mut tier = Tier::new(by.clone());
            tier.limit(&by, 1, 200.0);
            for row in 0..rows.len() {
                let covered = tier.covers(&rows, row, f64::NAN, 2);
                prop_assert_eq!(tier.covers(&rows, row, rows.score(row, &by), 1), covered);
                if covered {
                    tier.push(&rows, row, rows.score(row, &then));
                }
            }
            let reaches_all = |tier: &Tier, weights: &[f64]| {
                (0..tier.rows.len()).all(|row| tier.reaches(tier.rows.score(row, weights)))
            };
            prop_assert!(reaches_all(&tier, &then));
            tier.weigh(&now);
            prop_assert!(reaches_all(&tier, &now));
        }
    }
}
