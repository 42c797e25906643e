//! Work on several threads, or on fewer if the system does not grant as many.
//!
//! In: how many jobs there are and what each is. Out: the result of each, in order.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread that helps but is not essential; `None` if the system does not grant one.
pub fn help<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> Option<ScopedJoinHandle<'s, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

/// Runs all jobs, by number; the calling thread works as well. Results are in order.
pub fn in_parallel<T: Send>(jobs: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&number| number < jobs).map(|number| (number, job(number))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads.min(jobs)).map_while(|_| help(scope, work)).collect();
        let mut done = work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_is_done_once_and_results_are_in_order() {
        for threads in [0, 1, 2, 9] {
            for jobs in [0, 1, 2, 100] {
                let squares: Vec<usize> = (0..jobs).map(|number| number * number).collect();
                assert_eq!(in_parallel(jobs, threads, |number| number * number), squares);
            }
        }
    }
}
