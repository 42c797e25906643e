//! The table of tokens: bytes by id, ids by bytes, and which two tokens each is made of.

use crate::bpe::{Merge, NO_MERGE, Pairs, Scratch, Stop, merge_of};
use crate::error::{Error, Result};
use crate::pages::prefetch;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher;
use std::sync::atomic::AtomicBool;

/// Byte strings end to end; the i-th is `bytes[offsets[i]..offsets[i + 1]]`. An empty one is an id without a token.
pub struct Tokens {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
}

impl Tokens {
    /// `offsets` must ascend from 0 to the number of bytes.
    pub fn new(bytes: Vec<u8>, offsets: Vec<i64>) -> Result<Self> {
        let ascending = offsets.windows(2).all(|ends| ends[0] <= ends[1]);
        let spans = offsets.first() == Some(&0) && offsets.last().copied() == i64::try_from(bytes.len()).ok();
        if !ascending || !spans || offsets.len() > u32::MAX as usize {
            return Err(Error::Invalid("the offsets of the tokens do not fit their bytes".into()));
        }
        Ok(Self { bytes, offsets })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// As many ids as there are, tokens or not.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, id: u32) -> Option<&[u8]> {
        let (start, end) = (self.offsets.get(id as usize)?, self.offsets.get(id as usize + 1)?);
        Some(&self.bytes[*start as usize..*end as usize]).filter(|token| !token.is_empty())
    }

    /// The ids of all tokens but the special ones, by their bytes.
    pub fn by_bytes(&self, special: &[u32]) -> FxHashMap<&[u8], u32> {
        let special: FxHashSet<u32> = special.iter().copied().collect();
        let ordinary = (0..self.len() as u32).filter(|id| !special.contains(id));
        ordinary.filter_map(|id| Some((self.get(id)?, id))).collect()
    }
}

/// The ranks of a list of merges.
pub struct Ranks {
    pairs: FxHashMap<u64, Merge>,
    /// Which tokens are the left or the right part of any pair. Most are neither, and these few kilobytes stay in the
    /// nearest cache, so most pairs that do not exist are known without a look at the map.
    lefts: Bits,
    rights: Bits,
    /// Of every two bytes: that is where merging starts, and a plain table is faster than a map.
    bytes: Box<[Merge]>,
}

impl Ranks {
    /// `merges` are (left, right, new) in the order of their ranks; of equal pairs the first counts.
    pub fn new(merges: &[[u32; 3]], tokens: &Tokens, byte_ids: &[u32; 256]) -> Result<Self> {
        let mut pairs = FxHashMap::with_capacity_and_hasher(merges.len(), FxBuildHasher);
        let (mut lefts, mut rights) = (Bits::new(tokens.len()), Bits::new(tokens.len()));
        for (rank, &[left, right, new]) in merges.iter().enumerate() {
            let fits = match (tokens.get(left), tokens.get(right), tokens.get(new)) {
                (Some(left), Some(right), Some(new)) => {
                    new.len() == left.len() + right.len() && new.starts_with(left) && new.ends_with(right)
                }
                _ => false,
            };
            if !fits {
                return Err(Error::Invalid(format!(
                    "merge {rank} joins tokens {left} and {right} to token {new}, which is not the two joined"
                )));
            }
            lefts.set(left);
            rights.set(right);
            pairs.entry(key(left, right)).or_insert(merge_of(rank as u32, new));
        }
        let of_bytes =
            |i: usize| pairs.get(&key(byte_ids[i >> 8], byte_ids[i & 0xFF])).copied().unwrap_or(NO_MERGE);
        let bytes = (0..1 << 16).map(of_bytes).collect();
        Ok(Self { pairs, lefts, rights, bytes })
    }
}

/// A set of ids.
struct Bits(Box<[u64]>);

impl Bits {
    fn new(ids: usize) -> Self {
        Self(vec![0; ids.div_ceil(64)].into())
    }

    fn set(&mut self, id: u32) {
        self.0[id as usize / 64] |= 1 << (id % 64);
    }

    #[inline]
    fn has(&self, id: u32) -> bool {
        self.0[id as usize / 64] >> (id % 64) & 1 == 1
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Pairs for Ranks {
    const BY_PLACE: bool = false;

    #[inline]
    fn merge(&self, left: u32, right: u32, _: usize, _: usize) -> Merge {
        if !self.lefts.has(left) || !self.rights.has(right) {
            return NO_MERGE;
        }
        self.pairs.get(&key(left, right)).copied().unwrap_or(NO_MERGE)
    }

    #[inline]
    fn merge_bytes(&self, [left, right]: [u8; 2], _: u32, _: u32, _: usize) -> Merge {
        self.bytes[usize::from(left) << 8 | usize::from(right)]
    }
}

/// Ids by bytes, for whole words. A slot holds half of the hash beside the id, so that the bytes are compared in the table
/// of tokens only where they are very likely the same.
pub struct Words {
    slots: Box<[WordSlot]>,
}

#[derive(Clone, Copy)]
struct WordSlot {
    hash: u32,
    id: u32,
}

const FREE: u32 = u32::MAX;

impl Words {
    pub fn new(ids: impl ExactSizeIterator<Item = u32>, tokens: &Tokens) -> Self {
        let size = (2 * ids.len() + 1).next_power_of_two();
        let mut words = Self { slots: vec![WordSlot { hash: 0, id: FREE }; size].into() };
        for id in ids {
            let Some(token) = tokens.get(id) else { continue };
            let hash = hash(token);
            let mut at = words.home(hash);
            while words.slots[at].id != FREE {
                at = (at + 1) & (size - 1);
            }
            words.slots[at] = WordSlot { hash: (hash >> 32) as u32, id };
        }
        words
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    pub fn get(&self, word: &[u8], hash: u64, tokens: &Tokens) -> Option<u32> {
        let mut at = self.home(hash);
        while self.slots[at].id != FREE {
            let slot = self.slots[at];
            if slot.hash == (hash >> 32) as u32 && tokens.get(slot.id) == Some(word) {
                return Some(slot.id);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }

    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.slots[self.home(hash)]);
    }
}

#[inline]
pub fn hash(word: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word);
    hasher.finish()
}

/// The ids of the 256 bytes.
pub fn byte_ids(by_bytes: &FxHashMap<&[u8], u32>) -> Result<[u32; 256]> {
    let mut ids = [0; 256];
    for (byte, id) in (0..=u8::MAX).zip(&mut ids) {
        *id = *by_bytes.get([byte].as_slice()).ok_or_else(|| {
            Error::Invalid(format!(
                "the vocabulary has no token for the byte 0x{byte:02X}; all 256 are needed"
            ))
        })?;
    }
    Ok(ids)
}

/// The merging of a token's bytes up to, and without, the last merge that would make it whole.
pub struct Halves<'p, P> {
    pub pairs: &'p P,
    pub length: usize,
}

impl<P: Pairs> Pairs for Halves<'_, P> {
    const BY_PLACE: bool = true;

    fn merge(&self, left: u32, right: u32, start: usize, end: usize) -> Merge {
        if end - start == self.length { NO_MERGE } else { self.pairs.merge(left, right, start, end) }
    }
}

/// The pairs of a table that has no list of merges: two tokens become the token that has their bytes, and its id is
/// the rank. That is how tiktoken reads a table.
struct Joined<'t> {
    ids: &'t FxHashMap<&'t [u8], u32>,
    word: &'t [u8],
}

impl Pairs for Joined<'_> {
    const BY_PLACE: bool = true;

    fn merge(&self, _: u32, _: u32, start: usize, end: usize) -> Merge {
        if end - start == self.word.len() {
            return NO_MERGE;
        }
        self.ids.get(&self.word[start..end]).map_or(NO_MERGE, |&id| merge_of(id, id))
    }
}

/// For every id, the pair that its token is made of when the ids themselves are the ranks.
pub fn origins_by_rank(tokens: &Tokens, special: &[u32]) -> Result<Vec<Option<(u32, u32)>>> {
    let ids = tokens.by_bytes(special);
    let byte_ids = byte_ids(&ids)?;
    Ok(origins(tokens, special, &byte_ids, |word, _| Joined { ids: &ids, word }))
}

/// A token's last two parts. Whatever stands around them in a text, two neighbours that make up a token are these two:
/// until then nothing crossed their edges, so what happened between the edges is what happens to the token alone.
/// So one pair a token is enough to say how a table merges.
pub fn origins<'t, P: Pairs>(
    tokens: &'t Tokens,
    special: &[u32],
    byte_ids: &[u32; 256],
    pairs: impl Fn(&'t [u8], usize) -> P,
) -> Vec<Option<(u32, u32)>> {
    let flag = AtomicBool::new(false);
    let mut never = || false;
    let mut stop = Stop::new(&mut never, &flag);
    let mut scratch = Scratch::default();
    let mut found: Vec<Option<(u32, u32)>> = (0..tokens.len() as u32)
        .map(|id| {
            let token = tokens.get(id).filter(|token| token.len() > 1)?;
            scratch.merge(token, byte_ids, &pairs(token, token.len()), &mut stop);
            match scratch.ids[..] {
                [left, right] => Some((left, right)),
                _ => None,
            }
        })
        .collect();
    for &id in special {
        if let Some(origin) = found.get_mut(id as usize) {
            *origin = None;
        }
    }
    found
}
