//! Nodes on loopback, in one process.

pub(super) mod rig;
mod mesh;
mod groups;
