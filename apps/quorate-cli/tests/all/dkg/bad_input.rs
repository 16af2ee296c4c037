//! Files that are none, of others, or in the wrong place; command lines that cannot be meant.

use std::fs;

use crate::dkg::room::{Room, STEPS};

const THREE: [&str; 3] = ["alice", "bob", "carol"];

/// Each file that is not a message of the ceremony gets a line that names it, and the others are taken in.
/// Other systems have no file whose name is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn strange_files_among_the_messages() {
    use std::{
        ffi::OsStr,
        os::unix::{ffi::OsStrExt, fs::symlink},
    };

    use quorate_lab::run::{Run as _, shell};

    let room = Room::after("deal", &THREE);
    let deal = String::from_utf8(room.read("c/messages/1-deal-bob.json")).unwrap();
    let other = Room::after("deal", &THREE);
    let put = |name: &str, content: &[u8]| room.write(&format!("c/messages/{name}"), content);
    put("2-response-other.json", &other.read("c/messages/1-deal-bob.json"));
    put("truncated.json", &deal.as_bytes()[..deal.len() / 2]);
    put("doubled.json", deal.repeat(2).as_bytes());
    put("empty.json", b"");
    put("copy.json", deal.as_bytes());
    put("nobody.json", deal.replacen("\"sender\":2", "\"sender\":9", 1).as_bytes());
    put("zero.json", deal.replacen("\"sender\":2", "\"sender\":0", 1).as_bytes());
    put("\x1b[2J\u{202e}.json", format!("{{\"\x1b[31m{}\": 1}}", "x".repeat(5000)).as_bytes());
    put(".hidden", b"a transport's file that is not whole yet");
    fs::write(room.path("c/messages").join(OsStr::from_bytes(b"\xff.json")), &deal).unwrap();
    fs::create_dir(room.path("c/messages/folder")).unwrap();
    symlink("nowhere", room.path("c/messages/link.json")).unwrap();
    shell("mkfifo \"$0\"").arg(room.path("c/messages/pipe.json")).ran().exits(0);
    fs::File::create(room.path("c/messages/large.json")).unwrap().set_len((16 << 20) + 1).unwrap();

    let ran = room.step("receive", "c", "alice", &[]).exits(0);
    for (name, problem) in [
        ("2-response-other.json", "the message belongs to the ceremony"),
        ("truncated.json", "it is not a whole message"),
        ("doubled.json", "it is not a whole message"),
        ("empty.json", "it is not a whole message"),
        ("copy.json", "it has a message of bob of the round `deal`, which is not taken under this name"),
        ("nobody.json", "it names the member 9 as its sender, and the ceremony has no such member"),
        ("zero.json", "it names the member 0 as its sender"),
        ("\\u{1b}[2J\\u{202e}.json", "it is not a whole message"),
        ("\u{fffd}.json", "the file's name is not UTF-8"),
        ("folder", "is not a regular file"),
        ("link.json", "is a symbolic link to nothing"),
        ("pipe.json", "is not a regular file"),
        ("large.json", "has 16777217 bytes, and no such file of a ceremony has more"),
    ] {
        let line = ran.err.lines().find(|line| line.contains(&format!("c/messages/{name}")));
        let line = line.unwrap_or_else(|| panic!("{name} is not named in {}", ran.err));
        assert!(line.starts_with("warning: ") && line.contains(problem), "{line}");
        assert!(line.len() < 700, "{line}");
    }
    assert!(!ran.err.contains('\x1b') && !ran.err.contains(".hidden"), "{}", ran.err);
    for step in &STEPS[1..] {
        room.all(step, "c", &THREE);
    }
    room.assert_signs("c", &["alice", "bob"].map(|name| room.share("c", name)));
    assert!(room.run(&["dkg", "status", "c"]).exits(0).err.contains("truncated.json"));
}

/// Under the name of a member stands what it did not sign: the message of another, one that was changed, or none.
#[test]
fn messages_in_the_place_of_others() {
    let room = Room::after("deal", &THREE);
    let deal = room.read("c/messages/1-deal-bob.json");
    let text = String::from_utf8(deal.clone()).unwrap();
    let carols = room.read("c/messages/1-deal-carol.json");
    let forged = text.replacen("\"sender\":2", "\"sender\":3", 1);
    let changed = text.replacen("\"proof\":\"", "\"proof\":\"00", 1);
    for (content, problem) in [
        (carols.as_slice(), "it has a message of carol of the round `deal`"),
        (changed.as_bytes(), "bob did not sign it; remove it, and ask bob for the message"),
        (&deal[..deal.len() - 9], "it is not a whole message"),
    ] {
        room.write("c/messages/1-deal-bob.json", content);
        let waiting = room.step("receive", "c", "alice", &[]).exits(1).says("waiting for bob in the round `deal`");
        assert!(waiting.err.contains(&format!("warning: c/messages/1-deal-bob.json: {problem}")), "{}", waiting.err);
        // Bob sees that it is not his.
        room.step("receive", "c", "bob", &[])
            .refused("c/messages/1-deal-bob.json stands where your message belongs, and is not it");
    }
    // The id of another ceremony on what he signed: he did not sign two, and has no old state to bring back.
    let id = room.id("c");
    let moved = text.replacen(&id, &"0".repeat(64), 1);
    assert_ne!(moved, text);
    room.write("c/messages/1-deal-bob.json", moved);
    let refused = room.step("receive", "c", "bob", &[]);
    let refused = refused.refused("c/messages/1-deal-bob.json stands where your message belongs, and is not it");
    assert!(!refused.err.contains("signed both"), "{}", refused.err);
    room.write("c/messages/1-deal-bob.json", &deal);
    room.write("c/messages/1-deal-carol.json", forged);
    room.step("receive", "c", "alice", &[]).exits(0).says("carol did not sign it");
    // Carol removes it, and publishes hers again.
    fs::remove_file(room.path("c/messages/1-deal-carol.json")).unwrap();
    room.step("deal", "c", "carol", &[]).exits(0).says("published again");
    assert_eq!(room.read("c/messages/1-deal-carol.json"), carols);
    // Before a member has said anything, somebody puts a file in its place.
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.write("c/messages/1-deal-alice.json", &deal);
    room.step("deal", "c", "alice", &[]).refused("you did not sign it in this ceremony; remove it");
}

/// Whoever changes ceremony.json makes another ceremony, in which nobody has said anything.
#[test]
fn a_changed_ceremony_is_another_one() {
    let room = Room::after("deal", &THREE);
    let json = String::from_utf8(room.read("c/ceremony.json")).unwrap();
    room.write("c/ceremony.json", json.replacen("\"threshold\": 2", "\"threshold\": 3", 1));
    room.step("receive", "c", "alice", &[]).refused("you did not sign it in this ceremony");
    assert!(room.run(&["dkg", "status", "c"]).err.contains("the message belongs to the ceremony"));
    for (bad, problem) in [
        (json.replacen("\"threshold\": 2", "\"threshold\": 0", 1), "the threshold is 0"),
        (json.replacen("\"threshold\": 2", "\"threshold\": 4", 1), "there are only 3 participants"),
        (json.replacen("\"receiver\": 2", "\"receiver\": 1", 1), "two members have the receiver index 1"),
        (json.replacen("\"receiver\": 2", "\"receiver\": 4294967297", 1), "c/ceremony.json"),
        (json.replacen("\"receiver\": 1", "\"receiver\": 0", 1), "no member has the receiver index"),
        (json.replacen("eth2", "chia", 1), "chia"),
        (json.replacen("eth2", "eigenlayer", 1), "BN254"),
        (json.replacen("eth2", "eth3", 1), "eth3"),
        (json[..json.len() / 2].to_owned(), "c/ceremony.json"),
        (String::new(), "c/ceremony.json"),
    ] {
        assert_ne!(bad, json);
        room.write("c/ceremony.json", bad);
        for step in STEPS {
            room.step(step, "c", "alice", &[]).refused(problem);
        }
        room.run(&["dkg", "status", "c"]).refused(problem);
    }
    room.write("c/ceremony.json", json);
    room.all("receive", "c", &THREE);
}

/// What is left of an old ceremony is not taken for a part of a new one.
#[test]
fn a_folder_with_files_of_another_ceremony() {
    let room = Room::new(&THREE);
    for (file, problem) in [
        ("messages/1-deal-alice.json", "c/messages has files already"),
        ("transcripts/alice.transcript", "c/transcripts has files already"),
        ("combination.json", "c/combination.json exists already"),
        ("shared-key.json", "c/shared-key.json exists already"),
    ] {
        let path = room.path("c").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
        room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).refused(problem).says("name another folder");
        fs::remove_file(path).unwrap();
    }
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
}

/// Others may not list what is in it, as in each folder that holds secrets.
#[test]
fn identity_makes_the_folder_of_out() {
    let room = Room::new(&[]);
    room.run(&["dkg", "identity", "zoe", "--out", "new/deep"]).exits(0);
    assert!(room.path("new/deep/zoe.identity.json").exists() && room.path("new/deep/zoe.member.json").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |folder| fs::metadata(room.path(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["new", "new/deep"].map(mode), [0o700; 2]);
    }
}

#[test]
fn identities_that_are_none() {
    let room = Room::after("deal", &THREE);
    room.run(&["dkg", "identity", "alice", "--out", "alice"])
        .refused("alice/alice.identity.json exists already and is left as it is; choose another name");
    let with_key = room.run(&["dkg", "identity", "alice", "--out", "alice", "--one-round"]);
    with_key.refused("alice/alice.member.json exists already and is left as it is; move it away");
    // The public file alone was lost, or was not written when the program was killed.
    let (path, before) = (room.path("alice/alice.member.json"), room.tree());
    fs::remove_file(&path).unwrap();
    room.run(&["dkg", "identity", "alice", "--out", "alice"]).exits(0);
    room.assert_is(&before, "the identity is the same");
    fs::remove_file(room.path("alice/alice.identity.json")).unwrap();
    room.run(&["dkg", "identity", "alice", "--out", "alice"]).refused("alice/alice.member.json exists already");
    for name in ["", "..", "a/b", "a b", "é", "\x1b", "-a", &"a".repeat(41)] {
        let refused = room.run(&["dkg", "identity", "--", name]).refused("must be 1 to 40 letters, digits");
        assert!(!refused.err.contains('\x1b'));
    }
    room.write("file", "");
    room.run(&["dkg", "identity", "zoe", "--out", "file/new"]).exits(3).says("cannot make the folder file/new");
    let step = |identity: &str| room.run(&["dkg", "receive", "c", "--identity", identity]);
    step("nowhere").exits(3).says("cannot read nowhere");
    step("-").refused("is not read from standard input");
    step("bob/bob.member.json").refused("give the file NAME.identity.json");
    room.identity("zoe");
    step("zoe/zoe.identity.json").refused("has no member zoe; its members are alice, bob and carol");
    fs::create_dir(room.path("new")).unwrap();
    room.run(&["dkg", "identity", "bob", "--out", "new"]).exits(0);
    step("new/bob.identity.json").refused("lists other keys for bob than those of this identity");
    // Secrets stay out of errors, and a mode that lets others read gets a warning.
    let json = String::from_utf8(room.read("bob/bob.identity.json")).unwrap();
    let digits = json.split('"').nth(7).unwrap();
    room.write("cut.json", json.replacen(digits, &format!("{digits}\\n"), 1));
    let refused = step("cut.json").refused("line 3, column");
    assert!(!refused.err.contains(digits), "{}", refused.err);
    room.write("open.json", json);
    step("open.json").says("others than its owner can use it");
}

#[test]
fn ceremonies_that_cannot_be_meant() {
    let room = Room::new(&THREE);
    let init = |flags: &[&str]| room.init("c", &[&["--suite", "eth2"], flags].concat(), &THREE);
    for (flags, problem) in [
        (&["-t", "0"][..], "the threshold is 0, and it must be at least 1"),
        (&["-t", "1"], "the threshold is 1, so that every share would be the whole key; choose at least 2"),
        (&["-t", "4"], "the threshold is 4, and there are only 3 participants"),
        (&["-t", "-1"], "-1"),
        (&["-t", "18446744073709551616"], "18446744073709551616"),
        (&["-t", "2", "--dealers", "alice,zoe"], "--dealers: there is no member zoe; give the file zoe.member.json"),
        (&["-t", "2", "--receivers", "alice,alice"], "--receivers: alice is named twice"),
        (&["-t", "2", "--dealers", "alice,,bob"], "must be 1 to 40 letters"),
        (&["-t", "2", "--commit-first", "--dealers", "alice,bob"], "carol receives a share and does not deal"),
        (&["-t", "2", "--dealers-needed", "0"], "0"),
        (&["-t", "2", "--dealers-needed", "4"], "4"),
    ] {
        init(flags).refused(problem);
        assert!(!room.path("c").exists(), "{flags:?}");
    }
    room.init("c", &["--suite", "chia", "-t", "2"], &THREE).refused("shares cannot be combined");
    room.init("c", &["--suite", "eigenlayer", "-t", "2"], &THREE).refused("BN254");
    room.init("c", &["--suite", "eth2", "-t", "2"], &["alice", "bob", "alice"])
        .refused("alice/alice.member.json: the file of a member named alice was given before");
    let files =
        |file: &str| room.run(&["dkg", "init", "c", "--suite", "eth2", "-t", "2", "alice/alice.member.json", file]);
    files("bob/bob.identity.json")
        .refused("bob/bob.identity.json is not the file of a member: it is a secret identity");
    files("nowhere").exits(3).says("cannot read nowhere");
    room.write("bad.json", "{\"name\": \"bob\", \"signing_key\": \"00\", \"encryption_key\": \"00\"}");
    files("bad.json").refused("bad.json is not the file of a member: the signing key of bob");
    let member = String::from_utf8(room.read("bob/bob.member.json")).unwrap();
    let key = member.split('"').nth(11).unwrap();
    room.write("bad.json", member.replacen(key, &"0".repeat(64), 1));
    files("bad.json").refused("the encryption key of bob is not a key of X25519");
    init(&["-t", "2"]).exits(0);
    let made = room.read("c/ceremony.json");
    init(&["-t", "2"]).refused("c/ceremony.json exists already and is left as it is");
    assert_eq!(room.read("c/ceremony.json"), made);
}

/// Shares, keys and members that do not fit the key that is shared anew.
#[test]
fn previous_keys_that_do_not_fit() {
    let room = Room::after("complain", &THREE);
    let refresh = ["dkg", "refresh", "r", "--previous", "c"];
    room.run(&refresh).refused("c/shared-key.json is not there: the previous ceremony has not ended");
    room.all("finish", "c", &THREE);
    let share = |name| room.share("c", name);
    room.step("deal", "c", "alice", &["--share", &share("alice")]).exits(0);

    room.run(&["dkg", "recover", "r", "--previous", "c", "--lost", "zoe"])
        .refused("--lost: zoe has no share of the key; its holders are alice, bob, carol");
    room.run(&["dkg", "recover", "r", "--previous", "c", "--lost", "bob", "--helpers", "alice,bob"])
        .refused("--helpers: bob has no share that it could deal; the holders are alice, carol");
    room.run(&["dkg", "recover", "r", "--previous", "c", "--lost", "bob", "--helpers", "alice"]).refused("dealers");
    room.run(&["dkg", "reshare", "r", "--previous", "c", "-t", "4"]).refused("there are only 3 participants");
    room.run(&["dkg", "reshare", "r", "--previous", "c", "-t", "2", "--dealers", "alice"]).refused("dealers");
    let split = ["--shared-key", "c/shared-key.json"];
    room.run(&[&["dkg", "refresh", "r"], &split[..]].concat()).refused("--holder");
    for (holder, problem) in
        [("alice", "expected NAME=INDEX"), ("alice=0", "no participant 0"), ("alice=4", "no participant 4")]
    {
        room.run(&[&["dkg", "refresh", "r"], &split[..], &["--holder", holder]].concat()).refused(problem);
    }
    room.run(&[&["dkg", "refresh", "r"], &split[..], &["--holder", "alice=4294967297"]].concat()).refused("4294967297");
    room.run(&[&["dkg", "refresh", "r"], &split[..], &["--holder", "alice=1"]].concat()).refused("1 of the 3 shares");
    assert!(!room.path("r").exists());

    room.run(&refresh).exits(0);
    room.step("deal", "r", "alice", &["--share", &share("bob")])
        .refused("share 1 of the previous key, and the share given is 2");
    let other = Room::after("finish", &THREE);
    room.write("other.json", other.read(&other.share("c", "alice")));
    room.step("deal", "r", "alice", &["--share", "other.json"]).refused("other.json is a share of the key");
    let forged = String::from_utf8(room.read(&share("alice"))).unwrap();
    let bobs = String::from_utf8(room.read(&share("bob"))).unwrap().replacen("\"index\": 2", "\"index\": 1", 1);
    room.write("forged.json", &bobs);
    room.step("deal", "r", "alice", &["--share", "forged.json"]).exits(2);
    room.write("cut.json", &forged[..forged.len() / 2]);
    room.step("deal", "r", "alice", &["--share", "cut.json"]).refused("expected the share of a key");
    room.step("deal", "r", "alice", &["--share", "nowhere"]).exits(3).says("nowhere");
    room.step("deal", "r", "alice", &["--share", &share("alice")]).exits(0);

    // The file of another key beside the ceremony.
    room.write("c/shared-key.json", other.read("c/shared-key.json"));
    room.step("finish", "c", "alice", &[]).refused("c/shared-key.json is not the key that this ceremony made");
    let new = Room::after("deal", &THREE);
    new.step("deal", "c", "alice", &[]).exits(0);
    new.init("d", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    new.write("share.json", other.read(&other.share("c", "alice")));
    new.step("deal", "d", "alice", &["--share", "share.json"]).refused("--share is for ceremonies with a previous key");
}

/// What stands where the share or the shared key belongs stays as it is.
#[test]
fn files_in_the_place_of_results() {
    let room = Room::after("complain", &THREE);
    room.write("c/shared-key.json", "{}");
    room.step("finish", "c", "alice", &[]).refused("c/shared-key.json is not the key that this ceremony made");
    let share = room.share("c", "alice");
    assert!(!room.path(&share).exists());
    fs::remove_file(room.path("c/shared-key.json")).unwrap();
    room.step("finish", "c", "bob", &[]).exits(0);
    for content in [room.read(&room.share("c", "bob")), b"something else".to_vec(), Vec::new()] {
        room.write(&share, &content);
        room.step("finish", "c", "alice", &[])
            .refused("is there, and is not your share of the key that this ceremony made");
        assert_eq!(room.read(&share), content);
    }
    room.step("finish", "c", "alice", &["--out", "alice/mine.json"]).exits(0);
    room.assert_signs("c", &["alice/mine.json".to_owned(), room.share("c", "bob")]);
}
