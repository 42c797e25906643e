//! Learning the merges: one loop for every variant of the method.
//!
//! In: the counted words of each language, what it is measured by, and the settings. Out: the merges in order, with the
//! language that each served and the count of its pair, what the languages cost over time, and which ran out of pairs.
//!
//! Each step serves a language (or, in the global phase, all of them summed), takes its most frequent pair and appends the
//! merge to the log. The log is the whole state: a shard catches up with it only when it is asked for its best pair, or
//! earlier by idle threads. So shards never wait for each other, and the result depends only on the log.

mod caller;
#[cfg(test)]
mod tests;

use crate::check_in::CheckIn;
use crate::counts::Counted;
use crate::error::{Error, Result};
use crate::fair::{self, Fair, is_time_to_weigh};
use crate::joint::{self, Prices};
use crate::learner::Pool;
use crate::log::Log;
use crate::pair::Candidate;
use crate::queue::Admission;
use crate::scale::{Measure, Scale};
use crate::shard::{Merge, Scratch};
use crate::start::Start;
use crate::threads::help;
use crate::together::{Now, Together};
use crate::turns::{Turns, Window};
use crate::vocabulary::Vocabulary;
use caller::{Caller, StopOnDrop};
use std::sync::atomic::AtomicBool;

pub use crate::shard::{LONGEST_WORD, MOST_SYMBOLS};
pub use caller::Tick;

/// What a language brings: the text to learn from, and the text and the scale to measure it by.
pub struct Language<'c> {
    pub train: Counted<'c>,
    /// `None`: not measured, so its cost will be unknown.
    pub measure: Option<Measure<'c>>,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    Merges(usize),
    /// Distinct tokens in addition to the bytes.
    Tokens(usize),
}

impl Goal {
    fn size(self) -> usize {
        match self {
            Goal::Merges(size) | Goal::Tokens(size) => size,
        }
    }
}

/// What to learn, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub goal: Goal,
    /// The first merges, this many, serve all languages together (classical BPE).
    pub global_merges: usize,
    pub window: Option<Window>,
    /// Among the served language's pairs with at least this share of its top pair's count, take the one that saves the most
    /// tokens over all languages.
    pub joint: Option<f64>,
    /// Serve no language: take the pair that saves the most over all languages, where tokens of a language are weighted by
    /// this power of its cost.
    pub beta: Option<f64>,
    pub admission: Admission,
    pub threads: usize,
    /// The most bytes of words, including separators, in a shard: [`MOST_SYMBOLS`], or fewer in tests with many shards.
    pub most_symbols: usize,
    /// Where an earlier run stopped: its merges with the languages they served, and the languages that had run out of pairs.
    pub known: Vec<Step>,
    pub known_exhausted: Vec<(usize, usize)>,
}

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub left: u32,
    pub right: u32,
    pub served: Option<usize>,
    pub count: u64,
}

/// The result of a training.
#[derive(Default)]
pub struct Trained {
    pub steps: Vec<Step>,
    /// (merges done, tokens of each measured text then): at 0, at powers of two, at least every 0.1%, at the end.
    pub snapshots: Vec<(usize, Vec<u64>)>,
    /// (language, number of merges when it ran out of pairs).
    pub exhausted: Vec<(usize, usize)>,
}

pub fn train(languages: &[Language], start: &Start, settings: &Settings, tick: &mut Tick) -> Result<Trained> {
    if languages.is_empty() {
        return Err(Error::Invalid("there is no language to learn from".into()));
    }
    for (i, Language { train, measure }) in languages.iter().enumerate() {
        for text in [Some(train), measure.as_ref().map(|measure| &measure.text)].into_iter().flatten() {
            check_lengths(text, i)?;
        }
    }
    if let Some(beta) = settings.beta {
        fair::check(beta, languages.iter().all(|language| language.measure.is_some()))?;
    }
    let log = Log::default();
    let mut run = Run::new(languages, start, settings, &log, tick)?;
    run.snapshot();
    for &step in &settings.known {
        run.append(step)?;
        run.check_in()?;
    }
    for &(language, step) in &settings.known_exhausted {
        run.retire(language, step);
    }
    let trains: Vec<Counted> = languages.iter().map(|language| language.train).collect();
    if run.result.steps.len() < settings.global_merges {
        run.phase(&[trains.as_slice()], Serve::Everyone, settings.global_merges)?;
    }
    if settings.global_merges != usize::MAX {
        let each: Vec<&[Counted]> = trains.chunks(1).collect();
        let serve = if settings.beta.is_some() { Serve::Fairly } else { Serve::Worst };
        run.phase(&each, serve, usize::MAX)?;
    }
    run.snapshot();
    Ok(run.result)
}

/// Refuses words that are too long: a word must fit into one shard.
fn check_lengths(text: &Counted, language: usize) -> Result<()> {
    let longest =
        if text.size() > LONGEST_WORD { text.iter().map(|(word, _)| word.len()).max() } else { None };
    match longest {
        Some(longest) if longest > LONGEST_WORD => Err(Error::Invalid(format!(
            "language number {language} has a pre-token of {longest} bytes, and the engine takes up to {LONGEST_WORD}"
        ))),
        _ => Ok(()),
    }
}

/// Who is served in a phase: all languages as one, the worst compressed one, or all by weight.
#[derive(Clone, Copy, PartialEq)]
enum Serve {
    Everyone,
    Worst,
    Fairly,
}

/// A training run: everything that only the calling thread touches.
struct Run<'r, 't> {
    start: &'r Start<'r>,
    settings: &'r Settings,
    caller: Caller<'r, 't>,
    vocabulary: Vocabulary,
    log: &'r Log,
    turns: Turns,
    scale: Scale,
    /// The tokens of each language's train text at the start; empty unless needed.
    train_tokens: Vec<u64>,
    prices: Prices,
    fair: Option<Fair>,
    scratch: Scratch,
    result: Trained,
}

impl<'r, 't> Run<'r, 't> {
    fn new(
        languages: &[Language],
        start: &'r Start<'r>,
        settings: &'r Settings,
        log: &'r Log,
        tick: &'r mut Tick<'t>,
    ) -> Result<Self> {
        // Each merge shortens the train text, so there cannot be more merges than it has bytes.
        let possible = languages.iter().map(|language| language.train.size()).sum();
        let vocabulary = start.vocabulary();
        let capacity = vocabulary.size() + settings.known.len() + settings.goal.size().min(possible);
        let mut caller = Caller::new(tick);
        let measures: Vec<Option<Measure>> = languages.iter().map(|language| language.measure).collect();
        let scale = |stop: &AtomicBool| Scale::new(&measures, start, settings.most_symbols, stop);
        let scale = caller.wait_for(&Trained::default(), scale)?;
        let counted = if settings.joint.is_some() || settings.beta.is_some() { languages } else { &[] };
        let train_tokens: Vec<u64> = caller.wait_for(&Trained::default(), |stop| {
            counted.iter().map(|language| start.cutter(stop).count_all(&language.train)).collect()
        })?;
        let fair = settings.beta.map(|beta| Fair::new(beta, &train_tokens, &scale.gauges));
        Ok(Run {
            start,
            settings,
            caller,
            vocabulary,
            log,
            turns: Turns::new(languages.len(), settings.window),
            scale,
            train_tokens,
            prices: Prices::default(),
            fair,
            scratch: Scratch::new(capacity),
            result: Trained::default(),
        })
    }

    fn reached(&self) -> bool {
        match self.settings.goal {
            Goal::Merges(merges) => self.result.steps.len() >= merges,
            Goal::Tokens(tokens) => self.vocabulary.size() >= 256 + tokens,
        }
    }

    /// THE loop. `texts` has one entry per unit that can be served: all languages as one, or each on its own.
    fn phase(&mut self, texts: &[&[Counted]], serve: Serve, until: usize) -> Result<()> {
        if self.reached() {
            return Ok(());
        }
        let (start, log) = (self.start, self.log);
        let &Settings { most_symbols, threads, .. } = self.settings;
        let joint = serve == Serve::Worst && self.settings.joint.is_some();
        let pool = |stop: &AtomicBool| Pool::new(texts, start, most_symbols, log, joint, threads, stop);
        let mut pool = self.caller.wait_for(&self.result, pool)?;
        let mut together = (joint || serve == Serve::Fairly)
            .then(|| Together::new(pool.take_learners(), start.vocabulary().size(), serve == Serve::Fairly));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _stop_helpers = StopOnDrop(&stop);
            // A single learner leaves no work for helpers.
            for helper in 1..threads.min(pool.len()) {
                let (pool, stop, capacity) = (&pool, &stop, self.scratch.capacity());
                help(scope, move || pool.keep_up(helper, Scratch::new(capacity), stop));
            }
            while !self.reached() && self.result.steps.len() < until {
                let served = match serve {
                    Serve::Everyone | Serve::Fairly => None,
                    Serve::Worst => {
                        self.scale.catch_up(self.log, &mut self.scratch);
                        match self.turns.next(&self.scale.gauges) {
                            Some(language) => Some(language),
                            None => break,
                        }
                    }
                };
                let best = match &mut together {
                    Some(together) => self.best_for_all(together, served)?,
                    None => self.best(&pool, served.unwrap_or(0))?,
                };
                match (best, served) {
                    (Some(Candidate { count, pair }), _) => {
                        self.append(Step { left: pair.left(), right: pair.right(), served, count })?;
                    }
                    (None, Some(language)) => self.retire(language, self.result.steps.len()),
                    (None, None) => break,
                }
                self.check_in()?;
            }
            Ok(())
        })
    }

    fn best(&mut self, pool: &Pool, index: usize) -> Result<Option<Candidate>> {
        let mut learner = pool.learner(index);
        while learner.catch_up(self.log, &mut self.scratch) {
            self.check_in()?;
        }
        Ok(learner.best(&self.vocabulary, &self.settings.admission))
    }

    /// The same if pairs are ranked by what they save in every language.
    fn best_for_all(&mut self, together: &mut Together, served: Option<usize>) -> Result<Option<Candidate>> {
        while together.catch_up(self.log, &mut self.scratch) {
            self.check_in()?;
        }
        let Self { fair, caller, result, vocabulary, settings, prices, scale, train_tokens, .. } = self;
        let now = Now { together, vocabulary, admission: &settings.admission };
        let mut go_on = || (caller.tick)(result);
        let check_in = &mut CheckIn::new(&mut go_on);
        match (fair, served, settings.joint) {
            (Some(fair), ..) => fair.best(now, check_in),
            (None, Some(served), Some(share)) => {
                let tokens = train_tokens.iter().zip(&now.together.learners);
                let tokens = tokens.map(|(at_first, learner)| at_first - learner.saved);
                prices.set(scale.gauges.iter().zip(tokens));
                joint::worthiest(served, share, prices, now, check_in)
            }
            _ => unreachable!("languages are asked together for these policies alone"),
        }
    }

    fn retire(&mut self, language: usize, step: usize) {
        self.turns.retire(language);
        self.result.exhausted.push((language, step));
    }

    fn append(&mut self, step: Step) -> Result<()> {
        let known = |id: u32| (id as usize) < self.vocabulary.size();
        if !known(step.left) || !known(step.right) {
            return Err(Error::Invalid(format!(
                "merge {} joins tokens {} and {}, but only {} tokens exist by then",
                self.result.steps.len(),
                step.left,
                step.right,
                self.vocabulary.size()
            )));
        }
        self.log.push(Merge {
            left: step.left,
            right: step.right,
            new: self.vocabulary.join(step.left, step.right)?,
            left_len: self.vocabulary.length(step.left) as u32,
            right_len: self.vocabulary.length(step.right) as u32,
        });
        if let Some(language) = step.served {
            self.turns.served(language);
        }
        self.result.steps.push(step);
        let done = self.result.steps.len();
        if let Some(fair) = &mut self.fair
            && is_time_to_weigh(done)
        {
            self.scale.catch_up(self.log, &mut self.scratch);
            fair.weigh(&self.scale.gauges);
        }
        if done.is_power_of_two() || done.is_multiple_of((self.settings.goal.size() / 1000).max(1)) {
            self.snapshot();
        }
        Ok(())
    }

    fn snapshot(&mut self) {
        self.scale.catch_up(self.log, &mut self.scratch);
        let done = self.result.steps.len();
        if self.result.snapshots.last().map(|last| last.0) != Some(done) {
            let tokens = self.scale.gauges.iter().map(|gauge| gauge.tokens).collect();
            self.result.snapshots.push((done, tokens));
        }
    }

    fn check_in(&mut self) -> Result<()> {
        self.caller.check_in(&self.result)
    }
}
