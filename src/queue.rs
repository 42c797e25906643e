//! The queue of a language's pairs: their order, and which of them may become tokens.
//!
//! In: candidates, when they first occur. Out: the best one by current counts.

use crate::heap::Heap;
use crate::pair::{Candidate, Pair};
use crate::vocabulary::Vocabulary;
use std::cmp::Ordering;

/// The total order of candidates: more frequent first; on a tie the greater pair, left token before right.
pub fn order(a: &Candidate, b: &Candidate, vocabulary: &Vocabulary) -> Ordering {
    a.count.cmp(&b.count).then_with(|| {
        let lefts = vocabulary.compare(a.pair.left(), b.pair.left());
        lefts.then_with(|| vocabulary.compare(a.pair.right(), b.pair.right()))
    })
}

/// A heap of candidates that tolerates stale counts: the count of a pair only falls after its creation, so an entry is an
/// upper bound, and is corrected when it reaches the top.
#[derive(Default)]
pub struct Queue {
    heap: Heap<Candidate>,
}

impl Queue {
    pub fn push(&mut self, candidate: Candidate, vocabulary: &Vocabulary) {
        self.heap.push(candidate, |a, b| order(a, b, vocabulary));
    }

    /// Removes what [`Queue::best`] has just found.
    pub fn pop(&mut self, vocabulary: &Vocabulary) {
        self.heap.pop(|a, b| order(a, b, vocabulary));
    }

    /// The best pair by current counts, or `None` if none reaches `floor`. It stays in the queue.
    pub fn best(
        &mut self,
        vocabulary: &Vocabulary,
        floor: u64,
        count: impl Fn(Pair) -> u64,
    ) -> Option<Candidate> {
        while let Some(&top) = self.heap.top() {
            let now = count(top.pair);
            if now == top.count && now >= floor {
                return Some(top);
            }
            if now < floor {
                self.pop(vocabulary);
            } else {
                self.heap.lower_top(Candidate { count: now, ..top }, |a, b| order(a, b, vocabulary));
            }
        }
        None
    }
}

/// Which pairs may become tokens at all.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    pub min_frequency: u64,
    /// In bytes.
    pub max_token_length: usize,
    /// Refuse a token that joins part of one character with another.
    pub whole_characters: bool,
}

impl Admission {
    /// At least 1: a count of zero is never admitted.
    pub fn floor(&self) -> u64 {
        self.min_frequency.max(1)
    }

    pub fn admits(&self, candidate: &Candidate, vocabulary: &Vocabulary) -> bool {
        let (left, right) = (candidate.pair.left(), candidate.pair.right());
        candidate.count >= self.floor()
            && vocabulary.length(left) + vocabulary.length(right) <= self.max_token_length
            && (!self.whole_characters
                || respects_characters(&vocabulary.joined_bytes(left, right).collect::<Vec<u8>>()))
            && vocabulary.may_join(left, right)
    }
}

/// True for whole characters, and for part of a single one.
fn respects_characters(token: &[u8]) -> bool {
    let whole = match token[0] {
        ..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let continued = token[1..].iter().all(|byte| byte & 0xc0 == 0x80);
    token.len() < whole && continued || std::str::from_utf8(token).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_greater_pair() {
        let vocabulary = Vocabulary::new();
        let mut queue = Queue::default();
        for (left, right) in [(3, 9), (4, 1), (4, 2), (1, 200)] {
            queue.push(Candidate { count: 5, pair: Pair::new(left, right) }, &vocabulary);
        }
        assert_eq!(queue.best(&vocabulary, 1, |_| 5).map(|best| best.pair), Some(Pair::new(4, 2)));
    }

    #[test]
    fn parts_of_characters() {
        assert!(respects_characters("aé".as_bytes()));
        assert!(respects_characters(&"é".as_bytes()[..1]));
        assert!(respects_characters(&"語".as_bytes()[1..]));
        assert!(!respects_characters(&"語b".as_bytes()[1..]));
        assert!(!respects_characters(&"b語".as_bytes()[..2]));
        assert!(!respects_characters(&[b'a', 0x80]));
        assert!(!respects_characters(&[0xc3, 0xa9, 0x80]));
    }
}
