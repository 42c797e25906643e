//! The words of one language (or of several) cut into tokens, and what one merge does to them.
//!
//! All words lie in ONE flat array of token ids with a separator before each. A token that spans
//! several bytes is written at the first and at the last coordinate of its span; what lies between
//! is stale. A pair is known by its *boundary*: the coordinate where its right token starts.
//!
//! ```text
//! coordinates  0 1 2 3 4 5          merges: (t,h) -> T, (T,e) -> U
//! start        | t h e | a
//! after (t,h)  | T T e | a          boundary 3 lies between T and e
//! after (T,e)  | U T U | a          boundary 2 is stale: U starts at 1 and ends at 3
//! ```
//!
//! A token that was merged away lost one end of its span to the new token, and what is written there
//! later is only ever longer. So a token stands at a span if and only if its id is at BOTH ends; the
//! start of its right neighbour is then always fresh. Three reads tell a live boundary from a stale one.
//!
//! In: words, then merges one after the other. Out: how often each pair occurs now, and which pairs a merge made.

mod layout;
mod lists;
mod scratch;
mod shards;

use crate::pair::{Candidate, Pair};
use fixedbitset::FixedBitSet;
use layout::{Region, SEPARATOR, StartPair, SymbolsBuf, two};
use lists::{Lists, PairEntry, code, decode};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::hash_map::Entry;

pub use layout::{LONGEST_WORD, MOST_SYMBOLS, MOST_TOKENS, Part, WeightedWord};
pub use scratch::Scratch;
pub use shards::Shards;

/// One learned merge, with the lengths in bytes that a shard needs to find the spans.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    pub left: u32,
    pub right: u32,
    pub new: u32,
    pub left_len: u32,
    pub right_len: u32,
}

/// Its boundaries are 32-bit numbers, so it has room for [`MOST_SYMBOLS`].
struct Shard {
    symbols: SymbolsBuf,
    regions: Vec<Region>,
    pairs: FxHashMap<Pair, PairEntry>,
    lists: Lists,
    /// The tokens that ever occurred. A pair can only occur where both its tokens do, and most tokens occur in few
    /// languages, so two bits spare most look-ups in the index.
    seen: FixedBitSet,
}

impl Shard {
    fn new(part: Part) -> Shard {
        let Part { mut symbols, regions, pairs: found } = part;
        let found = found.into_vec();
        symbols.finish();
        let mut seen = FixedBitSet::new();
        let mut pairs = FxHashMap::with_capacity_and_hasher(found.len(), FxBuildHasher);
        let mut lists = Lists::with_capacity(found.iter().map(|pair| pair.boundaries.bytes.len()).sum());
        for StartPair { pair, count, boundaries } in found {
            seen.grow_and_insert(pair.left() as usize);
            seen.grow_and_insert(pair.right() as usize);
            let boundaries = lists.keep(&boundaries.bytes);
            pairs.insert(pair, PairEntry { count, boundaries });
        }
        Shard { symbols, regions, pairs, lists, seen }
    }

    fn count(&self, pair: Pair) -> u64 {
        self.pairs.get(&pair).map_or(0, |entry| entry.count)
    }

    fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.pairs.iter().map(|(&pair, entry)| Candidate { count: entry.count, pair })
    }

    /// Applies a merge to every word, left to right, never overlapping (`aaa` with (a,a) gives `aa a`).
    ///
    /// `merged` hears of every occurrence (owner and weight); `born` gets each pair whose count grew, which are the
    /// pairs of the new token and no others: every other pair can only lose.
    fn apply(
        &mut self,
        merge: &Merge,
        scratch: &mut Scratch,
        mut merged: impl FnMut(u32, u64),
        mut born: impl FnMut(Candidate),
    ) {
        let &Merge { left, right, new, left_len, right_len } = merge;
        if !self.seen.contains(left as usize) || !self.seen.contains(right as usize) {
            return;
        }
        let Some(entry) = self.pairs.remove(&Pair::new(left, right)) else {
            return;
        };
        let spots = decode(self.lists.bytes(&entry.boundaries), &mut scratch.spots);
        self.lists.discard(&entry.boundaries);
        let mut symbols = self.symbols.as_symbols();
        let mut live = 0;
        for i in 0..spots.len() {
            if let Some(&later) = spots.get(i + PREFETCH) {
                symbols.prefetch(later - left_len);
                symbols.prefetch(later);
            }
            let middle = spots[i];
            let start = middle - left_len;
            if symbols.get_two(middle - 1) == two(left, right) && symbols.get(start) == left {
                // Written at once: in a run such as `aaa` the next boundary then shows as stale.
                symbols.set(start, new);
                symbols.set(middle + right_len - 1, new);
                spots[live] = start; // in place of a boundary that has been looked at
                live += 1;
            }
        }
        if live == 0 {
            return;
        }
        let spots = &spots[..live];
        self.seen.grow_and_insert(new as usize);

        let span = left_len + right_len;
        let mut regions = RegionWalk { regions: &self.regions, at: 0 };
        let mut previous_end = 0;
        for (i, &start) in spots.iter().enumerate() {
            if let Some(&later) = spots.get(i + PREFETCH) {
                symbols.prefetch(later - 1); // in a long list, what the first pass fetched is gone
                symbols.prefetch(later + span);
            }
            let end = start + span;
            let region = regions.of(start);
            merged(region.owner, region.weight);
            if previous_end != start {
                let neighbour = symbols.get(start - 1);
                if neighbour != SEPARATOR {
                    scratch.before.note(neighbour, start, region.weight);
                }
            }
            if spots.get(i + 1) == Some(&end) {
                scratch.twins.push(end);
                scratch.twin_weight += region.weight;
            } else {
                let neighbour = symbols.get(end);
                if neighbour != SEPARATOR {
                    scratch.after.note(neighbour, end, region.weight);
                }
            }
            previous_end = end;
        }

        let mut index = Index { pairs: &mut self.pairs, lists: &mut self.lists, coded: &mut scratch.coded };
        scratch.before.drain(|neighbour, weight, boundaries| {
            index.lose(Pair::new(neighbour, left), weight);
            born(index.gain(Pair::new(neighbour, new), weight, boundaries));
        });
        scratch.after.drain(|neighbour, weight, boundaries| {
            index.lose(Pair::new(right, neighbour), weight);
            born(index.gain(Pair::new(new, neighbour), weight, boundaries));
        });
        if !scratch.twins.is_empty() {
            index.lose(Pair::new(right, left), scratch.twin_weight);
            born(index.gain(Pair::new(new, new), scratch.twin_weight, &scratch.twins));
            scratch.twins.clear();
            scratch.twin_weight = 0;
        }
        self.lists.compact_if_worth_it(&mut self.pairs);
    }
}

/// The pairs of a shard while a merge changes them.
struct Index<'s> {
    pairs: &'s mut FxHashMap<Pair, PairEntry>,
    lists: &'s mut Lists,
    coded: &'s mut Vec<u8>,
}

impl Index<'_> {
    /// The pair just merged is gone already, so it may be missing here (`aaa`); no other pair can.
    fn lose(&mut self, pair: Pair, weight: u64) {
        if let Entry::Occupied(mut found) = self.pairs.entry(pair) {
            found.get_mut().count -= weight;
            if found.get().count == 0 {
                self.lists.discard(&found.remove().boundaries);
            }
        }
    }

    /// No pair of the new token is there already, even if another merge made the same string before (`ab|c`, `a|bc`).
    /// Where a token begins and ends now, one has begun and ended at all times, so nothing around a stretch of bytes
    /// ever mattered to what became of it: equal stretches are cut alike. If one of them is still two tokens, so is each.
    /// (That holds for words that an encoder cut, too; those that it takes whole have no neighbours.)
    fn gain(&mut self, pair: Pair, weight: u64, boundaries: &[u32]) -> Candidate {
        let Entry::Vacant(place) = self.pairs.entry(pair) else {
            panic!("the same bytes were cut in two ways")
        };
        let boundaries = self.lists.keep(code(boundaries, self.coded));
        place.insert(PairEntry { count: weight, boundaries });
        Candidate { count: weight, pair }
    }
}

/// How many boundaries ahead the symbols are fetched: they lie too far apart for the processor to guess.
const PREFETCH: usize = 24;

/// Finds the region of each boundary of an ascending series by galloping from the last one.
struct RegionWalk<'s> {
    regions: &'s [Region],
    at: usize,
}

impl<'s> RegionWalk<'s> {
    fn of(&mut self, position: u32) -> &'s Region {
        let mut step = 1;
        while self.regions.get(self.at + step).is_some_and(|region| region.start <= position) {
            self.at += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.regions.get(self.at + step).is_some_and(|region| region.start <= position) {
                self.at += step;
            }
        }
        &self.regions[self.at]
    }
}
