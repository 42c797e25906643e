//! Shards side by side, which are asked and merged as one: a shard has room for 4 GiB of words, which nearly always is enough.
//!
//! In: parts, then merges. Out: the same as from one shard without a limit. A pair's count is the sum of its counts in all shards.

use super::{Merge, Part, Scratch, Shard};
use crate::pair::{Candidate, Pair};

pub struct Shards {
    shards: Vec<Shard>,
    /// Pairs that one merge made, each with its count in one shard. Kept so that nothing is allocated.
    born: Vec<Candidate>,
}

impl Shards {
    /// As few as hold the parts with at most `most_symbols` each.
    pub fn new(parts: impl IntoIterator<Item = Part>, most_symbols: usize) -> Shards {
        let mut wholes: Vec<Part> = Vec::new();
        for part in parts {
            match wholes.last_mut() {
                Some(last) if last.joint_size(&part) <= most_symbols => last.append(part),
                _ => wholes.push(part),
            }
        }
        Shards { shards: wholes.into_iter().map(Shard::new).collect(), born: Vec::new() }
    }

    pub fn count(&self, pair: Pair) -> u64 {
        self.shards.iter().map(|shard| shard.count(pair)).sum()
    }

    /// Whether a token has ever occurred.
    pub fn has_seen(&self, token: usize) -> bool {
        self.shards.iter().any(|shard| shard.seen.contains(token))
    }

    /// Every pair once.
    pub fn for_each_pair(&self, mut visit: impl FnMut(Candidate)) {
        for (i, shard) in self.shards.iter().enumerate() {
            let (earlier, later) = (&self.shards[..i], &self.shards[i + 1..]);
            for Candidate { count, pair } in shard.candidates() {
                if earlier.iter().all(|shard| shard.count(pair) == 0) {
                    let elsewhere: u64 = later.iter().map(|shard| shard.count(pair)).sum();
                    visit(Candidate { count: count + elsewhere, pair });
                }
            }
        }
    }

    /// See [`Shard::apply`].
    pub fn apply(
        &mut self,
        merge: &Merge,
        scratch: &mut Scratch,
        mut merged: impl FnMut(u32, u64),
        mut born: impl FnMut(Candidate),
    ) {
        if let [only] = &mut self.shards[..] {
            return only.apply(merge, scratch, merged, born);
        }
        for shard in &mut self.shards {
            shard.apply(merge, scratch, &mut merged, |candidate| self.born.push(candidate));
        }
        self.born.sort_unstable_by_key(|candidate| candidate.pair);
        for same in self.born.chunk_by(|a, b| a.pair == b.pair) {
            born(Candidate { count: same.iter().map(|candidate| candidate.count).sum(), ..same[0] });
        }
        self.born.clear();
    }
}
