//! `quorate threshold` as a person runs it: the built binary, keys that are split, shares that are true and false.
//!
//! Long because each command is run with every kind of trouble, and they share one way to run the program.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use quorate::{MinPk, SecretKey, Suite};
use quorate_curve::Scalar;
use quorate_lab::{
    run::{LIMIT, Ran, Run as _, Running, Signal, command, command_after},
    vectors,
};
use serde_json::{Value, json};
use tempfile::TempDir;

// ---- Known answers ----

/// SSV's committees, whose shares, signature shares and signatures were computed by other software.
#[test]
fn ssv_committees_sign() {
    let Some(folder) = vectors::path("08_threshold") else { return };
    let mut signed = 0;
    for name in ["ssv_4of.json", "ssv_7_10_13.json"] {
        for set in read_json(&folder.join(name))["sets"].as_array().unwrap() {
            let (t, n) = (set["threshold"].as_u64().unwrap(), set["n"].as_u64().unwrap());
            for derived in set["derived"].as_array().into_iter().flatten() {
                let (suite, message) = (text(&derived["dst"]), text(&derived["message"]));
                let message = if message.is_empty() { "0x" } else { message };
                let room = Room::new();
                room.write_json("shared-key.json", &shared_key_of(suite, t, n, &set["shares"]));
                // The last participants, the last first.
                let lines: String = (n - t + 1..=n)
                    .rev()
                    .map(|index| {
                        let at = index.to_string();
                        room.write_json(
                            "share.json",
                            &json!({
                                "suite": suite,
                                "index": index,
                                "public_key": set["validator_pk"],
                                "verification_key": set["share_pks"][&at],
                                "secret": set["shares"][&at],
                            }),
                        );
                        let checked = room.run([
                            "threshold",
                            "verify-share",
                            "--shared-key",
                            "shared-key.json",
                            "--share",
                            "share.json",
                        ]);
                        assert_eq!(checked.out, format!("participant {index}: valid\n"), "{}", checked.err);
                        let line = room.sign("share.json", message).out;
                        assert_eq!(json_of(&line)["signature"], derived["partial_signatures"][&at]);
                        line
                    })
                    .collect();
                let claim = json_of(&room.combine(&lines, &[]).out);
                assert_eq!(claim["signature"], derived["group_signature"]);
                assert_eq!(claim["public_key"], set["validator_pk"]);
                signed += 1;
            }
        }
    }
    println!("{signed} signatures");
    assert!(signed > 0);
}

/// The shared key of a committee whose shares are known: the coefficients of the polynomial through the first t shares.
fn shared_key_of(suite: &str, t: u64, n: u64, shares: &Value) -> Value {
    let share = |i: u64| Scalar::from_bytes(&bytes(text(&shares[i.to_string()])).try_into().unwrap()).unwrap();
    let mut coefficients = vec![Scalar::ZERO; t as usize];
    for i in 1..=t {
        // share(i) · prod (X - j)/(i - j)
        let mut basis = vec![share(i)];
        for j in (1..=t).filter(|j| *j != i) {
            let scale = (Scalar::from(i) - Scalar::from(j)).inverse().unwrap();
            let mut next = vec![Scalar::ZERO; basis.len() + 1];
            for (degree, coefficient) in basis.iter().enumerate() {
                next[degree + 1] = next[degree + 1] + *coefficient * scale;
                next[degree] = next[degree] - *coefficient * scale * Scalar::from(j);
            }
            basis = next;
        }
        for (sum, coefficient) in coefficients.iter_mut().zip(basis) {
            *sum = *sum + coefficient;
        }
    }
    let point = |c: &Scalar| SecretKey::<MinPk>::from_bytes(&c.to_bytes()).unwrap().public_key().to_bytes();
    let points: Vec<_> = coefficients.iter().map(|c| const_hex::encode(point(c))).collect();
    json!({
        "suite": suite, "threshold": t, "participants": n, "identifiers": "integers",
        "public_key": points[0], "commitment": points,
    })
}

// ---- Round trips ----

/// Any t of n make the signature that the whole key makes: both variants, both kinds of points.
#[test]
fn any_threshold_of_shares_sign_as_the_key_does() {
    for suite in [MinPk::Eth2.name(), "drand-g1-legacy"] {
        for identifiers in ["integers", "roots-of-unity"] {
            for (t, n) in [(2, 2), (2, 3), (3, 5)] {
                let room = Room::new();
                let key = room.run(["key", "new", "--suite", suite, "--out", "key"]).out;
                let split = room.split(suite, t, n, &["--identifiers", identifiers, "--key", "key"]);
                assert_eq!(split.out, key, "{}", split.err);
                let message = "5a".repeat(32);
                let sign = ["sign", "--suite", suite, "--key", "key", "--message", &message, "--claim"];
                let whole = room.run(sign).out;
                let lines: Vec<_> = (1..=n).map(|i| room.sign(&share(i), &message).out).collect();
                for skipped in 0..=n - t {
                    let chosen: String = lines[skipped..][..t].iter().rev().map(String::as_str).collect();
                    assert_eq!(room.combine(&chosen, &[]).out, whole, "{t} of {n}, {identifiers}");
                    let fewer: String = lines[skipped..][..t - 1].concat();
                    let refused = room.combine(&fewer, &[]);
                    assert_failure(&refused, 1, &format!("{t} shares are needed, and {} of ", t - 1));
                }
                assert_eq!(room.run_with(["verify", "--verdicts", "-"], &whole).out.matches("true").count(), 1);
            }
        }
    }
}

#[test]
fn a_new_key_is_split_and_described() {
    let room = Room::new();
    let split = json_of(&room.split("drand-quicknet", 2, 3, &["--json"]).out);
    assert_eq!((&split["threshold"], &split["participants"]), (&json!(2), &json!(3)));
    assert_eq!((text(&split["identifiers"]), text(&split["folder"])), ("integers", "shares"));
    let shared = read_json(&room.path("shares/shared-key.json"));
    assert_eq!((text(&shared["suite"]), &shared["public_key"]), ("drand-quicknet", &split["public_key"]));
    assert_eq!(room.names("shares"), ["share-1.json", "share-2.json", "share-3.json", "shared-key.json"]);
    for i in 1..=3 {
        assert_eq!(room.verify_key_share(&share(i)).out, format!("participant {i}: valid\n"));
    }
}

/// A keystore is split into keystores, which sign with their passphrase alone.
#[test]
fn passphrases_protect_the_key_and_the_shares() {
    let room = Room::new();
    room.file("old", "correct horse\n");
    room.file("new", "battery staple\n");
    let cheap = ["--keystore", "--kdf", "pbkdf2"];
    let new = ["key", "new", "--suite", "eth2", "--passphrase-file", "old", "--out", "key.json"];
    let key = room.run([&new[..], &cheap].concat()).out;
    let from = ["--key", "key.json", "--from-passphrase-file", "old", "--passphrase-file", "new"];
    let split = room.split("eth2", 2, 2, &[&from[..], &cheap].concat());
    assert_eq!(split.out, key, "{}", split.err);
    let stored = read_json(&room.path("shares/share-1.json"));
    assert_eq!(stored["keystore"]["pubkey"], stored["verification_key"]);
    assert!(stored.get("secret").is_none());

    let sign = |i: usize, passphrase: &[&str]| {
        let file = share(i);
        let sign = ["threshold", "sign", "--share", &file, "--message", "00"];
        room.run_with([&sign[..], passphrase].concat(), "battery staple\n")
    };
    let lines = [sign(1, &["--passphrase-file", "new"]), sign(2, &["--passphrase-fd", "0"])].map(|o| o.out);
    assert_eq!(room.combine(&lines.concat(), &[]).code, 0);
    assert_failure(&sign(1, &["--passphrase-file", "old"]), 2, "share-1.json: wrong passphrase or damaged file");
    let verify = ["threshold", "verify-share", "--shared-key", "shares/shared-key.json", "--passphrase-file", "new"];
    assert_eq!(room.run([&verify[..], &["--share", &share(2)]].concat()).out, "participant 2: valid\n");

    // Passphrases without what they are for.
    assert_failure(&room.run_with(verify, ""), 2, "--share");
    let other = |flags: &[&str]| room.run([&SPLIT[..], &["-t", "2", "-n", "2", "--out", "other"], flags].concat());
    assert_failure(&other(&["--passphrase-file", "new"]), 2, "they need --keystore");
    assert_failure(&other(&["--from-passphrase-file", "new"]), 2, "are for the key of --key");
    room.file("empty", "\n");
    assert_failure(&other(&["--keystore", "--passphrase-file", "empty"]), 2, "passphrase is empty");
    assert!(!room.path("other").exists());
    let both = ["threshold", "sign", "--share", "-", "--message", "00", "--passphrase-fd", "0"];
    let keystore = fs::read_to_string(room.path(&share(1))).unwrap();
    assert_failure(&room.run_with(both, &keystore), 2, "both the share and its passphrase");
}

// ---- Splitting: bad input ----

/// Thresholds and numbers of participants that make no sense. Nothing is written.
#[test]
fn thresholds_that_make_no_sense_are_refused() {
    let room = Room::new();
    for (t, n, reason) in [
        ("0", "5", "the threshold is 0, and it must be at least 1"),
        ("0", "0", "the threshold is 0"),
        ("1", "5", "every share would be the whole key"),
        ("1", "1", "every share would be the whole key"),
        ("2", "1", "the threshold is 2, and there are only 1 participants"),
        ("6", "5", "the threshold is 6, and there are only 5 participants"),
        ("2", "16777217", "16777217 participants are more than"),
        ("-1", "5", "'-1'"),
        ("2", "4294967298", "more than"),
        ("2", "18446744073709551617", "'18446744073709551617'"),
    ] {
        let threshold = format!("--threshold={t}");
        let args = ["threshold", "split", "--suite", "eth2", &threshold, "--participants", n, "--out", "shares"];
        assert_failure(&room.run(args), 2, reason);
    }
    assert!(room.names("").is_empty());
}

/// Each participant would sign its own key with the message.
#[test]
fn augmented_suites_are_refused() {
    let room = Room::new();
    assert_failure(&room.split("chia", 2, 3, &[]), 2, "shares cannot be combined");
    assert!(room.names("").is_empty());
    room.split("eth2", 2, 3, &[]);
    room.change("shares/share-1.json", "suite", json!("chia"));
    assert_failure(&room.sign(&share(1), "00"), 2, "share-1.json: the suite chia signs the signer's key");
    room.change("shares/shared-key.json", "suite", json!("chia"));
    assert_failure(&room.combine("", &[]), 2, "shared-key.json: the suite chia");
    assert_failure(&room.split("drand-evmnet", 2, 3, &[]), 2, "BN254");
}

#[test]
fn existing_files_stay() {
    let room = Room::new();
    room.split("eth2", 2, 2, &[]);
    let before = fs::read(room.path("shares/share-1.json")).unwrap();
    room.file("file", "mine");
    fs::create_dir(room.path("empty")).unwrap();
    for taken in ["shares", "shares/", "file"] {
        let output = room.run([&SPLIT[..], &["-t", "2", "-n", "3", "--out", taken]].concat());
        assert_failure(&output, 2, "exists already and is left as it is");
    }
    assert_eq!(fs::read(room.path("shares/share-1.json")).unwrap(), before);
    assert_eq!(fs::read(room.path("file")).unwrap(), b"mine");
    assert_failure(&room.run([&SPLIT[..], &["-t", "2", "-n", "3", "--out", "."]].concat()), 2, "new folder");
    assert_failure(&room.run([&SPLIT[..], &["-t", "2", "-n", "3", "--out", "no/such"]].concat()), 3, "no/such");
    let output = room.run([&SPLIT[..], &["-t", "2", "-n", "3", "--out", "empty"]].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(room.names("empty").len(), 4);
    assert_eq!(room.names(""), ["empty", "file", "shares"]);
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let room = Room::new();
    room.split("eth2", 2, 2, &[]);
    let mode = |name: &str| fs::metadata(room.path(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(["shares", "shares/share-1.json", "shares/share-2.json"].map(mode), [0o700, 0o600, 0o600]);
    assert_ne!(mode("shares/shared-key.json") & 0o400, 0);
    // Others can read it: that is told.
    fs::set_permissions(room.path(&share(1)), fs::Permissions::from_mode(0o644)).unwrap();
    let output = room.sign(&share(1), "00");
    assert!(output.err.contains("chmod 600 shares/share-1.json"), "{}", output.err);
    assert_eq!(output.code, 0);
}

/// A disk that is full before the last file is whole: nothing is left, and it is told.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_shares() {
    let room = Room::new();
    // Files may have one block of 512 or 1,024 bytes. The shares fit, and the shared key does not.
    let mut command = command_after("trap '' XFSZ; ulimit -f 1", "quorate");
    let split = ["threshold", "split", "--suite", "eth2", "-t", "30", "-n", "31", "--out", "shares"];
    let output = command.args(split).current_dir(room.path("")).ran();
    assert_failure(&output, 3, "shared-key.json");
    assert!(room.names("").is_empty(), "{:?}", room.names(""));
}

/// Stopped while the files are written: nothing of the shares is left, and the next run makes the folder whole.
#[cfg(unix)]
#[test]
fn an_interrupted_split_leaves_no_folder() {
    let room = Room::new();
    room.file("passphrase", "p\n");
    let args = ["-t", "2", "-n", "500", "--keystore", "--passphrase-file", "passphrase", "--out", "shares"];
    let mut command = room.command([&SPLIT[..], &args].concat());
    let mut run = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    // The first share is written.
    let written = || {
        let hidden = room.names("").into_iter().find(|name| name.starts_with(".shares."));
        hidden.is_some_and(|name| room.names(&name).contains(&"share-1.json".to_owned()))
    };
    let begun = Instant::now();
    while !written() {
        let waits = run.runs() && begun.elapsed() < LIMIT;
        assert!(waits, "the first share is not written, or all of them are");
        thread::sleep(Duration::from_millis(5));
    }
    // As Ctrl-C does, but a program that was started in the background ignores that.
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), 130);
    assert_eq!(room.names(""), ["passphrase"]);
    assert_eq!(room.split("eth2", 2, 3, &[]).code, 0);
    assert_eq!(room.names("shares").len(), 4);
}

// ---- Signing: bad input ----

#[test]
fn share_files_that_are_none_are_refused() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    let whole = fs::read_to_string(room.path(&share(1))).unwrap();
    for (content, reason) in [
        (String::new(), "expected the share of a key"),
        (whole[..whole.len() / 2].to_owned(), "expected the share of a key"),
        (whole.repeat(2), "line 8, column 1 cannot be read"),
        ("[]".to_owned(), "expected the share of a key"),
        ("00".repeat(32), "expected the share of a key"),
        (whole.replace("\"index\": 1", "\"index\": 0"), "\"index\": found 0"),
        (whole.replace("\"index\": 1", "\"index\": 18446744073709551617"), "line 3"),
        (whole.replace("\"index\": 1", "\"index\": 1, \"index\": 2"), "line 3"),
        (whole.replace("\"suite\"", "\"suit\""), "line 2"),
        (whole.replace("eth2", "eth3"), "there is no suite \"eth3\""),
        (whole.replace("eth2", "drand-quicknet"), "found 48 bytes, expected 96"),
        (whole.replace("eth2", "eigenlayer"), "BN254"),
        (whole.replace("\"secret\"", "\"keystore\""), "keystore"),
    ] {
        room.file("share", &content);
        let output = room.sign("share", "00");
        assert_failure(&output, 2, reason);
        assert!(output.err.contains("share: "), "{}", output.err);
    }
    // The secret of another share, zero, and one that is not below the order.
    let other = read_json(&room.path(&share(2)));
    for (secret, reason) in [
        (other["secret"].clone(), "but its secret belongs to"),
        (json!("00".repeat(32)), "not a secret key"),
        (json!("ff".repeat(32)), "not a secret key"),
    ] {
        room.file("share", &whole);
        room.change("share", "secret", secret);
        let output = room.sign("share", "00");
        assert_failure(&output, 2, reason);
        assert!(!output.err.contains(text(&other["secret"])));
    }
    // A share is not a key, and a key is not a share.
    assert_failure(&room.run(["sign", "--suite", "eth2", "--key", &share(1), "--message", "00"]), 2, "neither");
    assert_failure(&room.sign("absent", "00"), 3, "absent");
}

#[test]
fn a_message_comes_from_one_of_three_places() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    room.file("message", "hello\n");
    let share = share(1);
    let sign = ["threshold", "sign", "--share", &share];
    let lines = [
        room.run([&sign[..], &["--message", "68656C6C6F0a"]].concat()),
        room.run([&sign[..], &["--message-file", "message"]].concat()),
        room.run_with([&sign[..], &["-"]].concat(), "hello\n"),
        room.run_with(["threshold", "sign", "--share", "-", "--message-file", "message"], &room.read(&share)),
    ]
    .map(|output| output.out);
    assert!(lines.iter().all(|line| *line == lines[0]) && lines[0].ends_with("\n"), "{lines:?}");
    assert_failure(&room.run(sign), 2, "--message");
    assert_failure(&room.run([&sign[..], &["--message", "hello"]].concat()), 2, "--message-file");
    assert_failure(&room.run(["threshold", "sign", "--share", "-", "-"]), 2, "both the share and the message");
}

// ---- Combining and verifying: bad input ----

/// Every way in which a line is not a true share: told with its file and line, and the others make the signature.
#[test]
fn false_shares_are_named_and_the_rest_go_on() {
    let room = Room::new();
    room.split("eth2", 3, 6, &[]);
    let line = |i: usize| json_of(&room.sign(&share(i), "ab").out);
    let with = |mut line: Value, field: &str, value: Value| {
        line[field] = value;
        line
    };
    let elsewhere = Room::new();
    elsewhere.split("eth2", 2, 3, &[]);
    let bad = [
        with(line(1), "signature", line(2)["signature"].clone()),
        with(line(2), "signature", json!("00")),
        with(line(2), "index", json!(0)),
        with(line(2), "index", json!(7)),
        with(line(2), "index", json!((1_u64 << 32) + 2)),
        with(line(2), "index", json!(-1)),
        with(line(2), "message", json!("cd")),
        with(line(2), "suite", json!("chia")),
        json_of(&elsewhere.sign(&share(2), "ab").out),
        with(line(2), "public_key", Value::Null),
        with(line(2), "signature", json!("zz")),
    ];
    let whole = line(2).to_string();
    let mut first: String = bad.iter().map(|line| format!("{line}\n")).collect();
    first += &format!("{}\n{whole}{whole}\n[]\n\n", &whole[..whole.len() / 2]);
    room.file("first", &first);
    // Twice the same is told. The true share of participant 1 is not shadowed by the false one.
    let rest = [line(2), line(2), line(3), line(1), line(4)];
    room.file("second", &rest.iter().map(|line| format!("{line}\n")).collect::<String>());

    let combine = ["threshold", "combine", "--shared-key", "shares/shared-key.json"];
    let output = room.run([&combine[..], &["first", "second"]].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    let claim = json_of(&output.out);
    assert_eq!((text(&claim["suite"]), text(&claim["message"])), ("eth2", "0xab"));
    assert_eq!(room.run_with(["verify", "--verdicts", "-"], &claim.to_string()).out.matches("true").count(), 1);
    for (number, reason) in [
        (1, "the share of participant 1 is false: "),
        (2, "the share of participant 2: "),
        (3, "\"index\": there is no participant 0: participants are 1 to 6"),
        (4, "\"index\": there is no participant 7"),
        (5, "\"index\": there is no participant 4294967298"),
        (6, "\"index\": "),
        (7, "the share of participant 2 is of another message, `0xcd`, and does not count"),
        (8, "\"suite\": found \"chia\", expected eth2"),
        (9, "\"public_key\": the share is of another key than --shared-key"),
        (10, "\"public_key\" is missing"),
        (11, "\"signature\": found 'z' at digit 1"),
        (12, "the object does not end"),
        (13, "expected a JSON object"),
        (14, "found a list, expected a JSON object"),
    ] {
        let expected = format!("first, line {number}: {reason}");
        assert!(output.err.contains(&expected), "{expected}\n{}", output.err);
    }
    let twice = "second, line 2: the share of participant 2 is there already";
    assert!(output.err.contains(twice), "{}", output.err);

    // Verdicts of the same lines, and of lines that are one.
    let verify = ["threshold", "verify-share", "--shared-key", "shares/shared-key.json"];
    let verdicts = room.run([&verify[..], &["first", "second"]].concat());
    assert_eq!(verdicts.code, 2);
    let lines: Vec<_> = verdicts.out.lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("first, line 1: participant 1: invalid: "), "{lines:?}");
    assert!(lines[1].starts_with("first, line 2: participant 2: invalid: "), "{lines:?}");
    // A share of another message is a true share of that message, or a false one.
    assert!(lines[2].starts_with("first, line 7: participant 2: invalid: "), "{lines:?}");
    assert_eq!(lines[3], "second, line 1: participant 2: valid");
    assert_eq!(lines.len(), 8);
    assert!(verdicts.err.contains("19 shares: 5 valid, 3 invalid, 11 unreadable"), "{}", verdicts.err);
}

/// A key whose polynomial is zero at participant 1, as a dealer who speaks last in a ceremony can make it: the others sign, and
/// nothing is a share of participant 1.
#[test]
fn a_participant_without_a_share_stops_nobody() {
    let room = Room::new();
    // φ(X) = 7·(X - 1)
    let digits = |scalar: u64| format!("{scalar:064x}");
    let shares: Value = (1..=4_u64).map(|i| (i.to_string(), json!(digits(7 * (i - 1))))).collect();
    let key = shared_key_of("eth2", 2, 4, &shares);
    room.write_json("shared-key.json", &key);
    let line = |i: u64| {
        let secret = SecretKey::<MinPk>::from_bytes(&Scalar::from(7 * (i - 1)).to_bytes()).unwrap();
        let verification_key = const_hex::encode(secret.public_key().to_bytes());
        let (public_key, secret) = (&key["public_key"], &shares[i.to_string()]);
        room.write_json("share.json", &json!({
            "suite": "eth2", "index": i, "public_key": public_key, "verification_key": verification_key, "secret": secret,
        }));
        room.sign("share.json", "ab").out
    };
    let [two, three, four] = [2, 3, 4].map(line);
    let signature = room.combine(&format!("{two}{three}"), &[]).out;
    assert_eq!(room.run_with(["verify", "--verdicts", "-"], &signature).out.matches("true").count(), 1);
    assert_eq!(room.combine(&format!("{four}{two}"), &[]).out, signature);
    // The share that everybody knows, and one of another participant.
    let as_one = |line: &str| {
        let mut line = json_of(line);
        line["index"] = json!(1);
        line
    };
    let mut zero = as_one(&two);
    zero["signature"] = json!(format!("0xc0{}", "00".repeat(95)));
    let lies = format!("{zero}\n{}\n", as_one(&two));
    let output = room.combine(&format!("{lies}{three}{four}"), &[]);
    assert_eq!(output.out, signature, "{}", output.err);
    for number in [1, 2] {
        let told =
            format!("line {number}: participant 1 has no share of the key: its verification key is the identity");
        assert!(output.err.contains(&told), "{}", output.err);
    }
    let output = room.combine(&format!("{lies}{three}"), &[]);
    assert_failure(&output, 1, "no signature: 2 shares are needed, and 1 of 3 lines can be used");
    let verdicts = room.run_with(
        ["threshold", "verify-share", "--shared-key", "shared-key.json"],
        &format!("{zero}\n{three}{}\n", as_one(&four)),
    );
    assert_eq!(verdicts.code, 1, "{}", verdicts.err);
    let lines: Vec<_> = verdicts.out.lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("1: participant 1: invalid: "), "{lines:?}");
    assert_eq!(lines[1], "2: participant 3: valid");
    assert!(lines[2].starts_with("3: participant 1: invalid: "), "{lines:?}");
}

/// One false share too many: no signature, and the exit code says why.
#[test]
fn too_few_true_shares_make_no_signature() {
    let room = Room::new();
    room.split("eth2", 3, 4, &["--identifiers", "roots-of-unity"]);
    let line = |i: usize| room.sign(&share(i), "ab").out;
    // The shares of one participant do not count twice, however often they are there, and under whatever number.
    let thrice = line(1).repeat(3);
    assert_failure(&room.combine(&thrice, &[]), 1, "3 shares are needed, and 1 of 3 lines can be used");
    let forged = line(1) + &line(2) + &line(2).replace("\"index\":2", "\"index\":3");
    let output = room.combine(&forged, &[]);
    assert_failure(&output, 1, "standard input, line 3: the share of participant 3 is false");
    // Two different false shares of one participant are both named.
    let forged = line(2).replace("\"index\":2", "\"index\":3") + &line(1).replace("\"index\":1", "\"index\":3");
    let output = room.combine(&forged, &[]);
    assert_failure(&output, 1, "0 of 2 lines can be used");
    for number in [1, 2] {
        let named = format!("line {number}: the share of participant 3 is false");
        assert!(output.err.contains(&named), "{}", output.err);
    }
    assert_failure(&room.combine(&(line(1) + "nonsense\n"), &[]), 2, "line 2: ");
    assert_failure(&room.combine("", &[]), 2, "nothing to combine");
    assert_failure(&room.combine("\n\n", &[]), 2, "nothing to combine");
}

/// A liar's message that comes first, or on most lines, stops nobody. The message counts of which enough shares are true.
#[test]
fn the_message_is_the_one_that_enough_participants_signed() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    let line = |i: usize, message: &str| room.sign(&share(i), message).out;
    let signed = line(1, "ab") + &line(2, "ab");
    let message = |output: &Ran| json_of(&output.out)["message"].clone();
    let first = room.combine(&(line(3, "ff") + &signed), &[]);
    assert_eq!((first.code, message(&first)), (0, json!("0xab")), "{}", first.err);
    let told = "standard input, line 1: the share of participant 3 is of another message, `0xff`, and does not count";
    assert!(first.err.contains(told), "{}", first.err);
    let told = "the message is 0xab: enough shares of it are true. Not counted: 1 line about 1 other message;";
    assert!(first.err.contains(told), "{}", first.err);
    // As many lines as the liar likes, under all numbers: none but its own share is true.
    let mut lies = String::new();
    for i in 1..=3 {
        lies += &line(3, "ff").replace("\"index\":3", &format!("\"index\":{i}")).repeat(4);
    }
    for lines in [format!("{lies}{signed}"), format!("{signed}{lies}")] {
        let output = room.combine(&lines, &[]);
        assert_eq!((output.code, message(&output)), (0, json!("0xab")), "{}", output.err);
        assert!(output.err.contains("Not counted: 12 lines about 1 other message;"), "{}", output.err);
    }
    // A message of which no share is needed for itself stands behind the enough.
    let behind = room.combine(&(signed.clone() + &line(3, "ff")), &[]);
    assert!(behind.code == 0 && behind.err.contains("line 3: the share of participant 3 is of another message"));

    let chosen = room.combine(&(line(3, "ff") + &signed), &["--message", "0xAB"]);
    assert_eq!((chosen.code, message(&chosen)), (0, json!("0xab")), "{}", chosen.err);
    assert!(chosen.err.contains("line 1: the share is of another message than --message: `0xff`"), "{}", chosen.err);
    assert_failure(&room.combine(&signed, &["--message", "ABC"]), 2, "--message");
}

/// True shares of an earlier signature are sent again, before or behind those of the message that is meant. Nothing is settled silently.
#[test]
fn replayed_shares_of_another_message() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    let line = |i: usize, message: &str| room.sign(&share(i), message).out;
    let (old, new) = (line(1, "01") + &line(2, "01"), line(2, "02") + &line(3, "02"));
    for lines in [format!("{old}{new}"), format!("{new}{old}{}", line(3, "03"))] {
        let output = room.combine(&lines, &[]);
        assert_failure(&output, 2, "enough shares of 2 messages are true, so it is not clear which one is meant");
        for message in ["0x01 with 2 of 2 lines that can be used", "0x02 with 2 of 2 lines that can be used"] {
            assert!(output.err.contains(message), "{}", output.err);
        }
        assert!(output.out.is_empty() && output.err.contains("choose one with --message"), "{}", output.err);
        let output = room.combine(&lines, &["--message", "02"]);
        assert_eq!((output.code, &json_of(&output.out)["message"]), (0, &json!("0x02")), "{}", output.err);
    }
    // No message has enough.
    let output = room.combine(&(line(1, "01") + &line(2, "02") + &line(2, "02")), &[]);
    let told = "no signature: 2 shares of one message are needed, and the lines are about 2 messages: 0x01 with 1 of 1 line \
                that can be used, 0x02 with 1 of 2 lines that can be used; --message chooses one";
    assert_failure(&output, 2, told);
}

#[test]
fn key_shares_are_compared_with_the_commitment() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    fs::rename(room.path("shares"), room.path("first")).unwrap();
    room.split("eth2", 2, 3, &[]);
    // The share of another key.
    let output = room.verify_key_share("first/share-1.json");
    assert_eq!(output.out, "participant 1: invalid: the share is of another key than --shared-key\n");
    assert_eq!(output.code, 1);
    // It says that it is of this key.
    let key = read_json(&room.path("shares/shared-key.json"))["public_key"].clone();
    room.change("first/share-1.json", "public_key", key);
    let output = room.verify_key_share("first/share-1.json");
    assert!(output.out.contains("invalid: the share of participant 1 is not the one"), "{}", output.out);
    // The share of another participant, and of none.
    for (index, reason) in [(2, "the share of participant 2 is not the one"), (4, "there is no participant 4")] {
        room.file("share", &room.read(&share(1)));
        room.change("share", "index", json!(index));
        let output = room.verify_key_share("share");
        assert_eq!(output.code, 1);
        assert!(output.out.starts_with(&format!("participant {index}: invalid: {reason}")), "{}", output.out);
    }
    let verify = ["threshold", "verify-share", "--shared-key", "shares/shared-key.json", "--share"];
    let output = room.run([&verify[..], &[&share(3), "--json"]].concat());
    assert_eq!(output.out, "{\"index\":0,\"id\":3,\"valid\":true}\n");
    room.change(&share(3), "suite", json!("drand-chained"));
    assert_failure(&room.verify_key_share(&share(3)), 2, "found drand-chained, expected eth2");
}

#[test]
fn verdicts_are_objects_on_request() {
    let room = Room::new();
    room.split("drand-quicknet", 2, 3, &[]);
    let message = "00".repeat(32);
    let line = |i: usize| room.sign(&share(i), &message).out;
    let verify = ["threshold", "verify-share", "--shared-key", "shares/shared-key.json", "--json"];
    let output = room.run_with(verify, &(line(3) + "\n" + &line(1)));
    let expected =
        "{\"index\":0,\"id\":3,\"line\":1,\"valid\":true}\n{\"index\":1,\"id\":1,\"line\":3,\"valid\":true}\n";
    assert_eq!((output.out.as_str(), output.code), (expected, 0));
    let output = room.run_with(verify, &line(1).replace("\"index\":1", "\"index\":2"));
    let verdict = json_of(&output.out);
    assert_eq!((&verdict["valid"], output.code), (&json!(false), 1));
    assert!(text(&verdict["reason"]).contains("does not match"), "{verdict}");
    assert_failure(&room.run_with(verify, ""), 2, "nothing to verify");
    assert_failure(&room.run([&verify[..], &["-", "-"]].concat()), 2, "cannot be read twice");
}

/// The second file would be empty.
#[test]
fn standard_input_is_one_file_and_has_its_name() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    let key = room.read("shares/shared-key.json");
    let verify = ["threshold", "verify-share", "--shared-key", "-"];
    for more in [&["--share", "-"][..], &["-"], &[]] {
        assert_failure(&room.run_with([&verify[..], more].concat(), &key), 2, "standard input cannot be read twice");
    }
    let combine = ["threshold", "combine", "--shared-key", "-", "absent"];
    assert_failure(&room.run_with(combine, "{}"), 2, "error: standard input: ");
    // A key that is named by mistake is not shown.
    let digits = "12345678".repeat(8);
    let output = room.run_with(combine, &digits);
    assert_failure(&output, 2, "it is not the JSON of a shared key: it begins with neither { nor [");
    assert!(!output.err.contains("1234"), "{}", output.err);
}

/// Each way in which a file is not a shared key, with the file in the message.
#[test]
fn shared_keys_that_are_none_are_refused() {
    let room = Room::new();
    room.split("eth2", 2, 3, &[]);
    let line = room.sign(&share(1), "00").out;
    let whole = room.read("shares/shared-key.json");
    let key = json_of(&whole);
    let identity = format!("c0{}", "00".repeat(47));
    for (content, reason) in [
        (String::new(), "EOF"),
        (whole[..whole.len() / 2].to_owned(), "EOF"),
        (whole.repeat(2), "trailing characters"),
        (whole.replace("\"threshold\": 2", "\"threshold\": 0"), "the threshold is 0"),
        (whole.replace("\"threshold\": 2", "\"threshold\": 3"), "the commitment has 2 points"),
        (
            whole.replace("\"threshold\": 2", "\"threshold\": 18446744073709551617"),
            "\"threshold\": found 18446744073709551617, expected an integer from 0 to 2^64 - 1",
        ),
        (whole.replace("\"participants\": 3", "\"participants\": 1"), "there are only 1 participants"),
        (whole.replace(text(&key["public_key"]), &identity), "point 0 of the commitment"),
        (whole.replacen(text(&key["public_key"]), text(&key["commitment"][1]), 1), "the public key is not the first"),
        (whole.replace("eth2", "eth3"), "`eth3`"),
        (whole.replace("eth2", "drand-quicknet"), "point 0 of the commitment"),
        (whole.replace("eth2", "eigenlayer"), "BN254"),
        (whole.replace("\"identifiers\"", "\"kinds\""), "kinds"),
    ] {
        room.file("shares/shared-key.json", &content);
        for output in [room.combine(&line, &[]), room.verify_key_share(&share(1))] {
            assert_failure(&output, 2, reason);
            assert!(output.err.contains("shares/shared-key.json: "), "{}", output.err);
        }
    }
    fs::remove_file(room.path("shares/shared-key.json")).unwrap();
    assert_failure(&room.combine(&line, &[]), 3, "cannot read shares/shared-key.json");
}

// ---- Weights ----

#[test]
fn stakes_become_shares() {
    let room = Room::new();
    let stakes = "name,stake\nalice,40000000000000000000000000\n\"b, \"\"ob\"\"\",30000000000000000000000000\r\n\
                  carol , 20000000000000000000000000\ndave,10000000000000000000000000\n\u{1b}[2J-a-long-name-a-long-name-a-long-name-a-long-name,1\n";
    room.file("stakes.csv", stakes);
    let table = room.run(["threshold", "weights", "stakes.csv"]).out;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(!table.contains('\u{1b}') && table.contains("b, \"ob\"") && table.contains('…'), "{table}");
    assert!(table.contains("at most 1/3 of the stake: at most ") && table.contains("(proven)"), "{table}");

    let weights = json_of(&room.run_with(["threshold", "weights", "--json", "-"], stakes).out);
    let signers = weights["signers"].as_array().unwrap();
    assert_eq!((signers.len(), text(&signers[2]["name"])), (5, "carol"));
    assert_eq!(text(&signers[0]["stake"]), "40000000000000000000000000");
    // The gap holds for every set of signers, and the participants follow one another.
    let number = |value: &Value| value.as_u64().unwrap();
    let (threshold, mut next) = (number(&weights["threshold"]), 1);
    for signer in signers {
        let shares = number(&signer["shares"]);
        if shares > 0 {
            assert_eq!(signer["participants"], json!([next, next + shares - 1]));
        }
        next += shares;
    }
    assert_eq!(number(&weights["participants"]), next - 1);
    let stake = |signer: &Value| text(&signer["stake"]).parse::<u128>().unwrap();
    let total: u128 = signers.iter().map(stake).sum();
    for set in 0..1 << signers.len() {
        let members = || signers.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, signer)| signer);
        let (stake, shares): (u128, u64) = (members().map(stake).sum(), members().map(|s| number(&s["shares"])).sum());
        assert!(3 * stake > total || shares < threshold, "{weights}");
        assert!(3 * stake < 2 * total || shares >= threshold, "{weights}");
    }
    // Without a header, and with other parts.
    let even = room.run_with(["threshold", "weights", "--safe", "1/2", "--live", "1/1", "--json", "-"], "a,1\nb,1\n");
    assert_eq!(json_of(&even.out)["threshold"], 2);
}

/// Whoever signs alone is named with the numbers, and the advice is one that works.
#[test]
fn signers_who_sign_alone_are_named() {
    let room = Room::new();
    let weights = |stakes: &str, flags: &[&str]| {
        let ran = room.run_with([&["threshold", "weights", "--json", "-"][..], flags].concat(), stakes);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let weights = json_of(&ran.out);
        let number = |name: &str| weights[name].as_u64().unwrap();
        (number("threshold"), number("participants"), ran.err)
    };
    // One of two shares would do for the limits, and two of two do, too.
    assert_eq!(weights("a,50\nb,50\n", &[]), (2, 2, String::new()));
    let uneven = "a,32000\nb,31000\nc,1000\nwhale,95000\n";
    let (threshold, participants, err) = weights(uneven, &[]);
    assert_eq!((threshold, participants), (1, 1));
    let told = "warning: whale signs alone: it has 1 of 1 share, and 1 of them sign. Its stake is 95000 of 159000, which is more \
                than 1/3; to prevent it, give --safe 598/1000 or more";
    assert!(err.contains(told) && err.contains("with 1 share to sign, every share is the whole key"), "{err}");
    let (threshold, _, err) = weights(uneven, &["--safe", "598/1000"]);
    assert!(threshold > 1 && err.is_empty(), "{threshold} {err}");
    let (_, _, err) = weights("a,10\nb,90\n", &[]);
    assert!(err.contains("which is at least 2/3, and whoever has so much must be able to sign"), "{err}");
    let (_, _, err) = weights("a,1\nb,6665\nc,3334\n", &["--live", "6666/10000"]);
    assert!(err.is_empty() || err.contains("only a larger --live prevents it"), "{err}");
}

#[test]
fn stakes_that_are_none_are_refused() {
    let room = Room::new();
    let huge = format!("a,{}\n", u128::MAX);
    for (stakes, reason) in [
        ("", "standard input has no signer"),
        ("name,stake\n", "has no signer"),
        ("a,0\n", "nobody has a stake"),
        ("a,1\nb\n", "line 2: found 1 field, expected a name and a stake"),
        ("a,1\nb,2,3\n", "line 2: found 3 fields"),
        ("a,1\n,2\n", "line 2: the name is empty"),
        ("a,1\nb,-2\n", "line 2: the stake is \"-2\""),
        ("a,1\nb,+2\n", "line 2: the stake is \"+2\""),
        ("a,1\nb,1.5\n", "line 2: the stake is \"1.5\""),
        ("signer,weight\na,1\n", "line 1: the stake is \"weight\""),
        ("a,1\nname,stake\n", "line 2: the stake is \"stake\""),
        ("a,340282366920938463463374607431768211456\n", "expected a whole number"),
        (&huge, "2^100 or more"),
        ("a,1\nb,2\na,3\n", "line 3: \"a\" is on line 1 already"),
    ] {
        assert_failure(&room.run_with(["threshold", "weights", "-"], stakes), 2, reason);
    }
    fs::write(room.path("bytes"), b"a,1\n\xff,2\n").unwrap();
    assert_failure(&room.run(["threshold", "weights", "bytes"]), 2, "is not UTF-8; expected text");
    assert_failure(&room.run(["threshold", "weights", "absent"]), 3, "absent");
    for (safe, live, reason) in [
        ("2/3", "1/3", "must be smaller than the live part"),
        ("1/2", "2/4", "must be smaller than the live part"),
        ("2/1", "1/1", "--safe"),
        ("0/0", "1/1", "--safe"),
        ("1/3", "0.5", "--live"),
    ] {
        let args = ["threshold", "weights", "--safe", safe, "--live", live, "-"];
        assert_failure(&room.run_with(args, "a,1\nb,1\n"), 2, reason);
    }
}

// ---- Output, help ----

/// `quorate … | head -0`, and a standard output on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_reads_and_full_disks() {
    let room = Room::new();
    room.split("eth2", 2, 2, &[]);
    room.file("signed", &(room.sign(&share(1), "00").out + &room.sign(&share(2), "00").out));
    room.file("stakes.csv", "a,1\nb,1\nc,1\nd,1\n");
    let shared = ["--shared-key", "shares/shared-key.json", "signed"];
    // Of any other length there is a warning.
    let root = "00".repeat(32);
    for (i, args) in [
        vec!["threshold", "sign", "--share", "shares/share-1.json", "--message", root.as_str()],
        [&["threshold", "combine"][..], &shared].concat(),
        [&["threshold", "verify-share", "--json"][..], &shared].concat(),
        vec!["threshold", "weights", "stakes.csv"],
        [&SPLIT[..], &["-t", "2", "-n", "2", "--out", "unread"]].concat(),
    ]
    .iter()
    .enumerate()
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Running::start(room.command(args).stdout(writer).stderr(Stdio::piped())).ends();
        assert_eq!((output.err.as_str(), output.code), ("", 3), "{args:?}");
        if i < 4 {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            assert_failure(
                &Running::start(room.command(args).stdout(full).stderr(Stdio::piped())).ends(),
                3,
                "No space left",
            );
        }
    }
    // The key would be lost otherwise.
    assert_eq!(room.names("unread").len(), 3);
}

#[test]
fn help_begins_with_examples_and_fits() {
    let room = Room::new();
    for command in ["", "split", "sign", "combine", "verify-share", "weights"] {
        let args = ["threshold"].into_iter().chain((!command.is_empty()).then_some(command)).chain(["--help"]);
        let help = room.run(args).out;
        assert!(help.starts_with("Examples:\n  quorate threshold "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        let page = ["man", "threshold"].into_iter().chain((!command.is_empty()).then_some(command));
        assert!(room.run(page).out.contains(".SH EXAMPLES\n.nf\n\\&  quorate threshold "), "{command}");
    }
}

// ---- What the tests share ----

const SPLIT: [&str; 4] = ["threshold", "split", "--suite", "eth2"];

/// The file of a participant's share.
fn share(i: usize) -> String {
    format!("shares/share-{i}.json")
}

/// A folder that the program runs in.
struct Room(TempDir);

impl Room {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is in a folder, sorted.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A file for its owner alone, so that nothing warns of it.
    fn file(&self, name: &str, contents: &str) {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write_json(&self, name: &str, value: &Value) {
        self.file(name, &value.to_string());
    }

    /// Replaces a field of a file of JSON.
    fn change(&self, name: &str, field: &str, value: Value) {
        let mut file = read_json(&self.path(name));
        file[field] = value;
        self.write_json(name, &file);
    }

    fn split(&self, suite: &str, t: usize, n: usize, flags: &[&str]) -> Ran {
        let (t, n) = (t.to_string(), n.to_string());
        let args = ["threshold", "split", "--suite", suite, "-t", &t, "-n", &n, "--out", "shares"];
        self.run([&args[..], flags].concat())
    }

    fn sign(&self, share: &str, message: &str) -> Ran {
        self.run(["threshold", "sign", "--share", share, "--message", message])
    }

    fn combine(&self, lines: &str, flags: &[&str]) -> Ran {
        let shared_key = if self.path("shares").is_dir() { "shares/shared-key.json" } else { "shared-key.json" };
        self.run_with([&["threshold", "combine", "--shared-key", shared_key][..], flags].concat(), lines)
    }

    fn verify_key_share(&self, share: &str) -> Ran {
        self.run(["threshold", "verify-share", "--shared-key", "shares/shared-key.json", "--share", share])
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
    assert!(output.err.contains(reason), "expected {reason:?} in {}", output.err);
    assert_eq!(output.code, code, "{}", output.err);
    assert_eq!(output.out, "");
}

#[track_caller]
fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text:?}"))
}

fn read_json(path: &Path) -> Value {
    json_of(&fs::read_to_string(path).unwrap())
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    const_hex::decode(hex).unwrap()
}
