//! The binary itself: keys, signatures, proofs of possession, sums; what it prints, where, and how it ends.
//!
//! Long because every command is run with every kind of trouble, and they share one way to run the program.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use clap::CommandFactory as _;
use quorate::{AnySuite, Backend, Bn254Suite, Claim, MinPk, PublicKey, Signature, Suite, naive};
use quorate_bn254::{Bn254SecretKey, Bn254Signature};
use quorate_cli::cli::Cli;
use quorate_lab::{
    run::{Ran, Run as _, Running, Signal, command, program},
    vectors,
};
use serde_json::Value;
use tempfile::TempDir;

// ---- Known answers ----

/// Every signing case of ethereum/bls12-381-tests, and that the zero key is refused.
#[test]
fn ethereum_signatures() {
    let Some(folder) = vectors::path("01_eth_bls12381_tests/sign") else { return };
    let room = Room::new();
    let mut cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let case = json(fs::read(entry.unwrap().path()).unwrap());
        room.file("key", text(&case["input"]["privkey"]));
        let args = ["sign", "--suite", "eth2", "--key", "key", "--message", text(&case["input"]["message"])];
        let output = room.run(args);
        match case["output"].as_str() {
            Some(signature) => assert_eq!(output.out, format!("{signature}\n")),
            None => assert_failure(&output, 2, "not a secret key"),
        }
        cases += 1;
    }
    assert!(cases >= 7, "{cases}");
}

/// Test case 1 of EIP-2333. Its master key is also KeyGen of the IETF draft from the same bytes.
#[test]
fn eip_2333() {
    let room = Room::new();
    room.file("seed", "0x3141592653589793238462643383279502884197169399375105820974944592\n");
    let master = "41c9e07822b092a93fd6797396338c3ada4170cc81829fdfce6b5d34bd5e7ec7\n";
    let child = "384843fad5f3d777ea39de3e47a8f999ae91f89e42bffa993d91d9782d152a0f\n";

    let derive = ["key", "derive", "--suite", "eth2", "--out", "-"];
    assert_eq!(room.run([&derive[..], &["--seed-file", "seed", "--path", "m"]].concat()).out, master);
    assert_eq!(room.run([&derive[..], &["--seed-file", "seed", "--path", "m/3141592653"]].concat()).out, child);
    room.file("master", master);
    assert_eq!(room.run([&derive[..], &["--from", "master", "--path", "3141592653"]].concat()).out, child);
    let from_stdin = [&derive[..], &["--from", "-", "--path", "3141592653"]].concat();
    assert_eq!(room.run_with(from_stdin, master).out, child);
    assert_eq!(room.run(["key", "new", "--suite", "eth2", "--ikm-file", "seed", "--out", "-"]).out, master);
}

/// Test vectors 1 of Chia-Network/bls-signatures (src/test.cpp): keys as in draft 3; and AUG of test_pyecc_vectors.
#[test]
fn chia() {
    let room = Room::new();
    room.file("seed", &"00".repeat(32));
    let output = room.run(["key", "new", "--suite", "chia", "--ikm-file", "seed", "--out", "-"]);
    assert_eq!(output.out, "4a353be3dac091a0a7e640620372f5e1e2e4401717c1e79cac6ffba8f6905604\n");

    room.file("key", &"01".repeat(32));
    let output = room.run(["sign", "--suite", "chia", "--key", "key", "--message", "030104010509"]);
    assert_eq!(
        output.out,
        "8180f02ccb72e922b152fcedbe0e1d195210354f70703658e8e08cbebf11d4970eab6ac3ccf715f3fb876df9a9797abd\
         0c1af61aaeadc92c2cfe5c0a56c146cc8c3f7151a073cf5f16df38246724c4aed73ff30ef5daa6aacaed1a26ecaa336b\n"
    );
    let output = room.run(["key", "derive", "--suite", "chia", "--from", "key", "--path", "0", "--out", "-"]);
    assert_failure(&output, 2, "older EIP-2333");
}

/// The standard's own keystores, opened; and shown without a passphrase.
#[test]
fn published_keystores() {
    let Some(folder) = vectors::path("05_keys") else { return };
    let room = Room::new();
    room.file("passphrase", "𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑\n");
    for name in ["erc2335_keystore_1.json", "erc2335_keystore_2.json"] {
        let path = folder.join(name);
        let show = ["key", "show", "--suite", "eth2", "--json", path.to_str().unwrap()];
        let shown = json(room.run(show).out);
        let public_key = "0x9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27\
                          f4ae4040902382ae2910c15e2b420d07";
        assert_eq!((text(&shown["public_key"]), &shown["checked"]), (public_key, &Value::Bool(false)));
        assert!(text(&shown["path"]).starts_with("m/12381/60/"));
        assert!(shown.get("secret").is_none());
    }
    let path = folder.join("erc2335_keystore_2.json");
    let path = path.to_str().unwrap();
    let args = ["key", "show", "--suite", "eth2", "--json", "--passphrase-file", "passphrase", "--reveal-secret", path];
    let shown = json(room.run(args).out);
    assert_eq!(shown["checked"], true);
    assert_eq!(shown["secret"], "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
}

/// The COSE draft's JSON Web Keys, in both groups.
#[test]
fn published_json_web_keys() {
    let Some(folder) = vectors::path("05_keys") else { return };
    let room = Room::new();
    let file = json(fs::read(folder.join("cose_bls_jwk_examples.json")).unwrap());
    for case in file["cases"].as_array().unwrap() {
        room.file("key.jwk", &case.to_string());
        let (suite, other) = match text(&case["crv"]) {
            "BLS12381G1" => ("eth2", "drand-quicknet"),
            _ => ("drand-quicknet", "eth2"),
        };
        let shown = json(room.run(["key", "show", "--suite", suite, "--json", "key.jwk"]).out);
        assert_eq!((&shown["checked"], &shown["format"]), (&Value::Bool(true), &Value::from("jwk")));
        let output = room.run(["key", "import", "--suite", suite, "key.jwk", "--plain", "--force", "--out", "key"]);
        assert_eq!(output.out.trim_end(), text(&shown["public_key"]));
        for other in [other, "drand-evmnet"] {
            assert_failure(&room.run(["key", "show", "--suite", other, "key.jwk"]), 2, "choose the --suite");
        }
    }
}

/// Three signatures over one message and their sum, of ethereum/bls12-381-tests (aggregate_0xabab…).
#[test]
fn aggregate_and_subtract() {
    let room = Room::new();
    let sum = |args: &[&str], lines: &str| {
        let output = room.run_with([args, &["--suite", "eth2"]].concat(), lines);
        output.out.trim_end().to_owned()
    };
    assert_eq!(sum(&["aggregate"], &PARTS.join("\n")), WHOLE);
    assert_eq!(sum(&["aggregate", "-"], &format!("\u{feff}{}\r\n\r\n", PARTS.join("\r\n"))), WHOLE);
    let objects = PARTS.map(|part| format!(r#"{{"suite":"eth2","id":7,"signature":"{part}"}}"#));
    room.file("claims.jsonl", &objects.join("\n"));
    assert_eq!(sum(&["aggregate", "claims.jsonl"], ""), WHOLE);
    let summary = json(sum(&["aggregate", "--json", "claims.jsonl"], "").as_bytes());
    assert_eq!((&summary["signature"], &summary["count"]), (&Value::from(WHOLE), &Value::from(3)));

    assert_eq!(sum(&["subtract", "--from", WHOLE], &PARTS[1..].join("\n")), PARTS[0]);
    let nothing = sum(&["subtract", "--from", WHOLE], &PARTS.join("\n"));
    assert_eq!(nothing, format!("0xc0{}", "00".repeat(95)));
    assert_eq!(sum(&["subtract", "--from", WHOLE], ""), WHOLE);
}

/// Every bad line is told with its number, and nothing comes of the good ones.
#[test]
fn aggregate_refuses_bad_lines() {
    let room = Room::new();
    let other_suite = format!(r#"{{"suite":"chia","signature":"{}"}}"#, PARTS[0]);
    let lines = [PARTS[0], "zz", "", r#"{"public_key":"00"}"#, "{", "0x1234", &other_suite].join("\n");
    let output = room.run_with(["aggregate", "--suite", "eth2"], &lines);
    assert_failure(&output, 2, "5 of 6 lines");
    for line in [2, 4, 5, 6, 7] {
        assert!(output.err.contains(&format!("standard input, line {line}: ")), "{}", output.err);
    }
    assert_failure(&room.run_with(["aggregate", "--suite", "eth2"], "\n"), 2, "nothing to aggregate");
    assert_failure(&room.run(["aggregate", "--suite", "eth2", "absent"]), 3, "absent");
}

/// Three signers of a BDN suite: their claims become one signature, which verifies with exactly their keys.
#[test]
fn signatures_with_coefficients() {
    let room = Room::new();
    let suite = MinPk::Bdn.name();
    let claims: Vec<_> = ["a", "b", "c"]
        .map(|name| {
            room.new_key(suite, name);
            room.run(["sign", "--suite", suite, "--key", name, "--message", "0xabab", "--claim"]).out
        })
        .to_vec();
    let sum = |lines: &str| room.run_with(["aggregate", "--suite", suite], lines);
    let signature = sum(&claims.concat()).out;
    assert_eq!(sum(&[&claims[2][..], &claims[0], &claims[1]].concat()).out, signature, "the order does not matter");
    let keys: Vec<_> = claims.iter().map(|claim| json(claim.as_bytes())["public_key"].clone()).collect();
    let block = |keys: &[Value]| {
        let signature = signature.trim_end();
        serde_json::json!({"suite": suite, "public_keys": keys, "message": "abab", "signature": signature}).to_string()
    };
    let code = |lines: &str| room.run_with(["verify", "-q", "-"], lines).code;
    assert_eq!(code(&block(&keys)), 0);
    assert_eq!(code(&block(&keys[..2])), 1);
    assert_eq!(code(&block(&[&keys[..], &keys[..1]].concat())), 1, "a set has no key twice");
    room.file("known", &claims[..2].concat());
    let known = room.run_with(["verify", "--known", "known", "-"], &block(&keys));
    assert_eq!(known.code, 0, "{}", known.err);
    assert!(known.err.contains("2 statements"), "{}", known.err);
    let key = room.run_with(["aggregate", "--suite", suite, "--public-keys"], &claims.concat()).out;
    assert_eq!(code(&block(&[key.trim_end().into()])), 0, "one key for all");

    assert_failure(&sum(json(claims[0].as_bytes())["signature"].as_str().unwrap()), 2, "cannot be used");
    assert_failure(&sum(&[&claims[0][..], &claims[0]].concat()), 2, "each key once");
    let output = room.run_with(["subtract", "--suite", suite, "--from", signature.trim_end()], &claims[0]);
    assert_failure(&output, 2, "quorate verify --known");
}

#[test]
fn public_keys_add_up() {
    let room = Room::new();
    let key = room.new_key("eth2", "key");
    let keys = format!("{key}\n{key}\n");
    let sum = room.run_with(["aggregate", "--suite", "eth2", "--public-keys"], &keys);
    let expected = PublicKey::<MinPk>::from_bytes(&bytes(&key)).unwrap();
    let expected = quorate::aggregate::aggregate_public_keys(&[expected, expected], quorate::Backend::auto()).unwrap();
    assert_eq!(bytes(sum.out.trim_end()), expected.to_bytes());
    // The same key with its sign flipped cancels it.
    let mut negative = bytes(&key);
    negative[0] ^= 0x20;
    let output = room.run_with(
        ["aggregate", "--suite", "eth2", "--public-keys"],
        &format!("{key}\n{}\n", const_hex::encode(negative)),
    );
    assert_failure(&output, 2, "identity");
}

// ---- Round trips ----

/// A new key signs, in every suite, and the library agrees. Hexadecimal has `0x` in the profiles of Ethereum and EigenLayer alone.
#[test]
fn every_suite_signs() {
    fn check<S: Suite>(suite: S, room: &Room) {
        let file = format!("{suite}.key");
        let key = room.new_key(suite.name(), &file);
        let prefixed = [MinPk::Eth2.any(), MinPk::Eth2SyncAggregate.any(), Bn254Suite::EigenLayer.any()];
        assert_eq!(key.starts_with("0x"), prefixed.contains(&suite.any()), "{suite}");
        let shown = room.run(["key", "show", "--suite", suite.name(), &file]).out;
        assert!(shown.contains(&format!("{key} (checked)")), "{shown}");

        let message = "0x".to_owned() + &"5a".repeat(32);
        let args = ["sign", "--suite", suite.name(), "--key", &file, "--message", &message];
        let signature = room.run(args).out.trim_end().to_owned();
        let claim = Claim::single(
            suite,
            PublicKey::from_bytes(&bytes(&key)).unwrap(),
            [0x5a; 32],
            Signature::from_bytes(&bytes(&signature)).unwrap(),
        );
        assert!(naive::verify(&claim).is_valid(), "{suite}");

        let line = json(&room.run([&args[..], &["--claim"]].concat()).out);
        assert_eq!((text(&line["suite"]), text(&line["public_key"])), (suite.name(), key.as_str()));
        assert_eq!(text(&line["signature"]), signature);
        assert_eq!(bytes(text(&line["message"])), [0x5a; 32]);
        room.run_with(["verify", "-"], &line.to_string()).exits(0);
    }
    let room = Room::new();
    for suite in AnySuite::all() {
        match suite {
            AnySuite::MinPk(suite) => check(suite, &room),
            AnySuite::MinSig(suite) => check(suite, &room),
            AnySuite::Bn254(suite) => check(suite, &room),
            suite => panic!("{suite} has no test"),
        }
    }
}

/// Whichever way it is given, the message is the same bytes.
#[test]
fn three_ways_to_a_message() {
    let room = Room::new();
    room.new_key("eth2", "key");
    room.file("message", "hello\n");
    let sign = ["sign", "--suite", "eth2", "--key", "key"];
    let signatures = [
        room.run([&sign[..], &["--message", "68656C6C6F0a"]].concat()),
        room.run([&sign[..], &["--message-file", "message"]].concat()),
        room.run_with([&sign[..], &["--message-file", "-"]].concat(), "hello\n"),
        room.run_with([&sign[..], &["-"]].concat(), "hello\n"),
    ]
    .map(|output| output.out);
    assert!(signatures.iter().all(|signature| *signature == signatures[0]), "{signatures:?}");
    let secret = fs::read_to_string(room.path("key")).unwrap();
    let output = room.run_with(["sign", "--suite", "eth2", "--key", "-", "--message", "0x68656c6c6f0a"], &secret);
    assert_eq!(output.out, signatures[0]);

    assert_failure(&room.run([&sign[..], &["--message", "hello"]].concat()), 2, "--message-file");
    assert_failure(&room.run(sign), 2, "--message");
    assert_failure(&room.run([&sign[..], &["-", "--message", "00"]].concat()), 2, "cannot be used with");
    assert_failure(&room.run(["sign", "--suite", "eth2", "--key", "-", "-"]), 2, "both the key and the message");
}

/// `--message "$ROOT"` with a variable that is not set, or the output of a command that failed.
#[test]
fn an_empty_message_is_refused() {
    let room = Room::new();
    room.new_key("eth2", "key");
    room.file("message", "");
    let sign = ["sign", "--suite", "eth2", "--key", "key"];
    assert_failure(&room.run([&sign[..], &["--message", ""]].concat()), 2, "--message: the message is empty");
    assert_failure(&room.run([&sign[..], &["--message-file", "message"]].concat()), 2, "message: the message is empty");
    assert_failure(&room.run_with([&sign[..], &["-"]].concat(), ""), 2, "give --message 0x");
    // Whoever means no bytes says so.
    assert_eq!(room.run([&sign[..], &["--message", "0x"]].concat()).code, 0);
}

/// Beacons and validators sign digests: anything else is said to be unusual, and signed. Other suites sign any message.
#[test]
fn what_is_no_digest_is_said() {
    for (suite, digits, digests) in [
        ("drand-quicknet", 96, Some("signs digests of 32 bytes, but this message has")),
        ("eth2", 194, Some("eth2 signs signing roots of 32 bytes, but this message has")),
        ("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_", 192, None),
        ("chia", 192, None),
    ] {
        let room = Room::new();
        room.new_key(suite, "key");
        let sign = |message: &str| {
            let output = room.run(["sign", "--suite", suite, "--key", "key", "--message", message]);
            assert_eq!(output.out.trim_end().len(), digits, "{suite}");
            output.err
        };
        assert_eq!(sign(&"00".repeat(32)), "", "{suite}");
        for message in ["00".to_owned(), "00".repeat(31), "00".repeat(33)] {
            let said = sign(&message);
            assert!(digests.map_or(said.is_empty(), |digests| said.contains(digests)), "{suite}: {said}");
        }
    }
}

/// Hexadecimal, keystore and back; the keystore remembers path and description, and takes a new passphrase.
#[test]
fn formats_there_and_back() {
    let room = Room::new();
    room.file("seed", &"7e".repeat(32));
    room.file("old", "correct horse\n");
    room.file("new", "battery staple\n");
    let derive = ["key", "derive", "--suite", "eth2", "--seed-file", "seed", "--path", "m/12381/3600/0"];
    let cheap = ["--keystore", "--kdf", "pbkdf2"];
    let to = ["--passphrase-file", "old", "--description", "withdrawal", "--out", "a.json", "--json"];
    let stored = json(&room.run([&derive[..], &cheap, &to].concat()).out);
    assert_eq!((text(&stored["format"]), text(&stored["path"])), ("keystore", "m/12381/3600/0"));

    let from = ["key", "import", "--suite", "eth2", "a.json", "--from-passphrase-file", "old"];
    let output = room.run([&from[..], &cheap, &["--passphrase-file", "new", "--out", "b.json"]].concat());
    assert_eq!(output.out.trim_end(), text(&stored["public_key"]));
    let shown = json(&room.run(["key", "show", "--suite", "eth2", "--json", "b.json"]).out);
    assert_eq!((text(&shown["path"]), text(&shown["description"])), ("m/12381/3600/0", "withdrawal"));
    assert_ne!(shown["uuid"], stored["uuid"]);

    // Passphrases through descriptor 0; a child of the child has the whole path.
    let open = ["--from-passphrase-fd", "0", "--out", "c.hex", "--plain"];
    let output =
        room.run_with([&["key", "import", "--suite", "eth2", "b.json"][..], &open].concat(), "battery staple\n");
    assert_eq!(output.out.trim_end(), text(&stored["public_key"]));
    let below =
        ["key", "derive", "--suite", "eth2", "--from", "b.json", "--from-passphrase-file", "new", "--path", "0"];
    let output = room.run([&below[..], &cheap, &["--passphrase-file", "new", "--out", "d.json", "--json"]].concat());
    assert_eq!(json(&output.out)["path"], "m/12381/3600/0/0");
    let whole = ["key", "derive", "--suite", "eth2", "--seed-file", "seed", "--path", "m/12381/3600/0/0", "--out", "e"];
    assert_eq!(room.run(whole).out.trim_end(), text(&json(&output.out)["public_key"]));
}

/// The default keystore, whose scrypt takes its time: made, opened, signed with.
#[test]
fn a_keystore_signs() {
    let room = Room::new();
    room.file("passphrase", "correct horse\n");
    let new =
        ["key", "new", "--suite", "eth2", "--keystore", "--passphrase-file", "passphrase", "--path", "m/12381/3600/7"];
    let key = room.run([&new[..], &["--out", "key.json"]].concat()).out.trim_end().to_owned();
    let keystore = json(fs::read(room.path("key.json")).unwrap());
    assert_eq!(keystore["crypto"]["kdf"]["function"], "scrypt");
    assert_eq!((text(&keystore["pubkey"]), text(&keystore["path"])), (&key[2..], "m/12381/3600/7"));
    let sign = ["sign", "--suite", "eth2", "--key", "key.json", "--message", "00", "--claim"];
    let claim = json(&room.run([&sign[..], &["--passphrase-file", "passphrase"]].concat()).out);
    assert_eq!(text(&claim["public_key"]), key);
}

// ---- Proofs of possession ----

#[test]
fn proofs_one_at_a_time() {
    let room = Room::new();
    // ava-labs/avalanchego, genesis_local.json.
    let key = "900c9b119b5c82d781d4b49be78c3fc7ae65f2b435b7ed9e3a8b9a03e475edff86d8a64827fec8db23a6f236afbf127d";
    let proof = "8bfd6d4d2086b2b8115d8f72f94095fefe5a6c07876b2accf51a811adf520f389e74a3d2152a6d90b521e2be58ffe468\
                 043dc5ea68b4c44410eb67f8dc24f13ed4f194000764c0e922cd254a3588a4962b1cb4db7de4bb9cda9d9d4d6b03f3d2";
    let check = |suite: &str, key: &str, proof: &str| {
        room.run(["pop", "verify", "--suite", suite, "--public-key", key, "--proof", proof])
    };
    let output = check("eth2", key, proof);
    assert_eq!((output.out.as_str(), output.code), ("valid\n", 0));
    for backend in Backend::available() {
        let flags = ["--suite", "eth2", "--public-key", key, "--proof", proof, "--backend", backend.name()];
        assert_eq!(room.run([&["pop", "verify"][..], &flags].concat()).out, "valid\n", "{backend}");
    }

    for (key, proof, reason) in [
        (key, WHOLE, "does not match"),
        (key, "00", "found 1 bytes, expected the 96 bytes of a G2 point"),
        (&*format!("c0{}", "00".repeat(47)), proof, "identity"),
        (&*format!("81{}", &"23456789abcdef01".repeat(6)[..94]), proof, "public key"),
    ] {
        let output = check("eth2", key, proof);
        assert_eq!(output.code, 1);
        assert!(output.out.starts_with("invalid: ") && output.out.contains(reason), "{}", output.out);
    }
    assert_failure(&check("eth2", "zz", proof), 2, "--public-key: found 'z' at digit 1");
    assert_failure(&check("chia", key, proof), 2, "no proofs of possession");
    assert_failure(&room.run(["pop", "verify", "--suite", "eth2", "--proof", proof]), 2, "--public-key");
}

/// The proof would be ignored, and the exit code would be that of the batch.
#[test]
fn a_proof_beside_a_batch_is_refused() {
    let room = Room::new();
    room.file("proofs", "");
    let beside = room.run(["pop", "verify", "--suite", "eth2", "--proof", "0x00", "proofs"]);
    assert_failure(&beside, 2, "cannot be used with");
}

/// A batch with a swapped proof, bytes that are no point, and lines that are no proof.
#[test]
fn proofs_in_a_batch() {
    let room = Room::new();
    for suite in ["eth2", "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"] {
        let proofs: Vec<_> = (0..3)
            .map(|i| {
                let file = format!("{suite}{i}");
                room.new_key(suite, &file);
                json(&room.run(["pop", "prove", "--suite", suite, "--key", &file, "--json"]).out)
            })
            .collect();
        let lines = |proofs: &[Value]| proofs.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        let verify = |lines: &str, flags: &[&str]| {
            room.run_with([&["pop", "verify", "--suite", suite, "-"][..], flags].concat(), lines)
        };
        let output = verify(&lines(&proofs), &[]);
        assert_eq!((output.out.as_str(), output.code), ("1: valid\n2: valid\n3: valid\n", 0));
        assert!(output.err.contains("3 proofs: 3 valid, 0 invalid, 0 unreadable"));

        let mut bad = proofs.clone();
        bad[1]["proof"] = proofs[0]["proof"].clone();
        bad[1]["id"] = Value::from("mallory");
        bad[2]["public_key"] = Value::from("00");
        let output = verify(&lines(&bad), &["--json"]);
        assert_eq!(output.code, 1);
        let verdicts: Vec<_> = output.out.lines().map(|line| json(line.as_bytes())).collect();
        assert_eq!(verdicts[0].to_string(), r#"{"index":0,"line":1,"valid":true}"#);
        assert_eq!((&verdicts[1]["id"], &verdicts[1]["valid"]), (&Value::from("mallory"), &Value::Bool(false)));
        assert!(text(&verdicts[2]["reason"]).contains("public key"));

        let bad = format!("{{}}\n\n{}\nnonsense\n", lines(&bad));
        let output = verify(&bad, &["--json"]);
        let places = output.out.lines().map(|line| json(line.as_bytes())).map(|verdict| verdict["line"].as_u64());
        assert_eq!(places.collect::<Vec<_>>(), [Some(3), Some(4), Some(5)]);
        let output = verify(&bad, &[]);
        assert_eq!(output.code, 2);
        assert!(output.out.starts_with("3: valid\n4: invalid: "), "{}", output.out);
        assert!(output.err.contains("line 1: \"public_key\" is missing") && output.err.contains("line 6: "));
        assert_failure(&verify("", &[]), 2, "empty");

        // Verdicts keep the ids of their lines.
        let mut named = proofs.clone();
        named[0]["id"] = "x".repeat((32 << 10) - 2).into();
        named[1]["id"] = "x".repeat(40 << 10).into();
        let output = verify(&lines(&named), &[]);
        assert_eq!((output.out.as_str(), output.code), ("1: valid\n3: valid\n", 2));
        assert!(
            output.err.contains("line 2: \"id\": found 40962 bytes of text, expected at most 32 KiB"),
            "{}",
            output.err
        );
    }
}

/// A signature over the key's bytes is not a proof of possession, nor the other way about: the tags differ.
#[test]
fn a_signature_is_no_proof() {
    let room = Room::new();
    let key = room.new_key("eth2", "key");
    let signature = room.run(["sign", "--suite", "eth2", "--key", "key", "--message", &key]).out;
    let proof = room.run(["pop", "prove", "--suite", "eth2", "--key", "key"]).out;
    assert_ne!(signature, proof);
    let args = ["pop", "verify", "--suite", "eth2", "--public-key", &key, "--proof", signature.trim_end()];
    assert_eq!(room.run(args).code, 1);
}

// ---- Files and secrets ----

#[test]
fn existing_files_stay() {
    let room = Room::new();
    room.new_key("eth2", "key");
    let before = fs::read(room.path("key")).unwrap();
    // Noticed before anyone is asked for a passphrase.
    for flags in [&[][..], &["--keystore"]] {
        let output = room.run([&["key", "new", "--suite", "eth2", "--out", "key"][..], flags].concat());
        assert_failure(&output, 2, "--force");
        assert_eq!(fs::read(room.path("key")).unwrap(), before);
    }
    let output = room.run(["key", "new", "--suite", "eth2", "--out", "key", "--force"]);
    assert_eq!(output.code, 0);
    assert_ne!(fs::read(room.path("key")).unwrap(), before);
    assert_failure(&room.run(["key", "new", "--suite", "eth2", "--out", "no/such/folder"]), 3, "no/such/folder");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let room = Room::new();
    room.file("passphrase", "p\n");
    room.new_key("eth2", "key");
    let import = ["key", "import", "--suite", "eth2", "key", "--keystore", "--kdf", "pbkdf2"];
    assert!(room.run([&import[..], &["--passphrase-file", "passphrase", "--out", "key.json"]].concat()).code == 0);
    for file in ["key", "key.json"] {
        assert_eq!(fs::metadata(room.path(file)).unwrap().permissions().mode() & 0o7777, 0o600);
    }
    fs::set_permissions(room.path("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = room.run(["key", "show", "--suite", "eth2", "key"]);
    assert!(output.code == 0 && output.err.contains("mode 0644"), "{}", output.err);
    // A keystore is encrypted: reading the file gives nobody the secret.
    fs::set_permissions(room.path("key.json"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = room.run(["key", "show", "--suite", "eth2", "key.json"]);
    assert!(output.code == 0 && output.err.is_empty(), "{}", output.err);
}

/// rpassword raises the signal of Ctrl-C before it restores the terminal, so a run that died of it left the terminal silent.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_at_a_question_restores_the_echo() {
    use std::{
        fs::File,
        io::Read as _,
        time::{Duration, Instant},
    };

    use rustix::{
        pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
        termios::{LocalModes, tcgetattr},
    };

    let room = Room::new();
    for (args, how) in [
        (&["key", "new", "--suite", "eth2", "--keystore", "--out", "key.json"][..], "typed"),
        (&["key", "derive", "--suite", "eth2", "--mnemonic", "--path", "m/0", "--out", "key"], "typed"),
        (&["key", "new", "--suite", "eth2", "--keystore", "--out", "key.json"], "TERM"),
    ] {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let inside = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let (kept, mut terminal) = (inside(), File::from(terminal));
        let echo = || tcgetattr(&kept).unwrap().local_modes.contains(LocalModes::ECHO);
        assert!(echo());
        // A session of its own, whose terminal this is.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(program("quorate")).args(args).current_dir(room.path(""));
        let mut run = Running::start(command.stdin(inside()).stdout(inside()).stderr(inside()));
        let begun = Instant::now();
        while echo() {
            assert!(begun.elapsed() < quorate_lab::run::LIMIT && run.runs(), "no question");
            std::thread::sleep(Duration::from_millis(5));
        }
        // The question is written before the echo is off, or after it.
        let mut question = [0; 512];
        let read = terminal.read(&mut question).unwrap();
        let question = String::from_utf8_lossy(&question[..read]).into_owned();
        assert!(question.contains("assphrase for") || question.contains("Mnemonic"), "{question:?}");
        if how == "typed" {
            terminal.write_all(b"secret\x03").unwrap();
        } else {
            // `setsid` may have started it as a child.
            let own = run.child.id();
            let pid = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
            let pid = pid.trim().parse().unwrap_or(own.cast_signed());
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        }
        assert_eq!(run.ended(), 130, "{args:?}");
        assert!(echo(), "{args:?}: the terminal is left without echo");
        assert!(!room.path("key.json").exists() && !room.path("key").exists());
    }
}

/// EIP-2333 derives keys on BLS12-381. The answer names what takes a suite on BN254.
#[test]
fn keys_on_bn254_are_not_derived() {
    let room = Room::new();
    room.file("key", &"01".repeat(32));
    for suite in ["drand-evmnet", "eigenlayer", "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_"] {
        let output = room.run(["key", "derive", "--suite", suite, "--seed-file", "key", "--path", "m", "--out", "new"]);
        assert_failure(&output, 2, &format!("{suite} is on the curve BN254"));
        assert!(output.err.contains("`quorate key new`"), "{}", output.err);
    }
    assert!(!room.path("new").exists());
}

/// What the commands make on BN254 is what the crate of the curve makes, and they add and subtract it.
#[test]
fn keys_and_signatures_on_bn254() {
    let room = Room::new();
    let secret = |i: u8| Bn254SecretKey::from_entropy(&[i; 48]);
    let message = [0x5a; 32];
    for suite in [Bn254Suite::DrandEvmnet, Bn254Suite::EigenLayer, Bn254Suite::Sha256Augmented] {
        let name = suite.name();
        let of = |i: u8| suite.sign(&secret(i), &message).unwrap();
        let mut signatures = Vec::new();
        for i in 1..=3 {
            room.file("key", &const_hex::encode(*secret(i).to_bytes()));
            let signed =
                room.run(["sign", "--suite", name, "--key", "key", "--message", &"5a".repeat(32)]).exits(0).out;
            assert_eq!(bytes(signed.trim_end()), of(i).to_bytes(), "{name}");
            signatures.push(signed);
        }
        let sum = room.run_with(["aggregate", "--suite", name, "-"], &signatures.concat()).exits(0).out;
        assert_eq!(bytes(sum.trim_end()), [1, 2, 3].map(of).into_iter().sum::<Bn254Signature>().to_bytes(), "{name}");
        let subtract = ["subtract", "--suite", name, "--from", sum.trim_end(), "-"];
        assert_eq!(room.run_with(subtract, &signatures[1..].concat()).exits(0).out, signatures[0], "{name}");
    }
    // A key in G2 adds up; keys in both groups do not.
    let key = |i: u8| const_hex::encode(secret(i).public_key_g2().to_bytes());
    let keys = format!("{}\n{}\n", key(1), key(2));
    let sum = room.run_with(["aggregate", "--suite", "drand-evmnet", "--public-keys", "-"], &keys).exits(0).out;
    let expected = quorate_bn254::aggregate([1, 2].map(|i| secret(i).public_key_g2())).unwrap();
    assert_eq!(bytes(sum.trim_end()), expected.to_bytes());
    let both = const_hex::encode(secret(1).dual_key().to_bytes());
    let refused = room.run_with(["aggregate", "--suite", "drand-evmnet", "--public-keys", "-"], &both);
    assert_failure(&refused, 2, "public key in G2: 192 bytes, expected 128");
    let refused = room.run_with(["aggregate", "--suite", "eigenlayer", "--public-keys", "-"], &both);
    assert_failure(&refused, 2, "keys of eigenlayer are points of both groups");

    let sign = ["sign", "--suite", "eigenlayer", "--key", "key", "--message"];
    let refused = room.run([&sign[..], &["00"]].concat());
    assert_failure(&refused, 2, "eigenlayer cannot sign this message: message: 1 bytes, expected 32");
    room.file("zero", &"00".repeat(32));
    let refused = room.run(["sign", "--suite", "drand-evmnet", "--key", "zero", "--message", "00"]);
    assert_failure(&refused, 2, "zero");
    assert_failure(&room.run_with(["aggregate", "--suite", "eigenlayer", "-"], "00"), 2, "1 bytes, expected 64");
}

/// A keystore of an operator is one of the suite with the same keys, and of no other.
#[test]
fn keystores_on_bn254() {
    let room = Room::new();
    room.file("p", "a passphrase of some length");
    let kept = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "p", "--out"];
    for (group, suite, other) in
        [("bn254-g1", "eigenlayer", "drand-evmnet"), ("bn254-g2", "drand-evmnet", "eigenlayer")]
    {
        let made = room.run([&["evm", "key", "--key-group", group][..], &kept, &[group]].concat()).exits(0).out;
        let key = made.lines().last().unwrap().split_whitespace().last().unwrap();
        let show =
            |suite: &str, check: &[&str]| room.run([&["key", "show", "--suite", suite, group][..], check].concat());
        assert!(show(suite, &[]).exits(0).out.contains(&format!("{} (stated)", key.trim_start_matches("0x"))));
        assert!(show(suite, &["--passphrase-file", "p"]).exits(0).out.contains("(checked)"));
        assert_failure(&show(other, &[]), 2, "choose the --suite that the key was made for");
        assert_failure(&show("eth2", &[]), 2, "choose the --suite that the key was made for");
        let sign = ["sign", "--suite", suite, "--key", group, "--passphrase-file", "p", "--claim", "--message"];
        let claim = room.run([&sign[..], &[&"5a".repeat(32)]].concat()).exits(0).out;
        room.run_with(["verify", "-"], &claim).exits(0);

        let copy = format!("{suite}.json");
        room.run(
            [&["key", "import", "--suite", suite, group, "--from-passphrase-file", "p"][..], &kept, &[&*copy]].concat(),
        )
        .exits(0);
        assert!(
            room.run(["key", "show", "--suite", suite, &copy, "--passphrase-file", "p"])
                .exits(0)
                .out
                .contains("(checked)")
        );
    }
}

/// A proof of possession on BN254: made here as by the crate of the curve, verified alone, in a batch, under its own suite, as the
/// claim of its own key.
#[test]
fn proofs_of_possession_on_bn254() {
    let room = Room::new();
    let secret = |i: u8| Bn254SecretKey::from_entropy(&[i; 48]);
    let key = |i: u8| const_hex::encode(secret(i).public_key_g2().to_bytes());
    let suites = [Bn254Suite::KeccakProofOfPossession, Bn254Suite::Sha256ProofOfPossession];
    for (suite, other) in [(suites[0], suites[1]), (suites[1], suites[0])] {
        let proof = |of: Bn254Suite, i: u8| const_hex::encode(of.prove_possession(&secret(i)).unwrap().to_bytes());
        let one = |key: String, proof: String| {
            let output = room.run(["pop", "verify", "--suite", suite.name(), "--public-key", &key, "--proof", &proof]);
            (output.code, output.out.trim().to_owned())
        };
        assert_eq!(one(key(1), proof(suite, 1)), (0, "valid".to_owned()));
        room.file("secret", &const_hex::encode(*secret(1).to_bytes()));
        let proved = json(&room.run(["pop", "prove", "--suite", suite.name(), "--key", "secret", "--json"]).out);
        assert_eq!((text(&proved["public_key"]), text(&proved["proof"])), (&*key(1), &*proof(suite, 1)));
        let mismatch = (1, "invalid: the signature does not match the keys and messages".to_owned());
        assert_eq!(one(key(2), proof(suite, 1)), mismatch);
        assert_eq!(one(key(1), proof(other, 1)), mismatch);
        let identity = one("00".repeat(128), proof(suite, 1));
        assert_eq!(identity, (1, "invalid: public key in G2: the point is the identity".to_owned()));
        let line = |key: String, proof: String| format!("{{\"public_key\": \"{key}\", \"proof\": \"{proof}\"}}\n");
        room.file("proofs", &(line(key(1), proof(suite, 1)) + &line(key(1), proof(suite, 2))));
        let batch = room.run(["pop", "verify", "--suite", suite.name(), "proofs", "--json"]);
        assert_eq!(batch.code, 1);
        let valid: Vec<_> = batch.out.lines().map(|line| json(line)["valid"] == true).collect();
        assert_eq!(valid, [true, false]);
    }
    // These suites have no such proofs, and the answer names those which have.
    for suite in ["drand-evmnet", "eigenlayer", "chia"] {
        let output = room.run(["pop", "verify", "--suite", suite, "proofs"]);
        assert_failure(&output, 2, &format!("the suite {suite} has no proofs of possession; choose one of "));
        assert!(suites.iter().all(|suite| output.err.contains(suite.name())), "{}", output.err);
    }
    let help = room.run(["pop", "verify", "--help"]).out;
    assert!(suites.iter().all(|suite| help.contains(suite.name())) && help.contains("100 bits"), "{help}");
    let refused = room.run(["pop", "prove", "--suite", "chia", "--key", "key"]);
    assert_failure(&refused, 2, "the suite chia has no proofs of possession");
    assert!(suites.iter().all(|suite| refused.err.contains(suite.name())), "{}", refused.err);
}

/// EIP-2333's test case 0 from its mnemonic, and keys of staking deposits from theirs.
#[test]
fn keys_from_a_mnemonic() {
    let room = Room::new();
    let abandon = "abandon ".repeat(11) + "about\n";
    room.file("words", &abandon);
    room.file("passphrase", "TREZOR\n");
    let derive = ["key", "derive", "--suite", "eth2", "--out", "-"];
    let master = "0d7359d57963ab8fbbde1852dcf553fedbc31f464d80ee7d40ae683122b45070\n";
    let child = "2d18bd6c14e6d15bf8b5085c9b74f3daae3b03cc2014770a599d8c1539e50f8e\n";
    let from_file = [&derive[..], &["--mnemonic-file", "words", "--mnemonic-passphrase-file", "passphrase"]].concat();
    assert_eq!(room.run([&from_file[..], &["--path", "m"]].concat()).out, master);
    assert_eq!(room.run([&from_file[..], &["--path", "m/0"]].concat()).out, child);
    let from_stdin =
        [&derive[..], &["--mnemonic-file", "-", "--mnemonic-passphrase-file", "passphrase", "--path", "m"]];
    assert_eq!(room.run_with(from_stdin.concat(), &abandon).out, master);
    // Without the passphrase it is another tree.
    let plain = room.run([&derive[..], &["--mnemonic-file", "words", "--path", "m"]].concat()).out;
    assert!(plain.len() == master.len() && plain != master);

    room.file("wrong", &abandon.replace("about", "abuot"));
    let wrong = room.run([&derive[..], &["--mnemonic-file", "wrong", "--path", "m"]].concat());
    assert_failure(&wrong, 2, "wrong: word 12 of the mnemonic is not in the word list");
    assert!(!wrong.err.contains("abandon") && !wrong.err.contains("abuot"));
    for (args, reason) in [
        (&["--mnemonic", "abandon", "--path", "m"][..], "unexpected argument"),
        (&["--mnemonic-file", "-", "--mnemonic-passphrase-fd", "0", "--path", "m"], "standard input cannot be both"),
        (&["--seed-file", "words", "--mnemonic-passphrase-file", "passphrase", "--path", "m"], "are for a mnemonic"),
        (&["--seed-file", "words", "--path", "m"], "use `quorate key derive --mnemonic-file`"),
        (&["--seed-file", "words", "--mnemonic-file", "words", "--path", "m"], "cannot be used with"),
        (&["--mnemonic-file", "missing", "--path", "m"], "missing"),
    ] {
        let output = room.run([&derive[..], args].concat());
        assert_ne!(output.code, 0);
        assert!(output.err.contains(reason), "{args:?}: {}", output.err);
    }
}

/// A command that fails writes nothing, and the empty passphrase would be that of another tree.
#[test]
fn an_empty_passphrase_of_a_mnemonic_is_refused() {
    let room = Room::new();
    room.file("words", &("abandon ".repeat(11) + "about\n"));
    let derive = ["key", "derive", "--suite", "eth2", "--mnemonic-file", "words", "--path", "m", "--out", "key"];
    for input in ["", "\n"] {
        let empty = room.run_with([&derive[..], &["--mnemonic-passphrase-fd", "0"]].concat(), input);
        assert_failure(&empty, 2, "the passphrase of the mnemonic is empty; for none leave");
        room.file("empty", input);
        let empty = room.run([&derive[..], &["--mnemonic-passphrase-file", "empty"]].concat());
        assert_failure(&empty, 2, "the passphrase of the mnemonic is empty; for none leave");
    }
    assert!(!room.path("key").exists());
}

/// What a key is made or decrypted with may be the only copy. A key alone may be converted in its place.
#[test]
fn the_output_is_not_the_passphrase_seed_or_mnemonic() {
    let room = Room::new();
    room.file("pass", "p\n");
    room.file("words", &("abandon ".repeat(11) + "about\n"));
    room.file("seed", &"5a".repeat(32));
    room.new_key("eth2", "key");
    fs::hard_link(room.path("pass"), room.path("second name")).unwrap();
    let before = |name: &str| fs::read(room.path(name)).unwrap();
    let files = ["pass", "words", "seed", "key", "second name"];
    let contents = files.map(before);
    let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "pass"];
    let derive = ["derive", "--path", "m"];
    for (arguments, out) in [
        ([&["new"][..], &keystore].concat(), "pass"),
        ([&["new"][..], &keystore].concat(), "second name"),
        (vec!["new", "--ikm-file", "seed"], "seed"),
        ([&derive[..], &["--seed-file", "seed"]].concat(), "seed"),
        ([&derive[..], &["--mnemonic-file", "words"]].concat(), "words"),
        ([&derive[..], &["--mnemonic-file", "words", "--mnemonic-passphrase-file", "pass"]].concat(), "pass"),
        (vec!["derive", "--from", "key", "--path", "0"], "key"),
        ([&["import", "key"][..], &keystore].concat(), "pass"),
        (vec!["import", "key", "--plain", "--from-passphrase-file", "pass"], "pass"),
    ] {
        let output = room.run([&["key"][..], &arguments, &["--suite", "eth2", "--out", out, "--force"]].concat());
        assert_failure(&output, 2, &format!("{out} is also an input, so it is not replaced"));
    }
    assert_eq!(files.map(before), contents);
    let in_place =
        room.run([&["key", "import", "--suite", "eth2", "key", "--out", "key", "--force"][..], &keystore].concat());
    assert_eq!(in_place.code, 0, "{}", in_place.err);
    // The file behind a descriptor.
    let by_descriptor =
        ["key", "new", "--suite", "eth2", "--keystore", "--passphrase-fd", "0", "--out", "pass", "--force"];
    let pass = fs::File::open(room.path("pass")).unwrap();
    let output = Running::start(room.command(by_descriptor).stdin(pass).stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_failure(&output.ends(), 2, "pass is also an input");
    // The list of a key set.
    room.file("keys", "");
    let set = room.run(["key-set", "--suite", "eth2", "keys", "--out", "keys", "--force"]);
    assert_failure(&set, 2, "keys is also an input");
}

/// Lighthouse's deposits, made by the staking deposit client from a published mnemonic.
#[test]
fn deposits_of_a_published_mnemonic() {
    let Some(folder) = vectors::path("05_keys") else { return };
    let folder = folder.join("lighthouse-validator-manager/mainnet_first_0_count_2_eth1_false/validator_keys");
    let file = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let deposits = json(fs::read(file).unwrap());
    let room = Room::new();
    room.file("words", LIGHTHOUSE_MNEMONIC);
    let deposits = deposits.as_array().unwrap();
    assert_eq!(deposits.len(), 2);
    for (i, deposit) in deposits.iter().enumerate() {
        let (path, out) = (format!("m/12381/3600/{i}/0/0"), format!("key{i}"));
        let args = ["key", "derive", "--suite", "eth2", "--mnemonic-file", "words", "--path", &path, "--out", &out];
        assert_eq!(room.run(args).out.trim_end(), format!("0x{}", text(&deposit["pubkey"])));
    }
}

/// The mnemonic of Lighthouse's test vectors of its validator manager.
const LIGHTHOUSE_MNEMONIC: &str = "test test test test test test test test test test test waste";

/// A dash is a standard stream, or nothing.
#[test]
fn nothing_that_is_written_gets_the_name_of_a_dash() {
    let room = Room::new();
    for arguments in [
        &["era", "claims", ".", "--output", "-"][..],
        &["key-set", "--suite", "eth2", "keys", "--out", "-"],
        &["threshold", "split", "--suite", "eth2", "-t", "2", "-n", "3", "--out", "-"],
        &["verify", "--remember", "-"],
        &["evm", "network", "new", "--out", "-"],
    ] {
        let output = room.run(arguments);
        assert_failure(&output, 2, "this names a file and not standard output; give a name");
    }
}

/// What was wrong, where it came from, and what is allowed.
#[test]
fn a_value_that_cannot_be_read_names_where_it_came_from() {
    let room = Room::new();
    for number in ["0", "1025", "18446744073709551615"] {
        let output = room.run(["verify", "--threads", number]);
        let refused = format!("invalid value {number:?} for --threads <N>: expected a number of threads, 1 to 1024");
        assert_failure(&output, 2, &refused);
    }
    for (variable, value, flag, allowed) in [
        ("QUORATE_BACKEND", "bogus", "--backend <NAME>", "portable"),
        ("QUORATE_THREADS", "many", "--threads <N>", "1 to 1024"),
        ("QUORATE_SUITE", "eth3", "--suite <NAME>", "eth2-sync-aggregate"),
    ] {
        let output = room.command(["verify", "-"]).env(variable, value).ran();
        assert_failure(
            &output,
            2,
            &format!("invalid value {value:?} for the environment variable {variable} ({flag}): "),
        );
        assert!(output.err.contains(allowed), "{}", output.err);
    }
}

#[test]
fn wrong_passphrases_and_wrong_flags() {
    let room = Room::new();
    room.file("right", "right\n");
    room.file("wrong", "wrong\n");
    room.file("empty", "\n");
    room.new_key("eth2", "key");
    let import = |flags: &[&str]| room.run([&["key", "import", "--suite", "eth2"][..], flags].concat());
    let cheap = ["key", "--keystore", "--kdf", "pbkdf2", "--out", "key.json", "--passphrase-file"];
    assert_failure(&import(&[&cheap[..], &["empty"]].concat()), 2, "empty");
    assert!(import(&[&cheap[..], &["right"]].concat()).code == 0);

    let sign = ["sign", "--suite", "eth2", "--key", "key.json", "--message", "00"];
    let output = room.run([&sign[..], &["--passphrase-file", "wrong"]].concat());
    assert_failure(&output, 2, "key.json: wrong passphrase or damaged file");
    assert_failure(&room.run([&sign[..], &["--passphrase-file", "absent"]].concat()), 3, "absent");
    let output = room.run([&sign[..], &["--passphrase-file", "-"]].concat());
    assert_failure(&output, 2, "--passphrase-fd 0");
    // A passphrase for a key that has none is for another file.
    let plain = ["sign", "--suite", "eth2", "--key", "key", "--message", "00", "--passphrase-file", "right"];
    assert_failure(&room.run(plain), 2, "key is not encrypted, so it has no passphrase; leave the flag");
    let both = ["--passphrase-file", "right", "--passphrase-fd", "0"];
    assert_failure(&room.run([&sign[..], &both].concat()), 2, "cannot be used with");
    let from_stdin = ["sign", "--suite", "eth2", "--key", "-", "--message", "00", "--passphrase-fd", "0"];
    let keystore = fs::read_to_string(room.path("key.json")).unwrap();
    assert_failure(&room.run_with(from_stdin, &keystore), 2, "both the keystore and its passphrase");
    // What one of the two reads, the other does not have.
    let by_descriptor = ["sign", "--suite", "eth2", "--key", "key.json", "--passphrase-fd", "0"];
    for message in [&["-"][..], &["--message-file", "-"]] {
        let output = room.run_with([&by_descriptor[..], message].concat(), "right\nhello");
        assert_failure(&output, 2, "key.json: standard input cannot be read twice; give the passphrase by a file");
    }
    // Two passphrases come from one descriptor, one a line.
    let opens = ["key.json", "--from-passphrase-fd", "0", "--out", "again.json"];
    let closes = ["--keystore", "--kdf", "pbkdf2", "--passphrase-fd", "0"];
    let both = [&["key", "import", "--suite", "eth2"][..], &opens, &closes].concat();
    assert_eq!(room.run_with(both, "right\nnext\n").code, 0);
    let again = ["sign", "--suite", "eth2", "--key", "again.json", "--message", "00", "--passphrase-fd", "0"];
    assert_eq!(room.run_with(again, "next\n").code, 0);

    assert_failure(
        &import(&["key.json", "--plain", "--out", "x", "--passphrase-file", "right"]),
        2,
        "--from-passphrase",
    );
    assert_failure(&import(&["key.json", "--out", "x"]), 2, "<--keystore|--plain>");
    assert_failure(&import(&["key", "--plain", "--out", "-", "--json"]), 2, "both want standard output");
    assert!(!room.path("x").exists());
    let output = room.run(["key", "show", "--suite", "drand-quicknet", "key.json"]);
    assert_failure(&output, 2, "choose the --suite");

    // Another key's public key.
    let mut forged = json(keystore.as_bytes());
    forged["pubkey"] = Value::from(&room.new_key("eth2", "other")[2..]);
    room.file("forged.json", &forged.to_string());
    let output = room.run(["key", "show", "--suite", "eth2", "--passphrase-file", "right", "forged.json"]);
    assert_failure(&output, 2, "its secret belongs to");
}

/// Derivation that cannot be meant as it is written.
#[test]
fn derivation_is_not_guessed() {
    let room = Room::new();
    room.new_key("eth2", "key");
    room.file("words", "legal winner thank year wave sausage worth useful legal winner thank yellow");
    room.file("short", &"00".repeat(31));
    let derive = |flags: &[&str]| room.run([&["key", "derive", "--suite", "eth2", "--out", "x"][..], flags].concat());
    assert_failure(&derive(&["--from", "key", "--path", "m/0"]), 2, "without 'm'");
    assert_failure(&derive(&["--from", "key", "--path", "0'"]), 2, "hardened");
    assert_failure(&derive(&["--seed-file", "short", "--path", "0/0"]), 2, "begins with 'm'");
    assert_failure(
        &derive(&["--seed-file", "short", "--path", "m/0"]),
        2,
        "short: secret key: the key material has 31 bytes",
    );
    let output = derive(&["--seed-file", "words", "--path", "m/0"]);
    assert_failure(&output, 2, "key derive --mnemonic-file");
    assert!(!output.err.contains("sausage"));
    assert_failure(&derive(&["--path", "m/0"]), 2, "--seed-file");
    let with_passphrase = ["--seed-file", "short", "--path", "m/0", "--from-passphrase-file", "key"];
    assert_failure(&derive(&with_passphrase), 2, "no passphrase");
    assert!(!room.path("x").exists());
}

/// The secret is printed where it was asked for in so many words, and nowhere else; errors do not quote key files.
#[test]
fn secrets_stay_in_their_files() {
    let room = Room::new();
    let public_key = room.new_key("eth2", "key");
    let secret = fs::read_to_string(room.path("key")).unwrap().trim_end().to_owned();
    for args in [
        &["key", "show", "--suite", "eth2", "key"][..],
        &["key", "show", "--suite", "eth2", "--json", "key"],
        &["sign", "--suite", "eth2", "--key", "key", "--message", "00", "--claim"],
        &["pop", "prove", "--suite", "eth2", "--key", "key", "--json"],
        &["key", "import", "--suite", "eth2", "key", "--plain", "--out", "copy", "--json"],
        // Nothing to look for in a key file but what it holds.
        &["aggregate", "--suite", "eth2", "key"],
        &["pop", "verify", "--suite", "eth2", "key"],
    ] {
        let output = room.run(args);
        assert!(!output.out.contains(&secret) && !output.err.contains(&secret), "{args:?}");
    }
    let output = room.run(["key", "show", "--suite", "eth2", "--reveal-secret", "key"]);
    assert!(output.out.contains(&secret));
    let output = room.run(["key", "import", "--suite", "eth2", "key", "--plain", "--out", "-"]);
    assert_eq!(output.out, format!("{secret}\n"));
    assert!(output.err.contains(&public_key));

    room.file("bad", &format!("{secret}zz"));
    let output = room.run(["key", "show", "--suite", "eth2", "bad"]);
    assert_failure(&output, 2, "the key file is other text, expected 64 hexadecimal digits");
    assert!(!output.err.contains(&secret[..16]));
}

// ---- The program as such ----

/// 0, 1, 2 and 3. (4 is tested where a check can be made to fail; 130 needs a terminal.)
#[test]
fn exit_codes() {
    let room = Room::new();
    let key = room.new_key("eth2", "key");
    let code = |args: &[&str]| room.run(args).code;
    assert_eq!(code(&["key", "show", "--suite", "eth2", "key"]), 0);
    assert_eq!(code(&["pop", "verify", "--suite", "eth2", "--public-key", &key, "--proof", WHOLE]), 1);
    for usage in [
        &["key", "show", "key"][..],
        &["key", "show", "--suite", "eth3", "key"],
        &["key", "new", "--suite", "eth2"],
        &["sign", "--suite", "eth2", "--key", "key", "--message", "0"],
        &["no-such-command"],
        &["man", "no-such-command"],
        &[],
    ] {
        assert_eq!(code(usage), 2, "{usage:?}");
    }
    assert_eq!(code(&["key", "show", "--suite", "eth2", "absent"]), 3);
    assert_eq!(code(&["sign", "--suite", "eth2", "--key", "key", "--message-file", "absent"]), 3);
}

/// Files of services and of containers set a variable to nothing to unset it.
#[test]
fn an_empty_variable_is_unset() {
    let room = Room::new();
    room.new_key("eth2", "key");
    let run = |args: &[&str]| {
        let mut command = room.command(args);
        command.envs(["QUORATE_SUITE", "QUORATE_THREADS", "QUORATE_BACKEND"].map(|name| (name, "")));
        command.ran()
    };
    assert_eq!(run(&["key", "show", "--suite", "eth2", "key"]).code, 0);
    assert_failure(&run(&["key", "show", "key"]), 2, "--suite");
    room.file("claims", &run(&["sign", "--suite", "eth2", "--key", "key", "--message", "00", "--claim"]).out);
    let ran = run(&["verify", "--suite", "eth2", "claims"]);
    assert_eq!((ran.code, ran.err.contains("--suite eth2 was not needed")), (0, true), "{}", ran.err);
    assert_eq!(run(&["verify", "claims"]).code, 0);
}

#[test]
fn the_suite_may_come_from_the_environment() {
    let room = Room::new();
    room.new_key("eth2", "key");
    let output = room.command(["key", "show", "key"]).env("QUORATE_SUITE", "eth2").ran();
    assert!(output.out.contains("0x"));
    let output = room.command(["key", "show", "key"]).env("QUORATE_SUITE", "eth").ran();
    assert_failure(&output, 2, "drand-quicknet");
}

#[test]
fn selftest() {
    let room = Room::new();
    let output = room.run(["selftest"]);
    assert_eq!(output.code, 0);
    assert!(output.out.lines().count() > 10 && output.out.lines().all(|line| line.starts_with("ok ")));
    let report = json(&room.run(["selftest", "--json"]).out);
    assert_eq!(report["ok"], true);
    assert_eq!(report["checks"].as_array().unwrap().len(), output.out.lines().count());
}

/// Every command's help begins with examples, and fits 80 columns.
#[test]
fn help_begins_with_examples_and_fits() {
    let room = Room::new();
    for command in commands() {
        for flag in ["-h", "--help"] {
            let output = room.run([&command.split_whitespace().collect::<Vec<_>>()[..], &[flag]].concat());
            let help = output.out;
            assert!(flag == "-h" || help.starts_with("Examples:\n  "), "{command}\n{help}");
            assert!(flag == "-h" || help.lines().nth(1).unwrap().contains("quorate "), "{command}");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "quorate {command} {flag}: {line}");
            }
        }
    }
}

/// All suites are named where one is asked for; keys are derived on BLS12-381 alone.
#[test]
fn help_names_every_suite() {
    let room = Room::new();
    for command in
        [&["sign", "--help"][..], &["key", "new", "--help"], &["aggregate", "-h"], &["key", "derive", "--help"]]
    {
        let help = room.run(command).out;
        for suite in AnySuite::all() {
            let known = !command.contains(&"derive") || !matches!(suite, AnySuite::Bn254(_));
            assert_eq!(help.contains(suite.name()), known, "{command:?} {suite}");
        }
    }
}

#[test]
fn completions_and_man_pages() {
    let room = Room::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = room.run(["completions", shell]).out;
        assert!(script.contains("drand-quicknet") && script.contains("reveal-secret"), "{shell}");
    }
    // The values of `quorate verify`.
    let script = room.run(["completions", "bash"]).out;
    for values in
        ["jsonl parquet drand light-client", "default quicknet evmnet fastnet", "eth2 eth2-sync-aggregate chia"]
    {
        assert!(script.contains(&format!("compgen -W \"{values}")), "{values}");
    }
    for command in commands() {
        let page = room.run([&["man"][..], &command.split_whitespace().collect::<Vec<_>>()].concat()).out;
        let name = ["quorate", command.as_str()].join(" ").trim_end().replace(' ', "-");
        assert!(page.contains(&format!(".TH {name} 1")), "{name}\n{page}");
        assert!(page.contains(".SH EXAMPLES\n.nf\n\\&  quorate "), "{name}");
    }
}

/// `quorate … | head -0`: nobody reads, nobody is told.
#[test]
fn a_closed_pipe_ends_quietly() {
    let room = Room::new();
    room.new_key("eth2", "key");
    for args in [
        &["key", "show", "--suite", "eth2", "key"][..],
        &["sign", "--suite", "eth2", "--key", "key", "--message", &"00".repeat(32)],
        &["completions", "bash"],
        &["man"],
        &["selftest"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Running::start(room.command(args).stdout(writer).stderr(Stdio::piped())).ends();
        assert_eq!(output.err, "", "{args:?}");
        assert_eq!(output.code, 3, "{args:?}");
    }
}

/// Whoever writes a page of the help into a file must not take half of it for the whole.
#[cfg(target_os = "linux")]
#[test]
fn help_into_a_full_device_ends_with_3() {
    let room = Room::new();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for args in
        [&["--help"][..], &["--version"], &["key", "new", "-h"], &["help", "key"], &["man"], &["completions", "bash"]]
    {
        let output = Running::start(room.command(args).stdout(full()).stderr(Stdio::piped())).ends();
        assert_failure(&output, 3, "cannot write to standard output: No space left");
        assert_eq!(room.run(args).code, 0, "{args:?}");
    }
    // An error goes to the other stream, and stays one of usage.
    let output = Running::start(room.command(["key", "new"]).stdout(full()).stderr(Stdio::piped())).ends();
    assert_failure(&output, 2, "--suite");
}

/// A full disk is trouble, and said.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let room = Room::new();
    room.new_key("eth2", "key");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        Running::start(room.command(["key", "show", "--suite", "eth2", "key"]).stdout(full).stderr(Stdio::piped()))
            .ends();
    assert_failure(&output, 3, "cannot write to standard output: No space left");
}

// ---- What the tests share ----

/// A folder that the program runs in.
struct Room(TempDir);

impl Room {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file for its owner alone, so that nothing warns of it.
    fn file(&self, name: &str, contents: &str) {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    /// A new key in a file; its public key.
    fn new_key(&self, suite: &str, file: &str) -> String {
        let output = self.run(["key", "new", "--suite", suite, "--out", file]);
        assert_eq!(output.code, 0, "{}", output.err);
        output.out.trim_end().to_owned()
    }

    fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = command("quorate");
        command.args(args).current_dir(self.0.path());
        command
    }

    fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        self.command(args).ran()
    }

    fn run_with(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>, input: &str) -> Ran {
        self.command(args).ran_with(input)
    }
}

/// It ended with the code, said why on standard error alone, and printed nothing.
#[track_caller]
fn assert_failure(output: &Ran, code: i32, reason: &str) {
    assert!(output.err.contains(reason), "{}", output.err);
    assert_eq!(output.code, code, "{}", output.err);
    assert_eq!(output.out, "");
}

#[track_caller]
fn json(bytes: impl AsRef<[u8]>) -> Value {
    serde_json::from_slice(bytes.as_ref()).unwrap()
}

/// The words of every command behind the name of the program, of commands that have others, too.
fn commands() -> Vec<String> {
    fn walk(command: &clap::Command, words: &str, found: &mut Vec<String>) {
        found.push(words.to_owned());
        for below in command.get_subcommands() {
            walk(below, format!("{words} {}", below.get_name()).trim_start(), found);
        }
    }
    let mut found = Vec::new();
    walk(&Cli::command(), "", &mut found);
    assert!(found.len() > 70, "{found:?}");
    found
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    const_hex::decode(hex).unwrap()
}

const PARTS: [&str; 3] = [
    "0x91347bccf740d859038fcdcaf233eeceb2a436bcaaee9b2aa3bfb70efe29dfb2677562ccbea1c8e061fb9971b0753c24\
     0622fab78489ce96768259fc01360346da5b9f579e5da0d941e4c6ba18a0e64906082375394f337fa1af2b7127b0d121",
    "0x9674e2228034527f4c083206032b020310face156d4a4685e2fcaec2f6f3665aa635d90347b6ce124eb879266b1e801d\
     185de36a0a289b85e9039662634f2eea1e02e670bc7ab849d006a70b2f93b84597558a05b879c8d445f387a5d5b653df",
    "0xae82747ddeefe4fd64cf9cedb9b04ae3e8a43420cd255e3c7cd06a8d88b7c7f8638543719981c5d16fa3527c468c25f0\
     026704a6951bde891360c7e8d12ddee0559004ccdbe6046b55bae1b257ee97f7cdb955773d7cf29adf3ccbb9975e4eb9",
];
const WHOLE: &str = "0x9712c3edd73a209c742b8250759db12549b3eaf43b5ca61376d9f30e2747dbcf842d8b2ac0901d2a093713e20284a767\
                     0fcf6954e9ab93de991bb9b313e664785a075fc285806fa5224c82bde146561b446ccfc706a64b8579513cfc4ff1d930";
