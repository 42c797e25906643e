//! Of the pairs that are frequent enough in one language, the one that saves all languages together the most.
//!
//! In: what a token less is worth in each language, and the pairs of the served language as they come up. Out: the pair
//! of highest worth, which is the sum of its counts in all languages, each times what a token is worth there.
//!
//! Most pairs are never looked at: a heap has an upper bound of every pair's worth, since counts only fall after a pair's
//! birth, and what a token is worth hardly changes.

use crate::check_in::CheckIn;
use crate::error::Result;
use crate::pair::{Candidate, Pair};
use crate::queue::{Queue, order};
use crate::vocabulary::Vocabulary;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How far prices may move before the heaps are ordered anew.
const MOST_DRIFT: f64 = 1.02;
/// More than what sums are rounded by.
pub const ROUNDING: f64 = 1.0 + 1e-9;

/// What a token less is worth in each language: now, and when the heaps were ordered.
#[derive(Default)]
pub struct Prices {
    pub now: Vec<f64>,
    pub ordered_by: Vec<f64>,
    /// How often the heaps had to be ordered anew.
    edition: usize,
    /// No worth has grown by more than this factor since.
    growth: f64,
}

impl Prices {
    pub fn set(&mut self, now: Vec<f64>) {
        let drifts = || now.iter().zip(&self.ordered_by).map(|(now, then)| now / then);
        let (most, least) = (drifts().fold(0.0, f64::max), drifts().fold(f64::INFINITY, f64::min));
        if most < MOST_DRIFT && least * MOST_DRIFT > 1.0 && !self.ordered_by.is_empty() {
            self.growth = most * ROUNDING;
        } else {
            self.ordered_by.clone_from(&now);
            self.edition += 1;
            self.growth = ROUNDING;
        }
        self.now = now;
    }
}

/// A pair and its worth by the prices that the heap is ordered by, or more.
#[derive(Clone, Copy)]
struct Worthy {
    worth: f64,
    pair: Pair,
}

impl Ord for Worthy {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then_with(|| self.pair.cmp(&other.pair))
    }
}

impl PartialOrd for Worthy {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worthy {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Worthy {}

/// The pairs of one language: those that are frequent enough by their worth, the others by their counts.
#[derive(Default)]
pub struct Leading {
    waiting: Queue,
    worthy: BinaryHeap<Worthy>,
    edition: usize,
}

impl Leading {
    pub fn push(&mut self, candidate: Candidate, vocabulary: &Vocabulary) {
        self.waiting.push(candidate, vocabulary);
    }

    /// The pair of highest worth among those whose `count` leads; on a tie the first by the order of the queue.
    /// `worth` is by the prices that the heap is ordered by, and by those of now. Pairs below `floor` are forgotten.
    #[allow(clippy::too_many_arguments)]
    pub fn worthiest(
        &mut self,
        vocabulary: &Vocabulary,
        prices: &Prices,
        floor: u64,
        leads: impl Fn(u64) -> bool,
        count: impl Fn(Pair) -> u64,
        worth: impl Fn(Pair) -> [f64; 2],
        check_in: &mut CheckIn,
    ) -> Result<Option<Candidate>> {
        let listed = |pair: Pair| Worthy { worth: worth(pair)[0], pair };
        if self.edition != prices.edition {
            let anew = |old: Worthy| check_in.now().map(|()| listed(old.pair));
            self.worthy = self.worthy.drain().map(anew).collect::<Result<_>>()?;
            self.edition = prices.edition;
        }
        while let Some(next) = self.waiting.best(vocabulary, floor, &count)
            && leads(next.count)
        {
            self.waiting.pop(vocabulary);
            self.worthy.push(listed(next.pair));
            check_in.now()?;
        }
        let mut best: Option<(f64, Candidate)> = None;
        let mut seen: Vec<Worthy> = Vec::new();
        while let Some(top) = self.worthy.pop() {
            if best.is_some_and(|(most, _)| top.worth * prices.growth < most) {
                self.worthy.push(top);
                break;
            }
            let candidate = Candidate { count: count(top.pair), pair: top.pair };
            if !leads(candidate.count) {
                if candidate.count >= floor {
                    self.waiting.push(candidate, vocabulary);
                }
                continue;
            }
            let [then, now] = worth(top.pair);
            if then < top.worth {
                self.worthy.push(Worthy { worth: then, pair: top.pair });
                continue;
            }
            if seen.last() == Some(&top) {
                continue; // it came a second time, as a rare pair that the queue took in
            }
            seen.push(top);
            let better = |&(most, other): &(f64, Candidate)| {
                now > most || now == most && order(&candidate, &other, vocabulary).is_gt()
            };
            if best.as_ref().is_none_or(better) {
                best = Some((now, candidate));
            }
        }
        self.worthy.extend(seen);
        Ok(best.map(|(_, candidate)| candidate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ordering_pairs_can_be_stopped() {
        let (vocabulary, mut prices, mut leading) =
            (Vocabulary::new(), Prices::default(), Leading::default());
        prices.set(vec![1.0]);
        for right in 0..100 {
            leading.push(Candidate { count: 5, pair: Pair::new(1, right) }, &vocabulary);
        }
        let mut worthiest = |check_in: &mut CheckIn| {
            leading.worthiest(&vocabulary, &prices, 1, |_| true, |_| 5, |_| [5.0, 5.0], check_in)
        };
        assert!(matches!(worthiest(&mut CheckIn::impatient()), Err(Error::Interrupted)));
        let best = worthiest(&mut CheckIn::never()).unwrap();
        assert_eq!(best.map(|best| best.pair), Some(Pair::new(1, 99)));
    }
}
