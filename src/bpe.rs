//! The merging itself: the adjacent pair of the lowest rank, the leftmost of equals, until none has a rank.
//!
//! Short words are merged by scanning a list, long ones with a heap; both give the same ids.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The rank of a pair and the id it becomes, in one number: the smaller, the sooner it is merged.
pub type Merge = u64;
pub const NO_MERGE: Merge = Merge::MAX;

pub fn merge_of(rank: u32, new: u32) -> Merge {
    u64::from(rank) << 32 | u64::from(new)
}

fn rank(merge: Merge) -> u64 {
    merge >> 32
}

/// How the merging finds what a pair becomes: by its ids, or by the bytes `start..end` that it covers.
pub trait Pairs {
    /// Whether `start` and `end` are looked at; if not, they are not kept up to date.
    const BY_PLACE: bool;

    fn merge(&self, left: u32, right: u32, start: usize, end: usize) -> Merge;

    /// The same for two bytes at the start of the merging.
    #[inline]
    fn merge_bytes(&self, _bytes: [u8; 2], left: u32, right: u32, start: usize) -> Merge {
        self.merge(left, right, start, start + 2)
    }
}

/// Pre-tokens longer than this are merged with a heap: above it the scan's quadratic cost begins to show.
const LONGEST_SCAN: usize = 128;

/// What merging needs to write down, kept from one pre-token to the next.
#[derive(Default)]
pub struct Scratch {
    pub ids: Vec<u32>,
    /// Where the parts start; one more at the end for where the last one ends.
    starts: Vec<u32>,
    /// What each part and the next one become.
    merges: Vec<Merge>,
    before: Vec<u32>,
    after: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Scratch {
    /// Leaves the ids of `word`, whose bytes have the ids `bytes`, in `self.ids`.
    pub fn merge<P: Pairs>(&mut self, word: &[u8], bytes: &[u32; 256], pairs: &P, stop: &mut Stop) {
        self.ids.clear();
        self.ids.extend(word.iter().map(|&byte| bytes[usize::from(byte)]));
        if word.len() < 2 {
            return;
        }
        self.starts.clear();
        if P::BY_PLACE {
            self.starts.extend(0..=word.len() as u32);
        }
        self.merges.clear();
        let ids = &self.ids;
        let pair = |i: usize| pairs.merge_bytes([word[i], word[i + 1]], ids[i], ids[i + 1], i);
        self.merges.extend((0..word.len() - 1).map(pair));
        if word.len() <= LONGEST_SCAN { self.scan(pairs) } else { self.with_heap(pairs, stop) }
    }

    fn scan<P: Pairs>(&mut self, pairs: &P) {
        let Self { ids, starts, merges, .. } = self;
        loop {
            let mut best = NO_MERGE;
            let mut at = 0;
            for (i, &merge) in merges.iter().enumerate() {
                if merge < best {
                    (best, at) = (merge, i);
                }
            }
            if best == NO_MERGE {
                return;
            }
            ids[at] = best as u32;
            ids.remove(at + 1);
            merges.remove(at);
            if P::BY_PLACE {
                starts.remove(at + 1);
            }
            let place = |i: usize| if P::BY_PLACE { starts[i] as usize } else { 0 };
            if at > 0 {
                merges[at - 1] = pairs.merge(ids[at - 1], ids[at], place(at - 1), place(at + 1));
            }
            if at < merges.len() {
                merges[at] = pairs.merge(ids[at], ids[at + 1], place(at), place(at + 2));
            }
        }
    }

    /// Parts are linked by the position of their first byte. An entry of the heap is stale when its rank is no longer
    /// that of the pair at its position.
    fn with_heap(&mut self, pairs: &impl Pairs, stop: &mut Stop) {
        let Self { ids, merges, before, after, heap, .. } = self;
        let length = ids.len();
        merges.push(NO_MERGE);
        before.clear();
        before.extend((0..length as u32).map(|i| i.saturating_sub(1)));
        after.clear();
        after.extend(1..=length as u32);
        let entry = |merge: Merge, at: usize| Reverse(rank(merge) << 32 | at as u64);
        let mut entries = std::mem::take(heap).into_vec();
        entries.clear();
        entries.extend((0..length).filter(|&i| merges[i] != NO_MERGE).map(|i| entry(merges[i], i)));
        *heap = BinaryHeap::from(entries);
        while let Some(Reverse(best)) = heap.pop() {
            let at = best as u32 as usize;
            if merges[at] == NO_MERGE || rank(merges[at]) != best >> 32 {
                continue;
            }
            if stop.now() {
                break;
            }
            ids[at] = merges[at] as u32;
            let gone = after[at] as usize;
            let next = after[gone] as usize;
            merges[gone] = NO_MERGE;
            after[at] = next as u32;
            merges[at] = NO_MERGE;
            if next < length {
                before[next] = at as u32;
                merges[at] = pairs.merge(ids[at], ids[next], at, after[next] as usize);
                if merges[at] != NO_MERGE {
                    heap.push(entry(merges[at], at));
                }
            }
            if at > 0 {
                let left = before[at] as usize;
                merges[left] = pairs.merge(ids[left], ids[at], left, next);
                if merges[left] != NO_MERGE {
                    heap.push(entry(merges[left], left));
                }
            }
        }
        // The parts that are left, moved to the front.
        let (mut at, mut kept) = (0, 0);
        while at < length {
            ids[kept] = ids[at];
            kept += 1;
            at = after[at] as usize;
        }
        ids.truncate(kept);
    }
}

/// Asks now and then whether the caller wants to stop.
pub struct Stop<'a> {
    asked: &'a mut dyn FnMut() -> bool,
    pub flag: &'a AtomicBool,
    until_look: u32,
    last: Instant,
}

impl<'a> Stop<'a> {
    /// `asked` is called at most every 50 ms; once it says yes, `flag` is set for good.
    pub fn new(asked: &'a mut dyn FnMut() -> bool, flag: &'a AtomicBool) -> Self {
        Self { asked, flag, until_look: 0, last: Instant::now() }
    }

    #[inline]
    pub fn now(&mut self) -> bool {
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.until_look = 2048;
        if !self.flag.load(Ordering::Relaxed) && self.last.elapsed() >= Duration::from_millis(50) {
            self.last = Instant::now();
            if (self.asked)() {
                self.flag.store(true, Ordering::Relaxed);
            }
        }
        let stopped = self.flag.load(Ordering::Relaxed);
        if stopped {
            self.until_look = 0;
        }
        stopped
    }
}
