//! Cutting text into pre-tokens.
