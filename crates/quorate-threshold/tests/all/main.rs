//! The tests of the crate's public interface.

mod interpolation;
mod keys;
mod signatures;
