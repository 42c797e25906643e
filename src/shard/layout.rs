//! Laying the words out before the first merge.
//!
//! In: words with their weights and owners. Out: parts, each with the flat array of symbols, the regions of equal weight,
//! and the boundaries of every pair. Several threads make a part each; a shard is made of them all, or of as many as
//! 32-bit boundaries can tell apart.

use super::lists::BoundaryWriter;
use crate::error::{Error, Result};
use crate::memory::prefetch;
use crate::pair::Pair;
use crate::start::Start;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// No token has this id, the largest that [`Symbols`] can hold.
pub const SEPARATOR: u32 = 0xFF_FFFF;
pub const MOST_TOKENS: usize = SEPARATOR as usize;
/// How many symbols a shard may have, so that the end of the last is a boundary: boundaries are 32-bit numbers.
pub const MOST_SYMBOLS: usize = u32::MAX as usize - 1;
/// In bytes: a word is not cut over shards, and has a separator on both sides.
pub const LONGEST_WORD: usize = MOST_SYMBOLS - 2;

/// A word before training: its bytes, how often it occurs, and whose it is.
#[derive(Clone, Copy)]
pub struct Word<'w> {
    pub bytes: &'w [u8],
    pub weight: u64,
    pub owner: u32,
}

impl Word<'_> {
    /// With the separator before it.
    fn symbols(&self) -> usize {
        self.bytes.len() + 1
    }
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
        self.0.extend_from_slice(&id.to_le_bytes()); // four bytes are written at once, three of them one by one
        self.0.pop();
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

/// The pairs of a part: how often each occurs, and its boundaries.
#[derive(Default)]
pub struct StartPairs {
    /// By the two bytes of a pair.
    bytes: Vec<(u64, BoundaryWriter)>,
    /// Those that occur, which are few of the 65,536.
    occurring: Vec<u16>,
    /// By two tokens, where training starts from longer ones.
    longer: FxHashMap<Pair, (u64, BoundaryWriter)>,
}

impl StartPairs {
    fn new() -> StartPairs {
        let mut bytes = Vec::new();
        bytes.resize_with(1 << 16, Default::default);
        StartPairs { bytes, occurring: Vec::new(), longer: FxHashMap::default() }
    }

    /// Of two bytes. A boundary is to be written there.
    #[inline(always)]
    fn of_bytes(&mut self, left: u32, right: u32) -> &mut (u64, BoundaryWriter) {
        let both = (left << 8 | right) as u16;
        let found = &mut self.bytes[usize::from(both)];
        if found.1.bytes.is_empty() {
            self.occurring.push(both);
        }
        found
    }

    fn of(&mut self, left: u32, right: u32) -> &mut (u64, BoundaryWriter) {
        if left | right < 256 {
            self.of_bytes(left, right)
        } else {
            self.longer.entry(Pair::new(left, right)).or_default()
        }
    }

    /// Those of a part that comes `offset` further on.
    fn append(&mut self, other: StartPairs, offset: u32) {
        for (pair, more, behind) in other.into_occurring() {
            let (count, writer) = self.of(pair.left(), pair.right());
            *count += more;
            writer.append(&behind, offset);
        }
    }

    /// Of all lists together, in bytes.
    pub fn size(&self) -> usize {
        let of_bytes = self.occurring.iter().map(|&both| &self.bytes[usize::from(both)]);
        of_bytes.chain(self.longer.values()).map(|(_, writer)| writer.bytes.len()).sum()
    }

    /// Each pair that occurs, with its count and its boundaries; not those of words that weigh nothing alone.
    pub fn into_occurring(mut self) -> impl Iterator<Item = (Pair, u64, BoundaryWriter)> {
        let of_bytes = self.occurring.into_iter().map(move |both| {
            let entry = std::mem::take(&mut self.bytes[usize::from(both)]);
            (Pair::new(u32::from(both) >> 8, u32::from(both) & 0xff), entry)
        });
        let all = of_bytes.chain(self.longer).map(|(pair, (count, writer))| (pair, count, writer));
        all.filter(|(_, count, _)| *count > 0)
    }
}

/// Words laid out and their pairs indexed: a shard, or a part of one that another thread made.
#[derive(Default)]
pub struct Part {
    pub symbols: Symbols,
    pub regions: Vec<Region>,
    pub pairs: StartPairs,
}

impl Part {
    /// All words in parts of at most `most_symbols` each: mostly one. A word of one token has no pair and is left out.
    pub fn lay_out(
        mut words: Vec<Word>,
        most_symbols: usize,
        start: &Start,
        stop: &AtomicBool,
    ) -> Result<Vec<Part>> {
        words.retain(|word| word.bytes.len() > 1);
        // Words of the same weight stay in the order of a language's counts, the alphabet's: those that share pairs lie
        // close together.
        words.sort_by(|a, b| (a.owner, b.weight).cmp(&(b.owner, a.weight)));
        let (mut parts, mut rest) = (Vec::new(), &words[..]);
        while !rest.is_empty() {
            let mut size = 1; // a separator follows the last word
            let fits = |word: &&Word| {
                size += word.symbols();
                size <= most_symbols
            };
            let number = rest.iter().take_while(fits).count().max(1);
            parts.push(Part::new(&rest[..number], start, stop)?);
            rest = &rest[number..];
        }
        Ok(parts)
    }

    fn new(words: &[Word], start: &Start, stop: &AtomicBool) -> Result<Part> {
        let size = words.iter().map(Word::symbols).sum::<usize>();
        let mut part =
            Part { symbols: Symbols::with_capacity(size + 1), regions: Vec::new(), pairs: StartPairs::new() };
        let mut cutter = start.cutter(stop);
        for (i, word) in words.iter().enumerate() {
            if i % 4096 == 0 && stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let tokens = cutter.cut(word.bytes)?;
            if tokens.len() < 2 {
                continue;
            }
            let last = part.regions.last().map(|region| (region.owner, region.weight));
            let first = part.symbols.len() as u32;
            if last != Some((word.owner, word.weight)) {
                part.regions.push(Region { start: first, owner: word.owner, weight: word.weight });
            }
            part.symbols.push(SEPARATOR);
            let mut boundary = first + 1;
            if tokens.len() == word.bytes.len() {
                // All are bytes, as they mostly are at the start.
                tokens.iter().for_each(|&token| part.symbols.push(token));
                for pair in tokens.windows(2) {
                    boundary += 1;
                    let (count, writer) = part.pairs.of_bytes(pair[0], pair[1]);
                    *count += word.weight;
                    writer.push(boundary);
                }
                continue;
            }
            for (i, &token) in tokens.iter().enumerate() {
                if i > 0 {
                    let (count, writer) = part.pairs.of(tokens[i - 1], token);
                    *count += word.weight;
                    writer.push(boundary);
                }
                let length = start.length(token);
                (0..length).for_each(|_| part.symbols.push(token));
                boundary += length as u32;
            }
        }
        Ok(part)
    }

    /// Of both parts together, one behind the other.
    pub fn joint_size(&self, other: &Part) -> usize {
        self.symbols.len() + other.symbols.len() + 1
    }

    /// Puts another part behind this one.
    pub fn append(&mut self, other: Part) {
        let offset = self.symbols.len() as u32;
        self.symbols.0.extend(other.symbols.0);
        let moved = |region: Region| Region { start: region.start + offset, ..region };
        self.regions.extend(other.regions.into_iter().map(moved));
        self.pairs.append(other.pairs, offset);
    }
}
