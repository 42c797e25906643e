//! The slots of the counting table: open addressing with linear probing.
//!
//! In: a hash and a test for the key. Out: its slot, or a free one. Looking up a key mostly touches one cache line, whose
//! address is known from the hash alone, so it can be prefetched.

use super::table::CountSlot;
use crate::memory::prefetch;

/// The number of slots is a power of two, and never all are taken. A free slot has the count 0.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<CountSlot>,
    taken: usize,
}

impl Slots {
    const LEAST: usize = 64;

    /// Adds to the count of the slot with this key, or takes a free one; returns whether it took one.
    #[inline(always)]
    pub fn add(&mut self, hash: u64, new: CountSlot, same: impl Fn(&CountSlot) -> bool) -> bool {
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

    /// Call this a while before `add`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(slot) = self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)) {
            prefetch(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let larger = vec![CountSlot::FREE; (2 * self.slots.len()).max(Self::LEAST)];
        let mask = larger.len() - 1;
        for slot in std::mem::replace(&mut self.slots, larger).into_iter().filter(|slot| slot.count > 0) {
            let mut at = slot.key.hash() as usize & mask;
            while self.slots[at].count > 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &CountSlot> {
        self.slots.iter().filter(|slot| slot.count > 0)
    }

    pub fn len(&self) -> usize {
        self.taken
    }

    /// How many slots may be taken before it grows: three quarters, since probing gets long with fewer free ones.
    fn capacity(&self) -> usize {
        self.slots.len() / 4 * 3
    }

    /// Its size in bytes with this many taken slots.
    pub fn size_for(&self, taken: usize) -> usize {
        let slots =
            if taken <= self.capacity() { self.slots.len() } else { (taken / 3 * 4 + 4).next_power_of_two() };
        slots * size_of::<CountSlot>()
    }

    /// The taken slots, moved to the front of the same memory.
    pub fn into_taken(self) -> Vec<CountSlot> {
        let mut slots = self.slots;
        slots.retain(|slot| slot.count > 0);
        slots
    }
}
