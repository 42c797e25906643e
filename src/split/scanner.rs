//! The scanner: hand-written code for the known patterns.
//!
//! In: a text and one set of [`Rules`]. Out: the ranges of its pre-tokens, the same as the regex engine's.

use std::ops::Range;

use super::blocks::{not_ascii, within};
use super::rules::{Contractions, KNOWN, Prefix, Rules, WordRule};
use crate::check_in::CheckIn;
use crate::error::Result;
use crate::unicode::{Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, SPACE, UNCASED, UPPER, classes};

/// A character of `[^\r\n\p{L}\p{N}]` has none of these flags.
const NOT_PREFIX: u8 = NEWLINE | LETTER | NUMBER;
const CAN_START_WORD: u8 = UPPER | UNCASED | MARK;
const CAN_END_WORD: u8 = LOWER | UNCASED | MARK;

/// In bytes: some ten microseconds of work.
const STRETCH: usize = 1 << 12;

const _: () = assert!(KNOWN.len() == 12, "`scan_by` lists every entry");

/// Calls `emit` with the ranges of the pre-tokens, by these rules in [`KNOWN`].
///
/// One scanner, compiled separately for every set of rules: with constant rules, it runs about a tenth faster.
pub fn scan_by(
    index: usize,
    text: &str,
    check_in: &mut CheckIn,
    emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
) -> Result<()> {
    match index {
        0 => scan::<0>(text, check_in, emit),
        1 => scan::<1>(text, check_in, emit),
        2 => scan::<2>(text, check_in, emit),
        3 => scan::<3>(text, check_in, emit),
        4 => scan::<4>(text, check_in, emit),
        5 => scan::<5>(text, check_in, emit),
        6 => scan::<6>(text, check_in, emit),
        7 => scan::<7>(text, check_in, emit),
        8 => scan::<8>(text, check_in, emit),
        9 => scan::<9>(text, check_in, emit),
        10 => scan::<10>(text, check_in, emit),
        11 => scan::<11>(text, check_in, emit),
        _ => unreachable!("an index of KNOWN"),
    }
}

fn scan<const INDEX: usize>(
    text: &str,
    check_in: &mut CheckIn,
    emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
) -> Result<()> {
    let rules = const { &KNOWN[INDEX].1 };
    let scanner = Scanner { text: text.as_bytes(), classes: classes() };
    let mut start = 0;
    while start < text.len() {
        // Check in once per stretch: in the loop over words, the cost would be noticeable.
        let stretch = text.len().min(start + STRETCH);
        while start < stretch {
            let mut starts = if rules.have_blocks() { rules.starts(scanner.text, start) } else { 0 };
            if starts == 0 {
                let end = rules.end(&scanner, start);
                emit(start..end, check_in);
                start = end;
                continue;
            }
            let block = start;
            while starts != 0 {
                let end = block + starts.trailing_zeros() as usize;
                emit(start..end, check_in);
                start = end;
                starts &= starts - 1;
            }
        }
        check_in.now()?;
    }
    Ok(())
}

impl Rules {
    /// The end of the pre-token that starts at `start`. Tries the alternatives of the pattern in order.
    #[inline(always)]
    fn end(&self, scanner: &Scanner, start: usize) -> usize {
        if let Some(end) = self.simple_word_end(scanner, start) {
            return end;
        }
        let (first, length) = scanner.classes.at(scanner.text, start);
        let second_start = start + length;
        let second = scanner.flags(second_start);
        let is_space = scanner.text[start] == b' ';

        let alone = match self.contractions {
            Contractions::Alone => scanner.contraction(start, false),
            Contractions::AloneAnyCase => scanner.contraction(start, true),
            Contractions::AloneAsciiCase => {
                scanner.contraction(start, true).filter(|_| scanner.text[start + 1].is_ascii())
            }
            _ => None,
        };
        if let Some(end) = alone {
            return end;
        }

        let has_prefix = match self.prefix {
            Prefix::None => false,
            Prefix::Space => is_space,
            Prefix::AnySymbol => first & NOT_PREFIX == 0,
        };
        let word = match self.word {
            WordRule::Cased => scanner.cased_word(start, first, has_prefix.then_some(second_start)),
            WordRule::With(flags)
                if first & flags != 0 || has_prefix && second.is_some_and(|f| f & flags != 0) =>
            {
                Some(scanner.word_run(second_start, |f| f & flags != 0))
            }
            WordRule::Without(flags)
                if first & flags == 0 || has_prefix && second.is_some_and(|f| f & flags == 0) =>
            {
                Some(scanner.word_run(second_start, |f| f & flags == 0))
            }
            _ => None,
        };
        if let Some(end) = word {
            return match self.contractions {
                Contractions::AfterWord => scanner.contraction(end, true).unwrap_or(end),
                _ => end,
            };
        }

        let with_space = is_space && self.space_before_numbers;
        if first & NUMBER != 0 {
            return scanner.numbers(second_start, self.most_numbers - 1);
        }
        if with_space && second.is_some_and(|f| f & NUMBER != 0) {
            return scanner.numbers(second_start, self.most_numbers);
        }

        if first & self.not_symbol == 0 || is_space && second.is_some_and(|f| f & self.not_symbol == 0) {
            let mut end = scanner.run(second_start, |f| f & self.not_symbol == 0);
            while scanner.text.get(end).is_some_and(|byte| self.after_symbols.contains(byte)) {
                end += 1;
            }
            return end;
        }

        scanner.white_space(start, self.cut_after_newlines, self.whole_at_end)
    }
}

impl Rules {
    /// A shortcut for most words, ` word`, `word`, ` Word` and `Word` in ASCII: it decides from one load of 16 bytes, because
    /// each word has to wait for the end of the previous one.
    #[inline(always)]
    fn simple_word_end(&self, scanner: &Scanner, start: usize) -> Option<usize> {
        let is_cased = matches!(self.word, WordRule::Cased);
        if !is_cased && !matches!(self.word, WordRule::With(_)) {
            return None;
        }
        let bytes = scanner.text[start..].first_chunk::<16>()?;
        if not_ascii(bytes) & 0b11 != 0 {
            return None;
        }
        let space = u32::from(bytes[0] == b' ');
        let before = space + (within(bytes, b'A', b'Z') >> space & 1);
        let letters = (!within(bytes, b'a', b'z') >> before).trailing_zeros();
        let end = (before + letters) as usize;
        let next = *bytes.get(end)?;
        let ends = next.is_ascii() && next != b'\'' && (is_cased || !next.is_ascii_alphabetic());
        (letters > 0 && ends).then_some(start + end)
    }
}

pub struct Scanner<'t> {
    pub text: &'t [u8],
    pub classes: &'static Classes,
}

impl Scanner<'_> {
    /// Flags of the character at `at`; None at the end of the text.
    #[inline(always)]
    pub fn flags(&self, at: usize) -> Option<u8> {
        (at < self.text.len()).then(|| self.classes.at(self.text, at).0)
    }

    /// The end of the run of characters from `at` that pass.
    #[inline(always)]
    pub fn run(&self, mut at: usize, passes: impl Fn(u8) -> bool) -> usize {
        while at < self.text.len() {
            let (flags, length) = self.classes.at(self.text, at);
            if !passes(flags) {
                break;
            }
            at += length;
        }
        at
    }

    /// The same for a run that includes lower-case letters. Skips those of ASCII eight at a time: the processor cannot predict
    /// where a word ends, and a wrong prediction costs more than the letters.
    #[inline(always)]
    fn word_run(&self, mut at: usize, passes: impl Fn(u8) -> bool) -> usize {
        while let Some(byte) = self.text.get(at) {
            if byte.is_ascii_lowercase() {
                at = self.after_lowercase(at + 1);
                continue;
            }
            let (flags, length) = self.classes.at(self.text, at);
            if !passes(flags) {
                break;
            }
            at += length;
        }
        at
    }

    /// The end of the run of `[a-z]` from `at`.
    #[inline(always)]
    pub fn after_lowercase(&self, mut at: usize) -> usize {
        const ONES: u64 = u64::MAX / 0xFF;
        while let Some(eight) = self.text.get(at..).and_then(<[u8]>::first_chunk) {
            let eight = u64::from_le_bytes(*eight);
            let low_bits = eight & (0x7F * ONES);
            let from_a = low_bits + (0x80 - u64::from(b'a')) * ONES;
            let after_z = low_bits + (0x7F - u64::from(b'z')) * ONES;
            // The top bit of each byte: 1 if the byte is not a lower-case letter.
            let others = !(from_a & !after_z & !eight) & (0x80 * ONES);
            if others != 0 {
                return at + others.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        while self.text.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        at
    }

    #[inline(always)]
    fn numbers(&self, mut at: usize, most: usize) -> usize {
        for _ in 0..most {
            if at == self.text.len() {
                break;
            }
            let (flags, length) = self.classes.at(self.text, at);
            if flags & NUMBER == 0 {
                break;
            }
            at += length;
        }
        at
    }

    /// `'s|'t|'re|'ve|'m|'ll|'d` at `at`. In any case, `s` is also U+017F, the long s.
    #[inline(always)]
    fn contraction(&self, at: usize, any_case: bool) -> Option<usize> {
        let Some((b'\'', rest)) = self.text.get(at..)?.split_first() else {
            return None;
        };
        let fold = |byte: &u8| {
            if any_case { byte.to_ascii_lowercase() } else { *byte }
        };
        let first = rest.first()?;
        match (fold(first), rest.get(1).map(fold)) {
            (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
            (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
            (0xC5, Some(0xBF)) if any_case => Some(at + 3),
            _ => None,
        }
    }

    /// The first two alternatives of gpt4o. With S for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` (can start a word) and
    /// E for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` (can end one), they are `prefix? S* E+ | prefix? S+ E*`.
    #[inline(always)]
    fn cased_word(&self, start: usize, first: u8, after_prefix: Option<usize>) -> Option<usize> {
        let Some(body) = after_prefix else {
            // Without a prefix, a letter is needed; then one of the alternatives always matches.
            return (first & LETTER != 0).then(|| self.cased_body(start).end);
        };
        let found = self.cased_body(body);
        if found.ends_with_e {
            Some(found.end)
        } else if first & MARK != 0 {
            // The engine now tries `S* E+` with the prefix itself, a mark, as the word. It matches only that mark: what
            // follows has no E, as was just found.
            Some(body)
        } else {
            (found.end > body).then_some(found.end)
        }
    }

    /// `S* E+` from `at`, or else `S+ E*`.
    #[inline(always)]
    fn cased_body(&self, at: usize) -> CasedBody {
        let mut end = at;
        // `S*` takes all it can; if no E follows, it backtracks to the last character that is also an E.
        let mut after_last_both = at;
        while end < self.text.len() {
            let (flags, length) = self.classes.at(self.text, end);
            if flags & CAN_START_WORD == 0 {
                if flags & LOWER != 0 {
                    let end = self.word_run(end + length, |f| f & CAN_END_WORD != 0);
                    return CasedBody { end, ends_with_e: true };
                }
                break;
            }
            end += length;
            if flags & CAN_END_WORD != 0 {
                after_last_both = end;
            }
        }
        if after_last_both > at {
            CasedBody { end: after_last_both, ends_with_e: true }
        } else {
            CasedBody { end, ends_with_e: false }
        }
    }

    /// `\s++$` and `\s*[\r\n]+` if the rules have them, then `\s+(?!\S)|\s+`: white space leaves its last character to the
    /// word after it.
    #[inline(always)]
    fn white_space(&self, start: usize, cut_after_newlines: bool, whole_at_end: bool) -> usize {
        let mut end = start;
        let mut last_start = start;
        let mut after_last_newline = start;
        while end < self.text.len() {
            let (flags, length) = self.classes.at(self.text, end);
            if flags & SPACE == 0 {
                break;
            }
            last_start = end;
            end += length;
            if flags & NEWLINE != 0 {
                after_last_newline = end;
            }
        }
        if whole_at_end && end == self.text.len() {
            end
        } else if cut_after_newlines && after_last_newline > start {
            after_last_newline
        } else if end == self.text.len() || last_start == start {
            end
        } else {
            last_start
        }
    }
}

struct CasedBody {
    end: usize,
    /// `S* E+` matched; if not, `end` is that of `S+ E*`, or where the body starts if neither did.
    ends_with_e: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_ends_at_every_other_byte() {
        for byte in 0..=255u8 {
            for place in 0..20 {
                let mut text = [b'q'; 20];
                text[place] = byte;
                let scanner = Scanner { text: &text, classes: classes() };
                let end = if byte.is_ascii_lowercase() { 20 } else { place };
                assert_eq!(scanner.after_lowercase(0), end, "{byte} at {place}");
            }
        }
    }
}
