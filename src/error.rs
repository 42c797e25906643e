//! The errors of the core, each with a sentence that says what to do next.

/// One error type for the whole core; `py` maps it to Python exceptions.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A mistake in the user's input; becomes a `ValueError`.
    #[error("{0}")]
    Invalid(String),
    /// Text that is not UTF-8. `line` counts from 0 within the batch, `column` is a byte offset in that line.
    #[error("line {line}, byte {column}: not UTF-8")]
    NotUtf8 { line: u64, column: u64 },
    /// Counts that add up to more than 2**63 - 1.
    #[error("the counts add up to more than 2**63 - 1")]
    Overflow,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The caller asked to stop (Ctrl-C).
    #[error("interrupted")]
    Interrupted,
}

pub type Result<T> = std::result::Result<T, Error>;
