//! Encoding many texts on several threads.
//!
//! In: texts, read one by one on the calling thread, and work to do on chunks of them. Out: the results in the order of the
//! texts, or the first error in that order.

use super::Text;
use crate::check_in::{CheckIn, PAUSE};
use crate::error::{Error, Result};
use crate::threads::help;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Texts are handed out in chunks of about this many bytes, at most a millisecond of work.
const CHUNK: usize = 1 << 16;

/// Runs `work` on all texts, some at a time, on `threads` threads.
///
/// Helpers start while the calling thread still reads `texts`; then `finish` is called, which takes the results.
pub fn batch<'t, T: Send, E: From<Error>>(
    texts: impl Iterator<Item = std::result::Result<Text<'t>, E>>,
    threads: usize,
    work: impl Fn(&[Text], &mut CheckIn) -> Result<T> + Sync,
    finish: impl FnOnce(Results<'_, T>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let queue = ChunkQueue::default();
    let stopped = AtomicBool::new(false);
    // Chunks are handed out in order, so all chunks before a failed one get done: the first failure is always the same.
    let one_more = |check_in: &mut CheckIn| {
        let (number, chunk) = queue.next()?;
        let result = work(&chunk, check_in);
        if result.is_err() {
            queue.end();
        }
        Some((number, result))
    };
    let helper = |results: Sender<_>| {
        let mut go_on = || !stopped.load(Ordering::Relaxed);
        let mut check_in = CheckIn::new(&mut go_on);
        while let Some(result) = one_more(&mut check_in)
            && results.send(result).is_ok()
        {}
    };
    std::thread::scope(|scope| {
        let (sender, results) = channel();
        let mut helpers = 0;
        let last = for_each_full_chunk(texts, |chunk| {
            queue.push(chunk);
            if helpers + 1 < threads {
                let sender = sender.clone();
                help(scope, || helper(sender));
                helpers += 1;
            }
        });
        drop(sender);
        let outcome = last.and_then(|chunk| {
            queue.push(chunk);
            let chunks = queue.close();
            finish(Results { chunks, results, one_more: &one_more })
        });
        queue.end();
        stopped.store(true, Ordering::Relaxed);
        outcome
    })
}

/// The number of a chunk, and its result.
type Numbered<T> = (usize, Result<T>);

/// The results, for the calling thread to take.
pub struct Results<'a, T> {
    chunks: usize,
    results: Receiver<Numbered<T>>,
    one_more: &'a (dyn Fn(&mut CheckIn) -> Option<Numbered<T>> + Sync),
}

impl<T> Results<'_, T> {
    /// Calls `take` with the results in order as they come, and works as well while there is nothing to take. Once `go_on`
    /// returns false, all threads stop.
    pub fn take(self, go_on: &mut dyn FnMut() -> bool, take: &mut dyn FnMut(T)) -> Result<()> {
        let mut check_in = CheckIn::new(go_on);
        let mut early = BTreeMap::new();
        let mut taken = 0;
        while taken < self.chunks {
            // If results come as fast as they are taken, nothing below checks.
            check_in.look()?;
            if let Some(result) = early.remove(&taken) {
                take(result?);
                taken += 1;
            } else if let Some((number, result)) =
                self.results.try_recv().ok().or_else(|| (self.one_more)(&mut check_in))
            {
                early.insert(number, result);
            } else {
                match self.results.recv_timeout(PAUSE) {
                    Ok((number, result)) => _ = early.insert(number, result),
                    Err(RecvTimeoutError::Timeout) => check_in.look()?,
                    Err(RecvTimeoutError::Disconnected) => break, // a helper panicked, so the scope will panic too
                }
            }
        }
        Ok(())
    }
}

/// Chunks of texts that wait for a thread.
#[derive(Default)]
struct ChunkQueue<'t> {
    line: Mutex<Line<'t>>,
    /// A chunk has arrived, or none will arrive any more.
    changed: Condvar,
}

#[derive(Default)]
struct Line<'t> {
    waiting: VecDeque<Vec<Text<'t>>>,
    begun: usize,
    closed: bool,
}

impl<'t> ChunkQueue<'t> {
    fn push(&self, chunk: Vec<Text<'t>>) {
        let mut line = self.line();
        if !line.closed && !chunk.is_empty() {
            line.waiting.push_back(chunk);
            self.changed.notify_one();
        }
    }

    /// The first waiting chunk and its number. Waits for one until the queue is closed.
    fn next(&self) -> Option<(usize, Vec<Text<'t>>)> {
        let not_yet = |line: &mut Line| line.waiting.is_empty() && !line.closed;
        let mut line = self.changed.wait_while(self.line(), not_yet).expect("no thread has failed");
        let chunk = line.waiting.pop_front()?;
        line.begun += 1;
        Some((line.begun - 1, chunk))
    }

    /// No more chunks will arrive. Returns how many there were.
    fn close(&self) -> usize {
        let mut line = self.line();
        line.closed = true;
        self.changed.notify_all();
        line.begun + line.waiting.len()
    }

    /// Drops the waiting chunks, and no more will arrive.
    fn end(&self) {
        self.line().waiting.clear();
        self.close();
    }

    fn line(&self) -> MutexGuard<'_, Line<'t>> {
        self.line.lock().expect("no thread has failed")
    }
}

/// Returns the texts that are left for the last chunk.
fn for_each_full_chunk<'t, E>(
    texts: impl Iterator<Item = std::result::Result<Text<'t>, E>>,
    mut give: impl FnMut(Vec<Text<'t>>),
) -> std::result::Result<Vec<Text<'t>>, E> {
    let mut size = 0;
    let mut chunk = Vec::new();
    for text in texts {
        let text = text?;
        size += text.bytes().len() + 1;
        chunk.push(text);
        if size >= CHUNK {
            size = 0;
            give(std::mem::take(&mut chunk));
        }
    }
    Ok(chunk)
}
