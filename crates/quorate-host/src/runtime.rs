//! The runtime of a program, for whose end no blocking call is waited.

use std::{io, ops::Deref};

use tokio::runtime::{Builder, Runtime};

/// A runtime that is shut down in the background when it is dropped. Tokio's own waits until every blocking call has returned, and
/// a call to a disk that hangs, or a look-up of a name, can take for ever.
///
/// So a program awaits what must be done before it ends. Of what is left, as much is done as if the program was killed.
#[derive(Debug)]
pub struct ProgramRuntime(Option<Runtime>);

impl ProgramRuntime {
    /// A runtime with sockets and timers.
    ///
    /// # Errors
    /// The system gives no threads or no poll.
    pub fn new(builder: &mut Builder) -> io::Result<Self> {
        builder.enable_all().build().map(|runtime| Self(Some(runtime)))
    }
}

impl Deref for ProgramRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for ProgramRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
