//! Operators that sign conflicts, and peers and strangers that send what nobody may send.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use quorate_evm::{
    Task,
    alloy_primitives::{B256, Bytes},
    digest::Contract,
};
use quorate_lab::network::LocalPart;
use quorate_network::{
    message::{Attestation, Message, Signed, TaskResult},
    wire::encode,
};
use quorate_node::{runtime::now, transport::Transport};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    client::{self, Client},
    raw::RawPeer,
    rig::{Net, PATIENCE, Plan},
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
    let candidate = Task { epoch, snapshot, id, performer: performer.into(), result, approved: true };
    client.say(client::attestation(&net, 3, candidate).await);
    client.say(client::attestation(&net, 3, Task { approved: false, ..candidate }).await);
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
        net.until("the node has read of both", async || {
            net.status(node).await["punishments"].as_array().unwrap().len() >= 2
        })
        .await;
        let status = net.status(node).await;
        let punished = status["punishments"].as_array().unwrap();
        assert_eq!(punished.len(), 2, "node {node}: {punished:?}");
        assert!(punished.iter().all(|row| row["kind"] == "slashed" && row["operator"] == json!(operator)));
        let log = net.local.operator_folder(node).join("node.log");
        net.until("the log has each conflict once", async || {
            let log = std::fs::read_to_string(&log).unwrap();
            log.matches("an operator signed a conflict").count() == 2
        })
        .await;
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
    let unknown = Task {
        epoch: net.epoch().await,
        snapshot,
        id: B256::repeat_byte(0x77),
        performer: performer.into(),
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
    let candidate = Task { id: task.id, result: client::hash(&client::price(&task)), ..unknown };
    liar.say(Signed::Attestation(Attestation::new(candidate, own, wrong).unwrap()));
    liar.left().await;
    net.until("node 0 has banned it", async || !net.has_peer(0, &name).await).await;
    assert_eq!([net.count(0, "false").await, net.count(1, "false").await, net.count(2, "false").await], [1, 0, 0]);
    // Neither it nor another peer of its operator comes back.
    let again = Client::dial(&net, client::terms(&net, 3, net.local.network()), &[0]);
    net.refused(0, &again.name()).await;
    sleep(Duration::from_secs(4)).await;
    assert!(!net.has_peer(0, &again.name()).await && !net.has_peer(0, &name).await);
    assert!(net.has_peer(1, &quiet.name()).await, "node 1 has seen nothing false");

    // A result of somebody who was not elected is a fault, whatever its signature.
    let bytes = Bytes::from_static(b"no");
    let message = client::signature(
        &net,
        3,
        &quorate_network::message::candidate_for(task.epoch, snapshot, task.id, own, &bytes),
    );
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
    let sent = timeout(PATIENCE, flood).await.expect("the connection ends");
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

/// Operator 4 is admitted everywhere, and sends each of the others something that no node sends. Whoever gets it bans
/// it; the others stay connected, and tasks settle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_admitted_peer_that_sends_what_nobody_may_is_banned_alone() {
    const HONEST: Range<usize> = 0..4;
    const HOSTILE: usize = 4;
    let Some(mut net) = Net::start(Plan { operators: 5, ..Plan::default() }).await else { return };
    net.local.kill(HOSTILE, LocalPart::Node);
    let own = HONEST.map(|node| net.local.peer_address(node).unwrap().rsplit('/').next().unwrap().to_owned());
    let own: Vec<String> = own.collect();
    for node in HONEST {
        net.until("all honest nodes are peers, and no other", async || connected(&net, node, &own).await.len() == 3)
            .await;
    }

    // A message of an honest operator, which all nodes have.
    let task = net.task(0).await;
    net.give(&task, HONEST).await;
    assert!(net.settled([task.id]).await[0].approved);
    let (snapshot, performer) = (client::snapshot(&net, 0).await, net.index(0).await);
    let result = client::hash(&client::price(&task));
    let candidate =
        Task { epoch: task.epoch, snapshot, id: task.id, performer: performer.into(), result, approved: true };
    let message = Message::Signed(client::attestation(&net, 1, candidate).await);
    let network = net.local.network();
    let (true_bytes, foreign) = (encode(&message, network), encode(&message, Contract { chain_id: 1, ..network }));

    let began = now();
    for node in HONEST {
        let mut hostile = RawPeer::join(&net, HOSTILE, node).await;
        let name = hostile.name();
        net.until("it is a peer", async || net.has_peer(node, &name).await).await;
        let why = match node {
            // Longer than a frame of gossip may be.
            0 => {
                hostile.gossip(vec![7; 200_000]);
                "its gossip"
            }
            // No message.
            1 => {
                hostile.gossip(vec![0xff; 300]);
                "the version is 255"
            }
            2 => {
                hostile.gossip(foreign.clone());
                "of chain 1, and this node is in"
            }
            // To send again what is true is not a fault, as long as it is not a flood.
            _ => {
                hostile.replay(&true_bytes, 100);
                hostile.run(Duration::from_secs(2)).await;
                assert!(!hostile.has_ended() && net.has_peer(node, &name).await, "a few repetitions");
                hostile.replay(&true_bytes, 60_000);
                "more messages than it may send"
            }
        };
        hostile.until_ended().await;
        net.until(&format!("it is shown as banned for {why:?}"), async || {
            let status = net.status(node).await;
            let bans = status["bans"].as_array().unwrap();
            bans.iter().any(|row| {
                let is_it = row["peer_id"] == name && row["operator"] == json!(net.local.operator(HOSTILE));
                is_it && row["reason"].as_str().unwrap().contains(why)
            })
        })
        .await;
        assert_eq!(net.status(node).await["counts"]["transport"]["banned"], json!(1), "node {node}");
        // Another peer of the operator is not let in either.
        let again = Client::dial(&net, client::terms(&net, HOSTILE, network), &[node]);
        let task = net.task(node).await;
        net.give(&task, HONEST).await;
        assert!(net.settled([task.id]).await[0].approved);
        net.refused(node, &again.name()).await;
        assert!(!net.has_peer(node, &again.name()).await, "node {node}");
        again.transport.stop().await;
    }

    // Nobody else lost a connection: each is older than the first deed.
    for node in HONEST {
        let honest = connected(&net, node, &own).await;
        assert_eq!(honest.len(), 3, "node {node}: {honest:?}");
        for (peer, since) in honest {
            assert!(since < began, "node {node}: {peer} is connected anew");
        }
        assert_eq!(net.status(node).await["counts"]["transport"]["banned"], json!(1), "node {node}");
    }
    let ledger = net.ledger().await;
    assert_eq!((ledger.slashed, ledger.penalised), (vec![], vec![]));
}

/// Those of some peers that are connected to a node, and since when.
async fn connected(net: &Net, node: usize, peers: &[String]) -> BTreeMap<String, u64> {
    let status = net.status(node).await;
    let rows = status["peers"].as_array().unwrap().iter();
    let row = |row: &serde_json::Value| Some((row["peer_id"].as_str()?.to_owned(), row["since_ms"].as_u64()?));
    rows.filter_map(row).filter(|(peer, _)| peers.contains(peer)).collect()
}
