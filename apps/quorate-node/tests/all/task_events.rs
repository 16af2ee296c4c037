//! `examples/task-events`: the events of a contract become tasks that the HTTP interface takes, none lost and none twice.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::alloy_primitives::{Address, B256, Bytes, hex};
use quorate_lab::{
    anvil::TestNode,
    needs::example,
    run::{LIMIT, Ran, Run as _, Running},
};
use quorate_network::roles::NotTaken;
use quorate_node::{
    api::{ApiSettings, TaskOrder, Token, serve},
    board::{Expectations, NodeBoard},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime, sync::mpsc};

const TOPIC: B256 = B256::repeat_byte(0x70);
const OTHER: B256 = B256::repeat_byte(0x71);
/// Seconds of an epoch. Epoch 0 began with 1970.
const LENGTH: u64 = 1_000;

/// What the node is told, and what it does with orders.
#[derive(Default)]
struct Taken {
    /// Tasks that it took, in order.
    tasks: Vec<(B256, u64, Value)>,
    /// It answers to so many orders, and fails then.
    answers: Option<usize>,
    /// The running epoch, if tasks of others are refused.
    epoch: Option<u64>,
}

/// A chain, a contract with events, and a node's interface.
struct World {
    chain: TestNode,
    contract: Address,
    network: Address,
    taken: Arc<Mutex<Taken>>,
    address: SocketAddr,
    folder: TempDir,
    _runtime: Runtime,
}

impl World {
    fn start() -> Option<Self> {
        let chain = TestNode::start()?;
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_create(&folder.path().join("token")).unwrap();
        let settings = ApiSettings { token: Some(token), ..ApiSettings::default() };
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, mut orders) = mpsc::channel::<TaskOrder>(1);
        let board = NodeBoard::new(Expectations::default());
        runtime.spawn(serve(listener, board, sender, settings, std::future::pending()));
        let taken = Arc::new(Mutex::new(Taken::default()));
        let takes = taken.clone();
        runtime.spawn(async move {
            while let Some(TaskOrder { id, epoch, payload, reply }) = orders.recv().await {
                let mut takes = takes.lock().unwrap();
                let found = epoch.unwrap();
                let running = takes.epoch;
                match (&mut takes.answers, running) {
                    // As a node whose disk is full: the interface answers with 503.
                    (Some(0), _) => continue,
                    (_, Some(current)) if !(current.saturating_sub(1)..=current + 1).contains(&found) => {
                        let _ = reply.send(Err(NotTaken::Epoch { found, current }));
                        continue;
                    }
                    (Some(left), _) => *left -= 1,
                    (None, _) => {}
                }
                takes.tasks.push((id, found, serde_json::from_slice(&payload).unwrap()));
                let _ = reply.send(Ok(found));
            }
        });
        let contract = chain.create(creation(&emitter()));
        let network = chain.create(creation(&terms()));
        Some(Self { chain, contract, network, taken, address, folder, _runtime: runtime })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new("python3");
        let (node, token, state) = (format!("http://{}", self.address), self.path("token"), self.path("state.json"));
        let [network, contract, topic] = [self.network.to_string(), self.contract.to_string(), TOPIC.to_string()];
        command.args([
            &example("task-events/events.py"),
            "--rpc",
            &self.chain.url(),
            "--node",
            &node,
            "--token",
            &token,
        ]);
        command.args(["--network", &network, "--contract", &contract, "--topic", &topic, "--state", &state]);
        command.args(["--confirmations", "2", "--delay", "500", "--pause", "0.1"]).args(more);
        command
    }

    fn once(&self) -> Ran {
        self.command(&["--once", "--from-block", "0"]).ran()
    }

    /// A transaction that emits events, a topic and a byte of data each.
    fn emit(&self, events: &[(B256, u8)]) -> (String, u64) {
        let data: Vec<u8> = events.iter().flat_map(|(topic, data)| [&topic[..], &[*data; 32]].concat()).collect();
        let receipt = self.chain.send_from(0, self.contract, data.into());
        (receipt.transaction_hash.to_string(), receipt.block_number.unwrap())
    }

    /// The tasks that were taken since the last question.
    fn taken(&self) -> Vec<(B256, u64, Value)> {
        std::mem::take(&mut self.taken.lock().unwrap().tasks)
    }

    fn rule(&self, answers: Option<usize>, epoch: Option<u64>) {
        let mut taken = self.taken.lock().unwrap();
        (taken.answers, taken.epoch) = (answers, epoch);
    }

    fn payload(&self, emitted: &(String, u64), index: u64, data: u8) -> Value {
        json!({
            "block": emitted.1,
            "contract": self.contract.to_string().to_lowercase(),
            "data": hex::encode_prefixed([data; 32]),
            "index": index,
            "topics": [TOPIC],
            "transaction": emitted.0,
        })
    }
}

/// Creation code that returns this code.
fn creation(code: &[u8]) -> Bytes {
    let length = code.len() as u8;
    // PUSH1 length, DUP1, PUSH1 11, PUSH0, CODECOPY, PUSH0, RETURN
    [&[0x60, length, 0x80, 0x60, 10, 0x5f, 0x39, 0x5f, 0xf3, 0x00], code].concat().into()
}

/// For each 64 bytes of calldata an event: its topic, and its data.
fn emitter() -> Vec<u8> {
    // PUSH0; 1: JUMPDEST, DUP1 CALLDATASIZE GT ISZERO → end; copy 64 bytes to memory; LOG1(32, 32, topic); add 64; again.
    let mut code = vec![0x5f, 0x5b, 0x80, 0x36, 0x11, 0x15, 0x60, 0, 0x57];
    // PUSH1 64, DUP2, PUSH0, CALLDATACOPY; PUSH0, MLOAD, PUSH1 32, PUSH1 32, LOG1; PUSH1 64, ADD, PUSH1 1, JUMP.
    code.extend([0x60, 64, 0x81, 0x5f, 0x37, 0x5f, 0x51, 0x60, 32, 0x60, 32, 0xa1, 0x60, 64, 0x01, 0x60, 1, 0x56]);
    code[7] = code.len() as u8;
    code.extend([0x5b, 0x00]);
    code
}

/// `genesis()` is 0, and everything else the length of an epoch.
fn terms() -> Vec<u8> {
    // PUSH0 CALLDATALOAD PUSH1 224 SHR PUSH4 genesis XOR ISZERO ISZERO PUSH2 LENGTH MUL PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
    let length = (LENGTH as u16).to_be_bytes();
    let mut code = vec![0x5f, 0x35, 0x60, 224, 0x1c, 0x63, 0xa7, 0xf0, 0xb3, 0xde, 0x18, 0x15, 0x15];
    code.extend([0x61, length[0], length[1], 0x02, 0x5f, 0x52, 0x60, 32, 0x5f, 0xf3]);
    code
}

#[test]
fn each_event_becomes_one_task_when_it_is_final() {
    let Some(world) = World::start() else { return };
    let first = world.emit(&[(TOPIC, 1)]);
    let second = world.emit(&[(OTHER, 2), (TOPIC, 3), (TOPIC, 3)]);
    world.once().exits(0);
    assert_eq!(world.taken(), [], "no event has two blocks behind it");
    world.chain.mine(1);
    world.once().exits(0);
    let taken = world.taken();
    assert_eq!(taken.iter().map(|task| &task.2).collect::<Vec<_>>(), [&world.payload(&first, 0, 1)]);
    world.chain.mine(3);
    let printed = world.once().exits(0).out;
    let taken = [taken, world.taken()].concat();
    let payloads: Vec<_> = taken.iter().map(|task| task.2.clone()).collect();
    assert_eq!(payloads, [world.payload(&first, 0, 1), world.payload(&second, 0, 3), world.payload(&second, 1, 3)]);
    assert!(taken[0].0 != taken[1].0 && taken[1].0 != taken[2].0);
    let (time, epoch) = (world.chain.now(), taken[0].1);
    assert!(epoch.abs_diff((time + 500) / LENGTH) <= 1, "{epoch} at {time}");
    assert!(printed.contains(&taken[2].0.to_string()) && printed.lines().count() == 2, "{printed}");
    world.once().exits(0);
    assert_eq!(world.taken(), [], "they are handed in");
    // Another operator, with another folder and another first block, makes the same tasks.
    let state = world.path("other.json");
    world.command(&["--once", "--from-block", "1", "--state", &state]).ran().exits(0);
    assert_eq!(world.taken(), taken);
}

/// Kill -9 and a node that fails have one effect: some tasks of a block are handed in, and the block is not noted.
#[test]
fn a_block_that_was_handed_in_by_half_is_handed_in_again() {
    let Some(world) = World::start() else { return };
    world.emit(&[(TOPIC, 1), (TOPIC, 2), (TOPIC, 3)]);
    world.chain.mine(2);
    world.rule(Some(2), None);
    world.once().exits(3).says("503");
    let before = world.taken();
    assert_eq!(before.len(), 2);
    world.rule(None, None);
    world.once().exits(0);
    let after = world.taken();
    assert_eq!((after.len(), &after[..2]), (3, &before[..]), "with the same ids, which the node knows");
}

#[test]
fn a_reorganisation_before_an_event_is_final_moves_it_and_a_later_one_stops_the_program() {
    let Some(world) = World::start() else { return };
    let undone = world.emit(&[(TOPIC, 1)]);
    world.once().exits(0);
    // The block is replaced by an empty one, and the transaction comes again in a later block.
    world.chain.ask("anvil_reorg", json!([1, []]));
    let again = world.emit(&[(TOPIC, 1)]);
    assert_ne!(undone.0, again.0);
    world.chain.mine(4);
    world.once().exits(0);
    let taken = world.taken();
    assert_eq!(taken.iter().map(|task| &task.2).collect::<Vec<_>>(), [&world.payload(&again, 0, 1)]);
    let read = world.chain.block();
    world.chain.ask("anvil_reorg", json!([4, []]));
    world.chain.mine(4);
    assert!(world.chain.block() > read);
    world.emit(&[(TOPIC, 9)]);
    world.chain.mine(2);
    world.once().exits(1).says("was final: the chain undid blocks that were handed in").says("state.json");
    assert_eq!(world.taken(), []);
}

#[test]
fn epochs_that_are_over_are_told_and_later_ones_waited_for() {
    let Some(world) = World::start() else { return };
    world.emit(&[(TOPIC, 1)]);
    world.chain.mine(2);
    let epoch = (world.chain.now() + 500) / LENGTH;
    world.rule(None, Some(epoch - 3));
    world.once().exits(3).says("which the node does not take yet");
    assert_eq!(world.taken(), []);
    world.chain.pass(4 * LENGTH);
    world.rule(None, Some(epoch + 4));
    world.once().exits(0).says("can settle nothing more, so this node does not perform or attest it");
    assert_eq!(world.taken(), []);
    // It went on behind it.
    world.emit(&[(TOPIC, 2)]);
    world.chain.mine(2);
    world.rule(None, None);
    world.once().exits(0);
    assert_eq!(world.taken().len(), 1);
}

#[test]
fn an_event_that_is_too_long_is_passed_over() {
    let Some(world) = World::start() else { return };
    // It copies all calldata into one event.
    let copier = [0x36, 0x5f, 0x5f, 0x37, 0x7f].into_iter().chain(TOPIC.0).chain([0x36, 0x5f, 0xa1, 0x00]);
    let copier = world.chain.create(creation(&copier.collect::<Vec<_>>()));
    world.chain.send_from(0, copier, vec![1; 110_000].into());
    world.chain.send_from(0, copier, vec![1; 32].into());
    world.chain.mine(2);
    let contract = copier.to_string();
    world
        .command(&["--once", "--from-block", "0", "--contract", &contract])
        .ran()
        .exits(0)
        .says("too many bytes for a task");
    assert_eq!(world.taken().len(), 1);
}

#[test]
fn mistakes_are_named() {
    let Some(world) = World::start() else { return };
    world.command(&["--once"]).ran().exits(2).says("state.json does not exist: name the first block with --from-block");
    world.command(&["--topic", "0x12"]).ran().exits(2).says("expected 0x and 64 hexadecimal digits");
    world.command(&["--confirmations", "-1"]).ran().exits(2).says("`finalized` or a number of blocks");
    world.chain.mine(4);
    world.once().exits(0);
    let contract = Address::repeat_byte(1).to_string();
    world.command(&["--once", "--contract", &contract]).ran().exits(2).says("name another file");
    world.command(&["--once", "--delay", "501"]).ran().exits(2).says("name another file");
    let state = fs::read_to_string(world.path("state.json")).unwrap();
    fs::write(world.path("state.json"), &state[..state.len() / 2]).unwrap();
    world.once().exits(2).says("state.json is damaged");
    fs::write(world.path("state.json"), &state).unwrap();
    world.emit(&[(TOPIC, 1)]);
    world.chain.mine(2);
    let (token, nowhere) = (world.path("false"), world.path("nowhere"));
    fs::write(&token, "00".repeat(32)).unwrap();
    world.command(&["--once", "--token", &token]).ran().exits(2).says("401");
    world.command(&["--once", "--token", &nowhere]).ran().exits(2).says("--token");
    world.command(&["--once", "--node", "http://127.0.0.1:9"]).ran().exits(3).says("the task network's node");
    world.command(&["--once", "--rpc", "http://127.0.0.1:9"]).ran().exits(3).says("the chain's node");
    // While one program runs, another one may not.
    let mut first = world.command(&[]);
    let running = Running::start(first.stdout(Stdio::null()));
    let begun = Instant::now();
    while world.taken().is_empty() {
        assert!(begun.elapsed() < LIMIT, "it hands nothing in");
        sleep(Duration::from_millis(50));
    }
    world.once().exits(2).says("another program uses this file");
    drop(running);
}
