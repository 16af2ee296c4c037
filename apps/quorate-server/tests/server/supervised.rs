//! The program under a service manager: what it says to it, and SIGHUP.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
    time::Duration,
};

use quorate_lab::run::{Folder, Running, ServiceManager, Signal};

use crate::process::program;

#[test]
fn a_manager_hears_of_the_start_each_reload_and_the_stop() {
    let (manager, folder) = (ServiceManager::new(), Folder::new());
    let file = folder.file("server.toml", "[log]\nlevel = \"error\"\n");
    let mut command = program();
    command.args(["--config", &file, "--listen", "127.0.0.1:0", "--log", "json"]).stderr(Stdio::piped());
    manager.starts(&mut command, Duration::from_millis(500));
    let mut server = Running::start(&mut command);
    let mut log = BufReader::new(server.child.stderr.take().unwrap()).lines();
    // A sign of life may come before it.
    assert_eq!(manager.hears_news(), ["READY=1", "STATUS=serving"]);
    manager.hears_life();
    manager.hears_life();

    // What was quiet says now what has changed, and what waits.
    fs::write(&file, "[log]\nlevel = \"info\"\nformat = \"text\"\n[limits]\nclaims = 7\n[known]\non_disk = 7\n")
        .unwrap();
    server.signal(Signal::HUP);
    let reloading = manager.hears_news();
    assert!(reloading[0] == "RELOADING=1" && reloading[1].starts_with("MONOTONIC_USEC="), "{reloading:?}");
    assert_eq!(manager.hears_news(), ["READY=1", "STATUS=serving"]);
    let mut next = || serde_json::from_str::<serde_json::Value>(&log.next().unwrap().unwrap()).unwrap();
    let (applied, waiting) = (next(), next());
    assert_eq!((&applied["level"], &applied["changed"]), (&"INFO".into(), &"limits.claims log.level".into()));
    assert_eq!((&waiting["level"], &waiting["fields"]), (&"WARN".into(), &"known.on_disk".into()));

    // A field that does not exist is named with its line, and the server goes on.
    fs::write(&file, "[limits]\nclaims = 8\nclaimz = 8\n").unwrap();
    server.signal(Signal::HUP);
    assert_eq!(manager.hears_news()[0], "RELOADING=1");
    let refused = manager.hears_news();
    assert!(refused[0] == "READY=1" && refused[1].contains("could not be read again"), "{refused:?}");
    let error = next();
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("server.toml") && text.contains("line 3") && text.contains("claimz"), "{error}");
    manager.hears_life();

    server.signal(Signal::TERM);
    assert_eq!(manager.hears_news(), ["STOPPING=1", "STATUS=answering what was asked"]);
    assert_eq!(server.ended(), 0);
}

/// Nobody listens on the socket any more, or it is none: the server serves all the same.
#[test]
fn a_manager_that_is_gone_is_no_fault() {
    for socket in ["/nowhere/notify", "", "notify", "@quorate-nobody"] {
        let mut command = program();
        let command = command.args(["--listen", "127.0.0.1:0"]).env("NOTIFY_SOCKET", socket);
        let mut server = crate::process::Listening::of(command);
        server.run.signal(Signal::HUP);
        server.run.signal(Signal::TERM);
        assert_eq!(server.run.ended(), 0, "{socket}");
    }
}
