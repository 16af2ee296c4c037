//! What a test needs of the machine that it runs on.

use std::{env, fmt::Display, path::Path};

/// The root of the checkout that this crate was built in.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the folder above crates")
}

/// Prints that a test skips something, because what it needs is not on this machine.
///
/// # Panics
/// With `CI=true`, where everything must be present.
#[track_caller]
pub fn skip(missing: impl Display) {
    assert!(env::var("CI").as_deref() != Ok("true"), "{missing}, and with CI=true nothing is skipped");
    println!("skipped: {missing}");
}

/// A file of the repository's examples, as an argument has it.
pub fn example(name: &str) -> String {
    checkout().join("examples").join(name).to_str().expect("a path in UTF-8").to_owned()
}
