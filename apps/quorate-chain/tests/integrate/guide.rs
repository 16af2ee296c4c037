//! docs/integrate.md: its blocks, run in one shell.

use std::fs;

use quorate_evm::Network;

use quorate_lab::{needs::checkout, run::free_ports};

use crate::tools::Workplace;

/// A comment that begins with this, on the line before a block, keeps the block from being run.
const NOT_RUN: &str = "<!-- not run by the test";
/// The port in the document. The test takes one that is free.
const PORT: &str = "8545";

#[test]
fn the_guide_leads_to_a_settled_result() {
    let guide = fs::read_to_string(checkout().join("docs/integrate.md")).unwrap();
    let steps = guide.split("## Ten steps").nth(1).unwrap().split("\n## ").next().unwrap();
    let (run, not_run) = blocks(steps);
    assert_eq!((run.len(), not_run), (9, 1), "ten steps, of which the first one installs");

    let Some(folder) = Workplace::new() else { return };
    let port = free_ports(1).unwrap()[0].to_string();
    let script = run.join("\n");
    assert_eq!(script.matches(PORT).count(), 2);
    let ran = folder.bash(&script.replace(PORT, &port)).ends(0);
    ran.says(&["line 4       register a key of bn254-g2", "begin epoch 1", "enter epoch 1", "planned"]);
    let last = ran.out.lines().last().unwrap();
    assert_eq!(last, format!("owed: 0x{:064x}", 1_000_000_000_000_000_000_u64), "{}", ran.out);

    let network: Network = serde_json::from_str(&folder.read("network.json")).unwrap();
    assert_eq!((network.nonce, network.epoch, network.keys.len(), &network.weights[..]), (1, 1, 4, &[100; 4][..]));
    assert_eq!(network.bases[0].signers.iter().collect::<Vec<_>>(), [0, 1, 3]);
}

/// The contents of the `sh` blocks to run, and how many are not run.
fn blocks(text: &str) -> (Vec<String>, usize) {
    let (mut run, mut not_run) = (Vec::new(), 0);
    let mut lines = text.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        if line == "```sh" {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            if before.starts_with(NOT_RUN) { not_run += 1 } else { run.push(block.join("\n")) }
        } else {
            assert!(!line.starts_with("```"), "a block of another language, which nothing runs: {line}");
        }
        before = line;
    }
    (run, not_run)
}
