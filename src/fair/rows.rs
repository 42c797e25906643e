//! Rows of counts, one for each pair, end to end.
//!
//! In: pairs, and the learners that know how often they occur. Out: the counts of each as they were at some time, their sum,
//! and what they score by some weights.

use crate::learner::Learner;
use crate::pair::Pair;
use crate::together::Together;
use std::ops::Range;

/// Pairs, each with its counts in the languages where it occurs, as they were at some time.
#[derive(Default)]
pub struct Rows {
    pub pairs: Vec<Pair>,
    /// Where the counts of each pair end.
    ends: Vec<usize>,
    languages: Vec<u32>,
    counts: Vec<u64>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn push(&mut self, pair: Pair, counts: impl IntoIterator<Item = (u32, u64)>) {
        for (language, count) in counts {
            self.languages.push(language);
            self.counts.push(count);
        }
        self.pairs.push(pair);
        self.ends.push(self.counts.len());
    }

    /// With the counts of now.
    pub fn push_new(&mut self, pair: Pair, together: &Together) {
        let count = |language: usize| (language as u32, together.learners[language].count(pair));
        self.push(pair, together.occurring.languages(pair).map(count).filter(|&(_, count)| count > 0));
    }

    pub fn pop(&mut self) {
        self.pairs.pop();
        self.ends.pop();
        let end = self.ends.last().copied().unwrap_or(0);
        self.languages.truncate(end);
        self.counts.truncate(end);
    }

    fn range(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }

    pub fn counts(&self, row: usize) -> impl Iterator<Item = (u32, u64)> {
        let range = self.range(row);
        self.languages[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }

    pub fn total(&self, row: usize) -> u64 {
        self.counts[self.range(row)].iter().sum()
    }

    pub fn score(&self, row: usize, weights: &[f64]) -> f64 {
        self.counts(row).fold(0.0, |sum, (language, count)| sum + weights[language as usize] * count as f64)
    }

    /// Puts the counts right; `false` if they were.
    pub fn recount(&mut self, row: usize, learners: &[Learner]) -> bool {
        let (range, pair) = (self.range(row), self.pairs[row]);
        let mut changed = false;
        for (&language, count) in self.languages[range.clone()].iter().zip(&mut self.counts[range]) {
            let now = learners[language as usize].count(pair);
            changed |= now != *count;
            *count = now;
        }
        changed
    }
}
