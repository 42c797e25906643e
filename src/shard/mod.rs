//! The words of one language (or of several) cut into tokens, and what one merge does to them.
//!
//! All words lie in ONE flat array of token ids with a separator before each. A token that spans
//! several bytes is written at the first and at the last coordinate of its span; what lies between
//! is stale. A pair is known by its *boundary*: the coordinate where its right token starts.
//!
//! ```text
//! coordinates  0 1 2 3 4 5          merges: (t,h) -> T, (T,e) -> U
//! start        | t h e | a
//! after (t,h)  | T T e | a          boundary 3 lies between T and e
//! after (T,e)  | U T U | a          boundary 2 is stale: U starts at 1 and ends at 3
//! ```
//!
//! A token that was merged away lost one end of its span to the new token, and what is written there
//! later is only ever longer. So a token stands at a span if and only if its id is at BOTH ends; the
//! start of its right neighbour is then always fresh. Three reads tell a live boundary from a stale one.

use crate::error::{Error, Result};
use crate::pages::prefetch;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::sync::atomic::{AtomicBool, Ordering};

/// No token has this id, the largest that [`Symbols`] can hold.
const SEPARATOR: u32 = 0xFF_FFFF;
pub const MOST_TOKENS: usize = SEPARATOR as usize;

/// One learned merge, with the lengths in bytes that a shard needs to find the spans.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    pub left: u32,
    pub right: u32,
    pub new: u32,
    pub left_len: u32,
    pub right_len: u32,
}

/// A pair and how often it occurs: what a language proposes as its next merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub count: u64,
    pub pair: u64,
}

pub fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

pub fn parts(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

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
struct Region {
    start: u32,
    owner: u32,
    weight: u64,
}

struct PairEntry {
    count: u64,
    boundaries: Boundaries,
}

pub struct Shard {
    symbols: Symbols,
    regions: Vec<Region>,
    pairs: FxHashMap<u64, PairEntry>,
    lists: Lists,
    seen: IdSet,
}

/// Token ids, three bytes each: they are most of what a shard takes.
#[derive(Default)]
struct Symbols(Vec<u8>);

impl Symbols {
    const SIZE: usize = 3;

    fn with_capacity(symbols: usize) -> Symbols {
        Symbols(Vec::with_capacity(symbols * Symbols::SIZE + 1))
    }

    fn len(&self) -> usize {
        self.0.len() / Symbols::SIZE
    }

    fn push(&mut self, id: u32) {
        self.0.extend_from_slice(&id.to_le_bytes()[..Symbols::SIZE]);
    }

    /// To be called after the last `push`: `get` reads a byte more than it needs.
    fn finish(&mut self) {
        self.0.push(0);
    }

    #[inline(always)]
    fn get(&self, at: usize) -> u32 {
        let four = self.0[at * Symbols::SIZE..].first_chunk().expect("a byte follows the last symbol");
        u32::from_le_bytes(*four) & 0xFF_FFFF
    }

    #[inline(always)]
    fn set(&mut self, at: usize, id: u32) {
        self.0[at * Symbols::SIZE..][..Symbols::SIZE].copy_from_slice(&id.to_le_bytes()[..Symbols::SIZE]);
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch(&self.0[at * Symbols::SIZE]);
    }
}

/// Words laid out and their pairs indexed: a shard, or a part of one that another thread made.
#[derive(Default)]
pub struct Part {
    symbols: Symbols,
    regions: Vec<Region>,
    counts: Vec<u64>,
    writers: Vec<BoundaryWriter>,
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
                let slot = usize::from(id(pair[0])) << 8 | usize::from(id(pair[1]));
                part.counts[slot] += word.weight;
                part.writers[slot].push(boundary);
            }
        }
        Ok(part)
    }

    /// Puts another part behind this one.
    fn append(&mut self, other: Part) -> Result<()> {
        check_size(self.symbols.len() + other.symbols.len())?;
        let offset = self.symbols.len() as u32;
        self.symbols.0.extend(other.symbols.0);
        let moved = |region: Region| Region { start: region.start + offset, ..region };
        self.regions.extend(other.regions.into_iter().map(moved));
        for (slot, count) in other.counts.into_iter().enumerate() {
            self.counts[slot] += count;
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

impl Shard {
    pub fn new(parts: Vec<Part>) -> Result<Shard> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        for part in parts {
            whole.append(part)?;
        }
        let Part { mut symbols, regions, counts, writers } = whole;
        symbols.push(SEPARATOR);
        symbols.finish();
        let mut seen = IdSet::default();
        let mut pairs = FxHashMap::default();
        let mut lists = Lists::default();
        lists.bytes.reserve_exact(writers.iter().map(|writer| writer.bytes.len()).sum());
        for (slot, writer) in writers.into_iter().enumerate().filter(|(slot, _)| counts[*slot] > 0) {
            let (left, right) = ((slot >> 8) as u32, (slot & 0xff) as u32);
            seen.insert(left);
            seen.insert(right);
            let boundaries = lists.keep(&writer.bytes);
            pairs.insert(pair(left, right), PairEntry { count: counts[slot], boundaries });
        }
        Ok(Shard { symbols, regions, pairs, lists, seen })
    }

    pub fn count(&self, pair: u64) -> u64 {
        self.pairs.get(&pair).map_or(0, |entry| entry.count)
    }

    pub fn candidates(&self) -> impl Iterator<Item = Candidate> + Clone {
        self.pairs.iter().map(|(&pair, entry)| Candidate { count: entry.count, pair })
    }

    /// Applies a merge to every word, left to right, never overlapping (`aaa` with (a,a) gives `aa a`).
    ///
    /// `merged` hears of every occurrence (owner and weight); `born` gets each pair whose count grew, which are the
    /// pairs of the new token and no others: every other pair can only lose.
    pub fn apply(
        &mut self,
        merge: &Merge,
        scratch: &mut Scratch,
        mut merged: impl FnMut(u32, u64),
        mut born: impl FnMut(Candidate),
    ) {
        let &Merge { left, right, new, left_len, right_len } = merge;
        if !self.seen.contains(left) || !self.seen.contains(right) {
            return;
        }
        let Some(entry) = self.pairs.remove(&pair(left, right)) else {
            return;
        };
        scratch.decoded.clear();
        decode(self.lists.bytes(&entry.boundaries), |boundary| scratch.decoded.push(boundary));
        self.lists.discard(&entry.boundaries);
        scratch.spots.clear();
        let symbols = &mut self.symbols;
        for (i, &boundary) in scratch.decoded.iter().enumerate() {
            if let Some(&later) = scratch.decoded.get(i + PREFETCH) {
                symbols.prefetch((later - left_len) as usize);
                symbols.prefetch(later as usize);
            }
            let start = (boundary - left_len) as usize;
            let middle = boundary as usize;
            if symbols.get(middle) == right && symbols.get(middle - 1) == left && symbols.get(start) == left {
                // Written at once: in a run such as `aaa` the next boundary then shows as stale.
                symbols.set(start, new);
                symbols.set(middle + right_len as usize - 1, new);
                scratch.spots.push(start as u32);
            }
        }
        if scratch.spots.is_empty() {
            return;
        }
        self.seen.insert(new);

        let span = left_len + right_len;
        let mut regions = RegionWalk { regions: &self.regions, at: 0 };
        let mut previous_end = 0;
        for (i, &start) in scratch.spots.iter().enumerate() {
            if let Some(&later) = scratch.spots.get(i + PREFETCH) {
                symbols.prefetch(later as usize - 1); // in a long list, what the first pass fetched is gone
                symbols.prefetch((later + span) as usize);
            }
            let end = start + span;
            let region = regions.of(start);
            merged(region.owner, region.weight);
            if previous_end != start {
                let neighbour = symbols.get(start as usize - 1);
                if neighbour != SEPARATOR {
                    scratch.before.note(neighbour, start, region.weight);
                }
            }
            if scratch.spots.get(i + 1) == Some(&end) {
                scratch.twins.push(end);
                scratch.twin_weight += region.weight;
            } else {
                let neighbour = symbols.get(end as usize);
                if neighbour != SEPARATOR {
                    scratch.after.note(neighbour, end, region.weight);
                }
            }
            previous_end = end;
        }

        let mut index = Index { pairs: &mut self.pairs, lists: &mut self.lists, coded: &mut scratch.coded };
        scratch.before.drain(|neighbour, weight, boundaries| {
            index.lose(pair(neighbour, left), weight);
            born(index.gain(pair(neighbour, new), weight, boundaries));
        });
        scratch.after.drain(|neighbour, weight, boundaries| {
            index.lose(pair(right, neighbour), weight);
            born(index.gain(pair(new, neighbour), weight, boundaries));
        });
        if !scratch.twins.is_empty() {
            index.lose(pair(right, left), scratch.twin_weight);
            born(index.gain(pair(new, new), scratch.twin_weight, &scratch.twins));
            scratch.twins.clear();
            scratch.twin_weight = 0;
        }
        if self.lists.garbage > self.lists.bytes.len() / 3 + 4 * self.pairs.len() {
            self.lists.compact(&mut self.pairs);
        }
    }
}

/// The pairs of a shard while a merge changes them.
struct Index<'s> {
    pairs: &'s mut FxHashMap<u64, PairEntry>,
    lists: &'s mut Lists,
    coded: &'s mut BoundaryWriter,
}

impl Index<'_> {
    /// The pair just merged is gone already, so it may be missing here (`aaa`); no other pair can.
    fn lose(&mut self, pair: u64, weight: u64) {
        if let MapEntry::Occupied(mut slot) = self.pairs.entry(pair) {
            slot.get_mut().count -= weight;
            if slot.get().count == 0 {
                self.lists.discard(&slot.remove().boundaries);
            }
        }
    }

    /// A pair exists before it is born only when two merges make the same token (`ab|c`, `a|bc`): rare.
    fn gain(&mut self, pair: u64, weight: u64, boundaries: &[u32]) -> Candidate {
        let count = match self.pairs.entry(pair) {
            MapEntry::Vacant(slot) => {
                let boundaries = self.lists.keep(self.coded.code(boundaries));
                slot.insert(PairEntry { count: weight, boundaries });
                weight
            }
            MapEntry::Occupied(mut slot) => {
                let entry = slot.get_mut();
                entry.count += weight;
                let mut all = boundaries.to_vec();
                decode(self.lists.bytes(&entry.boundaries), |boundary| all.push(boundary));
                all.sort_unstable();
                all.dedup();
                self.lists.discard(&entry.boundaries);
                entry.boundaries = self.lists.keep(self.coded.code(&all));
                entry.count
            }
        };
        Candidate { count, pair }
    }
}

/// How many boundaries ahead the symbols are fetched: they lie too far apart for the processor to guess.
const PREFETCH: usize = 24;

/// Finds the region of each boundary of an ascending series by galloping from the last one.
struct RegionWalk<'s> {
    regions: &'s [Region],
    at: usize,
}

impl<'s> RegionWalk<'s> {
    fn of(&mut self, position: u32) -> &'s Region {
        let mut step = 1;
        while self.regions.get(self.at + step).is_some_and(|region| region.start <= position) {
            self.at += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.regions.get(self.at + step).is_some_and(|region| region.start <= position) {
                self.at += step;
            }
        }
        &self.regions[self.at]
    }
}

/// What a merge collects before it touches the index; kept between merges so that nothing is allocated.
pub struct Scratch {
    decoded: Vec<u32>,
    coded: BoundaryWriter,
    spots: Vec<u32>,
    before: Side,
    after: Side,
    twins: Vec<u32>,
    twin_weight: u64,
}

impl Scratch {
    pub fn new(tokens: usize) -> Scratch {
        Scratch {
            decoded: Vec::new(),
            coded: BoundaryWriter::default(),
            spots: Vec::new(),
            before: Side::new(tokens),
            after: Side::new(tokens),
            twins: Vec::new(),
            twin_weight: 0,
        }
    }

    /// The number of token ids that it has room for.
    pub fn capacity(&self) -> usize {
        self.before.sums.len()
    }
}

/// The neighbours on one side of the new token: dense by id, so that the index is asked once for each
/// distinct neighbour and not once for each occurrence.
struct Side {
    sums: Vec<NeighbourSum>,
    touched: Vec<u32>,
    spots: Vec<(u32, u32)>,
    grouped: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct NeighbourSum {
    weight: u64,
    number: u32,
    offset: u32,
}

impl Side {
    fn new(tokens: usize) -> Side {
        Side {
            sums: vec![NeighbourSum::default(); tokens],
            touched: Vec::new(),
            spots: Vec::new(),
            grouped: Vec::new(),
        }
    }

    fn note(&mut self, neighbour: u32, boundary: u32, weight: u64) {
        let sum = &mut self.sums[neighbour as usize];
        if sum.number == 0 {
            self.touched.push(neighbour);
        }
        sum.number += 1;
        sum.weight += weight;
        self.spots.push((neighbour, boundary));
    }

    /// Hands out each neighbour with its weight and its boundaries in ascending order, and empties itself.
    fn drain(&mut self, mut each: impl FnMut(u32, u64, &[u32])) {
        let mut offset = 0;
        for &neighbour in &self.touched {
            let sum = &mut self.sums[neighbour as usize];
            sum.offset = offset;
            offset += sum.number;
        }
        self.grouped.resize(offset as usize, 0);
        for &(neighbour, boundary) in &self.spots {
            let sum = &mut self.sums[neighbour as usize];
            self.grouped[sum.offset as usize] = boundary;
            sum.offset += 1;
        }
        for &neighbour in &self.touched {
            let sum = std::mem::take(&mut self.sums[neighbour as usize]);
            let end = sum.offset as usize;
            each(neighbour, sum.weight, &self.grouped[end - sum.number as usize..end]);
        }
        self.touched.clear();
        self.spots.clear();
    }
}

/// Where a list of boundaries is: ascending, each coded as its distance from the one before in seven bits a byte.
///
/// Most pairs are rare, so a list of up to twelve bytes lies here itself; of a longer one, its place in [`Lists`].
#[derive(Clone, Copy)]
struct Boundaries {
    len: u32,
    data: [u8; Boundaries::INLINE],
}

impl Boundaries {
    const INLINE: usize = 12;

    fn is_long(&self) -> bool {
        self.len as usize > Boundaries::INLINE
    }

    fn place(&self) -> usize {
        let (place, _) = self.data.split_first_chunk().expect("a place takes eight bytes");
        u64::from_le_bytes(*place) as usize
    }
}

/// The longer lists of a shard, end to end. Millions of them come and go: as blocks of their own they would leave
/// holes that nothing fits into.
#[derive(Default)]
struct Lists {
    bytes: Vec<u8>,
    /// How many of the bytes belong to no pair any more.
    garbage: usize,
}

impl Lists {
    fn keep(&mut self, list: &[u8]) -> Boundaries {
        let mut boundaries = Boundaries { len: list.len() as u32, data: [0; Boundaries::INLINE] };
        if boundaries.is_long() {
            boundaries.data[..8].copy_from_slice(&(self.bytes.len() as u64).to_le_bytes());
            self.bytes.extend_from_slice(list);
        } else {
            boundaries.data[..list.len()].copy_from_slice(list);
        }
        boundaries
    }

    fn bytes<'l>(&'l self, list: &'l Boundaries) -> &'l [u8] {
        let len = list.len as usize;
        if list.is_long() { &self.bytes[list.place()..][..len] } else { &list.data[..len] }
    }

    fn discard(&mut self, list: &Boundaries) {
        if list.is_long() {
            self.garbage += list.len as usize;
        }
    }

    fn compact(&mut self, pairs: &mut FxHashMap<u64, PairEntry>) {
        let old = std::mem::take(self);
        self.bytes.reserve_exact((old.bytes.len() - old.garbage) * 9 / 8);
        for entry in pairs.values_mut().filter(|entry| entry.boundaries.is_long()) {
            entry.boundaries = self.keep(old.bytes(&entry.boundaries));
        }
    }
}

fn decode(list: &[u8], mut each: impl FnMut(u32)) {
    let mut boundary = 0u32;
    let mut delta = 0u32;
    let mut shift = 0;
    for &byte in list {
        delta |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            boundary += delta;
            each(boundary);
            delta = 0;
            shift = 0;
        } else {
            shift += 7;
        }
    }
}

#[derive(Default)]
struct BoundaryWriter {
    bytes: Vec<u8>,
    last: u32,
}

impl BoundaryWriter {
    fn push(&mut self, boundary: u32) {
        let mut delta = boundary - self.last;
        self.last = boundary;
        while delta >= 0x80 {
            self.bytes.push(delta as u8 | 0x80);
            delta >>= 7;
        }
        self.bytes.push(delta as u8);
    }

    /// The boundaries of another, `offset` further on. Only its first has another distance from the one before.
    fn append(&mut self, behind: &BoundaryWriter, offset: u32) {
        if let Some(end) = behind.bytes.iter().position(|byte| byte & 0x80 == 0) {
            let (first, rest) = behind.bytes.split_at(end + 1);
            decode(first, |boundary| self.push(boundary + offset));
            self.bytes.extend_from_slice(rest);
            self.last = behind.last + offset;
        }
    }

    /// One whole list; the writer's memory is used again for the next.
    fn code(&mut self, ascending: &[u32]) -> &[u8] {
        self.bytes.clear();
        self.last = 0;
        for &boundary in ascending {
            self.push(boundary);
        }
        &self.bytes
    }
}

/// A growing set of token ids, one bit each. A pair can only occur where both its tokens do, and most
/// tokens occur in few languages, so two bits spare most look-ups in the index.
#[derive(Default)]
struct IdSet(Vec<u64>);

impl IdSet {
    fn insert(&mut self, id: u32) {
        let slot = id as usize / 64;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] |= 1 << (id % 64);
    }

    fn contains(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|bits| bits >> (id % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(boundaries: impl IntoIterator<Item = u32>) -> BoundaryWriter {
        let mut writer = BoundaryWriter::default();
        boundaries.into_iter().for_each(|boundary| writer.push(boundary));
        writer
    }

    proptest! {
        #[test]
        fn lists_are_joined_as_if_written_in_one_go(
            mut all in prop::collection::vec(prop_oneof![0u32..200, 0u32..40_000, 0u32..1 << 30], 0..40),
            share in 0.0..1.0,
        ) {
            all.sort_unstable();
            let (front, behind) = all.split_at((all.len() as f64 * share) as usize);
            let offset = front.last().copied().unwrap_or(0);
            let mut joined = written(front.iter().copied());
            joined.append(&written(behind.iter().map(|boundary| boundary - offset)), offset);
            prop_assert_eq!(joined.last, all.last().copied().unwrap_or(0));
            let mut decoded = Vec::new();
            decode(&joined.bytes, |boundary| decoded.push(boundary));
            prop_assert_eq!(decoded, all);
        }
    }
}
