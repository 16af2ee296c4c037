//! Who is missing, and who is proven to have cheated.

use std::{fs, path::Path};

use quorate_lab::{
    needs::example,
    run::{Run as _, shell},
};

use crate::dkg::{forge, room::Room};

const THREE: [&str; 3] = ["alice", "bob", "carol"];

/// The example runs, names who cheated, and makes a key that signs.
#[test]
fn the_example_names_who_cheats() {
    let ran = shell("exec sh \"$0\"").arg(example("ceremony.sh")).ran().exits(0).says("1 claim: valid");
    let cheats = "mallory signed two different messages of the round `deal`";
    assert!(ran.out.contains(&format!("{cheats}, which is proven\n")), "{}", ran.out);
    assert!(ran.out.contains(&format!("alone, judges the evidence.\n{cheats}\nexit code 1\n")), "{}", ran.out);
    assert!(ran.out.contains("next: bob, carol and dave should run `quorate dkg run` (step `deal`)"), "{}", ran.out);
}

const FOUR: [&str; 4] = ["alice", "bob", "carol", "mallory"];

/// Four have dealt. The second deal of mallory, in `copy`, comes from a copy of the identity and an empty copy of the folder.
fn dealt_twice() -> Room {
    let room = Room::new(&FOUR);
    room.init("c", &["--suite", "drand-quicknet", "-t", "2"], &FOUR).exits(0);
    for folder in ["twin", "copy", "copy/messages"] {
        fs::create_dir(room.path(folder)).unwrap();
    }
    room.write("copy/ceremony.json", room.read("c/ceremony.json"));
    room.write("twin/twin.identity.json", room.read("mallory/mallory.identity.json"));
    room.step("deal", "copy", "twin", &[]).exits(0);
    room.all("deal", "c", &FOUR);
    room
}

/// Two deals of one member, neither of which has its name. Both are named, and none is taken in the place of the other.
#[test]
fn two_deals_under_other_names() {
    let room = dealt_twice();
    fs::rename(room.path("c/messages/1-deal-mallory.json"), room.path("c/messages/a.json")).unwrap();
    room.write("c/messages/b.json", room.read("c/messages/a.json"));
    let alone = room.step("receive", "c", "alice", &[]).exits(1).says("waiting for mallory");
    for told in [
        "a.json: it has a message of mallory of the round `deal`, which is not taken under this name",
        "b.json: it is a copy of c/messages/a.json; remove it",
    ] {
        assert!(alone.err.contains(told), "{}", alone.err);
    }
    room.write("c/messages/b.json", room.read("copy/messages/1-deal-mallory.json"));
    let cheats = "mallory signed two different messages of the round `deal`";
    let told = format!("{cheats}, which c/messages/a.json and c/messages/b.json prove; neither is taken");
    room.step("receive", "c", "alice", &[]).exits(1).says(&told).says("waiting for mallory");
    room.run(&["dkg", "status", "c"]).exits(0).says(&told);
    assert_eq!(room.run(&["dkg", "judge", "c"]).exits(1).out, format!("{cheats}\n"));
    // Nobody signed this one.
    let deal = String::from_utf8(room.read("copy/messages/1-deal-mallory.json")).unwrap();
    room.write("c/messages/b.json", deal.replacen("\"sender\":4", "\"sender\":1", 1));
    let unsigned = room.step("receive", "c", "bob", &[]).exits(1);
    assert!(unsigned.err.contains("c/messages/b.json: alice did not sign it"), "{}", unsigned.err);
    for (step, closed) in [("receive", "deal"), ("complain", "response")] {
        FOUR[..3].iter().for_each(|name| drop(room.step(step, "c", name, &["--close", closed]).exits(0)));
    }
    // The three confirm, which are as many as it takes. Those who came before the last one ask again.
    FOUR[..3].iter().for_each(|name| drop(room.step("finish", "c", name, &[])));
    FOUR[..3].iter().for_each(|name| drop(room.step("finish", "c", name, &["--close", "confirmation"]).exits(0)));
}

/// Two deals of one member, both in the folder, prove it, whatever the second file is called.
#[test]
fn two_deals_in_one_folder() {
    let all = FOUR;
    let room = dealt_twice();
    room.run(&["dkg", "judge", "c"]).exits(0);
    room.write("c/messages/1-deal-mallory (2).json", room.read("copy/messages/1-deal-mallory.json"));
    let cheats = "mallory signed two different messages of the round `deal`";
    let judged = room.run(&["dkg", "judge", "c"]).exits(1);
    assert_eq!(judged.out, format!("{cheats}\n"));
    let judged = room.run(&["dkg", "judge", "c", "--json"]).exits(1).object();
    assert_eq!(judged["proven"][0]["member"], "mallory");
    let files = ["c/messages/1-deal-mallory.json", "copy/messages/1-deal-mallory.json"];
    assert_eq!(room.run(&["dkg", "judge", "c", files[0], files[1]]).exits(1).out, format!("{cheats}\n"));
    room.run(&["dkg", "judge", "c", files[0]]).exits(0);

    let honest = &all[..3];
    let receive = room.step("receive", "c", "alice", &[]).exits(0);
    let told = format!("{cheats}, which is proven");
    assert_eq!(receive.err.matches(&told).count(), 1, "{}", receive.err);
    receive
        .says("mallory signed another message of the round `deal`, which came first and counts; keep this one too")
        .says(cheats);
    room.all("receive", "c", &all[1..]);
    for step in ["complain", "finish"] {
        room.all(step, "c", honest);
    }
    room.assert_signs("c", &["alice", "bob"].map(|name| room.share("c", name)));
    let blames: Vec<_> = fs::read_dir(room.path("c")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_blame = |path: &&std::path::PathBuf| path.to_str().unwrap().contains("/blame-mallory-");
    let blame = blames.iter().find(is_blame).unwrap();
    let judge = |path: &Path| room.run(&["dkg", "judge", "c", path.to_str().unwrap()]);
    assert_eq!(judge(blame).exits(1).out, format!("{cheats}\n"));
    // Evidence that was changed proves nothing.
    let evidence = fs::read_to_string(blame).unwrap();
    let changed = evidence.replacen("\"sender\":4", "\"sender\":1", 2);
    assert_ne!(changed, evidence);
    room.write("changed.json", changed);
    assert_eq!(judge(Path::new("changed.json")).exits(0).out, "nothing is proven against anyone\n");
    room.write("cut.json", &evidence[..evidence.len() / 2]);
    judge(Path::new("cut.json")).refused("is neither a message nor evidence");
    // A file of a secret that was named by mistake, whose digits are a number of JSON.
    room.write("digits", "20260117\n");
    let refused =
        judge(Path::new("digits")).refused("is neither a message nor evidence: it begins with neither { nor [");
    assert!(!refused.err.contains("2026011"), "{}", refused.err);
}

/// Mallory encrypts something else to bob than it committed to. Bob complains, and mallory's answer, or its silence, shows it.
#[test]
fn a_false_share_is_complained_about() {
    let all = ["alice", "bob", "carol", "dave", "mallory"];
    for answers in [true, false] {
        let room = Room::new(&all);
        room.init("c", &["--suite", "drand-quicknet", "-t", "3"], &all).exits(0);
        room.all("deal", "c", &all);
        forge::false_share(&room, "c", "mallory");
        let honest = &all[..4];
        room.all("receive", "c", &all);
        let waiting =
            room.step("complain", "c", "alice", &[]).exits(1).says("waiting for mallory in the round `justification`");
        waiting.says("--close justification");
        assert!(room.run(&["dkg", "status", "c"]).out.contains("justification  0 of 1       mallory\n"));
        let (said, proven) = if answers {
            room.step("complain", "c", "mallory", &[])
                .exits(0)
                .says("published c/messages/3-justification-mallory.json");
            ("mallory gave bob a false share, which is proven", 1)
        } else {
            ("mallory did not answer the complaint of bob", 0)
        };
        let close = if answers { &[][..] } else { &["--close", "justification"] };
        for name in honest {
            assert!(room.step("complain", "c", name, close).exits(0).err.contains(said), "{said}");
        }
        room.all("finish", "c", honest);
        room.assert_signs("c", &["alice", "bob", "carol"].map(|name| room.share("c", name)));
        let judged = room.run(&["dkg", "judge", "c"]).exits(proven);
        assert_eq!(judged.out.contains("mallory gave bob a false share\n"), answers, "{judged:?}");
        let blames = fs::read_dir(room.path("c")).unwrap();
        let blames =
            blames.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with("blame-mallory-"));
        assert_eq!(blames.count() > 0, answers);
    }
}

/// Mallory complains about a true share. The dealer shows it, which costs the dealer nothing and unmasks mallory.
#[test]
fn a_false_complaint_is_answered() {
    let all = ["alice", "bob", "carol", "mallory"];
    let room = Room::new(&all);
    room.init("c", &["--suite", "eth2", "-t", "2"], &all).exits(0);
    room.all("deal", "c", &all);
    room.all("receive", "c", &all);
    forge::resign(&room, "c", "2-response-mallory.json", "mallory", |body| {
        body.replace("\"complaints\":[]", "\"complaints\":[1]")
    });
    room.step("complain", "c", "bob", &[]).exits(1).says("waiting for alice in the round `justification`");
    let answered = room.step("complain", "c", "alice", &[]).exits(0);
    answered
        .says("published c/messages/3-justification-alice.json")
        .says("mallory complained about a true share of alice, which is proven");
    room.all("complain", "c", &all);
    room.all("finish", "c", &all[..3]);
    assert_eq!(room.run(&["dkg", "judge", "c"]).exits(1).out, "mallory complained about a true share of alice\n");
    room.assert_signs("c", &["alice", "carol"].map(|name| room.share("c", name)));
}

#[test]
fn nothing_to_judge_is_no_acquittal() {
    let room = Room::new(&THREE);
    room.init("c", &["--suite", "eth2", "-t", "2"], &THREE).exits(0);
    room.run(&["dkg", "judge", "c"]).refused("c has no messages of the ceremony");
    room.run(&["dkg", "judge", "nowhere"]).refused("nowhere/ceremony.json is not there");
}

/// Rounds, who has spoken, who is missing and what comes next, for everyone and for a member.
#[test]
fn status_names_who_is_missing() {
    let names: Vec<String> = (1..=13).map(|i| format!("a-member-whose-name-is-rather-long-{i}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let room = Room::new(&names);
    room.init("c", &["--suite", "eth2", "-t", "2", "--commit-first"], &names).exits(0);
    let status = |flags: &[&str]| {
        let status = room.run(&[&["dkg", "status", "c"], flags].concat()).exits(0);
        for line in status.out.lines().filter(|line| !line.starts_with("your next command: ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        status
    };
    assert!(status(&[]).out.contains("deal           0 of 13      a-member"));
    let identity = format!("{0}/{0}.identity.json", names[0]);
    let mine = status(&["--identity", &identity]).out;
    assert!(
        mine.ends_with(&format!(
            "and have said nothing yet\nyour next command: quorate dkg run c --identity {identity} --id ID --wait\n"
        )),
        "{mine}"
    );

    let room = Room::after("deal", &THREE);
    let status = |flags: &[&str]| room.run(&[&["dkg", "status", "c"], flags].concat()).exits(0);
    room.all("receive", "c", &THREE[..1]);
    let expected = "\
round          spoken       missing
deal           3 of 3
response       1 of 3       bob and carol
justification  -
confirmation   0 of 3       alice, bob and carol

next: bob and carol should run `quorate dkg run` (step `receive`)
";
    let id = room.id("c");
    assert_eq!(status(&[]).out, format!("ceremony {id}\nmakes a new key: eth2, 2 of 3\n\n{expected}"));
    let identity = ["--identity", "alice/alice.identity.json"];
    let before = room.tree();
    assert!(status(&identity).out.ends_with(
        "you are alice, in the round `response`, waiting for bob and carol\n\
         your next command: quorate dkg run c --identity alice/alice.identity.json --wait\n"
    ));
    let json = status(&["--json", identity[0], identity[1]]).object();
    assert_eq!(json["rounds"][1]["missing"], serde_json::json!(["bob", "carol"]));
    assert_eq!((&json["you"]["round"], &json["next"]["step"]), (&"response".into(), &"receive".into()));
    assert_eq!(json["next"]["command"], "run");
    room.assert_is(&before, "status");
    room.all("receive", "c", &THREE);
    room.all("complain", "c", &THREE);
    let out = status(&[]).out.replace('\n', " ");
    assert!(out.contains("next: each member who has not done so should run `quorate dkg run` (step `finish`)"));
    room.all("finish", "c", &THREE[1..]);
    // Bob has written the key, and Alice has not come to her end.
    let command = "your next command: quorate dkg run c --identity alice/alice.identity.json --wait\n";
    assert!(status(&identity).out.ends_with(command));
    room.all("finish", "c", &THREE[..1]);
    assert!(status(&identity).out.ends_with("you are alice; the ceremony has ended with a key\n"));
    let json = status(&["--json", identity[0], identity[1]]).object();
    assert_eq!(json["you"]["public_key"], "0x".to_owned() + &room.public_key("c"));
    assert_eq!((json["you"].get("next"), json["you"].get("advice")), (None, None));
    // Nothing says where a share is that was written with --out.
    fs::rename(room.path(&room.share("c", "alice")), room.path("elsewhere.json")).unwrap();
    let out = status(&identity).out;
    let advice = format!(
        "{} is not there: if you wrote your share to another file with --out, nothing is left to do",
        room.share("c", "alice")
    );
    assert!(out.replace('\n', " ").contains(&advice) && out.ends_with(command), "{out}");
    assert_eq!(status(&["--json", identity[0], identity[1]]).object()["you"]["advice"], advice);
}
