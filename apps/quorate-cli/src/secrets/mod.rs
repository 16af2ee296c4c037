//! Secret keys at rest: what the command line reads, writes and never prints.
//!
//! ```text
//! file -> secret_file -> secret_source -> Plain | Keystore | Jwk -> Secret
//!                                                   ^ passphrase
//! ```

// The 32 bytes themselves: wiped, redacted, compared in constant time.
pub mod secret;

// `m/12381/3600/0/0/0`: where in a key tree a key comes from (EIP-2334).
pub mod key_path;

// A passphrase, and the places it may come from.
pub mod passphrase;

// Passphrase-encrypted keys (EIP-2335, version 4).
pub mod keystore;

// JSON Web Keys of the COSE BLS draft.
pub mod jwk;

// One door for every format: hexadecimal, keystore, JSON Web Key.
pub mod secret_source;

// Key files on disk: created for the owner alone, never overwritten by accident.
pub mod secret_file;

// Hexadecimal, with or without `0x`, either case.
pub(crate) mod hex;

// The published keystores and keys, where they are present.
#[cfg(test)]
mod vectors;
