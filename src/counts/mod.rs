//! Counting pre-tokens: text in, distinct pre-tokens with their counts out.
//!
//! One hash table. A short pre-token lies in its slot, a longer one in an arena, so no token ever owns memory.

use std::borrow::Cow;

use hashbrown::HashTable;
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};
use crate::split::Pretokenizer;
use crate::unicode::{SPACE, WORD, classes, is_surely_nfc};

/// Distinct pre-tokens sorted by their bytes, in the layout of an Arrow `large_binary` array:
/// pre-token `i` is `bytes[offsets[i]..offsets[i + 1]]` and occurs `counts[i]` times.
#[derive(Debug, PartialEq)]
pub struct WordCounts {
    pub bytes: Vec<u8>,
    pub offsets: Vec<i64>,
    pub counts: Vec<u64>,
}

/// Sizes of the counted text after normalisation, line ends not included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub lines: u64,
    pub bytes: u64,
    pub chars: u64,
    /// By the rule `\w+|[^\w\s]+`; 0 unless asked for.
    pub words: u64,
    /// How many U+FFFD stand for bytes that were not UTF-8.
    pub replaced: u64,
}

impl Totals {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.chars += other.chars;
        self.words += other.words;
        self.replaced += other.replaced;
    }
}

/// Counts the pre-tokens of as many texts as are given to it. After an error it holds part of a batch: drop it.
#[derive(Debug)]
pub struct Counter {
    pretokenizer: Pretokenizer,
    nfc: bool,
    replace_invalid: bool,
    count_words: bool,
    table: Table,
    totals: Totals,
}

impl Counter {
    pub fn new(pretokenizer: Pretokenizer, nfc: bool, replace_invalid: bool, count_words: bool) -> Self {
        Self {
            pretokenizer,
            nfc,
            replace_invalid,
            count_words,
            table: Table::default(),
            totals: Totals::default(),
        }
    }

    /// Counts a block of whole lines. Every line is a text of its own; its end (`\n` or `\r\n`) is not part of it.
    pub fn add_lines(&mut self, block: &[u8]) -> Result<()> {
        let text = self.decode(block).map_err(|place| {
            let valid = &block[..place];
            let line_start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            Error::NotUtf8 {
                line: valid.iter().filter(|byte| **byte == b'\n').count() as u64,
                column: (place - line_start) as u64,
            }
        })?;
        lines(&text).try_for_each(|line| self.add_text(&text, line))
    }

    /// Counts the texts `data[offsets[i]..offsets[i + 1]]`; each counts as one line.
    pub fn add_texts(&mut self, data: &[u8], offsets: &[i64]) -> Result<()> {
        for (index, pair) in offsets.windows(2).enumerate() {
            let bounds = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
            let Some(bytes) = bounds.and_then(|(start, end)| data.get(start..end)) else {
                return Err(Error::Invalid(format!(
                    "text {index} goes from byte {} to byte {} of {} bytes: offsets must rise from 0 to the end of the data",
                    pair[0],
                    pair[1],
                    data.len()
                )));
            };
            let text = self
                .decode(bytes)
                .map_err(|place| Error::NotUtf8 { line: index as u64, column: place as u64 })?;
            self.add_text(&text, &text)?;
        }
        Ok(())
    }

    /// Adds what another counter of the same kind has counted.
    pub fn merge(&mut self, mut other: Self) {
        self.totals.add(other.totals);
        // Only the smaller table is walked.
        if other.table.slots.len() > self.table.slots.len() {
            std::mem::swap(&mut self.table, &mut other.table);
        }
        self.table.merge(&other.table);
    }

    pub fn finish(self) -> (WordCounts, Totals) {
        (self.table.into_sorted(), self.totals)
    }

    /// The bytes as text, or the place of the first byte that is not UTF-8.
    /// `\n` is never part of a broken character, so a block may be decoded before it is cut into lines.
    fn decode<'b>(&mut self, bytes: &'b [u8]) -> std::result::Result<Cow<'b, str>, usize> {
        match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) if !self.replace_invalid => Err(error.valid_up_to()),
            Err(_) => {
                let broken = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
                self.totals.replaced += broken.count() as u64;
                Ok(String::from_utf8_lossy(bytes))
            }
        }
    }

    /// Counts `text`, a part of `within`.
    fn add_text(&mut self, within: &str, text: &str) -> Result<()> {
        let composed: String;
        let (within, text) = if self.nfc && !is_surely_nfc(text) {
            composed = text.nfc().collect();
            (composed.as_str(), composed.as_str())
        } else {
            (within, text)
        };
        self.totals.add(Totals {
            lines: 1,
            bytes: text.len() as u64,
            chars: text.chars().count() as u64,
            words: if self.count_words { count_words(text) } else { 0 },
            replaced: 0,
        });
        let base = within.as_ptr().addr();
        self.pretokenizer.split_strict(text, &mut |pretoken| {
            self.table.add(within.as_bytes(), pretoken.as_ptr().addr() - base, pretoken.len(), 1);
        })
    }
}

/// As `str::lines`, with the faster search of `memchr`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    let rest = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    ends.chain(rest).scan(0, |start, end| {
        let line = &text[std::mem::replace(start, end)..end];
        Some(line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line)))
    })
}

/// `\w+|[^\w\s]+`, the words of Hugging Face's `Whitespace` pre-tokenizer: `it's 5` -> 4 (`it`, `'`, `s`, `5`).
fn count_words(text: &str) -> u64 {
    let classes = classes();
    let kind = |character| classes.of(character) & (WORD | SPACE);
    let mut words = 0;
    let mut before = SPACE;
    for now in text.chars().map(kind) {
        words += u64::from(now != before && now & SPACE == 0);
        before = now;
    }
    words
}

/// Pre-tokens up to this length lie in their slot.
const LONGEST_INLINE: usize = 23;

/// A pre-token and its count, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot {
    key: Key,
    count: u64,
}

/// Three little-endian words.
/// Short: the bytes, zeros up to 23, the length. Long: the first 8 bytes, where the record starts in the arena, and
/// 56 bits of the hash below a byte that is no length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key([u64; 3]);

const LONG: u64 = 0xFF << 56;

/// `MASKS[length]` keeps the first `length` bytes of a key.
const MASKS: [[u64; 3]; LONGEST_INLINE + 1] = {
    let mut masks = [[0; 3]; LONGEST_INLINE + 1];
    let mut length = 0;
    while length <= LONGEST_INLINE {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xFF << (8 * (byte % 8));
            byte += 1;
        }
        length += 1;
    }
    masks
};

impl Key {
    /// `text[start..start + length]`.
    #[inline(always)]
    fn short(text: &[u8], start: usize, length: usize) -> Self {
        // What follows in the text is loaded too and masked away: about a tenth faster on English than a branch on the
        // length, which is hard to predict.
        let bytes = match text[start..].first_chunk::<24>() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 24];
                bytes[..length].copy_from_slice(&text[start..start + length]);
                bytes
            }
        };
        let (words, _) = bytes.as_chunks();
        let [first, second, third] = [0, 1, 2].map(|i| u64::from_le_bytes(words[i]) & MASKS[length][i]);
        Self([first, second, third | (length as u64) << 56])
    }

    fn long(bytes: &[u8], start: usize) -> Self {
        let first = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
        Self([first, start as u64, LONG | hash_long(bytes) >> 8])
    }

    fn is_long(&self) -> bool {
        self.0[2] >= LONG
    }

    fn len(&self, arena: &Arena) -> usize {
        if self.is_long() { arena.get(*self).len() } else { (self.0[2] >> 56) as usize }
    }

    /// Writes the pre-token to the start of a place that has room for it, and for 24 bytes at least.
    fn write(&self, arena: &Arena, place: &mut [u8]) {
        if self.is_long() {
            let bytes = arena.get(*self);
            place[..bytes.len()].copy_from_slice(bytes);
        } else {
            // All of the key, whatever the length: a copy of a fixed size is much faster.
            let (words, _) = place[..24].as_chunks_mut();
            for (part, word) in words.iter_mut().zip(self.0) {
                *part = word.to_le_bytes();
            }
        }
    }

    /// Calls `read` with the bytes of the pre-token.
    fn with_bytes<T>(&self, arena: &Arena, read: impl FnOnce(&[u8]) -> T) -> T {
        if self.is_long() {
            return read(arena.get(*self));
        }
        let mut bytes = [0; 24];
        self.write(arena, &mut bytes);
        read(&bytes[..self.len(arena)])
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        if self.is_long() { fold(self.0[2], PI[2]) } else { hash_short(self.0) }
    }
}

// Multiply to 128 bits and fold the halves together, the idea of wyhash. The constants are digits of pi.
const PI: [u64; 3] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0];

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn hash_short([first, second, third]: [u64; 3]) -> u64 {
    fold(fold(first ^ PI[0], second ^ PI[1]) ^ third, PI[2])
}

fn hash_long(bytes: &[u8]) -> u64 {
    let pair = |pair: &[u8]| {
        let word = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().expect("8 bytes"));
        (word(0), word(8))
    };
    let mut hash = bytes.len() as u64;
    for (a, b) in bytes.chunks_exact(16).chain([&bytes[bytes.len() - 16..]]).map(pair) {
        hash = fold(a ^ PI[0], b ^ PI[1] ^ hash);
    }
    fold(hash, PI[2])
}

/// Long pre-tokens one after the other, each after its length in 8 bytes.
#[derive(Debug, Default)]
struct Arena(Vec<u8>);

impl Arena {
    fn push(&mut self, bytes: &[u8]) -> usize {
        let start = self.0.len();
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        start
    }

    fn get(&self, key: Key) -> &[u8] {
        let start = key.0[1] as usize;
        let (length, rest) = self.0[start..].split_first_chunk().expect("a record starts with its length");
        &rest[..u64::from_le_bytes(*length) as usize]
    }
}

#[derive(Debug, Default)]
struct Table {
    slots: HashTable<Slot>,
    arena: Arena,
}

impl Table {
    /// Counts `text[start..start + length]`.
    #[inline(always)]
    fn add(&mut self, text: &[u8], start: usize, length: usize, count: u64) {
        if length <= LONGEST_INLINE {
            let key = Key::short(text, start, length);
            match self.slots.find_mut(key.hash(), |slot| slot.key == key) {
                Some(slot) => slot.count += count,
                None => self.insert(Slot { key, count }),
            }
        } else {
            self.add_long(&text[start..start + length], count);
        }
    }

    fn add_long(&mut self, bytes: &[u8], count: u64) {
        let Self { slots, arena } = self;
        let key = Key::long(bytes, arena.0.len());
        let same = |slot: &Slot| {
            slot.key.0[0] == key.0[0] && slot.key.0[2] == key.0[2] && arena.get(slot.key) == bytes
        };
        match slots.find_mut(key.hash(), same) {
            Some(slot) => slot.count += count,
            None => {
                arena.push(bytes);
                self.insert(Slot { key, count });
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: Slot) {
        self.slots.insert_unique(slot.key.hash(), slot, |slot| slot.key.hash());
    }

    fn merge(&mut self, other: &Self) {
        for slot in &other.slots {
            slot.key.with_bytes(&other.arena, |bytes| self.add(bytes, 0, bytes.len(), slot.count));
        }
    }

    fn into_sorted(self) -> WordCounts {
        let Self { slots, arena } = self;
        let mut slots: Vec<Slot> = slots.into_iter().collect();
        sort(&mut slots, 0, &arena);

        let mut offsets = Vec::with_capacity(slots.len() + 1);
        let mut size = 0;
        offsets.push(0);
        for slot in &slots {
            size += slot.key.len(&arena);
            offsets.push(size as i64);
        }
        let mut bytes = vec![0; size + 24];
        for (slot, start) in slots.iter().zip(&offsets) {
            slot.key.write(&arena, &mut bytes[*start as usize..]);
        }
        bytes.truncate(size);
        let counts = slots.iter().map(|slot| slot.count).collect();
        WordCounts { bytes, offsets, counts }
    }
}

/// Sorts slots whose first `8 * word` bytes are the same by their bytes: by the next eight, as one number, and equal ones
/// by those that follow.
fn sort(slots: &mut [Slot], word: usize, arena: &Arena) {
    if word == 3 || word > 0 && slots.iter().any(|slot| slot.key.is_long()) {
        slots.sort_unstable_by(|a, b| a.key.with_bytes(arena, |a| b.key.with_bytes(arena, |b| a.cmp(b))));
        return;
    }
    // Zeros fill a short pre-token up to its length, which comes last and decides between `a` and `a\0`.
    let number = |slot: &Slot| slot.key.0[word].swap_bytes();
    slots.sort_unstable_by_key(number);
    for equal in slots.chunk_by_mut(|a, b| number(a) == number(b)).filter(|equal| equal.len() > 1) {
        sort(equal, word + 1, arena);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{GPT4O, WHITESPACE};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counter(pattern: Option<&str>) -> Counter {
        Counter::new(Pretokenizer::new(pattern).unwrap(), false, false, true)
    }

    fn listed(words: &WordCounts) -> Vec<(Vec<u8>, u64)> {
        let bounds = words.offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        bounds.map(|range| words.bytes[range].to_vec()).zip(words.counts.iter().copied()).collect()
    }

    fn counted(counter: Counter) -> Vec<(String, u64)> {
        let (words, _) = counter.finish();
        listed(&words).into_iter().map(|(bytes, count)| (String::from_utf8(bytes).unwrap(), count)).collect()
    }

    fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
        expected.iter().map(|(pretoken, count)| ((*pretoken).to_owned(), *count)).collect()
    }

    #[test]
    fn lines_are_texts_without_their_ends() {
        let mut counter = counter(Some(GPT4O));
        counter.add_lines(b"a b\r\n\n b b\na").unwrap();
        assert_eq!(counter.totals, Totals { lines: 4, bytes: 8, chars: 8, words: 5, replaced: 0 });
        assert_eq!(counted(counter), pairs(&[(" b", 3), ("a", 2)]));
    }

    #[test]
    fn texts_may_hold_line_ends() {
        let mut counter = counter(Some(WHITESPACE));
        counter.add_texts("é\nfoo bar".as_bytes(), &[0, 6, 6, 10]).unwrap();
        assert_eq!(counter.totals, Totals { lines: 3, bytes: 10, chars: 9, words: 3, replaced: 0 });
        assert_eq!(counted(counter), pairs(&[("\n", 1), (" bar", 1), ("foo", 1), ("é", 1)]));
    }

    #[test]
    fn offsets_outside_the_data_are_refused() {
        for offsets in [[0, 9], [-1, 2], [2, 1]] {
            let message = counter(None).add_texts(b"abc", &offsets).unwrap_err().to_string();
            assert!(message.contains("offsets must rise"), "{message}");
        }
        assert!(counter(None).add_texts(b"", &[]).is_ok());
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let error = counter(None).add_lines(b"ab\ncd\xFFe\n").unwrap_err();
        assert!(matches!(error, Error::NotUtf8 { line: 1, column: 2 }), "{error:?}");
        let error = counter(None).add_texts(b"ab\n\xFF", &[0, 1, 4]).unwrap_err();
        assert!(matches!(error, Error::NotUtf8 { line: 1, column: 2 }), "{error:?}");
        // A character that two texts share is broken in both.
        let error = counter(None).add_texts("é".as_bytes(), &[0, 1, 2]).unwrap_err();
        assert!(matches!(error, Error::NotUtf8 { line: 0, column: 0 }), "{error:?}");
    }

    #[test]
    fn text_that_is_not_utf8_is_replaced_when_asked() {
        let mut counter = Counter::new(Pretokenizer::new(None).unwrap(), false, true, false);
        counter.add_lines(b"a\xFF\xFEb\n\xE2\x82\nc").unwrap();
        assert_eq!(counter.totals, Totals { lines: 3, bytes: 12, chars: 6, words: 0, replaced: 3 });
        assert_eq!(counted(counter), pairs(&[("a\u{FFFD}\u{FFFD}b", 1), ("c", 1), ("\u{FFFD}", 1)]));
    }

    #[test]
    fn nfc_composes() {
        let mut counter = Counter::new(Pretokenizer::new(None).unwrap(), true, false, false);
        counter.add_lines("e\u{301}\né\nabc".as_bytes()).unwrap();
        assert_eq!(counter.totals, Totals { lines: 3, bytes: 7, chars: 5, words: 0, replaced: 0 });
        assert_eq!(counted(counter), pairs(&[("abc", 1), ("é", 2)]));
    }

    #[test]
    fn words_follow_the_whitespace_rule() {
        let regex = fancy_regex::Regex::new(r"\w+|[^\w\s]+").unwrap();
        for text in ["", "it's 5", "  a--b  ", "हिन्दी भाषा।", "日本 x_y\u{A0}?!", "👨‍👩‍👧 e\u{301}"]
        {
            assert_eq!(count_words(text), regex.find_iter(text).count() as u64, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_that_drops_text_is_refused() {
        let message = counter(Some(r"\p{L}+")).add_lines(b"a b").unwrap_err().to_string();
        assert!(message.contains(r#"does not match " ""#), "{message}");
    }

    #[test]
    fn nothing_counted_is_an_empty_array() {
        let (words, totals) = counter(None).finish();
        assert_eq!(words, WordCounts { bytes: vec![], offsets: vec![0], counts: vec![] });
        assert_eq!(totals, Totals::default());
    }

    fn pretoken() -> impl Strategy<Value = Vec<u8>> {
        // Few different bytes and lengths around every limit of the layout, zeros among them.
        let length =
            prop::sample::select(vec![1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 22, 23, 24, 25, 31, 32, 33, 70]);
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
                    table.add(bytes, 0, bytes.len(), *count);
                }
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
                let error = counter(None).add_lines(&block).unwrap_err();
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
            counter.add_lines(format!("{number} {number:030}").as_bytes()).unwrap();
            other.add_lines(format!("{number}").as_bytes()).unwrap();
        }
        other.merge(counter);
        assert_eq!(other.totals.lines, 100_000);
        let words = counted(other);
        assert_eq!(words.len(), 100_000);
        assert!(words.is_sorted_by(|a, b| a.0 < b.0));
        assert!(words.iter().all(|(word, count)| *count == if word.starts_with(' ') { 1 } else { 2 }));
    }
}
