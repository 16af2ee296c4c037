//! The chain's node lies, refuses or hangs, and the disk cannot be written.

use std::{fs, time::Duration};

use quorate_evm::{alloy_sol_types::SolEvent as _, contract::TaskNetwork};
use quorate_lab::network::LocalPart;
use quorate_lab::proxy::{Proxy, ProxyReply};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::rig::{Net, Plan};

/// What a chain's node does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Ends the connection.
    Refuse,
    /// Does not answer.
    Hang,
    /// Changes the results in the logs of settled tasks.
    Lie,
}

/// An answer in which other results were settled.
fn lie(answer: &mut Value) {
    for log in answer["result"].as_array_mut().into_iter().flatten() {
        if log["topics"][0] == json!(TaskNetwork::TaskSettled::SIGNATURE_HASH)
            && let Some(data) = log["data"].as_str()
        {
            // The first digit of the first word, which is the result.
            let other = if data.as_bytes()[2] == b'0' { "1" } else { "0" };
            log["data"] = json!(format!("0x{other}{}", &data[3..]));
        }
    }
}

/// Node 1 asks a chain's node of its own, which fails. The others settle without it, and it recovers.
async fn chain_fails(modes: &[(Mode, &str)]) {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    let proxy = Proxy::start(&net.local.endpoint());
    net.local.set_endpoint(1, proxy.url.clone());
    net.local.kill(1, LocalPart::Node);
    net.local.start_part(1, LocalPart::Node).unwrap();
    net.ready([1]).await;
    let mut ids = Vec::new();
    for (mode, reason) in modes {
        let mode = *mode;
        proxy.follows(move |question, node| match mode {
            Mode::Refuse => Ok(ProxyReply::End),
            Mode::Hang => Ok(ProxyReply::Hang),
            Mode::Lie => {
                let mut answer = node.answer(question)?;
                lie(&mut answer);
                Ok(ProxyReply::Answer(answer))
            }
        });
        let task = net.task(2).await;
        net.give(&task, [0, 2, 3]).await;
        net.settled([task.id]).await;
        net.not_ready(1, reason).await;
        // What it was told and could not check is not shown as true.
        let held = net.seen(1, task.id).await;
        assert_eq!(held["settlement"], Value::Null, "{mode:?}: {held}");
        proxy.tells_the_truth();
        net.ready([1]).await;
        net.give(&task, [1]).await;
        net.is_final(task.id, [1]).await;
        assert_eq!(net.seen(1, task.id).await["settlement"]["approved"], json!(true));
        ids.push(task.id);
    }
    // It performs again.
    let task = net.task(1).await;
    net.give_all(&task).await;
    ids.push(task.id);
    assert!(net.settled(ids).await.iter().all(|settled| settled.approved));
    net.nobody_punished_but(None).await;
    net.nobody_signed_twice().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_that_lies_or_refuses_is_believed_nothing() {
    chain_fails(&[(Mode::Lie, "chain"), (Mode::Refuse, "chain")]).await;
}

/// The node waits twenty seconds for an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute; `make network` runs it"]
async fn a_chain_that_hangs_is_told() {
    chain_fails(&[(Mode::Hang, "chain")]).await;
}

/// Nothing is to be signed, and node 1 tells all the same that its signer is away; also while it waits for it at its own start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signer_that_is_away_is_told_and_waited_for() {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    net.ready([1]).await;
    net.local.kill(1, LocalPart::Signer);
    net.not_ready(1, "cannot connect to the signer").await;
    net.local.start_part(1, LocalPart::Signer).unwrap();
    net.ready([1]).await;

    net.local.kill(1, LocalPart::Node);
    net.local.kill(1, LocalPart::Signer);
    net.local.start_part(1, LocalPart::Node).unwrap();
    net.not_ready(1, "cannot connect to the signer").await;
    net.local.start_part(1, LocalPart::Signer).unwrap();
    net.ready([1]).await;
    let task = net.task(1).await;
    net.give_all(&task).await;
    assert!(net.settled([task.id]).await[0].approved);
    net.nobody_punished_but(None).await;
}

/// Node 2 cannot write its folder: it says nothing on the network until it can. As root may write everywhere, a file stands
/// where the folder was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_write_says_nothing() {
    let Some(mut net) = Net::start(Plan::default()).await else { return };
    let folder = net.local.operator_folder(2).join("node");
    let away = folder.with_file_name("node.away");
    let before = net.count(2, "published").await;
    let task = net.task(0).await;
    // Node 2 has its task before the folder goes, and nothing to judge before the performer has its own. The others would settle
    // without it before it has the result, so they come later.
    net.give(&task, [2]).await;
    fs::rename(&folder, &away).unwrap();
    fs::write(&folder, "no folder").unwrap();
    net.give(&task, [0]).await;
    net.not_ready(2, "disk").await;
    net.give(&task, [1, 3]).await;
    assert!(net.settled([task.id]).await[0].approved);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(net.count(2, "published").await, before);

    fs::remove_file(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    net.ready([2]).await;
    let again = net.task(2).await;
    net.give_all(&again).await;
    assert!(net.settled([again.id]).await[0].approved);
    assert!(net.count(2, "published").await > before);
    net.nobody_punished_but(None).await;
    net.nobody_signed_twice().await;
}
