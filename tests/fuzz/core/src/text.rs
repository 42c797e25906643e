//! Any bytes as text to count, by every known pattern or one of the fuzzer's own: no panic, nothing lost, and the scanner
//! cuts as the regex engine does.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use pairity_core::check_in::CheckIn;
use pairity_core::counts::Counter;
use pairity_core::split::{PRESETS, Pretokenizer};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    preset: u8,
    single_digits: bool,
    own_pattern: Option<&'a str>,
    nfc: bool,
    replace_invalid: bool,
    count_words: bool,
    text: &'a [u8],
}

fn cut(pretokenizer: &Pretokenizer, text: &str) -> Vec<std::ops::Range<usize>> {
    let mut places = Vec::new();
    let keep = &mut |place, _: &mut CheckIn| places.push(place);
    match pretokenizer.split(text, &mut CheckIn::never(), keep) {
        Ok(()) => places,
        Err(_) => Vec::new(), // the engine gave up
    }
}

/// Compiled once for each pattern: that takes longer than all the rest.
fn engine(pattern: &'static str) -> Pretokenizer {
    static ENGINES: LazyLock<Mutex<HashMap<&str, Pretokenizer>>> = LazyLock::new(Mutex::default);
    let make = || Pretokenizer::regex(pattern).unwrap();
    ENGINES.lock().unwrap().entry(pattern).or_insert_with(make).clone()
}

fuzz_target!(|input: Input| {
    let preset = &PRESETS[usize::from(input.preset) % PRESETS.len()];
    let known = if input.single_digits { Some(preset.single_digits) } else { preset.pattern };
    if let (Some(pattern), Ok(text)) = (known, std::str::from_utf8(input.text)) {
        let by_hand = cut(&Pretokenizer::new(Some(pattern)).unwrap(), text);
        let by_engine = cut(&engine(pattern), text);
        assert!(by_engine.is_empty() || by_hand == by_engine, "{pattern}");
        assert_eq!(by_hand.iter().map(|place| place.len()).sum::<usize>(), text.len());
    }
    let Ok(pretokenizer) = Pretokenizer::new(input.own_pattern.or(known)) else { return };
    let mut counter = Counter::new(pretokenizer, input.nfc, input.replace_invalid, input.count_words);
    if counter.add_lines(input.text, &mut CheckIn::never()).is_err() {
        return;
    }
    let (words, totals) = counter.finish();
    let counted = || words.counted().iter();
    assert_eq!(counted().map(|(word, count)| word.len() as u64 * count).sum::<u64>(), totals.bytes);
    assert!(counted().zip(counted().skip(1)).all(|((word, _), (next, _))| word < next));
});
