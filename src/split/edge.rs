//! Where to cut a text that is too long for memory, so that its parts have the pre-tokens of the whole.
//!
//! In: the beginning of a text. Out: the last edge between two pre-tokens that stays one whatever follows.
//!
//! The known patterns never look behind. Ahead, a match depends only on the white space that follows, or on the few
//! characters of `'re`. So all but the last few pre-tokens of a beginning are final. The edge must also end a word as words
//! are counted, both sides must normalise separately as they do together, and no white space may follow it, since a run of
//! white space belongs together.

use std::collections::VecDeque;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

use super::{Method, Pretokenizer};
use crate::check_in::CheckIn;
use crate::error::Result;
use crate::unicode::{SPACE, WORD, classes};

/// How many pre-tokens at the end may change when more text follows: white space before and after a line end, or a word
/// and what may become its `'re`, and the next match in each case.
const FEW: usize = 4;

/// None if there is no such place, or if the pattern is not a known one.
pub fn last_edge(pretokenizer: &Pretokenizer, text: &str, check_in: &mut CheckIn) -> Result<Option<usize>> {
    let (Method::Scan(_) | Method::Join(..)) = pretokenizer.0 else {
        return Ok(None);
    };
    let mut last: VecDeque<usize> = VecDeque::with_capacity(FEW + 1);
    let mut found = None;
    pretokenizer.split(text, check_in, &mut |pretoken, _| {
        last.push_back(pretoken.start);
        if last.len() > FEW {
            found = last.pop_front().filter(|edge| is_firm(text, *edge)).or(found);
        }
    })?;
    Ok(found)
}

fn is_firm(text: &str, edge: usize) -> bool {
    let (before, after) = text.split_at(edge);
    let (Some(before), Some(after)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    let kind = |character| classes().of(character) & (WORD | SPACE);
    kind(before) & SPACE == 0
        && kind(before) != kind(after)
        && canonical_combining_class(after) == 0
        && is_nfc_quick(std::iter::once(after)) == IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{CL100K, PRESETS, TIKTOKEN_GPT2, phrases};
    use crate::unicode::to_nfc;
    use proptest::prelude::*;

    fn pretokens(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
        let text = to_nfc(text, &mut CheckIn::never()).unwrap();
        let mut found = vec![];
        let mut keep = |range: std::ops::Range<usize>, _: &mut CheckIn| found.push(text[range].to_owned());
        pretokenizer.split(&text, &mut CheckIn::never(), &mut keep).unwrap();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn whatever_follows_the_parts_have_the_pretokens_of_the_whole(
            beginning in "[a-zA-Z'sStTrReE \t\r\u{a0}\u{3000}!?./0-9éß中日ʼ\u{301}\u{316}\u{1100}\u{1161}\u{11a8}ไไทย।]{0,60}",
            rest in "[a-zA-Z'sStTrReE \t\r\u{a0}!?./0-9é中\u{301}\u{316}\u{1161}\u{11a8}]{0,12}",
        ) {
            let known = PRESETS.iter().flat_map(|preset| [preset.pattern, Some(preset.single_digits)]);
            let known: Vec<&str> = known.flatten().chain([CL100K, TIKTOKEN_GPT2]).collect();
            let phrases: Vec<String> = known.iter().filter_map(|words| phrases::pattern(words, 3)).collect();
            for pattern in known.into_iter().chain(phrases.iter().map(String::as_str)) {
                let pretokenizer = Pretokenizer::new(Some(pattern)).unwrap();
                for beginning in [beginning.clone(), to_nfc(&beginning, &mut CheckIn::never()).unwrap().into_owned()] {
                    let Some(edge) = last_edge(&pretokenizer, &beginning, &mut CheckIn::never()).unwrap() else {
                        continue;
                    };
                    if to_nfc(&beginning, &mut CheckIn::never()).unwrap() != beginning {
                        continue; // text is normalised before it is cut
                    }
                    let whole = format!("{beginning}{rest}");
                    let (head, tail) = whole.split_at(edge);
                    let parts = [pretokens(&pretokenizer, head), pretokens(&pretokenizer, tail)].concat();
                    prop_assert_eq!(parts, pretokens(&pretokenizer, &whole), "{:?} {:?}", pattern, edge);
                }
            }
        }
    }

    #[test]
    fn there_is_an_edge_in_text_of_every_kind() {
        let gpt4o = Pretokenizer::new(PRESETS[0].pattern).unwrap();
        let edge = |text: &str| last_edge(&gpt4o, text, &mut CheckIn::never()).unwrap();
        assert_eq!(edge("one two three four five six"), Some("one".len()));
        assert_eq!(edge("一二，三四，五六，七八，九十，十一"), Some("一二".len()));
        assert_eq!(edge(&"a".repeat(1000)), None);
        assert_eq!(edge(""), None);
        let own = Pretokenizer::new(Some(r"\w+|\W+")).unwrap();
        assert_eq!(last_edge(&own, "one two three four five six", &mut CheckIn::never()).unwrap(), None);
    }
}
