//! The input of encoding: a text, and which special tokens it may contain.

use crate::error::{Error, Result};
use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind};

/// A text to encode. Bytes need not be UTF-8.
#[derive(Clone, Copy)]
pub enum Text<'t> {
    Str(&'t str),
    Bytes(&'t [u8]),
}

impl<'t> Text<'t> {
    pub fn bytes(self) -> &'t [u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }

    /// Special tokens are whole characters, so cutting a string around them gives valid strings.
    pub(super) fn slice(self, start: usize, end: usize) -> Self {
        match self {
            Text::Str(text) => Text::Str(&text[start..end]),
            Text::Bytes(bytes) => Text::Bytes(&bytes[start..end]),
        }
    }
}

/// Finds special tokens in text: the leftmost one, and the longest at that place.
pub struct Specials {
    finder: AhoCorasick,
    ids: Vec<u32>,
}

impl Specials {
    pub fn new(tokens: &[(String, u32)]) -> Result<Self> {
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|(text, _)| text))
            .map_err(|error| Error::Invalid(format!("too many special tokens: {error}")))?;
        Ok(Self { finder, ids: tokens.iter().map(|(_, id)| *id).collect() })
    }

    pub fn largest_id(&self) -> Option<u32> {
        self.ids.iter().copied().max()
    }

    /// The first one at or after `from`: its id, start and end.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<(u32, usize, usize)> {
        let found = self.finder.find(Input::new(text).span(from..text.len()).anchored(Anchored::No))?;
        Some((self.ids[found.pattern().as_usize()], found.start(), found.end()))
    }
}

/// Which special tokens are recognised, and which must not occur; all others are plain text.
#[derive(Clone, Copy, Default)]
pub struct SpecialRules<'s> {
    pub allowed: Option<&'s Specials>,
    pub disallowed: Option<&'s Specials>,
}
