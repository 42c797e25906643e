//! Where each pair occurs: lists of boundaries.
//!
//! In: ascending coordinates, `[5, 9, 300]`. Out: the same, kept as distances of seven bits a byte: `5`, `4`, and
//! `291` in two bytes.

use crate::pair::Pair;
use rustc_hash::FxHashMap;

/// How often a pair occurs, and where.
pub struct PairEntry {
    pub count: u64,
    pub boundaries: Boundaries,
}

/// Where a list of boundaries is: ascending, each coded as its distance from the one before in seven bits a byte.
///
/// Most pairs are rare, so a list of up to twelve bytes lies here itself; of a longer one, its place in [`Lists`].
#[derive(Clone, Copy)]
pub struct Boundaries {
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
pub struct Lists {
    bytes: Vec<u8>,
    /// How many of the bytes belong to no pair any more.
    garbage: usize,
}

impl Lists {
    /// With room for this many bytes of lists.
    pub fn with_capacity(bytes: usize) -> Lists {
        Lists { bytes: Vec::with_capacity(bytes), garbage: 0 }
    }

    pub fn keep(&mut self, list: &[u8]) -> Boundaries {
        let mut boundaries = Boundaries { len: list.len() as u32, data: [0; Boundaries::INLINE] };
        if boundaries.is_long() {
            boundaries.data[..8].copy_from_slice(&(self.bytes.len() as u64).to_le_bytes());
            self.bytes.extend_from_slice(list);
        } else {
            boundaries.data[..list.len()].copy_from_slice(list);
        }
        boundaries
    }

    pub fn bytes<'l>(&'l self, list: &'l Boundaries) -> &'l [u8] {
        let len = list.len as usize;
        if list.is_long() { &self.bytes[list.place()..][..len] } else { &list.data[..len] }
    }

    pub fn discard(&mut self, list: &Boundaries) {
        if list.is_long() {
            self.garbage += list.len as usize;
        }
    }

    /// Makes the lists anew without the bytes that belong to no pair, once they are worth the copying.
    pub fn compact_if_worth_it(&mut self, pairs: &mut FxHashMap<Pair, PairEntry>) {
        if self.garbage <= self.bytes.len() / 3 + 4 * pairs.len() {
            return;
        }
        let old = std::mem::take(self);
        self.bytes.reserve_exact((old.bytes.len() - old.garbage) * 9 / 8);
        for entry in pairs.values_mut().filter(|entry| entry.boundaries.is_long()) {
            entry.boundaries = self.keep(old.bytes(&entry.boundaries));
        }
    }
}

/// The boundaries of a coded list, written into `room`, which only ever grows: it is used again for the next.
pub fn decode<'r>(list: &[u8], room: &'r mut Vec<u32>) -> &'r mut [u32] {
    let boundaries = at_least(list.len(), room);
    let mut number = 0;
    let mut boundary = 0u32;
    let mut shift = 0;
    for &byte in list {
        boundary += u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            boundaries[number] = boundary;
            number += 1;
            shift = 0;
        }
    }
    &mut boundaries[..number]
}

/// The other way round.
pub fn code<'r>(ascending: &[u32], room: &'r mut Vec<u8>) -> &'r [u8] {
    let bytes = at_least(MOST_BYTES * ascending.len(), room);
    let (mut number, mut last) = (0, 0);
    for &boundary in ascending {
        code_distance(boundary - last, |byte| {
            bytes[number] = byte;
            number += 1;
        });
        last = boundary;
    }
    &bytes[..number]
}

/// What a distance may take.
const MOST_BYTES: usize = u32::BITS.div_ceil(7) as usize;

#[inline(always)]
fn code_distance(mut distance: u32, mut each: impl FnMut(u8)) {
    while distance >= 0x80 {
        each(distance as u8 | 0x80);
        distance >>= 7;
    }
    each(distance as u8);
}

/// With room made beforehand, none need be looked for at every entry.
fn at_least<T: Copy + Default>(entries: usize, room: &mut Vec<T>) -> &mut [T] {
    if room.len() < entries {
        room.resize(entries, T::default());
    }
    room
}

/// Codes a list of boundaries while it grows.
pub struct BoundaryWriter {
    pub bytes: Vec<u8>,
    last: u32,
}

impl BoundaryWriter {
    pub fn with_room(bytes: usize) -> BoundaryWriter {
        BoundaryWriter { bytes: Vec::with_capacity(bytes), last: 0 }
    }

    pub fn push(&mut self, boundary: u32) {
        code_distance(boundary - self.last, |byte| self.bytes.push(byte));
        self.last = boundary;
    }

    /// The boundaries of another, `offset` further on. Only its first has another distance from the one before.
    pub fn append(&mut self, behind: &BoundaryWriter, offset: u32) {
        if let Some(end) = behind.bytes.iter().position(|byte| byte & 0x80 == 0) {
            let (first, rest) = behind.bytes.split_at(end + 1);
            self.push(first.iter().rev().fold(0, |high, byte| high << 7 | u32::from(byte & 0x7f)) + offset);
            self.bytes.extend_from_slice(rest);
            self.last = behind.last + offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(boundaries: impl IntoIterator<Item = u32>) -> BoundaryWriter {
        let mut writer = BoundaryWriter::with_room(0);
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
            let (mut coded, mut decoded) = (Vec::new(), Vec::new());
            prop_assert_eq!(&joined.bytes[..], code(&all, &mut coded));
            prop_assert_eq!(decode(&joined.bytes, &mut decoded), all);
        }
    }
}
