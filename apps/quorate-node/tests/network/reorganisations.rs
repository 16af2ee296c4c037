//! The chain loses its newest blocks.

use quorate_evm::alloy_primitives::B256;
use serde_json::json;

use crate::rig::{Net, Plan};

/// Settlements and the snapshot of an epoch are removed from the chain and come again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_reorganisation_removes_comes_again_once() {
    // Final is what eight blocks follow, so that none of the reorganisations undoes what is final.
    let plan = Plan { epoch_length: 30, options: vec!["--confirmations", "8"], ..Plan::default() };
    let Some(mut net) = Net::start(plan).await else { return };
    let mut ids = Vec::new();
    for depth in 1..=3 {
        let task = net.task(depth as usize % 4).await;
        net.give_all(&task).await;
        remove_settlement(&net, task.id, depth).await;
        ids.push(task.id);
    }

    // The snapshot of the next epoch, as soon as it is there.
    let epoch = net.epoch().await + 1;
    net.until("the next epoch has a snapshot", async || net.ledger().await.snapshots.contains_key(&epoch)).await;
    let before = net.ledger().await.snapshots[&epoch];
    let gone = block_hash(&net, before).await;
    let depth = head(&net).await - before + 1;
    reorganise(&net, depth).await;
    net.until("the epoch has a snapshot in another block", async || match net.ledger().await.snapshots.get(&epoch) {
        Some(block) => block_hash(&net, *block).await != gone,
        None => false,
    })
    .await;
    let task = net.task(1).await;
    assert_eq!(task.epoch, epoch);
    net.give_all(&task).await;
    ids.push(task.id);

    for (id, settled) in ids.iter().zip(net.settled(ids.iter().copied()).await) {
        assert!(settled.approved, "{id}");
    }
    net.is_final(task.id, net.all()).await;
    net.nobody_punished_but(None).await;
    net.nobody_signed_twice().await;
}

/// Waits until a task is settled, and removes at least so many blocks, its settlement among them.
async fn remove_settlement(net: &Net, id: B256, least: u64) {
    let before = net.settled([id]).await[0];
    net.until("blocks follow", async || head(net).await >= before.block + least - 1).await;
    let hash = block_hash(net, before.block).await;
    let depth = head(net).await - before.block + 1;
    assert!(depth <= 6, "the machine is too slow: {depth} blocks");
    reorganise(net, depth).await;
    assert_ne!(block_hash(net, before.block).await, hash, "the block is replaced");
    net.until("the task is settled again", async || {
        let ledger = net.ledger().await;
        match ledger.settled.get(&id).map(|settled| settled[0].block) {
            Some(block) => block_hash(net, block).await != hash,
            None => false,
        }
    })
    .await;
    net.settled([id]).await;
}

async fn head(net: &Net) -> u64 {
    net.local.rpc().newest().await.unwrap().number
}

/// The hash of a block.
async fn block_hash(net: &Net, block: u64) -> B256 {
    net.local.rpc().block_at(block).await.unwrap().map(|block| block.hash).unwrap_or_default()
}

/// Replaces the newest blocks by empty ones, as many.
async fn reorganise(net: &Net, depth: u64) {
    net.local.ask("anvil_reorg", json!([depth, []])).await.unwrap();
}
