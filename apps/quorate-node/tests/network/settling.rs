//! Tasks settle once, with the right verdicts: over the ends of epochs, by both transports, and in larger networks.

use std::{num::NonZeroU64, time::Duration};

use quorate_lab::network::{LocalPart, LocalPeers};
use quorate_network::schedule::Schedule;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::rig::{Net, PATIENCE, PAYLOAD, Plan};

/// Tasks of a schedule, in epochs that only the nodes begin. One operator gives false results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_settle_over_the_ends_of_epochs() {
    // The times in which the last task of an epoch must settle, in seconds, which are tried in turn. A slow machine needs a long one.
    for epoch_length in [20, 60, 120] {
        if settle_over_the_ends(epoch_length).await {
            return;
        }
        println!("an epoch of {epoch_length} s is too short for its tasks on this machine");
    }
    panic!("tasks settled too late, however long the epoch was");
}

/// `false` if a task did not settle before its time was over.
async fn settle_over_the_ends(epoch_length: u64) -> bool {
    const EVERY: u64 = 2;
    let plan = Plan { epoch_length, task_every: EVERY, liar: Some(3), ..Plan::default() };
    // Without its programs the test is skipped.
    let Some(mut net) = Net::start(plan).await else { return true };
    let liar = u64::from(net.index(3).await);
    let false_one = net.task(3).await;
    net.give_all(&false_one).await;
    // The next two epochs, which begin while all nodes run.
    let first = net.epoch().await + 1;
    let genesis = genesis(&net).await;
    let schedule = Schedule::new(net.local.network(), NonZeroU64::new(EVERY).unwrap(), PAYLOAD.to_owned()).unwrap();
    let begins = genesis + first * epoch_length;
    let numbers = begins.div_ceil(EVERY)..(begins + 2 * epoch_length).div_ceil(EVERY);
    let tasks: Vec<_> = numbers.map(|number| schedule.task(number)).collect();
    assert_eq!(tasks.len() as u64, 2 * epoch_length / EVERY);

    let ids = || tasks.iter().map(|task| task.id).chain([false_one.id]);
    if !net.in_time(first + 1, "all tasks are settled", async || net.has_settled(ids()).await).await {
        return false;
    }
    let settled = net.settled(tasks.iter().map(|task| task.id)).await;
    for (task, settled) in tasks.iter().zip(&settled) {
        assert_eq!(settled.epoch, (task.begins - genesis) / epoch_length, "{task:?}");
        assert_eq!(settled.approved, settled.performer != liar, "{task:?}");
    }
    let rejected = net.settled([false_one.id]).await[0];
    assert!(!rejected.approved && rejected.performer == liar);
    // Of each epoch there is one snapshot, and nobody but nodes made it.
    let ledger = net.ledger().await;
    assert!([first, first + 1].iter().all(|epoch| ledger.snapshots.contains_key(epoch)), "{ledger:?}");
    assert!(!ledger.penalised.is_empty());
    net.is_final(tasks[tasks.len() - 1].id, net.all()).await;
    net.nobody_punished_but(Some(3)).await;
    net.nobody_signed_twice().await;
    true
}

/// By HTTP: the aggregator is killed and comes back, and strangers who send nonsense stop nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_settle_by_http_though_the_aggregator_is_killed() {
    let plan = Plan { peers: LocalPeers::Http, liar: Some(2), ..Plan::default() };
    let Some(mut net) = Net::start(plan).await else { return };
    let mut given = Vec::new();
    for performer in [1, 2] {
        let task = net.task(performer).await;
        net.give_all(&task).await;
        given.push((task.id, performer != 2));
    }
    net.settled(given.iter().map(|(id, _)| *id)).await;

    net.local.kill(0, LocalPart::Node);
    let task = net.task(3).await;
    net.give(&task, 1..4).await;
    sleep(Duration::from_millis(500)).await;
    net.local.start_part(0, LocalPart::Node).unwrap();
    net.ready([0]).await;
    net.give(&task, [0]).await;
    given.push((task.id, true));
    net.settled([task.id]).await;

    // A task that is open while the aggregator dies.
    let task = net.task(1).await;
    net.give_all(&task).await;
    net.local.kill(0, LocalPart::Node);
    net.local.start_part(0, LocalPart::Node).unwrap();
    given.push((task.id, true));
    net.settled([task.id]).await;
    net.ready(net.all()).await;

    let aggregator = net.local.peer_address(0).unwrap();
    for (path, length, sent, expected) in [
        ("/v1/session", 100, 100, 403),
        ("/v1/session", 5_000, 5_000, 413),
        ("/v1/messages", 100, 100, 401),
        ("/v1/messages", 4 << 20, 0, 401),
        ("/v1/question", 100, 100, 401),
    ] {
        let status = stranger(&aggregator, path, length, sent).await;
        // An address that sent nonsense is banned for a while, so that it may hear 403 for everything.
        assert!(status == expected || status == 403, "{path}, {length} bytes: {status}, expected {expected}");
    }
    let task = net.task(0).await;
    net.give_all(&task).await;
    given.push((task.id, true));

    let settled = net.settled(given.iter().map(|(id, _)| *id)).await;
    for ((id, approved), settled) in given.iter().zip(settled) {
        assert_eq!(settled.approved, *approved, "{id}");
        net.is_final(*id, net.all()).await;
    }
    net.nobody_punished_but(Some(2)).await;
    net.nobody_signed_twice().await;
}

/// The status that somebody without a session gets for random bytes; 413 if the connection is ended without an answer.
async fn stranger(aggregator: &str, path: &str, length: usize, sent: usize) -> u16 {
    let mut stream = TcpStream::connect(aggregator.trim_start_matches("http://")).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    // The other side may have ended already.
    let _ = stream.write_all(&vec![0xA5; sent]).await;
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    read.expect("an answer").unwrap_or_default();
    let text = String::from_utf8_lossy(&answer);
    text.split(' ').nth(1).map_or(413, |status| status.parse().unwrap())
}

pub(crate) async fn genesis(net: &Net) -> u64 {
    let call = quorate_evm::contract::TaskNetwork::genesisCall {};
    net.local.rpc().read(net.local.deployed().network, &call, None).await.unwrap().to()
}

/// Tasks one after the other in a larger network. Prints how long a quorum took.
async fn larger(operators: usize) {
    let Some(mut net) = Net::start(Plan { operators, ..Plan::default() }).await else { return };
    let mut ids = Vec::new();
    for number in 0..6 {
        let task = net.task(number % operators).await;
        net.give_all(&task).await;
        net.settled([task.id]).await;
        ids.push(task.id);
    }
    let mut times = Vec::new();
    for id in &ids {
        net.is_final(*id, [0]).await;
        let seen = net.seen(0, *id).await;
        assert_eq!(seen["settlement"]["approved"], json!(true), "{seen}");
        let at = |name: &str| seen["times"][name].as_u64();
        times.extend(at("quorum").zip(at("known")).map(|(quorum, known)| quorum.saturating_sub(known)));
    }
    times.sort_unstable();
    println!("{operators} operators: ms from the task to a quorum: {times:?}");
    net.nobody_punished_but(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "ten nodes; `make network` runs it"]
async fn ten_operators_settle() {
    larger(10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "25 nodes; `make network` runs it"]
async fn twenty_five_operators_settle() {
    larger(25).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "50 nodes; `make network` runs it"]
async fn fifty_operators_settle() {
    larger(50).await;
}

/// More than a group has members: two groups add up their own signatures.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "70 nodes; `make network` runs it"]
async fn seventy_operators_settle_in_two_groups() {
    larger(70).await;
}
