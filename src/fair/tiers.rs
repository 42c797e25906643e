//! Tiers: rows that need no look for now, and why they do not.
//!
//! In: rows, and weights as they change. Out: up to what each tier may score by now.

use super::rows::Rows;
use crate::joint::ROUNDING;

/// Rows below these shares of the best score wait: in the first tier, in the second, and so on.
pub const TIERS: [f64; 5] = [0.85, 0.6, 0.35, 0.12, 0.03];
/// A tier may double, and have this many rows more, before it is sorted anew.
pub const FEW: usize = if cfg!(test) { 3 } else { 2_000 };

/// What some pairs score at most: `limit` by the weights `by`, up to `ceiling` by the weights of now.
pub struct Bound {
    pub by: Vec<f64>,
    pub limit: f64,
    ceiling: f64,
}

impl Bound {
    pub fn new(by: Vec<f64>, limit: f64, weights: &[f64]) -> Bound {
        let mut bound = Bound { by, limit, ceiling: limit };
        bound.weigh(weights);
        bound
    }

    pub fn weigh(&mut self, weights: &[f64]) {
        let growth = weights.iter().zip(&self.by).map(|(now, then)| now / then).fold(0.0, f64::max);
        self.ceiling = self.limit * growth * ROUNDING;
    }

    /// Whether one of the pairs may score as much.
    pub fn reaches(&self, score: f64) -> bool {
        self.limit > 0.0 && self.ceiling >= score
    }
}

/// Rows that need no look until the best pair scores less than their bound.
pub struct Tier {
    pub rows: Rows,
    pub bound: Bound,
    /// With more rows than this, many have fallen far below the bound.
    most_rows: usize,
}

impl Tier {
    pub fn new(bound: Bound) -> Tier {
        Tier { rows: Rows::default(), bound, most_rows: FEW }
    }

    pub fn has_room(&self) -> bool {
        self.rows.len() <= self.most_rows
    }

    pub fn make_room(&mut self) {
        self.most_rows = 2 * self.rows.len() + FEW;
    }
}
