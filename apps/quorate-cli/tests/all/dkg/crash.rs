//! Programs that stop between two writes, full disks, states that are lost or old.

use std::{fs, path::Path, process::Stdio, thread, time::Duration};

use quorate_lab::run::{Ran, Run as _, Running, command_after};

use crate::dkg::room::{Room, STEPS, Tree, later};

const THREE: [&str; 3] = ["alice", "bob", "carol"];

/// After each write of each command the program is gone, and is started again: it comes to the same files.
#[test]
fn a_crash_after_any_write_loses_nothing() {
    for flags in [&[][..], &["--commit-first"]] {
        let room = Room::new(&THREE);
        room.init("c", &[&["--suite", "eth2", "-t", "2"], flags].concat(), &THREE).exits(0);
        let state = room.state("c", "alice");
        let mut crashes = 0;
        for step in STEPS {
            // In the round of reveals everyone speaks before anyone goes on.
            let times = if step == "complain" && !flags.is_empty() { 2 } else { 1 };
            for time in 1..=times {
                let before = room.tree();
                let code = i32::from(time < times);
                room.step(step, "c", "alice", &[]).exits(code);
                let after = room.tree();
                let written = in_the_order_of_writing(&before, &after);
                assert!(step != "deal" || written[0] == state, "{written:?}");
                // Before its state is written, a dealer may still choose another secret.
                let first = usize::from(step == "deal");
                for survive in first..=written.len() {
                    let mut crashed = before.clone();
                    crashed.extend(written[..survive].iter().map(|path| (path.clone(), after[path].clone())));
                    room.restore(&crashed);
                    room.write("alice/.rest.tmp", "half a st");
                    room.write("c/messages/.2-response-alice.json.x.tmp", "{\"cer");
                    room.step(step, "c", "alice", &[]).exits(code);
                    fs::remove_file(room.path("alice/.rest.tmp")).unwrap();
                    fs::remove_file(room.path("c/messages/.2-response-alice.json.x.tmp")).unwrap();
                    room.assert_is(&after, &format!("{step}, after {survive} of {written:?}"));
                    crashes += 1;
                }
                for name in &THREE[1..] {
                    let ran = room.step(step, "c", name, &[]);
                    assert!(ran.code == 0 || (ran.code == 1 && times == 2), "{ran:?}");
                }
            }
        }
        assert!(crashes > 10, "{crashes}");
        room.all("finish", "c", &THREE);
        room.assert_signs("c", &["alice", "carol"].map(|name| room.share("c", name)));
    }
}

fn in_the_order_of_writing(before: &Tree, after: &Tree) -> Vec<std::path::PathBuf> {
    let changed = after.iter().filter(|(path, content)| before.get(*path) != Some(*content));
    let mut changed: Vec<_> = changed.map(|(path, _)| path.clone()).collect();
    let rank = |path: &Path| {
        let name = path.to_str().unwrap();
        let order = ["state.json", "/messages/", "combination.json", ".share-", "shared-key.json"];
        order.iter().position(|part| name.contains(part)).unwrap()
    };
    changed.sort_by_key(|path| rank(path));
    changed
}

/// In one round, the list of the transcripts that count is written before the share: one that comes after a crash changes no key.
#[test]
fn a_crash_of_combine_after_any_write_loses_nothing() {
    let names = ["alice", "bob", "carol", "dave", "erin"];
    let room = Room::new(&[]);
    for name in names {
        fs::create_dir(room.path(name)).unwrap();
        room.run(&["dkg", "identity", name, "--out", name, "--one-round"]).exits(0);
    }
    room.init("c", &["--suite", "eth2", "-t", "2", "--one-round"], &names).exits(0);
    room.all("publish", "c", &names[..4]);
    let before = room.tree();
    room.all("publish", "c", &names[4..]);
    let late = room.read("c/transcripts/erin.transcript");
    room.restore(&before);
    let combine = |room: &Room| room.step("combine", "c", "alice", &["--without", "erin"]);
    combine(&room).exits(0);
    let after = room.tree();
    let written = in_the_order_of_writing(&before, &after);
    assert_eq!(written.len(), 3, "{written:?}");
    for survive in 1..=written.len() {
        let mut crashed = before.clone();
        crashed.extend(written[..survive].iter().map(|path| (path.clone(), after[path].clone())));
        room.restore(&crashed);
        room.write("c/transcripts/erin.transcript", &late);
        combine(&room).exits(0);
        fs::remove_file(room.path("c/transcripts/erin.transcript")).unwrap();
        room.assert_is(&after, &format!("after {survive} of {written:?}"));
    }
    // There is room for a share, and none for the list, which has an entry for each of four: nothing is written.
    room.restore(&before);
    let blocks = after[&written[1]].len().div_ceil(512);
    assert!(after[&written[0]].len() > 512 * blocks, "the list is longer");
    let mut command = command_after(&format!("trap '' XFSZ; ulimit -f {blocks}"), "quorate");
    command.args(["dkg", "combine", "c", "--identity", "alice/alice.identity.json", "--without", "erin"]);
    command.current_dir(room.path(".")).ran().exits(3).says("cannot write");
    room.assert_is(&before, "a full disk");
}

/// The program is killed at any time, again and again, and the ceremony ends with one key and nothing proven against anyone.
#[test]
fn killed_at_any_time() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    let mut killed = 0;
    for step in STEPS {
        for name in THREE {
            let mut delay = Duration::ZERO;
            loop {
                let identity = format!("{name}/{name}.identity.json");
                let mut command = room.command();
                command.args(["dkg", step, "c", "--identity", &identity]).stdout(Stdio::null()).stderr(Stdio::null());
                let mut run = Running::start(&mut command);
                thread::sleep(delay);
                // SIGKILL: no code of the program runs any more.
                run.kill();
                match run.ended() {
                    0 => break,
                    code => assert_eq!(code, -9, "{step} {name}"),
                }
                killed += 1;
                delay = later(delay);
            }
        }
    }
    println!("killed {killed} times");
    assert!(killed > 12, "{killed}");
    room.run(&["dkg", "judge", "c"]).exits(0);
    room.assert_signs("c", &["bob", "carol"].map(|name| room.share("c", name)));
}

/// With a full disk nothing is published and nothing is lost.
#[test]
fn a_full_disk_loses_nothing() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    // Blocks of 512 bytes. After the first step there is room for a message and none for the state, so that a message that was
    // published first would stay.
    let full = |step: &str| -> Ran {
        let blocks = match step {
            "deal" => 1,
            "finish" => 0,
            _ => 8,
        };
        let mut command = command_after(&format!("trap '' XFSZ; ulimit -f {blocks}"), "quorate");
        command.args(["dkg", step, "c", "--identity", "alice/alice.identity.json"]).current_dir(room.path(".")).ran()
    };
    for step in STEPS {
        let before = room.tree();
        full(step).exits(3).says("cannot write");
        // The messages that were there may have been taken in before the disk was full.
        let state = room.state("c", "alice");
        let others = |tree: Tree| tree.into_iter().filter(|(path, _)| *path != state).collect::<Tree>();
        assert!(others(room.tree()) == others(before), "{step}: something was published");
        room.all(step, "c", &THREE);
    }
    // What was written before the disk was full stays, and the rest comes with the next run.
    let share = room.share("c", "bob");
    let all = room.tree();
    fs::remove_file(room.path(&share)).unwrap();
    fs::remove_file(room.path("c/shared-key.json")).unwrap();
    room.step("finish", "c", "bob", &[]).exits(0);
    room.assert_is(&all, "finish");
}

/// A message whose place cannot be written to is kept in the state, and published by the next run.
#[test]
fn a_message_that_could_not_be_published() {
    let room = Room::after("deal", &THREE);
    let deal = room.read("c/messages/1-deal-alice.json");
    fs::rename(room.path("c/messages"), room.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("nowhere", room.path("c/messages")).unwrap();
    room.step("deal", "c", "alice", &[]).exits(3).says("run the same command again to publish it");
    fs::remove_file(room.path("c/messages")).unwrap();
    // Git carries no empty folders, so the folder may be missing altogether.
    room.step("deal", "c", "alice", &[]).exits(0).says("published again c/messages/1-deal-alice.json");
    assert_eq!(room.read("c/messages/1-deal-alice.json"), deal);
}

/// Each state holds what the member dealt. Whoever holds an earlier one by another name finds zeros in it.
#[test]
fn a_replaced_state_is_overwritten() {
    let room = Room::after("deal", &THREE);
    let state = room.state("c", "alice");
    fs::hard_link(&state, room.path("before")).unwrap();
    let before = room.read("before");
    room.step("receive", "c", "alice", &[]).exits(0);
    assert_ne!(fs::read(&state).unwrap(), before);
    assert_eq!(room.read("before"), vec![0; before.len()]);
    room.step("receive", "c", "alice", &[]).exits(0);
}

/// Whoever lost its private state must not speak a second time.
#[test]
fn a_lost_state_is_not_made_anew() {
    let room = Room::after("receive", &THREE);
    let state = room.state("c", "alice");
    let saved = fs::read(&state).unwrap();
    fs::remove_file(&state).unwrap();
    for step in STEPS {
        room.step(step, "c", "alice", &[]).refused("you signed c/messages/1-deal-alice.json").says("Restore it");
    }
    assert!(!state.exists());
    // A state that cannot be read is not replaced, and its secrets are not repeated.
    let text = String::from_utf8(saved.clone()).unwrap();
    let seed = text.split('"').nth(3).unwrap();
    for bad in
        [&text[..text.len() / 2], "", &text.replacen("\"seed\":\"", "\"seed\":[\"", 1), &text.replacen(seed, "00", 1)]
    {
        fs::write(&state, bad).unwrap();
        let refused = room.step("complain", "c", "alice", &[]).refused("is not the private state of alice");
        assert!(!refused.err.contains(seed), "{}", refused.err);
        assert_eq!(fs::read(&state).unwrap(), bad.as_bytes());
    }
    // One of another member.
    fs::copy(room.state("c", "bob"), &state).unwrap();
    room.step("complain", "c", "alice", &[]).refused("is not the private state of alice");
    fs::write(&state, saved).unwrap();
    room.all("complain", "c", &THREE);
}

/// A state from an old backup would say something else than was said: it is refused, unless it comes to the same.
#[test]
fn an_old_state_does_not_contradict_what_was_said() {
    let room = Room::after("deal", &THREE);
    let state = room.state("c", "alice");
    let old = fs::read(&state).unwrap();
    room.all("receive", "c", &THREE);
    // The same deals are there, so the response is the same.
    fs::write(&state, &old).unwrap();
    let response = room.read("c/messages/2-response-alice.json");
    room.step("receive", "c", "alice", &[]).exits(0);
    assert_eq!(room.read("c/messages/2-response-alice.json"), response);
    // A deal is missing, so it would be another one.
    fs::write(&state, &old).unwrap();
    let carol = room.read("c/messages/1-deal-carol.json");
    fs::remove_file(room.path("c/messages/1-deal-carol.json")).unwrap();
    room.step("receive", "c", "alice", &[]).exits(1);
    let before = room.tree();
    room.step("receive", "c", "alice", &["--close", "deal"]).refused(
        "c/messages/2-response-alice.json is another message than the one in your private state, and you signed both",
    );
    room.assert_is(&before, "receive");
    room.write("c/messages/1-deal-carol.json", carol);
    for step in &STEPS[1..] {
        room.all(step, "c", &THREE);
    }
    room.run(&["dkg", "judge", "c"]).exits(0);
}

/// Two runs at the same time say one thing.
#[test]
fn runs_at_the_same_time_wait_for_each_other() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    for step in STEPS {
        let start = |name: &&str| {
            let identity = format!("{name}/{name}.identity.json");
            let mut command = room.command();
            command.args(["dkg", step, "c", "--identity", &identity]).stdout(Stdio::null()).stderr(Stdio::null());
            Running::start(&mut command)
        };
        let runs: Vec<_> = THREE.iter().cycle().take(9).map(start).collect();
        for mut run in runs {
            assert_eq!(run.ended(), 0, "{step}");
        }
    }
    room.run(&["dkg", "judge", "c"]).exits(0);
    room.assert_signs("c", &["bob", "carol"].map(|name| room.share("c", name)));
}
