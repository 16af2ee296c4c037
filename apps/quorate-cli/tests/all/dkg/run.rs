//! Members who each start one command, `quorate dkg run`, and whose files arrive as they like.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    thread,
    time::{Duration, Instant},
};

use quorate_lab::run::{Ran, Running, Signal};

use crate::dkg::{
    forge,
    room::{Room, UNNAMED, Waiting, later, member_files},
};

const THREE: [&str; 3] = ["alice", "bob", "carol"];
const FIVE: [&str; 5] = ["alice", "bob", "carol", "dave", "erin"];

/// Five members start one command each, and end with one key. Each step is one line, which fits a terminal.
#[test]
fn one_command_from_start_to_key() {
    for (flags, own) in [
        (&["--suite", "eth2", "-t", "3"][..], &["1-deal", "2-response", "7-confirmation"][..]),
        (
            &["--suite", "drand-quicknet", "-t", "3", "--commit-first"],
            &["1-deal", "2-response", "4-reveal", "7-confirmation"],
        ),
    ] {
        let room = Room::new(&FIVE);
        room.init("c", flags, &FIVE).exits(0);
        let runs: Vec<_> = FIVE.iter().map(|name| room.starts("c", name, &[])).collect();
        for (name, run) in FIVE.iter().zip(runs) {
            let ran = readable(run.ends().exits(0));
            assert_eq!(ran.out.trim_start_matches("0x"), format!("{}\n", room.public_key("c")));
            let published: Vec<_> = ran.err.lines().filter(|line| line.starts_with("published")).collect();
            let expected = own.iter().map(|message| format!("published c/messages/{message}-{name}.json"));
            assert_eq!(published, expected.collect::<Vec<_>>());
            ran.says("looking into c/messages every 0.05 s\n")
                .says(&format!("wrote {}\nIt is your share ", room.share("c", name)));
        }
        room.assert_signs("c", &["alice", "carol", "erin"].map(|name| room.share("c", name)));
        room.run(&["dkg", "judge", "c"]).exits(0);
        // Once more, it says the same and changes nothing.
        let before = room.tree();
        let again = room.starts("c", "bob", &[]).ends().exits(0);
        assert_eq!((again.out.trim_start_matches("0x").trim_end(), &*again.err), (&*room.public_key("c"), ""));
        room.assert_is(&before, "run");
    }
}

/// A key goes to other members, is refreshed, and a lost share is recovered, with one command of each member.
#[test]
fn every_kind_of_ceremony() {
    let room = Room::new(&FIVE);
    room.init("first", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    all(&room, "first", &THREE, |_| Vec::new());
    let key = room.public_key("first");

    let files = member_files(&FIVE[3..]);
    room.run(&["dkg", "reshare", "second", "--previous", "first", "-t", "3", &files[0], &files[1]]).exits(0);
    room.starts("second", "alice", &[]).ends().refused("give its file with --share");
    let share = |folder: &str, name: &str| vec!["--share".to_owned(), room.share(folder, name)];
    all(&room, "second", &FIVE, |name| if THREE.contains(&name) { share("first", name) } else { Vec::new() });
    room.run(&["dkg", "refresh", "third", "--previous", "second"]).exits(0);
    for ran in all(&room, "third", &FIVE, |name| share("second", name)) {
        ran.says("When all members have finished, delete what still makes the key").says("quorate dkg forget third");
    }

    let lost = room.read(&room.share("third", "bob"));
    fs::remove_dir_all(room.path("bob")).unwrap();
    room.identity("bob");
    let recover =
        ["dkg", "recover", "fourth", "--previous", "third", "--lost", "bob", "--member", "bob/bob.member.json"];
    room.run(&[&recover[..], &["--helpers", "alice,carol,erin"]].concat()).exits(0);
    let present = ["alice", "bob", "carol", "erin"];
    all(&room, "fourth", &present, |name| if name == "bob" { Vec::new() } else { share("third", name) });
    assert_eq!(room.read(&room.share("fourth", "bob")), lost);
    assert!(!room.path(&room.share("fourth", "alice")).exists(), "a helper keeps the share that it has");
    for folder in ["second", "third", "fourth"] {
        assert_eq!(room.public_key(folder), key);
    }
    room.assert_signs(
        "third",
        &[room.share("fourth", "bob"), room.share("third", "dave"), room.share("third", "alice")],
    );
}

/// A few dealers make a key for others. They, too, end with the key, and without a share.
#[test]
fn dealers_who_receive_nothing() {
    let names = ["d1", "d2", "d3", "alice", "bob", "carol"];
    let room = Room::new(&names);
    let roles = ["--dealers", "d1,d2,d3", "--receivers", "alice,bob,carol"];
    room.init("c", &[&["--suite", "eth2", "-t", "2"][..], &roles].concat(), &names).exits(0);
    for ran in &all(&room, "c", &names, |_| Vec::new())[..3] {
        assert!(!ran.err.contains("your share"), "{}", ran.err);
    }
    room.assert_signs("c", &["carol", "bob"].map(|name| room.share("c", name)));
}

/// Without `--wait`, it does what can be done, says for whom it waits, and gives the exit code of waiting.
#[test]
fn without_waiting_it_does_what_can_be_done() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    let id = room.id("c");
    let before = room.tree();
    room.step("run", "c", "alice", &[]).refused("to begin, give --id with the id of the ceremony");
    room.step("run", "c", "alice", &["--id", &"0".repeat(64)]).refused("--id: you compared the id 000");
    room.assert_is(&before, "run");
    let step = |name: &str, code: i32| readable(room.step("run", "c", name, &["--id", &id]).exits(code));
    assert_eq!(
        step("alice", 1).err,
        "published c/messages/1-deal-alice.json\nwaiting for bob and carol in the round `deal`\n\
         run the same command again when their messages are there\n"
    );
    step("bob", 1);
    step("carol", 1).says("published c/messages/2-response-carol.json");
    step("alice", 1);
    step("bob", 1).says("published c/messages/7-confirmation-bob.json");
    step("carol", 1);
    step("alice", 0).says("wrote c/shared-key.json");
    // Who has begun need not repeat the id, and the other commands go on from the same state.
    room.step("run", "c", "bob", &[]).exits(0).says("your share 2 of 3");
    room.step("finish", "c", "carol", &[]).exits(0);
    room.assert_signs("c", &["alice", "carol"].map(|name| room.share("c", name)));
}

/// The program is killed at any time and started again, while the others wait.
#[test]
fn killed_and_started_again() {
    // A busy machine may stop this test for longer than a ceremony takes, and then nobody was killed.
    assert!((0..20).any(|_| killed_in_a_ceremony() > 1), "each ceremony ended before anybody could be killed");
}

/// How often a member was killed until the ceremony had ended.
fn killed_in_a_ceremony() -> usize {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2", "--commit-first"], &THREE).exits(0);
    let mut others: Vec<_> = THREE[1..].iter().map(|name| room.starts("c", name, &[])).collect();
    let mut killed = 0;
    let mut delay = Duration::ZERO;
    loop {
        let mut run = room.starts("c", "alice", &[]);
        thread::sleep(delay);
        run.kill();
        match run.ended() {
            0 => break,
            code => assert_eq!(code, -9),
        }
        killed += 1;
        delay = later(delay);
        if killed == 5 {
            // One of the others stops as well, and goes on.
            others[0].kill();
            others[0] = room.starts("c", "bob", &[]);
        }
    }
    println!("killed {killed} times");
    for run in others {
        readable(run.ends().exits(0));
    }
    room.run(&["dkg", "judge", "c"]).exits(0);
    room.assert_signs("c", &["alice", "carol"].map(|name| room.share("c", name)));
    killed
}

/// Ctrl-C ends the wait with the exit code of an interruption, and the same command goes on. Meanwhile the member's other commands
/// work: the program that waits holds nothing.
#[test]
fn interrupted_while_it_waits() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    let run = room.starts("c", "alice", &[]);
    until("the deal", || room.path("c/messages/1-deal-alice.json").exists());
    let status = room.step("status", "c", "alice", &[]).exits(0);
    assert!(status.out.contains("waiting for bob and carol"), "{}", status.out);
    // The lock may be held for the moment in which the program looks.
    room.step("deal", "c", "alice", &[]).exits(0);
    readable(interrupted(run)).says("stopped; nothing is lost: run the same command again to go on");
    all(&room, "c", &THREE, |_| Vec::new());
}

/// What another command of the same member does is taken up by the one that waits.
#[test]
fn another_command_closes_a_round() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    let runs: Vec<_> = FIVE[..4].iter().map(|name| room.starts("c", name, &[])).collect();
    for (round, message, step) in [("deal", "1-deal", "receive"), ("response", "2-response", "complain")] {
        for name in &FIVE[..4] {
            until(message, || room.path(&format!("c/messages/{message}-{name}.json")).exists());
        }
        for name in &FIVE[..4] {
            let code = room.step(step, "c", name, &["--close", round]).code;
            assert!(code == 0, "{step} of {name}: {code}");
        }
    }
    for run in runs {
        run.ends().exits(0);
    }
}

/// Erin is absent. The others wait as long as they want, agree to go on without her, and say so once. What is left to her is said
/// when she comes.
#[test]
fn a_member_who_is_absent() {
    for flags in [&[][..], &["--commit-first"]] {
        let (present, absent) = (&FIVE[..4], "erin");
        let room = Room::new(&FIVE);
        room.init("c", &[&["--suite", "eth2", "-t", "3"], flags].concat(), &FIVE).exits(0);
        room.all("deal", "c", present);
        let start = |flags: &[&str]| -> Vec<_> { present.iter().map(|name| room.starts("c", name, flags)).collect() };
        for run in start(&["--timeout", "1s"]) {
            readable(run.ends().exits(1))
                .says("looking into c/messages every 0.05 s for 1 s at most\n")
                .says("the time is over; still waiting for erin in the round `deal`\n")
                .says("to go on without them, if all members agree, add: --without erin\n");
        }
        for run in start(&["--without", absent]) {
            readable(run.ends().exits(0))
                .says("closed the round `deal` without erin")
                .says("closed the round `response` without erin")
                .says("erin said nothing in the round `deal` before it was closed");
        }
        room.assert_signs("c", &["alice", "bob", "dave"].map(|name| room.share("c", name)));
        let before = room.tree();
        room.starts("c", absent, &[]).ends().refused("quorate dkg recover NEW_FOLDER --previous c --lost erin");
        room.assert_is(&before, "run");
    }
}

/// A round is closed by name as with the other commands, in the look at which the member stands in it, and not later.
#[test]
fn a_round_that_is_closed() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    let id = room.id("c");
    let run = |name: &str, flags: &[&str]| room.step("run", "c", name, &[&["--id", &id], flags].concat());
    run("alice", &["--close", "response"])
        .exits(1)
        .says("--close response does nothing yet, because the round `deal` is not over")
        .says("waiting for bob, carol, dave and erin in the round `deal`");
    run("alice", &["--close", "reveal"]).refused("this ceremony has no round `reveal`");
    run("alice", &["--without", "zoe"])
        .refused("--without: the ceremony has no member zoe; its members are alice, bob, carol, dave and erin");
    run("bob", &[]).exits(1);
    let before = room.tree();
    for flags in [["--close", "deal"], ["--without", "carol,dave,erin"]] {
        run("alice", &flags)
            .refused("without carol, dave and erin, the ceremony makes no key: 2 dealers are left, and 3 are needed")
            .says("The round `deal` is still open");
    }
    for name in &FIVE[2..4] {
        run(name, &[]).exits(1);
    }
    room.restore(&room.tree().into_iter().chain(before).collect());
    for name in &FIVE[..4] {
        run(name, &["--close", "deal"]).exits(1).says("closed the round `deal` without erin");
    }
    for name in &FIVE[..4] {
        run(name, &["--close", "response"]);
    }
    for name in &FIVE[..4] {
        run(name, &[]).exits(0);
    }
}

/// Three of five have dealt, and alice alone confirms nothing: the round of deals stays open, though it could be closed without the two.
#[test]
fn run_without_too_many_publishes_no_response_and_no_reveal() {
    for flags in [&[][..], &["--commit-first"]] {
        let room = Room::new(&FIVE);
        room.init("c", &[&["--suite", "eth2", "-t", "3"], flags].concat(), &FIVE).exits(0);
        room.all("deal", "c", &FIVE[..3]);
        room.step("run", "c", "alice", &[]).exits(1);
        let before = room.tree();
        let ran = room.step("run", "c", "alice", &["--without", "bob,carol,dave,erin"]);
        let ran = ran.refused("the ceremony makes no key").says("The round `deal` is still open");
        assert!(!ran.err.contains("closed the round") && !ran.err.contains("published"), "{}", ran.err);
        room.assert_is(&before, "run");
    }
}

#[test]
fn run_refuses_to_go_on_without_oneself() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE[..3]);
    let before = room.tree();
    for step in ["run", "receive", "complain", "finish"] {
        room.step(step, "c", "alice", &["--without", "dave,alice"]).refused("--without: you are alice");
    }
    room.assert_is(&before, "run");
}

/// What an earlier run closed stays closed, and that the later one closes no more is said of the round that is open.
#[test]
fn run_says_what_it_closed_before_it_failed() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE[..3]);
    room.step("run", "c", "alice", &["--without", "dave,erin"])
        .exits(1)
        .says("closed the round `deal` without dave and erin")
        .says("in the round `response`");
    let before = room.tree();
    room.step("run", "c", "alice", &["--without", "bob,carol,dave,erin"])
        .refused("the ceremony makes no key")
        .says("The round `response` is still open");
    room.assert_is(&before, "run");
}

/// Dave's deal stays in his copy of the folder, and the others answer the deals without it. One of them may be a liar; after two of
/// four, no key with it can be confirmed, and his run ends.
#[test]
fn who_has_no_part_left() {
    let four = ["alice", "bob", "carol", "dave"];
    let room = Room::new(&four);
    room.init("c", &["--suite", "eth2", "-t", "2"], &four).exits(0);
    fs::create_dir_all(room.path("copy/messages")).unwrap();
    room.write("copy/ceremony.json", room.read("c/ceremony.json"));
    room.all("deal", "c", &four[..3]);
    let mut dave = room.starts("copy", "dave", &[]);
    let arrives = |name: &str| {
        room.step("receive", "c", name, &["--close", "deal"]).exits(0);
        let message = format!("messages/2-response-{name}.json");
        room.write(&format!("copy/{message}"), room.read(&format!("c/{message}")));
    };
    arrives("alice");
    assert_eq!(dave.ended_within(Duration::from_millis(500)), None);
    arrives("bob");
    dave.ends()
        .refused("alice and bob have closed the round `deal` without your deal")
        .says("quorate dkg recover NEW_FOLDER --previous copy --lost dave");
}

/// Two of three sign, and each of the three must confirm. Mallory says that it has not seen the deal of alice, who is told who says so.
#[test]
fn who_is_left_out_by_one_is_told_by_whom() {
    let three = ["alice", "bob", "mallory"];
    let room = Room::after("deal", &three);
    fs::create_dir_all(room.path("copy/messages")).unwrap();
    room.write("copy/ceremony.json", room.read("c/ceremony.json"));
    for name in ["bob", "mallory"] {
        let message = format!("messages/1-deal-{name}.json");
        room.write(&format!("copy/{message}"), room.read(&format!("c/{message}")));
    }
    room.step("receive", "copy", "mallory", &["--close", "deal"]).exits(0);
    let response = "messages/2-response-mallory.json";
    room.write(&format!("c/{response}"), room.read(&format!("copy/{response}")));
    let run = room.step("run", "c", "alice", &["--id", &room.id("c")]);
    run.refused("mallory has closed the round `deal` without your deal, so you get no share");
}

/// Mallory shows two deals. All see both, name mallory once, write down the proof, and make a key without it.
#[test]
fn a_cheat_who_deals_twice() {
    let all = ["alice", "bob", "carol", "dave", "mallory"];
    let room = Room::new(&all);
    room.init("c", &["--suite", "drand-quicknet", "-t", "3"], &all).exits(0);
    for folder in ["twin", "copy", "copy/messages"] {
        fs::create_dir(room.path(folder)).unwrap();
    }
    room.write("copy/ceremony.json", room.read("c/ceremony.json"));
    room.write("twin/twin.identity.json", room.read("mallory/mallory.identity.json"));
    room.step("deal", "copy", "twin", &[]).exits(0);
    let honest: Vec<_> = all[..4].iter().map(|name| room.starts("c", name, &[])).collect();
    room.write("c/messages/1-deal-mallory (2).json", room.read("copy/messages/1-deal-mallory.json"));
    let mallory = room.starts("c", "mallory", &[]);
    let cheats = "mallory signed two different messages of the round `deal`, which is proven\n";
    for run in honest {
        let ran = run.ends().exits(0);
        assert_eq!(ran.err.matches(cheats).count(), 1, "{}", ran.err);
        let named = "(2).json: mallory signed another message of the round `deal`, which came first and counts";
        assert_eq!(ran.err.matches(named).count(), 1, "{}", ran.err);
    }
    mallory.ends();
    room.assert_signs("c", &["alice", "bob", "dave"].map(|name| room.share("c", name)));
    let files = fs::read_dir(room.path("c")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let blame: Vec<_> = files.filter(|name| name.starts_with("blame-mallory-")).collect();
    let judged = room.run(&["dkg", "judge", "c", &format!("c/{}", blame[0])]).exits(1);
    assert_eq!(judged.out, "mallory signed two different messages of the round `deal`\n");
}

/// Mallory gives bob a false share. Bob complains, and mallory's program answers, or mallory is gone and left out.
#[test]
fn a_cheat_who_deals_a_false_share() {
    let all = ["alice", "bob", "carol", "dave", "mallory"];
    for answers in [true, false] {
        let room = Room::new(&all);
        room.init("c", &["--suite", "drand-quicknet", "-t", "3"], &all).exits(0);
        room.all("deal", "c", &all);
        forge::false_share(&room, "c", "mallory");
        let flags = if answers { &[][..] } else { &["--without", "mallory"] };
        let present = if answers { &all[..] } else { &all[..4] };
        let runs: Vec<_> = present.iter().map(|name| room.starts("c", name, flags)).collect();
        let proven = if answers {
            "mallory gave bob a false share, which is proven"
        } else {
            "mallory did not answer the complaint of bob"
        };
        for run in runs.into_iter().take(4) {
            let ran = run.ends().exits(0);
            assert_eq!(ran.err.matches(proven).count(), 1, "{}", ran.err);
        }
        room.assert_signs("c", &["alice", "bob", "carol"].map(|name| room.share("c", name)));
        room.run(&["dkg", "judge", "c"]).exits(i32::from(answers));
    }
}

/// A file that somebody is writing stops nobody, and is not named. When it is whole, the run goes on.
#[test]
fn a_file_half_written() {
    let room = Room::after("deal", &THREE);
    let deal = room.read("c/messages/1-deal-bob.json");
    room.all("receive", "c", &THREE[1..]);
    for part in [0, 1, deal.len() / 2, deal.len() - 2] {
        room.write("c/messages/1-deal-bob.json", &deal[..part]);
        let ran = interrupted(room.starts("c", "alice", &[])).says("waiting for bob in the round `deal`");
        // What nobody reads again is named at the end.
        let named = "warning: c/messages/1-deal-bob.json: it is not a whole message";
        assert!(ran.err.contains(&format!("looking into c/messages every 0.05 s\n{named}")), "{}", ran.err);
    }
    let begun = Instant::now();
    let run = Waiting::of(room.starts("c", "alice", &[]));
    room.write("c/messages/1-deal-bob.json", &deal);
    let is_late = begun.elapsed() > UNNAMED;
    until("the response", || room.path("c/messages/2-response-alice.json").exists());
    room.all("complain", "c", &THREE[1..]);
    let ran = readable(run.ends().exits(0));
    assert!(is_late || !ran.err.contains("warning"), "{}", ran.err);
}

/// A file that stays broken is named once, while the others go on.
#[test]
fn a_file_that_stays_broken() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.write("c/messages/1-deal-carol.json", "{\"ceremony\":");
    room.write("c/messages/notes.txt", "carol is late");
    room.all("deal", "c", &THREE[..2]);
    let runs = THREE[..2].iter().map(|name| room.starts("c", name, &["--timeout", "7s"]));
    for run in runs.collect::<Vec<_>>() {
        let ran = run.ends().exits(1).says("the time is over; still waiting for carol in the round `deal`");
        let begun = ran.err.find("the time is over").unwrap();
        for name in ["1-deal-carol.json", "notes.txt"] {
            let named = format!("warning: c/messages/{name}: it is not a whole message");
            assert_eq!(ran.err.matches(&named).count(), 1, "{}", ran.err);
            assert!(ran.err.find(&named).unwrap() < begun, "{}", ran.err);
        }
    }
    // Where nobody waits it is named at once.
    room.step("run", "c", "alice", &[]).exits(1).says("warning: c/messages/1-deal-carol.json");
    for name in ["1-deal-carol.json", "notes.txt"] {
        fs::remove_file(room.path("c/messages").join(name)).unwrap();
    }
    all(&room, "c", &THREE, |_| Vec::new());
}

/// The shared key comes from another member, and is not whole yet.
#[test]
fn a_shared_key_half_written() {
    let room = Room::after("finish", &THREE);
    let key = room.read("c/shared-key.json");
    room.write("c/shared-key.json", &key[..key.len() / 2]);
    let run = Waiting::of(room.starts("c", "alice", &[]));
    room.write("c/shared-key.json", &key);
    readable(run.ends().exits(0)).says("waiting for c/shared-key.json to be whole");
    room.write("c/shared-key.json", &key[..key.len() / 2]);
    room.starts("c", "alice", &[]).ends().refused("c/shared-key.json is not the key that this ceremony made");
    room.step("run", "c", "alice", &[]).refused("c/shared-key.json is not the key that this ceremony made");
}

/// With too few members there is no key, and a run that cannot come to one ends.
#[test]
fn a_ceremony_that_fails() {
    let room = Room::new(&FIVE);
    room.init("c", &["--suite", "eth2", "-t", "3"], &FIVE).exits(0);
    room.all("deal", "c", &FIVE);
    // Dave and erin say nothing any more, and four would have to confirm.
    let runs: Vec<_> = FIVE[..3].iter().map(|name| room.starts("c", name, &["--without", "dave,erin"])).collect();
    for run in runs {
        run.ends().refused("the ceremony makes no key: 3 receivers confirmed this key, and 4 are needed");
    }
    let id = room.id("c");
    let closed = room.step("run", "c", "alice", &["--id", &id, "--close", "confirmation"]);
    closed.refused("the ceremony makes no key");
}

/// Command lines that cannot be meant.
#[test]
fn flags_that_do_not_fit() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    let before = room.tree();
    let run = |flags: &[&str]| room.step("run", "c", "alice", flags);
    run(&["--timeout", "2h"]).refused("--wait");
    run(&["--every", "2s"]).refused("--wait");
    for bad in ["2", "2 hours", "-2h", "0s", "1000d", ""] {
        run(&["--wait", &format!("--timeout={bad}")]).refused("--timeout <TIME>: expected a");
    }
    run(&["--wait", "--keystore"]).refused("--wait with --keystore needs --passphrase-file or --passphrase-fd");
    run(&["--passphrase-file", "passphrase"]).refused("need --keystore");
    run(&["--without", "bob,,carol"]).refused("must be 1 to 40 letters");
    room.assert_is(&before, "run");
}

/// From a keystore into a keystore.
#[test]
fn shares_in_keystores() {
    let room = Room::after("complain", &THREE);
    room.write("passphrase", "correct horse\n");
    fs::set_permissions(room.path("passphrase"), fs::Permissions::from_mode(0o600)).unwrap();
    for name in THREE {
        let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "passphrase", "--out"];
        let out = format!("{name}/share.json");
        room.starts("c", name, &[&keystore[..], &[&out]].concat()).ends().exits(0).says(&format!("wrote {out}\n"));
    }
    room.run(&["dkg", "refresh", "r", "--previous", "c"]).exits(0);
    let from = |name: &str| {
        let share = format!("{name}/share.json");
        ["--share", &share, "--from-passphrase-file", "passphrase"].map(str::to_owned).to_vec()
    };
    all(&room, "r", &THREE, from);
    room.assert_signs("r", &["alice", "carol"].map(|name| room.share("r", name)));
}

/// Runs of several members at the same time, each with its flags, which all end well.
#[track_caller]
fn all(room: &Room, folder: &str, names: &[&str], flags: impl Fn(&str) -> Vec<String>) -> Vec<Ran> {
    let start = |name: &&str| {
        let flags = flags(name);
        room.starts(folder, name, &flags.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let runs: Vec<Running> = names.iter().map(start).collect();
    runs.into_iter().map(|run| readable(run.ends().exits(0))).collect()
}

/// Checks that lines fit a terminal, but those of a path or a command, and have nothing that only a terminal understands.
#[track_caller]
fn readable(ran: Ran) -> Ran {
    for line in ran.err.lines() {
        assert!(!line.contains(['\x1b', '\r', '\x08']), "{line:?}");
        assert!(line.chars().count() <= 80 || line.starts_with("  "), "{line}");
    }
    ran
}

/// Presses Ctrl-C when a run waits.
#[track_caller]
fn interrupted(run: Running) -> Ran {
    let waiting = Waiting::of(run);
    waiting.run.signal(Signal::INT);
    waiting.ends().exits(130)
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < quorate_lab::run::LIMIT, "{what} does not come");
        thread::sleep(Duration::from_millis(5));
    }
}
