//! The chain loses its newest blocks.

use quorate_evm::alloy_primitives::B256;
use serde_json::json;

use crate::rig::{GivenTask, Net, Plan};

/// The most blocks that are removed: less than the confirmations after which a block is final, so that no reorganisation undoes what is.
const MOST: u64 = 14;
const CONFIRMATIONS: &str = "16";
/// How often it is tried to see something before so many blocks follow it. On a slow machine more follow.
const TRIES: usize = 10;

/// Settlements and the snapshot of an epoch are removed from the chain and come again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_reorganisation_removes_comes_again_once() {
    let plan = Plan { epoch_length: 60, options: vec!["--confirmations", CONFIRMATIONS], ..Plan::default() };
    let Some(mut net) = Net::start(plan).await else { return };
    let mut ids = Vec::new();
    for depth in 1..=3 {
        ids.push(settled_again(&mut net, depth).await);
    }

    // The snapshot of the next epoch, as soon as it is there.
    let task = task_under_a_snapshot_that_came_again(&mut net).await;
    net.give_all(&task).await;
    ids.push(task.id);

    for (id, settled) in ids.iter().zip(net.settled(ids.iter().copied()).await) {
        assert!(settled.approved, "{id}");
    }
    net.is_final(task.id, net.all()).await;
    net.nobody_punished_but(None).await;
    net.nobody_signed_twice().await;
}

/// Waits until a task is settled, removes at least so many blocks, its settlement among them, and waits until it is settled again.
async fn settled_again(net: &mut Net, least: u64) -> B256 {
    for _ in 0..TRIES {
        let task = net.task(least as usize % 4).await;
        let net = &*net;
        net.give_all(&task).await;
        let block = net.settled([task.id]).await[0].block;
        net.until("blocks follow", async || head(net).await >= block + least - 1).await;
        let Some(gone) = replaced(net, block).await else { continue };
        net.until("the task is settled again", async || {
            let ledger = net.ledger().await;
            match ledger.settled.get(&task.id).map(|settled| settled[0].block) {
                Some(block) => block_hash(net, block).await != gone,
                None => false,
            }
        })
        .await;
        net.settled([task.id]).await;
        return task.id;
    }
    panic!("the machine is too slow: more than {MOST} blocks follow each settlement")
}

/// Waits for the snapshot of the next epoch, removes it, and waits until it is there again. Returns a task of the epoch.
async fn task_under_a_snapshot_that_came_again(net: &mut Net) -> GivenTask {
    for _ in 0..TRIES {
        let epoch = net.epoch().await + 1;
        net.until("the next epoch has a snapshot", async || net.ledger().await.snapshots.contains_key(&epoch)).await;
        let Some(gone) = replaced(net, net.ledger().await.snapshots[&epoch]).await else { continue };
        // Nobody makes it any more when its epoch is over.
        let is_there = async || match net.ledger().await.snapshots.get(&epoch) {
            Some(block) => block_hash(net, *block).await != gone,
            None => false,
        };
        if net.in_time(epoch - 1, "the epoch has a snapshot in another block", is_there).await {
            let task = net.task(1).await;
            if task.epoch == epoch {
                return task;
            }
        }
    }
    panic!("the machine is too slow: more than {MOST} blocks follow each snapshot, or its epoch is over")
}

/// Removes a block and those that follow it, and returns its hash; nothing if too many follow.
async fn replaced(net: &Net, block: u64) -> Option<B256> {
    let hash = block_hash(net, block).await;
    loop {
        let depth = head(net).await + 1 - block;
        if depth > MOST {
            return None;
        }
        reorganise(net, depth).await;
        // Another block may have come before: then this one is still there.
        if block_hash(net, block).await != hash {
            return Some(hash);
        }
    }
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
