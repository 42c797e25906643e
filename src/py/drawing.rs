//! The door to Python: drawing lines and detecting scripts.

use super::counting::{bytes_of, texts_in};
use super::{little_endian, long_call_in_steps};
use crate::places::{Places, Sizes};
use crate::scripts::main_script;
use crate::strings::Strings;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(places_of_texts, module)?)?;
    module.add_function(wrap_pyfunction!(script_of, module)?)
}

type SizeColumns<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn columns<'py>(py: Python<'py>, sizes: &Sizes) -> SizeColumns<'py> {
    let column =
        |numbers: &[u64]| PyBytes::new(py, &little_endian(numbers.iter().map(|number| number.to_le_bytes())));
    (column(&sizes.places), column(&sizes.bytes), column(&sizes.words))
}

#[pyfunction]
#[pyo3(signature = (key, data, offsets, *, words=false))]
fn places_of_texts<'py>(
    py: Python<'py>,
    key: &[u8],
    data: &Bound<'_, PyAny>,
    offsets: &Bound<'_, PyAny>,
    words: bool,
) -> PyResult<SizeColumns<'py>> {
    let places = Places::new(key);
    let (data, offsets) = texts_in(data, offsets)?;
    let texts = Strings::new(bytes_of(&data)?, &offsets)?;
    let sizes = long_call_in_steps(py, |check_in| Sizes::of(texts.iter(), &places, words, check_in))?;
    Ok(columns(py, &sizes))
}

#[pyfunction]
fn script_of(text: &str) -> Option<(&'static str, f64)> {
    main_script(text)
}
