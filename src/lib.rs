//! The core of pairity: what runs per byte or per merge, and nothing else.
//!
//! The flow, in reading order:
//!
//! | stage | module | in -> out |
//! |---|---|---|
//! | read | [`sieve`] | texts -> those to count: not broken, and each only once |
//! | draw | [`places`] | lines -> the place of each in the order of a draw |
//! | label | [`scripts`] | text -> its script |
//! | cut | [`split`] | text -> pre-tokens |
//! | count | [`counts`] | text -> distinct pre-tokens with their counts |
//! | learn | [`train`] | counts of each language -> merges, one loop for every variant |
//! | | [`turns`] | what each language costs -> whose turn it is |
//! | | [`scale`] | the measured texts -> what each language costs |
//! | | [`start`] | a word -> the tokens that it starts with |
//! | | `learner` | the words of a language -> its best pair |
//! | | [`queue`] | pairs -> the most frequent one, ties included |
//! | | `joint`, `fair` | pairs and their savings in each language -> the one that saves the most overall |
//! | | `shard` | words and a merge -> words with the merge applied |
//! | | [`pieces`] | words and scored pieces -> how often each piece is used |
//! | encode | [`encode`] | text -> ids, and back |
//! | | `bpe` | a pre-token -> its ids |
//! | | [`tokens`] | a vocabulary and its merges -> the tables that encoding reads |
//!
//! Shared by several stages: [`unicode`] (character classes), [`strings`] (byte strings end to end), `pair` (two tokens),
//! `word` (bytes with their hash), [`vocabulary`] (tokens while they are learned), `log` (the merges so far), `together`
//! (all languages, asked about a pair), `heap` (the greatest first), [`check_in`] (how to stop long work), `threads`,
//! `memory` and [`error`]. Only `py` knows Python.

mod bpe;
pub mod check_in;
pub mod counts;
pub mod encode;
pub mod error;
mod fair;
mod hash;
mod heap;
mod joint;
mod learner;
mod log;
mod memory;
mod pair;
pub mod pieces;
pub mod places;
pub mod queue;
pub mod scale;
pub mod scripts;
mod shard;
pub mod sieve;
pub mod split;
pub mod start;
pub mod strings;
mod threads;
mod together;
pub mod tokens;
pub mod train;
pub mod turns;
pub mod unicode;
pub mod vocabulary;
mod word;

#[cfg(feature = "python")]
mod py;
