//! The error about an invalid pattern.
//!
//! In: the pattern and the engine's error. Out: one error that shows the pattern, a caret under the place, and the reason.

use std::fmt::Display;

use fancy_regex::CompileError;

use crate::error::Error;

/// `a(b` ->
///
/// ```text
/// the pre-tokenizer pattern is not a valid regular expression:
///     a(b
///        ^
/// ```
///
/// The caret is left out if the engine does not report a position.
pub fn invalid(pattern: &str, error: &fancy_regex::Error) -> Error {
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

/// The engine passes parts of a pattern to another one, whose positions count from the start of the part.
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
    // The error has the part with its class names in lower case.
    let (lower, part_lower) = (pattern.to_ascii_lowercase(), part.to_ascii_lowercase());
    let mut places = lower.match_indices(&part_lower).map(|(start, _)| start + offset);
    match (places.next(), places.next()) {
        (Some(place), None) => (Some(place), reason),
        _ => (None, format!("in `{part}`: {reason}")),
    }
}

pub fn lower_first(message: &impl Display) -> String {
    let message = message.to_string();
    let mut characters = message.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => message,
    }
}

/// The start of a text, quoted and escaped, short enough for an error message.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let shown: String = text.chars().take(LONGEST).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{shown:?}{more}")
}
