//! A slot of the cache, written once by one thread and read by all without a lock.
//!
//! In: the key of a pre-token and a few numbers. Out: the same, and never a part of it.

use crate::word::Key;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

pub const MOST_INLINE: usize = 4;

/// A pre-token and its ids. The tag of the key is the number of ids, and 0 in a free slot. If the ids are in the list, the
/// first two numbers are where they start and how many they are.
///
/// The second half of the key goes from free to [`BEING_FILLED`] to its value, and no further. The value is stored last, with
/// release, and loaded first, with acquire: a thread that sees it sees the rest of the slot, and what was put aside before.
#[repr(align(32))]
pub struct Slot {
    key: [AtomicU64; 2],
    numbers: [AtomicU64; 2],
}

/// The key of no pre-token: it would be a long one of 0 bytes.
const BEING_FILLED: u64 = 1 << 60;

impl Slot {
    #[inline(always)]
    pub fn key(&self) -> Key {
        let last = self.key[1].load(Acquire);
        Key::from([self.key[0].load(Relaxed), last])
    }

    #[inline(always)]
    pub fn numbers(&self) -> [u32; MOST_INLINE] {
        let [a, b] = [&self.numbers[0], &self.numbers[1]].map(|two| two.load(Relaxed));
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]
    }

    /// Returns whether the slot was free.
    pub fn fill(&self, key: Key, numbers: [u32; MOST_INLINE]) -> bool {
        let last = &self.key[1];
        // A look before would cost more: in a new table, the system would first provide a page for reading only.
        let is_ours = last.compare_exchange(0, BEING_FILLED, Relaxed, Relaxed).is_ok();
        if is_ours {
            let [first, tagged] = key.into();
            self.key[0].store(first, Relaxed);
            for (place, two) in self.numbers.iter().zip(numbers.as_chunks().0) {
                let [low, high] = two.map(u64::from);
                place.store(low | high << 32, Relaxed);
            }
            last.store(tagged, Release);
        }
        is_ours
    }
}
