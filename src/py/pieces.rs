//! The door to Python: cutting words into their likeliest pieces.

use super::training::CountedBuffers;
use super::{little_endian, long_call_in_steps, slice};
use crate::pieces;
use crate::strings::StringsBuf;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Pieces>()
}

#[pyclass(frozen, module = "pairity._core")]
struct Pieces(pieces::Pieces);

#[pymethods]
impl Pieces {
    #[new]
    fn new(data: PyBuffer<u8>, offsets: PyBuffer<i64>, scores: PyBuffer<f64>) -> PyResult<Self> {
        let strings = StringsBuf::new(slice(&data)?.to_vec(), slice(&offsets)?.to_vec())?;
        Ok(Self(pieces::Pieces::new(strings, slice(&scores)?.to_vec())?))
    }

    fn uses<'py>(
        &self,
        py: Python<'py>,
        data: PyBuffer<u8>,
        offsets: PyBuffer<i64>,
        counts: PyBuffer<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let words = CountedBuffers(data, offsets, counts);
        let words = words.counted()?;
        let uses = long_call_in_steps(py, |check_in| self.0.uses(words, check_in))?;
        Ok(PyBytes::new(py, &little_endian(uses.into_iter().map(u64::to_le_bytes))))
    }

    fn without<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let (sums, numbers) = long_call_in_steps(py, |check_in| self.0.without(check_in))?;
        let sums = little_endian(sums.into_iter().map(f64::to_le_bytes));
        let numbers = little_endian(numbers.into_iter().map(u32::to_le_bytes));
        Ok([PyBytes::new(py, &sums), PyBytes::new(py, &numbers)])
    }
}
