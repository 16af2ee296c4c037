//! Operators that sign conflicts, and peers and strangers that send what nobody may send.

use std::time::Duration;

use quorate_evm::{
    alloy_primitives::{B256, Bytes},
    digest::Contract,
};
use quorate_node::{
    local::LocalPart,
    message::{Attestation, Candidate, Signed, TaskResult},
    transport::Transport,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    client::{self, Client},
    rig::{Net, Plan},
};

/// Operator 3 is played by the test. It signs two results of a task, and two verdicts of another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_signs_a_conflict_is_slashed_once() {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    let operator = net.local.operator(3);
    net.local.kill(3, LocalPart::Node);
    net.local.kill(3, LocalPart::Signer);
    let client = Client::join(&net, 3, &[0, 1, 2]).await;
    let snapshot = client::snapshot(&net, 0).await;

    // Two results. All have the first one, so that the second cannot split them.
    let performed = net.task(3).await;
    net.give(&performed, 0..3).await;
    let right = client::price(&performed);
    client.say(client::result(&net, 3, snapshot, &performed, &right).await);
    for node in 0..3 {
        net.until("the nodes have the first result", async || {
            net.seen(node, performed.id).await["result"] == json!(client::hash(&right))
        })
        .await;
    }
    client.say(client::result(&net, 3, snapshot, &performed, "ETH/USD 1.00").await);
    let settled = net.settled([performed.id]).await[0];
    assert!(settled.approved && settled.result == client::hash(&right));
    let is_slashed = async |net: &Net, id| net.ledger().await.slashed.contains(&(operator, id));
    net.until("the performer is slashed", async || is_slashed(&net, performed.id).await).await;

    // Two verdicts.
    let judged = net.task(0).await;
    net.give(&judged, 0..3).await;
    let (epoch, id) = (judged.epoch, judged.id);
    let (performer, result) = (net.index(0).await, client::hash(&client::price(&judged)));
    let candidate = Candidate { epoch, snapshot, id, performer, result, approved: true };
    client.say(client::attestation(&net, 3, candidate).await);
    client.say(client::attestation(&net, 3, Candidate { approved: false, ..candidate }).await);
    assert!(net.settled([id]).await[0].approved);
    net.until("the attester is slashed", async || is_slashed(&net, id).await).await;

    // A while later: once for each, nobody else, and the nodes know it.
    sleep(Duration::from_secs(4)).await;
    let mut slashed = net.ledger().await.slashed;
    slashed.sort();
    let mut expected = [(operator, performed.id), (operator, id)];
    expected.sort();
    assert_eq!(slashed, expected);
    assert_eq!(net.ledger().await.penalised, []);
    for node in 0..3 {
        let status = net.status(node).await;
        let punished = status["punishments"].as_array().unwrap();
        assert_eq!(punished.len(), 2, "node {node}: {punished:?}");
        assert!(punished.iter().all(|row| row["kind"] == "slashed" && row["operator"] == json!(operator)));
    }
    let after = net.task(1).await;
    net.give(&after, 0..3).await;
    assert!(net.settled([after.id]).await[0].approved);
}

/// A peer that lies is banned by the node that it lies to; what a node ignores it does not hand on; others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_peer_loses_its_connection_and_no_other() {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    net.local.kill(3, LocalPart::Node);
    let snapshot = client::snapshot(&net, 0).await;
    let (own, performer) = (net.index(3).await, net.index(0).await);

    // Of an unknown task, with a true signature: node 1 hands it to nobody, and bans nobody.
    let mut quiet = Client::join(&net, 3, &[1]).await;
    let received = [net.count(0, "received").await, net.count(2, "received").await];
    let (before, ignored) = (net.count(1, "received").await, net.count(1, "ignored").await);
    let unknown = Candidate {
        epoch: net.epoch().await,
        snapshot,
        id: B256::repeat_byte(0x77),
        performer,
        result: B256::ZERO,
        approved: true,
    };
    quiet.say(client::attestation(&net, 3, unknown).await);
    net.until("node 1 has ignored it", async || net.count(1, "ignored").await > ignored).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(net.count(1, "received").await, before + 1);
    assert_eq!([net.count(0, "received").await, net.count(2, "received").await], received);
    assert!(net.has_peer(1, &quiet.name()).await);

    // A false signature, to node 0 alone.
    let task = net.task(0).await;
    net.give(&task, 0..3).await;
    net.settled([task.id]).await;
    let mut liar = Client::join(&net, 3, &[0]).await;
    let (name, wrong) = (liar.name(), client::signature(&net, 3, &unknown));
    let candidate = Candidate { id: task.id, result: client::hash(&client::price(&task)), ..unknown };
    liar.say(Signed::Attestation(Attestation::new(candidate, own, wrong).unwrap()));
    liar.left().await;
    net.until("node 0 has banned it", async || !net.has_peer(0, &name).await).await;
    assert_eq!([net.count(0, "false").await, net.count(1, "false").await, net.count(2, "false").await], [1, 0, 0]);
    // Neither it nor another peer of its operator comes back.
    let again = Client::dial(&net, client::terms(&net, 3, net.local.network()), &[0]);
    sleep(Duration::from_secs(4)).await;
    assert!(!net.has_peer(0, &again.name()).await && !net.has_peer(0, &name).await);
    assert!(net.has_peer(1, &quiet.name()).await, "node 1 has seen nothing false");

    // A result of somebody who was not elected is a fault, whatever its signature.
    let bytes = Bytes::from_static(b"no");
    let message =
        client::signature(&net, 3, &quorate_node::message::candidate_for(task.epoch, snapshot, task.id, own, &bytes));
    quiet.say(Signed::Result(TaskResult::new(task.epoch, snapshot, task.id, own, bytes, message).unwrap()));
    quiet.left().await;
    net.until("node 1 has banned it", async || !net.has_peer(1, &quiet.name()).await).await;

    // Of another network, and somebody whose statement is not its operator's.
    let network = net.local.network();
    let foreign = Client::dial(&net, client::terms(&net, 1, Contract { chain_id: 1, ..network }), &[2]);
    let mut stolen = client::terms(&net, 1, network);
    stolen.credential = client::terms(&net, 1, network).credential;
    let stolen = Client::dial(&net, stolen, &[2]);
    sleep(Duration::from_secs(3)).await;
    assert!(!net.has_peer(2, &foreign.name()).await && !net.has_peer(2, &stolen.name()).await);

    // A stranger who floods is cut off.
    let address = net.local.peer_address(2).unwrap();
    let port = address.split('/').nth(4).unwrap();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
    let flood = async {
        let bytes = vec![0x5A; 1 << 16];
        let mut sent = 0;
        while sent < 64 << 20 && stream.write_all(&bytes).await.is_ok() {
            sent += bytes.len();
        }
        let mut rest = Vec::new();
        // It may be a reset.
        let _ = stream.read_to_end(&mut rest).await;
        sent
    };
    let sent = timeout(Duration::from_secs(30), flood).await.expect("the connection ends");
    assert!(sent < 64 << 20, "{sent} bytes");

    // The others are still peers of each other, and settle.
    for node in 0..3 {
        let peers = net.status(node).await["peers_in_all"].as_u64().unwrap();
        assert!(peers >= 2, "node {node}: {peers}");
    }
    let last = net.task(1).await;
    net.give(&last, 0..3).await;
    assert!(net.settled([last.id]).await[0].approved);
    assert_eq!((net.ledger().await.slashed, net.ledger().await.penalised), (vec![], vec![]));
    let stop = |client: Client| Transport::stop(client.transport);
    for client in [foreign, stolen, again, liar, quiet] {
        stop(client).await;
    }
}
