//! The cache: recent pre-tokens and their ids, shared by all threads.
//!
//! In: a pre-token. Out: its ids, if some thread inserted it and it was not forgotten since.
//!
//! Most texts have few distinct words, so the table starts small and grows. When it is half full at its limit, an empty one
//! takes its place, and it becomes the old one. What is found in the old table is also put into the young one, so words that
//! were not needed for long are forgotten with the old one.
//!
//! A slot is half a cache line and contains a whole pre-token with all its ids, so a lookup reads one place, whose address is
//! known from the hash alone and can be prefetched. The few percent that do not fit into a slot are in a list next to the
//! table. A slot is written once in the life of its table, so threads read it without a lock.

use super::slot::{MOST_INLINE, Slot};
use crate::memory::{prefetch, zeroed};
use crate::word::{Key, Word};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most slots of a table: 16 MB, and 8 MB for what does not fit into slots.
pub const MOST_SLOTS: usize = 1 << 19;
const FIRST_SLOTS: usize = 1 << 11;
/// Growing costs more than a slightly larger table saves, so there are few steps up to the limit.
const GROWTH: usize = 4;
/// Room for what does not fit into slots, in numbers of four bytes.
const ASIDE_PER_SLOT: usize = 4;
/// In slots: how far a pre-token may be from its place. Of words crafted to have equal hashes, only so many are cached.
const MOST_STEPS: usize = 16;
/// Longer pre-tokens rarely occur twice.
const LONGEST_CACHED: usize = 1 << 10;
/// One slot of so many is counted for all of them: threads that counted every word would wait for each other.
const COUNTED: usize = 16;

/// Used instead of the number of ids: they are in the list next to the table.
const ASIDE: usize = 15;

pub struct Cache {
    most_slots: usize,
    /// Only held to read or replace them.
    tables: Mutex<Tables>,
    /// Held by the thread that makes the next table. No other waits for it, nor does a process that is forked meanwhile.
    making: Mutex<()>,
}

#[derive(Clone)]
struct Tables {
    young: Arc<SlotTable>,
    old: Arc<SlotTable>,
}

impl Cache {
    /// With tables of at most this many slots: a power of two, and at least 2.
    pub fn new(most_slots: usize) -> Self {
        let [young, old] = [FIRST_SLOTS.min(most_slots), 1].map(|slots| Arc::new(SlotTable::new(slots)));
        Self { most_slots, tables: Mutex::new(Tables { young, old }), making: Mutex::default() }
    }

    /// For one thread and some texts: tables that are no longer the cache's live as long as what this returns.
    pub fn open(&self) -> OpenCache<'_> {
        OpenCache { cache: self, tables: self.newest().clone() }
    }

    fn newest(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tables of a cache in the hands of one thread.
pub struct OpenCache<'c> {
    cache: &'c Cache,
    tables: Tables,
}

impl OpenCache<'_> {
    /// Call this a while before `get`.
    #[inline(always)]
    pub fn prefetch(&self, word: &Word) {
        prefetch(self.tables.young.first(word));
    }

    /// Appends the ids of a pre-token; returns whether it was found.
    #[inline(always)]
    pub fn get(&mut self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let slot = self.tables.young.first(word);
        let key = slot.key();
        let count = key.tag();
        if key.is(word.key) {
            let numbers = slot.numbers();
            if count <= MOST_INLINE {
                // Copies all numbers of the slot regardless of the count: a copy of fixed size is much faster.
                ids.extend_from_slice(&numbers);
                ids.truncate(ids.len() - numbers.len() + count);
                return true;
            }
            if self.tables.young.get_aside(numbers, word, ids) {
                return true;
            }
        }
        self.get_elsewhere(word, ids)
    }

    /// The same for ids in the list, and for pre-tokens that are not in their first place or only in the old table.
    #[inline(never)]
    fn get_elsewhere(&mut self, word: &Word, ids: &mut Vec<u32>) -> bool {
        if self.tables.young.get(word, ids) {
            return true;
        }
        let start = ids.len();
        let found = self.tables.old.get(word, ids);
        if found {
            self.insert(word, &ids[start..]);
        }
        found
    }

    /// A pre-token that `get` did not find, and its ids.
    pub fn insert(&mut self, word: &Word, ids: &[u32]) {
        if word.bytes.len() > LONGEST_CACHED {
            return;
        }
        if self.tables.young.is_full() || !self.tables.young.insert(word, ids) {
            self.renew();
            self.tables.young.insert(word, ids);
        }
    }

    /// Takes the newest tables. While another thread makes one, goes on with those at hand.
    #[cold]
    fn renew(&mut self) {
        let Ok(_making) = self.cache.making.try_lock() else { return };
        let mut newest = self.cache.newest().clone();
        let full = &self.tables.young;
        if Arc::ptr_eq(&newest.young, full) {
            let slots = self.cache.most_slots.min(GROWTH * full.slots.len());
            let young = Arc::new(SlotTable::new(slots));
            if slots > full.slots.len() {
                full.copy_to(&young);
            } else {
                newest.old = full.clone();
            }
            newest.young = young;
            self.cache.newest().clone_from(&newest);
        }
        self.tables = newest;
    }
}

struct SlotTable {
    /// A power of two.
    slots: Box<[Slot]>,
    /// About how many slots are taken.
    taken: AtomicUsize,
    /// What does not fit into slots: the ids of a pre-token, then its bytes if it is long. Written before the slot.
    aside: Box<[AtomicU32]>,
    /// Also grows by what did not fit.
    aside_taken: AtomicUsize,
}

impl SlotTable {
    fn new(slots: usize) -> Self {
        let (taken, aside_taken) = Default::default();
        // SAFETY: free slots and numbers are zeros.
        let (slots, aside) = unsafe { (zeroed(slots), zeroed(ASIDE_PER_SLOT * slots)) };
        Self { slots, taken, aside, aside_taken }
    }

    fn is_full(&self) -> bool {
        2 * self.taken.load(Relaxed) >= self.slots.len()
    }

    #[inline(always)]
    fn first(&self, word: &Word) -> &Slot {
        &self.slots[word.hash as usize & (self.slots.len() - 1)]
    }

    /// Other threads may go on putting words into this table; what they put in meanwhile may be left out. The copy of a slot
    /// that is being filled belongs to no word.
    fn copy_to(&self, larger: &SlotTable) {
        for slot in &self.slots {
            let key = slot.key();
            if key.tag() > 0 {
                larger.put(key.hash(), key, slot.numbers());
            }
        }
        // After the slots, so that everything they refer to is there. It keeps its places.
        let taken = self.aside_taken.load(Relaxed);
        larger.aside_taken.store(taken, Relaxed);
        for (place, number) in larger.aside.iter().zip(&self.aside[..taken.min(self.aside.len())]) {
            place.store(number.load(Relaxed), Relaxed);
        }
    }

    /// The slots for this hash, in order, and their numbers.
    fn places(&self, hash: u64) -> impl Iterator<Item = (usize, &Slot)> {
        let mask = self.slots.len() - 1;
        (0..MOST_STEPS).map(move |step| {
            let at = (hash as usize + step) & mask;
            (at, &self.slots[at])
        })
    }

    fn get(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        for (_, slot) in self.places(word.hash) {
            let key = slot.key();
            if key.tag() == 0 {
                return false;
            }
            if key.is(word.key) {
                let numbers = slot.numbers();
                if key.tag() <= MOST_INLINE {
                    ids.extend_from_slice(&numbers[..key.tag()]);
                    return true;
                }
                if self.get_aside(numbers, word, ids) {
                    return true;
                }
            }
        }
        false
    }

    /// The ids of a slot whose ids are in the list, if it is this pre-token's.
    fn get_aside(&self, [start, count, ..]: [u32; MOST_INLINE], word: &Word, ids: &mut Vec<u32>) -> bool {
        let (its_ids, bytes) = self.aside[start as usize..].split_at(count as usize);
        let is_same = !word.is_long() || holds(bytes, word.bytes);
        if is_same {
            ids.extend(its_ids.iter().map(|id| id.load(Relaxed)));
        }
        is_same
    }

    /// Returns whether there was room aside. If all slots of a hash are taken, the pre-token is not inserted.
    fn insert(&self, word: &Word, ids: &[u32]) -> bool {
        let (tag, numbers) = if word.is_long() || ids.len() > MOST_INLINE {
            let Some(start) = self.put_aside(word, ids) else { return false };
            (ASIDE, [start as u32, ids.len() as u32, 0, 0])
        } else {
            let mut numbers = [0; MOST_INLINE];
            numbers[..ids.len()].copy_from_slice(ids);
            (ids.len(), numbers)
        };
        self.put(word.hash, word.key.tagged(tag), numbers);
        true
    }

    fn put(&self, hash: u64, key: Key, numbers: [u32; MOST_INLINE]) {
        let filled = self.places(hash).find(|(_, slot)| slot.fill(key, numbers));
        if filled.is_some_and(|(at, _)| at % COUNTED == 0) {
            self.taken.fetch_add(COUNTED, Relaxed);
        }
    }

    /// Where the ids are now, if there was room.
    fn put_aside(&self, word: &Word, ids: &[u32]) -> Option<usize> {
        let bytes = if word.is_long() { word.bytes } else { &[] };
        let size = ids.len() + bytes.len().div_ceil(4);
        let start = self.aside_taken.fetch_add(size, Relaxed);
        let places = self.aside.get(start..start + size)?;
        let (first, rest) = places.split_at(ids.len());
        first.iter().zip(ids).for_each(|(place, &id)| place.store(id, Relaxed));
        rest.iter().zip(fours(bytes)).for_each(|(place, four)| place.store(four, Relaxed));
        Some(start)
    }
}

/// Bytes as numbers, four at a time, with zeros at the end.
fn fours(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (fours, rest) = bytes.as_chunks();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    fours.iter().copied().chain((!rest.is_empty()).then_some(last)).map(u32::from_le_bytes)
}

/// Whether these numbers start with these bytes.
fn holds(numbers: &[AtomicU32], bytes: &[u8]) -> bool {
    numbers.iter().zip(fours(bytes)).all(|(number, four)| number.load(Relaxed) == four)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::PI;
    use std::sync::Barrier;

    /// Of every length from 4 bytes to more than is cached.
    fn text(n: usize) -> Vec<u8> {
        format!("{n:04}").repeat(1 + n / 7).into_bytes()
    }

    /// From 1 id to more than fit into a slot.
    fn ids(n: usize) -> Vec<u32> {
        (0..=n % 12).map(|i| (n << 8 | i) as u32).collect()
    }

    /// Whether it was found. What is found must be right.
    fn is_in(open: &mut OpenCache, n: usize) -> bool {
        let (bytes, mut found) = (text(n), vec![7]);
        let is_found = open.get(&Word::from(&bytes[..]), &mut found);
        assert_eq!(found[0], 7);
        assert_eq!(found[1..], if is_found { ids(n) } else { vec![] });
        is_found
    }

    fn put(open: &mut OpenCache, n: usize) {
        open.insert(&Word::from(&text(n)[..]), &ids(n));
    }

    #[test]
    fn all_that_was_put_in_is_found_until_the_limit_and_nothing_else_ever() {
        for (most_slots, words) in [(2, 2000), (64, 2000), (1 << 16, 1600)] {
            let cache = Cache::new(most_slots);
            let mut open = cache.open();
            for n in 0..words {
                assert!(!is_in(&mut open, n));
                put(&mut open, n);
            }
            let count = (0..words).filter(|&n| is_in(&mut open, n)).count();
            assert_eq!(count == words, most_slots > words, "{count} in {most_slots} slots");
            assert!(open.tables.young.slots.len() <= most_slots);
        }
    }

    #[test]
    fn of_words_that_do_not_fit_those_in_use_stay_for_all_who_open_the_cache() {
        let cache = Cache::new(64);
        put(&mut cache.open(), 0);
        for n in 1..1000 {
            let mut open = cache.open();
            put(&mut open, n % 50 + n / 50 * 70); // short and long ones
            assert!(is_in(&mut open, 0), "in use: {n}");
        }
        assert!(!is_in(&mut cache.open(), 1), "not in use");
    }

    #[test]
    fn nobody_waits_for_a_table_that_another_makes() {
        let cache = Cache::new(64);
        let making = cache.making.lock();
        let mut open = cache.open();
        (0..100).for_each(|n| put(&mut open, n));
        assert!(is_in(&mut open, 0) && !is_in(&mut open, 99), "it goes on with a full one");
        drop(making);
        put(&mut open, 99);
        assert!(is_in(&mut open, 99) && is_in(&mut cache.open(), 99));
    }

    #[test]
    fn words_of_one_hash_take_few_slots() {
        let cache = Cache::new(1 << 13);
        let mut open = cache.open();
        let words: Vec<Vec<u8>> = (0..100).map(word_of_one_hash).collect();
        for (n, bytes) in words.iter().enumerate() {
            let word = Word::from(&bytes[..]);
            assert_eq!(word.hash, Word::from(&words[0][..]).hash);
            open.insert(&word, &[n as u32]);
        }
        for (n, bytes) in words.iter().enumerate() {
            let mut found = vec![];
            assert_eq!(open.get(&Word::from(&bytes[..]), &mut found), n < MOST_STEPS);
            assert!(n >= MOST_STEPS || found == [n as u32]);
        }
    }

    /// The first number makes the product zero, so the second does not matter.
    fn word_of_one_hash(n: u64) -> Vec<u8> {
        [PI[0].to_le_bytes(), (n << 8 | 1).to_le_bytes()].concat()[..15].to_vec()
    }

    #[test]
    fn threads_that_fill_a_cache_together_only_find_what_was_put_in() {
        for most_slots in [2, 64, 1 << 10, 1 << 13] {
            let (cache, together) = (Cache::new(most_slots), Barrier::new(4));
            let found = |thread: usize| {
                together.wait();
                let mut found = 0;
                // All threads want the same words at about the same time, and open the cache anew from time to time.
                for round in 0..40 {
                    let mut open = cache.open();
                    for n in (0..150).map(|n| (n * (1 + thread) + round) % 150) {
                        if is_in(&mut open, n) {
                            found += 1;
                        } else {
                            put(&mut open, n);
                        }
                    }
                }
                found
            };
            let found: usize = std::thread::scope(|scope| {
                let threads = [0, 1, 2, 3].map(|thread| (thread, &found));
                let threads = threads.map(|(thread, found)| scope.spawn(move || found(thread)));
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert!(most_slots < 1 << 13 || found >= 4 * 39 * 150, "{found}");
            let mut open = cache.open();
            assert!(most_slots < 1 << 13 || (0..150).all(|n| is_in(&mut open, n)));
        }
    }
}
