//! The door to Python: looking at text before it is counted.

use super::{little_endian, long_call_in_steps};
use crate::error::Error;
use crate::sieve;
use crate::split::Pretokenizer;
use crate::split::edge::last_edge;
use crate::strings::Strings;
use crate::unicode::to_nfc;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sieve>()?;
    module.add_function(wrap_pyfunction!(texts_of_lines, module)?)?;
    module.add_function(wrap_pyfunction!(cut_long, module)?)
}

#[pyclass(module = "pairity._core", frozen)]
struct Sieve(sieve::Sieve);

#[pymethods]
impl Sieve {
    #[new]
    #[pyo3(signature = (*, check_utf8, distinct=None, depth=0))]
    fn new(check_utf8: bool, distinct: Option<u64>, depth: u32) -> Self {
        Self(sieve::Sieve::new(check_utf8, distinct, depth))
    }

    fn look<'py>(
        &self,
        py: Python<'py>,
        language: &str,
        data: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (data, offsets) = super::counting::texts_in(data, offsets)?;
        let texts = Strings::new(super::counting::bytes_of(&data)?, &offsets)?;
        let verdicts = long_call_in_steps(py, |check_in| self.0.look(language, texts, check_in))?;
        Ok(PyBytes::new(py, &verdicts))
    }
}

#[pyfunction]
fn texts_of_lines<'py>(py: Python<'py>, lines: &[u8]) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
    let (bytes, offsets) = py.detach(|| {
        let (bytes, offsets) = sieve::texts_of(lines);
        (bytes, little_endian(offsets.iter().map(|offset| offset.to_le_bytes())))
    });
    (PyBytes::new(py, &bytes), PyBytes::new(py, &offsets))
}

type TwoParts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Splits the beginning of a text at the last edge that stays one whatever follows.
#[pyfunction]
#[pyo3(signature = (pattern, beginning, *, nfc=false))]
fn cut_long<'py>(
    py: Python<'py>,
    pattern: Option<&str>,
    beginning: &[u8],
    nfc: bool,
) -> PyResult<Option<TwoParts<'py>>> {
    let pretokenizer = Pretokenizer::new(pattern)?;
    let (text, broken) = match std::str::from_utf8(beginning) {
        Ok(text) => (text, &[][..]),
        // The last character may continue in what follows.
        Err(error) if error.error_len().is_none() => {
            let (whole, broken) = beginning.split_at(error.valid_up_to());
            (std::str::from_utf8(whole).expect("it is valid up to here"), broken)
        }
        Err(error) => return Err(Error::NotUtf8 { line: 0, column: error.valid_up_to() as u64 }.into()),
    };
    let found = long_call_in_steps(py, |check_in| {
        let text = if nfc { to_nfc(text, check_in)? } else { Cow::Borrowed(text) };
        Ok(last_edge(&pretokenizer, &text, check_in)?.map(|edge| (text, edge)))
    })?;
    Ok(found.map(|(text, edge)| {
        let (head, rest) = text.as_bytes().split_at(edge);
        (PyBytes::new(py, head), PyBytes::new(py, &[rest, broken].concat()))
    }))
}
