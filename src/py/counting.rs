//! The door to Python: cutting and counting.

use super::{little_endian, long_call_apart, long_call_in_steps};
use crate::check_in::CheckIn;
use crate::counts::{self, Counted, Totals, WordCounts, runs, sum};
use crate::error::Result;
use crate::split::{Pretokenizer, cover, phrases};
use crate::strings::Strings;
use crate::unicode::to_nfc;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Counter>()?;
    module.add_class::<RunWriter>()?;
    module.add_class::<RunMerge>()?;
    module.add_function(wrap_pyfunction!(sum_counts, module)?)?;
    module.add_function(wrap_pyfunction!(pretokenize, module)?)?;
    module.add_function(wrap_pyfunction!(first_unmatched, module)?)?;
    module.add_function(wrap_pyfunction!(pattern_of_phrases, module)?)?;
    module.add_function(wrap_pyfunction!(words_of_phrases, module)?)
}

/// The bytes of any contiguous buffer, with elements of any type. SAFETY: as for [`super::slice`].
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
    Ok((PyUntypedBuffer::get(data)?, numbers(offsets, "offsets", i64::from_le_bytes)?))
}

/// The 64-bit numbers in a buffer, with elements of any type; `what` names them in errors.
fn numbers<T>(buffer: &Bound<'_, PyAny>, what: &str, read: fn([u8; 8]) -> T) -> PyResult<Vec<T>> {
    let buffer = PyUntypedBuffer::get(buffer)?;
    let (numbers, rest) = bytes_of(&buffer)?.as_chunks();
    if !rest.is_empty() {
        let message = format!("{what} must be int64: their size is not a multiple of 8 bytes");
        return Err(PyValueError::new_err(message));
    }
    Ok(numbers.iter().map(|number| read(*number)).collect())
}

/// None once it is finished, or after an error, when only part of the input was counted.
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
        let times = times.map(|times| numbers(times, "times", i64::from_le_bytes)).transpose()?;
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
        let totals = named(py, counter.totals())?;
        let (data, offsets, counts) = columns(py, long_call_apart(py, || as_bytes(counter.finish().0))?);
        Ok((data, offsets, counts, totals))
    }

    fn memory(&self, more: usize) -> usize {
        self.0.as_ref().map_or(0, |counter| counter.memory(more))
    }

    fn spill<'py>(&mut self, py: Python<'py>, path: PathBuf) -> PyResult<(u64, u64, Bound<'py, PyDict>)> {
        let counter = self.take()?;
        let spilled = long_call_in_steps(py, |check_in| counter.spill(&path, check_in));
        let totals = counter.totals();
        if spilled.is_err() {
            self.0 = Some(counter); // nothing that it counted is lost
        }
        let seal = spilled?;
        Ok((seal.rows, seal.digest, named(py, totals)?))
    }
}

/// Pre-tokens end to end, their offsets, their counts.
type WordColumns<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

type CountedColumns<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyDict>);

fn as_bytes(counts: WordCounts) -> [Vec<u8>; 3] {
    let offsets = little_endian(counts.words.offsets().iter().map(|offset| offset.to_le_bytes()));
    let numbers = little_endian(counts.counts.iter().map(|count| count.to_le_bytes()));
    [counts.words.into_bytes(), offsets, numbers]
}

fn columns(py: Python<'_>, columns: [Vec<u8>; 3]) -> WordColumns<'_> {
    columns.map(|column| PyBytes::new(py, &column)).into()
}

fn named(py: Python<'_>, totals: Totals) -> PyResult<Bound<'_, PyDict>> {
    let named = PyDict::new(py);
    named.set_item("lines", totals.lines)?;
    named.set_item("bytes", totals.bytes)?;
    named.set_item("chars", totals.chars)?;
    named.set_item("words", totals.words)?;
    named.set_item("replaced", totals.replaced)?;
    Ok(named)
}

fn finished() -> PyErr {
    PyValueError::new_err("this run is finished, or an error or a signal ended it")
}

/// None once it is finished, or after an error.
#[pyclass(module = "pairity._core")]
struct RunWriter(Option<runs::RunWriter>);

#[pymethods]
impl RunWriter {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Self(Some(runs::RunWriter::create(&path)?)))
    }

    fn add(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
        counts: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut run = self.0.take().ok_or_else(finished)?;
        let (data, offsets) = texts_in(data, offsets)?;
        let counts = numbers(counts, "counts", u64::from_le_bytes)?;
        let words = Counted::new(Strings::new(bytes_of(&data)?, &offsets)?, &counts)?;
        long_call_in_steps(py, |check_in| {
            words.iter().try_for_each(|(word, count)| {
                check_in.now()?;
                run.push(word, count)
            })
        })?;
        self.0 = Some(run);
        Ok(())
    }

    fn finish(&mut self) -> PyResult<(u64, u64)> {
        let seal = self.0.take().ok_or_else(finished)?.finish()?;
        Ok((seal.rows, seal.digest))
    }
}

#[pyclass(module = "pairity._core")]
struct RunMerge(Option<runs::MergedRuns>);

#[pymethods]
impl RunMerge {
    #[new]
    fn new(paths: Vec<PathBuf>) -> PyResult<Self> {
        Ok(Self(Some(runs::MergedRuns::open(&paths)?)))
    }

    fn next<'py>(&mut self, py: Python<'py>, rows: usize, bytes: usize) -> PyResult<(WordColumns<'py>, u64)> {
        let mut merge = self.0.take().ok_or_else(finished)?;
        let next = long_call_in_steps(py, |check_in| Ok(as_bytes(merge.next(rows, bytes, check_in)?)))?;
        Ok((columns(py, next), self.0.insert(merge).rows()))
    }
}

/// Pre-tokens, their offsets and counts, as any buffers.
type GivenColumns<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pyfunction]
fn sum_counts<'py>(py: Python<'py>, lists: Vec<GivenColumns<'py>>) -> PyResult<WordColumns<'py>> {
    let given = lists.iter().map(|(data, offsets, counts)| {
        Ok((texts_in(data, offsets)?, numbers(counts, "counts", u64::from_le_bytes)?))
    });
    let given: Vec<_> = given.collect::<PyResult<_>>()?;
    let lists = given
        .iter()
        .map(|((data, offsets), counts)| Ok(Counted::new(Strings::new(bytes_of(data)?, offsets)?, counts)?));
    let lists: Vec<_> = lists.collect::<PyResult<_>>()?;
    let summed = long_call_in_steps(py, |check_in| Ok(as_bytes(sum::sum(&lists, check_in)?)))?;
    Ok(columns(py, summed))
}

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

/// A text that the pattern does not match completely, if one is found.
#[pyfunction]
fn first_unmatched(py: Python<'_>, pattern: &str) -> PyResult<Option<String>> {
    let pretokenizer = Pretokenizer::new(Some(pattern))?;
    long_call_in_steps(py, |check_in| cover::first_unmatched(&pretokenizer, check_in))
}

#[pyfunction]
fn pattern_of_phrases(words: &str, most: usize) -> Option<String> {
    phrases::pattern(words, most)
}

#[pyfunction]
fn words_of_phrases(pattern: &str) -> Option<(&'static str, usize)> {
    phrases::known(pattern)
}
