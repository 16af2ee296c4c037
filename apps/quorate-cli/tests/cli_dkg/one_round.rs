//! Ceremonies in one round: `quorate dkg publish` and `quorate dkg combine`.

use std::fs;

use crate::room::{Room, member_files};

const THREE: [&str; 3] = ["alice", "bob", "carol"];
const FIVE: [&str; 5] = ["alice", "bob", "carol", "dave", "erin"];

/// Members whose files have a key for one round. Their identities were made without.
fn room(names: &[&str]) -> Room {
    let room = Room::new(names);
    for name in names {
        fs::remove_file(room.path(&format!("{name}/{name}.member.json"))).unwrap();
        let identity = room.read(&format!("{name}/{name}.identity.json"));
        room.run(&["dkg", "identity", name, "--out", name, "--one-round"]).exits(0);
        assert_eq!(room.read(&format!("{name}/{name}.identity.json")), identity, "the identity stays as it is");
    }
    room
}

/// The same in a ceremony of whom any two sign.
fn begun(names: &[&str]) -> Room {
    let room = room(names);
    room.init("c", &["--suite", "eth2", "-t", "2", "--one-round"], names).exits(0).says("`quorate dkg publish`");
    room
}

fn published(names: &[&str]) -> Room {
    let room = begun(names);
    room.all("publish", "c", names);
    room
}

#[test]
fn each_member_publishes_once_and_anyone_has_the_key() {
    for suite in ["eth2", "drand-quicknet"] {
        let room = room(&FIVE);
        let flags = ["--suite", suite, "-t", "3", "--identifiers", "roots-of-unity", "--one-round"];
        room.init("c", &flags, &FIVE).exits(0);
        room.all("publish", "c", &FIVE);
        let combined =
            room.run(&["dkg", "combine", "c"]).exits(0).says("the transcripts of alice, bob, carol, dave and erin");
        assert_eq!(combined.out.trim().trim_start_matches("0x"), room.public_key("c"));
        for name in FIVE {
            let own = room.step("combine", "c", name, &[]).exits(0).says("your share");
            assert_eq!(own.out, combined.out);
        }
        room.assert_signs("c", &["erin", "alice", "carol"].map(|name| room.share("c", name)));
        let before = room.tree();
        room.step("combine", "c", "bob", &[]).exits(0);
        room.step("publish", "c", "bob", &[]).exits(0);
        room.assert_is(&before, "once more");
    }
}

#[test]
fn one_command_from_start_to_key() {
    let room = begun(&FIVE);
    let runs: Vec<_> = FIVE.iter().map(|name| room.starts("c", name, &[])).collect();
    for (name, run) in FIVE.iter().zip(runs) {
        let ran = run.ends().exits(0);
        assert_eq!(ran.out, format!("0x{}\n", room.public_key("c")), "{name}");
        ran.says(&format!("published c/transcripts/{name}.transcript"));
    }
    room.assert_signs("c", &["bob", "dave"].map(|name| room.share("c", name)));
    room.step("run", "c", "alice", &["--id", &"00".repeat(32)]).refused("it is not the one that the members agreed on");
}

/// Erin is away. The others make the key without her, and she comes later: her share is there, and what she publishes changes
/// nothing.
#[test]
fn who_comes_late_has_its_share() {
    let room = begun(&FIVE);
    room.all("publish", "c", &FIVE[..4]);
    room.run(&["dkg", "combine", "c"]).exits(1).says("waiting for the transcripts of erin").says("--without erin");
    room.step("run", "c", "alice", &["--id", &room.id("c")]).exits(1).says("--without erin");
    room.run(&["dkg", "combine", "c", "--without", "frank"]).refused("has no member frank");
    let key = room.run(&["dkg", "combine", "c", "--without", "erin"]).exits(0).out;
    room.step("publish", "c", "erin", &[]).exits(0);
    assert_eq!(room.step("combine", "c", "erin", &[]).exits(0).says("your share 5 of 5").out, key);
    room.step("combine", "c", "bob", &[]).exits(0);
    room.assert_signs("c", &["erin", "bob"].map(|name| room.share("c", name)));
}

#[test]
fn too_few_transcripts_make_no_key() {
    let room = begun(&THREE);
    room.all("publish", "c", &["alice"]);
    room.run(&["dkg", "combine", "c", "--without", "bob,carol"]).refused("1 transcripts are true, and 2 are needed");
    let shown = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(shown.contains("published   1 of 3   alice\nmissing     2 of 3   bob and carol\n"), "{shown}");
    let status = room.run(&["dkg", "status", "c", "--json"]).exits(0).object();
    assert_eq!(status["missing"], serde_json::json!(["bob", "carol"]));
    assert_eq!(status["makes"], "a new key, in one round");
}

/// Mallory publishes from two copies of an identity. Whoever sees both leaves mallory out.
#[test]
fn who_signs_two_transcripts_is_left_out() {
    let names = ["alice", "bob", "mallory"];
    let room = begun(&names);
    let before = room.tree();
    room.all("publish", "c", &["mallory"]);
    let first = room.read("c/transcripts/mallory.transcript");
    room.restore(&before);
    room.all("publish", "c", &names);
    assert_ne!(room.read("c/transcripts/mallory.transcript"), first);
    room.write("c/transcripts/other.transcript", &first);
    room.run(&["dkg", "combine", "c"]).exits(0).says("mallory signed two different transcripts").says("alice and bob");
    room.step("combine", "c", "mallory", &[]).exits(0).says("your share 3 of 3");
    let judged = room.run(&["dkg", "judge", "c"]).exits(1);
    assert_eq!(judged.out, "mallory signed two different transcripts\n");
    let files = ["c/transcripts/other.transcript", "c/transcripts/alice.transcript"];
    let judged = room.run(&["dkg", "judge", "c", files[0], files[1], "--json"]).exits(0).object();
    assert_eq!((&judged["messages"], &judged["proven"]), (&2.into(), &serde_json::json!([])));
    let shown = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(shown.contains("signed two  1 of 3   mallory"), "{shown}");
}

/// Mallory publishes a second transcript when the key is there. It takes nothing away from who comes later.
#[test]
fn a_second_transcript_after_the_key_changes_nothing() {
    let names = ["alice", "bob", "mallory"];
    let room = begun(&names);
    let before = room.tree();
    room.all("publish", "c", &["mallory"]);
    let second = room.read("c/transcripts/mallory.transcript");
    room.restore(&before);
    room.all("publish", "c", &names);
    let key = room.run(&["dkg", "combine", "c"]).exits(0).out;
    room.write("c/transcripts/other.transcript", &second);
    assert_eq!(room.step("combine", "c", "bob", &[]).exits(0).says("your share 2 of 3").out, key);
}

#[test]
fn what_was_lost_is_published_again_and_nothing_else() {
    let room = published(&THREE);
    let path = "c/transcripts/alice.transcript";
    let (transcript, copy) = (room.read(path), room.path(&format!("alice/alice.{}.transcript", room.id("c"))));
    fs::remove_file(room.path(path)).unwrap();
    room.all("publish", "c", &["alice"]);
    assert_eq!(room.read(path), transcript);
    fs::remove_file(&copy).unwrap();
    room.all("publish", "c", &["alice"]);
    assert_eq!((room.read(path), fs::read(&copy).unwrap()), (transcript.clone(), transcript.clone()));
    room.write(path, room.read("c/transcripts/bob.transcript"));
    room.step("publish", "c", "alice", &[]).refused("stands where your transcript belongs");
    room.write(path, &transcript[..1000]);
    room.step("publish", "c", "alice", &[]).refused("stands where your transcript belongs");
    room.run(&["dkg", "combine", "c"]).exits(1).says("waiting for the transcripts of alice");
}

#[test]
fn files_that_are_no_transcripts_are_named() {
    let room = published(&THREE);
    let transcript = room.read("c/transcripts/alice.transcript");
    let mut changed = transcript.clone();
    changed[5000] ^= 1;
    for (bytes, reason) in [
        (&b""[..], "it is not a transcript, or was cut off"),
        (&transcript[..100], "it is not a transcript, or was cut off"),
        (&transcript[..transcript.len() - 1], "it is not signed by its sender"),
        (&changed, "it is not signed by its sender"),
        (&room.read("c/ceremony.json"), "it is not a transcript, or was cut off"),
    ] {
        room.write("c/transcripts/alice.transcript", bytes);
        room.run(&["dkg", "combine", "c"]).exits(1).says(reason).says("waiting for the transcripts of alice");
    }
    room.write("c/transcripts/alice.transcript", &transcript);
    room.write("c/transcripts/copy.transcript", &transcript);
    room.write("c/transcripts/.part", b"");
    room.run(&["dkg", "combine", "c"]).exits(0).says("it is not taken under this name");
    // The list counts, and what it lists must be there, under any name.
    fs::remove_file(room.path("c/transcripts/alice.transcript")).unwrap();
    room.step("combine", "c", "bob", &[]).exits(0).says("rename it to c/transcripts/alice.transcript");
    fs::remove_file(room.path("c/transcripts/copy.transcript")).unwrap();
    room.step("combine", "c", "bob", &[]).refused("counts the transcript of alice");
    room.write("c/combination.json", b"{}");
    room.step("combine", "c", "bob", &[]).refused("combination.json");
}

#[test]
fn transcripts_of_another_ceremony_do_not_count() {
    let room = published(&THREE);
    room.init("d", &["--suite", "eth2", "-t", "2", "--one-round"], &THREE).exits(0);
    fs::create_dir(room.path("d/transcripts")).unwrap();
    for name in THREE {
        let path = format!("transcripts/{name}.transcript");
        room.write(&format!("d/{path}"), room.read(&format!("c/{path}")));
    }
    room.run(&["dkg", "combine", "d"]).exits(1).says("it belongs to the ceremony");
}

#[test]
fn commands_of_other_ceremonies_say_which_are_meant() {
    let room = published(&THREE);
    for step in ["deal", "receive", "complain", "finish"] {
        room.step(step, "c", "alice", &[]).refused("is in one round");
    }
    room.init("d", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.step("publish", "d", "alice", &[]).refused("answer each other");
    room.run(&["dkg", "combine", "d"]).refused("answer each other");
    let plain = Room::new(&THREE);
    plain.init("c", &["--suite", "eth2", "-t", "2", "--one-round"], &THREE).refused("alice has no share key");
}

/// A key is shared anew among others and refreshed, by one transcript of each who has a share.
#[test]
fn a_key_is_shared_anew_in_one_round() {
    let room = room(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "2", "--one-round"], &THREE).exits(0);
    room.all("publish", "c", &THREE);
    THREE.iter().for_each(|name| drop(room.step("combine", "c", name, &[]).exits(0)));
    let key = room.public_key("c");
    let files = member_files(&FIVE[3..]);
    let reshare = ["dkg", "reshare", "d", "--previous", "c", "-t", "3", "--one-round", &files[0], &files[1]];
    room.run(&reshare).exits(0);
    room.step("publish", "d", "alice", &[]).refused("give its file with --share");
    room.step("publish", "d", "alice", &["--share", &room.share("c", "bob")]).refused("you deal your share 1");
    for name in ["carol", "alice"] {
        room.step("publish", "d", name, &["--share", &room.share("c", name)]).exits(0);
    }
    room.step("publish", "d", "dave", &[]).refused("dave does not deal");
    for name in FIVE {
        room.step("combine", "d", name, &["--without", "bob"]).exits(0);
    }
    assert_eq!(room.public_key("d"), key);
    room.assert_signs("d", &["bob", "dave", "erin"].map(|name| room.share("d", name)));

    room.run(&["dkg", "refresh", "e", "--previous", "d", "--one-round"]).exits(0);
    for name in FIVE {
        room.step("publish", "e", name, &["--share", &room.share("d", name)]).exits(0);
    }
    room.step("forget", "e", "alice", &["--previous", "d"]).refused("which would be your new share");
    FIVE.iter().for_each(|name| drop(room.step("combine", "e", name, &[]).exits(0).says("quorate dkg forget e")));
    assert_eq!(room.public_key("e"), key);
    room.assert_signs("e", &["bob", "dave", "alice"].map(|name| room.share("e", name)));
    let what_stays = "the old ceremony had one round";
    room.step("forget", "e", "alice", &["--previous", "d"]).exits(0).says("your share from before").says(what_stays);
    assert!(!room.path(&room.share("d", "alice")).exists() && room.path(&room.share("e", "alice")).exists());
    room.step("forget", "e", "alice", &["--previous", "d"]).exits(0).says("nothing is left to delete").says(what_stays);
}
