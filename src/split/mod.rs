//! Cutting text into pre-tokens.
//!
//! A pre-tokenizer is described by ONE regular expression: what it matches, from left to right, are the pre-tokens.
//! The patterns that people use are scanned by hand, many times faster than a regex engine can;
//! every other pattern goes to the engine. The tests prove the two equal.

use std::fmt::Display;
use std::sync::Arc;

use fancy_regex::{CompileError, Regex};

use crate::error::{Error, Result};
use crate::unicode::{Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, SPACE, UNCASED, UPPER, classes};

/// A pre-tokenizer known by name: its pattern, and the variant in which every number character stands alone.
pub struct Preset {
    pub name: &'static str,
    /// None: the whole text is one pre-token.
    pub pattern: Option<&'static str>,
    pub single_digits: &'static str,
}

// The patterns of gpt4o (o200k_base), gpt4 (cl100k_base) and gpt2 are those that tiktoken publishes;
// whitespace is the rule of the parity-aware BPE paper. Each takes its rule for numbers as a parameter.
macro_rules! gpt4o {
    ($numbers:literal) => {
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            $numbers,
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}
macro_rules! gpt4 {
    ($numbers:literal) => {
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|",
            $numbers,
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}
macro_rules! gpt2 {
    ($numbers:literal) => {
        concat!(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|", $numbers, r"| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
    };
}

pub const GPT4O: &str = gpt4o!(r"\p{N}{1,3}");
pub const GPT4O_SINGLE_DIGITS: &str = gpt4o!(r"\p{N}");
pub const GPT4: &str = gpt4!(r"\p{N}{1,3}");
pub const GPT4_SINGLE_DIGITS: &str = gpt4!(r"\p{N}");
pub const GPT2: &str = gpt2!(r" ?\p{N}+");
pub const GPT2_SINGLE_DIGITS: &str = gpt2!(r" ?\p{N}");
pub const WHITESPACE: &str = r" ?\S+|\s+(?!\S)|\s+";
pub const WHITESPACE_SINGLE_DIGITS: &str = r"\p{N}| ?[^\s\p{N}]+|\s+(?!\S)|\s+";
pub const NONE_SINGLE_DIGITS: &str = r"\p{N}|[^\p{N}]+";

pub const PRESETS: [Preset; 5] = [
    Preset { name: "gpt4o", pattern: Some(GPT4O), single_digits: GPT4O_SINGLE_DIGITS },
    Preset { name: "gpt4", pattern: Some(GPT4), single_digits: GPT4_SINGLE_DIGITS },
    Preset { name: "gpt2", pattern: Some(GPT2), single_digits: GPT2_SINGLE_DIGITS },
    Preset { name: "whitespace", pattern: Some(WHITESPACE), single_digits: WHITESPACE_SINGLE_DIGITS },
    Preset { name: "none", pattern: None, single_digits: NONE_SINGLE_DIGITS },
];

/// Cuts text into pre-tokens. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pretokenizer(Method);

#[derive(Clone, Debug)]
enum Method {
    Whole,
    /// By the rules of this one of [`KNOWN`].
    Scan(usize),
    Match(Arc<Regex>),
}

impl Pretokenizer {
    /// `None` keeps every text whole. A known pattern is scanned by hand, any other is run by the regex engine.
    pub fn new(pattern: Option<&str>) -> Result<Self> {
        match pattern {
            None => Ok(Self(Method::Whole)),
            Some(pattern) => match KNOWN.iter().position(|(known, _)| *known == pattern) {
                Some(index) => Ok(Self(Method::Scan(index))),
                None => Self::regex(pattern),
            },
        }
    }

    /// The regex engine even for a known pattern: what the scanners are tested against.
    pub fn regex(pattern: &str) -> Result<Self> {
        let regex = Regex::new(pattern).map_err(|error| explain(pattern, &error))?;
        Ok(Self(Method::Match(Arc::new(regex))))
    }

    /// Calls `emit` with every pre-token of `text`, in order. Nothing is lost: text that the pattern does not match
    /// becomes a pre-token of its own.
    pub fn split<'t>(&self, text: &'t str, emit: &mut impl FnMut(&'t str)) -> Result<()> {
        match &self.0 {
            Method::Match(regex) => for_each_match(regex, text, |gap, pretoken| {
                for piece in [gap, pretoken] {
                    if !piece.is_empty() {
                        emit(piece);
                    }
                }
                Ok(())
            }),
            _ => self.split_strict(text, emit),
        }
    }

    /// The same, but text that the pattern does not match is an error: training would never see it.
    pub fn split_strict<'t>(&self, text: &'t str, emit: &mut impl FnMut(&'t str)) -> Result<()> {
        match &self.0 {
            Method::Whole if text.is_empty() => {}
            Method::Whole => emit(text),
            Method::Scan(index) => scan_by(*index, text, emit),
            Method::Match(regex) => for_each_match(regex, text, |gap, pretoken| {
                if !gap.is_empty() {
                    return Err(Error::Invalid(format!(
                        "the pre-tokenizer pattern drops text: it does not match {}. Training would never see this \
                         text; add an alternative that matches it, for example `|(?s:.)` at the end of the pattern.",
                        excerpt(gap)
                    )));
                }
                if !pretoken.is_empty() {
                    emit(pretoken);
                }
                Ok(())
            })?,
        }
        Ok(())
    }
}

/// Calls `visit` with every match and the text between it and the match before; at the end, with the rest and no match.
fn for_each_match<'t>(
    regex: &Regex,
    text: &'t str,
    mut visit: impl FnMut(&'t str, &'t str) -> Result<()>,
) -> Result<()> {
    let mut done = 0;
    for found in regex.find_iter(text) {
        let found = found.map_err(|error| {
            Error::Invalid(format!(
                "the pre-tokenizer pattern failed on the text {}: {}. Make the pattern simpler (nested repeats such as \
                 `(a+)+` take too many steps), or give the text in shorter lines.",
                excerpt(&text[done..]),
                lower_first(&error),
            ))
        })?;
        visit(&text[done..found.start()], &text[found.start()..found.end()])?;
        done = found.end();
    }
    visit(&text[done..], "")
}

/// The start of a text, quoted and escaped, short enough for an error message.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let shown: String = text.chars().take(LONGEST).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{shown:?}{more}")
}

/// An invalid pattern: the pattern, a caret under the place where the engine tells it, and the reason.
fn explain(pattern: &str, error: &fancy_regex::Error) -> Error {
    let (place, reason) = match error {
        fancy_regex::Error::ParseError(place, reason) => (Some(*place), lower_first(reason)),
        fancy_regex::Error::CompileError(error) => match &**error {
            CompileError::InnerError(inner) => match inner.syntax_error() {
                Some(syntax) => locate(pattern, syntax),
                None => (None, lower_first(inner)),
            },
            other => (None, lower_first(other)),
        },
        other => (None, lower_first(other)),
    };
    // Line breaks in the pattern are shown as escapes, so the caret is placed in the escaped text.
    let one_line = |part: &str| part.replace('\n', "\\n").replace('\r', "\\r");
    let caret = match place.and_then(|place| pattern.get(..place)) {
        Some(before) => format!("    {}^\n", " ".repeat(one_line(before).chars().count())),
        None => String::new(),
    };
    Error::Invalid(format!(
        "the pre-tokenizer pattern is not a valid regular expression:\n    {}\n{caret}{reason}",
        one_line(pattern)
    ))
}

/// The engine hands parts of a pattern to another one, whose errors count from the start of the part.
fn locate(pattern: &str, error: &regex_syntax::Error) -> (Option<usize>, String) {
    let (part, offset, reason) = match error {
        regex_syntax::Error::Parse(error) => {
            (error.pattern(), error.span().start.offset, lower_first(error.kind()))
        }
        regex_syntax::Error::Translate(error) => {
            (error.pattern(), error.span().start.offset, lower_first(error.kind()))
        }
        other => return (None, lower_first(other)),
    };
    // The part comes back with the names of its classes in lower case.
    let (lower, part_lower) = (pattern.to_ascii_lowercase(), part.to_ascii_lowercase());
    let mut places = lower.match_indices(&part_lower).map(|(start, _)| start + offset);
    match (places.next(), places.next()) {
        (Some(place), None) => (Some(place), reason),
        _ => (None, format!("in `{part}`: {reason}")),
    }
}

fn lower_first(message: &impl Display) -> String {
    let message = message.to_string();
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => message,
    }
}

/// What the known patterns differ in; [`Rules::end`] is the one scanner that reads it.
#[derive(Debug)]
struct Rules {
    contractions: Contractions,
    /// Characters of which one may stand before a word and belongs to it.
    prefix: Prefix,
    word: Word,
    /// How many numbers make a pre-token: 1, 3 or no limit.
    most_numbers: usize,
    /// ` ?` before numbers.
    space_before_numbers: bool,
    /// What may follow a run of symbols and belongs to it: `[\r\n/]*`.
    after_symbols: &'static [u8],
    /// `\s*[\r\n]+`: white space up to its last line end is a pre-token.
    cut_after_newlines: bool,
}

#[derive(Debug, PartialEq)]
enum Contractions {
    None,
    /// `'s|'t|...` is a pre-token, in lower case only.
    Alone,
    /// The same in any case.
    AloneAnyCase,
    /// In any case, and part of the word before it.
    AfterWord,
}

#[derive(Debug)]
enum Prefix {
    None,
    /// ` ?`
    Space,
    /// `[^\r\n\p{L}\p{N}]?`
    AnySymbol,
}

#[derive(Debug)]
enum Word {
    /// Upper case, then lower case, as gpt4o cuts `camelCase` and `HTMLPage`.
    Cased,
    /// A run of characters that have one of these flags.
    With(u8),
    /// A run of characters that have none of these flags.
    Without(u8),
}

/// `[^\s\p{L}\p{N}]` is what has none of these.
const NOT_SYMBOL: u8 = SPACE | LETTER | NUMBER;
/// `[^\r\n\p{L}\p{N}]` is what has none of these.
const NOT_PREFIX: u8 = NEWLINE | LETTER | NUMBER;
const CAN_START_WORD: u8 = UPPER | UNCASED | MARK;
const CAN_END_WORD: u8 = LOWER | UNCASED | MARK;

const GPT4O_RULES: Rules = Rules {
    contractions: Contractions::AfterWord,
    prefix: Prefix::AnySymbol,
    word: Word::Cased,
    most_numbers: 3,
    space_before_numbers: false,
    after_symbols: b"\r\n/",
    cut_after_newlines: true,
};
const GPT4_RULES: Rules = Rules {
    contractions: Contractions::AloneAnyCase,
    word: Word::With(LETTER),
    after_symbols: b"\r\n",
    ..GPT4O_RULES
};
const GPT2_RULES: Rules = Rules {
    contractions: Contractions::Alone,
    prefix: Prefix::Space,
    most_numbers: usize::MAX,
    space_before_numbers: true,
    after_symbols: b"",
    cut_after_newlines: false,
    ..GPT4_RULES
};
const WHITESPACE_RULES: Rules =
    Rules { contractions: Contractions::None, word: Word::Without(SPACE), ..GPT2_RULES };

const KNOWN: [(&str, Rules); 9] = [
    (GPT4O, GPT4O_RULES),
    (GPT4O_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT4O_RULES }),
    (GPT4, GPT4_RULES),
    (GPT4_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT4_RULES }),
    (GPT2, GPT2_RULES),
    (GPT2_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT2_RULES }),
    (WHITESPACE, WHITESPACE_RULES),
    (
        WHITESPACE_SINGLE_DIGITS,
        Rules {
            word: Word::Without(SPACE | NUMBER),
            most_numbers: 1,
            space_before_numbers: false,
            ..WHITESPACE_RULES
        },
    ),
    (
        NONE_SINGLE_DIGITS,
        Rules {
            prefix: Prefix::None,
            word: Word::Without(NUMBER),
            most_numbers: 1,
            space_before_numbers: false,
            ..WHITESPACE_RULES
        },
    ),
];

/// One scanner, compiled for every set of rules: with the rules known, it runs about a tenth faster.
fn scan_by<'t>(index: usize, text: &'t str, emit: &mut impl FnMut(&'t str)) {
    match index {
        0 => scan::<0>(text, emit),
        1 => scan::<1>(text, emit),
        2 => scan::<2>(text, emit),
        3 => scan::<3>(text, emit),
        4 => scan::<4>(text, emit),
        5 => scan::<5>(text, emit),
        6 => scan::<6>(text, emit),
        7 => scan::<7>(text, emit),
        _ => scan::<8>(text, emit),
    }
}

fn scan<'t, const INDEX: usize>(text: &'t str, emit: &mut impl FnMut(&'t str)) {
    let rules = const { &KNOWN[INDEX].1 };
    let scanner = Scanner { text: text.as_bytes(), classes: classes() };
    let mut start = 0;
    while start < text.len() {
        let end = rules.end(&scanner, start);
        emit(&text[start..end]);
        start = end;
    }
}

impl Rules {
    /// Where the pre-token that starts at `start` ends. The alternatives of the pattern are tried in its order.
    #[inline(always)]
    fn end(&self, scanner: &Scanner, start: usize) -> usize {
        let (first, length) = scanner.classes.at(scanner.text, start);
        let second_start = start + length;
        let second = scanner.flags(second_start);
        let is_space = scanner.text[start] == b' ';

        let alone = match self.contractions {
            Contractions::Alone => scanner.contraction(start, false),
            Contractions::AloneAnyCase => scanner.contraction(start, true),
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
            Word::Cased => scanner.cased_word(start, first, has_prefix.then_some(second_start)),
            Word::With(flags)
                if first & flags != 0 || has_prefix && second.is_some_and(|f| f & flags != 0) =>
            {
                Some(scanner.word_run(second_start, |f| f & flags != 0))
            }
            Word::Without(flags)
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

        if first & NOT_SYMBOL == 0 || is_space && second.is_some_and(|f| f & NOT_SYMBOL == 0) {
            let mut end = scanner.run(second_start, |f| f & NOT_SYMBOL == 0);
            while scanner.text.get(end).is_some_and(|byte| self.after_symbols.contains(byte)) {
                end += 1;
            }
            return end;
        }

        scanner.white_space(start, self.cut_after_newlines)
    }
}

struct Scanner<'t> {
    text: &'t [u8],
    classes: &'static Classes,
}

impl Scanner<'_> {
    /// Flags of the character at `at`; None at the end of the text.
    #[inline(always)]
    fn flags(&self, at: usize) -> Option<u8> {
        (at < self.text.len()).then(|| self.classes.at(self.text, at).0)
    }

    /// The end of the run of characters from `at` on that pass.
    #[inline(always)]
    fn run(&self, mut at: usize, passes: impl Fn(u8) -> bool) -> usize {
        while at < self.text.len() {
            let (flags, length) = self.classes.at(self.text, at);
            if !passes(flags) {
                break;
            }
            at += length;
        }
        at
    }

    /// The same for a run that takes lower-case letters: those of ASCII are passed eight at a time, since the
    /// processor cannot guess where a word ends and every wrong guess costs more than the letters do.
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

    /// Where the run of `[a-z]` from `at` on ends.
    #[inline(always)]
    fn after_lowercase(&self, mut at: usize) -> usize {
        const ONES: u64 = u64::MAX / 0xFF;
        while let Some(eight) = self.text.get(at..).and_then(<[u8]>::first_chunk) {
            let eight = u64::from_le_bytes(*eight);
            let low_bits = eight & (0x7F * ONES);
            let from_a = low_bits + (0x80 - u64::from(b'a')) * ONES;
            let after_z = low_bits + (0x7F - u64::from(b'z')) * ONES;
            // The top bit of each byte: 1 where the byte is not a lower-case letter.
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
            // The engine now tries `S* E+` with the prefix itself, a mark, as the word. It gets no further than that
            // mark: what comes after it was just seen to hold no E.
            Some(body)
        } else {
            (found.end > body).then_some(found.end)
        }
    }

    /// `S* E+` from `at`, or else `S+ E*`.
    #[inline(always)]
    fn cased_body(&self, at: usize) -> CasedBody {
        let mut end = at;
        // `S*` takes all it can; if no E comes after it, it gives back down to the last character that is also an E.
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

    /// `\s*[\r\n]+` where asked for, then `\s+(?!\S)|\s+`: white space before a word leaves its last character to it.
    #[inline(always)]
    fn white_space(&self, start: usize, cut_after_newlines: bool) -> usize {
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
        if cut_after_newlines && after_last_newline > start {
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
    use proptest::prelude::*;

    fn cut(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        pretokenizer.split_strict(text, &mut |piece| pieces.push(piece.to_owned())).unwrap();
        pieces
    }

    fn cut_by(pattern: &str, text: &str) -> Vec<String> {
        let pretokenizer = Pretokenizer::new(Some(pattern)).unwrap();
        assert!(matches!(pretokenizer.0, Method::Scan(_)), "no scanner for {pattern}");
        cut(&pretokenizer, text)
    }

    /// Every known pattern, the scanner against the engine.
    fn assert_scanners_agree_with_regex(text: &str) {
        for (pattern, _) in &KNOWN {
            thread_local! {
                static ENGINES: std::cell::RefCell<std::collections::HashMap<&'static str, Pretokenizer>> =
                    Default::default();
            }
            let engine = ENGINES.with_borrow_mut(|engines| {
                engines.entry(pattern).or_insert_with(|| Pretokenizer::regex(pattern).unwrap()).clone()
            });
            assert_eq!(cut_by(pattern, text), cut(&engine, text), "{text:?} by {pattern}");
        }
    }

    /// Pieces whose neighbourhood decides how a text is cut.
    const NASTY: &[&str] = &[
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\u{85}",
        "\u{A0}",
        "\u{2028}",
        "\u{2029}",
        "\u{3000}",
        "\u{200B}",
        "\u{B}",
        "\u{1F}",
        "\0",
        "a",
        "b",
        "A",
        "B",
        "ab",
        "AB",
        "Ab",
        "abcxyz",
        "azazazazazaz",
        "`a{z@",
        "s",
        "S",
        "t",
        "re",
        "RE",
        "Ve",
        "m",
        "lL",
        "d",
        "'",
        "'",
        "''",
        "'s",
        "'S",
        "'ſ",
        "ſ",
        "'t",
        "'re",
        "'vE",
        "'ll",
        "'l",
        "'D",
        "’s",
        "\"",
        "/",
        "//",
        "/\n",
        ".",
        "!",
        "?!",
        "-",
        "_",
        "$",
        "+",
        "\u{301}",
        "\u{301}",
        "\u{308}\u{20DD}",
        "\u{94D}",
        "\u{200D}",
        "\u{FE0F}",
        "ǅ",
        "ʰ",
        "ª",
        "Ⅷ",
        "ⅳ",
        "Ⓐ",
        "é",
        "É",
        "ß",
        "ı",
        "İ",
        "Я",
        "я",
        "Ωω",
        "क",
        "कि",
        "हिन्दी",
        "ไทย",
        "ก็",
        "日本",
        "ー",
        "ひら",
        "カ",
        "한국",
        "عرب",
        "ـ",
        "א",
        "ა",
        "Ა",
        "ꙮ",
        "0",
        "1",
        "12",
        "123",
        "1234567",
        "٣",
        "९९",
        "²",
        "½",
        "〇",
        "三",
        "𝟘",
        "😀",
        "👨‍👩‍👧",
        "🇫🇷",
        "𐐀",
        "𐐨",
        "\u{10FFFF}",
        "\u{FFFD}",
        "\u{E000}",
    ];

    fn nasty_text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(NASTY), 0..14).prop_map(|pieces| pieces.concat())
    }

    /// A few pieces only, so that the same ones meet in every order.
    fn narrow_text() -> impl Strategy<Value = String> {
        prop::sample::subsequence(NASTY, 4)
            .prop_flat_map(|alphabet| prop::collection::vec(prop::sample::select(alphabet), 0..12))
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..Default::default() })]
        #[test]
        fn scanners_agree_on_nasty_text(text in nasty_text()) {
            assert_scanners_agree_with_regex(&text);
        }

        #[test]
        fn scanners_agree_on_few_pieces(text in narrow_text()) {
            assert_scanners_agree_with_regex(&text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]
        #[test]
        fn scanners_agree_on_any_text(text in any::<String>()) {
            assert_scanners_agree_with_regex(&text);
        }
    }

    #[test]
    fn scanners_agree_on_every_short_text() {
        let pieces = [" ", "\n", "\r", "\t", "a", "A", "'", "s", "ſ", "/", "!", "\u{301}", "ก", "ǅ", "1"];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in ["", " ", "a", "A", "\n", "\u{301}", "s"] {
                        assert_scanners_agree_with_regex(&[first, second, third, fourth].concat());
                    }
                }
            }
        }
    }

    #[test]
    fn gpt4o_cuts() {
        for (text, pieces) in [
            ("Hello  world", vec!["Hello", " ", " world"]),
            ("HTMLPage camelCase", vec!["HTMLPage", " camel", "Case"]),
            ("It's THEY'RE x'Sy", vec!["It's", " THEY'RE", " x'S", "y"]),
            ("a'ſb", vec!["a'ſ", "b"]),
            ("'s", vec!["'s"]),
            ("12345", vec!["123", "45"]),
            ("a/\n/b", vec!["a", "/\n/", "b"]),
            ("a \r\n \n  b", vec!["a", " \r\n \n", " ", " b"]),
            ("a  ", vec!["a", "  "]),
            ("\u{301}AB", vec!["\u{301}", "AB"]),
            ("\u{301}Ab", vec!["\u{301}Ab"]),
            ("ABกCD", vec!["ABก", "CD"]),
            ("हिन्दी भाषा।", vec!["हिन्दी", " भाषा", "।"]),
            ("日本語です。", vec!["日本語です", "。"]),
            ("", vec![]),
        ] {
            assert_eq!(cut_by(GPT4O, text), pieces, "{text:?}");
        }
    }

    #[test]
    fn other_presets_cut() {
        assert_eq!(cut_by(GPT4, "I'Ma Ab12\r\n\n x"), ["I", "'M", "a", " Ab", "12", "\r\n\n", " x"]);
        assert_eq!(cut_by(GPT2, "I'm i'M  12345!\n"), ["I", "'m", " i", "'", "M", " ", " 12345", "!", "\n"]);
        assert_eq!(cut_by(WHITESPACE, "a1!  b\t\tc"), ["a1!", " ", " b", "\t", "\t", "c"]);
    }

    #[test]
    fn single_digits_stand_alone() {
        assert_eq!(cut_by(GPT4O_SINGLE_DIGITS, "in 1999"), ["in", " ", "1", "9", "9", "9"]);
        assert_eq!(cut_by(GPT4_SINGLE_DIGITS, "in 1९"), ["in", " ", "1", "९"]);
        assert_eq!(cut_by(GPT2_SINGLE_DIGITS, "in 19"), ["in", " 1", "9"]);
        assert_eq!(cut_by(WHITESPACE_SINGLE_DIGITS, "in a1b  2"), ["in", " a", "1", "b", " ", " ", "2"]);
        assert_eq!(cut_by(NONE_SINGLE_DIGITS, "in a 12"), ["in a ", "1", "2"]);
    }

    #[test]
    fn no_pattern_keeps_the_text_whole() {
        let whole = Pretokenizer::new(None).unwrap();
        assert_eq!(cut(&whole, "a b\nc"), ["a b\nc"]);
        assert!(cut(&whole, "").is_empty());
    }

    #[test]
    fn presets_are_the_known_patterns() {
        let patterns =
            PRESETS.iter().flat_map(|preset| preset.pattern.into_iter().chain([preset.single_digits]));
        assert!(patterns.eq(KNOWN.iter().map(|(pattern, _)| *pattern)));
    }

    #[test]
    fn text_between_matches_is_kept_or_refused() {
        let letters = Pretokenizer::new(Some(r"\p{L}+")).unwrap();
        let mut pieces = Vec::new();
        letters.split("..ab, cd!", &mut |piece| pieces.push(piece)).unwrap();
        assert_eq!(pieces, ["..", "ab", ", ", "cd", "!"]);

        let message = letters.split_strict("ab, cd", &mut |_| ()).unwrap_err().to_string();
        assert!(message.contains(r#"does not match ", ""#), "{message}");
    }

    #[test]
    fn empty_matches_make_no_pretoken() {
        let stars = Pretokenizer::new(Some("a*")).unwrap();
        let mut pieces = Vec::new();
        stars.split("aab", &mut |piece| pieces.push(piece)).unwrap();
        assert_eq!(pieces, ["aa", "b"]);
        assert!(stars.split_strict("aab", &mut |_| ()).is_err());
    }

    #[test]
    fn an_invalid_pattern_is_shown_with_the_place() {
        for (pattern, shown) in [
            ("a(b", "    a(b\n       ^\n"),
            ("ab|[a-", "    ab|[a-\n          ^\n"),
            (r"é+|\p{Nonsense}", "    é+|\\p{Nonsense}\n       ^\n"),
            ("a\n(?<", "    a\\n(?<\n        ^\n"),
            (r"(?!a)\p{Nonsense}+", "    (?!a)\\p{Nonsense}+\n         ^\n"),
        ] {
            let message = Pretokenizer::new(Some(pattern)).unwrap_err().to_string();
            assert!(message.contains(shown), "{message}");
        }
    }

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

    #[test]
    fn too_much_back_tracking_is_an_error() {
        let slow = Pretokenizer::new(Some("(a|b|ab)*(?=c)|.")).unwrap();
        let message = slow.split(&"ab".repeat(60), &mut |_| ()).unwrap_err().to_string();
        assert!(message.contains("Make the pattern simpler"), "{message}");
    }
}
