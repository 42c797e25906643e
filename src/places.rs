//! Places: the position of each line in the order in which lines are drawn.
//!
//! In: a key (a seed and a language) and a line. Out: a hash of both, as a number: `7, eng_Latn, "to be"` -> 8126...
//! A draw takes the lines whose place is below a limit, so it depends only on the lines.

use blake2b_simd::{Params, State};

use crate::check_in::CheckIn;
use crate::counts::count_words;
use crate::error::Result;

/// BLAKE2b, as in Python's hashlib: it spreads lines evenly, and the sample of a seed will never change.
pub struct Places {
    begun: State,
}

impl Places {
    pub fn new(key: &[u8]) -> Self {
        let mut begun = Params::new().hash_length(8).to_state();
        begun.update(key);
        Self { begun }
    }

    pub fn of(&self, text: &[u8]) -> u64 {
        let hash = self.begun.clone().update(text).finalize();
        u64::from_be_bytes(hash.as_bytes().try_into().expect("a hash of eight bytes"))
    }
}

/// Columns: places, bytes, and words if requested.
#[derive(Debug, Default, PartialEq)]
pub struct Sizes {
    pub places: Vec<u64>,
    pub bytes: Vec<u64>,
    pub words: Vec<u64>,
}

impl Sizes {
    pub fn of<'t>(
        texts: impl Iterator<Item = &'t [u8]>,
        places: &Places,
        words: bool,
        check_in: &mut CheckIn,
    ) -> Result<Self> {
        let mut sizes = Self::default();
        for text in texts {
            sizes.places.push(places.of(text));
            sizes.bytes.push(text.len() as u64);
            if words {
                sizes.words.push(count_words(&String::from_utf8_lossy(text), check_in)?);
            }
            check_in.now()?;
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_hash_of_key_and_line_as_hashlib_gives_it() {
        // int.from_bytes(hashlib.blake2b(b"7\0eng_Latn\0to be", digest_size=8).digest(), "big")
        assert_eq!(Places::new(b"7\0eng_Latn\0").of(b"to be"), PLACE);
        assert_eq!(Places::new(b"7\0eng").of(b"_Latn\0to be"), PLACE);
    }

    const PLACE: u64 = 8126416885277731330;

    #[test]
    fn every_line_has_its_sizes() {
        let sizes = Sizes::of(
            [&b"to be"[..], b"", b"or not  to be"].into_iter(),
            &Places::new(b""),
            true,
            &mut CheckIn::never(),
        );
        let sizes = sizes.unwrap();
        assert_eq!((sizes.bytes, sizes.words), (vec![5, 0, 13], vec![2, 0, 4]));
        assert_eq!(sizes.places[0], Places::new(b"").of(b"to be"));
    }
}
