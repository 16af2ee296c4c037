//! Known-answer tests: all answers on BN254 in the folder of vectors, and those of RFC 9380's functions for any curve.
//!
//! If the data is absent, each test prints what it skips and passes; with `CI=true` it fails. Counts are visible with
//! `--nocapture`.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::PrimeField;
use num_bigint::BigUint;
use quorate_bn254::{
    Bn254Item, Bn254ParseError, Bn254PublicKey, Bn254SecretKey, Bn254Signature, Bn254Suite, DRAND_EVMNET_TAG, DualKey,
    Fq, Fq2, Fr, G1Affine, G2Affine, MessagePoint, aggregate, drand_message,
    encoding::{decode_g1, decode_g2, encode_g1, encode_g2, fq_bytes},
    hash_to_curve::{XmdHash, XmdTag, expand_message_xmd, hash_to_curve, hash_to_field, map_to_curve},
    keccak256, pairing_is_one, verify,
};
use quorate_lab::bn254::{bytes, cases, element, files, text};
use serde_json::Value;
use sha2::{Digest, Sha256, Sha512};
use sha3::Keccak256;

/// Whether a signature is valid under a suite; everything is read from bytes.
fn verify_bytes(suite: Bn254Suite, key: &[u8], message: &[u8], signature: &[u8]) -> Result<bool, Bn254ParseError> {
    Ok(verify(&suite.key(key)?, &suite.hash_by(&suite.key(key)?, message)?, &Bn254Signature::from_bytes(signature)?))
}

#[test]
fn expand_message() {
    let mut checked = 0;
    for case in cases("02_bn254_h2c", "expand_message", "cases") {
        let length = case["len"].as_u64().unwrap() as usize;
        let uniform = expand_message_xmd::<Keccak256>(&bytes(&case["msg"]), text(&case["dst"]).as_bytes(), length);
        assert_eq!(uniform, bytes(&case["out"]));
        checked += 1;
    }
    for file in files("02_rfc9380", "expand_message_xmd_") {
        let expand = match text(&file["hash"]) {
            "SHA256" => expand_message_xmd::<Sha256>,
            "SHA512" => expand_message_xmd::<Sha512>,
            other => panic!("{other} is not one of RFC 9380's hash functions"),
        };
        for case in file["tests"].as_array().unwrap() {
            let length = usize::from_str_radix(text(&case["len_in_bytes"]).trim_start_matches("0x"), 16).unwrap();
            let (message, tag) = (text(&case["msg"]).as_bytes(), text(&file["DST"]).as_bytes());
            assert_eq!(expand(message, tag, length), bytes(&case["uniform_bytes"]));
            checked += 1;
        }
    }
    // Section 5.3.3: a tag above 255 bytes is hashed.
    let tag = [7; 256];
    let hashed = keccak256(&[b"H2C-OVERSIZE-DST-", &tag]);
    let expand = |tag: &[u8]| expand_message_xmd::<Keccak256>(b"message", tag, 96);
    assert_eq!(expand(&tag), expand(&hashed));
    assert_ne!(expand(&tag[1..]), expand(&keccak256(&[b"H2C-OVERSIZE-DST-", &tag[1..]])));
    println!("expand_message_xmd: {checked} answers with Keccak-256, SHA-256 and SHA-512");
}

#[test]
fn field_elements() {
    for file in files("02_bn254_h2c", "hash_to_field_keccak") {
        let cases = file["cases"].as_array().unwrap();
        for case in cases {
            let elements = hash_to_field::<Keccak256, 2>(&bytes(&case["msg"]), text(&file["dst"]).as_bytes());
            assert_eq!(elements, [element(&case["u0"], 16), element(&case["u1"], 16)]);
        }
        println!("hash_to_field: {} answers", cases.len());
    }
}

/// Each of the map's answers; all three candidates occur.
#[test]
fn map() {
    let mut by_candidate = [0; 4];
    for case in cases("02_bn254_h2c", "svdw_map_to_point", "cases") {
        let u = element(&case["u"], 10);
        let expected = (element(&case["x"], 10), element(&case["y"], 10));
        let mapped = map_to_curve(u);
        assert_eq!(mapped.point.xy(), Some(expected));
        by_candidate[mapped.candidate as usize] += 1;
    }
    println!("by candidate: {:?}", &by_candidate[1..]);
    assert!(by_candidate[1..].iter().all(|n| *n > 0) || by_candidate == [0; 4]);
}

#[test]
fn whole_hashes() {
    for case in cases("02_bn254_h2c", "hash_to_curve_keccak", "cases") {
        let (message, bytes_of_tag) = (bytes(&case["msg"]), text(&case["dst"]).as_bytes());
        let point = hash_to_curve(&message, XmdTag { hash: XmdHash::Keccak256, bytes: bytes_of_tag });
        assert_eq!(point.to_bytes().to_vec(), bytes(&case["point"]));
    }
    let mut skipped = 0;
    for file in files("02_bn254_h2c", "gnark_bn254_") {
        let tag = text(&file["dst"]).as_bytes();
        let cases = file["cases"].as_array().unwrap();
        if tag.windows(7).any(|window| window == b"BN254G2") {
            skipped += cases.len();
            continue;
        }
        for case in cases {
            let message = text(&case["msg"]).as_bytes();
            let expected = (element(&case["P"][0], 16), element(&case["P"][1], 16));
            // RFC 9380, section 3: `hash_to_curve` adds two maps, `encode_to_curve` takes one.
            let point = if tag.ends_with(b"_RO_") {
                hash_to_curve(message, XmdTag { hash: XmdHash::Sha256, bytes: tag }).point()
            } else {
                let [u] = hash_to_field::<Sha256, 1>(message, tag);
                map_to_curve(u).point
            };
            assert_eq!(point.xy(), Some(expected));
        }
        println!("gnark {}: {} answers", text(&file["dst"]), cases.len());
    }
    println!("gnark G2: {skipped} answers skipped, nothing here hashes to G2");
}

/// gnark-crypto's answers with SHA-256, `hashToG1Vector` of its ecc/bn254/hash_vectors_test.go.
#[test]
fn whole_hashes_with_sha256() {
    let tag = XmdTag { hash: XmdHash::Sha256, bytes: b"QUUX-V01-CS02-with-BN254G1_XMD:SHA-256_SVDW_RO_" };
    let long = |start: &str, letter: &str, letters: usize| start.to_owned() + &letter.repeat(letters);
    for (message, x, y) in [
        (
            String::new(),
            "0xa976ab906170db1f9638d376514dbf8c42aef256a54bbd48521f20749e59e86",
            "0x2925ead66b9e68bfc309b014398640ab55f6619ab59bc1fab2210ad4c4d53d5",
        ),
        (
            "abc".to_owned(),
            "0x23f717bee89b1003957139f193e6be7da1df5f1374b26a4643b0378b5baf53d1",
            "0x4142f826b71ee574452dbc47e05bc3e1a647478403a7ba38b7b93948f4e151d",
        ),
        (
            "abcdef0123456789".to_owned(),
            "0x187dbf1c3c89aceceef254d6548d7163fdfa43084145f92c4c91c85c21442d4a",
            "0xabd99d5b0000910b56058f9cc3b0ab0a22d47cf27615f588924fac1e5c63b4d",
        ),
        (
            long("q128_", "q", 128),
            "0xfe2b0743575324fc452d590d217390ad48e5a16cf051bee5c40a2eba233f5c",
            "0x794211e0cc72d3cbbdf8e4e5cd6e7d7e78d101ff94862caae8acbe63e9fdc78",
        ),
        (
            long("a512_", "a", 512),
            "0x1b05dc540bd79fd0fea4fbb07de08e94fc2e7bd171fe025c479dc212a2173ce",
            "0x1bf028afc00c0f843d113758968f580640541728cfc6d32ced9779aa613cd9b0",
        ),
    ] {
        let [x, y] = [x, y].map(|digits| element(&digits.into(), 16));
        assert_eq!(hash_to_curve(message.as_bytes(), tag).point().xy(), Some((x, y)), "{message}");
        let keccak = hash_to_curve(message.as_bytes(), XmdTag { hash: XmdHash::Keccak256, ..tag });
        assert_ne!(keccak.point().x, x);
    }
}

/// Real beacons, and invalid variants of each.
#[test]
fn beacons() {
    let (mut valid, mut invalid) = (0, 0);
    for file in files("06_drand", "bn254_") {
        let key = bytes(&file["chain_info"]["public_key"]);
        let public_key = Bn254PublicKey::<G2Affine>::from_bytes(&key).unwrap();
        for beacon in file["beacons"].as_array().unwrap() {
            let (round, signature) = (beacon["round"].as_u64().unwrap(), bytes(&beacon["signature"]));
            let message = drand_message(round);
            assert_eq!(message.to_vec(), bytes(&beacon["message"]));
            assert_eq!(Sha256::digest(&signature).to_vec(), bytes(&beacon["randomness"]));
            let keccak = |bytes| XmdTag { hash: XmdHash::Keccak256, bytes };
            let tag = keccak(text(&beacon["dst"]).as_bytes());
            let parsed = Bn254Signature::from_bytes(&signature).unwrap();
            let holds = |message: &[u8], tag| verify(&public_key, &hash_to_curve(message, tag), &parsed);
            assert!(holds(&message, tag));
            assert!(!holds(&message, keccak(b"BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_")));
            assert!(!holds(&message, XmdTag { hash: XmdHash::Sha256, ..tag }));
            assert!(!holds(&drand_message(round + 1), tag));
            valid += 1;
            invalid += 3;
            if tag != DRAND_EVMNET_TAG {
                // An older tag, which the suite has to refuse.
                assert_eq!(verify_bytes(Bn254Suite::DrandEvmnet, &key, &message, &signature), Ok(false));
                invalid += 1;
                continue;
            }
            let verdict = |key: &[u8], message: &[u8], signature: &[u8]| {
                verify_bytes(Bn254Suite::DrandEvmnet, key, message, signature)
            };
            // The network's suite is the suite of the same tag, and no other.
            for suite in Bn254Suite::all().iter().filter(|suite| suite.key_bytes() == key.len()) {
                let same_tag = matches!(suite, Bn254Suite::DrandEvmnet | Bn254Suite::KeccakBasic);
                assert_eq!(verify_bytes(*suite, &key, &message, &signature), Ok(same_tag), "{suite}");
            }
            let mut negated = signature.clone();
            negated[32..].copy_from_slice(&fq_bytes(&-decode_g1(&signature, Bn254Item::Signature).unwrap().y));
            let other = Bn254SecretKey::from_entropy(&[1; 48]).public_key_g2().to_bytes();
            for (key, message, signature) in [
                (&key[..], &message[..], &negated[..]),
                (&key, &message, &[0; 64]),
                (&key, &round.to_be_bytes(), &signature),
                (&other, &message, &signature),
            ] {
                assert_eq!(verdict(key, message, signature), Ok(false));
                invalid += 1;
            }
            let mut swapped = signature.clone();
            swapped.swap(0, 1);
            assert!(verdict(&key, &message, &swapped).is_err());
            invalid += 1;
        }
    }
    println!("drand on BN254: {valid} valid, {invalid} made invalid");
    for chains in files("06_drand", "chains") {
        let all: Vec<Value> = match &chains {
            Value::Array(all) => all.clone(),
            Value::Object(all) => all.values().cloned().collect(),
            _ => panic!("chains.json is neither a list nor a map"),
        };
        let keys: Vec<_> = all.iter().filter(|chain| chain["curve"] == "BN254").collect();
        keys.iter()
            .for_each(|chain| assert!(Bn254PublicKey::<G2Affine>::from_bytes(&bytes(&chain["public_key"])).is_ok()));
        println!("drand on BN254: {} group keys read, evmnet's among them", keys.len());
    }
}

#[test]
fn geth_pairing() {
    let cases: Vec<_> =
        files("04_bn254_precompiles_geth", "bn256Pairing").iter().flat_map(|f| f.as_array().unwrap().clone()).collect();
    for case in &cases {
        let input = bytes(&case["Input"]);
        let pairs = input.chunks(192).map(|pair| {
            (decode_g1(&pair[..64], Bn254Item::Point).unwrap(), decode_g2(&pair[64..], Bn254Item::Point).unwrap())
        });
        let pairs: Vec<_> = pairs.collect();
        let expected = bytes(&case["Expected"])[31] == 1;
        assert_eq!(pairing_is_one(&pairs), expected, "{}", case["Name"]);
        // The points encode to the same bytes.
        let encoded: Vec<u8> =
            pairs.iter().flat_map(|(a, b)| [encode_g1(a).to_vec(), encode_g2(b).to_vec()].concat()).collect();
        assert_eq!(encoded, input);
    }
    println!("geth pairings: {}", cases.len());
}

#[test]
fn geth_and_seda_group_law() {
    // The precompile pads its input with zeros or cuts it.
    let padded = |bytes: &[u8], n: usize| bytes.iter().copied().chain(std::iter::repeat(0)).take(n).collect::<Vec<_>>();
    let times = |point: &[u8], scalar: &[u8]| {
        let point = decode_g1(point, Bn254Item::Point).unwrap();
        encode_g1(&(point * Fr::from_be_bytes_mod_order(scalar)).into_affine()).to_vec()
    };
    let mut counts = [0; 2];
    for file in files("04_bn254_precompiles_geth", "bn256ScalarMul") {
        for case in file.as_array().unwrap() {
            let input = padded(&bytes(&case["Input"]), 96);
            assert_eq!(times(&input[..64], &input[64..]), bytes(&case["Expected"]), "{}", case["Name"]);
            counts[0] += 1;
        }
    }
    for file in files("04_bn254_noble_seda", "add_mul") {
        let words =
            |case: &Value, names: &[&str]| names.iter().flat_map(|name| bytes(&case[*name])).collect::<Vec<_>>();
        for case in file["cases"]["add"].as_array().unwrap() {
            let [a, b] =
                [["x1", "y1"], ["x2", "y2"]].map(|names| decode_g1(&words(case, &names), Bn254Item::Point).unwrap());
            assert_eq!(encode_g1(&(a + b).into_affine()).to_vec(), bytes(&case["result"]));
            counts[1] += 1;
        }
        for case in file["cases"]["mul"].as_array().unwrap() {
            assert_eq!(times(&words(case, &["x", "y"]), &bytes(&case["scalar"])), bytes(&case["result"]));
            counts[1] += 1;
        }
    }
    println!("group law: geth {}, seda {}", counts[0], counts[1]);
}

/// Multiples of points of G2, computed with Sage.
#[test]
fn constantine_multiples_in_g2() {
    for case in cases("03_constantine_scalarmul", "tv_BN254_Snarks_scalar_mul_G2", "vectors") {
        let point = |point: &Value| {
            let part = |c: &str, i: &str| fq_bytes(&element(&point[c][i], 16));
            let encoded = [part("x", "c1"), part("x", "c0"), part("y", "c1"), part("y", "c0")].concat();
            decode_g2(&encoded, Bn254Item::Point).unwrap()
        };
        let (p, q) = (point(&case["P"]), point(&case["Q"]));
        let scalar = element(&case["scalar"], 16);
        let scalar = Fr::from_bigint(scalar.into_bigint()).unwrap();
        assert_eq!((p * scalar).into_affine(), q);
    }
}

#[test]
fn eigenlayer_operator_keys() {
    let cases = cases("11_bn254_keys", "eigenlayer_operator_keys", "cases");
    let mut keys = Vec::new();
    for case in &cases {
        let number: BigUint = text(&case["sk"]).parse().unwrap();
        let mut word = [0; 32];
        let digits = number.to_bytes_be();
        word[32 - digits.len()..].copy_from_slice(&digits);
        let secret = Bn254SecretKey::from_bytes(&word).unwrap();
        let part = |name: &str, i: usize| fq_bytes(&element(&case[name][i], 10)).to_vec();
        let g1 = [part("g1", 0), part("g1", 1)].concat();
        let g2 = [part("g2_x", 0), part("g2_x", 1), part("g2_y", 0), part("g2_y", 1)].concat();
        assert_eq!(secret.public_key_g1().to_bytes()[..], g1);
        assert_eq!(secret.public_key_g2().to_bytes()[..], g2);
        keys.push((secret, DualKey::from_bytes(&[g1, g2].concat()).unwrap()));
    }
    let Some((secrets, keys)) = (!keys.is_empty()).then(|| keys.into_iter().unzip::<_, _, Vec<_>, Vec<_>>()) else {
        return;
    };
    // All keys sign one digest, as EigenLayer's operators do.
    let digest = [0x42; 32];
    let message = Bn254Suite::EigenLayer.hash(&digest).unwrap();
    let signature: Bn254Signature = secrets.iter().map(|secret| secret.sign(&message)).sum();
    let suite = Bn254Suite::EigenLayer;
    let read = keys.iter().map(|key| suite.key(&key.to_bytes()).unwrap());
    assert!(verify(&aggregate(read).unwrap(), &message, &signature));
    let key = DualKey::aggregate(keys).unwrap().to_bytes();
    assert_eq!(verify_bytes(suite, &key, &digest, &signature.to_bytes()), Ok(true));
    assert_eq!(verify_bytes(suite, &key, &[0x43; 32], &signature.to_bytes()), Ok(false));
}

/// The generator of G2 as EIP-197 writes it, which fixes the order of the parts.
#[test]
fn generator_of_g2_as_the_eip_has_it() {
    let words = "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2\
                 1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed\
                 090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b\
                 12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa";
    assert_eq!(const_hex::encode(encode_g2(&G2Affine::generator())), words);
    let one = MessagePoint::from_point(G1Affine::generator()).to_bytes();
    assert_eq!((one[31], one[63]), (1, 2));
    assert_eq!(Fq2::new(Fq::from(1u8), Fq::from(2u8)).c1, Fq::from(2u8));
}
