//! The core of pairity: what runs per byte or per merge, and nothing else.
//!
//! One stage a file, in the order of the flow:
//! text -> [`split`] -> [`counts`] -> [`train`] (with [`shard`] and [`choose`]) -> [`encode`]
//! (with [`tokens`] and [`bpe`]).
//! Only `py.rs` knows Python.

pub mod bpe;
pub mod choose;
pub mod counts;
pub mod cover;
pub mod encode;
pub mod error;
mod pages;
pub mod shard;
pub mod split;
pub mod tokens;
pub mod train;
pub mod unicode;

#[cfg(feature = "python")]
mod py;
