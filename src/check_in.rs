//! Checking in: long-running work asks its caller from time to time whether to go on.
//!
//! In: a question for the caller, which answers `false` to stop (a signal is waiting, another thread has failed).
//! Out: `Err(Interrupted)` from the check that got this answer, and from every later one.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often the caller is asked: often enough for Ctrl-C to feel immediate, at no measurable cost.
pub const PAUSE: Duration = Duration::from_millis(50);

/// Says when it is time to ask the caller.
pub struct Clock {
    asked: Instant,
}

impl Clock {
    pub fn start() -> Self {
        Self { asked: Instant::now() }
    }

    pub fn is_due(&mut self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&mut self, now: Instant) -> bool {
        let due = now - self.asked >= PAUSE;
        if due {
            self.asked = now;
        }
        due
    }
}

/// A step is a pre-token or a merge. It takes nanoseconds, or milliseconds with a pattern that looks far ahead, so the
/// number of steps between two looks at the clock adapts to their speed.
const FIRST_STEPS: u32 = 16;
const MOST_STEPS: u32 = 256;
const QUICK: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_millis(10);

/// For work in many short steps, with a check after each.
pub struct CheckIn<'a> {
    go_on: Option<&'a mut dyn FnMut() -> bool>,
    stopped: bool,
    clock: Clock,
    looked: Instant,
    /// Between two looks at the clock.
    steps: u32,
    steps_left: u32,
}

impl<'a> CheckIn<'a> {
    pub fn new(go_on: &'a mut dyn FnMut() -> bool) -> Self {
        Self { go_on: Some(go_on), ..CheckIn::never() }
    }

    /// For work that nobody stops.
    pub fn never() -> Self {
        let clock = Clock::start();
        Self {
            go_on: None,
            stopped: false,
            looked: clock.asked,
            clock,
            steps: FIRST_STEPS,
            steps_left: FIRST_STEPS,
        }
    }

    /// For tests: the first look at the clock stops the work.
    #[cfg(test)]
    pub fn impatient() -> CheckIn<'static> {
        let check_in = CheckIn::new(Box::leak(Box::new(|| false)));
        std::thread::sleep(PAUSE);
        check_in
    }

    #[inline(always)]
    pub fn now(&mut self) -> Result<()> {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            return Ok(());
        }
        self.look()
    }

    /// The same after a wait: looks at the clock regardless of the number of steps.
    #[cold]
    pub fn look(&mut self) -> Result<()> {
        let now = Instant::now();
        match now - self.looked {
            passed if passed < QUICK => self.steps = (2 * self.steps).min(MOST_STEPS),
            passed if passed > SLOW => self.steps = 1,
            _ => {}
        }
        self.looked = now;
        self.steps_left = self.steps - 1;
        if let Some(go_on) = &mut self.go_on
            && !self.stopped
            && self.clock.is_due_at(now)
        {
            self.stopped = !go_on();
        }
        if self.stopped {
            self.steps_left = 0;
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_without_an_end_is_stopped() {
        let mut answers = [true, true, false].into_iter();
        let mut go_on = || answers.next().expect("nobody is asked again after a no");
        let mut check_in = CheckIn::new(&mut go_on);
        while check_in.now().is_ok() {}
        assert!(check_in.now().is_err(), "for good");
        assert_eq!(answers.next(), None);
    }

    #[test]
    fn slow_steps_are_checked_one_by_one() {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked < 2
        };
        let mut check_in = CheckIn::new(&mut go_on);
        let mut steps = 0;
        while check_in.now().is_ok() {
            std::thread::sleep(2 * SLOW);
            steps += 1;
        }
        // The first look comes after the first steps, then after every step.
        assert!(steps <= FIRST_STEPS + 1 + PAUSE.div_duration_f64(2 * SLOW).ceil() as u32, "{steps}");
    }
}
