//! The slots of the counting table: one behind the other, found by their hash.
//!
//! In: a hash and a test for the key. Out: its slot, or a free one. A slot that is taken is passed by, one step at a time, so
//! that looking up a key takes one line of memory mostly, and its address is known from the hash alone: it can be fetched ahead.

use super::table::Slot;
use crate::memory::prefetch;

/// A power of two, and never full. A free slot has the count 0.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    taken: usize,
}

impl Slots {
    const LEAST: usize = 64;

    /// Adds to the count of the slot that has the same key, or else takes a free one; whether it did.
    #[inline(always)]
    pub fn add(&mut self, hash: u64, new: Slot, same: impl Fn(&Slot) -> bool) -> bool {
        if self.taken >= self.capacity() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if same(slot) {
                slot.count += new.count;
                return false;
            }
            if slot.count == 0 {
                *slot = new;
                self.taken += 1;
                return true;
            }
            at = (at + 1) & mask;
        }
    }

    /// To be called a while before `add`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(slot) = self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)) {
            prefetch(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let larger = vec![Slot::FREE; (2 * self.slots.len()).max(Self::LEAST)];
        let mask = larger.len() - 1;
        for slot in std::mem::replace(&mut self.slots, larger).into_iter().filter(|slot| slot.count > 0) {
            let mut at = slot.key.hash() as usize & mask;
            while self.slots[at].count > 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.count > 0)
    }

    pub fn len(&self) -> usize {
        self.taken
    }

    /// How many it takes before it grows: three quarters, since with fewer free ones many have to be passed by.
    fn capacity(&self) -> usize {
        self.slots.len() / 4 * 3
    }

    /// Bytes that it takes when it holds so many.
    pub fn size_for(&self, taken: usize) -> usize {
        let slots =
            if taken <= self.capacity() { self.slots.len() } else { (taken / 3 * 4 + 4).next_power_of_two() };
        slots * size_of::<Slot>()
    }

    /// The taken ones, in the memory of all.
    pub fn into_taken(self) -> Vec<Slot> {
        let mut slots = self.slots;
        slots.retain(|slot| slot.count > 0);
        slots
    }
}
