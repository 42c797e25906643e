//! Byte strings end to end in one buffer, the layout of Arrow's `large_binary`: texts, pre-tokens, tokens.
//!
//! In: `bytes = "tobe"` and `offsets = [0, 2, 4]`. Out: `to` and `be`.

use std::ops::Index;

use crate::error::{Error, Result};

/// String `i` is `bytes[offsets[i]..offsets[i + 1]]`. They may be part of a larger buffer.
#[derive(Clone, Copy)]
pub struct Strings<'s> {
    bytes: &'s [u8],
    offsets: &'s [i64],
}

impl<'s> Strings<'s> {
    pub fn new(bytes: &'s [u8], offsets: &'s [i64]) -> Result<Self> {
        let fits = |ends: &[i64]| 0 <= ends[0] && ends[0] <= ends[1] && ends[1] as usize <= bytes.len();
        match offsets.windows(2).position(|ends| !fits(ends)) {
            None => Ok(Self { bytes, offsets }),
            Some(index) => Err(Error::Invalid(format!(
                "string {index} goes from byte {} to byte {} of {} bytes: offsets must rise and end within the bytes",
                offsets[index],
                offsets[index + 1],
                bytes.len()
            ))),
        }
    }

    pub fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The bytes of all strings together.
    pub fn size(&self) -> usize {
        match self.offsets {
            [first, .., last] => (last - first) as usize,
            _ => 0,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &'s [u8]> + use<'s> {
        let bytes = self.bytes;
        self.offsets.windows(2).map(move |ends| &bytes[ends[0] as usize..ends[1] as usize])
    }
}

/// The same, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct StringsBuf {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
}

impl StringsBuf {
    pub fn new(bytes: Vec<u8>, offsets: Vec<i64>) -> Result<Self> {
        Strings::new(&bytes, &offsets)?;
        Ok(Self { bytes, offsets })
    }

    pub fn as_strings(&self) -> Strings<'_> {
        Strings { bytes: &self.bytes, offsets: &self.offsets }
    }

    pub fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.offsets.push(self.bytes.len() as i64);
    }

    pub fn count(&self) -> usize {
        self.as_strings().count()
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let (start, end) = (self.offsets.get(index)?, self.offsets.get(index + 1)?);
        Some(&self.bytes[*start as usize..*end as usize])
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }
}

impl Default for StringsBuf {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0] }
    }
}

impl Index<usize> for StringsBuf {
    type Output = [u8];

    #[inline(always)]
    fn index(&self, index: usize) -> &[u8] {
        &self.bytes[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

impl<S: AsRef<[u8]>> FromIterator<S> for StringsBuf {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut all = Self::default();
        strings.into_iter().for_each(|string| all.push(string.as_ref()));
        all
    }
}
