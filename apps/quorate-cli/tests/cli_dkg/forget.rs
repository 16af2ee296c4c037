//! What is deleted after a key was shared anew, and what is not.

use std::{fs, os::unix::fs::MetadataExt};

use crate::room::{Room, STEPS};

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

/// A share of a key that a dealer had split has no state of a ceremony.
#[test]
fn the_share_of_a_split_key_is_deleted() {
    let room = Room::new(&THREE);
    room.run(&["threshold", "split", "--suite", "eth2", "-t", "2", "-n", "3", "--out", "shares"]).exits(0);
    let holders = ["--holder", "alice=1", "--holder", "bob=2", "--holder", "carol=3"];
    let files = crate::room::member_files(&THREE);
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
