//! The part of the door that cuts and counts.

use super::{little_endian, long_call_apart, long_call_in_steps};
use crate::check_in::CheckIn;
use crate::counts;
use crate::error::Result;
use crate::split::{Pretokenizer, cover};
use crate::strings::Strings;
use crate::unicode::to_nfc;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::borrow::Cow;
use std::ops::Range;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Counter>()?;
    module.add_function(wrap_pyfunction!(pretokenize, module)?)?;
    module.add_function(wrap_pyfunction!(first_unmatched, module)?)
}

/// The bytes of any contiguous buffer, whatever its elements. SAFETY: as for [`super::slice`].
pub fn bytes_of(buffer: &PyUntypedBuffer) -> PyResult<&[u8]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("buffers must be contiguous"));
    }
    if buffer.len_bytes() == 0 {
        return Ok(&[]);
    }
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) })
}

/// The bytes of texts, and their offsets.
pub fn texts_in(
    data: &Bound<'_, PyAny>,
    offsets: &Bound<'_, PyAny>,
) -> PyResult<(PyUntypedBuffer, Vec<i64>)> {
    Ok((PyUntypedBuffer::get(data)?, numbers_in(offsets)?))
}

/// A buffer of int64.
fn numbers_in(buffer: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let buffer = PyUntypedBuffer::get(buffer)?;
    let (numbers, rest) = bytes_of(&buffer)?.as_chunks();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("offsets must be int64: their size is not a multiple of 8 bytes"));
    }
    Ok(numbers.iter().map(|number| i64::from_le_bytes(*number)).collect())
}

/// Holds none once it is finished, or after an error: then it would hold a part of what it was given.
#[pyclass(module = "pairity._core")]
struct Counter(Option<counts::Counter>);

impl Counter {
    fn take(&mut self) -> PyResult<counts::Counter> {
        let ended = "this counter is finished, or an error or a signal ended it: make a new one";
        self.0.take().ok_or_else(|| PyValueError::new_err(ended))
    }

    fn add(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut counts::Counter, &mut CheckIn) -> Result<()> + Send,
    ) -> PyResult<()> {
        let mut counter = self.take()?;
        long_call_in_steps(py, |check_in| work(&mut counter, check_in))?;
        self.0 = Some(counter);
        Ok(())
    }
}

#[pymethods]
impl Counter {
    #[new]
    #[pyo3(signature = (pattern, *, nfc=false, replace_invalid=false, count_words=false))]
    fn new(pattern: Option<&str>, nfc: bool, replace_invalid: bool, count_words: bool) -> PyResult<Self> {
        let pretokenizer = Pretokenizer::new(pattern)?;
        Ok(Self(Some(counts::Counter::new(pretokenizer, nfc, replace_invalid, count_words))))
    }

    fn add_lines(&mut self, py: Python<'_>, block: &[u8]) -> PyResult<()> {
        self.add(py, |counter, check_in| counter.add_lines(block, check_in))
    }

    #[pyo3(signature = (data, offsets, times=None))]
    fn add_texts(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
        times: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (data, offsets) = texts_in(data, offsets)?;
        let texts = Strings::new(bytes_of(&data)?, &offsets)?;
        let times = times.map(numbers_in).transpose()?;
        self.add(py, |counter, check_in| counter.add_texts(texts, times.as_deref(), check_in))
    }

    fn merge(&mut self, py: Python<'_>, other: &mut Self) -> PyResult<()> {
        let mut counter = self.take()?;
        let other = other.take()?;
        let both = move || {
            counter.merge(other);
            counter
        };
        self.0 = Some(long_call_apart(py, both)?);
        Ok(())
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<CountedColumns<'py>> {
        let counter = self.take()?;
        let (words, totals, offsets, counts) = long_call_apart(py, || {
            let (words, totals) = counter.finish();
            let offsets = little_endian(words.words.offsets().iter().map(|offset| offset.to_le_bytes()));
            let counts = little_endian(words.counts.iter().map(|count| count.to_le_bytes()));
            (words, totals, offsets, counts)
        })?;
        let named = PyDict::new(py);
        named.set_item("lines", totals.lines)?;
        named.set_item("bytes", totals.bytes)?;
        named.set_item("chars", totals.chars)?;
        named.set_item("words", totals.words)?;
        named.set_item("replaced", totals.replaced)?;
        let [bytes, offsets, counts] =
            [words.words.bytes(), &offsets, &counts].map(|column| PyBytes::new(py, column));
        Ok((bytes, offsets, counts, named))
    }
}

type CountedColumns<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyDict>);

#[pyfunction]
#[pyo3(signature = (pattern, text, *, nfc=false, strict=false))]
fn pretokenize(
    py: Python<'_>,
    pattern: Option<&str>,
    text: &str,
    nfc: bool,
    strict: bool,
) -> PyResult<Vec<String>> {
    let pretokenizer = Pretokenizer::new(pattern)?;
    long_call_in_steps(py, |check_in| {
        let text = if nfc { to_nfc(text, check_in)? } else { Cow::Borrowed(text) };
        let mut pretokens = Vec::new();
        let mut keep = |pretoken: Range<usize>, _: &mut CheckIn| pretokens.push(text[pretoken].to_owned());
        if strict {
            pretokenizer.split_strict(&text, check_in, &mut keep)?;
        } else {
            pretokenizer.split(&text, check_in, &mut keep)?;
        }
        Ok(pretokens)
    })
}

/// A text that the pattern does not match all of, if one is found.
#[pyfunction]
fn first_unmatched(py: Python<'_>, pattern: &str) -> PyResult<Option<String>> {
    let pretokenizer = Pretokenizer::new(Some(pattern))?;
    long_call_in_steps(py, |check_in| cover::first_unmatched(&pretokenizer, check_in))
}
