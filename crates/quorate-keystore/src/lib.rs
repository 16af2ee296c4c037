//! Secret keys at rest: keystores of EIP-2335, and files that only their owner can read. The command line and the signer use
//! it.
//!
//! ```text
//! file -> secret_file -> keystore + passphrase -> secret
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`hex`] | hexadecimal digits of secrets, in constant time |
//! | [`secret_file`] | key files: readable by their owner alone, and not overwritten by accident |
//! | [`passphrase`] | a passphrase, and the first line of a file that holds it |
//! | [`secret`] | the 32 bytes of a secret key: wiped, redacted, compared in constant time |
//! | [`key_path`] | the place of a key in a key tree (EIP-2334) |
//! | [`keystore`] | passphrase-encrypted keys: EIP-2335 (version 4), and of Ethereum's accounts (version 3) |
//!
//! A module imports only modules above it. Nothing here knows a curve: the caller derives the public key.

#![forbid(unsafe_code)]

pub mod hex;
pub mod secret_file;
pub mod passphrase;
pub mod secret;
pub mod key_path;
pub mod keystore;
