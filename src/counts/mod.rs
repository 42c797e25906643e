//! Counting pre-tokens.
//!
//! In: text, as lines or as texts. Out: the distinct pre-tokens in sorted order with their counts, and the sizes of the
//! text: `to be to` -> ` be` 1, ` to` 1, `to` 1; 1 line, 8 bytes.

pub mod runs;
mod slots;
pub mod sum;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::split::Pretokenizer;
use crate::strings::{Strings, StringsBuf};
use crate::unicode::{SPACE, WORD, classes, pieces, to_nfc};
use runs::{RunWriter, Seal};
use table::Table;

/// Distinct pre-tokens, sorted by their bytes; word `i` occurs `counts[i]` times.
#[derive(Debug, PartialEq)]
pub struct WordCounts {
    pub words: StringsBuf,
    pub counts: Vec<u64>,
}

impl WordCounts {
    pub fn counted(&self) -> Counted<'_> {
        Counted { words: self.words.as_strings(), counts: &self.counts }
    }
}

/// The same, borrowed: what training learns from.
#[derive(Clone, Copy)]
pub struct Counted<'c> {
    words: Strings<'c>,
    counts: &'c [u64],
}

impl<'c> Counted<'c> {
    pub fn new(words: Strings<'c>, counts: &'c [u64]) -> Result<Self> {
        if words.count() != counts.len() {
            return Err(Error::Invalid(format!(
                "there are {} words but {} counts",
                words.count(),
                counts.len()
            )));
        }
        Ok(Self { words, counts })
    }

    /// The number of words.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// The bytes of the distinct words.
    pub fn size(&self) -> usize {
        self.words.size()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'c [u8], u64)> + use<'c> {
        self.words.iter().zip(self.counts.iter().copied())
    }
}

/// Sizes of the counted text after normalisation, without line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub lines: u64,
    pub bytes: u64,
    pub chars: u64,
    /// By the rule `\w+|[^\w\s]+`; 0 unless requested.
    pub words: u64,
    /// How many U+FFFD replace bytes that were not UTF-8.
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

/// Counts the pre-tokens of any number of texts. After an error or an interruption it has counted part of a batch: drop it.
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

    /// Counts a block of whole lines. Every line is a text, without its line end (`\n` or `\r\n`).
    pub fn add_lines(&mut self, block: &[u8], check_in: &mut CheckIn) -> Result<()> {
        let text = self.decode(block).map_err(|place| {
            let valid = &block[..place];
            let line_start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            Error::NotUtf8 {
                line: valid.iter().filter(|byte| **byte == b'\n').count() as u64,
                column: (place - line_start) as u64,
            }
        })?;
        lines(&text).try_for_each(|line| self.add_text(&text, line, 1, check_in))?;
        self.table.settle();
        Ok(())
    }

    /// Counts texts, each as one line, or as `times` equal lines.
    pub fn add_texts(&mut self, texts: Strings, times: Option<&[i64]>, check_in: &mut CheckIn) -> Result<()> {
        if times.is_some_and(|times| times.len() != texts.count() || times.iter().any(|times| *times < 1)) {
            return Err(Error::Invalid("give for each text how often it occurs, at least once".into()));
        }
        for (index, bytes) in texts.iter().enumerate() {
            let times = times.map_or(1, |times| times[index] as u64);
            let text = self
                .decode(bytes)
                .map_err(|place| Error::NotUtf8 { line: index as u64, column: place as u64 })?;
            self.add_text(&text, &text, times, check_in)?;
        }
        self.table.settle();
        Ok(())
    }

    /// Adds the counts of another counter of the same kind.
    pub fn merge(&mut self, mut other: Self) {
        self.totals.add(other.totals);
        // Only the smaller table is walked.
        if other.table.len() > self.table.len() {
            std::mem::swap(&mut self.table, &mut other.table);
        }
        self.table.merge(&other.table);
    }

    /// The most memory it takes while counting `more` bytes of text, and while it is then finished or spilled.
    pub fn memory(&self, more: usize) -> usize {
        self.table.memory(more)
    }

    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Writes what was counted as a run.
    pub fn spill(&self, path: &Path, check_in: &mut CheckIn) -> Result<Seal> {
        let mut run = RunWriter::create(path)?;
        self.table.each_sorted(|word, count| {
            check_in.now()?;
            run.push(word, count)
        })?;
        run.finish()
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

    /// Counts `text`, a part of `within`, `times` times.
    fn add_text(&mut self, within: &str, text: &str, times: u64, check_in: &mut CheckIn) -> Result<()> {
        let composed = if self.nfc { to_nfc(text, check_in)? } else { Cow::Borrowed(text) };
        let (within, text) = match &composed {
            Cow::Owned(composed) => (composed.as_str(), composed.as_str()),
            Cow::Borrowed(text) => (within, *text),
        };
        self.totals.add(Totals {
            lines: times,
            bytes: times * text.len() as u64,
            chars: times * text.chars().count() as u64,
            words: if self.count_words { times * count_words(text, check_in)? } else { 0 },
            replaced: 0,
        });
        let start = text.as_ptr().addr() - within.as_ptr().addr();
        let (within, table) = (within.as_bytes(), &mut self.table);
        // `move` saves an indirection per value, and this runs for each pre-token.
        self.pretokenizer.split_strict(text, check_in, &mut move |pretoken, _| match times {
            1 => table.count(within, start + pretoken.start, pretoken.len()),
            _ => table.count_times(within, start + pretoken.start, pretoken.len(), times),
        })
    }
}

/// Like `str::lines`, with the faster search of `memchr`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
    let rest = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
    ends.chain(rest).scan(0, |start, end| {
        let line = &text[std::mem::replace(start, end)..end];
        Some(line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line)))
    })
}

/// `\w+|[^\w\s]+`, the words of Hugging Face's `Whitespace` pre-tokenizer: `it's 5` -> 4 (`it`, `'`, `s`, `5`).
pub fn count_words(text: &str, check_in: &mut CheckIn) -> Result<u64> {
    let classes = classes();
    let kind = |character| classes.of(character) & (WORD | SPACE);
    let mut words = 0;
    let mut before = SPACE;
    for piece in pieces(text) {
        for now in piece.chars().map(kind) {
            words += u64::from(now != before && now & SPACE == 0);
            before = now;
        }
        check_in.now()?;
    }
    Ok(words)
}
