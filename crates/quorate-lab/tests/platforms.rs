//! The builds of libquorate and of the packages on it, where they cannot work.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{env, fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use quorate_lab::run::{Folder, Run as _};

/// `uname` and `rustc` are scripts that speak for another machine, and `cargo` is one that leaves a file.
#[test]
fn a_platform_without_a_build_is_named_before_anything_is_built() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (system, host) in [
        ("Darwin", "aarch64-apple-darwin"),
        ("FreeBSD", "x86_64-unknown-freebsd"),
        ("Linux", "x86_64-unknown-linux-musl"),
    ] {
        let folder = Folder::new();
        let program = |name: &str, script: &str| {
            let path = folder.file(name, format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        program("uname", &format!("if [ \"$1\" = -m ]; then echo x86_64; else echo {system}; fi"));
        let rustc = program("rustc", &format!("echo 'rustc 1.95.0'; echo 'host: {host}'"));
        let built = folder.path("built");
        let cargo = program("cargo", &format!("touch {built}"));
        let path = format!("{}:{}", folder.path(""), env::var("PATH").unwrap());
        for script in ["scripts/c_library.sh", "bindings/node/build.sh", "bindings/java/build.sh"] {
            let mut command = Command::new(repository.join(script));
            command.env("PATH", &path).env("RUSTC", &rustc).env("CARGO", &cargo).env_remove("PROGRAMS");
            // A folder for the first one. The others take it for a profile.
            command
                .arg(folder.path("c"))
                .ran()
                .exits(1)
                .says("need Linux with glibc")
                .says(&format!("{system} ({host})"));
            assert!(!Path::new(&built).exists(), "{script}");
        }
    }
}
