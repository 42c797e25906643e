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
use crate::shard::{Part, Scratch, Shards, WeightedWord};
use crate::start::Start;
use crate::threads::in_parallel;
use crate::vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Into how many parts a text is cut to be laid out by several threads: each walks all words.
const MOST_PARTS: usize = 16;

/// A text to learn from, with the queue of its pairs.
pub struct Learner {
    /// Its place among the learners.
    number: usize,
    shards: Shards,
    reader: Reader,
    /// Tokens fewer than at the start.
    pub saved: u64,
    /// Pairs with at least this count are in the queue; rarer ones, which are most, only when it has run dry. 0 where
    /// somebody else takes all pairs that are born.
    queued_from: u64,
    /// Pairs born since the queue was last asked: put into it only then, by the thread that has the vocabulary.
    born: Vec<Candidate>,
    queue: Queue,
    /// The same pairs by what they are worth to all languages, where that decides.
    leading: Option<Leading>,
}

impl Learner {
    fn new(
        number: usize,
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
            let parts = threads.min(MOST_PARTS);
            in_parallel(parts, parts, |part| lay_out(summed(texts, part, parts)))
        };
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Learner {
            number,
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
        let Self { number, reader, shards, born, saved, queued_from, .. } = self;
        let merges = reader.next_batch_of(log, *number);
        for merge in merges {
            let keep = |candidate: Candidate| {
                if candidate.count >= *queued_from {
                    born.push(candidate);
                }
            };
            shards.apply(merge, scratch, |_, weight| *saved += weight, keep);
        }
        !merges.is_empty()
    }

    /// So many merges of the log have been applied.
    pub fn read(&self) -> usize {
        self.reader.read
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

    /// Pairs below this count are not in the queue.
    pub fn queued_from(&self) -> u64 {
        self.queued_from
    }

    /// From now on all pairs that are born are kept until they are taken.
    pub fn keep_all_born(&mut self) {
        self.queued_from = 0;
        self.born.clear();
    }

    pub fn take_born(&mut self) -> impl Iterator<Item = Candidate> {
        self.born.drain(..)
    }

    /// The highest count below a limit; 0 if there is none.
    pub fn most_below(&self, limit: u64) -> u64 {
        let mut most = 0;
        self.shards.for_each_pair(|Candidate { count, .. }| {
            if count < limit {
                most = most.max(count);
            }
        });
        most
    }

    pub fn pairs_with_counts(&self, range: Range<u64>) -> Vec<Candidate> {
        let mut found = Vec::new();
        if !range.is_empty() {
            self.shards.for_each_pair(|candidate| {
                if range.contains(&candidate.count) {
                    found.push(candidate);
                }
            });
        }
        found
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
        let queued_from = (self.most_below(self.queued_from) / 8).max(admission.floor());
        self.born.extend(self.pairs_with_counts(queued_from..self.queued_from));
        self.queued_from = queued_from.min(self.queued_from);
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
        let build = |i: usize| Learner::new(i, texts[i], start, most_symbols, joint, threads, stop);
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

    pub fn learner(&self, index: usize) -> MutexGuard<'_, Learner> {
        lock(&self.learners[index])
    }

    /// The same unless another thread has it.
    pub fn idle_learner(&self, index: usize) -> Option<MutexGuard<'_, Learner>> {
        self.learners[index].try_lock().ok()
    }

    /// The work of one helper thread, until it is told to stop.
    pub fn keep_up(&self, helper: usize, mut scratch: Scratch, stop: &AtomicBool) {
        let number = self.learners.len();
        let mut at = helper; // another one than the other helpers
        let mut idle = 0;
        while !stop.load(Ordering::Relaxed) {
            at = (at + 1) % number;
            let busy =
                self.idle_learner(at).is_some_and(|mut learner| learner.catch_up(self.log, &mut scratch));
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
