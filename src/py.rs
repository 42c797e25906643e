//! The door to Python.
