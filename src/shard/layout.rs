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
use crate::vocabulary::byte_ranks;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// No token has this id, the largest that [`SymbolsBuf`] can hold.
pub const SEPARATOR: u32 = 0xFF_FFFF;
pub const MOST_TOKENS: usize = SEPARATOR as usize;
/// How many symbols a shard may have, so that the end of the last is a boundary: boundaries are 32-bit numbers.
pub const MOST_SYMBOLS: usize = u32::MAX as usize - 1;
/// In bytes: a word is not cut over shards, and has a separator on both sides.
pub const LONGEST_WORD: usize = MOST_SYMBOLS - 2;

/// A word before training: its bytes, how often it occurs, and whose it is.
#[derive(Clone, Copy)]
pub struct WeightedWord<'w> {
    pub bytes: &'w [u8],
    pub weight: u64,
    pub owner: u32,
}

impl WeightedWord<'_> {
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
pub struct SymbolsBuf(Vec<u8>);

impl SymbolsBuf {
    const SIZE: usize = 3;
    /// What [`Symbols`] reads behind the last symbol.
    const PADDING: usize = 2;

    fn with_capacity(symbols: usize) -> SymbolsBuf {
        SymbolsBuf(Vec::with_capacity(symbols * SymbolsBuf::SIZE + SymbolsBuf::PADDING))
    }

    fn len(&self) -> usize {
        self.0.len() / SymbolsBuf::SIZE
    }

    /// A separator and the symbols of a word of so many bytes.
    fn add_word(&mut self, bytes: usize, ids: impl Iterator<Item = u32>) {
        let end = self.0.len();
        self.0.resize(end + (1 + bytes) * SymbolsBuf::SIZE, 0);
        let (separator, symbols) = self.0[end..].split_at_mut(SymbolsBuf::SIZE);
        separator.copy_from_slice(&SEPARATOR.to_le_bytes()[..SymbolsBuf::SIZE]);
        for (symbol, id) in symbols.as_chunks_mut().0.iter_mut().zip(ids) {
            let [low, middle, high, _] = id.to_le_bytes();
            *symbol = [low, middle, high];
        }
    }

    /// To be called after the last word.
    pub fn finish(&mut self) {
        self.add_word(0, std::iter::empty());
        self.0.extend_from_slice(&[0; SymbolsBuf::PADDING]);
    }

    pub fn as_symbols(&mut self) -> Symbols<'_> {
        Symbols(&mut self.0)
    }
}

/// The same, borrowed, to be read and changed.
///
/// Coordinates are 32-bit numbers, so that the compiler knows that three times one of them is a `usize`: then it checks but
/// one end of what is read or written.
pub struct Symbols<'s>(&'s mut [u8]);

impl Symbols<'_> {
    #[inline(always)]
    pub fn get(&self, at: u32) -> u32 {
        let first = at as usize * SymbolsBuf::SIZE;
        let four = self.0[first..first + 4].try_into().expect("four bytes");
        u32::from_le_bytes(four) & 0xFF_FFFF
    }

    /// This one and the next, as [`two`] has them.
    #[inline(always)]
    pub fn get_two(&self, at: u32) -> u64 {
        let first = at as usize * SymbolsBuf::SIZE;
        let eight = self.0[first..first + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(eight) & 0xFFFF_FFFF_FFFF
    }

    #[inline(always)]
    pub fn set(&mut self, at: u32, id: u32) {
        let first = at as usize * SymbolsBuf::SIZE;
        self.0[first..first + SymbolsBuf::SIZE].copy_from_slice(&id.to_le_bytes()[..SymbolsBuf::SIZE]);
    }

    #[inline(always)]
    pub fn prefetch(&self, at: u32) {
        prefetch(self.0.as_ptr().wrapping_add(at as usize * SymbolsBuf::SIZE));
    }
}

/// Two symbols in one number, to be compared at once.
#[inline(always)]
pub fn two(left: u32, right: u32) -> u64 {
    u64::from(left) | u64::from(right) << 24
}

/// A pair before the first merge: how often it occurs, and its boundaries.
pub struct StartPair {
    pub pair: Pair,
    pub count: u64,
    pub boundaries: BoundaryWriter,
}

impl StartPair {
    fn push(&mut self, boundary: u32, weight: u64) {
        self.count += weight;
        self.boundaries.push(boundary);
    }
}

/// The pairs of a part.
pub struct StartPairs {
    pairs: Vec<StartPair>,
    /// By the two bytes of a pair, its place among the pairs; beyond the last one if it has not occurred.
    of_bytes: Box<[u32; 1 << 16]>,
    /// By two tokens, where training starts from longer ones.
    of_longer: FxHashMap<Pair, u32>,
}

impl StartPairs {
    fn new() -> StartPairs {
        let of_bytes = vec![u32::MAX; 1 << 16].try_into().expect("as many as pairs of bytes");
        StartPairs { pairs: Vec::new(), of_bytes, of_longer: FxHashMap::default() }
    }

    #[inline(always)]
    fn of_bytes(&mut self, left: u8, right: u8) -> &mut StartPair {
        let place = &mut self.of_bytes[usize::from(left) << 8 | usize::from(right)];
        StartPairs::at(place, &mut self.pairs, Pair::new(left.into(), right.into()))
    }

    fn of(&mut self, pair: Pair) -> &mut StartPair {
        if let (Ok(left), Ok(right)) = (pair.left().try_into(), pair.right().try_into()) {
            return self.of_bytes(left, right);
        }
        StartPairs::at(self.of_longer.entry(pair).or_insert(u32::MAX), &mut self.pairs, pair)
    }

    #[inline(always)]
    fn at<'p>(place: &mut u32, pairs: &'p mut Vec<StartPair>, pair: Pair) -> &'p mut StartPair {
        if *place as usize >= pairs.len() {
            *place = StartPairs::add(pairs, pair);
        }
        &mut pairs[*place as usize]
    }

    #[cold] // and not inlined: the loop over all of the text then has room for what it needs in registers
    fn add(pairs: &mut Vec<StartPair>, pair: Pair) -> u32 {
        // Pairs of bytes are few and have long lists, which would be moved several times; of others there may be millions.
        let room = if pair.left().max(pair.right()) < 256 { 64 } else { 0 };
        pairs.push(StartPair { pair, count: 0, boundaries: BoundaryWriter::with_room(room) });
        pairs.len() as u32 - 1
    }

    /// Those of a part that comes `offset` further on.
    fn append(&mut self, other: StartPairs, offset: u32) {
        for StartPair { pair, count, boundaries } in other.pairs {
            let same = self.of(pair);
            same.count += count;
            same.boundaries.append(&boundaries, offset);
        }
    }

    /// All but those of words that weigh nothing alone.
    pub fn into_vec(mut self) -> Vec<StartPair> {
        self.pairs.retain(|pair| pair.count > 0);
        self.pairs
    }
}

/// Words laid out and their pairs indexed: a shard, or a part of one that another thread made.
pub struct Part {
    pub symbols: SymbolsBuf,
    pub regions: Vec<Region>,
    pub pairs: StartPairs,
}

impl Part {
    /// All words in parts of at most `most_symbols` each: mostly one. A word of one token has no pair and is left out.
    pub fn lay_out(
        mut words: Vec<WeightedWord>,
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
            let fits = |word: &&WeightedWord| {
                size += word.symbols();
                size <= most_symbols
            };
            let number = rest.iter().take_while(fits).count().max(1);
            parts.push(Part::new(&rest[..number], start, stop)?);
            rest = &rest[number..];
        }
        Ok(parts)
    }

    fn new(words: &[WeightedWord], start: &Start, stop: &AtomicBool) -> Result<Part> {
        let size = words.iter().map(WeightedWord::symbols).sum::<usize>();
        let mut part = Part {
            symbols: SymbolsBuf::with_capacity(size + 1),
            regions: Vec::new(),
            pairs: StartPairs::new(),
        };
        let (mut cutter, ranks) = (start.cutter(stop), byte_ranks());
        for (i, word) in words.iter().enumerate() {
            if i % 4096 == 0 && stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let tokens = cutter.cut(word.bytes)?;
            if tokens.is_some_and(|tokens| tokens.len() < 2) {
                continue;
            }
            let last = part.regions.last().map(|region| (region.owner, region.weight));
            if last != Some((word.owner, word.weight)) {
                let start = part.symbols.len() as u32;
                part.regions.push(Region { start, owner: word.owner, weight: word.weight });
            }
            match tokens {
                None => part.add_bytes(word, &ranks),
                Some(tokens) => part.add_tokens(word, tokens, start),
            }
        }
        Ok(part)
    }

    fn add_bytes(&mut self, word: &WeightedWord, ranks: &[u8; 256]) {
        let rank = |&byte: &u8| ranks[usize::from(byte)];
        let mut boundary = self.symbols.len() as u32 + 1;
        self.symbols.add_word(word.bytes.len(), word.bytes.iter().map(rank).map(u32::from));
        let mut left = rank(&word.bytes[0]);
        for right in word.bytes[1..].iter().map(rank) {
            boundary += 1;
            self.pairs.of_bytes(left, right).push(boundary, word.weight);
            left = right;
        }
    }

    fn add_tokens(&mut self, word: &WeightedWord, tokens: &[u32], start: &Start) {
        let mut boundary = self.symbols.len() as u32 + 1;
        let symbols = tokens.iter().flat_map(|&token| std::iter::repeat_n(token, start.length(token)));
        self.symbols.add_word(word.bytes.len(), symbols);
        for pair in tokens.windows(2) {
            boundary += start.length(pair[0]) as u32;
            self.pairs.of(Pair::new(pair[0], pair[1])).push(boundary, word.weight);
        }
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
