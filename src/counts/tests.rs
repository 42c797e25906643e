use super::*;
use crate::split::{GPT4O, WHITESPACE};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn counter(pattern: Option<&str>) -> Counter {
    Counter::new(Pretokenizer::new(pattern).unwrap(), false, false, true)
}

fn listed(words: &WordCounts) -> Vec<(Vec<u8>, u64)> {
    words.counted().iter().map(|(word, count)| (word.to_vec(), count)).collect()
}

fn strings<'s>(bytes: &'s [u8], offsets: &'s [i64]) -> Strings<'s> {
    Strings::new(bytes, offsets).unwrap()
}

fn counted(counter: Counter) -> Vec<(String, u64)> {
    let (words, _) = counter.finish();
    listed(&words).into_iter().map(|(bytes, count)| (String::from_utf8(bytes).unwrap(), count)).collect()
}

fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(pretoken, count)| ((*pretoken).to_owned(), *count)).collect()
}

proptest! {
    #[test]
    fn the_sum_of_sorted_counts_is_that_of_their_words(
        lists in prop::collection::vec(prop::collection::btree_map("[a\0é]{0,9}", 1u64..9, 0..20), 0..5)
    ) {
        let mut expected: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut given = Vec::new();
        for list in &lists {
            for (word, count) in list {
                *expected.entry(word.as_bytes().to_vec()).or_default() += count;
            }
            given.push(WordCounts { words: list.keys().collect(), counts: list.values().copied().collect() });
        }
        let given: Vec<_> = given.iter().map(WordCounts::counted).collect();
        let summed = sum::sum(&given, &mut CheckIn::never()).unwrap();
        prop_assert_eq!(listed(&summed), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_sum_of_what_is_not_sorted_is_an_error() {
    let list = |words: &[&str]| WordCounts { words: words.iter().collect(), counts: vec![1; words.len()] };
    let (unsorted, other) = (list(&["a", "c", "b"]), list(&["a", "d"]));
    let refused = sum::sum(&[unsorted.counted(), other.counted()], &mut CheckIn::never());
    assert!(matches!(refused, Err(Error::Invalid(message)) if message.starts_with("\"b\" comes after")));
}

#[test]
fn a_sum_beyond_all_numbers_is_an_error() {
    let words = WordCounts { words: ["a"].into_iter().collect(), counts: vec![u64::MAX] };
    let twice = [words.counted(), words.counted()];
    assert!(matches!(sum::sum(&twice, &mut CheckIn::never()), Err(Error::Overflow)));
}

#[test]
fn lines_are_texts_without_their_ends() {
    let mut counter = counter(Some(GPT4O));
    counter.add_lines(b"a b\r\n\n b b\na", &mut CheckIn::never()).unwrap();
    assert_eq!(counter.totals, Totals { lines: 4, bytes: 8, chars: 8, words: 5, replaced: 0 });
    assert_eq!(counted(counter), pairs(&[(" b", 3), ("a", 2)]));
}

#[test]
fn texts_may_hold_line_ends() {
    let mut counter = counter(Some(WHITESPACE));
    counter.add_texts(strings("é\nfoo bar".as_bytes(), &[0, 6, 6, 10]), None, &mut CheckIn::never()).unwrap();
    assert_eq!(counter.totals, Totals { lines: 3, bytes: 10, chars: 9, words: 3, replaced: 0 });
    assert_eq!(counted(counter), pairs(&[("\n", 1), (" bar", 1), ("foo", 1), ("é", 1)]));
}

#[test]
fn offsets_outside_the_data_are_refused() {
    for offsets in [[0, 9], [-1, 2], [2, 1]] {
        let message = Strings::new(b"abc", &offsets).err().unwrap().to_string();
        assert!(message.contains("offsets must rise"), "{message}");
    }
    assert_eq!(strings(b"", &[]).count(), 0);
}

#[test]
fn text_that_is_not_utf8_is_located() {
    let error = counter(None).add_lines(b"ab\ncd\xFFe\n", &mut CheckIn::never()).unwrap_err();
    assert!(matches!(error, Error::NotUtf8 { line: 1, column: 2 }), "{error:?}");
    let error =
        counter(None).add_texts(strings(b"ab\n\xFF", &[0, 1, 4]), None, &mut CheckIn::never()).unwrap_err();
    assert!(matches!(error, Error::NotUtf8 { line: 1, column: 2 }), "{error:?}");
    // A character split between two texts is broken in both.
    let error = counter(None)
        .add_texts(strings("é".as_bytes(), &[0, 1, 2]), None, &mut CheckIn::never())
        .unwrap_err();
    assert!(matches!(error, Error::NotUtf8 { line: 0, column: 0 }), "{error:?}");
}

#[test]
fn text_that_is_not_utf8_is_replaced_when_asked() {
    let mut counter = Counter::new(Pretokenizer::new(None).unwrap(), false, true, false);
    counter.add_lines(b"a\xFF\xFEb\n\xE2\x82\nc", &mut CheckIn::never()).unwrap();
    assert_eq!(counter.totals, Totals { lines: 3, bytes: 12, chars: 6, words: 0, replaced: 3 });
    assert_eq!(counted(counter), pairs(&[("a\u{FFFD}\u{FFFD}b", 1), ("c", 1), ("\u{FFFD}", 1)]));
}

#[test]
fn nfc_composes() {
    let mut counter = Counter::new(Pretokenizer::new(None).unwrap(), true, false, false);
    counter.add_lines("e\u{301}\né\nabc".as_bytes(), &mut CheckIn::never()).unwrap();
    assert_eq!(counter.totals, Totals { lines: 3, bytes: 7, chars: 5, words: 0, replaced: 0 });
    assert_eq!(counted(counter), pairs(&[("abc", 1), ("é", 2)]));
}

#[test]
fn words_follow_the_whitespace_rule() {
    let regex = fancy_regex::Regex::new(r"\w+|[^\w\s]+").unwrap();
    for text in ["", "it's 5", "  a--b  ", "हिन्दी भाषा।", "日本 x_y\u{A0}?!", "👨‍👩‍👧 e\u{301}"]
    {
        assert_eq!(
            count_words(text, &mut CheckIn::never()).unwrap(),
            regex.find_iter(text).count() as u64,
            "{text:?}"
        );
    }
}

#[test]
fn a_pattern_that_drops_text_is_refused() {
    let message = counter(Some(r"\p{L}+")).add_lines(b"a b", &mut CheckIn::never()).unwrap_err().to_string();
    assert!(message.contains(r#"does not match " ""#), "{message}");
}

#[test]
fn nothing_counted_is_an_empty_array() {
    let (words, totals) = counter(None).finish();
    assert_eq!(words, WordCounts { words: StringsBuf::default(), counts: vec![] });
    assert_eq!(totals, Totals::default());
}

fn pretoken() -> impl Strategy<Value = Vec<u8>> {
    // Few different bytes and lengths around every limit of the layout, zeros among them.
    let length = prop::sample::select(vec![
        1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 22, 23, 24, 25, 31, 32, 33, 70, 1024, 1025,
    ]);
    length.prop_flat_map(|length| prop::collection::vec(prop::sample::select(vec![0, 1, 0xFF]), length))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]
    #[test]
    fn the_table_counts_as_a_map_does(
        first in prop::collection::vec((pretoken(), 1u64..5), 0..300),
        second in prop::collection::vec((pretoken(), 1u64..5), 0..300),
    ) {
        let mut expected = BTreeMap::new();
        for (bytes, count) in first.iter().chain(&second) {
            *expected.entry(bytes.clone()).or_insert(0) += count;
        }
        let table_of = |added: &[(Vec<u8>, u64)]| {
            let mut table = Table::default();
            for (bytes, count) in added {
                (0..*count).for_each(|_| table.count(bytes, 0, bytes.len()));
            }
            table.settle();
            table
        };
        let mut table = table_of(&first);
        table.merge(&table_of(&second));
        prop_assert_eq!(listed(&table.into_sorted()), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn broken_text_is_located_anywhere_in_a_block() {
    for broken in [&b"\xFF"[..], b"\xE2\x82", b"\xC3"] {
        for place in 0..200 {
            let mut block = "é".repeat(place / 2).into_bytes();
            block.resize(place, b'a');
            block.extend(broken);
            block.resize(block.len() + place % 70, b'b');
            let error = counter(None).add_lines(&block, &mut CheckIn::never()).unwrap_err();
            assert!(
                matches!(error, Error::NotUtf8 { line: 0, column } if column == place as u64),
                "{place}: {error}"
            );
        }
    }
}

proptest! {
    #[test]
    fn lines_are_those_of_str(text in "[a\r\n]{0,12}") {
        prop_assert!(lines(&text).eq(text.lines()));
    }
}

#[test]
fn the_table_grows() {
    let mut counter = counter(Some(WHITESPACE));
    let mut other = self::counter(Some(WHITESPACE));
    for number in 0..50_000 {
        counter.add_lines(format!("{number} {number:030}").as_bytes(), &mut CheckIn::never()).unwrap();
        other.add_lines(format!("{number}").as_bytes(), &mut CheckIn::never()).unwrap();
    }
    other.merge(counter);
    assert_eq!(other.totals.lines, 100_000);
    let words = counted(other);
    assert_eq!(words.len(), 100_000);
    assert!(words.is_sorted_by(|a, b| a.0 < b.0));
    assert!(words.iter().all(|(word, count)| *count == if word.starts_with(' ') { 1 } else { 2 }));
}

#[test]
fn one_long_text_can_be_stopped() {
    let text = "to be ".repeat(20_000);
    for pattern in [Some(GPT4O), Some(r"(?s:.)"), Some(WHITESPACE)] {
        let outcome = counter(pattern).add_lines(text.as_bytes(), &mut CheckIn::impatient());
        assert!(matches!(outcome, Err(Error::Interrupted)), "lines by {pattern:?}");
        let outcome = counter(pattern).add_texts(
            strings(text.as_bytes(), &[0, 120_000]),
            None,
            &mut CheckIn::impatient(),
        );
        assert!(matches!(outcome, Err(Error::Interrupted)), "texts by {pattern:?}");
    }
}

#[test]
fn composing_one_long_text_can_be_stopped() {
    let mut counter = Counter::new(Pretokenizer::new(None).unwrap(), true, false, false);
    let text = "e\u{301}".repeat(1 << 18);
    let outcome = counter.add_lines(text.as_bytes(), &mut CheckIn::impatient());
    assert!(matches!(outcome, Err(Error::Interrupted)));
}

/// A file that is gone when the test ends.
struct ScratchFile(std::path::PathBuf);

impl ScratchFile {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("pairity-{}-{name}.run", std::process::id())))
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn written(name: &str, words: &BTreeMap<Vec<u8>, u64>) -> ScratchFile {
    let scratch = ScratchFile::new(name);
    let mut run = RunWriter::create(&scratch.0).unwrap();
    words.iter().for_each(|(word, count)| run.push(word, *count).unwrap());
    assert_eq!(run.finish().unwrap().rows, words.len() as u64);
    scratch
}

/// The contents of all runs, read a few words at a time.
fn merged(runs: &[ScratchFile], rows: usize) -> Result<Vec<(Vec<u8>, u64)>> {
    let paths: Vec<_> = runs.iter().map(|run| run.0.clone()).collect();
    let mut merge = runs::MergedRuns::open(&paths)?;
    let mut found = Vec::new();
    loop {
        let next = merge.next(rows, 1 << 20, &mut CheckIn::never())?;
        if next.counts.is_empty() {
            return Ok(found);
        }
        assert!(next.counts.len() <= rows);
        found.extend(listed(&next));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]
    #[test]
    fn runs_merge_as_maps_do(
        parts in prop::collection::vec(prop::collection::btree_map(pretoken(), 1u64..1 << 40, 0..200), 1..5),
        rows in 1usize..50,
    ) {
        let mut expected = BTreeMap::new();
        for (word, count) in parts.iter().flatten() {
            *expected.entry(word.clone()).or_insert(0) += count;
        }
        let runs: Vec<_> =
            parts.iter().enumerate().map(|(number, part)| written(&format!("merge-{number}"), part)).collect();
        prop_assert_eq!(merged(&runs, rows).unwrap(), expected.into_iter().collect::<Vec<_>>());
    }
}

fn many_words() -> BTreeMap<Vec<u8>, u64> {
    (0..60_000u64).map(|number| (format!("word {:x}", number * number).into_bytes(), number + 1)).collect()
}

#[test]
fn a_counter_spills_what_it_would_finish_with() {
    let mut counter = counter(Some(WHITESPACE));
    for number in 0..50_000 {
        counter.add_lines(format!("{number} {number:030} to be").as_bytes(), &mut CheckIn::never()).unwrap();
    }
    let run = ScratchFile::new("spilled");
    let seal = counter.spill(&run.0, &mut CheckIn::never()).unwrap();
    let (words, _) = counter.finish();
    assert_eq!(seal.rows, words.counts.len() as u64);
    assert_eq!(merged(&[run], 999).unwrap(), listed(&words));
}

#[test]
fn any_damage_to_a_run_is_noticed() {
    let run = written("damaged", &many_words());
    let whole = std::fs::read(&run.0).unwrap();
    assert!(whole.len() > 3 << 17, "several blocks");
    let refused = |bytes: &[u8], what: &str| {
        std::fs::write(&run.0, bytes).unwrap();
        let found = merged(&[ScratchFile(run.0.clone())], 1000);
        std::fs::write(&run.0, bytes).unwrap();
        let message = found.err().unwrap_or_else(|| panic!("{what} passed")).to_string();
        assert!(message.contains("is damaged"), "{what}: {message}");
    };
    for cut in [0, 7, 8, 15, 16, 1000, whole.len() / 2, whole.len() - 24, whole.len() - 1] {
        refused(&whole[..cut], &format!("cut after {cut}"));
    }
    for place in (0..whole.len()).step_by(7919).chain(whole.len() - 24..whole.len()) {
        let mut changed = whole.clone();
        changed[place] ^= 1 << (place % 8);
        refused(&changed, &format!("a flipped bit at {place}"));
    }
    refused(&[&whole[..], b"\0"].concat(), "a byte more");
}

#[test]
fn a_run_is_sorted_and_has_each_word_once() {
    for words in [["b", "a"], ["a", "a"], ["ab", "a"]] {
        let scratch = ScratchFile::new(&words.concat());
        let mut run = RunWriter::create(&scratch.0).unwrap();
        run.push(words[0].as_bytes(), 1).unwrap();
        assert!(run.push(words[1].as_bytes(), 1).is_err(), "{words:?}");
    }
}

#[test]
fn sums_beyond_the_columns_are_refused() {
    let large = BTreeMap::from([(b"a".to_vec(), i64::MAX as u64)]);
    assert_eq!(merged(&[written("large", &large)], 9).unwrap()[0].1, i64::MAX as u64);
    let runs = [written("large-1", &large), written("large-2", &BTreeMap::from([(b"b".to_vec(), 1)]))];
    assert!(matches!(merged(&runs, 9), Err(Error::Overflow)));
}

#[test]
fn merging_and_spilling_can_be_stopped() {
    let run = written("stopped", &many_words());
    let mut merge = runs::MergedRuns::open(std::slice::from_ref(&run.0)).unwrap();
    let outcome = merge.next(1 << 20, 1 << 30, &mut CheckIn::impatient());
    assert!(matches!(outcome, Err(Error::Interrupted)));
    let mut counter = counter(Some(WHITESPACE));
    (0..50_000).for_each(|number| {
        counter.add_lines(format!("{number}").as_bytes(), &mut CheckIn::never()).unwrap();
    });
    let spilled = ScratchFile::new("stopped-spill");
    assert!(matches!(counter.spill(&spilled.0, &mut CheckIn::impatient()), Err(Error::Interrupted)));
}

#[test]
fn a_table_says_what_it_may_take() {
    let mut counter = counter(Some(WHITESPACE));
    let empty = counter.memory(1 << 20);
    assert!(empty > 0);
    (0..200_000).for_each(|number| {
        counter.add_lines(format!("{number}").as_bytes(), &mut CheckIn::never()).unwrap();
    });
    assert!(counter.memory(0) > 2 * 200_000 * 32);
    assert!(counter.memory(64 << 20) >= 2 * counter.memory(0), "it would grow");
}
