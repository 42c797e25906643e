//! Whose turn it is: which language the next merge serves.
//!
//! In: what each language costs now, and who was served before. Out: the worst compressed language that may be served.

use std::collections::VecDeque;

/// How a language is measured: `units / tokens / ratio`, its compression rate.
///
/// With dev text, the units are its lines (or bytes, characters, words) and the ratio is 1. Without dev text, the units are
/// the bytes of the train text, and the ratio is the bytes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    pub units: f64,
    pub ratio: f64,
    pub tokens: u64,
}

impl Gauge {
    pub fn rate(&self) -> f64 {
        self.units / self.tokens as f64 / self.ratio
    }
}

/// No language may be served more than `alpha * size / languages` times in `size` steps.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub size: usize,
    pub alpha: f64,
}

/// Chooses the language to serve: the worst compressed one, within the window if there is one.
pub struct Turns {
    window: Option<Window>,
    recent: VecDeque<usize>,
    recent_of: Vec<usize>,
    alive: Vec<bool>,
}

impl Turns {
    pub fn new(languages: usize, window: Option<Window>) -> Turns {
        Turns { window, recent: VecDeque::new(), recent_of: vec![0; languages], alive: vec![true; languages] }
    }

    /// The remaining language with the smallest rate, the first one given on a tie. Languages that have had their share of
    /// the window are skipped, unless all have. `None` if no language is left.
    pub fn next(&self, gauges: &[Gauge]) -> Option<usize> {
        self.worst(gauges, |language| self.within_window(language)).or_else(|| self.worst(gauges, |_| true))
    }

    fn worst(&self, gauges: &[Gauge], eligible: impl Fn(usize) -> bool) -> Option<usize> {
        let possible = gauges.iter().map(Gauge::rate).enumerate();
        let possible = possible.filter(|&(language, _)| self.alive[language] && eligible(language));
        possible.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(language, _)| language)
    }

    fn within_window(&self, language: usize) -> bool {
        self.window.is_none_or(|window| {
            let allowed = window.alpha * window.size as f64;
            (self.recent_of[language] * self.alive.len()) as f64 <= allowed
        })
    }

    pub fn served(&mut self, language: usize) {
        let Some(window) = self.window else { return };
        self.recent.push_back(language);
        self.recent_of[language] += 1;
        if self.recent.len() > window.size
            && let Some(oldest) = self.recent.pop_front()
        {
            self.recent_of[oldest] -= 1;
        }
    }

    /// The language has no pair left; it is never served again.
    pub fn retire(&mut self, language: usize) {
        self.alive[language] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_skips_and_then_gives_way() {
        let mut turns = Turns::new(2, Some(Window { size: 4, alpha: 1.0 }));
        let gauges = [1.0, 2.0].map(|units| Gauge { units, ratio: 1.0, tokens: 10 });
        for _ in 0..3 {
            assert_eq!(turns.next(&gauges), Some(0));
            turns.served(0);
        }
        assert_eq!(turns.next(&gauges), Some(1));
        turns.retire(1);
        assert_eq!(turns.next(&gauges), Some(0), "nobody qualifies, so the worst of all");
        turns.retire(0);
        assert_eq!(turns.next(&gauges), None);
    }

    #[test]
    fn a_rate_beyond_all_numbers_is_still_served() {
        let gauges = [Gauge { units: 1.0, ratio: 1e-320, tokens: 1 }; 2];
        assert_eq!(Turns::new(2, None).next(&gauges), Some(0));
    }
}
