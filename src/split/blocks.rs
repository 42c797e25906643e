//! Blocks: where pre-tokens start in 64 bytes of text at once.
//!
//! In: a text, a place where a pre-token starts, and rules. Out: a bit for each later place where another one starts, as far
//! as 64 bytes of ASCII can tell.
//!
//! Each class of bytes is a number with one bit per byte, and rules about neighbours become shifts of these numbers, so no
//! word waits for the end of the previous one. Patterns do not look behind, so nothing is carried from block to block: the
//! next block is read from the start of the last pre-token. What bits cannot decide is left to the scanner.

use super::rules::{Contractions, Prefix, Rules, WordRule};
use crate::unicode::LETTER;

const LENGTH: usize = 64;
/// With fewer bytes before the first that is not ASCII, a block is not worth the work.
const FEWEST: usize = 16;
/// Fills the last block after the end of the text; not ASCII.
const NOTHING: u8 = 0x80;

/// The bits below this one.
#[inline(always)]
fn below(bit: u32) -> u64 {
    if bit < u64::BITS { (1 << bit) - 1 } else { u64::MAX }
}

/// The start of the run of `bits` that contains the bit before `end`.
#[inline(always)]
fn run_start(bits: u64, end: u32) -> u32 {
    u64::BITS - (!bits & below(end)).leading_zeros()
}

/// The bits of `runs` in those runs whose first bit is in `first`.
#[inline(always)]
fn rest_of_runs(runs: u64, first: u64) -> u64 {
    runs & !runs.wrapping_add(first)
}

impl Rules {
    /// Whether blocks support this pattern and this processor.
    pub const fn have_blocks(&self) -> bool {
        let is_known = match self.word {
            WordRule::Cased => true,
            WordRule::With(flags) => flags & LETTER == LETTER,
            WordRule::Without(_) => false,
        };
        is_known && cfg!(any(target_arch = "x86_64", test))
    }

    /// Bit i: a pre-token starts at `start + i`, given that one starts at `start`. If the result is 0, none are known.
    #[inline(always)]
    pub fn starts(&self, text: &[u8], start: usize) -> u64 {
        let rest = &text[start..];
        if rest.first_chunk().is_none_or(|first: &[u8; FEWEST]| not_ascii(first) != 0) {
            return 0;
        }
        match rest.first_chunk() {
            Some(block) => self.starts_in(block),
            None => {
                let mut block = [NOTHING; LENGTH];
                block[..rest.len()].copy_from_slice(rest);
                self.starts_in(&block)
            }
        }
    }

    #[inline(always)]
    fn starts_in(&self, block: &[u8; LENGTH]) -> u64 {
        let all = |test: fn(&[u8; 16]) -> u32| {
            let (parts, _) = block.as_chunks();
            [0, 1, 2, 3].map(|i| u64::from(test(&parts[i])) << (16 * i)).into_iter().fold(0, |a, b| a | b)
        };
        let (lower, upper) = (all(|part| within(part, b'a', b'z')), all(|part| within(part, b'A', b'Z')));
        let digits = all(|part| within(part, b'0', b'9'));
        let spaces = all(|part| within(part, b' ', b' '));
        let white = spaces | all(|part| within(part, b'\t', b'\r'));
        let newlines = all(|part| within(part, b'\n', b'\n') | within(part, b'\r', b'\r'));
        let others = all(not_ascii);
        let letters = lower | upper;
        let symbols = !(letters | digits | white | others);
        let first_of = |bits: u64| bits & !(bits << 1);

        // Line ends that belong to a run of symbols.
        let taken = match self.after_symbols {
            [] => 0,
            _ => rest_of_runs(newlines, newlines & symbols << 1),
        };
        let free = white & !taken;
        // White space leaves its last character to the next word, unless a line end comes before that word.
        let inline = if self.cut_after_newlines { white & !newlines } else { free };
        let mut inline_starts = 0;
        if self.cut_after_newlines {
            inline_starts = first_of(inline);
            let mut before_newlines = inline.wrapping_add(inline_starts) & !inline & newlines;
            while before_newlines != 0 {
                inline_starts &= !(1 << run_start(inline, before_newlines.trailing_zeros()));
                before_newlines &= before_newlines - 1;
            }
        }
        // The characters that belong to the word, number or symbols after them.
        let before_word = match self.prefix {
            Prefix::None => 0,
            Prefix::Space => spaces,
            Prefix::AnySymbol => inline | symbols & !(symbols << 1 | symbols >> 1 | spaces << 1),
        };
        let before_number = if self.space_before_numbers { spaces } else { 0 };

        let mut starts = first_of(letters) & !(before_word << 1)
            | first_of(symbols) & !(spaces << 1)
            | first_of(free)
            | inline_starts
            | inline & !(white >> 1);
        if matches!(self.word, WordRule::Cased) {
            starts |= upper & lower << 1;
        }
        starts |= !(before_number << 1)
            & match self.most_numbers {
                1 => digits,
                usize::MAX => first_of(digits),
                most => {
                    let inside = (1..=most).fold(digits, |inside, by| inside & digits << by);
                    let mut found = first_of(digits);
                    let mut more = found;
                    while more != 0 {
                        more = more << most & inside;
                        found |= more;
                    }
                    found
                }
            };

        // Nothing is known after the first character that is not ASCII, nor about white space just before it.
        let end = others.trailing_zeros();
        let mut known = below(end);
        if free >> (end - 1) & 1 != 0 {
            known = below(run_start(free, end) + 1);
        }
        let quotes = all(|part| within(part, b'\'', b'\''));
        match self.contractions {
            Contractions::None => {}
            Contractions::AfterWord => {
                let letter_or_unknown = (letters | others) >> 1 | 1 << 63;
                known &= below((letters << 1 & quotes & letter_or_unknown).trailing_zeros());
            }
            _ => known &= below((quotes & letters >> 1).trailing_zeros() + 1),
        }
        if self.after_symbols.contains(&b'/') {
            let slashes = all(|part| within(part, b'/', b'/'));
            known &= below((taken << 1 & slashes).trailing_zeros());
        }
        starts & known & !1
    }
}

/// A bit for each byte: whether it is between `first` and `last`.
#[inline(always)]
pub fn within(bytes: &[u8; 16], first: u8, last: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2, and 16 bytes are read from 16 bytes.
    unsafe {
        use std::arch::x86_64::{
            _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8, _mm_sub_epi8,
        };
        // The comparison is signed, so shift `first` to the least signed number.
        let moved = _mm_sub_epi8(
            _mm_loadu_si128(bytes.as_ptr().cast()),
            _mm_set1_epi8(first.wrapping_add(0x80).cast_signed()),
        );
        _mm_movemask_epi8(_mm_cmplt_epi8(
            moved,
            _mm_set1_epi8((last - first + 1).wrapping_sub(0x80).cast_signed()),
        )) as u32
    }
    #[cfg(not(target_arch = "x86_64"))]
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from((first..=last).contains(byte)))
}

/// A bit for each byte: whether it is not ASCII.
#[inline(always)]
pub fn not_ascii(bytes: &[u8; 16]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above.
    unsafe {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
        _mm_movemask_epi8(_mm_loadu_si128(bytes.as_ptr().cast())) as u32
    }
    #[cfg(not(target_arch = "x86_64"))]
    within(bytes, 0x80, 0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_for_each_byte_within() {
        for byte in 0..=u8::MAX {
            let bytes = std::array::from_fn(|i| if i % 3 == 0 { byte } else { b'k' });
            for (first, last) in [(b'a', b'z'), (b'A', b'Z'), (0, 0x7F), (b'k', b'k')] {
                let bit = |i: usize| u32::from((first..=last).contains(&bytes[i])) << i;
                assert_eq!(within(&bytes, first, last), (0..16).map(bit).sum::<u32>(), "{byte}");
            }
        }
    }
}
