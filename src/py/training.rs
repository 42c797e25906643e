//! The door to Python: training.

use super::encoding::Encoder;
use super::{little_endian, long_call, slice};
use crate::counts::Counted;
use crate::queue::Admission;
use crate::scale::Measure;
use crate::start::Start;
use crate::strings::Strings;
use crate::train::{Goal, Language, MOST_SYMBOLS, Settings, Step, Trained, train as learn};
use crate::turns::Window;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::{Duration, Instant};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(train, module)?)
}

#[derive(FromPyObject)]
pub struct CountedBuffers(pub PyBuffer<u8>, pub PyBuffer<i64>, pub PyBuffer<u64>);

impl CountedBuffers {
    pub fn counted(&self) -> PyResult<Counted<'_>> {
        Ok(Counted::new(Strings::new(slice(&self.0)?, slice(&self.1)?)?, slice(&self.2)?)?)
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
        if served.iter().any(|&language| language >= 0 && language as usize >= languages) {
            return Err(PyValueError::new_err("a known merge served a language that is not there"));
        }
        let step = |i: usize| Step {
            left: left[i],
            right: right[i],
            served: usize::try_from(served[i]).ok(), // -1: everyone
            count: count[i],
        };
        Ok((0..left.len()).map(step).collect())
    }
}

/// left u32, right u32, served i32 (-1: everyone), count u64.
type StepColumns<'py> = [Bound<'py, PyBytes>; 4];

fn columns<'py>(py: Python<'py>, steps: &[Step]) -> StepColumns<'py> {
    let served = |step: &Step| step.served.map_or(-1, |language| language as i32);
    [
        little_endian(steps.iter().map(|step| step.left.to_le_bytes())),
        little_endian(steps.iter().map(|step| step.right.to_le_bytes())),
        little_endian(steps.iter().map(|step| served(step).to_le_bytes())),
        little_endian(steps.iter().map(|step| step.count.to_le_bytes())),
    ]
    .map(|column| PyBytes::new(py, &column))
}

type TrainedColumns<'py> = (StepColumns<'py>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<(usize, usize)>);

#[pyfunction]
#[pyo3(signature = (languages, *, merges=None, tokens=None, global_merges=None, window=None, joint=None, beta=None, min_frequency=0,
    max_token_length=None, whole_characters=false, threads=1, start=None, known=None, known_exhausted=Vec::new(), tick=None, checkpoint=None,
    checkpoint_seconds=1.0, most_symbols=None))]
#[allow(clippy::too_many_arguments)]
fn train<'py>(
    py: Python<'py>,
    languages: Vec<(CountedBuffers, Option<MeasureBuffers>)>,
    merges: Option<usize>,
    tokens: Option<usize>,
    global_merges: Option<usize>,
    window: Option<(usize, f64)>,
    joint: Option<f64>,
    beta: Option<f64>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    whole_characters: bool,
    threads: usize,
    start: Option<(Bound<'py, Encoder>, PyBuffer<u32>)>,
    known: Option<StepBuffers>,
    known_exhausted: Vec<(usize, usize)>,
    tick: Option<Py<PyAny>>,
    checkpoint: Option<Py<PyAny>>,
    checkpoint_seconds: f64,
    most_symbols: Option<usize>,
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
        joint,
        beta,
        admission: Admission {
            min_frequency,
            max_token_length: max_token_length.unwrap_or(usize::MAX),
            whole_characters,
        },
        threads: threads.max(1),
        most_symbols: most_symbols.unwrap_or(MOST_SYMBOLS).min(MOST_SYMBOLS),
        known,
        known_exhausted,
    };

    let start = match &start {
        None => Start::default(),
        Some((encoder, ids)) => Start::encoded(&encoder.get().encoder, slice(ids)?)?,
    };

    let mut last_checkpoint = Instant::now();
    let interval = Duration::try_from_secs_f64(checkpoint_seconds).unwrap_or(Duration::MAX);
    let mut hear = |py: Python<'_>, so_far: &Trained| {
        let steps = &so_far.steps;
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
    };
    let trained = long_call(py, |caller| {
        learn(&given, &start, &settings, &mut |so_far| caller.asked(|py| hear(py, so_far)))
    })?;
    let steps = little_endian(trained.snapshots.iter().map(|(done, _)| (*done as u64).to_le_bytes()));
    let held = trained.snapshots.iter().flat_map(|(_, tokens)| tokens);
    let held = little_endian(held.map(|tokens| tokens.to_le_bytes()));
    Ok((columns(py, &trained.steps), PyBytes::new(py, &steps), PyBytes::new(py, &held), trained.exhausted))
}
