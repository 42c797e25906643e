//! The log: the merges so far, which are the whole state of a training.
//!
//! In: one merge after the other, from the calling thread. Out: the merges after any point, to every thread.

use crate::shard::Merge;
use std::sync::{PoisonError, RwLock};

#[derive(Default)]
pub struct Log(RwLock<Vec<Merge>>);

/// How many merges to apply before releasing a shard: few, so that nobody waits long for it.
const BATCH: usize = 32;

impl Log {
    pub fn push(&self, merge: Merge) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(merge);
    }
}

/// How far one shard has read the log.
#[derive(Default)]
pub struct Reader {
    read: usize,
    batch: Vec<Merge>,
}

impl Reader {
    /// The next merges, at most a batch; none once all are read.
    pub fn next_batch(&mut self, log: &Log) -> &[Merge] {
        self.batch.clear();
        let merges = log.0.read().unwrap_or_else(PoisonError::into_inner);
        self.batch.extend(merges[self.read..].iter().take(BATCH));
        self.read += self.batch.len();
        &self.batch
    }
}
