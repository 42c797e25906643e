//! Whether a pattern matches all text. Some readers of a pattern drop what it does not match.
//!
//! In: a pre-tokenizer. Out: a text of which it would lose a part, or none.

use super::Pretokenizer;
use crate::check_in::CheckIn;
use crate::error::Result;

/// From here on, characters are tried only on their own: every kind of character occurs before this one.
const TRIED_AMONG_OTHERS: char = '\u{800}';

/// A text that the pattern does not match completely, if one is found: every character is tried on its own, and those of
/// the first scripts between others. (A pattern without lookaround that matches every single character matches all text,
/// since a match can begin anywhere.)
pub fn first_unmatched(pretokenizer: &Pretokenizer, check_in: &mut CheckIn) -> Result<Option<String>> {
    let alone = ('\0'..=char::MAX).map(|c| c.to_string());
    let among = |c: char| [format!("{c}a"), format!("a{c} "), format!(" {c}1"), format!("1{c}\n")];
    for text in alone.chain(('\0'..TRIED_AMONG_OTHERS).flat_map(among)) {
        check_in.now()?;
        if pretokenizer.split_strict(&text, &mut CheckIn::never(), &mut |_, _| ()).is_err() {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_dropped() {
        let first = |pattern| {
            let pretokenizer = Pretokenizer::regex(pattern).unwrap();
            first_unmatched(&pretokenizer, &mut CheckIn::never()).unwrap()
        };
        assert_eq!(first(r"\w+|[^\w\s]+").as_deref(), Some("\t"));
        assert_eq!(first(r"[^\u{7FF}]").as_deref(), Some("\u{7FF}"));
    }
}
