//! Character classes and normalisation.
//!
//! In: a character. Out: one byte of flags. In: a text. Out: the same in NFC.
//!
//! The classes come from the tables of `regex-syntax`, which the regex engine uses too, so a hand-written scanner and a
//! pattern run by the engine cannot disagree about what a letter is.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::check_in::CheckIn;
use crate::error::Result;

/// The Unicode version of the classes. It is part of a pre-tokenization: counts made with other tables differ.
pub const UNICODE_VERSION: &str = "16.0.0";

/// Letters in upper case or title case: `[\p{Lu}\p{Lt}]`.
pub const UPPER: u8 = 1;
/// Letters in lower case: `\p{Ll}`.
pub const LOWER: u8 = 1 << 1;
/// Letters without case: `[\p{Lm}\p{Lo}]`.
pub const UNCASED: u8 = 1 << 2;
/// Combining marks: `\p{M}`.
pub const MARK: u8 = 1 << 3;
/// Digits and other numbers: `\p{N}`.
pub const NUMBER: u8 = 1 << 4;
/// White space: `\s`.
pub const SPACE: u8 = 1 << 5;
/// The two line-end characters, `[\r\n]`; they are white space too.
pub const NEWLINE: u8 = 1 << 6;
/// Word characters: `\w`.
pub const WORD: u8 = 1 << 7;
/// `\p{L}`.
pub const LETTER: u8 = UPPER | LOWER | UNCASED;

const DEFINITIONS: [(u8, &str); 8] = [
    (UPPER, r"[\p{Lu}\p{Lt}]"),
    (LOWER, r"\p{Ll}"),
    (UNCASED, r"[\p{Lm}\p{Lo}]"),
    (MARK, r"\p{M}"),
    (NUMBER, r"\p{N}"),
    (SPACE, r"\s"),
    (NEWLINE, r"[\r\n]"),
    (WORD, r"\w"),
];

pub const CODE_POINTS: usize = char::MAX as usize + 1;

/// Flags by code point. Flat on purpose: one load per character, and only the parts that a text uses are ever cached
/// (1.1 MB in total, most of it zero and never touched).
pub struct Classes {
    flags: Box<[u8]>,
}

/// The table, built on first use.
pub fn classes() -> &'static Classes {
    static TABLE: LazyLock<Classes> = LazyLock::new(Classes::build);
    &TABLE
}

impl Classes {
    fn build() -> Self {
        let mut flags = vec![0; CODE_POINTS].into_boxed_slice();
        for (flag, class) in DEFINITIONS {
            for (first, last) in ranges(class) {
                for of_char in &mut flags[first as usize..=last as usize] {
                    *of_char |= flag;
                }
            }
        }
        Self { flags }
    }

    pub fn of(&self, character: char) -> u8 {
        self.flags[character as usize]
    }

    /// Flags and length in bytes of the character that starts at `text[at]`; `text` must be UTF-8.
    #[inline(always)]
    pub fn at(&self, text: &[u8], at: usize) -> (u8, usize) {
        let first = text[at];
        if first < 0x80 {
            return (self.flags[usize::from(first)], 1);
        }
        let low_bits = |i: usize| usize::from(text[at + i] & 0x3F);
        let lead = usize::from(first);
        let (code_point, length) = match first {
            0..0xE0 => ((lead & 0x1F) << 6 | low_bits(1), 2),
            0xE0..0xF0 => ((lead & 0x0F) << 12 | low_bits(1) << 6 | low_bits(2), 3),
            _ => ((lead & 0x07) << 18 | low_bits(1) << 12 | low_bits(2) << 6 | low_bits(3), 4),
        };
        (self.flags[code_point], length)
    }
}

/// `\p{Lu}` -> the inclusive ranges of its characters.
pub fn ranges(class: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(class).expect("the classes above are valid");
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        // A class of ASCII characters only, such as [\r\n], is parsed as a class of bytes.
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        other => unreachable!("{class} is a class, not {other:?}"),
    }
}

/// A text in pieces of whole characters, to check in after each piece.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const LENGTH: usize = 1 << 16;
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = rest.len().min(LENGTH);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The text in Unicode normalisation form C: `e` and U+0301 -> `é`.
pub fn to_nfc<'t>(text: &'t str, check_in: &mut CheckIn) -> Result<Cow<'t, str>> {
    if is_surely_nfc(text, check_in)? {
        return Ok(Cow::Borrowed(text));
    }
    let mut composed = String::with_capacity(text.len());
    let mut characters = text.nfc().peekable();
    while characters.peek().is_some() {
        composed.extend(characters.by_ref().take(1 << 12));
        check_in.now()?;
    }
    Ok(Cow::Owned(composed))
}

/// Whether the text is in NFC by the quick check of Unicode Annex 15; if false, only composing it can tell.
///
/// `unicode_normalization` has the same check; a table of its answers saves two lookups per character.
fn is_surely_nfc(text: &str, check_in: &mut CheckIn) -> Result<bool> {
    /// No combining class has this number.
    const NOT_SURE: u8 = 0xFF;
    fn look_up(character: char) -> u8 {
        match is_nfc_quick(std::iter::once(character)) {
            IsNormalized::Yes => canonical_combining_class(character),
            _ => NOT_SURE,
        }
    }
    static COMMON: LazyLock<Box<[u8]>> = LazyLock::new(|| {
        let code_points = 0..=0xFFFF;
        code_points.map(|code_point| char::from_u32(code_point).map_or(NOT_SURE, look_up)).collect()
    });

    if text.is_ascii() {
        return Ok(true);
    }
    let common = &**COMMON;
    let mut last_class = 0;
    let mut in_order = |character: char| {
        let class = common.get(character as usize).copied().unwrap_or_else(|| look_up(character));
        let in_order = class == 0 || class >= last_class && class != NOT_SURE;
        last_class = class;
        in_order
    };
    for piece in pieces(text) {
        if !piece.chars().all(&mut in_order) {
            return Ok(false);
        }
        check_in.now()?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_the_flags_of_the_regex_classes() {
        for (flag, class) in DEFINITIONS {
            let regex = fancy_regex::Regex::new(&format!("^{class}$")).unwrap();
            for character in ('\0'..=char::MAX).step_by(7).chain('\0'..='\u{3000}') {
                let expected = regex.is_match(character.encode_utf8(&mut [0; 4]) as &str).unwrap();
                assert_eq!(classes().of(character) & flag != 0, expected, "{character:?} in {class}");
            }
        }
    }

    #[test]
    fn decoding_agrees_with_chars() {
        for character in ('\0'..=char::MAX).step_by(5) {
            let text = format!("x{character}y");
            assert_eq!(
                classes().at(text.as_bytes(), 1),
                (classes().of(character), character.len_utf8()),
                "{character:?}"
            );
        }
    }

    #[test]
    fn text_that_is_surely_nfc_is() {
        for (text, sure) in [
            ("plain", true),
            ("é हिन्दी ไทย 日本 Привет 😀", true),
            ("e\u{301}", false),
            ("q\u{323}\u{301}", false),
            ("\u{5D0}\u{5B0}\u{5BC}", true),
            ("\u{5D0}\u{5BC}\u{5B0}", false),
            ("\u{1D15E}", false),
            ("\u{212B}", false),
        ] {
            assert_eq!(is_surely_nfc(text, &mut CheckIn::never()).unwrap(), sure, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_nfc_check_is_that_of_the_library(text in "[a\u{301}\u{323}\u{5B0}\u{5BC}\u{94D}\u{1D165}é\u{1161}가\u{212B}]{0,6}") {
            let expected = is_nfc_quick(text.chars()) == IsNormalized::Yes;
            proptest::prop_assert_eq!(is_surely_nfc(&text, &mut CheckIn::never()).unwrap(), expected);
        }
    }

    #[test]
    fn pieces_are_the_text() {
        for text in [String::new(), "a".repeat(1 << 16), "日".repeat(100_000), "é".repeat((1 << 15) + 1)] {
            assert_eq!(pieces(&text).collect::<String>(), text);
            assert_eq!(pieces(&text).count(), text.len().div_ceil(1 << 16));
        }
    }

    #[test]
    fn long_texts_are_composed_as_short_ones_are() {
        let text = "e\u{301}q\u{323}\u{301} ".repeat(30_000);
        assert_eq!(to_nfc(&text, &mut CheckIn::never()).unwrap(), text.nfc().collect::<String>());
    }

    #[test]
    fn tables_are_of_the_stated_version() {
        assert_eq!(classes().of('\u{A7DA}'), UPPER | WORD, "new in Unicode 16.0");
        assert_eq!(classes().of('\u{A7CE}'), 0, "new in Unicode 17.0");
    }
}
