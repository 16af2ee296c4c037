//! Panics that are expected: those of other people's readers on bytes from outside.
//!
//! A library that reads a damaged file or stream may panic where it should answer with an error. Whoever calls it catches that, but
//! the panic has written its message and a backtrace to standard error by then. A stranger who sends damaged streams could fill a
//! disk with them. So all panics that are caught are caught here, and a hook keeps them silent.

use std::{
    cell::{Cell, RefCell},
    fmt, panic,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    sync::Once,
};

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panicked {
    /// What it said, and where: one line, [made harmless](crate::plain()).
    pub message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Panicked {}

/// Calls `call`, and makes an error of a panic on this thread. Nothing is written to standard error.
///
/// What a panic leaves behind is not to be used: let go of whatever `call` was changing.
///
/// The first call puts a hook in front of the process's panic hook. Panics that nobody catches here still go to that one.
///
/// # Errors
/// [`Panicked`].
///
/// ```
/// let read = |bytes: &[u8]| quorate_host::contained(|| bytes[3]);
/// assert_eq!(read(b"abcd"), Ok(b'd'));
/// assert!(read(b"abc").unwrap_err().message.contains("out of bounds"));
/// ```
pub fn contained<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| if DEPTH.get() == 0 { others(info) } else { keep(info) }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(call));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|_| Panicked { message: LAST.take() })
}

thread_local! {
    /// How many calls of [`contained`] are on this thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What the last panic of this thread said.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn keep(info: &PanicHookInfo<'_>) {
    let said = info.payload_as_str().unwrap_or("a panic without a text");
    let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
    LAST.set(crate::clipped(&format!("{said}{place}"), MOST));
}

/// The longest message that is kept, in characters: a panic may print all that it was given.
const MOST: usize = 500;

#[cfg(test)]
mod tests {
    use std::env;

    use quorate_lab::run::{Run as _, test};

    use super::*;

    #[test]
    fn a_caught_panic_is_an_error_with_its_place() {
        assert_eq!(contained(|| 7), Ok(7));
        let error = contained(|| -> u8 { panic!("{}\u{1b}[2J", "x".repeat(3)) }).unwrap_err();
        assert!(error.message.starts_with("xxx\\u{1b}[2J at ") && error.message.contains("contained.rs:"), "{error}");
        // One in the other: each has its own.
        let outer = contained(|| {
            assert!(contained(|| panic!("inner")).is_err());
            panic!("outer")
        });
        assert!(outer.unwrap_err().message.starts_with("outer"));
        assert_eq!(DEPTH.get(), 0);
        assert!(contained(|| panic!("{}", "y".repeat(100_000))).unwrap_err().message.len() < 1000);
    }

    /// 2,500 damaged streams wrote 761 KB of backtraces. The child panics, caught and not caught; the parent reads what it wrote.
    #[test]
    fn caught_panics_write_nothing() {
        const CHILD: &str = "QUORATE_HOST_TEST_PANICS";
        if env::var_os(CHILD).is_some() {
            for _ in 0..100 {
                assert!(contained(|| panic!("damaged")).is_err());
            }
            let _ = std::thread::spawn(|| panic!("a bug")).join();
            return;
        }
        let mut child = test("contained::tests::caught_panics_write_nothing");
        let written = child.env(CHILD, "1").env("RUST_BACKTRACE", "1").ran().exits(0).err;
        assert!(!written.contains("damaged"), "{written}");
        // What nobody catches is still told.
        assert!(written.contains("a bug"), "{written}");
    }
}
