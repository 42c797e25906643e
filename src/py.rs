//! The door to Python: buffers in, buffers out. Nothing else in the core knows Python.

use crate::choose::{Admission, Window};
use crate::error::Error;
use crate::train::{Counted, Goal, Language, Measure, Settings, Step, train as learn};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
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

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(train, module)?)?;
    Ok(())
}
