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

/// Calls `each` with every boundary of a coded list.
pub fn decode(list: &[u8], mut each: impl FnMut(u32)) {
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

/// Codes a list of boundaries while it grows.
#[derive(Default)]
pub struct BoundaryWriter {
    pub bytes: Vec<u8>,
    last: u32,
}

impl BoundaryWriter {
    pub fn push(&mut self, boundary: u32) {
        let mut delta = boundary - self.last;
        self.last = boundary;
        while delta >= 0x80 {
            self.bytes.push(delta as u8 | 0x80);
            delta >>= 7;
        }
        self.bytes.push(delta as u8);
    }

    /// The boundaries of another, `offset` further on. Only its first has another distance from the one before.
    pub fn append(&mut self, behind: &BoundaryWriter, offset: u32) {
        if let Some(end) = behind.bytes.iter().position(|byte| byte & 0x80 == 0) {
            let (first, rest) = behind.bytes.split_at(end + 1);
            decode(first, |boundary| self.push(boundary + offset));
            self.bytes.extend_from_slice(rest);
            self.last = behind.last + offset;
        }
    }

    /// One whole list; the writer's memory is used again for the next.
    pub fn code(&mut self, ascending: &[u32]) -> &[u8] {
        self.bytes.clear();
        self.last = 0;
        for &boundary in ascending {
            self.push(boundary);
        }
        &self.bytes
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
