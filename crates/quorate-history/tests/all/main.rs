//! The tests of the crate's public interface.

mod chains;
mod objects;
mod shards;
