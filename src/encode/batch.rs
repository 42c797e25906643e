//! Many texts on several threads.
//!
//! In: texts, and work to do on each. Out: the results in the order of the texts, or the first error in that order.

use super::Text;
use crate::check_in::{CheckIn, Clock};
use crate::error::Result;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Runs `work` on every text, on `threads` threads; results come in the order of the texts. `go_on` is only called on
/// the calling thread; once it says no, all threads stop.
pub fn batch<T: Send>(
    texts: &[Text],
    threads: usize,
    go_on: &mut dyn FnMut() -> bool,
    work: impl Fn(Text, &mut CheckIn) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    const CHUNK: usize = 32;
    let stopped = AtomicBool::new(false);
    let failed = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Vec<T>>)>> = Mutex::default();
    let run = |check_in: &mut CheckIn| {
        while !failed.load(Ordering::Relaxed) {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            let Some(texts) = texts.chunks(CHUNK).nth(chunk) else { break };
            let results: Result<Vec<T>> = texts.iter().map(|&text| work(text, check_in)).collect();
            failed.fetch_or(results.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((chunk, results));
        }
    };
    let mut ask = || {
        let stop = stopped.load(Ordering::Relaxed) || !go_on();
        stopped.store(stop, Ordering::Relaxed);
        !stop
    };
    std::thread::scope(|scope| {
        let helper = || run(&mut CheckIn::new(&mut || !stopped.load(Ordering::Relaxed)));
        let helpers: Vec<_> =
            (1..threads.min(texts.len().div_ceil(CHUNK))).map(|_| scope.spawn(helper)).collect();
        run(&mut CheckIn::new(&mut ask));
        let mut clock = Clock::start();
        while !helpers.iter().all(ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_micros(100));
            if clock.is_due() && !ask() {
                break;
            }
        }
    });
    // Chunks are taken in order, so every chunk before a failed one is there: the first failure is always the same.
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(chunk, _)| *chunk);
    let mut all = Vec::with_capacity(texts.len());
    for (_, results) in done {
        all.extend(results?);
    }
    Ok(all)
}
