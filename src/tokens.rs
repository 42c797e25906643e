//! The tables of a vocabulary: bytes by id, ids by bytes, and the two parts of each token.
//!
//! In: the tokens and the merges of a tokenizer. Out: what merging and encoding look up.

use crate::bpe::{Merger, Pairs, Ranked, UNRANKED, ranked};
use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::memory::prefetch;
use crate::pair::Pair;
use crate::strings::StringsBuf;
use crate::word::{Word, hash};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Every token's bytes by its id. An empty string is an id without a token.
pub struct Tokens(StringsBuf);

impl Tokens {
    pub fn new(tokens: StringsBuf) -> Result<Self> {
        if tokens.count() >= u32::MAX as usize {
            return Err(Error::Invalid(format!("{} tokens are more than ids can name", tokens.count())));
        }
        Ok(Self(tokens))
    }

    /// The number of ids, with or without a token.
    pub fn size(&self) -> usize {
        self.0.count()
    }

    #[inline]
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        self.0.get(id as usize).filter(|token| !token.is_empty())
    }

    /// The ids of all tokens except special ones, by their bytes.
    pub fn by_bytes(&self, special: &[u32]) -> FxHashMap<&[u8], u32> {
        let special: FxHashSet<u32> = special.iter().copied().collect();
        let ordinary = (0..self.size() as u32).filter(|id| !special.contains(id));
        ordinary.filter_map(|id| Some((self.get(id)?, id))).collect()
    }
}

/// The ranks of a list of merges.
pub struct Ranks {
    pairs: FxHashMap<Pair, Ranked>,
    /// Which tokens are the left or the right part of any pair. Most are neither, and these few kilobytes stay in the
    /// nearest cache, so most lookups of pairs that do not exist never touch the map.
    lefts: FixedBitSet,
    rights: FixedBitSet,
    /// The entries of all pairs of bytes: merging starts with those, and a plain table is faster than a map.
    bytes: Box<[Ranked]>,
}

impl Ranks {
    /// `merges` are (left, right, new) in the order of their ranks; the first of equal pairs counts.
    pub fn new(merges: &[[u32; 3]], tokens: &Tokens, byte_ids: &[u32; 256]) -> Result<Self> {
        let mut pairs = FxHashMap::with_capacity_and_hasher(merges.len(), FxBuildHasher);
        let mut lefts = FixedBitSet::with_capacity(tokens.size());
        let mut rights = lefts.clone();
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
            lefts.insert(left as usize);
            rights.insert(right as usize);
            pairs.entry(Pair::new(left, right)).or_insert(ranked(rank as u32, new));
        }
        let of_bytes = |i: usize| {
            pairs.get(&Pair::new(byte_ids[i >> 8], byte_ids[i & 0xFF])).copied().unwrap_or(UNRANKED)
        };
        let bytes = (0..1 << 16).map(of_bytes).collect();
        Ok(Self { pairs, lefts, rights, bytes })
    }
}

impl Pairs for Ranks {
    const BY_PLACE: bool = false;

    #[inline]
    fn ranked(&self, left: u32, right: u32, _: usize, _: usize) -> Ranked {
        if !self.lefts.contains(left as usize) || !self.rights.contains(right as usize) {
            return UNRANKED;
        }
        self.pairs.get(&Pair::new(left, right)).copied().unwrap_or(UNRANKED)
    }

    #[inline]
    fn ranked_bytes(&self, [left, right]: [u8; 2], _: u32, _: u32, _: usize) -> Ranked {
        self.bytes[usize::from(left) << 8 | usize::from(right)]
    }
}

/// Ids by bytes. Half of the hash is stored with each id, so bytes are compared with the table of tokens only if they are
/// very likely equal.
pub struct IdsByBytes {
    places: Box<[HashedId]>,
}

#[derive(Clone, Copy)]
struct HashedId {
    hash: u32,
    id: u32,
}

const FREE: u32 = u32::MAX;

impl IdsByBytes {
    pub fn new(ids: impl ExactSizeIterator<Item = u32>, tokens: &Tokens) -> Self {
        let size = (2 * ids.len() + 1).next_power_of_two();
        let mut table = Self { places: vec![HashedId { hash: 0, id: FREE }; size].into() };
        for id in ids {
            let Some(token) = tokens.get(id) else { continue };
            let hash = hash(token);
            let mut at = table.home(hash);
            while table.places[at].id != FREE {
                at = (at + 1) & (size - 1);
            }
            table.places[at] = HashedId { hash: (hash >> 32) as u32, id };
        }
        table
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    #[inline]
    pub fn get(&self, Word { bytes, hash, .. }: Word, tokens: &Tokens) -> Option<u32> {
        let mut at = self.home(hash);
        while self.places[at].id != FREE {
            let place = self.places[at];
            if place.hash == (hash >> 32) as u32 && tokens.get(place.id) == Some(bytes) {
                return Some(place.id);
            }
            at = (at + 1) & (self.places.len() - 1);
        }
        None
    }

    /// Call this a while before `get`.
    #[inline]
    pub fn prefetch(&self, word: &Word) {
        prefetch(&self.places[self.home(word.hash)]);
    }
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

/// Merges the bytes of a token, except for the last merge, which would complete it.
pub struct Halves<'p, P> {
    pub pairs: &'p P,
    pub length: usize,
}

impl<P: Pairs> Pairs for Halves<'_, P> {
    const BY_PLACE: bool = true;

    fn ranked(&self, left: u32, right: u32, start: usize, end: usize) -> Ranked {
        if end - start == self.length { UNRANKED } else { self.pairs.ranked(left, right, start, end) }
    }
}

/// The pairs of a table without a list of merges, as tiktoken reads it: two tokens become the token with their joined
/// bytes, and its id is the rank.
struct Joined<'t> {
    ids: &'t FxHashMap<&'t [u8], u32>,
    word: &'t [u8],
}

impl Pairs for Joined<'_> {
    const BY_PLACE: bool = true;

    fn ranked(&self, _: u32, _: u32, start: usize, end: usize) -> Ranked {
        if end - start == self.word.len() {
            return UNRANKED;
        }
        self.ids.get(&self.word[start..end]).map_or(UNRANKED, |&id| ranked(id, id))
    }
}

/// For every id, the two parts of its token if the ids themselves are the ranks.
pub fn origins_by_rank(
    tokens: &Tokens,
    special: &[u32],
    check_in: &mut CheckIn,
) -> Result<Vec<Option<Pair>>> {
    let ids = tokens.by_bytes(special);
    let byte_ids = byte_ids(&ids)?;
    origins(tokens, special, &byte_ids, |word, _| Joined { ids: &ids, word }, check_in)
}

/// The last two parts of a token when its bytes are merged on their own. In any text, the neighbours that merge into the
/// token are these two: nothing crossed their edges before, so merging between the edges went as it does for the token
/// alone. So one pair per token describes how a table merges.
pub fn origins<'t, P: Pairs>(
    tokens: &'t Tokens,
    special: &[u32],
    byte_ids: &[u32; 256],
    pairs: impl Fn(&'t [u8], usize) -> P,
    check_in: &mut CheckIn,
) -> Result<Vec<Option<Pair>>> {
    let mut merger = Merger::default();
    let mut found = vec![None; tokens.size()];
    for (id, origin) in (0..).zip(&mut found) {
        if let Some(token) = tokens.get(id).filter(|token| token.len() > 1) {
            merger.merge(token, byte_ids, &pairs(token, token.len()), check_in)?;
            if let [left, right] = merger.ids[..] {
                *origin = Some(Pair::new(left, right));
            }
        }
        check_in.now()?;
    }
    for &id in special {
        if let Some(origin) = found.get_mut(id as usize) {
            *origin = None;
        }
    }
    Ok(found)
}
