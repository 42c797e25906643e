//! The table that counts: pre-tokens in, each with its number, and the sorted counts out.
//!
//! One hash table. A short pre-token lies in its slot, a longer one in an arena, so no pre-token owns memory.

use hashbrown::HashTable;

use super::WordCounts;
use crate::error::Result;
use crate::strings::StringsBuf;

/// Pre-tokens up to this length lie in their slot.
const LONGEST_INLINE: usize = 23;

/// What memory is reckoned with: in running text, new words are rarer than this after the first blocks.
const BYTES_PER_NEW_WORD: usize = 16;

/// A pre-token and its count, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot {
    key: Key,
    count: u64,
}

/// Three little-endian words.
/// Short: the bytes, zeros up to 23, the length. Long: the first 8 bytes, where the record starts in the arena, and
/// 56 bits of the hash below a byte that is no length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key([u64; 3]);

const LONG: u64 = 0xFF << 56;

/// `MASKS[length]` keeps the first `length` bytes of a key.
const MASKS: [[u64; 3]; LONGEST_INLINE + 1] = {
    let mut masks = [[0; 3]; LONGEST_INLINE + 1];
    let mut length = 0;
    while length <= LONGEST_INLINE {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xFF << (8 * (byte % 8));
            byte += 1;
        }
        length += 1;
    }
    masks
};

impl Key {
    /// `text[start..start + length]`.
    #[inline(always)]
    fn short(text: &[u8], start: usize, length: usize) -> Self {
        // What follows in the text is loaded too and masked away: about a tenth faster on English than a branch on the
        // length, which is hard to predict.
        let bytes = match text[start..].first_chunk::<24>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 24];
                bytes[..length].copy_from_slice(&text[start..start + length]);
                bytes
            }
        };
        let (words, _) = bytes.as_chunks();
        let [first, second, third] = [0, 1, 2].map(|i| u64::from_le_bytes(words[i]) & MASKS[length][i]);
        Self([first, second, third | (length as u64) << 56])
    }

    fn long(bytes: &[u8], start: usize) -> Self {
        let first = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
        Self([first, start as u64, LONG | hash_long(bytes) >> 8])
    }

    fn is_long(&self) -> bool {
        self.0[2] >= LONG
    }

    fn len(&self, arena: &Arena) -> usize {
        if self.is_long() { arena.get(*self).len() } else { (self.0[2] >> 56) as usize }
    }

    /// Writes the pre-token to the start of a place that has room for it, and for 24 bytes at least.
    fn write(&self, arena: &Arena, place: &mut [u8]) {
        if self.is_long() {
            let bytes = arena.get(*self);
            place[..bytes.len()].copy_from_slice(bytes);
        } else {
            // All of the key, whatever the length: a copy of a fixed size is much faster.
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
    fn hash(&self) -> u64 {
        if self.is_long() { fold(self.0[2], PI[2]) } else { hash_short(self.0) }
    }
}

// Multiply to 128 bits and fold the halves together, the idea of wyhash. The constants are digits of pi.
const PI: [u64; 3] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0];

#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn hash_short([first, second, third]: [u64; 3]) -> u64 {
    fold(fold(first ^ PI[0], second ^ PI[1]) ^ third, PI[2])
}

/// Of 16 bytes or more.
pub fn hash_long(bytes: &[u8]) -> u64 {
    let pair = |pair: &[u8]| {
        let word = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().expect("8 bytes"));
        (word(0), word(8))
    };
    let mut hash = bytes.len() as u64;
    for (a, b) in bytes.chunks_exact(16).chain([&bytes[bytes.len() - 16..]]).map(pair) {
        hash = fold(a ^ PI[0], b ^ PI[1] ^ hash);
    }
    fold(hash, PI[2])
}

/// Long pre-tokens one after the other, each after its length in 8 bytes.
#[derive(Debug, Default)]
struct Arena(Vec<u8>);

impl Arena {
    fn push(&mut self, bytes: &[u8]) -> usize {
        let start = self.0.len();
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        start
    }

    fn get(&self, key: Key) -> &[u8] {
        let start = key.0[1] as usize;
        let (length, rest) = self.0[start..].split_first_chunk().expect("a record starts with its length");
        &rest[..u64::from_le_bytes(*length) as usize]
    }
}

#[derive(Debug, Default)]
pub struct Table {
    slots: HashTable<Slot>,
    arena: Arena,
}

impl Table {
    /// Adds to the count of `text[start..start + length]`. What surrounds it in the text may be read, see [`Key::short`].
    #[inline(always)]
    pub fn add(&mut self, text: &[u8], start: usize, length: usize, count: u64) {
        if length <= LONGEST_INLINE {
            let key = Key::short(text, start, length);
            match self.slots.find_mut(key.hash(), |slot| slot.key == key) {
                Some(slot) => slot.count += count,
                None => self.insert(Slot { key, count }),
            }
        } else {
            self.add_long(&text[start..start + length], count);
        }
    }

    fn add_long(&mut self, bytes: &[u8], count: u64) {
        let Self { slots, arena } = self;
        let key = Key::long(bytes, arena.0.len());
        let same = |slot: &Slot| {
            slot.key.0[0] == key.0[0] && slot.key.0[2] == key.0[2] && arena.get(slot.key) == bytes
        };
        match slots.find_mut(key.hash(), same) {
            Some(slot) => slot.count += count,
            None => {
                arena.push(bytes);
                self.insert(Slot { key, count });
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: Slot) {
        self.slots.insert_unique(slot.key.hash(), slot, |slot| slot.key.hash());
    }

    pub fn merge(&mut self, other: &Self) {
        for slot in &other.slots {
            slot.key.with_bytes(&other.arena, |bytes| self.add(bytes, 0, bytes.len(), slot.count));
        }
    }

    /// The number of distinct pre-tokens.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that it takes at most while `more` bytes of text are added, and while it is then sorted.
    pub fn memory(&self, more: usize) -> usize {
        let words = self.len() + more / BYTES_PER_NEW_WORD;
        let slots = if words <= self.slots.capacity() {
            self.slots.allocation_size()
        } else {
            (words * 8 / 7).next_power_of_two() * (size_of::<Slot>() + 1)
        };
        // Both to grow and to be sorted, slots are copied.
        2 * slots + self.arena.0.len() + more
    }

    /// Calls `visit` with every pre-token and its count, in sorted order.
    pub fn each_sorted(&self, mut visit: impl FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        let mut slots: Vec<Slot> = self.slots.iter().copied().collect();
        sort(&mut slots, 0, &self.arena);
        slots.iter().try_for_each(|slot| slot.key.with_bytes(&self.arena, |bytes| visit(bytes, slot.count)))
    }

    pub fn into_sorted(self) -> WordCounts {
        let Self { slots, arena } = self;
        let mut slots: Vec<Slot> = slots.into_iter().collect();
        sort(&mut slots, 0, &arena);

        let mut offsets = Vec::with_capacity(slots.len() + 1);
        let mut size = 0;
        offsets.push(0);
        for slot in &slots {
            size += slot.key.len(&arena);
            offsets.push(size as i64);
        }
        let mut bytes = vec![0; size + 24];
        for (slot, start) in slots.iter().zip(&offsets) {
            slot.key.write(&arena, &mut bytes[*start as usize..]);
        }
        bytes.truncate(size);
        let words = StringsBuf::new(bytes, offsets).expect("each word begins where the one before ends");
        WordCounts { words, counts: slots.iter().map(|slot| slot.count).collect() }
    }
}

/// Sorts slots whose first `8 * word` bytes are the same by their bytes: by the next eight, as one number, and equal ones
/// by those that follow.
fn sort(slots: &mut [Slot], word: usize, arena: &Arena) {
    if word == 3 || word > 0 && slots.iter().any(|slot| slot.key.is_long()) {
        slots.sort_unstable_by(|a, b| a.key.with_bytes(arena, |a| b.key.with_bytes(arena, |b| a.cmp(b))));
        return;
    }
    // Zeros fill a short pre-token up to its length, which comes last and decides between `a` and `a\0`.
    let number = |slot: &Slot| slot.key.0[word].swap_bytes();
    slots.sort_unstable_by_key(number);
    for equal in slots.chunk_by_mut(|a, b| number(a) == number(b)).filter(|equal| equal.len() > 1) {
        sort(equal, word + 1, arena);
    }
}
