//! The log: the merges so far, which are the whole state of a training.
//!
//! In: one merge after the other, from the calling thread. Out: the merges after any point, to every thread.

use crate::shard::Merge;
use std::sync::{PoisonError, RwLock};

pub struct Log(RwLock<Entries>);

struct Entries {
    merges: Vec<Merge>,
    /// For each merge, bit l: it may occur in the text of learner l. So many words of bits for each.
    places: Vec<u64>,
    words: usize,
}

/// How many merges to apply before releasing a shard: few, so that nobody waits long for it.
const BATCH: usize = 32;

impl Log {
    /// For so many learners.
    pub fn new(learners: usize) -> Log {
        Log(RwLock::new(Entries { merges: Vec::new(), places: Vec::new(), words: learners.div_ceil(64) }))
    }

    /// `places`: the learners in whose text it occurs; `None`: perhaps in any.
    pub fn push(&self, merge: Merge, places: Option<&Places>) {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        entries.merges.push(merge);
        match places {
            Some(places) => entries.places.extend_from_slice(&places.0),
            None => {
                let size = entries.places.len() + entries.words;
                entries.places.resize(size, u64::MAX);
            }
        }
    }
}

/// How far one text has read the log.
#[derive(Default)]
pub struct Reader {
    /// So many merges are read.
    pub read: usize,
    batch: Vec<Merge>,
}

impl Reader {
    /// The next merges, at most a batch; none once all are read.
    pub fn next_batch(&mut self, log: &Log) -> &[Merge] {
        self.next(log, |_, _| true)
    }

    /// The same without those that do not occur in the text of a learner.
    pub fn next_batch_of(&mut self, log: &Log, learner: usize) -> &[Merge] {
        self.next(log, |entries, at| {
            entries.places[at * entries.words + learner / 64] & 1 << (learner % 64) != 0
        })
    }

    fn next(&mut self, log: &Log, occurs: impl Fn(&Entries, usize) -> bool) -> &[Merge] {
        self.batch.clear();
        let entries = log.0.read().unwrap_or_else(PoisonError::into_inner);
        while self.read < entries.merges.len() && self.batch.len() < BATCH {
            if occurs(&entries, self.read) {
                self.batch.push(entries.merges[self.read]);
            }
            self.read += 1;
        }
        &self.batch
    }
}

/// A set of learners: a bit for each.
pub struct Places(Vec<u64>);

impl Places {
    /// Empty, with room for so many learners.
    pub fn new(learners: usize) -> Places {
        Places(vec![0; learners.div_ceil(64)])
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    pub fn insert(&mut self, learner: usize) {
        self.0[learner / 64] |= 1 << (learner % 64);
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> {
        ones(self.0.iter().copied())
    }
}

/// The places of ones in words of bits.
pub fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(word, mut rest)| {
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            rest &= rest.checked_sub(1)?;
            Some(64 * word + bit)
        })
    })
}
