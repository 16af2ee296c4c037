//! x
use alloy as _; use anyhow as _;
fn main(){}
