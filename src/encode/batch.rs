//! Many texts on several threads.
//!
//! In: texts, and work to do on some of them. Out: the results one after the other, in the order of the texts, or the first
//! error in that order.

use super::Text;
use crate::check_in::{CheckIn, PAUSE};
use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};

/// In bytes: texts are handed out together until they are as long as this, a millisecond's work at most.
const CHUNK: usize = 1 << 16;

/// Runs `work` on all texts, some at a time, on `threads` threads, and `take` on its results as they come, in order.
///
/// `take` and `go_on` are only called on the calling thread, which works as well where nothing waits to be taken; once
/// `go_on` says no, all threads stop.
pub fn batch<T: Send>(
    texts: &[Text],
    threads: usize,
    go_on: &mut dyn FnMut() -> bool,
    work: impl Fn(&[Text], &mut CheckIn) -> Result<T> + Sync,
    take: &mut dyn FnMut(T),
) -> Result<()> {
    let chunks = chunks(texts);
    let stopped = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    // Chunks are handed out in order, so every chunk before a failed one is worked on: the first failure is always the same.
    let one_more = |check_in: &mut CheckIn| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let result = work(chunks.get(number)?, check_in);
        if result.is_err() {
            next.store(chunks.len(), Ordering::Relaxed);
        }
        Some((number, result))
    };
    let helper = |results: std::sync::mpsc::Sender<_>| {
        let mut go_on = || !stopped.load(Ordering::Relaxed);
        let mut check_in = CheckIn::new(&mut go_on);
        while let Some(result) = one_more(&mut check_in)
            && results.send(result).is_ok()
        {}
    };
    std::thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 1..threads.min(chunks.len()) {
            let sender = sender.clone();
            scope.spawn(|| helper(sender));
        }
        drop(sender);
        let mut check_in = CheckIn::new(go_on);
        let mut early = BTreeMap::new();
        let mut collect = || -> Result<()> {
            let mut taken = 0;
            while taken < chunks.len() {
                // Where results come as fast as they are taken, nothing below asks.
                check_in.look()?;
                if let Some(result) = early.remove(&taken) {
                    take(result?);
                    taken += 1;
                } else if let Some((number, result)) =
                    results.try_recv().ok().or_else(|| one_more(&mut check_in))
                {
                    early.insert(number, result);
                } else {
                    match results.recv_timeout(PAUSE) {
                        Ok((number, result)) => _ = early.insert(number, result),
                        Err(RecvTimeoutError::Timeout) => check_in.look()?,
                        Err(RecvTimeoutError::Disconnected) => break, // a helper has panicked, and so will the scope
                    }
                }
            }
            Ok(())
        };
        let outcome = collect();
        stopped.store(true, Ordering::Relaxed);
        outcome
    })
}

fn chunks<'a, 't>(texts: &'a [Text<'t>]) -> Vec<&'a [Text<'t>]> {
    let mut size = 0;
    let mut start = 0;
    let mut chunks = Vec::new();
    for (end, text) in (1..).zip(texts) {
        size += text.bytes().len() + 1;
        if size >= CHUNK || end == texts.len() {
            chunks.push(&texts[start..end]);
            (size, start) = (0, end);
        }
    }
    chunks
}
