//! A board that lives through scripted events, to look at the dashboard without a network:
//!
//! ```sh
//! cargo run -p quorate-node --example board                        # half a minute, and then the chain stops
//! cargo run -p quorate-node --example board -- --at-once           # all of it before the first request
//! cargo run -p quorate-node --example board -- --wait              # half a minute that begins with a line on standard input
//! cargo run -p quorate-node --example board -- --listen 127.0.0.1:9597
//! ```
//!
//! One node of seven operators is real: its state machine gets the events, and the board gets its reports. Signatures are
//! any bytes, and the other operators, their peers and the chain are this script. Some texts are markup, as a stranger might
//! send them.

#![allow(clippy::print_stdout, reason = "an example may print")]

use std::{sync::Arc, time::Duration};

use quorate_chain::{Rpc, settlement::SettlementMetrics, watch::WatchMetrics};
use quorate_evm::{
    Finality, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes, U256, keccak256},
    digest::Contract,
};
use quorate_host::unix_ms;
use quorate_network::{
    election::Snapshot,
    message::{Attestation, Signed, TaskResult, Verified, candidate_for},
    roles::{Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Roles, Saved},
};
use quorate_node::{
    api::{ApiSettings, serve},
    board::{
        BanRow, ChainReport, Component, Count, Expectations, IdentityReport, MemberReport, NodeBoard, PeerRow,
        PunishmentKind, PunishmentReport, Purpose, RewardsReport, SettledReport, SubmissionReport, SubmissionState,
    },
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

/// Of each operator. A quorum must weigh more than 2,200 of 3,300.
const WEIGHTS: [u64; 7] = [900, 700, 600, 500, 300, 200, 100];
/// This node's operator.
const OWN: u32 = 2;
/// The operator that lies.
const LIAR: u32 = 3;
const EPOCH: u64 = 7;
const MARKUP: &str = "<script>window.mischief = 1</script><img src=x onerror='window.mischief = 2'>";

#[tokio::main]
async fn main() -> Result<()> {
    let (mut address, mut at_once, mut waits) = ("127.0.0.1:0".to_owned(), false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--at-once" => at_once = true,
            "--wait" => waits = true,
            "--listen" => address = arguments.next().ok_or("--listen needs an address")?,
            other => return Err(format!("{other}: expected --at-once, --wait or --listen ADDRESS").into()),
        }
    }
    let listener = TcpListener::bind(&address).await?;
    let address = listener.local_addr()?;
    let mut script = Script::new(at_once);
    script.line = waits.then(line_of_input);
    let board = script.board.clone();
    // Whoever knows the address may look at once.
    script.past().await?;
    if at_once {
        script.play().await?;
    }
    println!("The dashboard is at http://{address}/ (Ctrl-C ends).");
    let (tasks, _nobody_takes_them) = mpsc::channel(1);
    let stop = async {
        // Without a signal, it serves until it is killed.
        let _ = tokio::signal::ctrl_c().await;
    };
    let played = async {
        if !at_once {
            script.play().await?;
        }
        std::future::pending::<()>().await;
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    tokio::select! {
        served = serve(listener, board, tasks, ApiSettings::default(), stop) => Ok(served?),
        played = played => played,
    }
}

struct Script {
    board: NodeBoard,
    node: Node,
    snapshot: Arc<Snapshot>,
    begun: u64,
    /// Milliseconds since the node started.
    at: u64,
    at_once: bool,
    /// What the script waits for when somebody may look.
    line: Option<oneshot::Receiver<()>>,
    /// The chain has stopped.
    stopped: bool,
    /// Whether this node approves the next result.
    approves: bool,
}

/// How long the node has run when the script begins, in milliseconds.
const BEFORE: u64 = 120_000;
/// When the script ends.
const LENGTH: u64 = BEFORE + 30_000;
/// When the chain stops.
const HALTS: u64 = LENGTH - 4_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

impl Script {
    fn new(at_once: bool) -> Self {
        let members = (0..).zip(WEIGHTS).map(|(index, weight)| (weight, owner(index))).collect();
        let snapshot = Snapshot::new(EPOCH, SnapshotId::repeat_byte(0x5a), B256::repeat_byte(9), members, 2_200)
            .expect("a quorum of 2,200 is two thirds of 3,300");
        // A board that stands still reads no chain.
        let still = Expectations { chain_age_ms: u64::MAX, ..Expectations::default() };
        let expectations = if at_once { still } else { Expectations::default() };
        let roles = Roles { perform: true, attest: true, aggregate: true };
        let settings = NodeSettings { operator: Some(owner(OWN)), roles, ..NodeSettings::default() };
        Self {
            board: NodeBoard::new(expectations),
            node: Node::new(settings, EPOCH, Saved::default()),
            snapshot: Arc::new(snapshot),
            begun: unix_ms() - if at_once { LENGTH } else { BEFORE },
            at: 0,
            at_once,
            line: None,
            stopped: false,
            approves: true,
        }
    }

    fn now(&self) -> u64 {
        self.begun + self.at
    }

    /// Goes on to a time. The chain and the peers move each second.
    async fn to(&mut self, at: u64) {
        while self.at < at {
            let next = ((self.at / 1_000 + 1) * 1_000).min(at);
            if !self.at_once && self.at >= BEFORE {
                sleep(Duration::from_millis(next - self.at)).await;
            }
            self.at = next;
            if next.is_multiple_of(1_000) {
                self.second();
            }
            self.step(NodeEvent::Tick);
        }
    }

    /// Goes on to a time of the script.
    async fn script(&mut self, at: u64) {
        self.to(BEFORE + at).await;
    }

    /// Lets the chain go on, and nothing else, until a line comes.
    async fn wait(&mut self) {
        let Some(mut line) = self.line.take() else { return };
        while timeout(Duration::from_secs(1), &mut line).await.is_err() {
            self.begun = unix_ms() - self.at;
            self.second();
        }
        self.begun = unix_ms() - self.at;
    }

    fn second(&mut self) {
        let second = self.at / 1_000;
        let halted = HALTS / 1_000;
        let head = 4_080 + second.min(halted);
        let behind = self.stopped.then(|| format!("no block came for {} s", second - halted));
        let report = ChainReport {
            head,
            time: self.begun / 1_000 + second.min(halted),
            final_block: head - 8,
            epoch: EPOCH,
            snapshot: Some(self.snapshot.id()),
            behind,
        };
        self.board.chain(report, self.now());
        let peer = |index: u32| PeerRow {
            peer_id: format!("12D3KooW{}", &keccak256([index as u8]).to_string()[2..46]),
            operator: (index != 6).then(|| owner(index)),
            address: format!("/ip4/203.0.113.{}/tcp/9600", 10 + index),
            since: self.begun,
            bytes_in: second * (700 + 90 * u64::from(index)),
            bytes_out: second * (650 + 70 * u64::from(index)),
            messages_in: second * 3,
            messages_out: second * 3,
            score: 1.0 - f64::from(index) / 10.0,
        };
        let liar_is_there = self.at < BANNED_AT;
        self.board.peers((0..7).filter(|index| *index != OWN && (*index != LIAR || liar_is_there)).map(peer));
        self.board.count_many(Count::Received, 6);
        self.board.count_many(Count::Verified, 5);
        self.board.count(Count::Ignored);
    }

    /// Gives the node an event, answers for its programs and its signer, and shows what it knows.
    fn step(&mut self, event: NodeEvent) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for output in self.node.step(event, self.now()) {
                match output {
                    NodeOutput::Validate { candidate, .. } => {
                        self.board.count(Count::Validated);
                        events.push(NodeEvent::Validated { candidate, approved: self.approves });
                    }
                    NodeOutput::Sign { candidate } => {
                        events.push(NodeEvent::Signed { candidate, signature: signature(OWN, &candidate) });
                    }
                    NodeOutput::Publish(..) => self.board.count(Count::Published),
                    _ => {}
                }
            }
        }
        for report in self.node.tasks() {
            self.board.task_report(report, self.now());
        }
        self.board.conflicts(self.node.conflicts(), self.node.conflicts_found());
    }

    /// Names a task for which an operator is elected.
    fn task(&mut self, label: &str, performer: u32) -> B256 {
        let ids = (0_u32..).map(|number| keccak256([label.as_bytes(), &number.to_be_bytes()].concat()));
        let id = ids.into_iter().find(|id| self.snapshot.performer(*id) == performer).expect("each has weight");
        self.board.task_seen(id, EPOCH, label, self.now());
        self.step(NodeEvent::Task { id, epoch: EPOCH, payload: Bytes::copy_from_slice(label.as_bytes()) });
        id
    }

    fn candidate(&self, id: B256, result: &[u8], approved: bool) -> Task {
        let performer = self.snapshot.performer(id);
        Task { approved, ..candidate_for(EPOCH, self.snapshot.id(), id, performer, result) }
    }

    /// The elected performer publishes a result.
    fn publish(&mut self, id: B256, result: &'static [u8], approves: bool) -> Result<()> {
        self.approves = approves;
        let candidate = self.candidate(id, result, true);
        let (performer, bytes) = (self.snapshot.performer(id), Bytes::from_static(result));
        let signature = signature(performer, &candidate);
        let result = TaskResult::new(EPOCH, self.snapshot.id(), id, performer, bytes, signature)?;
        self.receive(Signed::Result(result));
        Ok(())
    }

    fn attest(&mut self, index: u32, candidate: Task) -> Result<()> {
        let attestation = Attestation::new(candidate, index, signature(index, &candidate))?;
        self.receive(Signed::Attestation(attestation));
        Ok(())
    }

    fn receive(&mut self, message: Signed) {
        self.step(NodeEvent::Received { source: PeerSource(1), message: Verified::by_the_caller(message) });
    }

    fn submit(&self, purpose: Purpose, nonce: u64, state: SubmissionState, gas: Option<u64>) {
        let estimate = if matches!(purpose, Purpose::Settle { .. }) { 181_900 } else { 402_000 };
        let report = SubmissionReport {
            purpose,
            transaction: Some(keccak256(nonce.to_be_bytes())),
            nonce: Some(nonce),
            state,
            gas_used: gas,
            fee: gas.map(|gas| u128::from(gas) * 1_300_000_000),
            estimate: Some(estimate),
        };
        self.board.submission(report, self.now());
    }

    fn settle(&mut self, id: B256, candidate: Task, nonce: u64, by: Address, gas: u64) {
        let Task { result, approved, .. } = candidate;
        let report = SettledReport {
            approved,
            result,
            rewarded: approved,
            transaction: keccak256(nonce.to_be_bytes()),
            block: 4_080 + self.at / 1_000,
            gas_used: Some(gas),
            fee: None,
            by: Some(by),
            signers: None,
        };
        self.board.settled(id, EPOCH, report, self.now());
        self.step(NodeEvent::Settled { id, epoch: EPOCH, finality: Finality::Recent });
    }

    fn finalise(&mut self, id: B256) {
        self.board.finalised(id, self.now());
        self.step(NodeEvent::Settled { id, epoch: EPOCH, finality: Finality::Final });
    }

    fn rewards(&self, earned: u128) {
        let milli = |number: u128| U256::from(number) * U256::from(1_000_000_000_000_000_u64);
        let rewards = RewardsReport {
            earned: milli(earned),
            claimed: milli(12_000),
            stake: milli(600_000),
            pending: milli(earned - 12_000),
            decimals: 18,
        };
        self.board.rewards(rewards);
    }

    /// What was before anybody looks: tasks that are done.
    async fn past(&mut self) -> Result<()> {
        self.begin()?;
        self.second();
        self.board.task_seen(keccak256("lapsed"), EPOCH - 2, "{\"pair\":\"ETH/USD\",\"minute\":-1}", self.now());
        for number in 0..24_u32 {
            self.to(u64::from(number) * 4_800).await;
            let label = format!("{{\"pair\":\"ETH/USD\",\"minute\":{number}}}");
            let id = self.task(&label, number % 2);
            self.to(self.at + 300 + u64::from(number * 37 % 100)).await;
            self.publish(id, b"3020.50", true)?;
            let candidate = self.candidate(id, b"3020.50", true);
            for index in [0, 1, 4, 5] {
                self.to(self.at + 90 + u64::from(number * 53 % 70)).await;
                self.attest(index, candidate)?;
            }
            self.to(self.at + 1_500).await;
            self.settle(id, candidate, 10 + u64::from(number), owner(0), 180_000 + u64::from(number) * 37);
            self.to(self.at + 1_500).await;
            self.finalise(id);
        }

        self.to(BEFORE).await;
        Ok(())
    }

    async fn play(&mut self) -> Result<()> {
        self.wait().await;
        self.script(600).await;
        let good = self.task("{\"pair\":\"BTC/USD\",\"minute\":24}", 0);
        self.script(1_400).await;
        self.publish(good, b"64250.10", true)?;
        let candidate = self.candidate(good, b"64250.10", true);
        for (at, index) in [(2_000, 1), (2_600, 4), (3_200, 5)] {
            self.script(at).await;
            self.attest(index, candidate)?;
        }
        let settle = Purpose::Settle { id: good };
        self.script(3_800).await;
        self.submit(settle.clone(), 41, SubmissionState::Sent, None);
        self.script(4_600).await;
        self.submit(settle.clone(), 41, SubmissionState::Mined, Some(182_431));
        self.settle(good, candidate, 41, owner(OWN), 182_431);

        // A performer lies, and is outvoted.
        let false_result = self.task("{\"pair\":\"SOL/USD\",\"minute\":24}", 4);
        self.script(5_600).await;
        self.publish(false_result, b"1000000", false)?;
        let rejected = self.candidate(false_result, b"1000000", false);
        for (at, index) in [(6_200, 0), (6_800, 1), (7_400, 3)] {
            self.script(at).await;
            self.attest(index, rejected)?;
        }
        self.script(8_400).await;
        self.settle(false_result, rejected, 77, owner(0), 191_004);
        self.punish(4, false_result, PunishmentKind::Penalised, 2_500);

        // An operator signs two verdicts, and is reported. Its peer is banned.
        let double = self.task("{\"pair\":\"BTC/USD\",\"minute\":25}", 1);
        self.script(9_200).await;
        self.publish(double, b"64251.00", true)?;
        let (yes, no) = (self.candidate(double, b"64251.00", true), self.candidate(double, b"64251.00", false));
        self.attest(LIAR, no)?;
        self.script(10_000).await;
        self.attest(LIAR, yes)?;
        self.board.count(Count::False);
        self.submit(Purpose::Report { operator: owner(LIAR), id: double }, 42, SubmissionState::Sent, None);
        self.script(11_000).await;
        self.attest(0, yes)?;
        self.attest(6, yes)?;
        self.submit(Purpose::Report { operator: owner(LIAR), id: double }, 42, SubmissionState::Mined, Some(398_117));
        self.punish(LIAR, double, PunishmentKind::Slashed { epoch: EPOCH }, 250_000);
        self.step(NodeEvent::Slashed { operator: owner(LIAR), id: double, epoch: EPOCH });
        self.finalise(good);
        self.submit(settle, 41, SubmissionState::Final, Some(182_431));
        self.rewards(12_450);

        self.to(BANNED_AT).await;
        let reason = format!("it sent a false signature and {MARKUP}");
        let until = self.now() + 3_600_000;
        self.board.bans([BanRow { peer_id: MARKUP.to_owned(), operator: Some(owner(LIAR)), reason, until }]);
        let id = keccak256("elsewhere");
        let refused = SubmissionState::Refused(format!("AlreadySettled: {MARKUP}"));
        self.submit(Purpose::Settle { id }, 43, refused, None);
        self.submit(Purpose::Other("claim of rewards".to_owned()), 44, SubmissionState::Replaced, None);

        // A label that is markup, and a quorum that fills up slowly.
        let slow = self.task(MARKUP, 5);
        self.script(13_000).await;
        self.publish(slow, b"42", true)?;
        let candidate = self.candidate(slow, b"42", true);
        for (at, index) in [(15_000, 6), (17_000, 4), (19_000, 0)] {
            self.script(at).await;
            self.attest(index, candidate)?;
        }
        // This node was elected, and its program runs.
        self.script(20_000).await;
        self.task("{\"pair\":\"ETH/USD\",\"minute\":25}", OWN);

        self.to(HALTS).await;
        self.stopped = true;
        self.board.problem(Component::Chain, Some(format!("https://rpc.example timed out {MARKUP}")));
        self.to(LENGTH).await;
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        self.board.set_identity(IdentityReport {
            network: Contract { chain_id: 31_337, address: Address::from_word(keccak256("network")) },
            operator: Some(owner(OWN)),
            roles: Roles { perform: true, attest: true, aggregate: true },
            peer_id: format!("12D3KooW{}", &keccak256([OWN as u8]).to_string()[2..46]),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.begun,
        });
        self.board.problem(Component::Signer, None);
        self.board.problem(Component::Disk, None);
        // A settlement is watched, too, to which nothing is posted. The pause between two looks is longer than the script.
        let followed = SettlementMetrics::begun(Rpc::new("http://127.0.0.1:1")?, Duration::from_secs(3_600));
        followed.caught_up(false);
        let watch = WatchMetrics::begun(Arc::new(followed));
        self.board.watches(Address::from_word(keccak256("settlement")), Arc::new(watch));
        self.board.problem(Component::Watch, None);
        self.board.bans([]);
        self.rewards(12_350);
        let member = |(index, weight)| MemberReport { index, owner: owner(index), weight };
        self.board.members((0..).zip(WEIGHTS).map(member));
        self.step(NodeEvent::Snapshot(self.snapshot.clone()));
        Ok(())
    }

    fn punish(&self, index: u32, id: B256, kind: PunishmentKind, milli: u64) {
        let amount = U256::from(milli) * U256::from(1_000_000_000_000_000_u64);
        let at_block = 4_080 + self.at / 1_000;
        self.board.punished(PunishmentReport { operator: owner(index), id, kind, amount, at_block });
    }
}

/// When the liar's peer is banned.
const BANNED_AT: u64 = BEFORE + 12_000;

/// The next line of standard input, or its end. A thread reads it, which ends with the process.
fn line_of_input() -> oneshot::Receiver<()> {
    let (sender, line) = oneshot::channel();
    std::thread::spawn(move || {
        // If nothing can be read, the script begins as well.
        let _ = std::io::stdin().read_line(&mut String::new());
        sender.send(())
    });
    line
}

fn owner(index: u32) -> Address {
    Address::from_word(keccak256(index.to_be_bytes()))
}

/// Bytes in the place of a signature.
fn signature(index: u32, candidate: &Task) -> Bytes {
    let text = format!("{index} {candidate:?}");
    Bytes::copy_from_slice(keccak256(text).as_slice())
}
