//! Runs `quorate evm network new`.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Stdio;

#[cfg(target_os = "linux")]
use quorate_lab::run::Running;
use quorate_lab::run::{Folder, Ran, Run as _, command};

fn new(out: &str) -> Ran {
    command("quorate").args(["evm", "network", "new", "--out", out]).ran()
}

#[test]
fn the_files_of_a_network_are_written_once() {
    let folder = Folder::new();
    let out = folder.path("above/our-network");
    let printed = new(&out).exits(0).says("README.md says how to deploy").out;
    let files: Vec<_> = printed.lines().collect();
    assert_eq!(files, ["terms.toml", "terms.env", "members.md", "README.md"].map(|name| format!("{out}/{name}")));
    let readme = fs::read_to_string(files[3]).unwrap();
    for name in ["terms.toml", "terms.env", "members.md"] {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
    // Terms that somebody has changed stay.
    fs::write(files[0], "epoch-length = 60\n").unwrap();
    fs::remove_file(files[1]).unwrap();
    new(&out).exits(2).says("terms.toml is there already: name another folder with --out");
    assert_eq!(fs::read_to_string(files[0]).unwrap(), "epoch-length = 60\n");
    assert!(!fs::exists(files[1]).unwrap());
    new(files[3]).exits(3).says("cannot write");
}

/// The files are whole before the first of them is named.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_leaves_all_files() {
    let folder = Folder::new();
    let out = folder.path("our-network");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = command("quorate");
    command.args(["evm", "network", "new", "--out", &out]).stdout(full).stderr(Stdio::null());
    assert_eq!(Running::start(&mut command).ended(), 3);
    let mut names: Vec<_> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["README.md", "members.md", "terms.env", "terms.toml"]);
}
