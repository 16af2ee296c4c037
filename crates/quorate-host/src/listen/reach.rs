//! Which addresses other machines reach.

use std::net::SocketAddr;

/// Other machines reach an address. The program says beside it what allows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is reached by other machines")]
pub struct BeyondLoopback(pub SocketAddr);

/// Refuses an address that other machines reach, unless the caller allows that.
///
/// # Errors
/// [`BeyondLoopback`] names the address.
pub fn refuse_beyond_loopback(address: SocketAddr, allowed: bool) -> Result<(), BeyondLoopback> {
    if allowed || address.ip().is_loopback() { Ok(()) } else { Err(BeyondLoopback(address)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_for_this_machine_alone() {
        for (address, is_own) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:0", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("10.0.0.1:1", false),
            // Whoever means loopback says so.
            ("[::ffff:127.0.0.1]:1", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(refuse_beyond_loopback(address, false).is_ok(), is_own, "{address}");
            assert_eq!(refuse_beyond_loopback(address, true), Ok(()));
        }
    }
}
