//! Words: pre-tokens and tokens with their keys in tables.
//!
//! In: a place in a text. Out: the bytes there, a key that identifies short ones without reading the bytes, and a hash.

use crate::hash::{PI, fold, hash_long, masks, packed};
use std::ops::Range;

const LONGEST_SHORT: usize = 15;

/// Up to 15 bytes: the bytes, zeros, and the length in the last byte. Longer: a hash and the length, which leaves the last
/// byte 0; two of those may have equal keys. The upper four bits are free for a tag.
#[derive(Clone, Copy, Default)]
pub struct Key([u64; 2]);

const MASKS: [[u64; 2]; LONGEST_SHORT + 1] = masks();

impl Key {
    /// The key of an empty string, which is not a word.
    pub const NONE: Key = Key([0; 2]);

    /// Does not depend on the tag.
    #[inline(always)]
    pub fn hash(self) -> u64 {
        fold(self.0[0] ^ PI[0], self.0[1] << 4 ^ PI[1])
    }

    /// Whether two keys are equal apart from their tags.
    #[inline(always)]
    pub fn is(self, other: Key) -> bool {
        (self.0[0] ^ other.0[0]) | (self.0[1] ^ other.0[1]) << 4 == 0
    }

    #[inline(always)]
    pub fn tag(self) -> usize {
        (self.0[1] >> 60) as usize
    }

    /// With a tag of up to 15; it must not have one yet.
    pub fn tagged(self, tag: usize) -> Key {
        Key([self.0[0], self.0[1] | (tag as u64) << 60])
    }
}

/// For tables that store the halves of a key by themselves.
impl From<[u64; 2]> for Key {
    #[inline(always)]
    fn from(halves: [u64; 2]) -> Key {
        Key(halves)
    }
}

impl From<Key> for [u64; 2] {
    fn from(key: Key) -> [u64; 2] {
        key.0
    }
}

#[derive(Clone, Copy, Default)]
pub struct Word<'t> {
    pub bytes: &'t [u8],
    pub key: Key,
    pub hash: u64,
}

impl<'t> Word<'t> {
    /// `text[range]`. What follows in the text may be read, see [`packed`].
    #[inline(always)]
    pub fn new(text: &'t [u8], range: Range<usize>) -> Self {
        let bytes = &text[range.clone()];
        let length = bytes.len();
        let key = if length <= LONGEST_SHORT {
            Key(packed(text, range.start, length, &MASKS))
        } else {
            Key([hash_long(bytes), length as u64])
        };
        Self { bytes, key, hash: key.hash() }
    }

    /// Whether the key does not contain all of the word.
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
