//! Counting pre-tokens.
