//! The counting table: pre-tokens in, sorted counts out.
//!
//! One hash table. Short pre-tokens are stored in their slots, longer ones in an arena, so no pre-token owns memory. A table
//! is larger than the nearest caches, so pre-tokens wait in small batches until their slots are prefetched: this made
//! counting languages with spaces up to half again as fast.

use super::WordCounts;
use super::slots::Slots;
use crate::error::Result;
use crate::hash::{PI, fold, hash_long, masks, packed};
use crate::memory::prefetch;
use crate::strings::StringsBuf;

/// How many pre-tokens wait while their slots are prefetched.
const AHEAD: usize = 32;
/// In bytes: a longer pre-token may be a whole text, which should not be copied to wait.
const LONGEST_WAITING: usize = 1024;

/// Pre-tokens up to this length are stored in their slot.
const LONGEST_INLINE: usize = 23;

/// For estimating memory: in running text, new words are rarer than this after the first blocks.
const BYTES_PER_NEW_WORD: usize = 16;

/// A pre-token and its count, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct CountSlot {
    pub key: CountKey,
    pub count: u64,
}

impl CountSlot {
    pub const FREE: CountSlot = CountSlot { key: CountKey([0; 3]), count: 0 };
}

/// Three little-endian words.
/// Short: the bytes, zeros up to 23, the length. Long: the first 8 bytes, the start of the record in the arena, and 56 bits
/// of the hash below a byte that cannot be a length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountKey([u64; 3]);

const LONG: u64 = 0xFF << 56;

const MASKS: [[u64; 3]; LONGEST_INLINE + 1] = masks();

impl CountKey {
    /// `text[start..start + length]`.
    #[inline(always)]
    fn short(text: &[u8], start: usize, length: usize) -> Self {
        Self(packed(text, start, length, &MASKS))
    }

    fn long(bytes: &[u8], start: usize) -> Self {
        let first = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
        Self([first, start as u64, LONG | hash_long(bytes) >> 8])
    }

    fn is_long(&self) -> bool {
        self.0[2] >= LONG
    }

    /// Bytes 8 to 14 as one number, padded with zeros. [`sort`] must have put those of a long pre-token there.
    #[inline(always)]
    fn next_seven(&self) -> u64 {
        if self.is_long() { self.0[2] << 8 >> 8 } else { self.0[1].swap_bytes() >> 8 }
    }

    fn len(&self, arena: &Arena) -> usize {
        if self.is_long() { arena.get(*self).len() } else { (self.0[2] >> 56) as usize }
    }

    /// Writes the pre-token to the start of `place`, which has room for it and for at least 24 bytes.
    fn write(&self, arena: &Arena, place: &mut [u8]) {
        if self.is_long() {
            let bytes = arena.get(*self);
            place[..bytes.len()].copy_from_slice(bytes);
        } else {
            // Copies the whole key regardless of the length: a copy of fixed size is much faster.
            let (words, _) = place[..24].as_chunks_mut();
            for (part, word) in words.iter_mut().zip(self.0) {
                *part = word.to_le_bytes();
            }
        }
    }

    /// Calls `read` with the bytes of the pre-token.
    fn with_bytes<T>(&self, arena: &Arena, read: impl FnOnce(&[u8]) -> T) -> T {
        if self.is_long() {
            return read(arena.get(*self));
        }
        let mut bytes = [0; 24];
        self.write(arena, &mut bytes);
        read(&bytes[..self.len(arena)])
    }

    #[inline(always)]
    pub fn hash(&self) -> u64 {
        if self.is_long() { fold(self.0[2], PI[2]) } else { hash_short(self.0) }
    }
}

#[inline(always)]
fn hash_short([first, second, third]: [u64; 3]) -> u64 {
    fold(fold(first ^ PI[0], second ^ PI[1]) ^ third, PI[2])
}

/// Long pre-tokens end to end, each preceded by its length in 8 bytes.
#[derive(Debug, Default)]
struct Arena(Vec<u8>);

impl Arena {
    fn push(&mut self, bytes: &[u8]) -> usize {
        let start = self.0.len();
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        start
    }

    /// Prefetches the pre-token of a slot: in sorted order, neighbours are far apart in memory.
    #[inline(always)]
    fn prefetch(&self, slot: Option<&CountSlot>) {
        if let Some(CountSlot { key, .. }) = slot
            && key.is_long()
        {
            prefetch(&self.0[key.0[1] as usize]);
        }
    }

    fn get(&self, key: CountKey) -> &[u8] {
        let start = key.0[1] as usize;
        let (length, rest) = self.0[start..].split_first_chunk().expect("a record starts with its length");
        &rest[..u64::from_le_bytes(*length) as usize]
    }
}

#[derive(Debug, Default)]
pub struct Table {
    slots: Slots,
    arena: Arena,
    /// Pre-tokens still to be counted, with their hashes: the first `waiting` entries. Long ones are in a separate arena
    /// until then.
    soon: [(CountKey, u64); AHEAD],
    waiting: usize,
    long_ones: Arena,
}

impl Table {
    /// Counts `text[start..start + length]` once, now or when [`Table::settle`] is called. It may also read the text around
    /// it, see [`packed`].
    #[inline(always)]
    pub fn count(&mut self, text: &[u8], start: usize, length: usize) {
        if length <= LONGEST_INLINE {
            let key = CountKey::short(text, start, length);
            self.wait_for_slot(key, hash_short(key.0));
        } else {
            self.count_long(&text[start..start + length]);
        }
    }

    /// Not inlined: few pre-tokens are long, and the common path is shorter without this.
    #[inline(never)]
    fn count_long(&mut self, bytes: &[u8]) {
        if bytes.len() > LONGEST_WAITING {
            let slot = CountSlot { key: CountKey::long(bytes, 0), count: 1 };
            return add_long(&mut self.slots, &mut self.arena, slot, bytes);
        }
        let key = CountKey::long(bytes, self.long_ones.push(bytes));
        self.wait_for_slot(key, key.hash());
    }

    #[inline(always)]
    fn wait_for_slot(&mut self, key: CountKey, hash: u64) {
        self.slots.prefetch(hash);
        self.soon[self.waiting] = (key, hash);
        self.waiting += 1;
        if self.waiting == AHEAD {
            self.settle();
        }
    }

    /// The same, many times.
    #[inline(never)]
    pub fn count_times(&mut self, text: &[u8], start: usize, length: usize, times: u64) {
        let bytes = &text[start..start + length];
        if length <= LONGEST_INLINE {
            let key = CountKey::short(text, start, length);
            self.slots.add(key.hash(), CountSlot { key, count: times }, |slot| slot.key == key);
        } else {
            add_long(
                &mut self.slots,
                &mut self.arena,
                CountSlot { key: CountKey::long(bytes, 0), count: times },
                bytes,
            );
        }
    }

    /// Counts the waiting pre-tokens. Call this before reading anything from the table.
    #[inline(never)]
    pub fn settle(&mut self) {
        let Self { slots, arena, soon, waiting, long_ones } = self;
        for &(key, hash) in &soon[..std::mem::take(waiting)] {
            add(slots, arena, CountSlot { key, count: 1 }, hash, long_ones);
        }
        long_ones.0.clear();
    }

    pub fn merge(&mut self, other: &Self) {
        for slot in other.slots.iter() {
            add(&mut self.slots, &mut self.arena, *slot, slot.key.hash(), &other.arena);
        }
    }

    /// The number of distinct pre-tokens.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The most memory it takes while `more` bytes of text are added, and while it is then sorted.
    pub fn memory(&self, more: usize) -> usize {
        let words = self.len() + more / BYTES_PER_NEW_WORD;
        let slots = self.slots.size_for(words);
        // Growing and sorting both copy the slots.
        2 * slots + self.arena.0.len() + more
    }

    /// Calls `visit` with every pre-token and its count, in sorted order.
    pub fn each_sorted(&self, mut visit: impl FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        let mut slots: Vec<CountSlot> = self.slots.iter().copied().collect();
        sort(&mut slots, &self.arena);
        slots.iter().try_for_each(|slot| slot.key.with_bytes(&self.arena, |bytes| visit(bytes, slot.count)))
    }

    pub fn into_sorted(self) -> WordCounts {
        let Self { slots, arena, .. } = self;
        let mut slots = slots.into_taken();
        sort(&mut slots, &arena);

        let mut offsets = Vec::with_capacity(slots.len() + 1);
        let mut size = 0;
        offsets.push(0);
        for (i, slot) in slots.iter().enumerate() {
            arena.prefetch(slots.get(i + AHEAD));
            size += slot.key.len(&arena);
            offsets.push(size as i64);
        }
        let mut bytes = vec![0; size + 24];
        for (i, (slot, start)) in slots.iter().zip(&offsets).enumerate() {
            arena.prefetch(slots.get(i + AHEAD));
            slot.key.write(&arena, &mut bytes[*start as usize..]);
        }
        bytes.truncate(size);
        let words = StringsBuf::new(bytes, offsets).expect("each word begins where the one before ends");
        WordCounts { words, counts: slots.iter().map(|slot| slot.count).collect() }
    }
}

/// Adds to the count of a key; if it is long, its bytes are in the arena `from`.
#[inline(always)]
fn add(slots: &mut Slots, arena: &mut Arena, CountSlot { key, count }: CountSlot, hash: u64, from: &Arena) {
    if key.is_long() {
        add_long(slots, arena, CountSlot { key, count }, from.get(key));
    } else {
        slots.add(hash, CountSlot { key, count }, |slot| slot.key == key);
    }
}

fn add_long(slots: &mut Slots, arena: &mut Arena, CountSlot { key, count }: CountSlot, bytes: &[u8]) {
    let [first, _, hashed] = key.0;
    let own = CountKey([first, arena.0.len() as u64, hashed]);
    let same =
        |slot: &CountSlot| slot.key.0[0] == first && slot.key.0[2] == hashed && arena.get(slot.key) == bytes;
    if slots.add(key.hash(), CountSlot { key: own, count }, same) {
        arena.push(bytes);
    }
}

/// Sorts slots by the bytes of their pre-tokens.
fn sort(slots: &mut [CountSlot], arena: &Arena) {
    // The hash is no longer needed. Replace it by the next bytes of a long pre-token, as many as fit, so that most
    // comparisons need no jump into the arena: this sorts Japanese in three quarters of the time.
    for slot in slots.iter_mut().filter(|slot| slot.key.is_long()) {
        let (next, _) = arena.get(slot.key)[8..].split_first_chunk().expect("a long pre-token has 24 bytes");
        slot.key.0[2] = LONG | u64::from_be_bytes(*next) >> 8;
    }
    slots.sort_unstable_by_key(|slot| slot.key.0[0].swap_bytes());
    for equal in slots.chunk_by_mut(|a, b| a.key.0[0] == b.key.0[0]).filter(|equal| equal.len() > 1) {
        equal.sort_unstable_by(|a, b| {
            let next = a.key.next_seven().cmp(&b.key.next_seven());
            next.then_with(|| a.key.with_bytes(arena, |a| b.key.with_bytes(arena, |b| a.cmp(b))))
        });
    }
}
