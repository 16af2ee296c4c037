//! Random numbers of the operating system. If there are none, the command fails with an error and does not panic.

use getrandom::SysRng;
use quorate_host::exit::Failure;
use rand_core::UnwrapErr;
use zeroize::Zeroizing;

/// 32 secret bytes.
pub(super) fn secret_bytes() -> Result<Zeroizing<[u8; 32]>, Failure> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(absent)?;
    Ok(bytes)
}

/// A generator for the weights of a batch. It is asked once here, so that a missing generator is an error and not a panic later.
pub(super) fn generator() -> Result<UnwrapErr<SysRng>, Failure> {
    getrandom::fill(&mut [0; 8]).map_err(absent)?;
    Ok(UnwrapErr(SysRng))
}

fn absent(error: getrandom::Error) -> Failure {
    Failure::internal(error).context("the operating system has no random numbers")
}
