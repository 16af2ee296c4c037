//! The operating system's random numbers. That there are none is an error of the machine, not a panic.

use getrandom::SysRng;
use rand_core::UnwrapErr;
use zeroize::Zeroizing;

use crate::exit::Failure;

/// 32 secret bytes.
pub(super) fn secret_bytes() -> Result<Zeroizing<[u8; 32]>, Failure> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(absent)?;
    Ok(bytes)
}

/// A generator for a batch's weights, asked once so that its absence is noticed here.
pub(super) fn generator() -> Result<UnwrapErr<SysRng>, Failure> {
    getrandom::fill(&mut [0; 8]).map_err(absent)?;
    Ok(UnwrapErr(SysRng))
}

fn absent(error: getrandom::Error) -> Failure {
    Failure::internal(error).context("the operating system gives no random numbers")
}
