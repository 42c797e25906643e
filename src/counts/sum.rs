//! The sum of sorted counts in memory: `a` 1, `b` 2 and `b` 3, `c` 1 -> `a` 1, `b` 5, `c` 1.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Counted, WordCounts};
use crate::check_in::CheckIn;
use crate::error::{Error, Result};
use crate::strings::StringsBuf;

/// The lists must be sorted; one that is not is an error.
pub fn sum(lists: &[Counted], check_in: &mut CheckIn) -> Result<WordCounts> {
    let mut rows: Vec<_> = lists.iter().map(Counted::iter).collect();
    // Comparing the first bytes as a number is enough for most words.
    let mut next =
        |list: usize| rows[list].next().map(|(word, count)| Reverse((first_eight(word), word, list, count)));
    let mut heap: BinaryHeap<_> = (0..lists.len()).filter_map(&mut next).collect();
    let mut all = WordCounts { words: StringsBuf::default(), counts: Vec::new() };
    let mut last: Option<&[u8]> = None;
    while let Some(mut first) = heap.peek_mut() {
        let Reverse((_, word, list, count)) = *first;
        match all.counts.last_mut() {
            Some(summed) if last == Some(word) => {
                *summed = summed.checked_add(count).ok_or(Error::Overflow)?;
            }
            _ if last.is_some_and(|last| word < last) => return Err(unsorted(word)),
            _ => {
                all.words.push(word);
                all.counts.push(count);
                last = Some(word);
            }
        }
        match next(list) {
            Some(row) => *first = row,
            None => {
                PeekMut::pop(first);
            }
        }
        check_in.now()?;
    }
    Ok(all)
}

fn unsorted(word: &[u8]) -> Error {
    let word = String::from_utf8_lossy(word);
    Error::Invalid(format!("{word:?} comes after a greater pre-token: sort them by their bytes"))
}

/// Shorter words are padded with zeros; if these numbers are equal, the words themselves decide.
fn first_eight(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(bytes)
}
