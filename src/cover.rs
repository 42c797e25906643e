//! Whether a pattern matches all text. Some readers of a pattern drop what it does not match.

use crate::split::Pretokenizer;

/// Above this, characters are tried alone: by then every kind of character has been seen among neighbours.
const TRIED_WITH_NEIGHBOURS: u32 = 0x0800;

/// A text that the pattern leaves a part of unmatched, if one is found: every character is tried alone, and
/// those of the first scripts between others. (A pattern without look-around that matches every character
/// alone matches all text, as a match can begin anywhere.)
pub fn first_unmatched(pretokenizer: &Pretokenizer) -> Option<String> {
    let drops = |text: &String| pretokenizer.split_strict(text, &mut |_| {}).is_err();
    ('\0'..=char::MAX).find_map(|c| {
        let alone = c.to_string();
        if c as u32 >= TRIED_WITH_NEIGHBOURS {
            return Some(alone).filter(drops);
        }
        [alone, format!("{c}a"), format!("a{c} "), format!(" {c}1"), format!("1{c}\n")]
            .into_iter()
            .find(drops)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_dropped() {
        let first = |pattern| first_unmatched(&Pretokenizer::regex(pattern).unwrap());
        assert_eq!(first(r"\S+|\s+"), None);
        assert_eq!(first(r"\S+|\s+(?!\S)|\s+"), None);
        assert_eq!(first(r"\w+|[^\w\s]+").as_deref(), Some("\t"));
        assert_eq!(first(r"\p{L}+|\P{L}(?!a)").as_deref(), Some("\0a"));
    }
}
