//! The learners: each has a text to learn from and knows the best pair in it.
//!
//! In: counted words, and the log. Out: the best pair of a text once it is up to date with the log. Idle threads bring
//! the others up to date in the meantime.

use crate::counts::Counted;
use crate::error::Result;
use crate::joint::Leading;
use crate::log::{Log, Reader};
use crate::pair::{Candidate, Pair};
use crate::queue::{Admission, Queue};
use crate::shard::{Merge, Part, Scratch, Shards, WeightedWord};
use crate::start::Start;
use crate::threads::in_parallel;
use crate::vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Into how many parts a text is cut to be laid out by several threads: each walks all words.
const MOST_PARTS: usize = 16;

/// A text to learn from, with the queue of its pairs.
pub struct Learner {
    shards: Shards,
    reader: Reader,
    /// Tokens fewer than at the start.
    pub saved: u64,
    /// Pairs with at least this count are in the queue; rarer ones, which are most, only when it has run dry.
    queued_from: u64,
    /// Pairs born since the queue was last asked: put into it only then, by the thread that has the vocabulary.
    born: Vec<Candidate>,
    queue: Queue,
    /// The same pairs by what they are worth to all languages, where that decides.
    leading: Option<Leading>,
}

impl Learner {
    fn new(
        texts: &[Counted],
        start: &Start,
        most_symbols: usize,
        joint: bool,
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Learner> {
        let lay_out = |words| Part::lay_out(words, most_symbols, start, stop);
        let parts = if let [text] = texts {
            vec![lay_out(words(text).collect())]
        } else {
            let number = threads.min(MOST_PARTS);
            in_parallel(number, number, |part| lay_out(summed(texts, part, number)))
        };
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Learner {
            shards: Shards::new(parts.into_iter().flatten(), most_symbols),
            reader: Reader::default(),
            saved: 0,
            queued_from: u64::MAX,
            born: Vec::new(),
            queue: Queue::default(),
            leading: joint.then(Leading::default),
        })
    }

    /// Applies the next batch of merges; `false` when there was none.
    pub fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) -> bool {
        let mut reader = std::mem::take(&mut self.reader);
        let merges = reader.next_batch(log);
        merges.iter().for_each(|merge| self.apply(merge, scratch));
        let any = !merges.is_empty();
        self.reader = reader;
        any
    }

    pub fn apply(&mut self, merge: &Merge, scratch: &mut Scratch) {
        let (born, saved, queued_from) = (&mut self.born, &mut self.saved, self.queued_from);
        let keep = |candidate: Candidate| {
            if candidate.count >= queued_from {
                born.push(candidate);
            }
        };
        self.shards.apply(merge, scratch, |_, weight| *saved += weight, keep);
    }

    /// The same where somebody else takes the pairs when they are born.
    pub fn apply_and_tell(&mut self, merge: &Merge, scratch: &mut Scratch, born: impl FnMut(Candidate)) {
        let saved = &mut self.saved;
        self.shards.apply(merge, scratch, |_, weight| *saved += weight, born);
    }

    /// How often a pair occurs, whether it may be merged or not.
    pub fn count(&self, pair: Pair) -> u64 {
        self.shards.count(pair)
    }

    /// Whether a token has ever occurred.
    pub fn has_seen(&self, token: usize) -> bool {
        self.shards.has_seen(token)
    }

    pub fn best(&mut self, vocabulary: &Vocabulary, admission: &Admission) -> Option<Candidate> {
        self.queue_born(vocabulary, admission);
        loop {
            let best = self.queue.best(vocabulary, self.queued_from, |pair| self.shards.count(pair));
            if best.is_some() || self.queued_from <= admission.floor() {
                return best;
            }
            self.queue_rarer(vocabulary, admission);
        }
    }

    /// Its pairs by what they are worth to all languages, and which counts are at least `share` of the best one's. To be given
    /// back.
    pub fn lend_leading(
        &mut self,
        vocabulary: &Vocabulary,
        admission: &Admission,
        share: f64,
    ) -> Option<(Leading, impl Fn(u64) -> bool + use<>)> {
        let (most, floor) = (self.best(vocabulary, admission)?.count as f64, admission.floor());
        // Of pairs that were frequent once, too: what is left of one may be less than is admitted.
        let leads = move |count: u64| count >= floor && count as f64 >= share * most;
        while self.queued_from > floor && leads(self.queued_from - 1) {
            self.queue_rarer(vocabulary, admission);
        }
        let leading = self.leading.take().expect("it is there wherever worth decides");
        Some((leading, leads))
    }

    pub fn give_back(&mut self, leading: Leading) {
        self.leading = Some(leading);
    }

    /// Pairs below this count are not told of.
    pub fn queued_from(&self) -> u64 {
        self.queued_from
    }

    /// The highest count below `queued_from`; 0 if there is none.
    pub fn most_of_the_rarer(&self) -> u64 {
        let mut most = 0;
        self.shards.for_each_pair(|Candidate { count, .. }| {
            if count < self.queued_from {
                most = most.max(count);
            }
        });
        most
    }

    /// The pairs that were too rare, and are not if `from` is the least count.
    pub fn take_rarer(&mut self, from: u64) -> Vec<Candidate> {
        let below = self.queued_from;
        self.queued_from = from.min(below);
        let mut rarer = Vec::new();
        if from < below {
            self.shards.for_each_pair(|candidate| {
                if (from..below).contains(&candidate.count) {
                    rarer.push(candidate);
                }
            });
        }
        rarer
    }

    fn queue_born(&mut self, vocabulary: &Vocabulary, admission: &Admission) {
        for candidate in self.born.drain(..).filter(|candidate| admission.admits(candidate, vocabulary)) {
            self.queue.push(candidate, vocabulary);
            if let Some(leading) = &mut self.leading {
                leading.push(candidate, vocabulary);
            }
        }
    }

    /// Takes in the next rarer pairs, down to an eighth of the most frequent of them.
    fn queue_rarer(&mut self, vocabulary: &Vocabulary, admission: &Admission) {
        let queued_from = (self.most_of_the_rarer() / 8).max(admission.floor());
        let rarer = self.take_rarer(queued_from);
        self.born.extend(rarer);
        self.queue_born(vocabulary, admission);
    }
}

/// The learners, brought up to date by whoever has time.
pub struct Pool<'p> {
    log: &'p Log,
    learners: Vec<Mutex<Learner>>,
}

impl<'p> Pool<'p> {
    /// Builds a learner for each of the texts (each is one or several languages) on all threads, the largest first.
    pub fn new(
        texts: &[&[Counted]],
        start: &Start,
        most_symbols: usize,
        log: &'p Log,
        joint: bool,
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let size = |i: usize| texts[i].iter().map(Counted::size).sum::<usize>();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&i| Reverse(size(i)));
        let build = |i: usize| Learner::new(texts[i], start, most_symbols, joint, threads, stop);
        let mut built: Vec<_> =
            order.iter().zip(in_parallel(order.len(), threads, |n| build(order[n]))).collect();
        built.sort_unstable_by_key(|(i, _)| **i);
        let learners =
            built.into_iter().map(|(_, learner)| learner.map(Mutex::new)).collect::<Result<_>>()?;
        Ok(Pool { log, learners })
    }

    pub fn len(&self) -> usize {
        self.learners.len()
    }

    /// For one thread that asks all of them; none is left.
    pub fn take_learners(&mut self) -> Vec<Learner> {
        let learners = self.learners.drain(..);
        learners.map(|learner| learner.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    pub fn learner(&self, index: usize) -> MutexGuard<'_, Learner> {
        lock(&self.learners[index])
    }

    /// The work of one helper thread, until it is told to stop.
    pub fn keep_up(&self, helper: usize, mut scratch: Scratch, stop: &AtomicBool) {
        let number = self.learners.len();
        let mut at = helper; // another one than the other helpers
        let mut idle = 0;
        while !stop.load(Ordering::Relaxed) {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of one learner have one owner.
fn words<'c>(text: &Counted<'c>) -> impl Iterator<Item = WeightedWord<'c>> + use<'c> {
    text.iter().map(|(bytes, weight)| WeightedWord { bytes, weight, owner: 0 })
}

/// Equal words of several languages become one, with their weights added: those of part number `part` of `parts`.
fn summed<'c>(texts: &[Counted<'c>], part: usize, parts: usize) -> Vec<WeightedWord<'c>> {
    let expected = texts.iter().map(Counted::distinct).sum::<usize>() / parts;
    let mut places: FxHashMap<&[u8], usize> =
        FxHashMap::with_capacity_and_hasher(expected, Default::default());
    let mut sums: Vec<WeightedWord> = Vec::with_capacity(expected);
    for word in texts.iter().flat_map(words) {
        // By how they begin, so that words with the same beginning stay together.
        let share = word.bytes.iter().take(6).fold(0, |share, &byte| share * 31 + usize::from(byte));
        if share % parts == part {
            match places.entry(word.bytes) {
                Entry::Occupied(place) => sums[*place.get()].weight += word.weight,
                Entry::Vacant(place) => {
                    place.insert(sums.len());
                    sums.push(word);
                }
            }
        }
    }
    sums
}
