//! Merging: join the adjacent pair of the lowest rank, the leftmost one on a tie, until no pair has a rank.
//!
//! In: the bytes of a pre-token, and what pairs become. Out: its ids. Short pre-tokens are merged by scanning a list, long
//! ones with a heap; both give the same ids.

use crate::check_in::CheckIn;
use crate::error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The rank of a pair and the id it becomes, in one number. Smaller numbers are merged first.
pub type Ranked = u64;
/// A pair that is not merged.
pub const UNRANKED: Ranked = Ranked::MAX;

pub fn ranked(rank: u32, new: u32) -> Ranked {
    u64::from(rank) << 32 | u64::from(new)
}

fn rank(ranked: Ranked) -> u64 {
    ranked >> 32
}

/// Finds what a pair becomes: by its ids, or by the bytes `start..end` that it covers.
pub trait Pairs {
    /// Whether `start` and `end` are used; if not, they are not kept up to date.
    const BY_PLACE: bool;

    fn ranked(&self, left: u32, right: u32, start: usize, end: usize) -> Ranked;

    /// The same for two bytes, before any merge.
    #[inline]
    fn ranked_bytes(&self, _bytes: [u8; 2], left: u32, right: u32, start: usize) -> Ranked {
        self.ranked(left, right, start, start + 2)
    }
}

/// Longer pre-tokens are merged with a heap: beyond this, the quadratic cost of the scan starts to show.
const LONGEST_SCAN: usize = 128;

/// Merges one pre-token after the other, reusing its buffers.
#[derive(Default)]
pub struct Merger {
    pub ids: Vec<u32>,
    /// Where the parts start, followed by the end of the last one.
    starts: Vec<u32>,
    /// What each part and the next one become.
    ranked: Vec<Ranked>,
    before: Vec<u32>,
    after: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Merger {
    /// Puts the ids of `word` into `self.ids`; `bytes` are the ids of the 256 bytes.
    pub fn merge<P: Pairs>(
        &mut self,
        word: &[u8],
        bytes: &[u32; 256],
        pairs: &P,
        check_in: &mut CheckIn,
    ) -> Result<()> {
        self.ids.clear();
        self.ids.extend(word.iter().map(|&byte| bytes[usize::from(byte)]));
        if word.len() < 2 {
            return Ok(());
        }
        self.starts.clear();
        if P::BY_PLACE {
            self.starts.extend(0..=word.len() as u32);
        }
        self.ranked.clear();
        let ids = &self.ids;
        let pair = |i: usize| pairs.ranked_bytes([word[i], word[i + 1]], ids[i], ids[i + 1], i);
        self.ranked.extend((0..word.len() - 1).map(pair));
        if word.len() > LONGEST_SCAN {
            return self.with_heap(pairs, check_in);
        }
        self.scan(pairs);
        Ok(())
    }

    fn scan<P: Pairs>(&mut self, pairs: &P) {
        let Self { ids, starts, ranked, .. } = self;
        loop {
            let mut best = UNRANKED;
            let mut at = 0;
            for (i, &ranked) in ranked.iter().enumerate() {
                if ranked < best {
                    (best, at) = (ranked, i);
                }
            }
            if best == UNRANKED {
                return;
            }
            ids[at] = best as u32;
            ids.remove(at + 1);
            ranked.remove(at);
            if P::BY_PLACE {
                starts.remove(at + 1);
            }
            let place = |i: usize| if P::BY_PLACE { starts[i] as usize } else { 0 };
            if at > 0 {
                ranked[at - 1] = pairs.ranked(ids[at - 1], ids[at], place(at - 1), place(at + 1));
            }
            if at < ranked.len() {
                ranked[at] = pairs.ranked(ids[at], ids[at + 1], place(at), place(at + 2));
            }
        }
    }

    /// Parts are linked by the position of their first byte. A heap entry is stale if its rank is no longer that of the
    /// pair at its position.
    fn with_heap(&mut self, pairs: &impl Pairs, check_in: &mut CheckIn) -> Result<()> {
        let Self { ids, ranked, before, after, heap, .. } = self;
        let length = ids.len();
        ranked.push(UNRANKED);
        before.clear();
        before.extend((0..length as u32).map(|i| i.saturating_sub(1)));
        after.clear();
        after.extend(1..=length as u32);
        let entry = |ranked: Ranked, at: usize| Reverse(rank(ranked) << 32 | at as u64);
        let mut entries = std::mem::take(heap).into_vec();
        entries.clear();
        entries.extend((0..length).filter(|&i| ranked[i] != UNRANKED).map(|i| entry(ranked[i], i)));
        *heap = BinaryHeap::from(entries);
        while let Some(Reverse(best)) = heap.pop() {
            let at = best as u32 as usize;
            if ranked[at] == UNRANKED || rank(ranked[at]) != best >> 32 {
                continue;
            }
            check_in.now()?;
            ids[at] = ranked[at] as u32;
            let gone = after[at] as usize;
            let next = after[gone] as usize;
            ranked[gone] = UNRANKED;
            after[at] = next as u32;
            ranked[at] = UNRANKED;
            if next < length {
                before[next] = at as u32;
                ranked[at] = pairs.ranked(ids[at], ids[next], at, after[next] as usize);
                if ranked[at] != UNRANKED {
                    heap.push(entry(ranked[at], at));
                }
            }
            if at > 0 {
                let left = before[at] as usize;
                ranked[left] = pairs.ranked(ids[left], ids[at], left, next);
                if ranked[left] != UNRANKED {
                    heap.push(entry(ranked[left], left));
                }
            }
        }
        // Move the remaining parts to the front.
        let (mut at, mut kept) = (0, 0);
        while at < length {
            ids[kept] = ids[at];
            kept += 1;
            at = after[at] as usize;
        }
        ids.truncate(kept);
        Ok(())
    }
}
