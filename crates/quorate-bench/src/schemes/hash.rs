//! `hash/*`: one message through each hash of the source's list that has a kept library.

use std::hint::black_box;

use sha3::digest::{ExtendableOutput, Update, XofReader};

use super::sizes::Sizes;
use crate::{
    measure::{Engine, measure},
    row::Row,
};

/// The source measured 16 functions of OpenSSL 1.1.1: MD5, SHA-1, and those of SHA-2, SHA-3, SHAKE and BLAKE2. Here are one
/// or two of each family, Keccak-256 of the EVM, and BLAKE3, which is younger than the source.
pub(super) fn run(sizes: &Sizes) -> Vec<Row> {
    let mut rows = Vec::new();
    for length in &sizes.messages {
        let message: Vec<u8> = (0..*length).map(|i| i as u8).collect();
        for (bench, engines) in hashes(&message) {
            let repeats = (SHORTEST / length).max(1);
            let engines = engines.into_iter().map(|(library, hash)| {
                let expected = hash(&message);
                let message = &message;
                Engine::new(library, 1, move || {
                    for _ in 1..repeats {
                        black_box(hash(black_box(message)));
                    }
                    assert_eq!(hash(black_box(message)), expected);
                })
            });
            rows.extend(measure(bench, *length, "message", repeats, sizes.rounds, engines.collect()));
        }
    }
    rows
}

/// A short message is hashed again and again, until so many bytes were read that the clock can tell.
const SHORTEST: usize = 1 << 16;

/// The first 32 bytes of a digest, or all of a shorter one behind zeros.
type Digest = [u8; 32];

type Hash = fn(&[u8]) -> Digest;

/// The hashes by their libraries. Where two libraries have one, they give the same digest.
fn hashes(message: &[u8]) -> Vec<(&'static str, Vec<(&'static str, Hash)>)> {
    let mut list: Vec<(&str, Vec<(&str, Hash)>)> = vec![
        ("hash/md5", vec![("md-5", of::<md5::Md5>)]),
        ("hash/sha-1", vec![("sha1", of::<sha1::Sha1>)]),
        ("hash/sha-256", vec![("sha2", of::<sha2::Sha256>)]),
        ("hash/sha-512", vec![("sha2", of::<sha2::Sha512>)]),
        ("hash/sha3-256", vec![("sha3", of::<sha3::Sha3_256>)]),
        ("hash/shake-128", vec![("sha3", extended::<sha3::Shake128>)]),
        ("hash/shake-256", vec![("sha3", extended::<sha3::Shake256>)]),
        ("hash/keccak-256", vec![("sha3", of::<sha3::Keccak256>)]),
        ("hash/blake2b", vec![("blake2", of::<blake2::Blake2b512>)]),
        ("hash/blake2s", vec![("blake2", of::<blake2::Blake2s256>)]),
        ("hash/blake3", vec![("blake3", |m| *blake3::hash(m).as_bytes())]),
    ];
    for (bench, engines) in &mut list {
        engines.extend(aws_lc(bench).map(|hash| ("aws-lc", hash)));
        let digests: Vec<_> = engines.iter().map(|(_, hash)| hash(message)).collect();
        assert!(digests.iter().all(|digest| *digest == digests[0]), "two libraries disagree on {bench}");
    }
    list
}

fn of<H: sha2::Digest>(message: &[u8]) -> Digest {
    cut(&H::digest(message))
}

fn extended<H: ExtendableOutput + Update + Default>(message: &[u8]) -> Digest {
    let mut digest = [0; 32];
    H::default().chain(message).finalize_xof().read(&mut digest);
    digest
}

/// The hash of AWS-LC, which has no others, and which the feature `aws-lc` builds in.
#[cfg(feature = "aws-lc")]
fn aws_lc(bench: &str) -> Option<Hash> {
    use aws_lc_rs::digest::{self, Algorithm};

    fn hash(algorithm: &'static Algorithm, message: &[u8]) -> Digest {
        cut(digest::digest(algorithm, message).as_ref())
    }
    let hash: Hash = match bench {
        "hash/sha-1" => |m: &[u8]| hash(&digest::SHA1_FOR_LEGACY_USE_ONLY, m),
        "hash/sha-256" => |m: &[u8]| hash(&digest::SHA256, m),
        "hash/sha-512" => |m: &[u8]| hash(&digest::SHA512, m),
        "hash/sha3-256" => |m: &[u8]| hash(&digest::SHA3_256, m),
        _ => return None,
    };
    Some(hash)
}

#[cfg(not(feature = "aws-lc"))]
fn aws_lc(_: &str) -> Option<Hash> {
    None
}

fn cut(digest: &[u8]) -> Digest {
    let mut cut = [0; 32];
    let length = digest.len().min(32);
    cut[..length].copy_from_slice(&digest[..length]);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four bytes of the digest of "abc", from the documents that define the functions.
    #[test]
    fn each_hash_is_the_one_that_its_name_says() {
        let known = [
            ("hash/md5", [0x90, 0x01, 0x50, 0x98]),
            ("hash/sha-1", [0xa9, 0x99, 0x3e, 0x36]),
            ("hash/sha-256", [0xba, 0x78, 0x16, 0xbf]),
            ("hash/sha-512", [0xdd, 0xaf, 0x35, 0xa1]),
            ("hash/sha3-256", [0x3a, 0x98, 0x5d, 0xa7]),
            ("hash/shake-128", [0x58, 0x81, 0x09, 0x2d]),
            ("hash/shake-256", [0x48, 0x33, 0x66, 0x60]),
            ("hash/keccak-256", [0x4e, 0x03, 0x65, 0x7a]),
            ("hash/blake2b", [0xba, 0x80, 0xa5, 0x3f]),
            ("hash/blake2s", [0x50, 0x8c, 0x5e, 0x8c]),
            ("hash/blake3", [0x64, 0x37, 0xb3, 0xac]),
        ];
        let found = hashes(b"abc");
        assert_eq!(found.len(), known.len());
        for ((bench, engines), (name, start)) in found.into_iter().zip(known) {
            assert_eq!(bench, name);
            for (library, hash) in engines {
                assert_eq!(hash(b"abc")[..4], start, "{bench} by {library}");
            }
        }
    }
}
