//! Laying the words out before the first merge.
//!
//! In: words with their weights and owners. Out: parts, each with the flat array of symbols, the regions of equal weight,
//! and the boundaries of every pair of bytes. Several threads make a part each; a shard is made of them all.

use super::lists::BoundaryWriter;
use crate::error::{Error, Result};
use crate::memory::prefetch;
use std::sync::atomic::{AtomicBool, Ordering};

/// No token has this id, the largest that [`Symbols`] can hold.
pub const SEPARATOR: u32 = 0xFF_FFFF;
pub const MOST_TOKENS: usize = SEPARATOR as usize;

/// A word before training: its bytes, how often it occurs, and whose it is.
#[derive(Clone, Copy)]
pub struct Word<'w> {
    pub bytes: &'w [u8],
    pub weight: u64,
    pub owner: u32,
}

/// Neighbouring words of the same weight and owner. Words are laid out region by region, so that
/// no weight need be stored for each word or position: it follows from where a boundary lies.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub start: u32,
    pub owner: u32,
    pub weight: u64,
}

/// Token ids, three bytes each: they are most of what a shard takes.
#[derive(Default)]
pub struct Symbols(Vec<u8>);

impl Symbols {
    const SIZE: usize = 3;

    fn with_capacity(symbols: usize) -> Symbols {
        Symbols(Vec::with_capacity(symbols * Symbols::SIZE + 1))
    }

    fn len(&self) -> usize {
        self.0.len() / Symbols::SIZE
    }

    pub fn push(&mut self, id: u32) {
        self.0.extend_from_slice(&id.to_le_bytes()[..Symbols::SIZE]);
    }

    /// To be called after the last `push`: `get` reads a byte more than it needs.
    pub fn finish(&mut self) {
        self.0.push(0);
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> u32 {
        let four = self.0[at * Symbols::SIZE..].first_chunk().expect("a byte follows the last symbol");
        u32::from_le_bytes(*four) & 0xFF_FFFF
    }

    #[inline(always)]
    pub fn set(&mut self, at: usize, id: u32) {
        self.0[at * Symbols::SIZE..][..Symbols::SIZE].copy_from_slice(&id.to_le_bytes()[..Symbols::SIZE]);
    }

    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        prefetch(&self.0[at * Symbols::SIZE]);
    }
}

/// Words laid out and their pairs indexed: a shard, or a part of one that another thread made.
#[derive(Default)]
pub struct Part {
    pub symbols: Symbols,
    pub regions: Vec<Region>,
    /// By the two bytes of a pair.
    pub counts: Vec<u64>,
    pub writers: Vec<BoundaryWriter>,
}

impl Part {
    /// `ids` are those of the bytes. A word of one byte has no pair and is left out.
    pub fn new(mut words: Vec<Word>, ids: &[u8; 256], stop: &AtomicBool) -> Result<Part> {
        words.retain(|word| word.bytes.len() > 1);
        // Words of the same weight stay in the order of a language's counts, the alphabet's: those that share pairs lie
        // close together.
        words.sort_by(|a, b| (a.owner, b.weight).cmp(&(b.owner, a.weight)));
        let size = words.iter().map(|word| word.bytes.len() + 1).sum::<usize>();
        check_size(size)?;
        let mut part = Part {
            symbols: Symbols::with_capacity(size + 1),
            regions: Vec::new(),
            counts: vec![0; 1 << 16],
            writers: Vec::new(),
        };
        part.writers.resize_with(1 << 16, BoundaryWriter::default);
        for (i, word) in words.iter().enumerate() {
            if i % 4096 == 0 && stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let last = part.regions.last().map(|region| (region.owner, region.weight));
            let start = part.symbols.len() as u32;
            if last != Some((word.owner, word.weight)) {
                part.regions.push(Region { start, owner: word.owner, weight: word.weight });
            }
            part.symbols.push(SEPARATOR);
            let id = |byte: u8| ids[usize::from(byte)];
            for &byte in word.bytes {
                part.symbols.push(u32::from(id(byte)));
            }
            for (boundary, pair) in (start + 2..).zip(word.bytes.windows(2)) {
                let both = usize::from(id(pair[0])) << 8 | usize::from(id(pair[1]));
                part.counts[both] += word.weight;
                part.writers[both].push(boundary);
            }
        }
        Ok(part)
    }

    /// Puts another part behind this one.
    pub fn append(&mut self, other: Part) -> Result<()> {
        check_size(self.symbols.len() + other.symbols.len())?;
        let offset = self.symbols.len() as u32;
        self.symbols.0.extend(other.symbols.0);
        let moved = |region: Region| Region { start: region.start + offset, ..region };
        self.regions.extend(other.regions.into_iter().map(moved));
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
        for (writer, behind) in self.writers.iter_mut().zip(other.writers) {
            writer.append(&behind, offset);
        }
        Ok(())
    }
}

/// Boundaries are 32-bit numbers.
fn check_size(symbols: usize) -> Result<()> {
    let limit = u32::MAX as usize - 1;
    if symbols >= limit {
        return Err(Error::Invalid(format!(
            "the distinct pre-tokens that are looked at together (of one language, or of all in a global phase and \
             where train text is measured) hold {symbols} bytes, more than the engine's limit of {limit}: \
             prune the rarest, or give less text"
        )));
    }
    Ok(())
}
