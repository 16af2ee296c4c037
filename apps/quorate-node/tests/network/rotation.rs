//! An operator replaces its key while its network runs, by the commands that docs/node.md names, in their order.

use std::{
    collections::BTreeSet,
    num::NonZeroU64,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use quorate_evm::{KeyGroup, OperatorKey, alloy_primitives::hex};
use quorate_lab::{
    network::{LocalPart, write_key},
    run::{Run as _, Running, Signal, command},
};
use quorate_network::schedule::{Schedule, ScheduledTask};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    client::{self, Client},
    rig::{Net, PAYLOAD, Plan, signed_once},
    settling::genesis,
};

/// The lengths of an epoch that are tried in turn, in seconds. The commands of the rotation must fit into half of one, and each task
/// must settle before the end of the next one. A slow machine needs a long one, and a fast machine would wait for its end for nothing.
const EPOCHS: [u64; 3] = [40, 120, 280];
const EVERY: u64 = 2;
/// Who rotates.
const OPERATOR: usize = 3;

/// In the epoch of the rotation the old key counts. From the next one on the new key does, and lets the node in. Tasks
/// settle all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_rotates_its_key_while_tasks_settle() {
    for epoch_length in EPOCHS {
        match rotates(epoch_length).await {
            Rotation::Done => return,
            Rotation::TooSlow => println!("an epoch of {epoch_length} s is too short for a rotation on this machine"),
        }
    }
    panic!("the longest epoch was too short for the rotation");
}

/// What came of a rotation.
enum Rotation {
    /// Everything was checked, or a program is absent.
    Done,
    /// Half of the epoch was over before the rotation was, or a task did not settle in its time.
    TooSlow,
}

async fn rotates(epoch_length: u64) -> Rotation {
    let plan = Plan { epoch_length, task_every: EVERY, ..Plan::default() };
    let Some(mut net) = Net::start(plan).await else { return Rotation::Done };
    let old_folder = net.local.operator_folder(OPERATOR);
    let old_index = net.index(OPERATOR).await as usize;
    let old_key = hex::encode_prefixed(net.local.key(OPERATOR).member());

    // 1. The new key, and a record for it.
    let new_folder = old_folder.join("new");
    std::fs::create_dir(&new_folder).unwrap();
    write_key(&new_folder, &OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[99; 48])).unwrap();
    signer(&net.local.record_of(&new_folder, net.local.operator(OPERATOR)));

    // 2. Its signer, on a socket of its own, proves possession. A key must be an epoch old to be replaced. At the start of
    // an epoch, so that the old key has much to sign afterwards.
    let epoch = (net.epoch().await + 1).max(2);
    began(&net, epoch).await;
    let new_signer = Process::signer(&new_folder, &new_folder.join("signer").join("signer.sock")).await;
    net.local.end(OPERATOR, LocalPart::Node).await.expect("the node ends");
    let url = net.local.endpoint();
    let contract = net.local.network().address.to_string();
    let said = done(
        command("quorate-node")
            .args(["register", "--rotate", "--rpc", &url, "--contract", &contract, "--signer"])
            .arg(new_folder.join("signer").join("signer.sock"))
            .arg("--key-file")
            .arg(old_folder.join("payer"))
            // It has no file of options: the test names them all.
            .arg("--data")
            .arg(new_folder.join("absent")),
    );
    assert!(said.contains("next epoch's snapshot"), "{said}");
    net.local.start_part(OPERATOR, LocalPart::Node).unwrap();
    new_signer.end();
    let new_index = net.index(OPERATOR).await as usize;
    assert_ne!(new_index, old_index);
    let rotated_at = net.local.rpc().newest().await.unwrap().number;
    net.ready([OPERATOR]).await;
    // Half of the epoch must be left for a quorum with the old key.
    let of_epoch = net.local.rpc().newest().await.unwrap().timestamp - (genesis(&net).await + epoch * epoch_length);
    if of_epoch > epoch_length / 2 {
        return Rotation::TooSlow;
    }

    // What is left of the epoch: the old key signs, and no other.
    let has_signed = net
        .in_time(epoch, "a quorum with the old key, after the rotation", async || {
            let quorums = net.ledger().await.quorums;
            let mut later = quorums.iter().filter(|(of, block, _)| *of == epoch && *block > rotated_at);
            later.any(|(_, _, signers)| signers.contains(old_index))
        })
        .await;
    if !has_signed {
        return Rotation::TooSlow;
    }

    // 3. The next epoch has the new key. Once the tasks of the epoch before are settled, the old signer has done its work.
    began(&net, epoch + 1).await;
    let tasks = scheduled(&net, epoch_length, epoch).await;
    if !settled_in_time(&net, epoch, &tasks).await {
        return Rotation::TooSlow;
    }
    net.local.end(OPERATOR, LocalPart::Node).await.expect("the node ends");
    net.local.end(OPERATOR, LocalPart::Signer).await.expect("the signer ends");
    let record = new_folder.join("record.json").display().to_string();
    let (old_data, new_data) = (old_folder.join("signer").display().to_string(), data(&new_folder));
    let signed = signed_once(Path::new(&old_data));
    signer(&["export", "--data", &old_data, "--retire", "--out", &record].map(str::to_owned));
    signer(&["import", "--data", &new_data, "--previous-key", &old_key, &record].map(str::to_owned));
    // Of the epoch's tasks, of which conflicts can be reported for long, the new record has all that the old one had.
    let (of_epoch, imported) = (ids(&tasks), signed_once(Path::new(&new_data)));
    let kept: BTreeSet<_> = signed.intersection(&of_epoch).collect();
    assert!(!kept.is_empty() && kept.iter().all(|id| imported.contains(*id)), "{signed:?}, then {imported:?}");
    let new_signer = Process::signer(&new_folder, &old_folder.join("signer").join("signer.sock")).await;
    net.local.start_part(OPERATOR, LocalPart::Node).unwrap();
    net.ready([OPERATOR]).await;
    let restarted = net.local.rpc().newest().await.unwrap().number;
    net.until("a quorum with the new key", async || {
        net.ledger().await.quorums.iter().any(|(of, _, signers)| *of > epoch && signers.contains(new_index))
    })
    .await;

    // With the snapshot after that, the old key has weight in neither of the two newest. The node stays; who shows a
    // statement of the old key is not let in.
    began(&net, epoch + 2).await;
    net.until("node 0 has read it", async || {
        let chain = net.status(0).await["chain"].clone();
        chain["epoch"].as_u64().is_some_and(|running| running >= epoch + 2) && chain["snapshot"].is_string()
    })
    .await;
    let own = net.local.peer_address(OPERATOR).unwrap();
    let own = own.rsplit('/').next().unwrap();
    net.until("the node is a peer of node 0", async || net.has_peer(0, own).await).await;
    let peers = net.status(0).await["peers"].clone();
    let row = peers.as_array().unwrap().iter().find(|row| row["peer_id"] == own);
    let row = row.unwrap_or_else(|| panic!("{own} is not a peer of node 0: {peers}"));
    assert_eq!(row["operator"], json!(net.local.operator(OPERATOR)));
    let former = Client::dial(&net, client::terms(&net, OPERATOR, net.local.network()), &[0]);
    net.refused(0, &former.name()).await;
    assert!(!net.has_peer(0, &former.name()).await, "the old key admits nobody any more");
    assert!(net.has_peer(0, own).await);
    former.transport.stop().await;

    // A later task that the operator's key alone could complete: without operator 1, the others are no quorum without
    // it.
    net.local.kill(1, LocalPart::Node);
    net.until("a quorum that needs the new key", async || {
        let quorums = net.ledger().await.quorums;
        let one = quorums.iter().filter(|(of, block, _)| *of > epoch + 1 && *block > restarted);
        one.into_iter().any(|(_, _, signers)| signers.len() == 3 && signers.contains(new_index))
    })
    .await;
    net.local.start_part(1, LocalPart::Node).unwrap();
    net.ready([1]).await;

    // Every task of both epochs settled as it should, under the right key.
    let tasks = [tasks, scheduled(&net, epoch_length, epoch + 1).await].concat();
    if !settled_in_time(&net, epoch + 1, &tasks).await {
        return Rotation::TooSlow;
    }
    for (task, settled) in tasks.iter().zip(net.settled(tasks.iter().map(|task| task.id)).await) {
        assert!(settled.approved, "{task:?}: {settled:?}");
    }
    for (of, _, signers) in net.ledger().await.quorums {
        let wrong = if of <= epoch { new_index } else { old_index };
        assert!(!signers.contains(wrong), "epoch {of}: {signers:?}");
    }
    net.nobody_punished_but(None).await;
    // Nothing in the new record contradicts.
    new_signer.end();
    let mut later = BTreeSet::new();
    for of in epoch + 2..=net.epoch().await {
        later.append(&mut ids(&scheduled(&net, epoch_length, of).await));
    }
    assert!(!signed_once(Path::new(&new_data)).is_disjoint(&later));
    Rotation::Done
}

/// Whether tasks of an epoch, or of the one before, settle while they can.
async fn settled_in_time(net: &Net, epoch: u64, tasks: &[ScheduledTask]) -> bool {
    let ids = || tasks.iter().map(|task| task.id);
    net.in_time(epoch, "the tasks are settled", async || net.has_settled(ids()).await).await
}

/// Waits until an epoch has a snapshot, which is soon after its beginning.
async fn began(net: &Net, epoch: u64) {
    net.until(&format!("epoch {epoch} has a snapshot"), async || net.ledger().await.snapshots.contains_key(&epoch))
        .await;
}

/// The tasks of an epoch.
async fn scheduled(net: &Net, epoch_length: u64, epoch: u64) -> Vec<ScheduledTask> {
    let schedule = Schedule::new(net.local.network(), NonZeroU64::new(EVERY).unwrap(), PAYLOAD.to_owned()).unwrap();
    let begins = genesis(net).await + epoch * epoch_length;
    (begins.div_ceil(EVERY)..(begins + epoch_length).div_ceil(EVERY)).map(|number| schedule.task(number)).collect()
}

/// The ids of tasks as a signer's record writes them.
fn ids(tasks: &[ScheduledTask]) -> BTreeSet<String> {
    tasks.iter().map(|task| json!(task.id).to_string()).collect()
}

fn data(folder: &Path) -> String {
    folder.join("signer").display().to_string()
}

/// Runs a command of the signer that ends.
fn signer(arguments: &[String]) -> String {
    done(command("quorate-signer").args(arguments))
}

fn done(command: &mut Command) -> String {
    command.ran().exits(0).all()
}

/// A signer that the test started. It ends with the test.
struct Process(Running);

impl Process {
    /// Starts the signer of a folder with `signer`, `keystore.json` and `passphrase`, and waits until it listens.
    async fn signer(folder: &Path, socket: &Path) -> Self {
        let mut command = command("quorate-signer");
        command.arg("run").arg("--data").arg(folder.join("signer"));
        command.arg("--keystore").arg(folder.join("keystore.json"));
        command.arg("--passphrase-file").arg(folder.join("passphrase"));
        command.arg("--socket").arg(socket).stdout(Stdio::null()).stderr(Stdio::null());
        let mut this = Self(Running::start(&mut command));
        for _ in 0..6_000 {
            if socket.exists() {
                return this;
            }
            assert!(this.0.runs(), "the signer ended");
            sleep(Duration::from_millis(50)).await;
        }
        panic!("the signer does not listen");
    }

    /// Ends it in order.
    fn end(mut self) {
        self.0.signal(Signal::TERM);
        assert_eq!(self.0.ended(), 0);
    }
}
