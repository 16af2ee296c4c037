//! The commands of the README's table of doors, and of its blocks, run on what a clone has.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{fs, os::unix::fs::symlink};

use quorate_lab::{
    needs::checkout,
    run::{Ran, Run as _, shell},
};

/// Every door of the README opens in a clone: what `quorate` and `sh` run finds no false signature but those that were
/// planted, and of everything else the target, the package or the folder is there.
#[test]
fn the_doors_of_the_readme_open() {
    let readme = fs::read_to_string(checkout().join("README.md")).unwrap();
    let commands = doors(&readme);
    assert!(commands.len() >= 12, "the README has {} doors, not 12 or more", commands.len());
    for command in commands {
        if ["quorate ", "sh examples/"].iter().any(|start| command.starts_with(start)) {
            // The eras of the examples have planted false signatures.
            let expected = i32::from(command == "quorate history verify examples/history");
            let ran = run(&command);
            assert_eq!(ran.code, expected, "README.md: `{command}`: {ran:#?}");
        } else {
            let needed = needs(&command).unwrap_or_else(|| panic!("README.md: nothing is known of `{command}`"));
            assert!(needed, "README.md: `{command}` names what is not there");
        }
    }
}

/// The same of its blocks of the language `sh`, which a test cannot run: they install, or run all tests.
#[test]
fn the_other_commands_of_the_readme_name_what_is_there() {
    let readme = fs::read_to_string(checkout().join("README.md")).unwrap();
    let mut seen = 0;
    for block in readme.split("```sh\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            let command = line.split(" #").next().unwrap().trim();
            assert_eq!(needs(command), Some(true), "README.md: `{command}`");
            seen += 1;
        }
    }
    assert!(seen >= 2, "the README has {seen} commands in `sh` blocks");
}

/// The commands in the second column of the README's table of doors.
fn doors(readme: &str) -> Vec<String> {
    let (_, section) = readme.split_once("## Which door is yours\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cell = |row: &str| row.split(" | ").nth(1).map(|cell| cell.trim_matches('`').to_owned());
    rows.map(|row| cell(row).unwrap_or_else(|| panic!("{row}"))).collect()
}

/// Whether everything that a command of `make`, `cargo` or `python3 … pip install` names is in the repository. None for another command.
fn needs(command: &str) -> Option<bool> {
    let words: Vec<&str> = command.split(' ').collect();
    let after = |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1).copied());
    let is_file = |path: &str| checkout().join(path).is_file();
    match words[0] {
        "make" => {
            let makefile = fs::read_to_string(checkout().join("Makefile")).unwrap();
            Some(makefile.lines().any(|line| line.starts_with(&format!("{}:", words[1]))))
        }
        "cargo" => match (after("--path"), after("-p")) {
            (Some(path), _) => Some(is_file(&format!("{path}/Cargo.toml"))),
            (_, Some(package)) => {
                Some(["crates", "apps"].iter().any(|place| is_file(&format!("{place}/{package}/Cargo.toml"))))
            }
            _ => None,
        },
        "python3" => Some(is_file(&format!("{}/pyproject.toml", words.last()?))),
        _ => None,
    }
}

/// Runs a command where `examples/` is, in a folder that is thrown away.
fn run(command: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    symlink(checkout().join("examples"), folder.path().join("examples")).unwrap();
    shell(command).current_dir(folder.path()).ran()
}

#[test]
fn a_command_that_names_what_is_not_there_is_found() {
    for (command, needed) in [
        ("make test", Some(true)),
        ("make nothing", Some(false)),
        ("cargo run --release -p quorate-server -- demo", Some(true)),
        ("cargo doc --open -p quorate-nothing", Some(false)),
        ("cargo install --locked --path apps/quorate-cli", Some(true)),
        ("cargo install --locked --path apps/nothing", Some(false)),
        ("python3 -m venv .venv && .venv/bin/pip install ./crates/quorate-python", Some(true)),
        ("python3 -m venv .venv && .venv/bin/pip install quorate", Some(false)),
        ("curl https://example.org", None),
    ] {
        assert_eq!(needs(command), needed, "{command}");
    }
    let table = "## Which door is yours\n\n| a | b | c |\n|---|---|---|\n| d | `make test` | [e](f.md) |\n\n## More\n";
    assert_eq!(doors(table), ["make test"]);
}
