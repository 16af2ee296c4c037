//! Memory that V8 does not see, and that objects of JavaScript keep.

use std::cell::Cell;

use napi::Env;
use napi_derive::napi;

use crate::fault::{Result, of_node};

/// About how many bytes of native memory an object keeps, as V8 was told. V8 collects garbage the earlier, the more there are.
#[derive(Debug, Default)]
pub(crate) struct ExternalMemory(Cell<i64>);

impl ExternalMemory {
    /// Tells V8 how many bytes they are now.
    pub(crate) fn tell(&self, env: &Env, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        // It fails only if the environment has ended. Then nobody collects garbage.
        if env.adjust_external_memory(bytes - self.0.get()).is_ok() {
            self.0.set(bytes);
        }
    }
}

/// How many bytes V8 was told of, by everybody. For tests.
#[napi]
pub fn external_memory(env: &Env) -> Result<i64> {
    env.adjust_external_memory(0).map_err(of_node)
}
