//! Two neighbouring tokens in one number, the key of maps of pairs.

/// The ids of a left and a right token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair(u64);

impl Pair {
    #[inline(always)]
    pub fn new(left: u32, right: u32) -> Self {
        Self(u64::from(left) << 32 | u64::from(right))
    }

    #[inline(always)]
    pub fn left(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub fn right(self) -> u32 {
        self.0 as u32
    }
}

/// A pair and how often it occurs: what a language proposes as its next merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub count: u64,
    pub pair: Pair,
}
