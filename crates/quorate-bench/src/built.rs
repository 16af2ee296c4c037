//! How this program was built, and the programs that were built beside it.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

/// The profile whose times are recorded, because it is the one of what is published.
pub(crate) const PUBLISHED: &str = "dist";

/// The profile of this build: the name of the folder into which Cargo put this program, where it still stands there.
pub(crate) fn profile() -> Result<String> {
    Ok(match &folder()?.file_name().unwrap_or_default().to_string_lossy()[..] {
        "debug" => "dev".to_owned(),
        name => name.to_owned(),
    })
}

/// A program of the same build. `packages` are the arguments of `cargo build` that make it.
pub(crate) fn beside(name: &str, packages: &str) -> Result<PathBuf> {
    let path = folder()?.join(name);
    let profile = profile()?;
    ensure!(path.is_file(), "there is no {}; build it: cargo build --profile {profile} {packages}", path.display());
    Ok(path)
}

/// Where this program stands.
fn folder() -> Result<PathBuf> {
    let own = env::current_exe().context("the path of this program is not known")?;
    Ok(own.parent().unwrap_or(Path::new(".")).to_owned())
}
