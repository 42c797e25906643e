//! Pieces: cutting words into their likeliest pieces, as UnigramLM does.
//!
//! In: pieces, each with the logarithm of its probability, and words. Out: how often each piece is used.
//!
//! The likeliest cut of a word has the greatest sum of logarithms (Viterbi: find the best way to each place, from the left).
//! On a tie, the longest last piece wins. Sums are added from the left, in the order and precision of the Python reference,
//! to get exactly the same results.

use crate::check_in::CheckIn;
use crate::counts::Counted;
use crate::error::{Error, Result};
use crate::strings::StringsBuf;
use rustc_hash::FxHashMap;

pub struct Pieces {
    pieces: StringsBuf,
    scores: Vec<f64>,
    /// Node and byte -> the node one byte further. The root is 0.
    nodes: FxHashMap<u64, u32>,
    /// Node -> the piece that ends there.
    ends: Vec<Option<u32>>,
}

/// The best way to a place in a word.
#[derive(Clone, Copy)]
struct Way {
    sum: f64,
    /// Its last piece, and where that begins.
    piece: u32,
    from: usize,
}

const NO_WAY: Way = Way { sum: f64::NEG_INFINITY, piece: 0, from: 0 };

impl Pieces {
    pub fn new(pieces: StringsBuf, scores: Vec<f64>) -> Result<Self> {
        if scores.len() != pieces.count() || pieces.count() >= u32::MAX as usize {
            return Err(Error::Invalid(format!("{} pieces with {} scores", pieces.count(), scores.len())));
        }
        let mut made = Self { pieces, scores, nodes: FxHashMap::default(), ends: vec![None] };
        for (id, piece) in made.pieces.as_strings().iter().enumerate() {
            let mut node = 0;
            for &byte in piece {
                let fresh = made.ends.len() as u32;
                node = *made.nodes.entry(edge(node, byte)).or_insert(fresh);
                if node == fresh {
                    made.ends.push(None);
                }
            }
            made.ends[node as usize] = Some(id as u32);
        }
        Ok(made)
    }

    /// The best way to every place in the word, with pieces of up to `longest` bytes.
    fn walk(&self, word: &[u8], longest: usize, ways: &mut Vec<Way>) {
        ways.clear();
        ways.resize(word.len() + 1, NO_WAY);
        ways[0].sum = 0.0;
        for from in 0..word.len() {
            let before = ways[from].sum;
            let mut node = 0;
            for (length, &byte) in word[from..].iter().enumerate().take(longest) {
                match self.nodes.get(&edge(node, byte)) {
                    Some(&next) => node = next,
                    None => break,
                }
                let Some(piece) = self.ends[node as usize] else { continue };
                let sum = before + self.scores[piece as usize];
                let way = &mut ways[from + length + 1];
                if sum > way.sum {
                    *way = Way { sum, piece, from };
                }
            }
        }
    }

    /// How often each piece is used if all words are cut in the likeliest way.
    pub fn uses(&self, words: Counted<'_>, check_in: &mut CheckIn) -> Result<Vec<u64>> {
        let mut uses = vec![0u64; self.scores.len()];
        let mut ways = Vec::new();
        for (word, count) in words.iter() {
            self.walk(word, word.len(), &mut ways);
            let mut place = word.len();
            while place > 0 {
                let way = ways[place];
                if way.sum == f64::NEG_INFINITY {
                    return Err(Error::Invalid(
                        "a word cannot be cut: its bytes are not among the pieces".into(),
                    ));
                }
                let sum = uses[way.piece as usize].checked_add(count);
                uses[way.piece as usize] = sum.ok_or(Error::Overflow)?;
                place = way.from;
            }
            check_in.now()?;
        }
        Ok(uses)
    }

    /// How each piece would be cut if it did not exist: the sum, and the number of pieces. For a single byte, the lowest
    /// number and 0.
    pub fn without(&self, check_in: &mut CheckIn) -> Result<(Vec<f64>, Vec<u32>)> {
        let (mut sums, mut numbers) = (Vec::new(), Vec::new());
        let mut ways = Vec::new();
        for piece in self.pieces.as_strings().iter() {
            self.walk(piece, piece.len().saturating_sub(1), &mut ways);
            let mut place = piece.len();
            let mut number = 0;
            while place > 0 && ways[place].sum > f64::NEG_INFINITY {
                place = ways[place].from;
                number += 1;
            }
            sums.push(ways[piece.len()].sum);
            numbers.push(number);
            check_in.now()?;
        }
        Ok((sums, numbers))
    }
}

fn edge(node: u32, byte: u8) -> u64 {
    u64::from(node) << 8 | u64::from(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::Strings;

    fn pieces(given: &[(&str, f64)]) -> Pieces {
        let mut strings = StringsBuf::new(Vec::new(), vec![0]).expect("no strings");
        given.iter().for_each(|(piece, _)| strings.push(piece.as_bytes()));
        Pieces::new(strings, given.iter().map(|&(_, score)| score).collect()).expect("as many scores")
    }

    fn uses(pieces: &Pieces, word: &str, count: u64) -> Result<Vec<u64>> {
        let (offsets, counts) = ([0, word.len() as i64], [count]);
        let strings = Strings::new(word.as_bytes(), &offsets).expect("one string");
        pieces.uses(Counted::new(strings, &counts).expect("one count"), &mut CheckIn::never())
    }

    #[test]
    fn the_likeliest_pieces_are_taken() {
        let made = pieces(&[("a", -2.0), ("b", -2.0), ("ab", -3.0), ("aba", -6.5)]);
        assert_eq!(uses(&made, "abab", 5).expect("cut"), [0, 0, 10, 0]);
        assert_eq!(uses(&made, "aba", 1).expect("cut"), [1, 0, 1, 0], "-5 is more than -6.5");
    }

    #[test]
    fn of_equal_sums_the_longest_last_piece_wins() {
        let made = pieces(&[("a", -1.0), ("b", -1.0), ("ab", -2.0)]);
        assert_eq!(uses(&made, "ab", 1).expect("cut"), [0, 0, 1]);
    }

    #[test]
    fn a_word_of_other_bytes_is_an_error() {
        assert!(uses(&pieces(&[("a", -1.0)]), "ax", 1).is_err());
        assert!(Pieces::new(StringsBuf::new(vec![b'a'], vec![0, 1]).expect("one"), Vec::new()).is_err());
    }

    #[test]
    fn a_piece_that_is_not_there_is_cut_into_others() {
        let made = pieces(&[("a", -2.0), ("b", -2.5), ("ab", -3.0), ("aba", -6.5)]);
        let (sums, numbers) = made.without(&mut CheckIn::never()).expect("nobody stops it");
        assert_eq!(sums, [f64::NEG_INFINITY, f64::NEG_INFINITY, -4.5, -5.0]);
        assert_eq!(numbers, [0, 0, 2, 2]);
    }

    #[test]
    fn it_can_be_stopped() {
        let made = pieces(&[("a", -1.0); 100]);
        assert!(matches!(made.without(&mut CheckIn::impatient()), Err(Error::Interrupted)));
    }
}
