//! Rows of counts, one for each pair, end to end.
//!
//! In: pairs, and the learners that know how often they occur. Out: the counts of each as they were at some time, their sum,
//! and what they score by some weights.

use crate::learner::Learner;
use crate::pair::Pair;
use crate::together::Birth;
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

    pub fn push(&mut self, pair: Pair, births: impl Iterator<Item = Birth>) {
        for Birth { language, count, .. } in births {
            self.languages.push(language);
            self.counts.push(count);
        }
        self.pairs.push(pair);
        self.ends.push(self.counts.len());
    }

    pub fn push_from(&mut self, other: &Rows, row: usize) {
        let range = other.range(row);
        self.languages.extend_from_slice(&other.languages[range.clone()]);
        self.counts.extend_from_slice(&other.counts[range]);
        self.pairs.push(other.pairs[row]);
        self.ends.push(self.counts.len());
    }

    pub fn clear(&mut self) {
        self.pairs.clear();
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

    /// Those in which the pair still occurs.
    pub fn languages(&self, row: usize) -> impl Iterator<Item = usize> {
        self.counts(row).filter(|&(_, count)| count > 0).map(|(language, _)| language)
    }

    pub fn total(&self, row: usize) -> u64 {
        self.counts[self.range(row)].iter().sum()
    }

    pub fn score(&self, row: usize, weights: &[f64]) -> f64 {
        let [score] = self.scores(row, [weights]);
        score
    }

    /// The same by several weights at a time: each addition waits for the one before, so two sums take hardly longer than one.
    pub fn scores<const N: usize>(&self, row: usize, weights: [&[f64]; N]) -> [f64; N] {
        let mut sums = [0.0; N];
        let range = self.range(row);
        for (&language, &count) in self.languages[range.clone()].iter().zip(&self.counts[range]) {
            // Through i64, which processors convert in one instruction: no count is so large that it differs.
            let count = count as i64 as f64;
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum += weights[language as usize] * count;
            }
        }
        sums
    }

    /// Puts the counts right; `false` if they were.
    #[inline(never)]
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
