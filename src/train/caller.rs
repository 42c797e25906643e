//! The caller of a training, which is told the progress and may stop it, on its own thread.
//!
//! In: what is learned so far. Out: `Err(Interrupted)` once the caller has asked to stop.

use super::Trained;
use crate::check_in::Clock;
use crate::error::{Error, Result};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

/// Called about every 50 ms on the calling thread with what is learned so far; `false` stops the training.
pub type Tick<'t> = dyn FnMut(&Trained) -> bool + 't;

pub struct Caller<'r, 't> {
    pub tick: &'r mut Tick<'t>,
    clock: Clock,
}

impl<'r, 't> Caller<'r, 't> {
    pub fn new(tick: &'r mut Tick<'t>) -> Self {
        Caller { tick, clock: Clock::start() }
    }

    pub fn check_in(&mut self, so_far: &Trained) -> Result<()> {
        if self.clock.is_due() && !(self.tick)(so_far) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Runs long work on another thread, which must end soon after it is told to stop.
    pub fn wait_for<T: Send>(
        &mut self,
        so_far: &Trained,
        work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
    ) -> Result<T> {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _stop_work = StopOnDrop(&stop);
            let worker = Builder::new().spawn_scoped(scope, || work(&stop))?;
            while !worker.is_finished() {
                std::thread::sleep(Duration::from_micros(200));
                self.check_in(so_far)?;
            }
            worker.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}

/// Tells other threads to stop, even if an error or a panic ends the work.
pub struct StopOnDrop<'s>(pub &'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_would_never_end_stops_when_the_caller_says_so() {
        let mut ticks = 0;
        let mut tick = |_: &Trained| {
            ticks += 1;
            ticks < 3
        };
        let mut caller = Caller::new(&mut tick);
        let endless = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Ok(())
        };
        assert!(matches!(caller.wait_for(&Trained::default(), endless), Err(Error::Interrupted)));
        assert_eq!(ticks, 3);
    }
}
