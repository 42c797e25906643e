//! The cache: recent pre-tokens and their ids.
//!
//! In: a pre-token. Out: its ids, if it was inserted and not replaced since.
//!
//! One hash table. A slot is half a cache line and contains a whole pre-token with all its ids, so a lookup reads one place,
//! whose address is known from the hash alone and can be prefetched. The few percent that do not fit into a slot are in two
//! lists next to the table. Most texts have few distinct words, so the table starts small; at its limit, new words replace
//! old ones.

use crate::memory::prefetch;
use crate::word::{Key, Word};

/// The most slots of a cache: 16 MB per thread.
pub const MOST_SLOTS: usize = 1 << 19;
const FIRST_SLOTS: usize = 1 << 11;
/// Growing costs more than a slightly larger table saves, so there are few steps up to the limit.
const GROWTH: usize = 4;
/// The most bytes of pre-tokens, and of ids, that do not fit into slots: 16 MB each.
const MOST_BYTES_ASIDE: usize = 1 << 24;
const MOST_IDS_ASIDE: usize = 1 << 22;
/// In slots: how far a pre-token may be from its place. Words crafted to have equal hashes only replace each other.
const MOST_STEPS: usize = 8;
/// Longer pre-tokens rarely occur twice.
const LONGEST_CACHED: usize = 1 << 10;

const MOST_INLINE: usize = 4;
/// Used instead of the number of ids: they are in the lists next to the table.
const ASIDE: usize = 15;

/// A pre-token and its ids. The tag of the key is the number of ids, and 0 in a free slot. If the ids are in the lists, the
/// first three numbers are the start of the bytes of a long pre-token, and the start and end of the ids.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Slot {
    key: Key,
    numbers: [u32; MOST_INLINE],
}

const FREE: Slot = Slot { key: Key::NONE, numbers: [0; MOST_INLINE] };

pub struct Cache {
    /// A power of two.
    slots: Vec<Slot>,
    taken: usize,
    most_slots: usize,
    bytes_aside: Vec<u8>,
    ids_aside: Vec<u32>,
}

impl Cache {
    /// With at most this many slots: a power of two, and at least 2.
    pub fn new(most_slots: usize) -> Self {
        let slots = vec![FREE; FIRST_SLOTS.min(most_slots)];
        Self { slots, taken: 0, most_slots, bytes_aside: Vec::new(), ids_aside: Vec::new() }
    }

    #[inline(always)]
    fn home(&self, word: &Word) -> usize {
        word.hash as usize & (self.slots.len() - 1)
    }

    /// Call this a while before `get`.
    #[inline(always)]
    pub fn prefetch(&self, word: &Word) {
        prefetch(&self.slots[self.home(word)]);
    }

    /// Appends the ids of a pre-token; returns whether it was found.
    #[inline(always)]
    pub fn get(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let slot = &self.slots[self.home(word)];
        let count = slot.key.tag();
        if slot.key.is(word.key) {
            if count <= MOST_INLINE {
                // Copies all numbers of the slot regardless of the count: a copy of fixed size is much faster.
                ids.extend_from_slice(&slot.numbers);
                ids.truncate(ids.len() - slot.numbers.len() + count);
                return true;
            }
            if !word.is_long() {
                ids.extend_from_slice(self.aside(slot));
                return true;
            }
        }
        self.get_elsewhere(word, ids)
    }

    /// The same for ids in the lists, and for pre-tokens that are not in their first place.
    #[inline(never)]
    fn get_elsewhere(&self, word: &Word, ids: &mut Vec<u32>) -> bool {
        let Some(at) = self.find(word) else { return false };
        let Slot { key, numbers } = &self.slots[at];
        match key.tag() {
            0 => return false,
            ASIDE => ids.extend_from_slice(self.aside(&self.slots[at])),
            count => ids.extend_from_slice(&numbers[..count]),
        }
        true
    }

    /// The ids of a slot whose ids are in the lists.
    #[inline(always)]
    fn aside(&self, slot: &Slot) -> &[u32] {
        &self.ids_aside[slot.numbers[1] as usize..slot.numbers[2] as usize]
    }

    /// The places for this hash, in order.
    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (0..MOST_STEPS.min(self.slots.len())).map(move |step| (hash as usize + step) & mask)
    }

    /// The slot of the pre-token, or else the free one that it would take.
    fn find(&self, word: &Word) -> Option<usize> {
        self.places(word.hash).find(|&at| {
            let Slot { key, numbers } = &self.slots[at];
            let same = || {
                let aside = self.bytes_aside.get(numbers[0] as usize..).unwrap_or_default();
                !word.is_long() || aside.starts_with(word.bytes)
            };
            key.tag() == 0 || key.is(word.key) && same()
        })
    }

    /// A pre-token that `get` did not find, and its ids.
    pub fn insert(&mut self, word: &Word, ids: &[u32]) {
        if word.bytes.len() > LONGEST_CACHED {
            return;
        }
        let is_full = 2 * (self.taken + 1) > self.slots.len();
        if is_full && self.slots.len() < self.most_slots {
            self.grow();
        } else if self.bytes_aside.len() > MOST_BYTES_ASIDE || self.ids_aside.len() > MOST_IDS_ASIDE {
            self.clear();
        }
        // In a full table, a word replaces whatever is in its first place; frequent words soon come back.
        let is_full = 2 * (self.taken + 1) > self.slots.len();
        let at = self.find(word).filter(|_| !is_full).unwrap_or(self.home(word));
        let slot = &mut self.slots[at];
        self.taken += usize::from(slot.key.tag() == 0);
        if word.is_long() || ids.len() > MOST_INLINE {
            let starts = [self.bytes_aside.len(), self.ids_aside.len()].map(|start| start as u32);
            slot.key = word.key.tagged(ASIDE);
            slot.numbers = [starts[0], starts[1], starts[1] + ids.len() as u32, 0];
            self.ids_aside.extend_from_slice(ids);
            if word.is_long() {
                self.bytes_aside.extend_from_slice(word.bytes);
            }
        } else {
            slot.key = word.key.tagged(ids.len());
            slot.numbers[..ids.len()].copy_from_slice(ids);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![FREE; self.most_slots.min(GROWTH * self.slots.len())];
        self.taken = 0;
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.key.tag() > 0
                && let Some(at) = self.places(slot.key.hash()).find(|&at| self.slots[at].key.tag() == 0)
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
            // Every length from 1 byte to more than is cached, and from 1 id to more than fit into a slot.
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

    /// The first number makes the product zero, so the second does not matter.
    fn word_of_one_hash(n: u64) -> Vec<u8> {
        [PI[0].to_le_bytes(), (n << 8 | 1).to_le_bytes()].concat()[..15].to_vec()
    }
}
