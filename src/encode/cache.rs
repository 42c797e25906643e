//! The cache: pre-tokens seen before, and their ids.
//!
//! In: a pre-token. Out: its ids, if it was put in and no other has taken its place.
//!
//! One hash table. A slot is one line of the processor's cache and holds a whole pre-token with all its ids, so that a look-up
//! reads one place, whose address is known from the hash alone and can be fetched ahead. Nearly all pre-tokens are short: their
//! bytes are the key, and nothing else is compared. What does not fit into a slot, a few in a hundred, lies in two lists beside
//! the table. Most texts have few distinct words, so the table starts small; at its limit, new words take the places of old ones.

use crate::memory::prefetch;
use crate::word::{Key, Word};

/// How many slots a cache may have: 32 MB for each thread.
pub const MOST_SLOTS: usize = 1 << 19;
const FIRST_SLOTS: usize = 1 << 11;
/// New memory costs more than all that a larger table saves, so there are few steps on the way to the limit.
const GROWTH: usize = 4;
/// In bytes and in ids: how much of what does not fit into slots is kept.
const MOST_ASIDE: usize = 1 << 22;
/// In slots: how far a pre-token may lie from its place. Words that someone chose for their equal hashes replace each other.
const MOST_STEPS: usize = 8;
/// Longer pre-tokens are seldom seen twice.
const LONGEST_CACHED: usize = 1 << 10;

const MOST_INLINE: usize = 11;
/// Added to the number of ids: the bytes of a pre-token that is longer than a key follow them.
const LONG: u32 = 1 << 16;
/// In place of the number of ids: they lie aside.
const ASIDE: u32 = u32::MAX;

/// A pre-token and its ids. Of the twelve numbers, the last one says how many of the others are ids, and is 0 in a free slot.
/// Where they lie aside, the first three say where the bytes of a long pre-token start, and where the ids start and end.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Slot {
    key: Key,
    numbers: [u32; MOST_INLINE + 1],
}

const FREE: Slot = Slot { key: Key::NONE, numbers: [0; MOST_INLINE + 1] };

impl Slot {
    #[inline(always)]
    fn kind(&self) -> u32 {
        self.numbers[MOST_INLINE]
    }

    /// The ids and, where it is too long for its key, the bytes of a pre-token, if that is not too much.
    fn holding(word: &Word, ids: &[u32]) -> Option<Slot> {
        let bytes = if word.is_long() { word.bytes } else { &[] };
        let mut numbers = [0; MOST_INLINE + 1];
        let (own, kind) = numbers.split_at_mut(MOST_INLINE);
        let (places, rest) = own.split_at_mut_checked(ids.len())?;
        places.copy_from_slice(ids);
        rest.get(..bytes.len().div_ceil(4))?;
        rest.iter_mut().zip(packed(bytes)).for_each(|(place, number)| *place = number);
        kind[0] = ids.len() as u32 + if word.is_long() { LONG } else { 0 };
        Some(Slot { key: word.key, numbers })
    }
}

/// Four bytes in each number, and zeros at the end.
fn packed(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(4).map(|some| some.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

pub struct Cache {
    /// A power of two.
    slots: Vec<Slot>,
    taken: usize,
    most_slots: usize,
    bytes_aside: Vec<u8>,
    ids_aside: Vec<u32>,
}

impl Cache {
    /// With so many slots at most, a power of two and 2 at least.
    pub fn new(most_slots: usize) -> Self {
        let slots = vec![FREE; FIRST_SLOTS.min(most_slots)];
        Self { slots, taken: 0, most_slots, bytes_aside: Vec::new(), ids_aside: Vec::new() }
    }

    #[inline(always)]
    fn home(&self, word: &Word) -> usize {
        word.hash as usize & (self.slots.len() - 1)
    }

    /// To be called a while before `get`.
    #[inline(always)]
    pub fn prefetch(&self, word: &Word) {
        prefetch(&self.slots[self.home(word)]);
    }

    /// Appends the ids of a pre-token; whether it was there.
    #[inline(always)]
    pub fn get(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let slot = &self.slots[self.home(word)];
        let count = slot.kind() as usize;
        if slot.key == word.key && count <= MOST_INLINE {
            // All that the slot has, whatever the number: a copy of a fixed size is much faster.
            ids.extend_from_slice(&slot.numbers);
            ids.truncate(ids.len() - slot.numbers.len() + count);
            return true;
        }
        self.get_elsewhere(word, ids)
    }

    /// The same, for those that are long, lie aside, or have had to step from their place.
    #[inline(never)]
    fn get_elsewhere(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let Some(at) = self.find(word) else { return false };
        let Slot { numbers, .. } = &self.slots[at];
        match self.slots[at].kind() {
            0 => return false,
            ASIDE => ids.extend_from_slice(&self.ids_aside[numbers[1] as usize..numbers[2] as usize]),
            kind => ids.extend_from_slice(&numbers[..(kind % LONG) as usize]),
        }
        true
    }

    /// The places where what has this hash may lie, in order.
    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (0..MOST_STEPS.min(self.slots.len())).map(move |step| (hash as usize + step) & mask)
    }

    /// The place of the slot that has the pre-token, or else of the free one that it would take.
    fn find(&self, word: &Word) -> Option<usize> {
        self.places(word.hash).find(|&at| {
            let slot = &self.slots[at];
            slot.kind() == 0 || slot.key == word.key && (!word.is_long() || self.has_bytes(slot, word.bytes))
        })
    }

    /// Whether a slot is that of these bytes, where it is that of so many bytes.
    fn has_bytes(&self, slot: &Slot, bytes: &[u8]) -> bool {
        match slot.kind() {
            ASIDE => {
                self.bytes_aside.get(slot.numbers[0] as usize..).is_some_and(|aside| aside.starts_with(bytes))
            }
            kind => packed(bytes).eq(slot.numbers[..MOST_INLINE]
                .iter()
                .copied()
                .skip((kind % LONG) as usize)
                .take(bytes.len().div_ceil(4))),
        }
    }

    /// A pre-token that `get` did not find, and its ids.
    pub fn insert(&mut self, word: &Word, ids: &[u32]) {
        if word.bytes.len() > LONGEST_CACHED {
            return;
        }
        let is_full = 2 * (self.taken + 1) > self.slots.len();
        if is_full && self.slots.len() < self.most_slots {
            self.grow();
        } else if self.bytes_aside.len().max(self.ids_aside.len()) > MOST_ASIDE {
            self.clear();
        }
        // In a full table each takes its own place, whoever has it: frequent words soon come back.
        let is_full = 2 * (self.taken + 1) > self.slots.len();
        let at = self.find(word).filter(|_| !is_full).unwrap_or(self.home(word));
        self.taken += usize::from(self.slots[at].kind() == 0);
        self.slots[at] = Slot::holding(word, ids).unwrap_or_else(|| {
            let (bytes, start) = (self.bytes_aside.len(), self.ids_aside.len());
            self.ids_aside.extend_from_slice(ids);
            if word.is_long() {
                self.bytes_aside.extend_from_slice(word.bytes);
            }
            let mut numbers = [0; MOST_INLINE + 1];
            numbers[..3].copy_from_slice(&[bytes, start, self.ids_aside.len()].map(|place| place as u32));
            numbers[MOST_INLINE] = ASIDE;
            Slot { key: word.key, numbers }
        });
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![FREE; self.most_slots.min(GROWTH * self.slots.len())];
        self.taken = 0;
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.kind() > 0
                && let Some(at) = self.places(slot.key.hash()).find(|&at| self.slots[at].kind() == 0)
            {
                self.slots[at] = slot;
                self.taken += 1;
            }
        }
    }

    #[cold]
    fn clear(&mut self) {
        self.slots.fill(FREE);
        self.taken = 0;
        self.bytes_aside.clear();
        self.ids_aside.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::PI;

    #[test]
    fn all_that_was_put_in_is_found_until_the_limit_and_nothing_else_ever() {
        for most_slots in [2, 64, 1 << 13] {
            let mut cache = Cache::new(most_slots);
            // Every length from 1 byte to more than is kept, and from 1 id to more than fit into a slot.
            let text = |n: usize| format!("{n:04}").repeat(1 + n / 7).into_bytes();
            let ids = |n: usize| (0..=n as u32 % 12).collect::<Vec<_>>();
            for n in 0..2000 {
                let bytes = text(n);
                let mut found = vec![];
                assert!(!cache.get(&Word::from(&bytes[..]), &mut found) && found.is_empty());
                cache.insert(&Word::from(&bytes[..]), &ids(n));
                assert!(cache.taken <= cache.slots.len() && cache.slots.len() <= most_slots);
            }
            let mut count = 0;
            for n in 0..2000 {
                let (bytes, mut found) = (text(n), vec![7]);
                if cache.get(&Word::from(&bytes[..]), &mut found) {
                    assert_eq!(found[1..], ids(n));
                    count += 1;
                }
                assert_eq!(found[0], 7);
            }
            assert_eq!(count, cache.taken);
        }
    }

    #[test]
    fn words_of_one_hash_replace_each_other() {
        let mut cache = Cache::new(1 << 13);
        let words: Vec<Vec<u8>> = (0..100).map(word_of_one_hash).collect();
        for (n, bytes) in words.iter().enumerate() {
            let word = Word::from(&bytes[..]);
            assert_eq!(word.hash, Word::from(&words[0][..]).hash);
            cache.insert(&word, &[n as u32]);
        }
        let found: Vec<usize> = (0..words.len())
            .filter(|&n| {
                let mut ids = vec![];
                let is_there = cache.get(&Word::from(&words[n][..]), &mut ids);
                assert!(!is_there || ids == [n as u32]);
                is_there
            })
            .collect();
        assert_eq!(found.len(), MOST_STEPS);
        assert!(found.contains(&99), "the last one is there");
    }

    /// The first number makes the product zero, whatever the second.
    fn word_of_one_hash(n: u64) -> Vec<u8> {
        [PI[0].to_le_bytes(), (n << 8 | 1).to_le_bytes()].concat()[..15].to_vec()
    }
}
