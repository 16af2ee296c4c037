//! The tests of the crate's public interface.

mod attacks;
mod known_answers;
mod properties;
