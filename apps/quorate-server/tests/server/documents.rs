//! What the documents and the examples show is so.

use std::{collections::BTreeSet, fs, process::Command};

use quorate_host::options::{Source, to_toml};
use quorate_lab::{
    needs::{checkout, example},
    run::{Run as _, has, program_of, shell},
};
use quorate_server::config::{Config, PREFIX, RELOADED};

use crate::{process::ALLOCATOR, rig::Rig};

fn read(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap()
}

#[test]
fn the_curl_example() {
    if !has("curl") {
        return;
    }
    let rig = Rig::start();
    let mut command = shell("exec sh \"$0\"");
    command.arg(example("server/verify.sh")).env("QUORATE_URL", format!("http://{}", rig.address));
    let text = command.ran().exits(0).out;
    // The document shows it.
    let document = read("docs/server.md");
    let (_, shown) = document.split_once("$ sh examples/server/verify.sh\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert_eq!(text, shown, "docs/server.md shows something else");
}

/// Exported for a script, such a variable would stop each server that starts, which takes it for a field.
#[test]
fn the_examples_name_no_variable_of_the_server() {
    for script in ["server/verify.sh", "server/verify.py"] {
        assert!(!fs::read_to_string(example(script)).unwrap().contains(PREFIX), "{script}");
    }
}

#[test]
fn the_python_example_over_tcp_and_a_socket() {
    if !has("python3") {
        return;
    }
    let rig = Rig::start();
    for server in [format!("http://{}", rig.address), rig.socket_path("claims")] {
        let run = |claims: &str| {
            let claims = fs::File::open(example(claims)).unwrap();
            Command::new("python3").arg(example("server/verify.py")).arg(&server).stdin(claims).ran()
        };
        let text = run("one-false.jsonl").exits(1).out;
        assert_eq!(text.lines().filter(|line| line.contains("\tvalid\t")).count(), 3, "{text}");
        assert!(text.ends_with("3\tinvalid\tthe signature does not match the keys and messages\n"), "{text}");
        run("claims.jsonl").exits(0);
    }
}

#[test]
fn the_document_has_every_field_with_its_default() {
    let document = read("docs/server.md");
    let (mut section, mut fields) = (String::new(), 0);
    for line in to_toml(&Config::default()).lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else if let Some((name, value)) = line.split_once(" = ") {
            let field = format!("{section}.{name}");
            let row = format!("| `{field}` | `{value}` |");
            let found = document.lines().find(|line| line.starts_with(&row));
            let found = found.unwrap_or_else(|| panic!("docs/server.md has no row {row}"));
            let reload = if RELOADED.contains(&field.as_str()) { "yes" } else { "no" };
            assert!(found.ends_with(&format!("| {reload} |")), "{found}: expected {reload} in the last column");
            fields += 1;
        }
    }
    let is_row = |line: &&str| line.starts_with("| `") && (line.ends_with("| yes |") || line.ends_with("| no |"));
    assert_eq!(fields, document.lines().filter(is_row).count(), "docs/server.md has a row of no field");
}

/// The codes of the source, where each stands behind its status.
#[test]
fn every_code_that_the_server_sends_is_in_its_document() {
    let documents = read("docs/server.md") + &read("docs/checkpoints.md");
    let rows: Vec<_> = documents.lines().filter(|line| line.starts_with("| 4") || line.starts_with("| 5")).collect();
    let mut codes = BTreeSet::new();
    for file in fs::read_dir(checkout().join("apps/quorate-server/src/api")).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        let after_statuses = source.split("StatusCode::").skip(1).filter_map(|text| {
            let (status, after) = text.split_once(',')?;
            let is_status = status.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            is_status.then(|| after.trim_start().strip_prefix('"')?.split_once('"'))?
        });
        codes.extend(after_statuses.map(|(code, _)| code.to_owned()));
    }
    assert!(codes.len() > 15, "{codes:?}");
    for code in codes {
        assert!(rows.iter().any(|row| row.contains(&format!("`{code}`"))), "no row of an error has `{code}`");
    }
}

#[test]
fn the_unit_and_the_container_set_fields_that_exist() {
    for file in ["apps/quorate-server/deploy/quorate-server.service", "packaging/Containerfile"] {
        let text = read(file);
        let settings: Vec<_> = text
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("Environment=").unwrap_or(word).split_once('='))
            .filter(|(name, _)| name.starts_with(PREFIX))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        assert!(settings.len() >= 3, "{settings:?}");
        Config::read(None::<Source<'_>>, settings, &[]).unwrap();
        for (name, value) in ALLOCATOR {
            assert!(text.contains(&format!("{name}={value}")), "{file}: {name}");
        }
    }
}

#[test]
fn the_example_of_a_network_with_checkpoints() {
    if !has("curl") || program_of("quorate-cli", "quorate").is_none() {
        return;
    }
    let text = shell("exec sh \"$0\"").arg(example("checkpoint-network.sh")).ran().exits(0).out;
    assert_eq!(text, include_str!("checkpoint-network.txt"));
}

/// The files of deploy/ say what the program understands.
#[test]
fn the_files_of_deploy_are_understood() {
    let deploy = |name: &str| read(&format!("apps/quorate-server/deploy/{name}"));
    let variables = |lines: Vec<String>| -> Vec<(String, String)> {
        let variables = lines.into_iter().map(|line| {
            let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("{line}: expected NAME=value"));
            (name.trim().to_owned(), value.to_owned())
        });
        variables.filter(|(name, _)| name != "QUORATE_SERVER_CONFIG").collect()
    };
    let unit = deploy("quorate-server.service");
    let of_unit =
        variables(unit.lines().filter_map(|line| line.strip_prefix("Environment=")).map(str::to_owned).collect());
    let config = Config::read(None, of_unit, &[]).unwrap();
    // A start may take as long under Kubernetes. A server with large key sets was killed there and begun anew for ever.
    let manifest = read("deploy/kubernetes/base/server/deployment.yaml");
    let (_, probe) = manifest.split_once("startupProbe: ").unwrap();
    let (probe, _) = probe.split_once('\n').unwrap();
    let number = |name: &str| -> u64 {
        let (_, after) = probe.split_once(name).unwrap();
        after.split([',', ' ', '}']).next().unwrap().parse().unwrap()
    };
    assert!(unit.contains("\nTimeoutStartSec=5min\n"));
    assert!(number("periodSeconds: ") * number("failureThreshold: ") >= 5 * 60, "{probe}");
    // Somebody reaches the socket: the group is a real one, may enter the folder, and the socket is open to it.
    assert!(unit.contains("\nGroup=quorate-clients\n") && unit.contains("\nRuntimeDirectoryMode=0750\n"));
    assert!(unit.contains("groupadd --system quorate-clients") && config.listen.socket_mode == "0660");
    assert_eq!(config.listen.socket, "/run/quorate-server/claims.sock");
    let image = read("packaging/Containerfile");
    let (_, after) = image.split_once("\nENV ").unwrap();
    let (block, _) = after.split_once("\nVOLUME").unwrap();
    let of_image = variables(block.lines().map(|line| line.trim_end_matches('\\').trim().to_owned()).collect());
    let config = Config::read(None, of_image, &[]).unwrap();
    let folder = format!("--chown=65532:65532 --chmod=0700 /empty {}", config.known.folder);
    assert!(
        !config.known.folder.is_empty() && image.contains(&folder),
        "the user cannot enter {}",
        config.known.folder
    );
    // The file of variables is what systemd reads, and its values are the defaults.
    let lines: Vec<String> = deploy("quorate-server.default").lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|line| line.starts_with('#') || line.starts_with(PREFIX)), "{lines:#?}");
    let shown = lines.iter().filter_map(|line| line.strip_prefix('#').filter(|line| line.starts_with(PREFIX)));
    let shown = variables(shown.map(str::to_owned).collect());
    assert!(shown.len() > 5);
    assert_eq!(Config::read(None, shown, &[]).unwrap(), Config::default());
    let unit_line = "EnvironmentFile=-/etc/default/quorate-server";
    assert!(unit.contains(unit_line) && !unit.contains("--print-config"));
}
