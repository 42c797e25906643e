//! Learning the merges: one loop for every variant of the method.
//!
//! Each step serves a language (or, in the global phase, all of them summed), takes its most frequent
//! pair and appends the merge to the log. The log is the whole state: a shard is brought up to date with
//! it only when it is asked for its best pair, and by idle threads before that. So shards never wait for
//! each other, and the result depends on nothing but the log.

use crate::choose::{Admission, Gate, Gauge, Queue, Server, Tokens, Window, byte_ranks};
use crate::error::{Error, Result};
use crate::shard::{Candidate, Merge, Part, Scratch, Shard, Word, parts};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Distinct pre-tokens and how often each occurs: bytes, where each starts and the last ends, counts.
#[derive(Clone, Copy)]
pub struct Counted<'c> {
    pub bytes: &'c [u8],
    pub offsets: &'c [i64],
    pub counts: &'c [u64],
}

/// What a language brings: the text to learn from, and the text and the scale to measure it by.
pub struct Language<'c> {
    pub train: Counted<'c>,
    /// `None`: not measured (nothing will be known of its cost).
    pub measure: Option<Measure<'c>>,
}

pub struct Measure<'c> {
    pub text: Counted<'c>,
    pub units: f64,
    pub ratio: f64,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    Merges(usize),
    /// So many distinct tokens beside the bytes.
    Tokens(usize),
}

impl Goal {
    fn size(self) -> usize {
        match self {
            Goal::Merges(size) | Goal::Tokens(size) => size,
        }
    }
}

pub struct Settings {
    pub goal: Goal,
    /// The first so many merges serve all languages together (classical BPE).
    pub global_merges: usize,
    pub window: Option<Window>,
    pub admission: Admission,
    pub threads: usize,
    /// Merges known beforehand and whom each served, and who had run out by then: where an earlier run left off.
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

#[derive(Default)]
pub struct Trained {
    pub steps: Vec<Step>,
    /// (merges done, tokens of each measured text then): at 0, at powers of two, at least every 0.1 %, at the end.
    pub snapshots: Vec<(usize, Vec<u64>)>,
    /// (language, merges done when it had no pair left).
    pub exhausted: Vec<(usize, usize)>,
}

/// Called about every 50 ms on the calling thread with what is learned so far; `false` stops the training.
pub type Tick<'t> = dyn FnMut(&Trained) -> bool + 't;

pub fn train(languages: &[Language], settings: &Settings, tick: &mut Tick) -> Result<Trained> {
    if languages.is_empty() {
        return Err(Error::Invalid("there is no language to learn from".into()));
    }
    let log = Log::default();
    let mut run = Run::new(languages, settings, &log, tick)?;
    run.snapshot();
    for &step in &settings.known {
        run.append(step)?;
        run.breathe()?;
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
        run.phase(&each, Serve::Worst, usize::MAX)?;
    }
    run.snapshot();
    Ok(run.result)
}

/// Who is served in a phase: all languages as one, or the worst compressed one.
#[derive(Clone, Copy, PartialEq)]
enum Serve {
    Everyone,
    Worst,
}

/// A training run: everything that the calling thread alone touches.
struct Run<'r, 't> {
    settings: &'r Settings,
    breath: Breath<'r, 't>,
    tokens: Tokens,
    log: &'r Log,
    gate: Gate,
    server: Server,
    scale: Scale,
    scratch: Scratch,
    result: Trained,
}

impl<'r, 't> Run<'r, 't> {
    fn new(
        languages: &[Language],
        settings: &'r Settings,
        log: &'r Log,
        tick: &'r mut Tick<'t>,
    ) -> Result<Self> {
        // Each merge shortens the train text, so there cannot be more than it has bytes, whatever is asked for.
        let possible = languages.iter().map(|language| language.train.size()).sum();
        let capacity = 256 + settings.known.len() + settings.goal.size().min(possible);
        let mut breath = Breath { tick, last: Instant::now() };
        let scale = breath.during(&Trained::default(), |stop| Scale::new(languages, stop))?;
        Ok(Run {
            settings,
            breath,
            tokens: Tokens::bytes(),
            log,
            gate: Gate::new(settings.admission),
            server: Server::new(languages.len(), settings.window),
            scale,
            scratch: Scratch::new(capacity),
            result: Trained::default(),
        })
    }

    fn reached(&self) -> bool {
        match self.settings.goal {
            Goal::Merges(merges) => self.result.steps.len() >= merges,
            Goal::Tokens(tokens) => self.tokens.len() >= 256 + tokens,
        }
    }

    /// THE loop. `texts` has one entry for each that can be served: all languages as one, or each by itself.
    fn phase(&mut self, texts: &[&[Counted]], serve: Serve, until: usize) -> Result<()> {
        if self.reached() {
            return Ok(());
        }
        let threads = self.settings.threads;
        let learners = self.breath.during(&self.result, |stop| build(texts, threads, stop))?;
        let pool = Pool { log: self.log, learners, stop: AtomicBool::new(false) };
        std::thread::scope(|scope| {
            // A single learner leaves nothing to do for helpers.
            for helper in 1..self.settings.threads.min(pool.learners.len()) {
                let (pool, capacity) = (&pool, self.scratch.capacity());
                scope.spawn(move || pool.keep_up(helper, Scratch::new(capacity)));
            }
            let _stop_helpers = StopOnDrop(&pool.stop);
            while !self.reached() && self.result.steps.len() < until {
                let served = match serve {
                    Serve::Everyone => None,
                    Serve::Worst => {
                        self.scale.catch_up(self.log, &mut self.scratch);
                        match self.server.worst(&self.scale.gauges) {
                            Some(language) => Some(language),
                            None => break,
                        }
                    }
                };
                match (self.best(&pool, served.unwrap_or(0))?, served) {
                    (Some(best), _) => {
                        let (left, right) = parts(best.pair);
                        self.append(Step { left, right, served, count: best.count })?;
                    }
                    (None, Some(language)) => self.retire(language, self.result.steps.len()),
                    (None, None) => break,
                }
                self.breathe()?;
            }
            Ok(())
        })
    }

    fn best(&mut self, pool: &Pool, served: usize) -> Result<Option<Candidate>> {
        let mut learner = lock(&pool.learners[served]);
        while learner.catch_up(self.log, &mut self.scratch) {
            self.breathe()?;
        }
        Ok(learner.best(&self.tokens, &self.gate))
    }

    fn retire(&mut self, language: usize, step: usize) {
        self.server.retire(language);
        self.result.exhausted.push((language, step));
    }

    fn append(&mut self, step: Step) -> Result<()> {
        let known = |id: u32| (id as usize) < self.tokens.len();
        if !known(step.left) || !known(step.right) {
            return Err(Error::Invalid(format!(
                "merge {} joins tokens {} and {}, but only {} tokens exist by then",
                self.result.steps.len(),
                step.left,
                step.right,
                self.tokens.len()
            )));
        }
        self.log.push(Merge {
            left: step.left,
            right: step.right,
            new: self.tokens.join(step.left, step.right)?,
            left_len: self.tokens.length(step.left) as u32,
            right_len: self.tokens.length(step.right) as u32,
        });
        if let Some(language) = step.served {
            self.server.served(language);
        }
        self.result.steps.push(step);
        let done = self.result.steps.len();
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

    fn breathe(&mut self) -> Result<()> {
        self.breath.now(&self.result)
    }
}

/// Lets the caller hear and interrupt, on its own thread.
struct Breath<'r, 't> {
    tick: &'r mut Tick<'t>,
    last: Instant,
}

impl Breath<'_, '_> {
    fn now(&mut self, so_far: &Trained) -> Result<()> {
        if self.last.elapsed() >= Duration::from_millis(50) {
            self.last = Instant::now();
            if !(self.tick)(so_far) {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Does long work on another thread, which must end soon after it is told to stop.
    fn during<T: Send>(
        &mut self,
        so_far: &Trained,
        work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
    ) -> Result<T> {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _stop_work = StopOnDrop(&stop);
            let worker = scope.spawn(|| work(&stop));
            while !worker.is_finished() {
                std::thread::sleep(Duration::from_micros(200));
                self.now(so_far)?;
            }
            worker.join().unwrap_or(Err(Error::Interrupted))
        })
    }
}

/// Builds the learners on all threads, the largest text first.
fn build(texts: &[&[Counted]], threads: usize, stop: &AtomicBool) -> Result<Vec<Mutex<Learner>>> {
    let size = |text: &&[Counted]| text.iter().map(Counted::size).sum::<usize>();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(size(&texts[i])));
    let next = AtomicUsize::new(0);
    let built: Vec<Mutex<Result<Learner>>> =
        texts.iter().map(|_| Mutex::new(Err(Error::Interrupted))).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(texts.len()) {
            scope.spawn(|| {
                while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    *lock(&built[i]) = Learner::new(texts[i], threads, stop);
                }
            });
        }
    });
    let finished = |slot: Mutex<Result<Learner>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    built.into_iter().map(|slot| finished(slot).map(Mutex::new)).collect()
}

/// The merges so far. Only the calling thread appends.
#[derive(Default)]
struct Log(RwLock<Vec<Merge>>);

/// How many merges are applied before a shard is let go of: short, so that nobody waits long for it.
const BATCH: usize = 32;

impl Log {
    fn push(&self, merge: Merge) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(merge);
    }

    /// Up to `BATCH` merges after the first `applied`.
    fn after(&self, applied: usize, into: &mut Vec<Merge>) {
        into.clear();
        let log = self.0.read().unwrap_or_else(PoisonError::into_inner);
        into.extend(log[applied..].iter().take(BATCH));
    }
}

/// The measured texts of all languages in one shard, and how many tokens each has.
struct Scale {
    shard: Shard,
    applied: usize,
    pending: Vec<Merge>,
    gauges: Vec<Gauge>,
}

impl Scale {
    fn new(languages: &[Language], stop: &AtomicBool) -> Result<Scale> {
        let mut gauges = Vec::new();
        let mut words = Vec::new();
        for (owner, language) in languages.iter().enumerate() {
            let mut gauge = Gauge { units: 0.0, ratio: 1.0, tokens: 0 };
            if let Some(measure) = &language.measure {
                let Measure { text, units, ratio } = *measure;
                let tokens = text.words(0).map(|word| word.bytes.len() as u64 * word.weight).sum();
                gauge = Gauge { units, ratio, tokens };
                words.extend(text.words(owner as u32));
            }
            gauges.push(gauge);
        }
        Ok(Scale {
            shard: Shard::new(vec![Part::new(words, &byte_ranks(), stop)?])?,
            applied: 0,
            pending: Vec::new(),
            gauges,
        })
    }

    fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) {
        loop {
            log.after(self.applied, &mut self.pending);
            if self.pending.is_empty() {
                return;
            }
            self.applied += self.pending.len();
            for merge in &self.pending {
                let gauges = &mut self.gauges;
                let save = |owner: u32, weight: u64| gauges[owner as usize].tokens -= weight;
                self.shard.apply(merge, scratch, save, |_| ());
            }
        }
    }
}

/// Into how many parts a text is cut to be laid out by several threads: each walks all words and takes 2.5 MB.
const MOST_PARTS: usize = 16;

/// A text to learn from, with the queue of its pairs.
struct Learner {
    shard: Shard,
    applied: usize,
    pending: Vec<Merge>,
    /// Pairs that occur at least so often are in the queue; rarer ones, which are most, only when it has run dry.
    queued_from: u64,
    /// Pairs born since the queue was last asked: put into it only then, by the thread that knows the tokens.
    born: Vec<Candidate>,
    queue: Queue,
}

impl Learner {
    fn new(texts: &[Counted], threads: usize, stop: &AtomicBool) -> Result<Learner> {
        let ranks = byte_ranks();
        let parts = if let [text] = texts {
            vec![Part::new(text.words(0).collect(), &ranks, stop)]
        } else {
            let number = threads.min(MOST_PARTS);
            std::thread::scope(|scope| {
                let make = |part| move || Part::new(summed(texts, part, number), &ranks, stop);
                let makers: Vec<_> = (0..number).map(|part| scope.spawn(make(part))).collect();
                makers.into_iter().map(|maker| maker.join().unwrap_or(Err(Error::Interrupted))).collect()
            })
        };
        let shard = Shard::new(parts.into_iter().collect::<Result<_>>()?)?;
        Ok(Learner {
            shard,
            applied: 0,
            pending: Vec::new(),
            queued_from: u64::MAX,
            born: Vec::new(),
            queue: Queue::default(),
        })
    }

    /// Applies the next batch of merges; `false` when there was none.
    fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) -> bool {
        log.after(self.applied, &mut self.pending);
        self.applied += self.pending.len();
        for merge in &self.pending {
            let (born, queued_from) = (&mut self.born, self.queued_from);
            let keep = |candidate: Candidate| {
                if candidate.count >= queued_from {
                    born.push(candidate);
                }
            };
            self.shard.apply(merge, scratch, |_, _| (), keep);
        }
        !self.pending.is_empty()
    }

    fn best(&mut self, tokens: &Tokens, gate: &Gate) -> Option<Candidate> {
        for candidate in self.born.drain(..) {
            if gate.admits(&candidate, tokens) {
                self.queue.push(candidate, tokens);
            }
        }
        loop {
            let best = self.queue.best(tokens, self.queued_from, |pair| self.shard.count(pair));
            if best.is_some() || self.queued_from <= gate.floor() {
                return best;
            }
            // The queue is empty: take in the next rarer pairs, down to an eighth of the most frequent of them.
            let rarer = self.shard.candidates().filter(|candidate| candidate.count < self.queued_from);
            let most = rarer.clone().map(|candidate| candidate.count).max().unwrap_or(0);
            let queued_from = (most / 8).max(gate.floor());
            for candidate in rarer.filter(|candidate| candidate.count >= queued_from) {
                if gate.admits(&candidate, tokens) {
                    self.queue.push(candidate, tokens);
                }
            }
            self.queued_from = queued_from;
        }
    }
}

/// The learners, brought up to date by whoever has time.
struct Pool<'p> {
    log: &'p Log,
    learners: Vec<Mutex<Learner>>,
    stop: AtomicBool,
}

impl Pool<'_> {
    fn keep_up(&self, helper: usize, mut scratch: Scratch) {
        let number = self.learners.len();
        let mut at = helper * number / 2;
        let mut idle = 0;
        while !self.stop.load(Ordering::Relaxed) {
            at = (at + 1) % number;
            let busy = match self.learners[at].try_lock() {
                Ok(mut learner) => learner.catch_up(self.log, &mut scratch),
                Err(_) => false,
            };
            idle = if busy { 0 } else { idle + 1 };
            if idle > number {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
    }
}

struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<'c> Counted<'c> {
    /// In bytes. They may be part of a larger buffer.
    fn size(&self) -> usize {
        match self.offsets {
            [first, .., last] => (last - first) as usize,
            _ => 0,
        }
    }

    fn words(&self, owner: u32) -> impl Iterator<Item = Word<'c>> + use<'c> {
        let Counted { bytes, offsets, counts } = *self;
        offsets.windows(2).zip(counts).map(move |(ends, &weight)| Word {
            bytes: &bytes[ends[0] as usize..ends[1] as usize],
            weight,
            owner,
        })
    }
}

/// Equal words of several languages become one, with their weights added: those of one part out of so many.
fn summed<'c>(texts: &[Counted<'c>], part: usize, parts: usize) -> Vec<Word<'c>> {
    let expected = texts.iter().map(|text| text.counts.len()).sum::<usize>() / parts;
    let mut places: FxHashMap<&[u8], u32> = FxHashMap::with_capacity_and_hasher(expected, Default::default());
    let mut sums: Vec<Word> = Vec::new();
    for word in texts.iter().flat_map(|text| text.words(0)) {
        // By how they begin, so that words with the same beginning stay together.
        let share = word.bytes.iter().take(6).fold(0, |share, &byte| share * 31 + usize::from(byte));
        if share % parts == part {
            match places.entry(word.bytes) {
                Entry::Occupied(place) => sums[*place.get() as usize].weight += word.weight,
                Entry::Vacant(place) => {
                    place.insert(sums.len() as u32);
                    sums.push(word);
                }
            }
        }
    }
    sums
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
