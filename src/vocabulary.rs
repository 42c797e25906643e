//! The vocabulary while it grows.
//!
//! In: two ids to join. Out: the id of the joined token, new or that of an equal string; and the order of tokens that
//! breaks ties.

use crate::error::{Error, Result};
use crate::shard::MOST_TOKENS;
use crate::strings::StringsBuf;
use crate::word::hash;
use hashbrown::HashTable;
use std::cmp::Ordering;

/// Bytes are stored as their rank in GPT-2's byte-level alphabet, which is also their id. So comparing slices gives the
/// order of strings in Hugging Face's trainer and the authors' program.
#[derive(Clone)]
pub struct Vocabulary {
    ranks: StringsBuf,
    /// The first eight ranks of each token as one number: most comparisons need no more.
    prefixes: Vec<u64>,
    ids: HashTable<u32>,
    byte_of_rank: [u8; 256],
    rank_of_byte: [u8; 256],
    /// Tokens that exist are not learned again ([`crate::start`]).
    pub only_new: bool,
}

/// GPT-2's order of the bytes: the printable ones of Latin-1, which stand for themselves, come first.
pub fn byte_ranks() -> [u8; 256] {
    let printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let order = (0..=255).filter(printable).chain((0..=255).filter(|byte| !printable(byte)));
    let mut ranks = [0; 256];
    for (rank, byte) in order.enumerate() {
        ranks[byte as usize] = rank as u8;
    }
    ranks
}

impl Vocabulary {
    /// The 256 bytes.
    pub fn new() -> Vocabulary {
        let mut byte_of_rank = [0; 256];
        for (byte, rank) in (0..=255).zip(byte_ranks()) {
            byte_of_rank[usize::from(rank)] = byte;
        }
        let mut vocabulary = Vocabulary {
            ranks: StringsBuf::default(),
            prefixes: Vec::new(),
            ids: HashTable::new(),
            byte_of_rank,
            rank_of_byte: byte_ranks(),
            only_new: false,
        };
        for rank in 0..=255 {
            vocabulary.intern(&[rank]);
        }
        vocabulary
    }

    /// The number of tokens; all ids are below it.
    pub fn size(&self) -> usize {
        self.prefixes.len()
    }

    fn ranks(&self, id: u32) -> &[u8] {
        &self.ranks[id as usize]
    }

    /// In bytes.
    pub fn length(&self, id: u32) -> usize {
        self.ranks(id).len()
    }

    /// The bytes of two tokens, one after the other.
    pub fn joined_bytes(&self, left: u32, right: u32) -> impl Iterator<Item = u8> {
        let ranks = self.ranks(left).iter().chain(self.ranks(right));
        ranks.map(|&rank| self.byte_of_rank[usize::from(rank)])
    }

    /// The id of the joined token: a new one, or that of an equal string from another merge.
    pub fn join(&mut self, left: u32, right: u32) -> Result<u32> {
        self.check_size()?;
        let joined = [self.ranks(left), self.ranks(right)].concat();
        Ok(self.intern(&joined))
    }

    /// Whether two tokens may be joined.
    pub fn may_join(&self, left: u32, right: u32) -> bool {
        !self.only_new || self.find(&[self.ranks(left), self.ranks(right)].concat()).is_none()
    }

    /// The id of the token with these bytes, which is created if needed.
    pub fn number(&mut self, token: &[u8]) -> Result<u32> {
        self.check_size()?;
        let ranks: Vec<u8> = token.iter().map(|&byte| self.rank_of_byte[usize::from(byte)]).collect();
        Ok(self.intern(&ranks))
    }

    fn check_size(&self) -> Result<()> {
        if self.size() >= MOST_TOKENS {
            return Err(Error::Invalid(format!("the engine's limit is {MOST_TOKENS} tokens: ask for fewer")));
        }
        Ok(())
    }

    fn find(&self, token: &[u8]) -> Option<u32> {
        self.ids.find(hash(token), |&id| self.ranks(id) == token).copied()
    }

    fn intern(&mut self, token: &[u8]) -> u32 {
        if let Some(id) = self.find(token) {
            return id;
        }
        let ranks = &self.ranks;
        let id = self.prefixes.len() as u32;
        self.ids.insert_unique(hash(token), id, |&id| hash(&ranks[id as usize]));
        self.ranks.push(token);
        let mut prefix = [0; 8];
        let length = token.len().min(8);
        prefix[..length].copy_from_slice(&token[..length]);
        self.prefixes.push(u64::from_be_bytes(prefix));
        id
    }

    /// Compares tokens as strings in the byte-level alphabet of GPT-2.
    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        let prefixes = self.prefixes[a as usize].cmp(&self.prefixes[b as usize]);
        prefixes.then_with(|| self.ranks(a).cmp(self.ranks(b)))
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_rank_as_in_gpt2() {
        let ranks = byte_ranks();
        assert_eq!(ranks[b'!' as usize], 0);
        assert_eq!(ranks[b'~' as usize], 93);
        assert_eq!(ranks[0xff], 187);
        assert_eq!(ranks[0], 188);
        assert_eq!(ranks[b' ' as usize], 188 + 32);
    }

    #[test]
    fn same_string_same_id() {
        let mut vocabulary = Vocabulary::new();
        let ab = vocabulary.join(1, 2).unwrap();
        let bc = vocabulary.join(2, 3).unwrap();
        assert_eq!(vocabulary.join(ab, 3).unwrap(), vocabulary.join(1, bc).unwrap());
        assert_eq!(vocabulary.size(), 259);
    }
}
