//! Words: pre-tokens and tokens with what they are found by in tables.
//!
//! In: a place in a text. Out: the bytes there, a key that tells short ones apart without a look at them, and a hash.

use crate::hash::{PI, fold, hash_long, masks};
use std::ops::Range;

const LONGEST_SHORT: usize = 31;

/// Up to 31 bytes: they, zeros, and the length in the last byte. More: the first eight, a hash, the length, and
/// a last byte that is no length; so two of these may have the same key.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Key([u64; 4]);

/// `MASKS[length]` keeps the first `length` bytes of a key.
const MASKS: [[u64; 4]; LONGEST_SHORT + 1] = masks();

impl Key {
    /// Of an empty string, which is no word.
    pub const NONE: Key = Key([0; 4]);

    #[inline(always)]
    pub fn hash(self) -> u64 {
        let [.., c, d] = self.0;
        fold(self.start() ^ c, d ^ PI[2])
    }

    /// What the first half does to the hash.
    #[inline(always)]
    pub fn start(self) -> u64 {
        fold(self.0[0] ^ PI[0], self.0[1] ^ PI[1])
    }
}

#[derive(Clone, Copy, Default)]
pub struct Word<'t> {
    pub bytes: &'t [u8],
    pub key: Key,
    pub hash: u64,
}

impl<'t> Word<'t> {
    /// `text[range]`. What follows in the text is loaded too and masked away, which is faster than a branch on the length.
    #[inline(always)]
    pub fn new(text: &'t [u8], range: Range<usize>) -> Self {
        let bytes = &text[range.clone()];
        let length = bytes.len();
        let key = if length <= LONGEST_SHORT {
            let loaded = match text[range.start..].first_chunk() {
                Some(chunk) => load(chunk),
                None => load(&padded(bytes)),
            };
            let mut key = [0, 1, 2, 3].map(|i| loaded[i] & MASKS[length][i]);
            key[3] |= (length as u64) << 56;
            Key(key)
        } else {
            Key([load(&padded(&bytes[..8]))[0], hash_long(bytes), length as u64, 0xFF << 56])
        };
        Self { bytes, key, hash: key.hash() }
    }

    /// Whether its key does not hold all of it.
    pub fn is_long(&self) -> bool {
        self.bytes.len() > LONGEST_SHORT
    }
}

impl<'t> From<&'t [u8]> for Word<'t> {
    fn from(bytes: &'t [u8]) -> Self {
        Self::new(bytes, 0..bytes.len())
    }
}

pub fn hash(bytes: &[u8]) -> u64 {
    Word::from(bytes).hash
}

#[inline(always)]
fn load(bytes: &[u8; 32]) -> [u64; 4] {
    let (words, _) = bytes.as_chunks();
    [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]))
}

fn padded(bytes: &[u8]) -> [u8; 32] {
    let mut padded = [0; 32];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}
