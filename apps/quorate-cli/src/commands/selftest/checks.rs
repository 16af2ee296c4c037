//! The checks. Each is an answer that others published, with its source.

use quorate::{
    Backend, Bls12381Suite, Claim, MinPk, MinSig, Options, PublicKey, SecretKey, Suite, UncheckedSignature, verify,
};
use quorate_curve::{Bls12381Group, DecodeError, G1, G2, SecretScalar};
use zeroize::Zeroizing;

use crate::{
    commands::random,
    secrets::{keystore::Keystore, passphrase::Passphrase, secret::Secret},
};

/// Bytes from digits, decoded while this file is compiled.
macro_rules! hex {
    ($($digits:literal)+) => {{
        const DIGITS: &str = concat!($($digits),+);
        const BYTES: [u8; DIGITS.len() / 2] = match const_hex::const_decode_to_array(DIGITS.as_bytes()) {
            Ok(bytes) => bytes,
            Err(_) => panic!("not hexadecimal"),
        };
        BYTES
    }};
}

/// One published answer.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// Where it was published: bls12-381-tests are ethereum's, bls-signatures Chia-Network's, avalanchego ava-labs'.
    pub(super) source: &'static str,
    pub(super) subject: Subject,
}

/// Who computes it.
pub(super) enum Subject {
    /// Every backend in turn.
    Backend(fn(Backend) -> Answer),
    /// The constant-time code for secrets, which is the same on every machine.
    Secrets(fn() -> Answer),
}

/// Nothing if the answer is as published, else what is wrong.
pub(super) type Answer = Result<(), String>;

/// Every check. Those that the others depend on come first.
pub(super) const CHECKS: &[Check] = &[
    Check { name: "hash to G1", source: "RFC 9380, J.9.1", subject: Subject::Backend(hash_to_g1) },
    Check { name: "hash to G2", source: "RFC 9380, J.10.1", subject: Subject::Backend(hash_to_g2) },
    Check {
        name: "bad points of G1 refused",
        source: "bls12-381-tests, bls-signatures",
        subject: Subject::Backend(bad_g1),
    },
    Check {
        name: "bad points of G2 refused",
        source: "bls12-381-tests, bls-signatures",
        subject: Subject::Backend(bad_g2),
    },
    Check {
        name: "sign, min-pk POP",
        source: "bls12-381-tests, sign_case_11b8c7cad5238946",
        subject: Subject::Backend(sign_possession),
    },
    Check {
        name: "sign, min-pk AUG",
        source: "bls-signatures, test_pyecc_vectors",
        subject: Subject::Backend(sign_augmented),
    },
    Check {
        name: "three keys over one message",
        source: "bls12-381-tests, …valid_3d7576f3c0e3570a",
        subject: Subject::Backend(shared_message),
    },
    Check {
        name: "proof of possession",
        source: "avalanchego, genesis_local.json",
        subject: Subject::Backend(possession),
    },
    Check { name: "beacon, min-pk", source: "drand default, round 1", subject: Subject::Backend(drand_default) },
    Check { name: "beacon, min-sig", source: "drand quicknet, round 42", subject: Subject::Backend(drand_quicknet) },
    Check {
        name: "beacon, min-sig under the tag of G2",
        source: "drand fastnet, round 800",
        subject: Subject::Backend(drand_fastnet),
    },
    Check {
        name: "one false claim of 9 found, at each place",
        source: "made here",
        subject: Subject::Backend(false_claim_found),
    },
    Check { name: "KeyGen, master and child", source: "EIP-2333, test case 1", subject: Subject::Secrets(eip_2333) },
    Check {
        name: "KeyGen of draft 3",
        source: "bls-signatures, src/test.cpp",
        subject: Subject::Secrets(key_gen_draft_3),
    },
    Check { name: "keystore", source: "EIP-2335, PBKDF2 test vector", subject: Subject::Secrets(keystore) },
];

/// "abc" nine times: one vector of eight lanes and one item more.
fn hash_to_g1(backend: Backend) -> Answer {
    hash::<G1>(
        backend,
        "QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_",
        &hex!(
            "03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f6903"
            "0b9c15f3fe6e5cf4211f346271d7b01c8f3b28be689c8429c85b67af215533311f0b8dfaaa154fa6b88176c229f2885d"
        ),
    )
}

fn hash_to_g2(backend: Backend) -> Answer {
    hash::<G2>(
        backend,
        "QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_",
        &hex!(
            "139cddbccdc5e91b9623efd38c49f81a6f83f175e80b06fc374de9eb4b41dfe4ca3a230ed250fbe3a2acf73a41177fd8"
            "02c2d18e033b960562aae3cab37a27ce00d80ccd5ba4b7fe0e7a210245129dbec7780ccc7954725f4168aff2787776e6"
            "00aa65dae3c8d732d10ecd2c50f8a1baf3001578f71c694e03866e9f3d49ac1e1ce70dd94a733534f106d4cec0eddd16"
            "1787327b68159716a37440985269cf584bcb1e621d3a7202be6ea05c4cfe244aeb197642555a0645fb87bf7466b2ba48"
        ),
    )
}

fn hash<G: Bls12381Group>(backend: Backend, dst: &str, expected: &[u8]) -> Answer {
    let messages: [(&[u8], &[u8]); 9] = [(b"", b"abc"); 9];
    let points = backend.hash_to_curve::<G>(dst.as_bytes(), &messages);
    points.iter().try_for_each(|point| same(point.serialize().as_ref(), expected))
}

/// In order: the infinity flag beside other bits; x above and equal to the modulus; too short; too long; a flag missing;
/// not on the curve; on the curve but outside the subgroup.
fn bad_g1(backend: Backend) -> Answer {
    let modulus = "9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaa";
    let digits = "23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    refused::<G1>(backend, &format!("c010{}", "00".repeat(46)), |e| {
        matches!(e, Refusal::Decode(DecodeError::Flags { .. }))
    })?;
    refused::<G1>(backend, &format!("{modulus}ab"), |e| {
        matches!(e, Refusal::Decode(DecodeError::NotCanonical { .. }))
    })?;
    refused::<G1>(backend, modulus, |e| matches!(e, Refusal::Decode(DecodeError::Length { .. })))?;
    refused::<G1>(backend, &format!("{modulus}a900"), |e| matches!(e, Refusal::Decode(DecodeError::Length { .. })))?;
    refused::<G1>(backend, &format!("3a{}aa", &modulus[2..]), |e| {
        matches!(e, Refusal::Decode(DecodeError::CompressionFlag { .. }))
    })?;
    refused::<G1>(backend, &format!("{modulus}aa"), |e| matches!(e, Refusal::Decode(DecodeError::NotOnCurve)))?;
    refused::<G1>(backend, &format!("81{digits}"), |e| matches!(e, Refusal::Subgroup))
}

/// The same in G2, with the modulus in either part of x.
fn bad_g2(backend: Backend) -> Answer {
    let modulus = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    let zero = "00".repeat(48);
    let digits = "23456789abcdef".to_owned() + &"0123456789abcdef".repeat(11);
    refused::<G2>(backend, &format!("c010{}", "00".repeat(94)), |e| {
        matches!(e, Refusal::Decode(DecodeError::Flags { .. }))
    })?;
    refused::<G2>(backend, &format!("9a{}{zero}", &modulus[2..]), |e| {
        matches!(e, Refusal::Decode(DecodeError::NotCanonical { coordinate: "x.c1" }))
    })?;
    refused::<G2>(backend, &format!("80{}{modulus}", &zero[2..]), |e| {
        matches!(e, Refusal::Decode(DecodeError::NotCanonical { coordinate: "x.c0" }))
    })?;
    refused::<G2>(backend, &format!("80{}", &zero[2..]), |e| matches!(e, Refusal::Decode(DecodeError::Length { .. })))?;
    refused::<G2>(backend, &format!("81{digits}"), |e| matches!(e, Refusal::Subgroup))
}

/// Why a point is refused.
enum Refusal {
    Decode(DecodeError),
    Subgroup,
}

fn refused<G: Bls12381Group>(backend: Backend, digits: &str, expected: fn(&Refusal) -> bool) -> Answer {
    let bytes = const_hex::decode(digits).map_err(|error| error.to_string())?;
    let (refusal, found) = match backend.decode::<G>(&bytes) {
        Err(error) => (Some(Refusal::Decode(error)), error.to_string()),
        Ok(point) if backend.in_subgroup(&[point])[0] => (None, "accepted".to_owned()),
        Ok(_) => (Some(Refusal::Subgroup), "not in the subgroup".to_owned()),
    };
    if refusal.is_some_and(|refusal| expected(&refusal)) { Ok(()) } else { Err(format!("{digits}: {found}")) }
}

fn sign_possession(backend: Backend) -> Answer {
    let secret = hex!("47b8192d77bf871b62e87859d653922725724a5c031afeabc60bcef5ff665138");
    sign(
        backend,
        MinPk::ProofOfPossession,
        secret,
        b"",
        &[0; 32],
        &hex!(
            "b23c46be3a001c63ca711f87a005c200cc550b9429d5f4eb38d74322144f1b63926da3388979e5321012fb1a0526bcd1"
            "00b5ef5fe72628ce4cd5e904aeaa3279527843fae5ca9ca675f4f51ed8f83bbf7155da9ecc9663100a885d5dc6df96d9"
        ),
    )
}

fn sign_augmented(backend: Backend) -> Answer {
    let key = hex!("aa1a1c26055a329817a5759d877a2795f9499b97d6056edde0eea39512f24e8bc874b4471f0501127abb1ea0d9f68ac1");
    sign(
        backend,
        MinPk::Augmented,
        [1; 32],
        &key,
        &[3, 1, 4, 1, 5, 9],
        &hex!(
            "8180f02ccb72e922b152fcedbe0e1d195210354f70703658e8e08cbebf11d4970eab6ac3ccf715f3fb876df9a9797abd"
            "0c1af61aaeadc92c2cfe5c0a56c146cc8c3f7151a073cf5f16df38246724c4aed73ff30ef5daa6aacaed1a26ecaa336b"
        ),
    )
}

fn sign(backend: Backend, suite: MinPk, secret: [u8; 32], prefix: &[u8], message: &[u8], expected: &[u8]) -> Answer {
    let hash: G2 = backend.hash_to_curve(suite.id().as_bytes(), &[(prefix, message)])[0];
    let secret = SecretScalar::from_bytes(&secret).map_err(|error| error.to_string())?;
    same(&secret.sign_in_g2(&hash).compress(), expected)
}

fn shared_message(backend: Backend) -> Answer {
    let keys = [
        hex!("a491d1b0ecd9bb917989f0e74f0dea0422eac4a873e5e2644f368dffb9a6e20fd6e10c1b77654d067c0618f6e5a7f79a"),
        hex!("b301803f8b5ac4a1133581fc676dfedc60d891dd5fa99028805e5ea5b08d3491af75d0707adab3b70c6a6a580217bf81"),
        hex!("b53d21a4cfd562c469cc81514d4ce5a6b577d8403d32a394dc265dd190b47fa9f829fdd7963afdf972e5e77854051f6f"),
    ];
    let keys = keys.iter().map(|bytes| key::<MinPk>(backend, bytes)).collect::<Result<Vec<_>, _>>()?;
    let signature = signature(
        backend,
        &hex!(
            "9712c3edd73a209c742b8250759db12549b3eaf43b5ca61376d9f30e2747dbcf842d8b2ac0901d2a093713e20284a767"
            "0fcf6954e9ab93de991bb9b313e664785a075fc285806fa5224c82bde146561b446ccfc706a64b8579513cfc4ff1d930"
        ),
    )?;
    let holds = Claim::shared(MinPk::Eth2, keys.clone(), [0xab; 32], signature);
    let tampered = Claim::shared(MinPk::Eth2, keys, [0xac; 32], signature);
    told_apart(backend, holds, tampered)
}

fn possession(backend: Backend) -> Answer {
    let key = key(
        backend,
        &hex!("900c9b119b5c82d781d4b49be78c3fc7ae65f2b435b7ed9e3a8b9a03e475edff86d8a64827fec8db23a6f236afbf127d"),
    )?;
    let proof = signature(
        backend,
        &hex!(
            "8bfd6d4d2086b2b8115d8f72f94095fefe5a6c07876b2accf51a811adf520f389e74a3d2152a6d90b521e2be58ffe468"
            "043dc5ea68b4c44410eb67f8dc24f13ed4f194000764c0e922cd254a3588a4962b1cb4db7de4bb9cda9d9d4d6b03f3d2"
        ),
    )?;
    let holds = Claim::proof_of_possession(MinPk::ProofOfPossession, key, proof).ok_or("no proofs in a POP suite")?;
    // Signed as a message, which has another tag, it is false.
    let tampered = Claim::single(MinPk::ProofOfPossession, key, key.to_bytes(), proof);
    told_apart(backend, holds, tampered)
}

fn drand_default(backend: Backend) -> Answer {
    beacon(
        backend,
        MinPk::DrandChained,
        &hex!("868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31"),
        hex!("3bdd496a35f3c3b6b4318da8b77d3ce4793cbdf26e08156f6fd8c49e85b727cb"),
        &hex!(
            "8d61d9100567de44682506aea1a7a6fa6e5491cd27a0a0ed349ef6910ac5ac20ff7bc3e09d7c046566c9f7f3c6f3b101"
            "04990e7cb424998203d8f7de586fb7fa5f60045417a432684f85093b06ca91c769f0e7ca19268375e659c2a2352b4655"
        ),
    )
}

fn drand_quicknet(backend: Backend) -> Answer {
    beacon(
        backend,
        MinSig::DrandQuicknet,
        &hex!(
            "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
            "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
        ),
        hex!("a6bb133cb1e3638ad7b8a3ff0539668e9e56f9b850ef1b2a810f5422eaa6c323"),
        &hex!("95a9f9f5b231b7714de1553105d8ffdf3dcda24cfdb1e689319bccf79a9c8ce430a91b811fbfaf763900bc998b5d686a"),
    )
}

fn drand_fastnet(backend: Backend) -> Answer {
    beacon(
        backend,
        MinSig::DrandG1Legacy,
        &hex!(
            "a0b862a7527fee3a731bcb59280ab6abd62d5c0b6ea03dc4ddf6612fdfc9d01f01c31542541771903475eb1ec6615f8d"
            "0df0b8b6dce385811d6dcf8cbefb8759e5e616a3dfd054c928940766d9a5b9db91e3b697e5d70a975181e007f87fca5e"
        ),
        hex!("ed64b3c74d88a65a476292c9a4266c87962deb01e75ebd2902f706dd30dd9ca0"),
        &hex!("83463aac7ce2762e9cd1333409e97a264985c941f5ccf158f40704b08e8a335d00dea8aadface32a91fbc811693def62"),
    )
}

fn beacon<S: Bls12381Suite>(backend: Backend, suite: S, public_key: &[u8], digest: [u8; 32], bytes: &[u8]) -> Answer {
    let key = key(backend, public_key)?;
    let signature = signature(backend, bytes)?;
    let mut another = digest;
    another[31] ^= 1;
    let claim = |message: [u8; 32]| Claim::single(suite, key, message, signature);
    told_apart(backend, claim(digest), claim(another))
}

/// Each key signs a message of its own; one signature at a time is another key's.
fn false_claim_found(backend: Backend) -> Answer {
    let suite = MinPk::Eth2;
    let secrets = (0..9_u8).map(|i| SecretKey::key_gen(suite, &[i; 32], b"")).collect::<Result<Vec<_>, _>>();
    let secrets = secrets.map_err(|error| error.to_string())?;
    for place in 0..secrets.len() {
        let claims: Vec<_> = (0..secrets.len())
            .map(|i| {
                let signer = if i == place { &secrets[(i + 1) % secrets.len()] } else { &secrets[i] };
                // Two claims share a message, so that the plan has something to join.
                let message = [u8::try_from(i / 2).expect("9 claims")];
                Claim::single(suite, secrets[i].public_key(), message, signer.sign(suite, &message))
            })
            .collect();
        let found = invalid(backend, &claims)?;
        if found != [place] {
            return Err(format!("claim {place} is false, found {found:?}"));
        }
    }
    Ok(())
}

/// Checks that the first claim is valid and the second is not, each alone and both in one batch.
fn told_apart<S: Bls12381Suite>(backend: Backend, holds: Claim<S>, tampered: Claim<S>) -> Answer {
    if !invalid(backend, std::slice::from_ref(&holds))?.is_empty() {
        return Err("a true claim was refused".to_owned());
    }
    if invalid(backend, &[holds, tampered])? != [1] {
        return Err("a false claim was not told from a true one".to_owned());
    }
    Ok(())
}

fn invalid<S: Bls12381Suite>(backend: Backend, claims: &[Claim<S>]) -> Result<Vec<usize>, String> {
    let mut rng = random::generator().map_err(|failure| format!("{:#}", failure.error))?;
    let outcome = verify(claims, &Options { backend, ..Options::default() }, &mut rng);
    Ok(outcome.invalid().collect())
}

fn key<S: Bls12381Suite>(backend: Backend, bytes: &[u8]) -> Result<PublicKey<S>, String> {
    let point = backend.decode(bytes).map_err(|error| error.to_string())?;
    PublicKey::from_point(point).map_err(|error| error.to_string())
}

fn signature<S: Bls12381Suite>(backend: Backend, bytes: &[u8]) -> Result<UncheckedSignature<S>, String> {
    backend.decode(bytes).map(UncheckedSignature::from_point).map_err(|error| error.to_string())
}

/// The master key of EIP-2333 is `KeyGen` of the current draft without `key_info`.
fn eip_2333() -> Answer {
    let seed = hex!("3141592653589793238462643383279502884197169399375105820974944592");
    let master = hex!("41c9e07822b092a93fd6797396338c3ada4170cc81829fdfce6b5d34bd5e7ec7");
    let child = hex!("384843fad5f3d777ea39de3e47a8f999ae91f89e42bffa993d91d9782d152a0f");
    let generated = SecretKey::key_gen(MinPk::ProofOfPossession, &seed, b"").map_err(|error| error.to_string())?;
    same(generated.to_bytes().as_slice(), &master)?;
    let derived = SecretKey::<MinPk>::derive_master(&seed).map_err(|error| error.to_string())?;
    same(derived.to_bytes().as_slice(), &master)?;
    same(derived.derive(&[3_141_592_653]).to_bytes().as_slice(), &child)
}

fn key_gen_draft_3() -> Answer {
    let expected = hex!("4a353be3dac091a0a7e640620372f5e1e2e4401717c1e79cac6ffba8f6905604");
    let generated = SecretKey::key_gen(MinPk::Chia, &[0; 32], b"").map_err(|error| error.to_string())?;
    same(generated.to_bytes().as_slice(), &expected)
}

fn keystore() -> Answer {
    let json = br#"{"version":4,"uuid":"64625def-3331-4eea-ab6f-782f3ed16a83","path":"m/12381/60/0/0","pubkey":
        "9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27f4ae4040902382ae2910c15e2b420d07","crypto":{
        "kdf":{"function":"pbkdf2","params":{"dklen":32,"c":262144,"prf":"hmac-sha256",
        "salt":"d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"},"message":""},
        "checksum":{"function":"sha256","params":{},
        "message":"8a9f5d9912ed7e75ea794bc5a89bca5f193721d30868ade6f73043c6ea6febf1"},
        "cipher":{"function":"aes-128-ctr","params":{"iv":"264daa3f303d7259501c93d997d84fe6"},
        "message":"cee03fde2af33149775b7223e7845e4fb2c8ae1792e5f99fe9ecf474cc8c16ad"}}}"#;
    let expected = hex!("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
    let passphrase = Passphrase::new(Zeroizing::new("𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑".to_owned()));
    let derive = |secret: &Secret| {
        SecretKey::<MinPk>::from_bytes(secret.expose()).ok().map(|key| key.public_key().to_bytes().to_vec())
    };
    let keystore = Keystore::parse(json).map_err(|error| error.to_string())?;
    let opened = keystore.decrypt(&passphrase, derive).map_err(|error| error.to_string())?;
    same(opened.secret.expose(), &expected)
}

/// Compares bytes. All secrets here are published, so they may be printed.
fn same(found: &[u8], expected: &[u8]) -> Answer {
    if found == expected {
        return Ok(());
    }
    Err(format!("{}, expected {}", const_hex::encode(found), const_hex::encode(expected)))
}
