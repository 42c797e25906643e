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
use crate::together::{Now, Together};
use crate::turns::Gauge;
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
    now: Vec<f64>,
    ordered_by: Vec<f64>,
    /// Tokens of the measured text and of the train text: most merges change those of few languages.
    tokens: Vec<(u64, u64)>,
    /// How often the heaps had to be ordered anew.
    edition: usize,
    /// No worth has grown by more than this factor since.
    growth: f64,
}

impl Prices {
    /// What a pair saves is counted in tokens per unit: one that is a hundredth of a language's tokens in train saves about a
    /// hundredth of what a unit of that language costs.
    pub fn set<'g>(&mut self, languages: impl Iterator<Item = (&'g Gauge, u64)>) {
        let mut drifted = self.now.is_empty();
        for (language, (gauge, train_tokens)) in languages.enumerate() {
            let tokens = (gauge.tokens, train_tokens);
            if self.tokens.get(language) == Some(&tokens) {
                continue;
            }
            let price = 1.0 / gauge.rate() / train_tokens as f64;
            if language == self.now.len() {
                self.now.push(price);
                self.tokens.push(tokens);
                continue;
            }
            (self.now[language], self.tokens[language]) = (price, tokens);
            let drift = price / self.ordered_by[language];
            self.growth = self.growth.max(drift * ROUNDING);
            drifted |= !(drift < MOST_DRIFT && drift * MOST_DRIFT > 1.0);
        }
        if drifted {
            self.ordered_by.clone_from(&self.now);
            self.edition += 1;
            self.growth = ROUNDING;
        }
    }
}

/// The pair that is worth most to all languages, among those that occur in the served one at least `share` as often as its
/// most frequent pair.
pub fn worthiest(
    served: usize,
    share: f64,
    prices: &Prices,
    now: Now,
    check_in: &mut CheckIn,
) -> Result<Option<Candidate>> {
    let Now { together, vocabulary, admission } = now;
    let Some((mut leading, leads)) = together.learners[served].lend_leading(vocabulary, admission, share)
    else {
        return Ok(None);
    };
    let Together { learners, occurring, .. } = &*together;
    let worth = |pair: Pair| {
        occurring.languages(pair).fold([0.0, 0.0], |[then, now], language| {
            let count = learners[language].count(pair) as f64;
            [then + prices.ordered_by[language] * count, now + prices.now[language] * count]
        })
    };
    let (floor, count) = (learners[served].queued_from(), |pair| learners[served].count(pair));
    let found = leading.worthiest(vocabulary, prices, floor, leads, count, worth, check_in);
    together.learners[served].give_back(leading);
    found
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
    fn worthiest(
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
        prices.set([(&Gauge { units: 1.0, ratio: 1.0, tokens: 1 }, 1)].into_iter());
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
