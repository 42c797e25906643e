//! Rows of counts, one for each pair, end to end.
//!
//! In: pairs, and the learners that know how often they occur. Out: the counts of each as they were at some time, their sum,
//! and what they score by some weights.

use crate::pair::Pair;
use crate::together::Birth;
use std::ops::Range;

/// Pairs, each with its counts in the languages where it occurs, as they were at some time.
#[derive(Default)]
pub struct Rows {
    pub pairs: Vec<Pair>,
    /// Each has counts of so many merges or more.
    pub counted_at: Vec<usize>,
    /// Where the counts of each pair end.
    ends: Vec<usize>,
    languages: Vec<u32>,
    counts: Vec<u64>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// `counted_at`: how many merges the births know of, or fewer.
    pub fn push(&mut self, pair: Pair, counted_at: usize, births: impl Iterator<Item = Birth>) {
        for Birth { language, count, .. } in births {
            self.languages.push(language);
            self.counts.push(count);
        }
        self.pairs.push(pair);
        self.counted_at.push(counted_at);
        self.ends.push(self.counts.len());
    }

    pub fn push_from(&mut self, other: &Rows, row: usize) {
        let range = other.range(row);
        self.languages.extend_from_slice(&other.languages[range.clone()]);
        self.counts.extend_from_slice(&other.counts[range]);
        self.pairs.push(other.pairs[row]);
        self.counted_at.push(other.counted_at[row]);
        self.ends.push(self.counts.len());
    }

    pub fn clear(&mut self) {
        self.pairs.clear();
        self.counted_at.clear();
        self.ends.clear();
        self.languages.clear();
        self.counts.clear();
    }

    fn range(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }

    /// By language.
    pub fn counts(&self, row: usize) -> impl Iterator<Item = (usize, u64)> {
        let range = self.range(row);
        let counts = self.languages[range.clone()].iter().zip(&self.counts[range]);
        counts.map(|(&language, &count)| (language as usize, count))
    }

    pub fn total(&self, row: usize) -> u64 {
        self.counts[self.range(row)].iter().sum()
    }

    pub fn score(&self, row: usize, weights: &[f64]) -> f64 {
        // Through i64, which processors convert in one instruction: no count is so large that it differs.
        let range = self.range(row);
        let counts = self.languages[range.clone()].iter().zip(&self.counts[range]);
        counts.fold(0.0, |sum, (&language, &count)| sum + weights[language as usize] * count as i64 as f64)
    }

    /// Puts the counts right, as they are after so many merges; `false` if they were.
    pub fn recount(&mut self, row: usize, merges: usize, mut count: impl FnMut(usize, Pair) -> u64) -> bool {
        let (range, pair) = (self.range(row), self.pairs[row]);
        let mut changed = false;
        for (&language, known) in self.languages[range.clone()].iter().zip(&mut self.counts[range]) {
            let now = count(language as usize, pair);
            changed |= now != *known;
            *known = now;
        }
        self.counted_at[row] = merges;
        changed
    }

    /// The pair has been merged, or is too rare.
    pub fn clear_counts(&mut self, row: usize) {
        let range = self.range(row);
        self.counts[range].fill(0);
    }
}
