use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn cut(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    pretokenizer
        .split_strict(text, &mut CheckIn::never(), &mut |piece, _| pieces.push(text[piece].to_owned()))
        .unwrap();
    pieces
}

fn cut_by(pattern: &str, text: &str) -> Vec<String> {
    let pretokenizer = Pretokenizer::new(Some(pattern)).unwrap();
    assert!(matches!(pretokenizer.0, Method::Scan(_)), "no scanner for {pattern}");
    cut(&pretokenizer, text)
}

/// The regex engine for a pattern, made once.
fn engine(pattern: &str) -> Pretokenizer {
    thread_local! {
        static ENGINES: std::cell::RefCell<std::collections::HashMap<String, Pretokenizer>> = Default::default();
    }
    ENGINES.with_borrow_mut(|engines| {
        let made = || Pretokenizer::regex(pattern).unwrap();
        engines.entry(pattern.to_owned()).or_insert_with(made).clone()
    })
}

/// Every known pattern, the scanner against the engine.
fn assert_scanners_agree_with_regex(text: &str) {
    for (pattern, _) in &KNOWN {
        assert_eq!(cut_by(pattern, text), cut(&engine(pattern), text), "{text:?} by {pattern}");
    }
}

/// Every pattern of phrases: joined words against the engine. Cutting each phrase gives the words of the text, so counts of
/// phrases contain counts of words.
fn assert_phrases_are_words_joined(text: &str) {
    for (words, _) in &KNOWN {
        let Some(pattern) = phrases::pattern(words, 3) else { continue };
        let joined = Pretokenizer::new(Some(&pattern)).unwrap();
        assert!(matches!(joined.0, Method::Join(_, 3)), "no scanner for {pattern}");
        let joined = cut(&joined, text);
        assert_eq!(joined, cut(&engine(&pattern), text), "{text:?} by {pattern}");
        let again: Vec<String> = joined.iter().flat_map(|phrase| cut_by(words, phrase)).collect();
        assert_eq!(again, cut_by(words, text), "{text:?} by {words}");
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

/// Enough for several blocks of ASCII, with an occasional character that ends one.
fn long_text() -> impl Strategy<Value = String> {
    let ascii: Vec<&str> = NASTY.iter().copied().filter(|piece| piece.is_ascii()).collect();
    let piece = prop_oneof![30 => prop::sample::select(ascii), 1 => prop::sample::select(NASTY)];
    prop::collection::vec(piece, 20..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn scanners_agree_on_nasty_text(text in nasty_text()) {
        assert_scanners_agree_with_regex(&text);
        assert_phrases_are_words_joined(&text);
    }

    #[test]
    fn scanners_agree_on_few_pieces(text in narrow_text()) {
        assert_scanners_agree_with_regex(&text);
        assert_phrases_are_words_joined(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]
    #[test]
    fn scanners_agree_on_long_text(text in long_text()) {
        assert_scanners_agree_with_regex(&text);
    }

    #[test]
    fn scanners_agree_on_any_text(text in any::<String>()) {
        assert_scanners_agree_with_regex(&text);
        assert_phrases_are_words_joined(&text);
    }
}

#[test]
fn scanners_agree_on_every_word_of_english() {
    // A word and what follows it, with enough text behind it to be read sixteen bytes at a time.
    for length in 0..18 {
        for before in ["", " ", "  ", "\n", "'", "A", "é"] {
            for next in [
                "", " ", ".", "'s", "'x", "A", "a'", "1", "é", "\u{301}", "ſ", "\r\n", "\0", "{", "`",
                "\u{7F}",
            ] {
                let word = [before, &"z".repeat(length), next].concat();
                assert_scanners_agree_with_regex(&word);
                assert_scanners_agree_with_regex(&[&word, " and sixteen more bytes"].concat());
            }
        }
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
fn scanners_agree_wherever_a_block_ends() {
    let pieces = [" ", "\n", "a", "A", "'s", "/", "!", "é", "1"];
    for length in (15..18).chain(62..66) {
        let filler = "word ".repeat(length)[..length].to_owned();
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let text = [&filler, first, second, third, " and more than sixteen bytes"].concat();
                    assert_scanners_agree_with_regex(&text);
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
fn qwen35_cuts() {
    for (text, pieces) in [
        ("हिन्दी में १२।", vec!["हिन्दी", " में", " ", "१", "२", "।"]),
        ("ภาษาไทย ก็", vec!["ภาษาไทย", " ก็"]),
        ("\u{301}a !\u{301} !!\u{301}", vec!["\u{301}a", " !", "\u{301}", " !!", "\u{301}"]),
        ("1\u{301}", vec!["1", "\u{301}"]),
        ("I'LL x'ſa 'S", vec!["I", "'LL", " x", "'ſa", " '", "S"]),
        ("HTMLPage/\n\n/b \n  c", vec!["HTMLPage", "/\n\n", "/b", " \n", " ", " c"]),
    ] {
        assert_eq!(cut_by(QWEN35, text), pieces, "{text:?}");
    }
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
    let patterns = PRESETS.iter().flat_map(|preset| preset.pattern.into_iter().chain([preset.single_digits]));
    let named: HashSet<&str> = patterns.chain([CL100K, TIKTOKEN_GPT2]).collect();
    assert_eq!(named.len(), KNOWN.len());
    assert_eq!(named, KNOWN.iter().map(|(pattern, _)| *pattern).collect());
}

#[test]
fn a_long_run_of_spaces_needs_no_stack() {
    let text = " ".repeat(1 << 20) + "x";
    for pattern in [CL100K, TIKTOKEN_GPT2] {
        assert_eq!(cut_by(pattern, &text).len(), 2);
    }
    assert_eq!(cut_by(CL100K, "a \n "), ["a", " \n "]);
    assert_eq!(cut_by(GPT4, "a \n "), ["a", " \n", " "]);
}

#[test]
fn text_between_matches_is_kept_or_refused() {
    let letters = Pretokenizer::new(Some(r"\p{L}+")).unwrap();
    let mut pieces = Vec::new();
    letters.split("..ab, cd!", &mut CheckIn::never(), &mut |piece, _| pieces.push(piece)).unwrap();
    assert_eq!(pieces, [0..2, 2..4, 4..6, 6..8, 8..9]);

    let message =
        letters.split_strict("ab, cd", &mut CheckIn::never(), &mut |_, _| ()).unwrap_err().to_string();
    assert!(message.contains(r#"does not match ", ""#), "{message}");
}

#[test]
fn empty_matches_make_no_pretoken() {
    let stars = Pretokenizer::new(Some("a*")).unwrap();
    let mut pieces = Vec::new();
    stars.split("aab", &mut CheckIn::never(), &mut |piece, _| pieces.push(piece)).unwrap();
    assert_eq!(pieces, [0..2, 2..3]);
    assert!(stars.split_strict("aab", &mut CheckIn::never(), &mut |_, _| ()).is_err());
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
fn too_much_back_tracking_is_an_error() {
    let slow = Pretokenizer::new(Some("(a|b|ab)*(?=c)|.")).unwrap();
    let message =
        slow.split(&"ab".repeat(60), &mut CheckIn::never(), &mut |_, _| ()).unwrap_err().to_string();
    assert!(message.contains("Make the pattern simpler"), "{message}");
}

#[test]
fn steps_cut_what_the_ones_before_them_left() {
    let cut = |pattern: &str, text: &str| cut(&Pretokenizer::new(Some(pattern)).unwrap(), text);
    assert_eq!(cut(r"\p{N}(?then)\s+", "ab 12 c"), ["ab", " ", "1", "2", " ", "c"]);
    // The end of a piece is the end of a text to the next step: `\s+(?!\S)` takes both spaces before the number.
    let numbers_first = format!(r"\p{{N}}{THEN}{GPT2}");
    assert_eq!(cut(&numbers_first, "a  1"), ["a", "  ", "1"]);
    assert_eq!(cut(GPT2, "a  1"), ["a", " ", " 1"]);
    assert!(cut(&numbers_first, "").is_empty());
    assert!(Pretokenizer::new(Some("a(?then)(")).is_err());
}
