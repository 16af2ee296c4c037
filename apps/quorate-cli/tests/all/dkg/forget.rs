//! What is deleted after a key was shared anew, and what is not.

use std::{fs, os::unix::fs::MetadataExt};

use quorate_lab::run::Ran;

use crate::dkg::room::{Room, STEPS, member_files};

const THREE: [&str; 3] = ["alice", "bob", "carol"];

/// Three members with a key, and a refresh of it in which all have run the commands up to one.
fn refreshed(last: &str) -> Room {
    let room = Room::after("finish", &THREE);
    room.run(&["dkg", "refresh", "second", "--previous", "c"]).exits(0);
    for name in THREE {
        room.step("deal", "second", name, &["--share", &room.share("c", name)]).exits(0);
    }
    let place = STEPS.iter().position(|step| *step == last).unwrap();
    STEPS[1..=place].iter().for_each(|step| room.all(step, "second", &THREE));
    room
}

/// The old ceremony's state makes the old share again, so `finish` says which files are to be deleted, and `forget` deletes
/// them. Then nothing makes the old share any more.
#[test]
fn finish_of_the_old_ceremony_after_a_refresh_writes_no_old_share() {
    let room = refreshed("complain");
    let finished = room.step("finish", "second", "alice", &[]).exits(0);
    let (old_share, old_state) = (room.share("c", "alice"), room.state("c", "alice"));
    let state = room.state("second", "alice");
    let named = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let finished = finished
        .says(&format!("  {old_share}, your share from before"))
        .says(&format!("  alice/{}, the private state from which", named(&old_state)))
        .says(&format!("  alice/{}, the private state of this ceremony", named(&state)))
        .says("quorate dkg forget second --identity alice/alice.identity.json --previous OLD_FOLDER");
    assert_eq!(finished.err.matches("\n  alice/").count(), 3, "{}", finished.err);

    // The old share that somebody deletes by hand comes back.
    fs::remove_file(room.path(&old_share)).unwrap();
    room.step("finish", "c", "alice", &[]).exits(0).says(&format!("wrote {old_share}"));

    // Whoever holds the same file by another name finds zeros in it.
    let links = [("share", room.path(&old_share)), ("old", old_state.clone()), ("new", state.clone())];
    for (name, path) in &links {
        fs::hard_link(path, room.path(name)).unwrap();
    }
    // What a killed program has left of the state.
    let unfinished = format!("alice/.{}.AbCdEf.tmp", named(&old_state));
    room.write(&unfinished, room.read(&format!("alice/{}", named(&old_state))));
    let before = room.tree();
    let forgot = room.step("forget", "second", "alice", &["--previous", "c"]).exits(0);
    assert!(!room.path(&unfinished).exists());
    forgot.says(&format!("deleted {old_share}")).says("backups and snapshots may still hold these files");
    let after = room.tree();
    for (name, path) in &links {
        assert!(!path.exists(), "{path:?}");
        let contents = room.read(name);
        assert!(!contents.is_empty() && contents.iter().all(|byte| *byte == 0), "{name}");
        assert_eq!(fs::metadata(room.path(name)).unwrap().nlink(), 1);
    }
    // Nothing else has changed.
    let changed = before.iter().filter(|(path, content)| after.get(*path) != Some(content));
    assert_eq!(changed.count(), 7);

    room.step("finish", "c", "alice", &[]).refused("your private state of this ceremony").says("`quorate dkg forget`");
    assert!(!room.path(&old_share).exists());
    room.step("forget", "second", "alice", &["--previous", "c"]).exits(0).says("nothing is left to delete");
    room.all("finish", "second", &THREE[1..]);
    room.assert_signs("second", &["alice", "carol"].map(|name| room.share("second", name)));
}

/// Nothing is deleted before the new share is there and the new key is confirmed, and nothing that is of another key.
#[test]
fn what_is_still_needed_is_not_deleted() {
    let room = refreshed("receive");
    room.init("other", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.ceremony("other", &THREE);
    let untouched = |flags: &[&str], reason: &str| {
        let before = room.tree();
        room.step("forget", "second", "alice", flags).refused(reason).says("nothing was deleted");
        room.assert_is(&before, reason);
    };
    let previous = ["--previous", "c"];
    untouched(&previous, "has not ended with a confirmed key for you; first run: quorate dkg finish second");
    room.all("complain", "second", &THREE);
    untouched(&previous, "has not ended with a confirmed key for you");
    room.all("finish", "second", &THREE);
    let share = room.share("second", "alice");
    untouched(&["--previous", "other"], "is not a share of the key from before");
    untouched(&["--share", &share], "is not a share of the key from before");
    untouched(&["--previous", "c", "--share", &room.share("other", "alice")], "is not a share of the key from before");
    let digest = "00".repeat(32);
    untouched(&["--previous", "c", "--digest", &digest], "--digest is for ceremonies in one round");
    fs::rename(room.path(&share), room.path("elsewhere.json")).unwrap();
    untouched(&previous, "is not there, which would be your new share");
    let before = room.tree();
    room.step("forget", "other", "alice", &previous).refused("does not share a key anew");
    room.step("forget", "second", "alice", &[]).refused("--previous");
    room.assert_is(&before, "forget");
    // A link is not followed.
    let old_share = room.path(&room.share("c", "alice"));
    fs::rename(&old_share, room.path("kept.json")).unwrap();
    std::os::unix::fs::symlink(room.path("kept.json"), &old_share).unwrap();
    let out = ["--previous", "c", "--out", "elsewhere.json"];
    room.step("forget", "second", "alice", &out).refused("is not a regular file");
    assert!(room.read("kept.json").starts_with(b"{"));
    fs::remove_file(&old_share).unwrap();
    room.step("forget", "second", "alice", &[&out[..], &["--share", "kept.json"]].concat()).exits(0);
    assert!(!room.path("kept.json").exists() && room.path("elsewhere.json").exists());
    room.assert_signs("second", &["elsewhere.json".to_owned(), room.share("second", "bob")]);
}

/// The new share is a keystore. One digit of its ciphertext differs, or its passphrase is not known: the old share is the last
/// copy.
#[test]
fn a_new_share_that_cannot_be_opened_keeps_the_old_ones() {
    let room = refreshed("complain");
    room.write("passphrase", "correct horse\n");
    room.write("other", "wrong horse\n");
    let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "passphrase", "--out", "new.json"];
    room.step("finish", "second", "alice", &keystore).exits(0);
    room.all("finish", "second", &THREE[1..]);
    let forget = |flags: &[&str]| {
        room.step("forget", "second", "alice", &[&["--previous", "c", "--out", "new.json"], flags].concat())
    };
    let given = ["--passphrase-file", "passphrase"];
    let whole = String::from_utf8(room.read("new.json")).unwrap();
    // The last message in a keystore is the cipher's.
    let at = whole.rfind("\"message\": \"").unwrap() + "\"message\": \"".len();
    let digit = if whole.as_bytes()[at] == b'0' { "1" } else { "0" };
    for (content, flags) in [
        (format!("{}{digit}{}", &whole[..at], &whole[at + 1..]), &given[..]),
        (whole.clone(), &["--passphrase-file", "other"]),
    ] {
        room.write("new.json", content);
        let before = room.tree();
        forget(flags).refused("new.json, your new share, cannot be opened; nothing was deleted");
        room.assert_is(&before, "forget");
    }
    room.write("new.json", &whole);
    let before = room.tree();
    // A passphrase that no file has.
    let flags = [&["--previous", "c"][..], &given].concat();
    room.step("forget", "second", "bob", &flags)
        .refused("no new share of yours is a keystore")
        .says("nothing was deleted");
    room.assert_is(&before, "forget");
    forget(&given).exits(0).says("your share from before");
    assert!(!room.path(&room.share("c", "alice")).exists() && !room.state("second", "alice").exists());
    assert_eq!(room.read("new.json"), whole.as_bytes());
}

/// A share of a key that a dealer had split has no state of a ceremony.
#[test]
fn the_share_of_a_split_key_is_deleted() {
    let room = Room::new(&THREE);
    room.run(&["threshold", "split", "--suite", "eth2", "-t", "2", "-n", "3", "--out", "shares"]).exits(0);
    let holders = ["--holder", "alice=1", "--holder", "bob=2", "--holder", "carol=3"];
    let files = member_files(&THREE);
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let shared_key = ["--shared-key", "shares/shared-key.json"];
    room.run(&[&["dkg", "refresh", "c"], &shared_key[..], &holders, &files].concat()).exits(0);
    for (name, i) in THREE.iter().zip(1..) {
        room.step("deal", "c", name, &["--share", &format!("shares/share-{i}.json")]).exits(0);
    }
    STEPS[1..].iter().for_each(|step| room.all(step, "c", &THREE));
    room.step("forget", "c", "bob", &["--share", "shares/share-2.json"]).exits(0).says("deleted shares/share-2.json");
    assert!(!room.path("shares/share-2.json").exists() && !room.state("c", "bob").exists());
    room.assert_signs("c", &["alice", "bob"].map(|name| room.share("c", name)));
}

/// A ceremony with a previous key in which each member deals its share, up to a command.
fn shared_anew(room: &Room, command: &[&str], folder: &str, shares: &[(&str, String)], steps: &[&str]) {
    room.run(&[&["dkg", command[0], folder], &command[1..]].concat()).exits(0);
    for (name, share) in shares {
        room.step("deal", folder, name, &["--share", share]).exits(0);
    }
    let names: Vec<_> = shares.iter().map(|(name, _)| *name).collect();
    steps.iter().for_each(|step| room.all(step, folder, &names));
}

/// The shares of all three in a ceremony.
fn shares_of(room: &Room, folder: &str) -> Vec<(&'static str, String)> {
    THREE.iter().map(|name| (*name, room.share(folder, name))).collect()
}

/// The shares and private states beside a member's identity.
fn secrets_of(room: &Room, name: &str) -> Vec<String> {
    let entries = fs::read_dir(room.path(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|file| file.contains(".share-") || file.contains(".state.")).collect();
    names.sort();
    names
}

/// The name of a path's file.
fn file_of(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// What a member has after it has forgotten all but one ceremony.
#[track_caller]
fn assert_only_the_new_share(room: &Room, folder: &str, name: &str) {
    assert_eq!(secrets_of(room, name), [file_of(&room.path(&room.share(folder, name)))], "{name}");
}

/// Three members with a key, and bob, who had lost its share, with the one that alice and carol gave back.
fn recovered() -> Room {
    let room = Room::after("finish", &THREE);
    fs::remove_file(room.path(&room.share("c", "bob"))).unwrap();
    fs::remove_file(room.state("c", "bob")).unwrap();
    room.run(&["dkg", "recover", "rec", "--previous", "c", "--lost", "bob", "--helpers", "alice,carol"]).exits(0);
    let helpers = ["alice", "carol"];
    for name in helpers {
        room.step("deal", "rec", name, &["--share", &room.share("c", name)]).exits(0);
    }
    STEPS[1..].iter().for_each(|step| room.all(step, "rec", &helpers));
    room.step("finish", "rec", "bob", &[]).exits(0);
    let shares = [("alice", "c"), ("bob", "rec"), ("carol", "c")].map(|(name, from)| (name, room.share(from, name)));
    shared_anew(&room, &["refresh", "--previous", "c"], "second", &shares, &STEPS[1..]);
    room
}

/// The helpers' shares stand in the states of the recovery, and two of them make the key.
#[test]
fn states_of_a_recovery_are_deleted_after_a_refresh() {
    let room = recovered();
    let state = file_of(&room.state("rec", "alice"));
    room.step("finish", "second", "alice", &[])
        .exits(0)
        .says(&format!("  alice/{state}, the private state of another"));
    for name in ["alice", "carol"] {
        room.step("forget", "second", name, &["--previous", "c"]).exits(0);
        assert_only_the_new_share(&room, "second", name);
    }
    room.assert_signs("second", &["alice", "carol"].map(|name| room.share("second", name)));
}

/// Bob names the ceremony that made the key. Its old share is from the recovery.
#[test]
fn a_recovered_share_is_deleted_after_a_refresh() {
    let room = recovered();
    let (share, state) = (room.share("rec", "bob"), file_of(&room.state("rec", "bob")));
    room.step("finish", "second", "bob", &[])
        .exits(0)
        .says(&format!("  {share}, your share from before"))
        .says(&format!("  bob/{state}, the private state of another"));
    room.step("forget", "second", "bob", &["--previous", "c"]).exits(0).says(&format!("deleted {share}"));
    assert_only_the_new_share(&room, "second", "bob");
    for previous in ["rec", "c"] {
        room.step("forget", "second", "bob", &["--previous", previous]).exits(0).says("nothing is left to delete");
    }
}

/// The share has another name, so that no name leads to the state that makes it again.
#[test]
fn the_state_of_a_share_with_another_name_is_deleted() {
    let room = refreshed("complain");
    fs::rename(room.path(&room.share("c", "alice")), room.path("kept.json")).unwrap();
    let state = file_of(&room.state("c", "alice"));
    room.step("finish", "second", "alice", &[])
        .exits(0)
        .says(&format!("  alice/{state}, the private state from which"));
    room.step("forget", "second", "alice", &["--share", "kept.json"]).exits(0).says("deleted kept.json");
    assert!(!room.path("kept.json").exists());
    assert_only_the_new_share(&room, "second", "alice");
}

/// The newest of two refreshes is forgotten first, with all that is from before it.
#[test]
fn a_chain_of_refreshes_is_deleted_from_its_end() {
    let room = refreshed("finish");
    let shares = shares_of(&room, "second");
    shared_anew(&room, &["refresh", "--previous", "second"], "third", &shares, &STEPS[1..]);
    let first = room.share("c", "alice");
    room.step("forget", "third", "alice", &["--share", &room.share("c", "bob")]).refused("another member's");
    room.step("finish", "third", "alice", &[]).exits(0).says(&format!("  {first}, your share from before"));
    room.step("forget", "third", "alice", &["--previous", "second"]).exits(0).says(&format!("deleted {first}"));
    assert_only_the_new_share(&room, "third", "alice");
    room.step("forget", "second", "alice", &["--previous", "c"]).exits(0).says("nothing is left to delete");
    // Bob forgets in the order of the ceremonies. What is newer stays.
    fs::copy(room.path(&room.share("c", "bob")), room.path("bob.json")).unwrap();
    room.step("forget", "second", "bob", &["--previous", "c"]).exits(0);
    assert!(room.path(&room.share("second", "bob")).exists() && room.state("third", "bob").exists());
    // A backup of the first share comes back. Nothing says any more that the second ceremony has ended.
    fs::rename(room.path("bob.json"), room.path(&room.share("c", "bob"))).unwrap();
    room.step("forget", "second", "bob", &["--previous", "c"])
        .refused("nothing shows that you have finished the ceremony")
        .says(&room.share("c", "bob"));
    fs::remove_file(room.path(&room.share("c", "bob"))).unwrap();
    room.step("forget", "third", "bob", &["--previous", "second"]).exits(0);
    assert_only_the_new_share(&room, "third", "bob");
    room.assert_signs("third", &["alice", "bob"].map(|name| room.share("third", name)));
}

/// Alice names bob's share. Nothing is deleted, her own state neither.
#[test]
fn another_members_share_is_not_deleted() {
    let room = refreshed("finish");
    let before = room.tree();
    room.step("forget", "second", "alice", &["--share", &room.share("c", "bob")])
        .refused("is share 2 of the key from before, which is another member's: you dealt share 1")
        .says("nothing was deleted");
    room.assert_is(&before, "forget");
}

/// A refresh that nobody has finished holds the share that was dealt in it.
#[test]
fn the_state_of_a_failed_refresh_is_deleted() {
    let room = Room::after("finish", &THREE);
    let shares = shares_of(&room, "c");
    shared_anew(&room, &["refresh", "--previous", "c"], "failed", &shares, &[]);
    shared_anew(&room, &["refresh", "--previous", "c"], "second", &shares, &STEPS[1..]);
    let state = file_of(&room.state("failed", "alice"));
    room.step("finish", "second", "alice", &[])
        .exits(0)
        .says(&format!("  alice/{state}, the private state of another"));
    for name in THREE {
        room.step("forget", "second", name, &["--previous", "c"]).exits(0);
        assert_only_the_new_share(&room, "second", name);
    }
}

/// A new member has nothing from before, and its state makes its new share alone.
#[test]
fn a_new_member_has_nothing_to_delete() {
    let room = Room::after("finish", &THREE);
    room.identity("dave");
    room.run(&["dkg", "reshare", "second", "--previous", "c", "-t", "2", "dave/dave.member.json"]).exits(0);
    for (name, share) in shares_of(&room, "c") {
        room.step("deal", "second", name, &["--share", &share]).exits(0);
    }
    let four = ["alice", "bob", "carol", "dave"];
    STEPS[1..].iter().for_each(|step| room.all(step, "second", &four));
    let finished = room.step("finish", "second", "dave", &[]).exits(0);
    assert!(!finished.err.contains("forget") && !finished.err.contains("old share"), "{}", finished.err);
    let before = room.tree();
    let forgot = room.step("forget", "second", "dave", &["--previous", "c"]).exits(0);
    assert_eq!(forgot.err, "nothing is left to delete\n");
    room.assert_is(&before, "forget");
}

/// Checks that `forget` warns of the identity with which a member got its old share, and names its own.
#[track_caller]
fn assert_names_the_identity(forgot: &Ran, name: &str) {
    let text = forgot.err.replace('\n', " ");
    let warning = format!(
        "its messages or transcripts still give that share to whoever has the identity with which {name} took part in it. Delete that \
         identity, with its backups, once no ceremony needs it; if it is {name}/{name}.identity.json, take part in the next one with a \
         new identity."
    );
    assert!(text.contains(&warning), "{text}");
}

/// The messages of the old ceremony, or of a recovery, stay with the identity to which the old share was encrypted in them.
#[test]
fn forget_names_the_identity_after_rounds_too() {
    let room = recovered();
    for (name, previous) in [("alice", "c"), ("bob", "rec"), ("carol", "c")] {
        for _ in 0..2 {
            let forgot = room.step("forget", "second", name, &["--previous", previous]).exits(0);
            assert_names_the_identity(&forgot, name);
        }
    }
}

/// Everyone takes part in a refresh with a new identity, and deletes the folder of the old one: nothing that is left gives an old share.
#[test]
fn a_refresh_with_new_identities() {
    let room = Room::after("finish", &THREE);
    for name in THREE {
        fs::rename(room.path(name), room.path(&format!("old-{name}"))).unwrap();
        room.identity(name);
    }
    let files = member_files(&THREE);
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let refresh = room.run(&[&["dkg", "refresh", "second", "--previous", "c"][..], &files].concat()).exits(0);
    refresh.says("alice takes part with other keys than before");
    let old_share = |name: &str| format!("old-{}", room.share("c", name));
    for name in THREE {
        room.step("deal", "second", name, &["--share", &old_share(name)]).exits(0);
    }
    STEPS[1..].iter().for_each(|step| room.all(step, "second", &THREE));
    for name in THREE {
        let forgot = room.step("forget", "second", name, &["--share", &old_share(name)]).exits(0);
        assert_names_the_identity(&forgot.says(&format!("deleted {}", old_share(name))), name);
        fs::remove_dir_all(room.path(&format!("old-{name}"))).unwrap();
        assert_only_the_new_share(&room, "second", name);
    }
    room.assert_signs("second", &["alice", "carol"].map(|name| room.share("second", name)));
}
