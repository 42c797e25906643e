//! Cutting text into pre-tokens.
//!
//! In: a pattern and a text, ` ?\S+|...` and `to be`. Out: the ranges of its pre-tokens, in order: 0..2 `to`, 2..5 ` be`.
//!
//! A pre-tokenizer is described by ONE regular expression, whose matches from left to right are the pre-tokens. Some in the
//! Hugging Face world take several steps: `A(?then)B` cuts by A, then each piece by B; text that a step does not match
//! stays as a piece.
//! The common patterns have hand-written scanners ([`rules`], [`scanner`]), many times faster than a regex engine; every
//! other pattern goes to the engine. Tests prove the two equal.

mod blocks;
pub mod cover;
pub mod edge;
mod pattern_error;
pub mod phrases;
mod rules;
mod scanner;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use fancy_regex::Regex;

use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use pattern_error::{excerpt, lower_first};
use rules::KNOWN;

/// A pre-tokenizer known by name: its pattern, and the variant in which every number character stands alone.
pub struct Preset {
    pub name: &'static str,
    /// None: the whole text is one pre-token.
    pub pattern: Option<&'static str>,
    pub single_digits: &'static str,
}

// The patterns of gpt4o (o200k_base), gpt4 (cl100k_base) and gpt2 are those that tiktoken publishes;
// whitespace is the rule of the parity-aware BPE paper. Each takes its rule for numbers as a parameter.
// qwen35 is that of Qwen 3.5 as llama.cpp writes it: the pattern of llama.cpp that keeps marks in their words.
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
/// gpt4 as in tiktoken's current cl100k_base: white space at the end of a text stays whole, even with line ends.
pub const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
);
/// gpt2 as in tiktoken's current gpt2, r50k_base and p50k_base: the same cuts in another spelling.
pub const TIKTOKEN_GPT2: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
/// It already cuts numbers one by one. (Qwen's own files say `(?i:'s|...)`, which also matches the long s, U+017F.)
pub const QWEN35: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
pub const WHITESPACE: &str = r" ?\S+|\s+(?!\S)|\s+";
pub const WHITESPACE_SINGLE_DIGITS: &str = r"\p{N}| ?[^\s\p{N}]+|\s+(?!\S)|\s+";
pub const NONE_SINGLE_DIGITS: &str = r"\p{N}|[^\p{N}]+";

pub const PRESETS: [Preset; 6] = [
    Preset { name: "gpt4o", pattern: Some(GPT4O), single_digits: GPT4O_SINGLE_DIGITS },
    Preset { name: "gpt4", pattern: Some(GPT4), single_digits: GPT4_SINGLE_DIGITS },
    Preset { name: "qwen35", pattern: Some(QWEN35), single_digits: QWEN35 },
    Preset { name: "gpt2", pattern: Some(GPT2), single_digits: GPT2_SINGLE_DIGITS },
    Preset { name: "whitespace", pattern: Some(WHITESPACE), single_digits: WHITESPACE_SINGLE_DIGITS },
    Preset { name: "none", pattern: None, single_digits: NONE_SINGLE_DIGITS },
];

/// Separates the patterns of a pre-tokenizer with several steps; no valid regular expression contains it.
pub const THEN: &str = "(?then)";

/// Cuts text into pre-tokens. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pretokenizer(Method);

#[derive(Clone, Debug)]
enum Method {
    Whole,
    /// By these rules in [`KNOWN`].
    Scan(usize),
    /// In phrases: words by these rules in [`KNOWN`], and the most words in a phrase.
    Join(usize, usize),
    Match(Arc<Regex>),
    /// One after the other, each on the pieces of the previous one.
    Steps(Arc<[Pretokenizer]>),
}

impl Pretokenizer {
    /// `None` keeps every text whole. A known pattern has a scanner; any other runs in the regex engine.
    pub fn new(pattern: Option<&str>) -> Result<Self> {
        match pattern {
            None => Ok(Self(Method::Whole)),
            Some(steps) if steps.contains(THEN) => {
                let steps: Result<Vec<_>> = steps.split(THEN).map(|step| Self::new(Some(step))).collect();
                Ok(Self(Method::Steps(steps?.into())))
            }
            Some(pattern) => {
                if let Some(index) = scanner_of(pattern) {
                    return Ok(Self(Method::Scan(index)));
                }
                let Some((words, most)) = phrases::known(pattern) else { return Self::regex(pattern) };
                let index = scanner_of(words).expect("words are cut by a known pattern");
                Ok(Self(Method::Join(index, most)))
            }
        }
    }

    /// The regex engine even for a known pattern, to test the scanners against.
    pub fn regex(pattern: &str) -> Result<Self> {
        let regex = Regex::new(pattern).map_err(|error| pattern_error::invalid(pattern, &error))?;
        Ok(Self(Method::Match(Arc::new(regex))))
    }

    /// Calls `emit` with the range of every pre-token of `text`, in order. Nothing is lost: text that the pattern does not
    /// match becomes a pre-token of its own.
    pub fn split(
        &self,
        text: &str,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
    ) -> Result<()> {
        let Method::Steps(steps) = &self.0 else {
            return self.split_once(text, check_in, emit);
        };
        let whole = 0..text.len();
        let mut pieces = vec![whole];
        for step in steps.iter() {
            let mut smaller = Vec::with_capacity(pieces.len());
            for piece in pieces {
                let start = piece.start;
                let mut keep = |part: Range<usize>, _: &mut CheckIn| {
                    smaller.push(start + part.start..start + part.end);
                };
                step.split_once(&text[piece], check_in, &mut keep)?;
            }
            pieces = smaller;
        }
        pieces.into_iter().for_each(|piece| emit(piece, check_in));
        Ok(())
    }

    /// By one pattern.
    fn split_once(
        &self,
        text: &str,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
    ) -> Result<()> {
        match &self.0 {
            Method::Match(regex) => for_each_match(regex, text, |gap, pretoken| {
                for piece in [gap, pretoken] {
                    if !piece.is_empty() {
                        emit(piece, check_in);
                    }
                }
                check_in.now()
            }),
            Method::Whole if text.is_empty() => Ok(()),
            Method::Whole => {
                emit(0..text.len(), check_in);
                check_in.now()
            }
            Method::Scan(index) => scanner::scan_by(*index, text, check_in, emit),
            Method::Join(index, most) => phrases::split(*index, *most, text, check_in, emit),
            Method::Steps(_) => unreachable!("a step is one pattern"),
        }
    }

    /// The same, but text that the pattern does not match is an error: training would never see it. Patterns with several
    /// steps are exempt, since no reader of them loses such text.
    pub fn split_strict(
        &self,
        text: &str,
        check_in: &mut CheckIn,
        emit: &mut impl FnMut(Range<usize>, &mut CheckIn),
    ) -> Result<()> {
        match &self.0 {
            Method::Match(regex) => for_each_match(regex, text, |gap, pretoken| {
                if !gap.is_empty() {
                    return Err(Error::Invalid(format!(
                        "the pre-tokenizer pattern drops text: it does not match {}. Training would never see this \
                         text; add an alternative that matches it, for example `|(?s:.)` at the end of the pattern.",
                        excerpt(&text[gap])
                    )));
                }
                if !pretoken.is_empty() {
                    emit(pretoken, check_in);
                }
                check_in.now()
            }),
            _ => self.split(text, check_in, emit),
        }
    }
}

/// The index of a pattern in [`KNOWN`].
fn scanner_of(pattern: &str) -> Option<usize> {
    KNOWN.iter().position(|(known, _)| *known == pattern)
}

/// Calls `visit` for every match with the gap before it and the match; at the end, with the rest and no match.
fn for_each_match(
    regex: &Regex,
    text: &str,
    mut visit: impl FnMut(Range<usize>, Range<usize>) -> Result<()>,
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
        visit(done..found.start(), found.range())?;
        done = found.end();
    }
    visit(done..text.len(), text.len()..text.len())
}
