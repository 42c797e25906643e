//! Sorted runs: counts on disk, for more than fits in memory.
//!
//! In: runs. Out: the words of all of them in sorted order, with the counts of equal words summed. A run on disk is
//!
//! | block | ... | end |
//! |---|---|---|
//! | size, checksum, words | | 0, number of words, digest of the checksums |
//!
//! with 8 bytes for each of these numbers. A word is written as the number of bytes it shares with the previous one in its
//! block, the number of bytes that follow, those bytes, and its count; these numbers take one byte per seven bits. A block
//! is checked before anything in it is used.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::WordCounts;
use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::hash::{fold, hash_long};
use crate::strings::StringsBuf;

/// The size of a block in bytes. Much smaller blocks would make merging jump around on the disk; much larger ones, one per
/// run, would fill the memory that runs are meant to save.
const BLOCK: usize = 1 << 17;

/// The largest count, and the largest sum of counts, that an Arrow column of int64 holds.
const MOST: u64 = i64::MAX as u64;

/// What identifies a run when it is read again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seal {
    pub rows: u64,
    pub digest: u64,
}

/// Writes a run, word by word.
pub struct RunWriter {
    file: File,
    block: Vec<u8>,
    word: Vec<u8>,
    seal: Seal,
}

impl RunWriter {
    pub fn create(path: &Path) -> Result<Self> {
        let (file, seal) = (File::create(path)?, Seal { rows: 0, digest: 0 });
        Ok(Self { file, block: Vec::with_capacity(2 * BLOCK), word: Vec::new(), seal })
    }

    pub fn push(&mut self, word: &[u8], count: u64) -> Result<()> {
        let shared = word.iter().zip(&self.word).take_while(|(a, b)| a == b).count();
        if word.get(shared) <= self.word.get(shared) {
            return Err(Error::Invalid("the words of a run must be sorted, each once".to_owned()));
        }
        let shared = if self.block.is_empty() { 0 } else { shared };
        put(&mut self.block, shared as u64);
        put(&mut self.block, (word.len() - shared) as u64);
        self.block.extend_from_slice(&word[shared..]);
        put(&mut self.block, count);
        self.word.clear();
        self.word.extend_from_slice(word);
        self.seal.rows += 1;
        if self.block.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<Seal> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.put_numbers([0, self.seal.rows, self.seal.digest])?;
        Ok(self.seal)
    }

    fn end_block(&mut self) -> Result<()> {
        let checksum = checksum(&self.block);
        self.put_numbers([self.block.len() as u64, checksum])?;
        self.file.write_all(&self.block)?;
        self.block.clear();
        self.seal.digest = chained(self.seal.digest, checksum);
        Ok(())
    }

    fn put_numbers<const N: usize>(&mut self, numbers: [u64; N]) -> Result<()> {
        Ok(self.file.write_all(numbers.map(u64::to_le_bytes).as_flattened())?)
    }
}

/// Reads a run, word by word.
struct RunReader {
    path: PathBuf,
    file: File,
    /// Bytes of the file that are not read yet.
    left: u64,
    block: Vec<u8>,
    at: usize,
    word: Vec<u8>,
    count: u64,
    seal: Seal,
}

impl RunReader {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            left: file.metadata()?.len(),
            file,
            block: Vec::new(),
            at: 0,
            word: Vec::new(),
            count: 0,
            seal: Seal { rows: 0, digest: 0 },
        })
    }

    /// Advances to the next word; returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        if self.at == self.block.len() && !self.next_block()? {
            return Ok(false);
        }
        if self.next_word().is_none() {
            return Err(self.damaged("its words are not in order"));
        }
        self.seal.rows += 1;
        Ok(true)
    }

    fn next_block(&mut self) -> Result<bool> {
        let [size, checksum_or_rows] = self.numbers()?;
        if size == 0 {
            let [digest] = self.numbers()?;
            if self.left > 0 || self.seal != (Seal { rows: checksum_or_rows, digest }) {
                return Err(self.damaged("its end is not that of its words"));
            }
            return Ok(false);
        }
        if size > self.left {
            return Err(self.damaged("it is cut off"));
        }
        self.left -= size;
        self.block.resize(size as usize, 0);
        self.at = 0;
        self.file.read_exact(&mut self.block)?;
        if checksum(&self.block) != checksum_or_rows {
            return Err(self.damaged("its bytes do not match their checksum"));
        }
        self.seal.digest = chained(self.seal.digest, checksum_or_rows);
        Ok(true)
    }

    fn next_word(&mut self) -> Option<()> {
        let first = self.at == 0;
        let (shared, own) = (self.number()?, self.number()?);
        let suffix = self.block.get(self.at..self.at.checked_add(own)?)?;
        self.at += own;
        // The first word of a block is stored in full, so compare the words themselves.
        let rises = if first {
            shared == 0 && *suffix > self.word[..]
        } else {
            suffix.first() > self.word.get(shared)
        };
        if !rises || shared > self.word.len() {
            return None;
        }
        self.word.truncate(shared);
        self.word.extend_from_slice(suffix);
        self.count = self.number()? as u64;
        Some(())
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.block.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number as usize);
            }
        }
        None
    }

    fn numbers<const N: usize>(&mut self) -> Result<[u64; N]> {
        let mut bytes = [[0; 8]; N];
        if self.left < 8 * N as u64 {
            return Err(self.damaged("it is cut off"));
        }
        self.left -= 8 * N as u64;
        self.file.read_exact(bytes.as_flattened_mut())?;
        Ok(bytes.map(u64::from_le_bytes))
    }

    fn damaged(&self, how: &str) -> Error {
        Error::Invalid(format!("{} is damaged: {how}", self.path.display()))
    }
}

/// Reversed, for a heap: the run whose word comes first is the greatest.
impl Ord for RunReader {
    fn cmp(&self, other: &Self) -> Ordering {
        other.word.cmp(&self.word)
    }
}

impl PartialOrd for RunReader {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunReader {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for RunReader {}

/// The words of several runs as one.
pub struct MergedRuns {
    runs: BinaryHeap<RunReader>,
    /// Sum of all counts.
    total: u64,
    /// Words read so far, from all runs.
    rows: u64,
}

impl MergedRuns {
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut merge = Self { runs: BinaryHeap::new(), total: 0, rows: 0 };
        for path in paths {
            let mut run = RunReader::open(path)?;
            if run.advance()? {
                merge.runs.push(run);
            }
        }
        Ok(merge)
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next words, about as many as requested, in number and in bytes; none at the end.
    pub fn next(&mut self, rows: usize, bytes: usize, check_in: &mut CheckIn) -> Result<WordCounts> {
        let mut next = WordCounts { words: StringsBuf::default(), counts: Vec::new() };
        while let Some(mut run) = self.runs.peek_mut() {
            let words = next.words.count();
            let same = words > 0 && next.words[words - 1] == run.word[..];
            if !same && (words >= rows || next.words.bytes().len() >= bytes) {
                break;
            }
            self.total = match self.total.checked_add(run.count) {
                Some(total) if total <= MOST => total,
                _ => return Err(Error::Overflow),
            };
            if same {
                next.counts[words - 1] += run.count;
            } else {
                next.words.push(&run.word);
                next.counts.push(run.count);
            }
            self.rows += 1;
            if !run.advance()? {
                PeekMut::pop(run);
            }
            check_in.now()?;
        }
        Ok(next)
    }
}

/// Seven bits per byte, the lowest first; all bytes except the last have their highest bit set.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn checksum(block: &[u8]) -> u64 {
    if block.len() >= 16 {
        return hash_long(block);
    }
    let mut padded = [0; 16];
    padded[..block.len()].copy_from_slice(block);
    hash_long(&padded) ^ block.len() as u64
}

fn chained(digest: u64, checksum: u64) -> u64 {
    fold(digest.rotate_left(1) ^ checksum, PRIME)
}

/// Odd, so multiplying by it loses no information.
const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
