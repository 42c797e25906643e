//! What hash tables share: short strings as numbers, and the hash.
//!
//! Multiply to 128 bits and fold the halves together, the idea of wyhash.

/// Digits of pi: constants without a pattern.
pub const PI: [u64; 3] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0];

#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of 16 bytes or more.
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

/// `text[start..start + length]` in little-endian words: the bytes, zeros, and the length in the last byte.
///
/// Loads what follows in the text too and masks it away: this makes counting English about a tenth faster than branching
/// on the length, which is hard to predict.
#[inline(always)]
pub fn packed<const WORDS: usize, const LENGTHS: usize>(
    text: &[u8],
    start: usize,
    length: usize,
    masks: &[[u64; WORDS]; LENGTHS],
) -> [u64; WORDS] {
    let loaded: [u64; WORDS] = match text[start..].as_chunks().0.first_chunk() {
        Some(words) => words.map(u64::from_le_bytes),
        None => near_the_end(&text[start..start + length]),
    };
    let mask = masks[length];
    let mut words = std::array::from_fn(|i| loaded[i] & mask[i]);
    words[WORDS - 1] |= (length as u64) << 56;
    words
}

/// The same at the end of a text, where fewer bytes follow than the words have room for.
#[cold]
fn near_the_end<const WORDS: usize>(bytes: &[u8]) -> [u64; WORDS] {
    let mut words = [[0; 8]; WORDS];
    words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
    words.map(u64::from_le_bytes)
}

/// For each length in bytes, the little-endian masks that keep that many bytes, for [`packed`].
pub const fn masks<const WORDS: usize, const LENGTHS: usize>() -> [[u64; WORDS]; LENGTHS] {
    let mut masks = [[0; WORDS]; LENGTHS];
    let mut length = 0;
    while length < LENGTHS {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xFF << (8 * (byte % 8));
            byte += 1;
        }
        length += 1;
    }
    masks
}
