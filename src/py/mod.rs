//! The door to Python: buffers in, buffers out. Nothing else in the core knows Python.

use crate::choose::{Admission, Window};
use crate::counts;
use crate::error::{Error, Result};
use crate::split::{PRESETS, Pretokenizer};
use crate::train::{Counted, Goal, Language, Measure, Settings, Step, Trained, train as learn};
use crate::unicode::UNICODE_VERSION;
use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::time::{Duration, Instant};

mod encode;

pyo3::create_exception!(
    pairity._core,
    NotUtf8Error,
    PyValueError,
    "Text that is not UTF-8. `line` counts from 0 within the batch, `column` is a byte offset in that line."
);

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::NotUtf8 { line, column } => Python::attach(|py| {
                let raised = NotUtf8Error::new_err(error.to_string());
                let value = raised.value(py);
                match value.setattr("line", line).and_then(|()| value.setattr("column", column)) {
                    Ok(()) => raised,
                    Err(other) => other,
                }
            }),
            Error::Invalid(message) => PyValueError::new_err(message),
        }
    }
}

/// The elements of a contiguous buffer.
///
/// SAFETY: the caller keeps the buffer alive (it is borrowed) and must not write to it meanwhile; the
/// Python side only ever passes Arrow buffers, which are immutable, and arrays that it has just made.
fn slice<T: Element>(buffer: &PyBuffer<T>) -> PyResult<&[T]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("buffers must be contiguous"));
    }
    if buffer.item_count() == 0 {
        return Ok(&[]);
    }
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.item_count()) })
}

#[derive(FromPyObject)]
struct CountedBuffers(PyBuffer<u8>, PyBuffer<i64>, PyBuffer<u64>);

impl CountedBuffers {
    fn counted(&self) -> PyResult<Counted<'_>> {
        let (bytes, offsets, counts) = (slice(&self.0)?, slice(&self.1)?, slice(&self.2)?);
        let ascending = offsets.windows(2).all(|ends| ends[0] <= ends[1]);
        let within = offsets.first().is_some_and(|&first| first >= 0)
            && offsets.last().is_some_and(|&last| last as usize <= bytes.len());
        if offsets.len() != counts.len() + 1 || !ascending || !within {
            return Err(PyValueError::new_err("offsets do not fit the bytes and counts"));
        }
        Ok(Counted { bytes, offsets, counts })
    }
}

#[derive(FromPyObject)]
struct MeasureBuffers(CountedBuffers, f64, f64);

#[derive(FromPyObject)]
struct StepBuffers(PyBuffer<u32>, PyBuffer<u32>, PyBuffer<i32>, PyBuffer<u64>);

impl StepBuffers {
    fn steps(&self, languages: usize) -> PyResult<Vec<Step>> {
        let (left, right, served, count) =
            (slice(&self.0)?, slice(&self.1)?, slice(&self.2)?, slice(&self.3)?);
        if [right.len(), served.len(), count.len()] != [left.len(); 3] {
            return Err(PyValueError::new_err("known merges: columns of unequal length"));
        }
        let step = |i: usize| Step {
            left: left[i],
            right: right[i],
            served: usize::try_from(served[i]).ok().filter(|&language| language < languages),
            count: count[i],
        };
        Ok((0..left.len()).map(step).collect())
    }
}

fn little_endian<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.size_hint().0 * N);
    for value in values {
        bytes.extend_from_slice(&value); // `flatten` would go byte by byte
    }
    bytes
}

/// left u32, right u32, served i32 (-1: everyone), count u64.
fn columns<'py>(py: Python<'py>, steps: &[Step]) -> [Bound<'py, PyBytes>; 4] {
    let served = |step: &Step| step.served.map_or(-1, |language| language as i32);
    [
        little_endian(steps.iter().map(|step| step.left.to_le_bytes())),
        little_endian(steps.iter().map(|step| step.right.to_le_bytes())),
        little_endian(steps.iter().map(|step| served(step).to_le_bytes())),
        little_endian(steps.iter().map(|step| step.count.to_le_bytes())),
    ]
    .map(|column| PyBytes::new(py, &column))
}

type Columns<'py> = [Bound<'py, PyBytes>; 4];
type TrainedColumns<'py> = (Columns<'py>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<(usize, usize)>);

#[pyfunction]
#[pyo3(signature = (languages, *, merges=None, tokens=None, global_merges=None, window=None, min_frequency=0,
    max_token_length=None, whole_characters=false, threads=1, known=None, known_exhausted=Vec::new(), tick=None, checkpoint=None,
    checkpoint_seconds=60.0))]
#[allow(clippy::too_many_arguments)]
fn train<'py>(
    py: Python<'py>,
    languages: Vec<(CountedBuffers, Option<MeasureBuffers>)>,
    merges: Option<usize>,
    tokens: Option<usize>,
    global_merges: Option<usize>,
    window: Option<(usize, f64)>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    whole_characters: bool,
    threads: usize,
    known: Option<StepBuffers>,
    known_exhausted: Vec<(usize, usize)>,
    tick: Option<Py<PyAny>>,
    checkpoint: Option<Py<PyAny>>,
    checkpoint_seconds: f64,
) -> PyResult<TrainedColumns<'py>> {
    let goal = match (merges, tokens) {
        (Some(merges), None) => Goal::Merges(merges),
        (None, Some(tokens)) => Goal::Tokens(tokens),
        _ => return Err(PyValueError::new_err("give one of merges and tokens")),
    };
    let given: Vec<Language> = languages
        .iter()
        .map(|(train, measure)| {
            let measure = measure.as_ref().map(|MeasureBuffers(text, units, ratio)| {
                Ok::<_, PyErr>(Measure { text: text.counted()?, units: *units, ratio: *ratio })
            });
            Ok(Language { train: train.counted()?, measure: measure.transpose()? })
        })
        .collect::<PyResult<_>>()?;
    let known = known.map_or(Ok(Vec::new()), |known| known.steps(given.len()))?;
    if known_exhausted.iter().any(|&(language, _)| language >= given.len()) {
        return Err(PyValueError::new_err("known_exhausted names a language that is not there"));
    }
    let settings = Settings {
        goal,
        global_merges: global_merges.unwrap_or(usize::MAX),
        window: window.map(|(size, alpha)| Window { size, alpha }),
        admission: Admission {
            min_frequency,
            max_token_length: max_token_length.unwrap_or(usize::MAX),
            whole_characters,
        },
        threads: threads.max(1),
        known,
        known_exhausted,
    };

    let mut raised: Option<PyErr> = None;
    let mut last_checkpoint = Instant::now();
    let interval = Duration::try_from_secs_f64(checkpoint_seconds).unwrap_or(Duration::MAX);
    let mut on_tick = |so_far: &Trained| {
        let steps = &so_far.steps;
        let heard = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(tick), Some(last)) = (&tick, steps.last()) {
                tick.call1(py, (steps.len(), last.served))?;
            }
            if let Some(checkpoint) = &checkpoint
                && last_checkpoint.elapsed() >= interval
            {
                last_checkpoint = Instant::now();
                checkpoint.call1(py, (columns(py, steps), so_far.exhausted.clone()))?;
            }
            Ok(())
        });
        raised = heard.err();
        raised.is_none()
    };
    let outcome = py.detach(|| learn(&given, &settings, &mut on_tick));
    if let Some(error) = raised {
        return Err(error);
    }
    let trained = outcome?;
    let steps = little_endian(trained.snapshots.iter().map(|(done, _)| (*done as u64).to_le_bytes()));
    let held = trained.snapshots.iter().flat_map(|(_, tokens)| tokens);
    let held = little_endian(held.map(|tokens| tokens.to_le_bytes()));
    Ok((columns(py, &trained.steps), PyBytes::new(py, &steps), PyBytes::new(py, &held), trained.exhausted))
}

/// The bytes of any contiguous buffer, whatever its elements. SAFETY: as for [`slice`].
fn bytes_of(buffer: &PyUntypedBuffer) -> PyResult<&[u8]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("buffers must be contiguous"));
    }
    if buffer.len_bytes() == 0 {
        return Ok(&[]);
    }
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) })
}

/// Text is counted in pieces of about this size, with a look at Ctrl-C between them; a single text is never cut.
const PIECE: usize = 1 << 18;

#[pyclass(module = "pairity._core")]
struct Counter(Option<counts::Counter>);

impl Counter {
    fn open(&mut self) -> PyResult<&mut counts::Counter> {
        self.0.as_mut().ok_or_else(|| PyValueError::new_err("this counter is finished: make a new one"))
    }

    fn take(&mut self) -> PyResult<counts::Counter> {
        self.open()?;
        Ok(self.0.take().expect("just seen to be open"))
    }
}

/// Where the piece of whole lines that starts at `start` ends.
fn piece_end(block: &[u8], start: usize) -> usize {
    let rest = &block[(start + PIECE).min(block.len())..];
    let after_newline = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |newline| newline + 1);
    block.len() - rest.len() + after_newline
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
        let counter = self.open()?;
        let mut start = 0;
        while start < block.len() {
            let end = piece_end(block, start);
            py.detach(|| counter.add_lines(&block[start..end])).map_err(|error| match error {
                Error::NotUtf8 { line, column } => {
                    let before = block[..start].iter().filter(|byte| **byte == b'\n').count();
                    Error::NotUtf8 { line: line + before as u64, column }
                }
                other => other,
            })?;
            py.check_signals()?;
            start = end;
        }
        Ok(())
    }

    fn add_texts(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let counter = self.open()?;
        let (data, offsets) = (PyUntypedBuffer::get(data)?, PyUntypedBuffer::get(offsets)?);
        let data = bytes_of(&data)?;
        let (offsets, rest) = bytes_of(&offsets)?.as_chunks();
        if !rest.is_empty() {
            return Err(PyValueError::new_err("offsets must be int64: their size is no multiple of 8 bytes"));
        }
        let offsets: Vec<i64> = offsets.iter().map(|offset| i64::from_le_bytes(*offset)).collect();
        let mut first = 0;
        while first + 1 < offsets.len() {
            let full = offsets[first].saturating_add(PIECE as i64);
            let last = offsets[first + 1..].iter().position(|offset| *offset >= full);
            let last = last.map_or(offsets.len() - 1, |more| first + 1 + more);
            py.detach(|| counter.add_texts(data, &offsets[first..=last])).map_err(|error| match error {
                Error::NotUtf8 { line, column } => Error::NotUtf8 { line: line + first as u64, column },
                other => other,
            })?;
            py.check_signals()?;
            first = last;
        }
        Ok(())
    }

    fn merge(&mut self, py: Python<'_>, other: &mut Self) -> PyResult<()> {
        let counter = self.open()?;
        let other = other.take()?;
        py.detach(|| counter.merge(other));
        Ok(())
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<CountedColumns<'py>> {
        let counter = self.take()?;
        let (words, totals, offsets, counts) = py.detach(|| {
            let (words, totals) = counter.finish();
            let offsets = little_endian(words.offsets.iter().map(|offset| offset.to_le_bytes()));
            let counts = little_endian(words.counts.iter().map(|count| count.to_le_bytes()));
            (words, totals, offsets, counts)
        });
        let named = PyDict::new(py);
        named.set_item("lines", totals.lines)?;
        named.set_item("bytes", totals.bytes)?;
        named.set_item("chars", totals.chars)?;
        named.set_item("words", totals.words)?;
        named.set_item("replaced", totals.replaced)?;
        let [bytes, offsets, counts] =
            [&words.bytes, &offsets, &counts].map(|column| PyBytes::new(py, column));
        Ok((bytes, offsets, counts, named))
    }
}

type CountedColumns<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyDict>);

#[pyfunction]
#[pyo3(signature = (pattern, text, *, strict=false))]
fn pretokenize<'t>(
    py: Python<'_>,
    pattern: Option<&str>,
    text: &'t str,
    strict: bool,
) -> PyResult<Vec<&'t str>> {
    let pretokenizer = Pretokenizer::new(pattern)?;
    let pretokens = py.detach(|| -> Result<_> {
        let mut pretokens = Vec::new();
        let mut keep = |pretoken| pretokens.push(pretoken);
        if strict {
            pretokenizer.split_strict(text, &mut keep)?;
        } else {
            pretokenizer.split(text, &mut keep)?;
        }
        Ok(pretokens)
    })?;
    Ok(pretokens)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let patterns = PyDict::new(module.py());
    for preset in PRESETS {
        patterns.set_item(preset.name, (preset.pattern, preset.single_digits))?;
    }
    module.add("PATTERNS", patterns)?;
    module.add("UNICODE_VERSION", UNICODE_VERSION)?;
    module.add("NotUtf8Error", module.py().get_type::<NotUtf8Error>())?;
    module.add_class::<Counter>()?;
    module.add_function(wrap_pyfunction!(pretokenize, module)?)?;
    module.add_function(wrap_pyfunction!(train, module)?)?;
    encode::register(module)?;
    Ok(())
}
