//! Processes that are killed at any moment and come back from their disk, and processes that end in order.

use std::{collections::BTreeMap, process::Stdio, time::Duration};

use quorate_lab::network::LocalPart;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    client::Client,
    rig::{Net, Plan},
};

/// The performer, the first aggregator and a signer are killed while tasks are open. Programs take half a second, so that
/// there is time for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_killed_goes_on_from_its_disk() {
    let Some(mut net) = Net::start(Plan { pause: Some("0.5"), ..Plan::default() }).await else { return };
    let listener = Client::join(&net, 3, &[0, 2]).await;
    let (mut heard, listening) = listener.listen();
    let mut ids = Vec::new();

    // The performer: while its program runs, when it has signed, when others sign.
    for moment in [100, 700, 1_300] {
        let task = net.task(1).await;
        net.give_all(&task).await;
        sleep(Duration::from_millis(moment)).await;
        net.local.kill(1, LocalPart::Node);
        net.local.start_part(1, LocalPart::Node).unwrap();
        net.settled([task.id]).await;
        ids.push(task.id);
        // The others may settle without it, and it takes the next task.
        net.ready([1]).await;
    }

    // The first aggregator, when its turn has come. Another one settles.
    let task = net.task(0).await;
    net.give_all(&task).await;
    let mut first = None;
    net.until("an aggregator's turn begins", async || {
        for node in net.all() {
            let seen = net.seen(node, task.id).await;
            if seen["turn_ms"].is_u64() && seen["turn_ms"] == seen["turns_begin_ms"] {
                first = Some(node);
            }
        }
        first.is_some()
    })
    .await;
    let first = first.unwrap();
    net.local.kill(first, LocalPart::Node);
    net.settled([task.id]).await;
    net.local.start_part(first, LocalPart::Node).unwrap();
    net.ready([first]).await;
    ids.push(task.id);

    // The performer's signer, before the performer has its task. Its node says so, and the task settles when it is back.
    let task = net.task(2).await;
    net.give(&task, [0, 1, 3]).await;
    net.local.kill(2, LocalPart::Signer);
    net.give(&task, [2]).await;
    net.not_ready(2, "signer").await;
    assert!(!net.ledger().await.settled.contains_key(&task.id));
    net.local.start_part(2, LocalPart::Signer).unwrap();
    net.local.signer_ready(2).await.unwrap();
    ids.push(task.id);
    net.settled(ids.iter().copied()).await;
    net.ready([2]).await;

    // A task that its performer alone knows outlives a kill, and is performed when the others know it.
    let task = net.task(1).await;
    net.give(&task, [1]).await;
    net.local.kill(1, LocalPart::Node);
    net.local.start_part(1, LocalPart::Node).unwrap();
    net.ready([1]).await;
    net.until("the node has the task again", async || net.seen(1, task.id).await.is_object()).await;
    net.give(&task, [0, 2, 3]).await;
    ids.push(task.id);

    for (id, settled) in ids.iter().zip(net.settled(ids.iter().copied()).await) {
        assert!(settled.approved, "{id}");
        net.is_final(*id, net.all()).await;
    }
    net.nobody_punished_but(None).await;
    // What was heard on the network: one verdict of each signer in each epoch and snapshot.
    listening.abort();
    let mut verdicts = BTreeMap::new();
    while let Ok(attestation) = heard.try_recv() {
        let candidate = *attestation.candidate();
        let key = (candidate.id, candidate.epoch, candidate.snapshot, attestation.index());
        assert_eq!(*verdicts.entry(key).or_insert(candidate), candidate, "{attestation:?}");
    }
    assert!(verdicts.len() >= ids.len());
    net.nobody_signed_twice().await;
}

/// SIGTERM ends a node with success. A folder has one node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_ends_in_order_and_a_folder_has_one() {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    let second = net.local.node_command(1).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains("another node uses this folder"), "{said}");

    let status = net.local.end(1, LocalPart::Node).await.expect("the node ends");
    assert_eq!(status.code(), Some(0), "{}", net.local.last_lines(1, LocalPart::Node));
    net.local.start_part(1, LocalPart::Node).unwrap();
    net.ready([1]).await;

    // What cannot be a task is refused, and says why.
    let wrong = json!({ "payload": {}, "epoch": net.epoch().await + 7 });
    let (status, answer) = net.local.post_task(1, &wrong).await.unwrap();
    assert_eq!(status, 422, "{answer}");
    let task = net.task(1).await;
    net.give_all(&task).await;
    assert!(net.settled([task.id]).await[0].approved);
    assert_eq!(ended(net).await, Vec::<usize>::new());
}

/// Ends all nodes in order; those that did not end.
async fn ended(mut net: Net) -> Vec<usize> {
    let mut left = Vec::new();
    for node in net.all() {
        if net.local.end(node, LocalPart::Node).await.and_then(|status| status.code()) != Some(0) {
            left.push(node);
        }
    }
    left
}
