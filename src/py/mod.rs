//! The door to Python: buffers in, buffers out. Nothing else in the core knows Python.

mod counting;
mod drawing;
mod encoding;
mod pieces;
mod reading;
mod training;

use crate::check_in::{CheckIn, PAUSE};
use crate::error::{Error, Result};
use crate::split::{CL100K, PRESETS, THEN, TIKTOKEN_GPT2, phrases};
use crate::train::LONGEST_WORD;
use crate::unicode::UNICODE_VERSION;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let patterns = PyDict::new(module.py());
    for preset in PRESETS {
        patterns.set_item(preset.name, (preset.pattern, preset.single_digits))?;
    }
    module.add("PATTERNS", patterns)?;
    module.add("CL100K", CL100K)?;
    module.add("TIKTOKEN_GPT2", TIKTOKEN_GPT2)?;
    module.add("THEN", THEN)?;
    module.add("UNICODE_VERSION", UNICODE_VERSION)?;
    module.add("LONGEST_WORD", LONGEST_WORD)?;
    module.add("MOST_WORDS", phrases::MOST_WORDS)?;
    module.add("NotUtf8Error", module.py().get_type::<NotUtf8Error>())?;
    counting::register(module)?;
    drawing::register(module)?;
    reading::register(module)?;
    pieces::register(module)?;
    training::register(module)?;
    encoding::register(module)
}

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
            Error::Overflow => PyOverflowError::new_err(error.to_string()),
            Error::Io(error) => match error.raw_os_error() {
                // Python chooses the subclass of OSError by the number.
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => PyOSError::new_err(error.to_string()),
            },
        }
    }
}

/// The caller in Python, while the work runs without the GIL.
struct PythonCaller {
    raised: Option<PyErr>,
}

impl PythonCaller {
    /// Whether to go on: runs the handlers of pending signals (Ctrl-C), and then `hear`.
    fn asked(&mut self, hear: impl FnOnce(Python<'_>) -> PyResult<()>) -> bool {
        let heard = Python::attach(|py| py.check_signals().and_then(|()| hear(py)));
        self.raised = heard.err();
        self.raised.is_none()
    }

    /// The exception of a handler, or else the outcome of the work.
    fn raised_or<T, E: Into<PyErr>>(self, outcome: std::result::Result<T, E>) -> PyResult<T> {
        self.raised.map_or_else(|| outcome.map_err(Into::into), Err)
    }
}

/// The door for every long call: releases the GIL, runs `work`, and raises the exception of a signal handler, or else the
/// error of the work.
fn long_call<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut PythonCaller) -> Result<T> + Send,
) -> PyResult<T> {
    let mut caller = PythonCaller { raised: None };
    let outcome = py.detach(|| work(&mut caller));
    caller.raised_or(outcome)
}

/// The same for work that checks in at every step.
fn long_call_in_steps<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut CheckIn) -> Result<T> + Send,
) -> PyResult<T> {
    long_call(py, |caller| work(&mut CheckIn::new(&mut || caller.asked(|_| Ok(())))))
}

/// The same for work that never checks in. It runs on its own thread; if the caller stops waiting, it is left to end by
/// itself.
fn long_call_apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = sync_channel(1);
    let worker = Builder::new().spawn(move || sender.send(work()).unwrap_or_default())?;
    long_call(py, move |caller| {
        while caller.asked(|_| Ok(())) {
            match receiver.recv_timeout(PAUSE) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(worker.join().expect_err("it ended without a result"))
                }
            }
        }
        Err(Error::Interrupted)
    })
}

/// The elements of a contiguous buffer.
///
/// SAFETY: the buffer is borrowed, so it stays alive, and nobody may write to it meanwhile. The Python side only passes
/// Arrow buffers, which are immutable, and arrays that it has just made.
fn slice<T: Element>(buffer: &PyBuffer<T>) -> PyResult<&[T]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("buffers must be contiguous"));
    }
    if buffer.item_count() == 0 {
        return Ok(&[]);
    }
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.item_count()) })
}

fn little_endian<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.size_hint().0 * N);
    for value in values {
        bytes.extend_from_slice(&value); // `flatten` would copy byte by byte
    }
    bytes
}
