//! The tests of the crate's public interface.

mod encoding;
mod groups;
mod roles;
