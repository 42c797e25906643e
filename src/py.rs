//! The door to Python: buffers in, buffers out. Nothing else in the core knows Python.

use crate::choose::{Admission, Window};
use crate::encode::{self, Rules, Stop, Text, Tokens};
use crate::error::Error;
use crate::split::Pretokenizer;
use crate::train::{Counted, Goal, Language, Measure, Settings, Step, train as learn};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            other => PyValueError::new_err(other.to_string()),
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
    values.flatten().collect()
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
    max_token_length=None, whole_characters=false, threads=1, known=None, tick=None, checkpoint=None,
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
    };

    let mut raised: Option<PyErr> = None;
    let mut last_checkpoint = Instant::now();
    let interval = Duration::try_from_secs_f64(checkpoint_seconds).unwrap_or(Duration::MAX);
    let mut on_tick = |steps: &[Step]| {
        let heard = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(tick), Some(last)) = (&tick, steps.last()) {
                tick.call1(py, (steps.len(), last.served))?;
            }
            if let Some(checkpoint) = &checkpoint
                && last_checkpoint.elapsed() >= interval
            {
                last_checkpoint = Instant::now();
                checkpoint.call1(py, (columns(py, steps),))?;
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

/// Which special tokens to look for; made once for a set and kept by the caller.
#[pyclass(frozen, module = "pairity._core")]
struct Specials(encode::Specials);

#[pymethods]
impl Specials {
    #[new]
    fn new(tokens: Vec<(String, u32)>) -> PyResult<Self> {
        Ok(Self(encode::Specials::new(&tokens)?))
    }
}

fn rules<'s>(allowed: Option<&'s Specials>, disallowed: Option<&'s Specials>) -> Rules<'s> {
    Rules { allowed: allowed.map(|specials| &specials.0), disallowed: disallowed.map(|specials| &specials.0) }
}

/// A `str` (without lone surrogates) or `bytes`, not copied.
fn text<'t>(given: &'t Bound<'_, PyAny>) -> PyResult<Text<'t>> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Text::Str(text.to_str()?));
    }
    Ok(Text::Bytes(given.cast::<PyBytes>()?.as_bytes()))
}

/// Runs `work` without the GIL; it is told when Python wants to raise (Ctrl-C), and that is then raised.
fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut (dyn FnMut() -> bool + Send)) -> crate::error::Result<T> + Send,
) -> PyResult<T> {
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        work(&mut || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_some()
        })
    });
    match raised {
        Some(error) => Err(error),
        None => Ok(outcome?),
    }
}

fn tokens(bytes: &PyBuffer<u8>, offsets: &PyBuffer<i64>) -> PyResult<Tokens> {
    Ok(Tokens::new(slice(bytes)?.to_vec(), slice(offsets)?.to_vec())?)
}

/// Two u32 for every id; the largest number twice where there is no pair.
fn pairs<'py>(py: Python<'py>, origins: &[Option<(u32, u32)>]) -> Bound<'py, PyBytes> {
    let flat = origins.iter().flat_map(|pair| pair.map_or([u32::MAX; 2], |(left, right)| [left, right]));
    PyBytes::new(py, &little_endian(flat.map(u32::to_le_bytes)))
}

#[pyclass(frozen, module = "pairity._core")]
struct Encoder {
    encoder: encode::Encoder,
    special: Vec<u32>,
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (pattern, token_bytes, token_offsets, merges, special, *, nfc=false, whole_pretokens=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        pattern: Option<&str>,
        token_bytes: PyBuffer<u8>,
        token_offsets: PyBuffer<i64>,
        merges: PyBuffer<u32>,
        special: Vec<u32>,
        nfc: bool,
        whole_pretokens: bool,
    ) -> PyResult<Self> {
        let pretokenizer = Pretokenizer::new(pattern)?;
        let tokens = tokens(&token_bytes, &token_offsets)?;
        let (merges, rest) = slice(&merges)?.as_chunks();
        if !rest.is_empty() {
            return Err(PyValueError::new_err("merges come in threes: left, right, new"));
        }
        let make = || encode::Encoder::new(pretokenizer, nfc, tokens, &special, merges, whole_pretokens);
        let encoder = py.detach(make)?;
        Ok(Self { encoder, special })
    }

    #[pyo3(signature = (text, *, allowed=None, disallowed=None))]
    fn encode(
        &self,
        text: &Bound<'_, PyAny>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
    ) -> PyResult<Vec<u32>> {
        let (py, text, rules) = (text.py(), self::text(text)?, rules(allowed, disallowed));
        detached(py, |asked| {
            let flag = AtomicBool::new(false);
            ids(&self.encoder, rules, text, &mut Stop::new(asked, &flag))
        })
    }

    #[pyo3(signature = (texts, *, allowed=None, disallowed=None, threads=1))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
        threads: usize,
    ) -> PyResult<Vec<Vec<u32>>> {
        let texts = texts.iter().map(text).collect::<PyResult<Vec<_>>>()?;
        let rules = rules(allowed, disallowed);
        let work = |text: Text, stop: &mut Stop| ids(&self.encoder, rules, text, stop);
        detached(py, |asked| encode::batch(&texts, threads, asked, work))
    }

    /// How many ids every text has, as int64.
    #[pyo3(signature = (texts, *, allowed=None, disallowed=None, threads=1))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let texts = texts.iter().map(text).collect::<PyResult<Vec<_>>>()?;
        let rules = rules(allowed, disallowed);
        let work = |text: Text, stop: &mut Stop| {
            let mut count = 0_i64;
            self.encoder.encode(text, rules, stop, &mut |ids| count += ids.len() as i64)?;
            Ok(count)
        };
        let counts = detached(py, |asked| encode::batch(&texts, threads, asked, work))?;
        Ok(PyBytes::new(py, &little_endian(counts.into_iter().map(i64::to_le_bytes))))
    }

    fn decode<'py>(&self, py: Python<'py>, ids: Vec<u32>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.encoder.decode(&ids))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The pair that each token is made of when its bytes are encoded.
    fn origins<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let origins = py.detach(|| self.encoder.origins(&self.special));
        pairs(py, &origins)
    }
}

fn ids(
    encoder: &encode::Encoder,
    rules: Rules,
    text: Text,
    stop: &mut Stop,
) -> crate::error::Result<Vec<u32>> {
    let mut ids = Vec::new();
    encoder.encode(text, rules, stop, &mut |some| ids.extend_from_slice(some))?;
    Ok(ids)
}

/// The pair that each token is made of when the ids are the ranks, as in a table without merges.
#[pyfunction]
fn origins_by_rank<'py>(
    py: Python<'py>,
    token_bytes: PyBuffer<u8>,
    token_offsets: PyBuffer<i64>,
    special: Vec<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let tokens = tokens(&token_bytes, &token_offsets)?;
    let origins = py.detach(|| encode::origins_by_rank(&tokens, &special))?;
    Ok(pairs(py, &origins))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Specials>()?;
    module.add_class::<Encoder>()?;
    module.add_function(wrap_pyfunction!(train, module)?)?;
    module.add_function(wrap_pyfunction!(origins_by_rank, module)?)?;
    Ok(())
}
