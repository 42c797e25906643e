//! The door to Python: encoding.

use super::{PythonCaller, little_endian, long_call, long_call_in_steps, slice};
use crate::check_in::CheckIn;
use crate::encode::{self, Encoded, MOST_SLOTS, SpecialRules, Text};
use crate::error::Result;
use crate::memory::prefetch;
use crate::pair::Pair;
use crate::split::Pretokenizer;
use crate::strings::StringsBuf;
use crate::tokens::{Tokens, origins_by_rank as find_origins_by_rank};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyList, PyString, PyTuple};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Specials>()?;
    module.add_class::<Encoder>()?;
    module.add_function(wrap_pyfunction!(origins_by_rank, module)?)
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

/// A `str` (without lone surrogates) or `bytes`, not copied.
fn text<'t>(given: Borrowed<'t, '_, PyAny>) -> PyResult<Text<'t>> {
    if given.is_instance_of::<PyString>() {
        return Ok(Text::Str(given.extract()?));
    }
    match given.extract() {
        Ok(bytes) => Ok(Text::Bytes(bytes)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "a text must be str or bytes, not {}",
            given.get_type().name()?
        ))),
    }
}

fn tokens(bytes: &PyBuffer<u8>, offsets: &PyBuffer<i64>) -> PyResult<Tokens> {
    Ok(Tokens::new(StringsBuf::new(slice(bytes)?.to_vec(), slice(offsets)?.to_vec())?)?)
}

/// Two u32 for every id; the largest number twice if there is no pair.
fn pairs<'py>(py: Python<'py>, origins: &[Option<Pair>]) -> Bound<'py, PyBytes> {
    let flat = origins.iter().flat_map(|pair| pair.map_or([u32::MAX; 2], |pair| [pair.left(), pair.right()]));
    PyBytes::new(py, &little_endian(flat.map(u32::to_le_bytes)))
}

#[pyclass(frozen, module = "pairity._core")]
pub struct Encoder {
    pub encoder: encode::Encoder,
    /// Every id as a Python number, made at the first call and shared by all lists.
    numbers: PyOnceLock<Vec<Py<PyInt>>>,
}

impl Encoder {
    fn numbers(&self, py: Python<'_>) -> PyResult<&[Py<PyInt>]> {
        let numbers = self.numbers.get_or_try_init(py, || {
            let all = 0..self.encoder.vocabulary_size() as u32;
            all.map(|id| id.into_pyobject(py).map(Bound::unbind)).collect::<std::result::Result<_, _>>()
        });
        Ok(numbers?)
    }

    fn rules<'s>(
        &self,
        allowed: Option<&'s Specials>,
        disallowed: Option<&'s Specials>,
    ) -> PyResult<SpecialRules<'s>> {
        let rules =
            SpecialRules { allowed: allowed.map(|some| &some.0), disallowed: disallowed.map(|some| &some.0) };
        match rules.allowed.and_then(encode::Specials::largest_id) {
            Some(id) if id as usize >= self.encoder.vocabulary_size() => Err(PyValueError::new_err(format!(
                "a special token has the id {id}, but the vocabulary ends before it"
            ))),
            _ => Ok(rules),
        }
    }

    /// Calls `work` with some texts at a time, on several threads, and `take` with its results, in order.
    fn batch<T: Send>(
        texts: &Bound<'_, PyTuple>,
        threads: usize,
        work: impl Fn(&[Text], &mut CheckIn) -> Result<T> + Sync,
        take: &mut (dyn FnMut(T) -> PyResult<()> + Send),
    ) -> PyResult<()> {
        let mut taken = Ok(());
        let mut reader = PythonCaller { raised: None };
        let mut go_on = || reader.asked(|_| Ok(()));
        let mut check_in = CheckIn::new(&mut go_on);
        let read = texts.iter_borrowed().map(|given| {
            check_in.now()?;
            text(given)
        });
        let done = encode::batch(read, threads, work, |results| {
            long_call(texts.py(), |caller| {
                results.take(&mut || caller.asked(|_| Ok(())), &mut |result| {
                    if taken.is_ok() {
                        taken = take(result);
                    }
                })
            })
        });
        reader.raised_or(done)?;
        taken
    }
}

fn list<'py>(py: Python<'py>, ids: &[u32], numbers: &[Py<PyInt>]) -> PyResult<Bound<'py, PyList>> {
    // This changes the reference count of every number, so prefetch some numbers before they are needed.
    const AHEAD: usize = 64;
    let mut waiting = [null_mut(); AHEAD];
    // SAFETY: the GIL is held, nobody else has the new list, and each of its slots gets its own reference.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len().try_into()?))?;
        let mut at = 0;
        for some in ids.chunks(AHEAD) {
            for (place, &id) in waiting.iter_mut().zip(some) {
                *place = numbers[id as usize].as_ptr();
                prefetch(*place);
            }
            for &number in &waiting[..some.len()] {
                ffi::Py_INCREF(number);
                ffi::PyList_SetItem(list.as_ptr(), at, number);
                at += 1;
            }
        }
        Ok(list.cast_into_unchecked())
    }
}

/// Ids end to end, as they come, in memory that NumPy uses as it is. If all waited to be joined at the end, they would take
/// twice the memory, and the time to touch it.
struct Flat {
    bytes: Py<PyByteArray>,
    /// In ids.
    room: usize,
    count: usize,
}

impl Flat {
    fn new(py: Python<'_>) -> Self {
        Self { bytes: PyByteArray::new(py, &[]).unbind(), room: 0, count: 0 }
    }

    fn extend(&mut self, py: Python<'_>, ids: &[u32]) -> PyResult<()> {
        let count = self.count + ids.len();
        if count > self.room {
            let room = count.max(2 * self.room);
            self.bytes.bind(py).resize(size_of::<u32>() * room)?;
            self.room = room;
        }
        // SAFETY: the GIL is held, nobody else has the bytes, and there is room for more after the first `count` ids.
        let places = unsafe {
            let start = ffi::PyByteArray_AsString(self.bytes.as_ptr()).cast::<MaybeUninit<[u8; 4]>>();
            std::slice::from_raw_parts_mut(start.add(self.count), ids.len())
        };
        places.iter_mut().zip(ids).for_each(|(place, id)| _ = place.write(id.to_le_bytes()));
        self.count = count;
        Ok(())
    }

    fn finish(self, py: Python<'_>) -> PyResult<Bound<'_, PyByteArray>> {
        let bytes = self.bytes.into_bound(py);
        bytes.resize(size_of::<u32>() * self.count)?;
        Ok(bytes)
    }
}

/// Pauses the garbage collector while it lives: many new lists of numbers would trigger it, for nothing.
struct CollectorPaused<'py> {
    was_on: bool,
    /// Holds the GIL, which both calls below need.
    _py: Python<'py>,
}

impl<'py> CollectorPaused<'py> {
    fn new(py: Python<'py>) -> Self {
        // SAFETY: the GIL is held.
        Self { was_on: unsafe { ffi::PyGC_Disable() } == 1, _py: py }
    }
}

impl Drop for CollectorPaused<'_> {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: the GIL is held.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// Callers often drop the lists of a batch before the next. glibc would give their memory back to the system every time, and
/// touching it anew takes as long as the encoding. Once a block of this size has been freed, it keeps up to twice as much.
fn keep_memory_of_lists(_py: Python<'_>) {
    const LARGEST: usize = 33_000_000; // see M_TRIM_THRESHOLD in mallopt(3); nobody writes to it, so it takes no memory
    static ONCE: Once = Once::new();
    // SAFETY: the GIL is held, and the block is what was just allocated, or null.
    ONCE.call_once(|| unsafe { ffi::PyMem_Free(ffi::PyMem_Malloc(LARGEST)) });
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (
        pattern, token_bytes, token_offsets, merges, special, *, nfc=false, whole_pretokens=false, cache_slots=MOST_SLOTS
    ))]
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
        cache_slots: usize,
    ) -> PyResult<Self> {
        let pretokenizer = Pretokenizer::new(pattern)?;
        let tokens = tokens(&token_bytes, &token_offsets)?;
        let (merges, rest) = slice(&merges)?.as_chunks();
        if !rest.is_empty() {
            return Err(PyValueError::new_err("merges come in threes: left, right, new"));
        }
        let encoder = long_call_in_steps(py, |check_in| {
            encode::Encoder::new(pretokenizer, nfc, tokens, &special, merges, whole_pretokens, check_in)
        })?;
        Ok(Self { encoder: encoder.with_cache(cache_slots), numbers: PyOnceLock::new() })
    }

    #[pyo3(signature = (text, *, allowed=None, disallowed=None))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, text, rules) =
            (text.py(), self::text(text.as_borrowed())?, self.rules(allowed, disallowed)?);
        let encoded = long_call_in_steps(py, |check_in| self.encoder.encode_all(&[text], rules, check_in))?;
        list(py, &encoded.ids, self.numbers(py)?)
    }

    #[pyo3(signature = (texts, *, allowed=None, disallowed=None, threads=1))]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTuple>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        keep_memory_of_lists(py);
        let rules = self.rules(allowed, disallowed)?;
        let mut lists: Vec<Py<PyList>> = Vec::with_capacity(texts.len());
        // Lists, and at first their numbers, are made on the calling thread, while the others encode.
        let take = &mut |Encoded { ids, ends }: Encoded| {
            Python::attach(|py| {
                let numbers = self.numbers(py)?;
                let _paused = CollectorPaused::new(py);
                let mut start = 0;
                for end in ends {
                    lists.push(list(py, &ids[start..end], numbers)?.unbind());
                    start = end;
                }
                Ok(())
            })
        };
        let work = |texts: &[Text], check_in: &mut CheckIn| self.encoder.encode_all(texts, rules, check_in);
        Self::batch(texts, threads, work, take)?;
        // Else the collector would look through all new lists here, even if the caller drops them at once.
        let _paused = CollectorPaused::new(py);
        PyList::new(py, lists)
    }

    /// The ids of all texts end to end as uint32, and n + 1 offsets as int64: no Python object per id.
    #[pyo3(signature = (texts, *, allowed=None, disallowed=None, threads=1))]
    fn encode_flat<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTuple>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyBytes>)> {
        let rules = self.rules(allowed, disallowed)?;
        let mut flat = Flat::new(py);
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        offsets.push(0);
        let take = &mut |Encoded { ids, ends }: Encoded| {
            offsets.extend(ends.iter().map(|end| (flat.count + end) as i64));
            Python::attach(|py| flat.extend(py, &ids))
        };
        let work = |texts: &[Text], check_in: &mut CheckIn| self.encoder.encode_all(texts, rules, check_in);
        Self::batch(texts, threads, work, take)?;
        Ok((flat.finish(py)?, PyBytes::new(py, &little_endian(offsets.into_iter().map(i64::to_le_bytes)))))
    }

    /// How many ids every text has, as int64.
    #[pyo3(signature = (texts, *, allowed=None, disallowed=None, threads=1))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTuple>,
        allowed: Option<&Specials>,
        disallowed: Option<&Specials>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rules = self.rules(allowed, disallowed)?;
        let mut counts = Vec::with_capacity(texts.len());
        let work = |texts: &[Text], check_in: &mut CheckIn| self.encoder.count_all(texts, rules, check_in);
        let take = &mut |some: Vec<usize>| {
            counts.extend(some.into_iter().map(|count| count as i64));
            Ok(())
        };
        Self::batch(texts, threads, work, take)?;
        Ok(PyBytes::new(py, &little_endian(counts.into_iter().map(i64::to_le_bytes))))
    }

    fn decode<'py>(&self, py: Python<'py>, ids: Vec<u32>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.encoder.decode(&ids))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The two parts of each token when its bytes are encoded.
    fn origins<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        pairs(py, self.encoder.origins())
    }
}

/// The two parts of each token if the ids are the ranks, as in a table without merges.
#[pyfunction]
fn origins_by_rank<'py>(
    py: Python<'py>,
    token_bytes: PyBuffer<u8>,
    token_offsets: PyBuffer<i64>,
    special: Vec<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let tokens = tokens(&token_bytes, &token_offsets)?;
    let origins = long_call_in_steps(py, |check_in| find_origins_by_rank(&tokens, &special, check_in))?;
    Ok(pairs(py, &origins))
}
