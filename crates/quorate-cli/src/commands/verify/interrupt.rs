//! Ctrl-C: the first one ends the work after the window in hand, the second one ends the program.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::exit::{Exit, Failure};

/// Whether Ctrl-C was pressed.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(super) fn install() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        ctrlc::set_handler(move || {
            if set.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        })
        .map_err(|error| Failure { exit: Exit::Internal, error: error.into() })?;
        Ok(Self(flag))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
