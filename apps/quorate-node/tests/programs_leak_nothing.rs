//! After many calls of every kind the process has no more descriptors, threads and children than before. It is a test file
//! of its own, because other tests of one process have theirs at the same time.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    fs,
    time::{Duration, Instant},
};

use quorate_evm::{
    alloy_primitives::{Address, B256},
    digest::Contract,
};
use quorate_node::programs::{Program, ProgramSettings, ProgramTask, Programs};

/// Open descriptors, threads and children, zombies among them.
fn held() -> [usize; 3] {
    let count = |folder: &str| fs::read_dir(folder).unwrap().count();
    let children = fs::read_dir("/proc/self/task").unwrap().filter_map(|thread| {
        fs::read_to_string(thread.unwrap().path().join("children")).ok().map(|text| text.split_whitespace().count())
    });
    [count("/proc/self/fd"), count("/proc/self/task"), children.sum()]
}

#[tokio::test]
async fn nothing_is_left() {
    let task = ProgramTask { epoch: 1, id: B256::ZERO, payload: vec![b' '; 100_000].into() };
    let network = Contract { chain_id: 1, address: Address::ZERO };
    let time = Duration::from_millis(300);
    let calls = async || {
        for command in [
            // Well, never ends, writes too much, does not read, fails, is ended, is not there, starts children.
            "sh -c 'cat > /dev/null; echo 1'",
            "sleep 300",
            "sh -c 'cat > /dev/null; cat /dev/zero'",
            "true",
            "false",
            "sh -c 'kill -9 $$'",
            "/no/such/program",
            "sh -c 'sleep 300 & sleep 300 & cat > /dev/null; echo 1'",
            "http://127.0.0.1:1/",
        ] {
            let program: Program = command.parse().unwrap();
            let settings = ProgramSettings { time, ..ProgramSettings::default() };
            let both = Programs::new(network, Some(program.clone()), Some(program), settings);
            drop(both.execute(&task).await);
            drop(both.validate(&task, &"1".into()).await);
            // Dropped while it runs.
            let dropped = tokio::time::timeout(Duration::from_millis(20), both.execute(&task)).await;
            drop(dropped);
        }
    };
    // What the runtime and the libraries keep for good.
    calls().await;
    until("a child is left", || held()[2] == 0).await;
    let before = held();
    for _ in 0..3 {
        calls().await;
    }
    // Processes of dropped calls are reaped by the runtime, whose threads end some time after their work.
    let is_as_before = || held().iter().zip(before).all(|(now, before)| *now <= before);
    until(&format!("there were {before:?} descriptors, threads and children"), is_as_before).await;
}

/// Waits for a fact.
async fn until(otherwise: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(300), "{otherwise}; there are {:?}", held());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
