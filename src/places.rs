//! Places: where each line of a text stands in the order in which lines are drawn.
//!
//! In: a key (a seed and a language) and a line. Out: a hash of both, as a number: `7, eng_Latn, "to be"` -> 8126...
//! A draw takes the lines whose place is below a limit, so what is drawn depends on nothing but the lines.

use blake2b_simd::{Params, State};

use crate::check_in::CheckIn;
use crate::counts::count_words;
use crate::error::{Error, Result};

/// BLAKE2b, as in Python's hashlib: it spreads lines evenly, and the sample of a seed stays the same for good.
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

/// A column each: places, bytes, and words if they are asked for.
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

/// The lines of a block without their ends (`\n` or `\r\n`).
pub fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    whole_lines(block)
        .map(|line| line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Those lines of a block, with their ends, whose flag is not 0.
pub fn keep_lines(block: &[u8], keep: &[u8]) -> Result<Vec<u8>> {
    let lines: Vec<&[u8]> = whole_lines(block).collect();
    if lines.len() != keep.len() {
        return Err(Error::Invalid(format!("there are {} lines but {} flags", lines.len(), keep.len())));
    }
    let kept: Vec<&[u8]> =
        lines.into_iter().zip(keep).filter(|(_, keep)| **keep != 0).map(|(line, _)| line).collect();
    Ok(kept.concat())
}

fn whole_lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b'\n', block).map(|newline| newline + 1);
    let rest = (!block.is_empty() && !block.ends_with(b"\n")).then_some(block.len());
    ends.chain(rest).scan(0, |start, end| Some(&block[std::mem::replace(start, end)..end]))
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
        let sizes =
            Sizes::of(lines(b"to be\r\n\nor not  to be"), &Places::new(b""), true, &mut CheckIn::never());
        let sizes = sizes.unwrap();
        assert_eq!((sizes.bytes, sizes.words), (vec![5, 0, 13], vec![2, 0, 4]));
        assert_eq!(sizes.places[0], Places::new(b"").of(b"to be"));
    }

    #[test]
    fn lines_are_kept_as_they_are() {
        let block = b"a\r\n\nb\nc";
        assert_eq!(keep_lines(block, &[1, 0, 0, 1]).unwrap(), b"a\r\nc");
        assert_eq!(keep_lines(block, &[0, 1, 1, 0]).unwrap(), b"\nb\n");
        assert!(keep_lines(block, &[1, 1]).is_err());
        assert!(keep_lines(b"", &[]).unwrap().is_empty());
    }
}
