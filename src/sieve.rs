//! The sieve: which texts of a batch are good, and which are broken, duplicates, or have to wait.
//!
//! In: texts of a language. Out: a verdict on each: `a`, `b`, `a` -> [`NEW`], [`NEW`], [`SEEN`].
//!
//! Duplicates are found by hashes of 128 bits. When there is no room for another hash, known texts stay known, and unknown
//! ones wait (on disk, which is the caller's job) until a part of them at a time gets a new sieve. So every text passes
//! exactly once, and the result does not depend on threads.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use blake2b_simd::Params;
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::check_in::CheckIn;
use crate::error::Result;
use crate::strings::Strings;

pub const NEW: u8 = 0;
pub const NOT_UTF8: u8 = 1;
pub const SEEN: u8 = 2;
/// The first of [`PARTS`] verdicts: `WAITS + i` means that the text waits in part i.
pub const WAITS: u8 = 3;
pub const PARTS: u8 = 16;

/// Bytes per hash in a set that has just grown: 17 per slot, with half of the slots and an eighth more empty.
pub const BYTES_PER_HASH: u64 = 40;

/// With this many sets, threads rarely wait for the same lock.
const SETS: usize = 64;

type Hashes = HashSet<u128, FxBuildHasher>;

pub struct Sieve {
    check_utf8: bool,
    /// None if duplicates are allowed.
    seen: Option<Vec<Mutex<Hashes>>>,
    room: AtomicI64,
    /// How often the texts have waited before: each time, other bits of the hash choose the part.
    depth: u32,
}

impl Sieve {
    /// `distinct`: the memory for hashes in bytes, if duplicates are to be found.
    pub fn new(check_utf8: bool, distinct: Option<u64>, depth: u32) -> Self {
        Self {
            check_utf8,
            seen: distinct.map(|_| (0..SETS).map(|_| Mutex::default()).collect()),
            room: AtomicI64::new(distinct.map_or(0, |bytes| (bytes / BYTES_PER_HASH).max(1) as i64)),
            depth,
        }
    }

    /// A verdict on each text.
    pub fn look(&self, language: &str, texts: Strings, check_in: &mut CheckIn) -> Result<Vec<u8>> {
        let mut hasher = Params::new();
        hasher.hash_length(16);
        let mut verdicts = Vec::with_capacity(texts.count());
        for text in texts.iter() {
            verdicts.push(match &self.seen {
                _ if self.check_utf8 && simdutf8::basic::from_utf8(text).is_err() => NOT_UTF8,
                None => NEW,
                Some(seen) => {
                    // A zero byte separates them: no language name contains one.
                    let hash =
                        hasher.to_state().update(language.as_bytes()).update(&[0]).update(text).finalize();
                    let hash = hash.as_bytes().try_into().expect("16 bytes were asked for");
                    self.verdict_on(u128::from_le_bytes(hash), seen)
                }
            });
            check_in.now()?;
        }
        Ok(verdicts)
    }

    fn verdict_on(&self, hash: u128, seen: &[Mutex<Hashes>]) -> u8 {
        // A set is consistent even if a thread panicked while it held the lock.
        let mut set = seen[hash as usize % SETS].lock().unwrap_or_else(PoisonError::into_inner);
        if set.contains(&hash) {
            return SEEN;
        }
        if self.room.fetch_sub(1, Relaxed) <= 0 {
            self.room.fetch_add(1, Relaxed);
            return WAITS + (hash >> (64 + 4 * (self.depth % 16))) as u8 % PARTS;
        }
        set.insert(hash);
        NEW
    }
}

/// Whole lines as texts, without their line ends (`\n` or `\r\n`): their bytes end to end, and where each ends.
pub fn texts_of(lines: &[u8]) -> (Vec<u8>, Vec<i64>) {
    let mut bytes = Vec::with_capacity(lines.len());
    let mut offsets = vec![0];
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        bytes.extend_from_slice(text);
        offsets.push(bytes.len() as i64);
    }
    (bytes, offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::StringsBuf;

    fn batch(texts: &[&[u8]]) -> StringsBuf {
        let mut made = StringsBuf::new(vec![], vec![0]).unwrap();
        texts.iter().for_each(|text| made.push(text));
        made
    }

    fn look(sieve: &Sieve, language: &str, texts: &[&[u8]]) -> Vec<u8> {
        sieve.look(language, batch(texts).as_strings(), &mut CheckIn::never()).unwrap()
    }

    #[test]
    fn a_text_goes_on_once_in_each_language() {
        let sieve = Sieve::new(false, Some(1 << 20), 0);
        assert_eq!(look(&sieve, "a", &[b"x", b"", b"x", b"y\xff"]), [NEW, NEW, SEEN, NEW]);
        assert_eq!(look(&sieve, "a", &[b"", b"y\xff", b"z"]), [SEEN, SEEN, NEW]);
        assert_eq!(look(&sieve, "b", &[b"x"]), [NEW]);
    }

    #[test]
    fn what_is_not_utf8_is_found() {
        let strict = Sieve::new(true, None, 0);
        assert_eq!(look(&strict, "a", &[b"x", b"\xff", b"x"]), [NEW, NOT_UTF8, NEW]);
    }

    #[test]
    fn without_room_unknown_texts_wait_in_the_same_part_each_time() {
        let sieve = Sieve::new(false, Some(2 * BYTES_PER_HASH), 0);
        assert_eq!(look(&sieve, "a", &[b"x", b"y"]), [NEW, NEW]);
        let numbers: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        let texts: Vec<&[u8]> = numbers.iter().map(String::as_bytes).collect();
        let waiting = look(&sieve, "a", &texts);
        assert!(waiting.iter().all(|verdict| (WAITS..WAITS + PARTS).contains(verdict)));
        assert!((WAITS..WAITS + PARTS).all(|part| waiting.contains(&part)));
        assert_eq!(look(&sieve, "a", &texts), waiting);
        assert_eq!(look(&sieve, "a", &[b"y", b"x"]), [SEEN, SEEN]);
        let deeper = Sieve::new(false, Some(1), 1);
        assert_ne!(look(&deeper, "a", &texts)[1..], waiting[1..]);
    }

    #[test]
    fn lines_become_texts() {
        let (bytes, offsets) = texts_of(b"one\r\n\ntwo\rthree\nlast\r");
        assert_eq!(bytes, b"onetwo\rthreelast\r");
        assert_eq!(offsets, [0, 3, 3, 12, 17]);
        assert_eq!(texts_of(b""), (vec![], vec![0]));
    }
}
