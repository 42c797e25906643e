//! Phrases: words that stay together, so that tokens can cross the spaces between them.
//!
//! In: a known pattern and a number, such as GPT-4o's and 4. Out: a pattern that cuts in the same way, but keeps up to four
//! words in one piece: `by the way, I` -> `by the way`, `,`, ` I`.
//!
//! The words of a phrase are words of the known pattern with only letters and marks (GPT-4o's may include `'re`); from the
//! second on, each begins with one plain space. So every edge of a phrase is an edge of a word. `tests.rs` proves this, and
//! that the regex and joining the scanner's words cut in the same way.

use std::ops::Range;

use super::rules::{Contractions, KNOWN, Rules};
use super::scanner::{Scanner, scan_by};
use super::{
    GPT2, GPT2_SINGLE_DIGITS, GPT4, GPT4_SINGLE_DIGITS, GPT4O, GPT4O_SINGLE_DIGITS, QWEN35, WHITESPACE,
    WHITESPACE_SINGLE_DIGITS,
};
use crate::check_in::CheckIn;
use crate::error::Result;
use crate::unicode::{LETTER, MARK, classes};

/// How many words a phrase may have.
pub const MOST_WORDS: usize = 16;

/// The part of a word that the known pattern keeps in one piece, up to the end of its letters and marks. (GPT-4o's keeps a
/// run of letters whole if upper case occurs only in front, or throughout.)
const WORDS: [(&str, &str); 9] = [
    (GPT4O, GPT4O_WORD),
    (GPT4O_SINGLE_DIGITS, GPT4O_WORD),
    (GPT4, LETTERS),
    (GPT4_SINGLE_DIGITS, LETTERS),
    (QWEN35, r"(?=\p{L})[\p{L}\p{M}]+"),
    (GPT2, LETTERS),
    (GPT2_SINGLE_DIGITS, LETTERS),
    (WHITESPACE, r"(?=\p{L})[\p{L}\p{M}]+(?!\S)"),
    (WHITESPACE_SINGLE_DIGITS, r"(?=\p{L})[\p{L}\p{M}]+(?![^\s\p{N}])"),
];
const GPT4O_WORD: &str = concat!(
    r"(?=\p{L})(?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*(?:\p{Ll}[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|[\p{Lm}\p{Lo}\p{M}])|[\p{Lu}\p{Lt}]+)",
    r"(?![\p{L}\p{M}])(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
);
const LETTERS: &str = r"\p{L}+(?![\p{L}\p{M}])";

/// The pattern of phrases of two to `most` words; None if `words` is no known pattern with words.
pub fn pattern(words: &str, most: usize) -> Option<String> {
    let (_, word) = WORDS.iter().find(|(known, _)| *known == words)?;
    (2..=MOST_WORDS).contains(&most).then(|| format!(" ?{word}(?: {word}){{1,{}}}|{words}", most - 1))
}

/// The pattern that cuts the words, and the most words in a phrase; None if this is not a pattern of phrases.
pub fn known(phrases: &str) -> Option<(&'static str, usize)> {
    let is_this = |(words, most): &(&str, usize)| pattern(words, *most).as_deref() == Some(phrases);
    let words = WORDS.iter().map(|(words, _)| *words).filter(|words| phrases.ends_with(words));
    words.flat_map(|words| (2..=MOST_WORDS).map(move |most| (words, most))).find(is_this)
}

/// Calls `emit` with the ranges of the phrases: words are cut by these rules in [`KNOWN`] and joined.
pub fn split(
    index: usize,
    most: usize,
    text: &str,
    check_in: &mut CheckIn,
    emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
) -> Result<()> {
    let rules = &KNOWN[index].1;
    let scanner = Scanner { text: text.as_bytes(), classes: classes() };
    let mut phrase = 0..0;
    let mut words = 0;
    scan_by(index, text, check_in, &mut |piece: Range<usize>, check_in: &mut CheckIn| {
        let is_word = rules.is_word(&scanner, &piece);
        if is_word && words > 0 && words < most && text.as_bytes()[piece.start] == b' ' {
            phrase.end = piece.end;
            words += 1;
            return;
        }
        if !phrase.is_empty() {
            emit(phrase.clone(), check_in);
        }
        words = usize::from(is_word);
        phrase = piece;
    })?;
    if !phrase.is_empty() {
        emit(phrase, check_in);
    }
    Ok(())
}

impl Rules {
    /// Whether a piece may be a word of a phrase: a whole run of letters and marks, with or without a space in front.
    fn is_word(&self, scanner: &Scanner, piece: &Range<usize>) -> bool {
        let start = piece.start + usize::from(scanner.text[piece.start] == b' ');
        if scanner.flags(start).is_none_or(|flags| flags & LETTER == 0) {
            return false;
        }
        let continues = |flags: u8| flags & (LETTER | MARK) != 0;
        // Only up to the end of the piece: `aBaBaB` is one run of letters, and every piece would scan to its end.
        let within = Scanner { text: &scanner.text[..piece.end], ..*scanner };
        if within.run(start, continues) < piece.end {
            return self.contractions == Contractions::AfterWord;
        }
        !scanner.flags(piece.end).is_some_and(continues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::NONE_SINGLE_DIGITS;

    #[test]
    fn phrases_have_whole_words_and_single_spaces_between() {
        let phrases = |words: &str, text: &str| {
            let index = KNOWN.iter().position(|(known, _)| *known == words).unwrap();
            let mut found = Vec::new();
            split(index, 3, text, &mut CheckIn::never(), &mut |phrase, _| {
                found.push(text[phrase].to_owned())
            })
            .unwrap();
            found
        };
        assert_eq!(
            phrases(GPT4O, "By the way, I'm in a hurry now"),
            ["By the way", ",", " I'm in a", " hurry now"]
        );
        assert_eq!(
            phrases(GPT4O, "in 1999 we (all of us) a  b"),
            ["in", " ", "199", "9", " we", " (", "all of us", ")", " a", " ", " b"]
        );
        assert_eq!(
            phrases(GPT4O, "my camelCase NATO\nof a\u{a0}b"),
            ["my", " camel", "Case NATO", "\n", "of a", "\u{a0}b"]
        );
        assert_eq!(phrases(GPT4O, "हिन्दी में ภาษา ไทย"), ["हिन्दी में ภาษา", " ไทย"]);
        assert_eq!(phrases(GPT4, "I don't see it"), ["I don", "'t", " see it"]);
        assert_eq!(phrases(WHITESPACE, "by the way, we go"), ["by the", " way,", " we go"]);
        assert_eq!(pattern(NONE_SINGLE_DIGITS, 3), None);
        assert_eq!(pattern(GPT4O, 1), None);
        assert_eq!(known(&pattern(GPT2, 7).unwrap()), Some((GPT2, 7)));
        assert_eq!(known(GPT2), None);
    }

    #[test]
    fn a_long_run_of_letters_in_many_pieces_ends() {
        for (words, text) in [(GPT4O, "aB"), (GPT4, "a\u{301}")] {
            let index = KNOWN.iter().position(|(known, _)| *known == words).unwrap();
            let mut pieces = 0;
            let emit = &mut |_: Range<usize>, _: &mut CheckIn| pieces += 1;
            split(index, 3, &text.repeat(1 << 19), &mut CheckIn::never(), emit).unwrap();
            assert!(pieces > 1 << 18);
        }
    }
}
