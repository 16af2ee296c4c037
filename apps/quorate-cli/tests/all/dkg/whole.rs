//! Ceremonies from the first command to a signature.

use std::{fs, os::unix::fs::PermissionsExt};

use quorate::{MinPk, SecretKey};
use quorate_curve::Scalar;
use serde_json::json;

use crate::dkg::room::{Room, STEPS, member_files};

const THREE: [&str; 3] = ["alice", "bob", "carol"];
const FIVE: [&str; 5] = ["alice", "bob", "carol", "dave", "erin"];

/// Both variants of a new key, keys in G1 and in G2, both kinds of points.
#[test]
fn new_keys_sign() {
    for (suite, flags) in [
        ("eth2", &[][..]),
        ("eth2", &["--commit-first", "--identifiers", "roots-of-unity"]),
        ("drand-quicknet", &[]),
        ("drand-quicknet", &["--commit-first"]),
    ] {
        let room = Room::new(&THREE);
        let init = room.init("c", &[&["--suite", suite, "-t", "2"], flags].concat(), &THREE).exits(0);
        assert_eq!(init.out.trim_end(), room.id("c"));
        if flags.contains(&"--commit-first") {
            room.all("deal", "c", &THREE);
            room.all("receive", "c", &THREE);
            // Everyone reveals, and then confirms.
            for name in THREE {
                let last = name == "carol";
                room.step("complain", "c", name, &[]).exits(if last { 0 } else { 1 });
            }
            room.all("complain", "c", &THREE);
            room.all("finish", "c", &THREE);
        } else {
            room.ceremony("c", &THREE);
        }
        for pair in [["alice", "bob"], ["carol", "alice"], ["bob", "carol"]] {
            room.assert_signs("c", &pair.map(|name| room.share("c", name)));
        }
        for name in THREE {
            let secret = [room.path(&room.share("c", name)), room.state("c", name)];
            for path in secret.iter().chain([&room.path(&format!("{name}/{name}.identity.json"))]) {
                assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
            }
        }
    }
}

/// A key goes to more members with a higher threshold, is refreshed, and a member who lost everything gets its share back.
#[test]
fn a_key_is_shared_anew_refreshed_and_a_share_recovered() {
    for suite in ["eth2", "drand-quicknet"] {
        let room = Room::after("deal", &FIVE[..2]);
        room.identity("carol");
        room.init("first", &["--suite", suite, "-t", "2"], &THREE).exits(0);
        room.ceremony("first", &THREE);
        let key = room.public_key("first");

        for name in ["dave", "erin"] {
            room.identity(name);
        }
        let files = member_files(&["dave", "erin"]);
        room.run(&["dkg", "reshare", "second", "--previous", "first", "-t", "3", &files[0], &files[1]]).exits(0);
        for name in THREE {
            let share = room.share("first", name);
            room.step("deal", "second", name, &[])
                .refused("of the previous key in this ceremony; give its file with --share");
            room.step("deal", "second", name, &["--share", &share]).exits(0);
        }
        room.step("deal", "second", "dave", &[])
            .refused("dave does not deal in this ceremony; when the deals are there, run:");
        for step in &STEPS[1..] {
            room.all(step, "second", &FIVE);
        }
        assert_eq!(room.public_key("second"), key);
        room.assert_signs("second", &["erin", "bob", "dave"].map(|name| room.share("second", name)));

        room.run(&["dkg", "refresh", "third", "--previous", "second"]).exits(0);
        for name in FIVE {
            room.step("deal", "third", name, &["--share", &room.share("second", name)]).exits(0);
        }
        for step in &STEPS[1..] {
            room.all(step, "third", &FIVE);
        }
        assert_eq!(room.public_key("third"), key);
        room.assert_signs("third", &["carol", "alice", "erin"].map(|name| room.share("third", name)));
        // Shares from before and after do not fit together.
        let check = ["threshold", "verify-share", "--shared-key", "third/shared-key.json", "--share"];
        room.run(&[&check[..], &[&room.share("second", "bob")]].concat()).exits(1);

        // Bob loses everything, and comes back with a new identity.
        let share = room.path(&room.share("third", "bob"));
        let lost = fs::read(&share).unwrap();
        fs::remove_dir_all(room.path("bob")).unwrap();
        room.identity("bob");
        let recover = ["dkg", "recover", "fourth", "--previous", "third", "--lost", "bob"];
        room.run(&[&recover[..], &["--member", "bob/bob.member.json", "--helpers", "alice,carol,erin"]].concat())
            .exits(0);
        let helpers = ["alice", "carol", "erin"];
        for name in helpers {
            room.step("deal", "fourth", name, &["--share", &room.share("third", name)]).exits(0);
        }
        for name in helpers {
            room.step("receive", "fourth", name, &[]).exits(0);
        }
        for name in helpers {
            room.step("complain", "fourth", name, &[]).exits(0);
        }
        for name in helpers {
            room.step("finish", "fourth", name, &[]).exits(0);
        }
        room.step("finish", "fourth", "bob", &[]).exits(0).says("your share 2 of 5");
        assert!(!room.path(&room.share("fourth", "alice")).exists(), "a helper keeps the share that it has");
        assert_eq!(room.read(&room.share("fourth", "bob")), lost);
        let signers = [room.share("fourth", "bob"), room.share("third", "dave"), room.share("third", "carol")];
        room.assert_signs("third", &signers);
    }
}

/// What a dealer split into files is shared anew by the participants themselves, from keystores into keystores.
#[test]
fn a_split_key_is_shared_anew() {
    let room = Room::new(&THREE);
    room.write("passphrase", "correct horse\n");
    room.run(&["threshold", "split", "--suite", "eth2", "-t", "2", "-n", "3", "--out", "shares"]).exits(0);
    let holders = ["--holder", "alice=1", "--holder", "bob=2", "--holder", "carol=3"];
    let files = member_files(&THREE);
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let shared_key = ["--shared-key", "shares/shared-key.json"];
    room.run(&[&["dkg", "refresh", "c"], &shared_key[..], &holders, &files].concat()).exits(0);
    for (name, share) in THREE.iter().zip(["shares/share-1.json", "shares/share-2.json", "shares/share-3.json"]) {
        room.step("deal", "c", name, &["--share", share]).exits(0);
    }
    for step in &STEPS[1..3] {
        room.all(step, "c", &THREE);
    }
    let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "passphrase", "--out", "bob/new.json"];
    room.step("finish", "c", "alice", &[]).exits(0);
    room.step("finish", "c", "bob", &keystore).exits(0);
    let before = room.tree();
    // The second time, nobody is asked for a passphrase.
    room.step("finish", "c", "bob", &["--out", "bob/new.json"]).exits(0);
    room.assert_is(&before, "finish");
    // A keystore of another share, though it claims to be carol's.
    let other = String::from_utf8(room.read("bob/new.json")).unwrap().replacen("\"index\": 2", "\"index\": 3", 1);
    room.write("other.json", other);
    room.step("finish", "c", "carol", &["--out", "other.json"]).refused("other.json is there, and is not your share");
    room.step("finish", "c", "carol", &[]).exits(0);
    room.assert_signs("c", &["alice", "carol"].map(|name| room.share("c", name)));
    let sign = ["threshold", "sign", "--share", "bob/new.json", "--passphrase-file", "passphrase", "--message", "2a"];
    room.run(&sign).exits(0);
    // And recovered, for a key that a dealer split.
    let recover = ["dkg", "recover", "r", "--lost", "carol"];
    room.run(&[&recover[..], &shared_key, &holders, &files].concat()).exits(0);
}

/// A few dealers make a key for others, who get the shares.
#[test]
fn dealers_deal_to_other_receivers() {
    let names = ["d1", "d2", "d3", "alice", "bob", "carol"];
    let room = Room::new(&names);
    let roles = ["--dealers", "d1,d2,d3", "--receivers", "carol,alice,bob"];
    room.init("c", &[&["--suite", "eth2", "-t", "2"][..], &roles].concat(), &names).exits(0);
    room.all("deal", "c", &names[..3]);
    for step in &STEPS[1..3] {
        room.all(step, "c", &names[3..]);
    }
    room.all("finish", "c", &names);
    room.assert_signs("c", &["carol", "bob"].map(|name| room.share("c", name)));
    assert!(!room.path(&room.share("c", "d1")).exists());
    assert!(String::from_utf8(room.read(&room.share("c", "carol"))).unwrap().contains("\"index\": 1"));
}

/// Run twice, a command changes nothing. A later command does what the earlier ones do.
#[test]
fn commands_may_be_run_again() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    for step in STEPS {
        // The first ones take in what the last ones said when they run a command again.
        room.all(step, "c", &THREE);
        room.all(step, "c", &THREE);
        let before = room.tree();
        for again in STEPS.iter().take_while(|other| **other != step).chain([&step]) {
            room.all(again, "c", &THREE);
        }
        room.assert_is(&before, step);
    }
    let room = Room::after("deal", &THREE);
    for codes in [[1, 1, 1], [1, 0, 0], [0, 0, 0]] {
        for (name, code) in THREE.iter().zip(codes) {
            room.step("finish", "c", name, &[]).exits(code);
        }
    }
}

/// Waiting is not success: it names who is missing, and what to run.
#[test]
fn waiting_says_for_whom() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.step("receive", "c", "alice", &[])
        .refused("first run: quorate dkg deal c --identity alice/alice.identity.json");
    let id = room.id("c");
    room.step("deal", "c", "alice", &[]).exits(0).says(&format!("the id of the ceremony is {id}; go on only if"));
    let waiting =
        room.step("receive", "c", "alice", &[]).exits(1).says("waiting for bob and carol in the round `deal`");
    waiting.says("quorate dkg receive c --identity alice/alice.identity.json --close deal");
    room.all("deal", "c", &THREE[1..]);
    room.step("complain", "c", "alice", &[]).exits(1).says("waiting for bob and carol in the round `response`");
    room.all("receive", "c", &THREE[1..]);
    room.step("complain", "c", "alice", &[]).exits(0);
    room.step("finish", "c", "alice", &[]).exits(1).says("waiting for bob and carol in the round `confirmation`");
    let before = room.tree();
    room.step("finish", "c", "alice", &["--close", "confirmation"])
        .refused("without bob and carol, the ceremony makes no key: 1 receiver confirmed this key, and 3 are needed")
        .says("The round `confirmation` is still open");
    room.assert_is(&before, "finish");
    room.all("complain", "c", &THREE[1..]);
    room.all("finish", "c", &THREE);
}

/// Members who stay away are left out when the others close the rounds.
#[test]
fn silent_members_are_left_out() {
    let (present, absent) = (&FIVE[..4], "erin");
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", present);
    let close = |step: &str, round: &str| {
        for name in present {
            room.step(step, "c", name, &[]).exits(1).says(absent);
            let closed = room.step(step, "c", name, &["--close", round]);
            assert!(closed.err.contains(&format!("closed the round `{round}` without {absent}")), "{closed:?}");
        }
    };
    close("receive", "deal");
    // The first ones close the round before the others have spoken in the next one.
    for name in present {
        room.step("complain", "c", name, &["--close", "response"])
            .exits(0)
            .says("erin said nothing in the round `deal`");
    }
    room.all("finish", "c", present);
    room.assert_signs("c", &["alice", "bob", "dave"].map(|name| room.share("c", name)));
    // Erin comes too late to deal, and so do the messages.
    room.step("deal", "c", absent, &[]).exits(0);
    room.all("finish", "c", present);
}

/// All rounds can be closed without members who are named once.
#[test]
fn members_are_left_out_by_name() {
    let present = &FIVE[..4];
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", &present[..3]);
    let without = ["--without", "erin"];
    // Dave is not there yet, and is not left out.
    room.step("receive", "c", "alice", &without).exits(1).says("waiting for dave and erin in the round `deal`");
    room.step("receive", "c", "alice", &["--without", "zoe"]).refused("--without: the ceremony has no member zoe");
    room.all("deal", "c", &present[3..]);
    for step in &STEPS[1..] {
        for name in present {
            room.step(step, "c", name, &without).exits(0);
        }
    }
    room.assert_signs("c", &["alice", "bob", "dave"].map(|name| room.share("c", name)));
}

/// With commitments first, a dealer who falls silent after its deal was accepted cannot take its contribution back.
#[test]
fn contributions_that_are_not_revealed_are_disclosed() {
    let present = &FIVE[..4];
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "drand-quicknet", "-t", "3", "--commit-first"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE);
    room.all("receive", "c", &FIVE);
    for round in ["reveal", "absence", "disclosure"] {
        for name in present {
            room.step("complain", "c", name, &[]).exits(1);
        }
        for name in present {
            room.step("complain", "c", name, &[]).exits(1).says(&format!("waiting for erin in the round `{round}`"));
        }
        for name in present {
            let closed = room.step("complain", "c", name, &["--close", round]);
            assert!(closed.err.contains(&format!("closed the round `{round}` without erin")), "{closed:?}");
        }
    }
    for name in present {
        room.step("finish", "c", name, &[]).exits(0).says("erin said nothing in the round `reveal`");
    }
    room.assert_signs("c", &["bob", "carol", "dave"].map(|name| room.share("c", name)));
}

/// Erin's reveal reaches alice, and not carol and dave, who stop waiting for it. Alice has it in her state, and publishes it
/// again when they say that they miss it: they take it, and all come to one key.
#[test]
fn a_reveal_for_some_is_passed_on_by_those_who_have_it() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "drand-quicknet", "-t", "3", "--commit-first"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE);
    room.all("receive", "c", &FIVE);
    for name in &FIVE[..4] {
        room.step("complain", "c", name, &[]).exits(1);
    }
    let (reveal, present) = ("c/messages/4-reveal-erin.json", &FIVE[..4]);
    room.step("complain", "c", "erin", &[]).exits(0).says(&format!("published {reveal}"));
    room.step("complain", "c", "alice", &[]).exits(0).says("published c/messages/7-confirmation-alice.json");
    let bytes = room.read(reveal);
    fs::remove_file(room.path(reveal)).unwrap();
    for name in ["carol", "dave"] {
        room.step("complain", "c", name, &[]).exits(1).says("waiting for erin in the round `reveal`");
        room.step("complain", "c", name, &["--close", "reveal"])
            .exits(1)
            .says(&format!("published c/messages/5-absence-{name}.json"));
    }
    room.step("complain", "c", "alice", &[])
        .exits(0)
        .says(&format!("published again {reveal}"))
        .says(&format!("carol and dave had not got the reveal of erin, which is here: see that they get {reveal}"));
    assert_eq!(room.read(reveal), bytes);
    for name in ["carol", "dave", "bob"] {
        room.step("complain", "c", name, &[])
            .exits(0)
            .says(&format!("published c/messages/7-confirmation-{name}.json"));
    }
    room.all("finish", "c", present);
    room.assert_signs("c", &["alice", "carol", "dave"].map(|name| room.share("c", name)));
    // What another one wrote in the place of the reveal stays, and stops nobody.
    room.write(reveal, &bytes[..bytes.len() / 2]);
    room.step("finish", "c", "alice", &[]).exits(0);
    assert_eq!(room.read(reveal), &bytes[..bytes.len() / 2]);
}

/// A deal binds the id that the members compared.
#[test]
fn deal_binds_the_id_that_was_compared() {
    let room = Room::new(&THREE);
    for folder in ["c", "forged"] {
        room.init(folder, &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    }
    let id = room.id("c");
    let before = room.tree();
    room.step("deal", "forged", "alice", &["--id", &id])
        .refused(&format!(
            "--id: you compared the id {id}, and the ceremony in forged has the id {}",
            room.id("forged")
        ))
        .says("Nothing was dealt");
    for bad in [&id[..63], "", "alice", &format!("{id}00")] {
        room.step("deal", "c", "alice", &["--id", bad])
            .refused("expected the 64 hexadecimal digits of a ceremony's id");
    }
    room.assert_is(&before, "deal");
    room.step("deal", "c", "alice", &["--id", &id]).exits(0).says("published c/messages/1-deal-alice.json");
    room.step("deal", "c", "bob", &["--id", &format!("0x{}", id.to_uppercase())]).exits(0);
    // Also when it was dealt before.
    room.step("deal", "c", "alice", &["--id", &room.id("forged")]).refused("you compared the id");
    room.all("deal", "c", &THREE);
}

/// Too few deals make no key, so the round of deals is not closed with them.
#[test]
fn receive_does_not_close_with_too_few_dealers() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE[..2]);
    room.step("receive", "c", "alice", &[]).exits(1).says("waiting for carol, dave and erin in the round `deal`");
    let before = room.tree();
    room.step("receive", "c", "alice", &["--close", "deal"])
        .refused("without carol, dave and erin, the ceremony makes no key: 2 dealers are left, and 3 are needed")
        .says("The round `deal` is still open");
    room.assert_is(&before, "receive");
    room.step("deal", "c", "carol", &[]).exits(0);
    for name in &FIVE[..3] {
        room.step("receive", "c", name, &["--close", "deal"]).exits(0).says("published");
    }
    for name in &FIVE[..3] {
        room.step("complain", "c", name, &["--close", "response"]).exits(0);
    }
    assert!(room.step("finish", "c", "alice", &["--close", "confirmation"]).code == 2, "3 of the 4 that are needed");
}

/// Dave has not dealt when the others close the round of deals. He is told what he can do, and not what he cannot, and it
/// works: the others recover his share when the key is there.
#[test]
fn who_was_left_out_is_told_what_to_do() {
    let (four, three) = (["alice", "bob", "carol", "dave"], &THREE);
    let room = Room::new(&four);
    room.init("c", &["--suite", "eth2", "-t", "2"], &four).exits(0);
    let status = |flags: &[&str]| room.run(&[&["dkg", "status", "c"], flags].concat()).exits(0);
    let dave = ["--identity", "dave/dave.identity.json"];
    room.all("deal", "c", three);
    assert!(status(&[]).out.contains("next: dave should run `quorate dkg run` (step `deal`)"));
    let command = "your next command: quorate dkg run c --identity dave/dave.identity.json --id ID --wait\n";
    assert!(status(&dave).out.ends_with(command));
    // One who answers without Dave's deal may be a liar.
    room.step("receive", "c", "alice", &["--close", "deal"]).exits(0);
    let out = status(&[]).out;
    assert!(out.contains("next: bob, carol and dave should run `quorate dkg run` (step `receive`)"), "{out}");
    assert!(status(&dave).out.ends_with(command));
    let before = room.tree();
    for step in &STEPS[1..] {
        room.step(step, "c", "dave", &[]).refused("you have not dealt yet");
    }
    room.step("deal", "c", "dave", &[]).exits(0);
    room.restore(&before);
    // After two of four, no key with it can be confirmed.
    room.step("receive", "c", "bob", &["--close", "deal"]).exits(0);
    let out = status(&[]).out;
    assert!(out.contains("next: carol should run `quorate dkg run` (step `receive`)"), "{out}");
    assert!(out.contains("dave: the others have gone on without its deal"), "{out}");
    let out = status(&dave).out.replace('\n', " ");
    assert!(out.contains("quorate dkg recover NEW_FOLDER --previous c --lost dave"), "{out}");
    assert!(!out.contains("your next command"), "{out}");
    let json = status(&["--json", dave[0], dave[1]]).object();
    assert_eq!(json["next"]["left_out"], serde_json::json!(["dave"]));
    for step in &STEPS[1..] {
        room.step(step, "c", "dave", &[]).refused("quorate dkg recover NEW_FOLDER --previous c --lost dave");
    }
    room.step("receive", "c", "carol", &["--close", "deal"]).exits(0);
    for name in three {
        room.step("complain", "c", name, &["--close", "response"]).exits(0);
    }
    room.all("finish", "c", three);
    room.run(&["dkg", "recover", "new", "--previous", "c", "--lost", "dave", "--helpers", "alice,bob"]).exits(0);
    for name in &three[..2] {
        room.step("deal", "new", name, &["--share", &room.share("c", name)]).exits(0);
    }
    for step in &STEPS[1..] {
        room.all(step, "new", &three[..2]);
    }
    room.step("finish", "new", "dave", &[]).exits(0).says("your share 4 of 4").says("It is secret");
    room.assert_signs("c", &[room.share("new", "dave"), room.share("c", "carol")]);
}

/// Alice has no share of a key, since a dealer who dealt last made it zero: the others share the key anew, with alice and
/// without her.
#[test]
fn a_participant_without_a_share_does_not_deal() {
    let four = ["alice", "bob", "carol", "dave"];
    let room = Room::new(&four);
    // φ(X) = 7·(X - 1)
    let key = |scalar: Scalar| SecretKey::<MinPk>::from_bytes(&scalar.to_bytes()).unwrap().public_key().to_string();
    let seven = Scalar::from(7);
    let commitment = [key(-seven), key(seven)];
    let shared_key = json!({
        "suite": "eth2", "threshold": 2, "participants": 4, "identifiers": "integers",
        "public_key": &commitment[0], "commitment": &commitment,
    });
    room.write("shared-key.json", shared_key.to_string());
    for (name, i) in four.iter().zip(1_u64..).skip(1) {
        let share = Scalar::from(7 * (i - 1));
        let file = json!({
            "suite": "eth2", "index": i, "public_key": &commitment[0], "verification_key": key(share),
            "secret": format!("{:064x}", 7 * (i - 1)),
        });
        room.write(&format!("{name}/share.json"), file.to_string());
    }
    let holders = ["alice=1", "bob=2", "carol=3", "dave=4"].map(|holder| ["--holder", holder]).concat();
    let files = member_files(&four);
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let from = [&["--shared-key", "shared-key.json"], &holders[..]].concat();
    let described = |command: &[&str]| room.run(&[&["dkg"], command, &from[..], &files].concat());
    let without = "alice cannot deal: participant 1 has no share of the key";
    described(&["recover", "none", "--lost", "alice"])
        .refused("participant 1 has no share of the key")
        .says("share the key anew");
    described(&["reshare", "none", "-t", "2", "--dealers", "alice,bob"])
        .refused("alice has no share that it could deal");
    described(&["refresh", "refresh"]).exits(0).says(without);
    described(&["reshare", "reshare", "-t", "2", "--receivers", "bob,carol,dave"]).exits(0).says(without);
    for (folder, receivers) in [("refresh", &four[..]), ("reshare", &four[1..])] {
        for name in &four[1..] {
            room.step("deal", folder, name, &["--share", &format!("{name}/share.json")]).exits(0);
        }
        STEPS[1..].iter().for_each(|step| room.all(step, folder, receivers));
        assert_eq!(room.public_key(folder), commitment[0].trim_start_matches("0x"));
        room.assert_signs(folder, &[room.share(folder, receivers[0]), room.share(folder, "dave")]);
    }
}

/// The rounds that a command may close.
#[test]
fn rounds_that_cannot_be_closed() {
    let room = Room::after("deal", &THREE);
    room.step("receive", "c", "alice", &["--close", "response"])
        .refused("--close: `receive` ends before the round `response` is closed; use: quorate dkg complain c");
    room.step("complain", "c", "alice", &["--close", "reveal"])
        .refused("this ceremony has no round `reveal`; its rounds are deal, response, justification, confirmation");
    room.step("complain", "c", "alice", &["--close", "confirmation"]).refused("use: quorate dkg finish c");
    room.step("complain", "c", "alice", &["--close", "nothing"]).refused("nothing");
    // A round that was closed before may be named again.
    room.step("receive", "c", "alice", &[]).exits(0);
    room.step("receive", "c", "alice", &["--close", "deal"]).exits(0);
}
