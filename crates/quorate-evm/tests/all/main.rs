//! The tests of the crate's public interface.

mod anvil;
mod attacks;
mod collection;
mod documents;
mod follow;
mod known_answers;
mod network;
mod nonuniform;
mod posting;
mod preimages;
mod properties;
mod replay;
mod slopes;
