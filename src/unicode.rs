//! Character classes.
