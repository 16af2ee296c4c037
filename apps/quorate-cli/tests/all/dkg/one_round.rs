//! Ceremonies in one round: `quorate dkg publish` and `quorate dkg combine`.

use std::{fs, time::Instant};

use sha2::{Digest as _, Sha256};

use crate::dkg::{
    forge::false_transcript,
    room::{Room, UNNAMED, Waiting, member_files},
};

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
    room.init("c", &["--suite", "eth2", "-t", "2", "--one-round"], names).exits(0).says("`quorate dkg run`");
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

/// Files come from another member in any order, and are not whole yet: whoever waits goes on when they are.
#[test]
fn files_that_are_on_their_way() {
    let room = published(&THREE);
    room.run(&["dkg", "combine", "c"]).exits(0);
    let late = |file: &str, part: Option<usize>, says: &str| {
        let path = format!("c/{file}");
        let whole = room.read(&path);
        match part {
            Some(length) => room.write(&path, &whole[..length]),
            None => fs::remove_file(room.path(&path)).unwrap(),
        }
        let begun = Instant::now();
        let run = Waiting::of(room.starts("c", "alice", &[]));
        room.write(&path, &whole);
        let is_late = begun.elapsed() > UNNAMED;
        let ran = run.ends().exits(0);
        let lines = ran.err.replace('\n', " ");
        assert!(lines.contains(says) && (is_late || !lines.contains("warning")), "{}", ran.err);
        assert!(lines.contains("looking into c/transcripts every"), "{}", ran.err);
        fs::remove_file(room.path(&room.share("c", "alice"))).unwrap();
    };
    let length = |file: &str| room.read(&format!("c/{file}")).len();
    for part in [0, 1, length("shared-key.json") / 2, length("shared-key.json") - 1] {
        late("shared-key.json", Some(part), "waiting for c/shared-key.json to be whole");
    }
    for part in [0, 1, length("combination.json") / 2, length("combination.json") - 3] {
        late("combination.json", Some(part), "waiting for c/combination.json to be whole");
    }
    let of_bob = "waiting for the transcript of bob that c/combination.json counts";
    late("transcripts/bob.transcript", None, of_bob);
    late("transcripts/bob.transcript", Some(1000), of_bob);

    // Where nobody waits, they are errors at once. A list that stays broken is named, and waited for.
    let (key, list) = (room.read("c/shared-key.json"), room.read("c/combination.json"));
    room.write("c/shared-key.json", &key[..key.len() / 2]);
    let other_key = "c/shared-key.json is not the key that this ceremony made";
    room.starts("c", "alice", &[]).ends().refused(other_key);
    room.step("run", "c", "alice", &[]).refused(other_key);
    room.write("c/shared-key.json", &key);
    room.write("c/combination.json", &list[..list.len() / 2]);
    room.step("run", "c", "alice", &[]).refused("c/combination.json: EOF").says("get it again from another member");
    room.starts("c", "alice", &["--timeout", "7s"])
        .ends()
        .exits(1)
        .says("warning: c/combination.json: EOF")
        .says("the time is over; still waiting for c/combination.json to be whole");
}

/// Erin is away. The others make the key without her, and she comes later: her share is there, and what she publishes changes
/// nothing.
#[test]
fn who_comes_late_has_its_share() {
    let room = begun(&FIVE);
    room.all("publish", "c", &FIVE[..4]);
    room.run(&["dkg", "combine", "c"]).exits(1).says("waiting for the transcripts of erin").says("--without erin");
    room.step("run", "c", "alice", &["--id", &room.id("c")]).exits(1).says("--without erin");
    let fewer = room.run(&["dkg", "combine", "c", "--without", "bob"]);
    fewer.exits(1).says("waiting for the transcripts of erin").says("give: --without bob,erin");
    room.run(&["dkg", "combine", "c", "--without", "frank"]).refused("has no member frank");
    let key = room.run(&["dkg", "combine", "c", "--without", "erin"]).exits(0).out;
    room.step("publish", "c", "erin", &[]).exits(0);
    assert_eq!(room.step("combine", "c", "erin", &[]).exits(0).says("your share 5 of 5").out, key);
    room.step("combine", "c", "bob", &[]).exits(0);
    room.assert_signs("c", &["erin", "bob"].map(|name| room.share("c", name)));
}

/// Who can write to the folder says which transcripts count, and cannot choose so few that all of them could be dishonest. A dealer that is
/// not among them is told so.
#[test]
fn a_dealer_is_told_that_its_transcript_does_not_count() {
    let room = room(&FIVE);
    let flags = ["--suite", "eth2", "-t", "3", "--one-round"];
    room.init("c", &[&flags[..], &["--dealers-needed", "1"]].concat(), &FIVE)
        .refused("a new key in one round needs at least 3 dealers, and not 1");
    room.init("c", &flags, &FIVE).exits(0);
    let shown = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(shown.contains("signed two  0 of 5   -\nneeded      3 transcripts at least\n\nnext: "), "{shown}");
    room.all("publish", "c", &FIVE[2..]);
    room.run(&["dkg", "combine", "c", "--without", "alice,bob"]).exits(0);
    room.all("publish", "c", &FIVE[..2]);
    let (list, warning) = ("c/combination.json: the key is made of the transcripts of carol, dave and erin", "warning");
    for (command, name) in [("combine", "alice"), ("run", "bob")] {
        room.step(command, "c", name, &[]).exits(0).says(list).says("warning: your own transcript is not among them");
    }
    for (command, name) in [("combine", "carol"), ("run", "dave")] {
        let counted = room.step(command, "c", name, &[]).exits(0).says(list);
        assert!(!counted.err.contains(warning), "{}", counted.err);
    }
    assert!(!room.run(&["dkg", "combine", "c"]).exits(0).says(list).err.contains(warning));
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
    room.run(&["dkg", "combine", "c"])
        .exits(0)
        .says("mallory signed two different transcripts")
        .says("mallory is left out")
        .says("alice and bob");
    room.step("combine", "c", "mallory", &[]).exits(0).says("your share 3 of 3");
    let judged = room.run(&["dkg", "judge", "c"]).exits(1);
    assert_eq!(judged.out, "mallory signed two different transcripts\n");
    let files = ["c/transcripts/other.transcript", "c/transcripts/alice.transcript"];
    let judged = room.run(&["dkg", "judge", "c", files[0], files[1], "--json"]).exits(0).object();
    assert_eq!((&judged["messages"], &judged["proven"]), (&2.into(), &serde_json::json!([])));
    let shown = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(shown.contains("signed two  1 of 3   mallory"), "{shown}");
}

/// Files have other names than those of their dealers. One such transcript is waited for, and two that differ are a lie, whatever they
/// are called: none is taken in the place of the other.
#[test]
fn transcripts_under_other_names() {
    let names = ["alice", "bob", "mallory"];
    let room = begun(&names);
    let before = room.tree();
    room.all("publish", "c", &["mallory"]);
    let first = room.read("c/transcripts/mallory.transcript");
    room.restore(&before);
    room.all("publish", "c", &names);
    fs::rename(room.path("c/transcripts/mallory.transcript"), room.path("c/transcripts/one.transcript")).unwrap();
    room.write("c/transcripts/two.transcript", room.read("c/transcripts/one.transcript"));
    room.run(&["dkg", "combine", "c"])
        .exits(1)
        .says("waiting for the transcripts of mallory")
        .says("one.transcript: it has the transcript of mallory, which is not taken under this name; rename it to c/tr")
        .says("two.transcript: it is a copy of c/transcripts/one.transcript; remove it");
    room.write("c/transcripts/two.transcript", &first);
    let told = "mallory signed two different transcripts, which c/transcripts/one.transcript and \
                c/transcripts/two.transcript prove\n";
    for command in ["status", "judge"] {
        let ran = room.run(&["dkg", command, "c"]).says(told);
        assert!(ran.out.contains("mallory"), "{}", ran.out);
    }
    let shown = room.run(&["dkg", "status", "c", "--json"]).exits(0).object();
    assert_eq!((&shown["signed_two"], &shown["missing"]), (&serde_json::json!(["mallory"]), &serde_json::json!([])));
    let key = room
        .run(&["dkg", "combine", "c"])
        .exits(0)
        .says(told)
        .says("mallory is left out")
        .says("the transcripts of alice and bob")
        .out;
    // The list of the key counts those that it names, whatever their files are called.
    fs::rename(room.path("c/transcripts/bob.transcript"), room.path("c/transcripts/three.transcript")).unwrap();
    assert_eq!(room.step("combine", "c", "bob", &[]).exits(0).says("your share 2 of 3").out, key);
}

/// Where a member is, and the one command that it needs.
#[test]
fn status_says_what_comes_next() {
    let room = begun(&THREE);
    let status = |flags: &[&str]| room.run(&[&["dkg", "status", "c"], flags].concat()).exits(0).out;
    let alice = ["--identity", "alice/alice.identity.json"];
    let next = "your next command: quorate dkg run c --identity alice/alice.identity.json";
    let out = status(&alice);
    assert!(out.contains("next: alice, bob and carol should run `quorate dkg run` (step `publish`)"), "{out}");
    assert!(
        out.ends_with(&format!("you are alice, and have not published your transcript\n{next} --id ID --wait\n")),
        "{out}"
    );
    room.all("publish", "c", &THREE);
    let out = status(&alice);
    assert!(out.ends_with(&format!("you are alice, and have published your transcript\n{next} --wait\n")), "{out}");
    assert!(out.contains("next: each member should run `quorate dkg run`"), "{out}");
    room.step("run", "c", "alice", &[]).exits(0);
    assert!(status(&alice).ends_with("you are alice, and have your part of the key\n"));
    let json = room.run(&["dkg", "status", "c", "--json", alice[0], alice[1]]).exits(0).object();
    assert_eq!((&json["you"]["published"], json["you"].get("next")), (&true.into(), None));
    // Nothing says where a share is that was written with --out.
    fs::rename(room.path(&room.share("c", "alice")), room.path("elsewhere.json")).unwrap();
    let out = status(&alice);
    assert!(out.replace('\n', " ").contains("with --out, nothing is left to do your next command:"), "{out}");
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
    // A third one, and the one that counts under the last of all names.
    let first = room.read("c/transcripts/mallory.transcript");
    for file in ["c/transcripts/mallory.transcript", &format!("mallory/mallory.{}.transcript", room.id("c"))] {
        fs::remove_file(room.path(file)).unwrap();
    }
    room.all("publish", "c", &["mallory"]);
    fs::rename(room.path("c/transcripts/mallory.transcript"), room.path("c/transcripts/more.transcript")).unwrap();
    room.write("c/transcripts/z.transcript", &first);
    assert_eq!(room.step("combine", "c", "alice", &[]).exits(0).says("your share 1 of 3").out, key);
}

#[test]
fn who_signs_a_second_transcript_after_the_list_still_counts_and_is_not_called_left_out() {
    let names = ["alice", "bob", "mallory"];
    let room = begun(&names);
    let before = room.tree();
    room.all("publish", "c", &["mallory"]);
    let second = room.read("c/transcripts/mallory.transcript");
    room.restore(&before);
    room.all("publish", "c", &names);
    room.run(&["dkg", "combine", "c"]).exits(0).says("the transcripts of alice, bob and mallory");
    room.write("c/transcripts/x.transcript", &second);
    let ran = room.step("combine", "c", "bob", &[]).exits(0).says("mallory signed two different transcripts");
    let ran = ran.says("of the transcripts of mallory, the one that c/combination.json lists counts");
    let ran = ran.says("the transcripts of alice, bob and mallory");
    assert!(!ran.err.contains("left out"), "{}", ran.err);
    let shown = room.run(&["dkg", "status", "c"]).exits(0).says("mallory signed two different transcripts");
    assert!(!shown.err.contains("left out"), "{}", shown.err);
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
    let longer = [&transcript[..], &[0]].concat();
    for (bytes, reason) in [
        (&b""[..], "it is not a transcript, or was cut off"),
        (&transcript[..100], "it is not a transcript, or was cut off"),
        (&transcript[..transcript.len() - 1], "it is not signed by its sender"),
        (&changed, "it is not signed by its sender"),
        (&longer, "bytes, and no such file of a ceremony has more than"),
        (&room.read("c/ceremony.json"), "it is not a transcript, or was cut off"),
    ] {
        room.write("c/transcripts/alice.transcript", bytes);
        room.run(&["dkg", "combine", "c"]).exits(1).says(reason).says("waiting for the transcripts of alice");
    }
    room.write("c/transcripts/alice.transcript", &transcript);
    room.write("c/transcripts/copy.transcript", &transcript);
    room.write("c/transcripts/.part", b"");
    room.run(&["dkg", "combine", "c"]).exits(0).says("it is a copy of c/transcripts/alice.transcript; remove it");
    // The list counts, and what it lists must be there, under any name.
    fs::remove_file(room.path("c/transcripts/alice.transcript")).unwrap();
    room.step("combine", "c", "bob", &[]).exits(0).says("rename it to c/transcripts/alice.transcript");
    fs::remove_file(room.path("c/transcripts/copy.transcript")).unwrap();
    room.step("combine", "c", "bob", &[]).refused("counts the transcript of alice");
    room.write("c/combination.json", b"{}");
    room.step("combine", "c", "bob", &[]).refused("combination.json");
}

/// A list with the same entries in another order, or with one twice, is nobody's.
#[test]
fn a_list_that_no_member_writes() {
    let room = published(&THREE);
    room.run(&["dkg", "combine", "c"]).exits(0);
    let list: serde_json::Value = serde_json::from_slice(&room.read("c/combination.json")).unwrap();
    let changed = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let mut list = list.clone();
        change(list["transcripts"].as_array_mut().unwrap());
        room.write("c/combination.json", list.to_string());
        for command in ["combine", "run"] {
            room.step(command, "c", "bob", &[])
                .refused("c/combination.json: it does not name members once each, in the order of ceremony.json")
                .says("get it again from another member");
        }
    };
    changed(&|entries| entries.reverse());
    changed(&|entries| entries.push(entries[2].clone()));
    changed(&|entries| entries[0]["dealer"] = "zoe".into());
    room.write("c/combination.json", list.to_string());
    room.step("combine", "c", "bob", &[]).exits(0);
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
    for name in FIVE {
        let combined = room.step("combine", "e", name, &[]).exits(0).says(&format!("\n  {}\n", digest(&room, "e")));
        combined.says(&format!(
            "quorate dkg forget e --identity {name}/{name}.identity.json --previous OLD_FOLDER --digest DIGEST"
        ));
    }
    assert_eq!(room.public_key("e"), key);
    room.assert_signs("e", &["bob", "dave", "alice"].map(|name| room.share("e", name)));
    let (what_stays, compared) = ("warning: where a ceremony gave ", digest(&room, "e"));
    let forget =
        |name: &str, old: [&str; 2]| room.step("forget", "e", name, &[old[0], old[1], "--digest", &compared]).exits(0);
    forget("alice", ["--previous", "d"]).says("your share from before").says(what_stays);
    assert!(!room.path(&room.share("d", "alice")).exists() && room.path(&room.share("e", "alice")).exists());
    let of_bob = room.share("d", "bob");
    forget("bob", ["--share", &of_bob]).says(what_stays);
    assert!(!room.path(&of_bob).exists());
    forget("alice", ["--previous", "d"]).says("nothing is left to delete").says(what_stays);
}

/// What members compare when a key was shared anew.
fn digest(room: &Room, folder: &str) -> String {
    const_hex::encode(Sha256::digest(room.read(&format!("{folder}/shared-key.json"))))
}

/// Carol's transcript reaches one of two copies of the folder. The members of both come to the same public key, and to shares that make
/// no signature together: they compare the digest, and nobody deletes an old share before.
#[test]
fn two_sharings_of_one_public_key() {
    let names = ["alice", "bob", "carol", "dave"];
    let room = room(&names);
    room.init("c", &["--suite", "eth2", "-t", "3", "--one-round"], &names).exits(0);
    room.all("publish", "c", &names);
    room.all("combine", "c", &names);
    room.run(&["dkg", "refresh", "r", "--previous", "c", "--one-round"]).exits(0);
    for name in names {
        room.step("publish", "r", name, &["--share", &room.share("c", name)]).exits(0);
    }
    fs::create_dir_all(room.path("copy/transcripts")).unwrap();
    let carry = |file: &str| room.write(&format!("copy/{file}"), room.read(&format!("r/{file}")));
    carry("ceremony.json");
    names.iter().for_each(|name| carry(&format!("transcripts/{name}.transcript")));
    fs::remove_file(room.path("r/transcripts/carol.transcript")).unwrap();
    let of = |name: &str| if ["alice", "bob"].contains(&name) { "r" } else { "copy" };
    for name in names {
        let combined = room.step("combine", of(name), name, &["--without", "carol"]).exits(0);
        combined.says("Compare this digest of shared-key.json").says(&digest(&room, of(name)));
    }
    assert_eq!(room.public_key("r"), room.public_key("copy"));
    assert_ne!(digest(&room, "r"), digest(&room, "copy"));

    let compared = digest(&room, "r");
    let forget =
        |name: &str, digest: &[&str]| room.step("forget", of(name), name, &[&["--previous", "c"][..], digest].concat());
    let before = room.tree();
    for name in names {
        forget(name, &[])
            .refused("give --digest with the digest of shared-key.json, which all members compare")
            .says("nothing was deleted");
    }
    for name in ["carol", "dave"] {
        forget(name, &["--digest", &compared])
            .refused(&format!("--digest: you compared {compared}, and copy/shared-key.json has the digest "))
            .says("nothing was deleted");
    }
    forget("alice", &["--digest", "00"]).refused("found 2 hexadecimal digits, expected 64");
    room.assert_is(&before, "forget");

    // Carol and dave do what they were told, and all shares fit.
    for name in ["carol", "dave"] {
        fs::remove_file(room.path(&room.share("r", name))).unwrap();
    }
    fs::remove_file(room.path("copy/shared-key.json")).unwrap();
    carry("combination.json");
    for name in names {
        room.step("combine", of(name), name, &[]).exits(0).says(&compared);
        forget(name, &["--digest", &compared]).exits(0).says("your share from before");
    }
    room.assert_signs("copy", &["alice", "carol", "dave"].map(|name| room.share("r", name)));
}

/// Alice takes part in a refresh with a new identity, as she should. Her old share stands beside the old one.
#[test]
fn a_refresh_with_a_new_identity() {
    let room = published(&THREE);
    room.all("combine", "c", &THREE);
    room.run(&["dkg", "identity", "alice", "--out", ".", "--one-round"]).exits(0);
    room.run(&["dkg", "refresh", "r", "--previous", "c", "--one-round", "alice.member.json"]).exits(0);
    let old_share = room.share("c", "alice");
    let alice = |step: &str, flags: &[&str]| {
        room.run(&[&["dkg", step, "r", "--identity", "alice.identity.json"], flags].concat())
    };
    alice("publish", &["--share", &old_share]).exits(0);
    for name in &THREE[1..] {
        room.step("publish", "r", name, &["--share", &room.share("c", name)]).exits(0);
    }
    let combined = alice("combine", &[]).exits(0).says("No old share of yours stands beside this identity.");
    assert!(!combined.err.contains("These files are yours"), "{}", combined.err);
    combined.says("quorate dkg forget r --identity alice.identity.json --share FILE --digest DIGEST");
    let (compared, before) = (digest(&room, "r"), room.tree());
    alice("forget", &["--previous", "c", "--digest", &compared])
        .refused("in the ceremony in c you have another identity than alice.identity.json")
        .says("--share FILE in the place of --previous")
        .says("nothing was deleted");
    room.assert_is(&before, "forget");
    let forgot = alice("forget", &["--previous", "c", "--share", &old_share, "--digest", &compared]).exits(0);
    let text = forgot.err.replace('\n', " ");
    assert!(text.contains("that share to whoever has the identity with which alice took part in it."), "{text}");
    assert!(text.contains("if it is alice.identity.json, take part in the next one with a new identity"), "{text}");
    assert!(!room.path(&old_share).exists());
}

/// Alice has two shares, bob one and carol three, of which three sign. Frank only deals.
#[test]
fn members_have_several_shares() {
    let names = ["alice", "bob", "carol", "frank"];
    let room = room(&names);
    let flags = [
        "--suite",
        "eth2",
        "-t",
        "3",
        "--one-round",
        "--weight",
        "carol=3",
        "--weight",
        "alice=2",
        "--weight",
        "frank=0",
    ];
    room.init("c", &flags, &names).exits(0);
    let out = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(out.contains("3 of 6\nshares: alice 2, bob 1 and carol 3\n\npublished   0 of 4"), "{out}");
    let status = room.run(&["dkg", "status", "c", "--json"]).exits(0).object();
    let carol = serde_json::json!({"name": "carol", "shares": 3, "participants": [4, 6]});
    assert_eq!((&status["shares"][2], &status["participants"]), (&carol, &6.into()));
    room.all("publish", "c", &names);
    let path = |name: &str, index: usize| room.share("c", name).replace(".json", &format!("-{index}.json"));
    room.step("combine", "c", "carol", &["--out", "shares.json"])
        .refused("--out names one file, and you have 3 shares");
    assert!(!room.path("c/shared-key.json").exists(), "nothing is written");
    room.step("combine", "c", "carol", &[])
        .exits(0)
        .says(&path("carol", 6))
        .says("They are your shares 4, 5 and 6 of 6");
    let bob = room.step("combine", "c", "bob", &[]).exits(0).says("It is your share 3 of 6");
    assert!(bob.err.contains(&room.share("c", "bob")), "{}", bob.err);
    let before = room.tree();
    room.step("combine", "c", "carol", &[]).exits(0);
    room.step("run", "c", "frank", &[]).exits(0);
    room.assert_is(&before, "once more, and who has no share");
    // One of several files is lost, and comes again alone.
    fs::remove_file(room.path(&path("carol", 5))).unwrap();
    room.step("combine", "c", "carol", &[]).exits(0).says("It is your share 5 of 6");
    room.assert_is(&before, "again");
    let identity = ["--identity", "carol/carol.identity.json"];
    assert!(
        room.run(&["dkg", "status", "c", identity[0], identity[1]])
            .exits(0)
            .out
            .ends_with("have your part of the key\n")
    );
    // Carol signs alone.
    room.assert_signs("c", &[4, 5, 6].map(|index| path("carol", index)));
}

/// The shares of a member of a ceremony, which has several.
fn shares(room: &Room, folder: &str, name: &str, indices: &[u32]) -> Vec<String> {
    let path = |index: &u32| room.share(folder, name).replace(".json", &format!("-{index}.json"));
    indices.iter().map(path).collect()
}

/// Files as flags.
fn each<'a>(flag: &'a str, files: &'a [String]) -> Vec<&'a str> {
    files.iter().flat_map(|file| [flag, file]).collect()
}

/// Alice has two shares, bob one and carol three, of which three sign. The folder of their ceremony says so when they share the key anew,
/// and each deals all its shares with one file.
#[test]
fn a_key_with_weights_is_shared_anew() {
    let names = ["alice", "bob", "carol", "frank"];
    let room = room(&names);
    let weights = ["--weight", "alice=2", "--weight", "carol=3"];
    let flags = [&["--suite", "eth2", "-t", "3", "--one-round"][..], &weights].concat();
    room.init("c", &flags, &names[..3]).exits(0);
    room.all("publish", "c", &names[..3]);
    room.all("combine", "c", &names[..3]);
    let key = room.public_key("c");
    for command in [&["refresh"][..], &["reshare", "-t", "2"]] {
        let answer_each_other = [&["dkg"], command, &["d", "--previous", "c"]].concat();
        room.run(&answer_each_other).refused(
            "alice has 2 shares, and where members answer each other everyone deals and receives one; add --one-round",
        );
    }
    room.run(&["dkg", "recover", "d", "--previous", "c", "--lost", "bob"]).refused("`quorate dkg refresh --one-round`");
    assert!(!room.path("d").exists());

    // A refresh, in which carol's shares are enough.
    room.run(&["dkg", "refresh", "d", "--previous", "c", "--one-round"]).exits(0);
    let out = room.run(&["dkg", "status", "d"]).exits(0).out;
    assert!(out.contains("3 of 6\nshares: alice 2, bob 1 and carol 3\n\npublished   0 of 3"), "{out}");
    let out = room.run(&["dkg", "status", "d", "--identity", "carol/carol.identity.json"]).exits(0).out;
    assert!(out.ends_with("--id ID --share FILE --share FILE --share FILE --wait\n"), "{out}");
    let of_carol = shares(&room, "c", "carol", &[4, 5, 6]);
    room.step("publish", "d", "carol", &each("--share", &of_carol[..2])).refused(
        "you deal your shares 4, 5 and 6 of the previous key; give the file of each with --share: that of share 6 is missing",
    );
    let twice = [&of_carol[..], &of_carol[..1]].concat();
    room.step("publish", "d", "carol", &each("--share", &twice)).refused("give each of yours once");
    room.step("publish", "d", "carol", &each("--share", &of_carol)).exits(0);
    let out = room.run(&["dkg", "status", "d"]).exits(0).out;
    assert!(out.contains("`--without`"), "{out}");
    room.step("combine", "d", "carol", &["--without", "alice,bob"]).exits(0).says("your shares 4, 5 and 6 of 6");
    room.all("combine", "d", &names[..2]);
    assert_eq!(room.public_key("d"), key);
    let bob = [room.share("d", "bob")];
    room.assert_signs("d", &[&shares(&room, "d", "alice", &[1, 2])[..], &bob].concat());
    let compared = digest(&room, "d");
    room.step("forget", "d", "carol", &["--previous", "c", "--digest", &compared])
        .exits(0)
        .says("your share from before");
    assert!(of_carol.iter().all(|path| !room.path(path).exists()));

    // The key goes to frank, too. Everyone else has as many shares as before, but for whom a flag says another number.
    let frank = member_files(&names[3..]);
    let reshare =
        ["dkg", "reshare", "e", "--previous", "d", "-t", "4", "--one-round", "--weight", "alice=1", &frank[0]];
    room.run(&reshare).exits(0);
    let out = room.run(&["dkg", "status", "e"]).exits(0).out;
    assert!(out.contains("4 of 6\nshares: alice 1, bob 1, carol 3 and frank 1\n"), "{out}");
    let of_alice = shares(&room, "d", "alice", &[1, 2]);
    room.step("publish", "e", "alice", &each("--share", &of_alice)).exits(0);
    room.run(&["dkg", "combine", "e", "--without", "bob,carol"])
        .refused("1 transcripts of 2 shares are true, and 3 are needed for a key");
    room.step("publish", "e", "bob", &each("--share", &bob)).exits(0);
    for name in names {
        room.step("combine", "e", name, &["--without", "carol"]).exits(0);
    }
    assert_eq!(room.public_key("e"), key);
    room.assert_signs("e", &[&shares(&room, "e", "carol", &[3, 4, 5])[..], &[room.share("e", "frank")]].concat());
}

/// Carol signs one true transcript of a share and one that is none. None of hers counts, and her file proves it.
#[test]
fn who_has_several_shares_and_lies_about_one() {
    let room = room(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2", "--one-round", "--weight", "carol=2"], &THREE).exits(0);
    room.all("publish", "c", &THREE);
    room.all("combine", "c", &THREE);
    room.run(&["dkg", "refresh", "d", "--previous", "c", "--one-round"]).exits(0);
    for name in ["alice", "bob"] {
        room.step("publish", "d", name, &["--share", &room.share("c", name)]).exits(0);
    }
    room.step("publish", "d", "carol", &each("--share", &shares(&room, "c", "carol", &[3, 4]))).exits(0);
    false_transcript(&room, "d", "carol");
    let judged = room.run(&["dkg", "judge", "d"]).exits(1);
    assert!(judged.out.starts_with("carol published a false transcript"), "{}", judged.out);
    room.run(&["dkg", "combine", "d"]).exits(0).says("the transcript of carol is false").says("alice and bob");
    assert_eq!(room.public_key("d"), room.public_key("c"));
}

/// The weights of stakes, and the key that is shared anew among members with weights.
#[test]
fn weights_come_from_stakes() {
    let room = room(&THREE);
    room.write("stakes.csv", "alice,50\nbob,30\ncarol,20\nnobody,0\n");
    let stakes = ["threshold", "weights", "stakes.csv", "--safe", "1/2", "--live", "11/20", "--json"];
    room.write("weights.json", room.run(&stakes).exits(0).out);
    let flags = ["--suite", "eth2", "--one-round", "--weights", "weights.json"];
    room.init("c", &[&flags[..], &["-t", "2"]].concat(), &THREE)
        .refused("3 of these shares sign, and --threshold is 2");
    room.init("c", &flags, &THREE[..2]).refused("carol has 1 share there, and is no receiver");
    room.init("c", &flags, &THREE).exits(0);
    let out = room.run(&["dkg", "status", "c"]).exits(0).out;
    assert!(out.contains("3 of 4\nshares: alice 2, bob 1 and carol 1\n"), "{out}");
    room.init("d", &["--suite", "eth2", "-t", "2", "--one-round"], &THREE).exits(0);
    room.all("publish", "d", &THREE);
    room.all("combine", "d", &THREE);
    room.run(&["dkg", "reshare", "e", "--previous", "d", "--one-round", "--weights", "weights.json"]).exits(0);
    for name in &THREE[..2] {
        room.step("publish", "e", name, &["--share", &room.share("d", name)]).exits(0);
    }
    room.step("combine", "e", "alice", &["--without", "carol"]).exits(0).says("They are your shares 1 and 2 of 4");
    room.step("combine", "e", "bob", &[]).exits(0).says("It is your share 3 of 4");
    assert_eq!(room.public_key("e"), room.public_key("d"));
    let of_alice = [1, 2].map(|index| room.share("e", "alice").replace(".json", &format!("-{index}.json")));
    room.assert_signs("e", &[&of_alice[..], &[room.share("e", "bob")]].concat());
    // Alice deletes her share of before, and needs both new ones for it.
    fs::rename(room.path(&of_alice[1]), room.path("kept")).unwrap();
    room.step("forget", "e", "alice", &["--previous", "d"])
        .refused("-2.json is not there, which would be your new share");
    fs::rename(room.path("kept"), room.path(&of_alice[1])).unwrap();
    room.step("forget", "e", "alice", &["--previous", "d", "--digest", &digest(&room, "e")])
        .exits(0)
        .says("your share from before");
}

#[test]
fn weights_that_are_none() {
    let room = room(&THREE);
    let init = |flags: &[&str]| room.init("c", &[&["--suite", "eth2"], flags].concat(), &THREE);
    init(&["-t", "2", "--weight", "alice=2"]).refused("--one-round");
    let flags = |weights: &[&'static str]| [&["-t", "2", "--one-round"][..], weights].concat();
    init(&flags(&["--weight", "alice"])).refused("expected NAME=SHARES");
    init(&flags(&["--weight", "alice=-1"])).refused("the shares");
    init(&flags(&["--weight", "frank=2"])).refused("frank has 2 shares there, and is no receiver");
    init(&flags(&["--weight", "bob=2", "--weight", "bob=3"])).refused("bob is there twice");
    init(&flags(&["--weight", "bob=65536"])).refused("65538 shares are more than 65536");
    init(&flags(&["--weight", "bob=4294967295"])).refused("more than 65536");
    init(&flags(&["--weight", "bob=30000"])).refused("a transcript for 30002 shares has ");
    room.write("w.json", r#"{"threshold": 2, "signers": [{"name": "alice", "shares": 2}]}"#);
    init(&["--one-round", "--weights", "w.json"]).refused("bob receives shares, and the file does not say how many");
    room.write("w.json", r#"{"signers": []}"#);
    init(&["--one-round", "--weights", "w.json"]).refused("give what `quorate threshold weights --json` printed");
    assert!(!room.path("c").exists());
}
