//! A simulated network: nodes, what carries their messages, and what calls their state machines.
//!
//! The file is long because one type holds all that is simulated, and each of its events has a function here.

use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use quorate_evm::{
    Finality, MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};

use super::{
    chain::{Chain, Change, FINAL_DEPTH, Revert, Sent, Transaction},
    chance::Chance,
    faults::{Lie, Scenario},
    judge::{Judge, Violation, Work, candidate_result, right_result},
    mesh::mesh,
    operators::Operators,
    signer::{self, Signer},
};
use quorate_network::{
    groups::{Audience, Groups},
    message::{
        Attestation, Branch, HeldTask, Message, PartialSum, PeerRequest, Signed, TaskResult, Verified, candidate_for,
    },
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Roles, Saved, SignerRefusal},
    wire,
};

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedOutcome {
    /// Steps of all nodes.
    pub steps: u64,
    /// Tasks that were announced.
    pub tasks: usize,
    /// Tasks that settled.
    pub settled: usize,
    /// Operators that were slashed, counted for each task.
    pub slashed: usize,
    /// Crashes of nodes.
    pub crashes: u64,
    /// Reorganisations of the chain.
    pub reorganisations: u64,
    /// Messages that all nodes sent.
    pub messages: u64,
    /// Their bytes, as [`wire`] encodes them.
    pub bytes: u64,
    /// The most messages that one node sent.
    pub most_messages: u64,
    /// Of each task that an honest aggregator submitted: milliseconds from the first publication of its result to the
    /// first submission.
    pub quorum_times: Vec<u64>,
}

pub(super) struct World {
    scenario: Scenario,
    chance: Chance,
    operators: Operators,
    chain: Chain,
    judge: Judge,
    works: Vec<Work>,
    peers: Vec<Peer>,
    queue: BinaryHeap<Queued>,
    count: u64,
    now: u64,
    outcome: SimulatedOutcome,
    /// When the first result of a task was published, and when it was first submitted.
    published: Vec<(Option<u64>, Option<u64>)>,
    /// Who forwards gossip to whom in a branch of a snapshot.
    meshes: BTreeMap<(SnapshotId, Branch), BTreeMap<usize, Vec<usize>>>,
    /// From when to when the network is in two parts, and which part each node is in.
    partition: Option<(u64, u64)>,
    sides: Vec<bool>,
}

struct Peer {
    node: Option<Node>,
    life: u32,
    saved: Vec<u8>,
    signer: Signer,
    lie: Option<Lie>,
    /// By how much its clock is ahead.
    clock: u64,
    neighbours: Vec<usize>,
    /// The gossip that it has seen, by number.
    seen: BTreeSet<u64>,
    /// The blocks of its chain.
    view: Vec<usize>,
    tick: Option<u64>,
    messages: u64,
}

/// A message as gossip. Its number is a hash of its content.
#[derive(Clone)]
struct Gossip {
    number: u64,
    audience: Audience,
    message: Arc<Signed>,
    size: u64,
}

enum Action {
    Gossip { to: usize, from: usize, gossip: Gossip },
    Request { to: usize, from: usize, request: Arc<PeerRequest> },
    Answer { to: usize, from: usize, parts: Vec<Arc<Signed>>, is_full: bool },
    Local { to: usize, life: u32, event: NodeEvent },
    Signer { to: usize, life: u32, candidate: Task },
    Tick { to: usize, life: u32, at: u64 },
    Announce { to: usize, work: usize },
    See { to: usize },
    Mine,
    Restart { to: usize },
}

struct Queued {
    at: u64,
    number: u64,
    action: Action,
}

impl World {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let operators = Operators::new(scenario, &mut chance);
        let links = mesh(scenario.operators, scenario.degree, &mut chance);
        let sides = (0..scenario.operators).map(|_| chance.permille(500)).collect();
        let length = scenario.epoch_length;
        let works: Vec<_> = (0..2 * scenario.tasks)
            .map(|number| {
                let epoch = (number / scenario.tasks) as u64;
                let at = epoch * length + chance.between(2_000, length / 3);
                Work { id: chance.word().into(), epoch, at }
            })
            .collect();
        let partition = scenario.partition.then_some((scenario.calm_from / 3, scenario.calm_from));
        let peers = links
            .into_iter()
            .enumerate()
            .map(|(number, neighbours)| Peer {
                node: None,
                life: 0,
                saved: Saved::default().to_bytes(),
                signer: Signer::default(),
                lie: operators.0[number].lie,
                clock: 10_000 + chance.between(0, scenario.clock_skew),
                neighbours,
                seen: BTreeSet::new(),
                view: Vec::new(),
                tick: None,
                messages: 0,
            })
            .collect();
        let mut world = Self {
            chain: Chain::new(scenario),
            judge: Judge::default(),
            published: vec![(None, None); works.len()],
            meshes: BTreeMap::new(),
            works,
            peers,
            operators,
            chance,
            queue: BinaryHeap::new(),
            count: 0,
            now: 0,
            outcome: SimulatedOutcome::default(),
            partition,
            sides,
            scenario: scenario.clone(),
        };
        for to in 0..world.peers.len() {
            world.restart(to);
            for work in 0..world.works.len() {
                let at = world.works[work].at + world.chance.between(0, scenario.announced_within);
                world.put(at, Action::Announce { to, work });
            }
        }
        world.put(0, Action::Mine);
        world
    }

    /// Runs until nothing of the simulation's tasks can settle or be reported any more.
    pub(super) fn run(mut self) -> Result<SimulatedOutcome, Violation> {
        let end = 4 * self.scenario.epoch_length;
        while let Some(queued) = self.queue.pop() {
            if queued.at >= end {
                break;
            }
            self.now = queued.at;
            self.judge.now = queued.at;
            self.act(queued.action);
            if let Some(violation) = self.judge.violation.take() {
                return Err(violation);
            }
        }
        let lives: Vec<_> = self.peers.iter().map(|peer| peer.life).collect();
        let signers: Vec<_> = self.peers.iter().map(|peer| &peer.signer).collect();
        self.judge.end(self.chain.state(), &self.works, &self.operators, &signers, &lives);
        for (number, peer) in self.peers.iter().enumerate() {
            let footprint = peer.node.as_ref().map(Node::footprint).unwrap_or_default();
            if (footprint.tasks, footprint.attestations, footprint.results) != (0, 0, 0) {
                self.judge.accuse(format!("node {number} still holds tasks that cannot settle: {footprint:?}"));
            }
        }
        if let Some(violation) = self.judge.violation.take() {
            return Err(violation);
        }
        let state = self.chain.state();
        let most_messages = self.peers.iter().map(|peer| peer.messages).max().unwrap_or(0);
        let times = self.published.iter().filter_map(|(from, to)| Some(to.as_ref()?.saturating_sub((*from)?)));
        Ok(SimulatedOutcome {
            tasks: self.works.len(),
            settled: state.settled.len(),
            slashed: state.slashed.len(),
            most_messages,
            quorum_times: times.collect(),
            ..self.outcome
        })
    }

    fn put(&mut self, at: u64, action: Action) {
        self.count += 1;
        self.queue.push(Queued { at, number: self.count, action });
    }

    fn later(&mut self, least: u64, most: u64, action: Action) {
        let at = self.now + self.chance.between(least, most);
        self.put(at, action);
    }

    fn is_calm(&self) -> bool {
        self.now >= self.scenario.calm_from
    }

    /// Whether a fault of so many in a thousand happens now.
    fn fault(&mut self, permille: u32) -> bool {
        !self.is_calm() && self.chance.permille(permille)
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Gossip { to, from, gossip } => {
                let hears = self.peers[to].node.as_ref().is_some_and(|node| {
                    gossip.audience == Audience::Everybody || node.audiences().contains(&gossip.audience)
                });
                if hears && self.peers[to].seen.insert(gossip.number) {
                    self.show(to, from, &gossip.message, Some(&gossip));
                }
            }
            Action::Request { to, from, request } => {
                self.step(to, NodeEvent::Asked { source: PeerSource(from as u64), request: (*request).clone() }, None);
            }
            Action::Answer { to, from, parts, is_full } => {
                for part in parts {
                    self.show(to, from, &part, None);
                }
                if is_full {
                    self.step(to, NodeEvent::AnswerWasFull, None);
                }
            }
            Action::Local { to, life, event } => {
                if self.peers[to].life == life && self.peers[to].node.is_some() {
                    match &event {
                        NodeEvent::SettleFailed { id } => self.judge.failed(to, *id, None),
                        NodeEvent::ReportFailed { operator, id } => self.judge.failed(to, *id, Some(*operator)),
                        _ => {}
                    }
                    self.step(to, event, None);
                }
            }
            Action::Signer { to, life, candidate } => self.ask_signer(to, life, candidate),
            Action::Tick { to, life, at } => {
                if self.peers[to].life == life && self.peers[to].tick == Some(at) {
                    self.peers[to].tick = None;
                    self.step(to, NodeEvent::Tick, None);
                }
            }
            Action::Announce { to, work } => self.announce(to, work),
            Action::See { to } => self.see(to),
            Action::Mine => self.mine(),
            Action::Restart { to } => self.restart(to),
        }
    }

    /// The edge gets a signed message: it looks whether the node would use it, verifies it and hands it on.
    fn show(&mut self, to: usize, from: usize, message: &Arc<Signed>, gossip: Option<&Gossip>) {
        let peer = &self.peers[to];
        let Some(node) = &peer.node else { return };
        let worth = node.screen(message).err().is_none_or(|refusal| refusal.is_worth_verifying());
        if worth && !signer::are_true(message, signers_of(node, message).as_ref()) {
            if self.peers[from].lie.is_none() {
                self.judge.accuse(format!("node {from}, which is honest, sent node {to} a false signature"));
            }
            return;
        }
        if worth && peer.lie.is_none() && self.now + self.exchange() < self.closes(message) {
            self.judge.saw((to, peer.life), message);
        }
        let message = Verified::by_the_caller(message.clone());
        self.step(to, NodeEvent::Received { source: PeerSource(from as u64), message }, gossip);
    }

    /// Two nodes that each hold half of a conflict have exchanged it after this time, in a network that is calm. A node asks
    /// one peer at a time, and in a network of groups few hold the other half.
    fn exchange(&self) -> u64 {
        let groups = self.scenario.operators.div_ceil(self.scenario.group).min(4) as u64;
        EXCHANGE * groups
    }

    /// When the first epoch of a message can settle no more.
    fn closes(&self, message: &Signed) -> u64 {
        let epochs = message.attestations().iter().map(|attestation| attestation.candidate().epoch);
        (epochs.min().unwrap_or(0).min(1 << 20) + 2) * self.scenario.epoch_length
    }

    fn step(&mut self, to: usize, event: NodeEvent, gossip: Option<&Gossip>) {
        let Some(mut node) = self.peers[to].node.take() else { return };
        self.outcome.steps += 1;
        let mut outputs = node.step(event, self.now + self.peers[to].clock);
        if self.peers[to].lie.is_none() {
            self.judge.bounded(to, node.footprint(), self.operators.0.len(), self.works.len());
        }
        let crashes = self.fault(self.scenario.crashes);
        if crashes {
            outputs.truncate(self.chance.below(outputs.len() + 1));
        }
        if outputs.iter().any(|output| matches!(output, NodeOutput::Save)) {
            self.peers[to].saved = node.saved().to_bytes();
        }
        self.peers[to].node = Some(node);
        for output in outputs {
            self.carry_out(to, output, gossip);
        }
        if crashes {
            self.outcome.crashes += 1;
            let peer = &mut self.peers[to];
            peer.node = None;
            peer.life += 1;
            peer.seen.clear();
            peer.tick = None;
            self.later(200, 5_000, Action::Restart { to });
        }
    }

    fn carry_out(&mut self, from: usize, output: NodeOutput, gossip: Option<&Gossip>) {
        let life = self.peers[from].life;
        let lie = self.peers[from].lie;
        match output {
            // Saved before any output left; or nothing at the edge depends on it.
            NodeOutput::Save
            | NodeOutput::Abstained { .. }
            | NodeOutput::ConflictFound { .. }
            | NodeOutput::NotTaken { .. }
            | NodeOutput::Dropped { .. } => {}
            NodeOutput::Execute { id, .. } => {
                // A program that answers differently each time it runs, and rightly each time.
                let mut bytes = right_result(id);
                bytes.push(self.chance.below(256) as u8);
                if lie == Some(Lie::WrongResult) {
                    bytes[0] ^= 1;
                }
                self.judge.results.insert(candidate_result(&bytes), is_right(id, &bytes));
                let failed = self.fault(self.scenario.program_failures);
                let event = if failed {
                    NodeEvent::ExecuteFailed { id }
                } else {
                    NodeEvent::Executed { id, bytes: bytes.into() }
                };
                self.later(20, 300, Action::Local { to: from, life, event });
            }
            NodeOutput::Validate { candidate, bytes, .. } => {
                let approved = is_right(candidate.id, &bytes) != (lie == Some(Lie::FalseVerdict));
                let failed = self.fault(self.scenario.program_failures);
                let event = if failed {
                    NodeEvent::ValidateFailed { candidate }
                } else {
                    NodeEvent::Validated { candidate, approved }
                };
                self.later(10, 100, Action::Local { to: from, life, event });
            }
            NodeOutput::Sign { candidate } => self.later(1, 20, Action::Signer { to: from, life, candidate }),
            NodeOutput::Publish(message, audience) => self.publish(from, message, audience),
            NodeOutput::Ask(request, audience) => {
                let anybody = (from + 1 + self.chance.below(self.peers.len().max(2) - 1)) % self.peers.len();
                let to = self.member(from, audience, request.tasks.first()).unwrap_or(anybody);
                self.request(from, to, request);
            }
            NodeOutput::AskPeer { peer: PeerSource(to), request } => self.request(from, to as usize, request),
            NodeOutput::Answer { to: PeerSource(to), answer } => {
                let to = to as usize;
                let message = Message::Answer(answer);
                let size = wire::encode(&message, CONTRACT).len() as u64;
                if let Message::Answer(answer) = message {
                    let is_full = answer.is_full();
                    let parts: Vec<_> = answer.into_signed().map(Arc::new).collect();
                    self.send(from, to, size, || Action::Answer { to, from, parts: parts.clone(), is_full });
                }
            }
            NodeOutput::Accepted { source } => {
                if let Some(gossip) = gossip {
                    let neighbours = self.neighbours(from, &gossip.message, gossip.audience);
                    let others = neighbours.into_iter().filter(|to| *to as u64 != source.0);
                    self.spread(from, gossip, others.collect());
                }
            }
            NodeOutput::Refused { source, refusal } => {
                let sender = source.0 as usize;
                if refusal.is_fault() && lie.is_none() && self.peers[sender].lie.is_none() {
                    self.judge.accuse(format!("node {from} blamed node {sender}, which is honest: {refusal}"));
                }
                debug_assert!(!matches!(refusal, MessageRefusal::NoSuchSigner(_)) || self.peers[sender].lie.is_some());
            }
            NodeOutput::Settle(settlement) => {
                if lie == Some(Lie::SilentAggregator) {
                    return;
                }
                let id = settlement.candidate.id;
                if lie.is_none() {
                    let changes = self.peers[from].view.iter().flat_map(|block| &self.chain.blocks[*block].changes);
                    let settled = changes.filter(|change| matches!(change, Change::Settled(held) if held.id == id));
                    let settled = settled.count() != 0;
                    self.judge.settles(from, &settlement, SUBMISSION_TIMEOUT, settled);
                    let now = self.now;
                    if let Some(work) = self.works.iter().position(|work| work.id == id) {
                        self.published[work].1.get_or_insert(now);
                    }
                }
                self.chain.waiting.push(Sent { from, transaction: Transaction::Settle(settlement) });
            }
            NodeOutput::ReportConflict { operator, evidence } => {
                if lie == Some(Lie::SilentAggregator) {
                    return;
                }
                if lie.is_none() {
                    self.judge.reported(from, operator, &evidence, SUBMISSION_TIMEOUT, &self.operators);
                }
                self.chain.waiting.push(Sent { from, transaction: Transaction::Report(operator, evidence) });
            }
            NodeOutput::WakeAt(at) => {
                let at = at.saturating_sub(self.peers[from].clock).max(self.now);
                self.peers[from].tick = Some(at);
                self.put(at, Action::Tick { to: from, life, at });
            }
        }
    }

    fn request(&mut self, from: usize, to: usize, request: PeerRequest) {
        let message = Message::Request(request);
        let size = wire::encode(&message, CONTRACT).len() as u64;
        if let Message::Request(request) = message {
            let request = Arc::new(request);
            self.send(from, to, size, || Action::Request { to, from, request: request.clone() });
        }
    }

    fn ask_signer(&mut self, to: usize, life: u32, candidate: Task) {
        if self.fault(self.scenario.signer_silence) {
            if self.chance.permille(500) {
                let event = NodeEvent::SignRefused { candidate, refusal: SignerRefusal::NotNow };
                self.later(1, 20, Action::Local { to, life, event });
            }
            return;
        }
        // A node may ask again after its snapshot was replaced: the signer refuses, and nobody is slashed.
        if self.peers[to].lie.is_none() && self.peers[to].signer.would_be_slashed(&candidate) {
            self.judge.accuse(format!("node {to}, which is honest, asked its signer for a conflict: {candidate:?}"));
        }
        let permitted = self.peers[to].signer.permits(&candidate);
        let index = self.index(to, &candidate);
        let event = match index {
            Some(_) if self.peers[to].lie == Some(Lie::FalseSignature) && !self.performs(to, &candidate) => {
                NodeEvent::Signed { candidate, signature: Bytes::from_static(&[7; 8]) }
            }
            Some(index) if permitted => NodeEvent::Signed { candidate, signature: signer::sign(index, &candidate) },
            _ => NodeEvent::SignRefused { candidate, refusal: SignerRefusal::Conflict },
        };
        self.later(1, 20, Action::Local { to, life, event });
    }

    fn index(&self, operator: usize, candidate: &Task) -> Option<u32> {
        self.judge.snapshots.get(&candidate.snapshot)?.index_of(self.operators.0[operator].address)
    }

    fn performs(&self, operator: usize, candidate: &Task) -> bool {
        self.index(operator, candidate).map(u64::from) == Some(candidate.performer)
    }

    /// A node publishes a message of its own; a liar publishes what it likes.
    fn publish(&mut self, from: usize, message: Signed, audience: Audience) {
        let peer = &self.peers[from];
        let Some(lie) = peer.lie else {
            let signers = peer.node.as_ref().and_then(|node| signers_of(node, &message));
            self.judge.published((from, peer.life), &message, signers.as_ref(), &self.operators);
            if let Signed::Result(result) = &message {
                let id = result.candidate().id;
                if let Some(work) = self.works.iter().position(|work| work.id == id) {
                    let now = self.now;
                    self.published[work].0.get_or_insert(now);
                }
            }
            return self.gossip(from, message, audience, Half::Both);
        };
        match (lie, &message) {
            (Lie::TwoVerdicts, Signed::Attestation(held)) => {
                let other = opposite(held);
                self.gossip(from, message, audience, Half::First);
                self.gossip(from, other, audience, Half::Second);
            }
            (Lie::TwoResults, Signed::Result(held)) => {
                let other = another_result(held);
                if let Signed::Result(other) = &other {
                    self.judge.results.insert(other.candidate().result, true);
                }
                self.gossip(from, message, audience, Half::First);
                self.gossip(from, other, audience, Half::Second);
            }
            (Lie::SilentPerformer, Signed::Result(_)) | (Lie::NoSum, Signed::Sum(_)) => {}
            (Lie::FalseSum | Lie::HalfSum, Signed::Sum(sum)) => {
                let half: MemberSet = sum.signers().iter().step_by(2).collect();
                let other = |signature| PartialSum::new(*sum.candidate(), sum.branch(), half.clone(), signature);
                let halved = other(sum.signature().clone()).ok();
                let signers = peer.node.as_ref().zip(halved).and_then(|(node, halved)| node.signers(&halved));
                let signers = signers.unwrap_or_default();
                let signatures: Vec<_> =
                    signers.iter().map(|index| signer::sign(index as u32, sum.candidate())).collect();
                let signature = signer::add_up(&signatures.iter().collect::<Vec<_>>());
                let signature = signature.filter(|_| lie == Lie::HalfSum).unwrap_or(Bytes::from_static(&[7; 8]));
                let other = other(signature).expect("half of a sum has a signer");
                self.gossip(from, Signed::Sum(other), audience, Half::Both);
            }
            _ => self.gossip(from, message, audience, Half::Both),
        }
    }

    /// Those to whom a node sends or forwards what an audience gets.
    fn neighbours(&mut self, of: usize, message: &Signed, audience: Audience) -> Vec<usize> {
        let (Audience::Branch(_, branch), Some(snapshot)) = (audience, snapshot_of(message)) else {
            return self.peers[of].neighbours.clone();
        };
        if !self.meshes.contains_key(&(snapshot, branch)) {
            let Some(held) = self.judge.snapshots.get(&snapshot) else { return Vec::new() };
            let groups = Groups::new(held, self.scenario.group);
            let owners = groups.members(branch).iter().filter_map(|index| held.owner(*index));
            let members: Vec<_> = owners.filter_map(|owner| self.operators.number_of(owner)).collect();
            let links = mesh(members.len(), self.scenario.degree, &mut self.chance);
            let named = links.into_iter().map(|links| links.into_iter().map(|link| members[link]).collect());
            self.meshes.insert((snapshot, branch), members.iter().copied().zip(named).collect());
        }
        self.meshes[&(snapshot, branch)].get(&of).cloned().unwrap_or_default()
    }

    /// A member of an audience, chosen at random, that is not this node; none of everybody.
    fn member(&mut self, not: usize, audience: Audience, held: Option<&HeldTask>) -> Option<usize> {
        let (Audience::Branch(_, branch), Some(held)) = (audience, held) else { return None };
        let snapshot = self.judge.snapshots.get(&held.snapshot)?;
        let groups = Groups::new(snapshot, self.scenario.group);
        let owners = groups.members(branch).iter().filter_map(|index| snapshot.owner(*index));
        let members: Vec<_> =
            owners.filter_map(|owner| self.operators.number_of(owner)).filter(|member| *member != not).collect();
        if members.is_empty() { None } else { Some(members[self.chance.below(members.len())]) }
    }

    fn gossip(&mut self, from: usize, message: Signed, audience: Audience, half: Half) {
        let mut hasher = DefaultHasher::new();
        (&message, audience).hash(&mut hasher);
        let message = Message::Signed(message);
        let size = wire::encode(&message, CONTRACT).len() as u64;
        let Message::Signed(message) = message else { return };
        let neighbours = self.neighbours(from, &message, audience);
        let gossip = Gossip { number: hasher.finish(), audience, message: Arc::new(message), size };
        self.peers[from].seen.insert(gossip.number);
        let neighbours = neighbours.iter().enumerate();
        let chosen = neighbours.filter(|(place, _)| match half {
            Half::Both => true,
            Half::First => place % 2 == 0,
            Half::Second => place % 2 == 1,
        });
        let chosen = chosen.map(|(_, to)| *to).collect();
        self.spread(from, &gossip, chosen);
    }

    fn spread(&mut self, from: usize, gossip: &Gossip, to: Vec<usize>) {
        for to in to {
            self.send(from, to, gossip.size, || Action::Gossip { to, from, gossip: gossip.clone() });
        }
    }

    /// Sends a message once, twice, late or never.
    fn send(&mut self, from: usize, to: usize, size: u64, action: impl Fn() -> Action) {
        self.outcome.messages += 1;
        self.outcome.bytes += size;
        self.peers[from].messages += 1;
        let apart = self.sides[from] != self.sides[to];
        let apart = apart && self.partition.is_some_and(|(begins, ends)| (begins..ends).contains(&self.now));
        if apart || self.fault(self.scenario.dropped) {
            return;
        }
        let copies = if self.fault(self.scenario.doubled) { 2 } else { 1 };
        for _ in 0..copies {
            let extra = if self.fault(self.scenario.delayed) { self.chance.between(0, 3_000) } else { 0 };
            let (least, most) = self.scenario.latency;
            self.later(least + extra, most + extra, action());
        }
    }

    fn announce(&mut self, to: usize, work: usize) {
        let Work { id, epoch, .. } = self.works[work];
        self.step(to, NodeEvent::Task { id, epoch, payload: Bytes::copy_from_slice(id.as_slice()) }, None);
        match self.peers[to].lie {
            Some(Lie::Impostor) => self.impersonate(to, id, epoch),
            Some(Lie::Flood) => self.flood(to, epoch),
            _ => {}
        }
    }

    /// Publishes a result if another operator is elected: under its own index, and under the other's without the
    /// other's key.
    fn impersonate(&mut self, from: usize, id: B256, epoch: u64) {
        let Some(snapshot) = self.chain.state().snapshots.get(&epoch).cloned() else { return };
        let Some(own) = snapshot.index_of(self.operators.0[from].address) else { return };
        let elected = snapshot.performer(id);
        if own == elected {
            return;
        }
        for performer in [own, elected] {
            let candidate = candidate_for(epoch, snapshot.id(), id, performer, b"forged");
            let signature = signer::sign(own, &candidate);
            let forged = TaskResult::new(epoch, snapshot.id(), id, performer, Bytes::from_static(b"forged"), signature);
            let forged = Signed::Result(forged.expect("six bytes are a result"));
            self.gossip(from, forged, Audience::Everybody, Half::Both);
        }
    }

    fn flood(&mut self, from: usize, epoch: u64) {
        let Some(snapshot) = self.chain.state().snapshots.get(&epoch).cloned() else { return };
        let Some(own) = snapshot.index_of(self.operators.0[from].address) else { return };
        for number in 0..40 {
            let known = self.works[self.chance.below(self.works.len())].id;
            let id = if number % 2 == 0 { self.chance.word().into() } else { known };
            let performer = snapshot.performer(id);
            let candidate = candidate_for(epoch, snapshot.id(), id, performer, b"flood");
            // Half of the flood is about tasks that nobody knows, half of the rest by signers without weight.
            let index = if number % 4 == 1 { 1_000_000 + number } else { own };
            let flood = Signed::Attestation(signer::attest(candidate, index));
            self.gossip(from, flood, Audience::Everybody, Half::Both);
        }
    }

    fn mine(&mut self) {
        let mut blocks = 1;
        if self.fault(self.scenario.reorganisations) {
            let depth = 1 + self.chance.below(FINAL_DEPTH - 1);
            self.outcome.reorganisations += 1;
            let lost = self.scenario.lost_transactions;
            for sent in self.chain.remove(depth, lost, &mut self.chance) {
                self.tell(sent, Revert::Lost);
            }
            blocks += depth;
        }
        for _ in 0..blocks {
            let before = self.chain.state().clone();
            let reverted = self.chain.mine(self.now, &self.operators, &mut self.chance);
            for change in &self.chain.blocks[self.chain.blocks.len() - 1].changes {
                self.judge.changed(change, &before, &self.operators);
            }
            for (sent, revert) in reverted {
                self.tell(sent, revert);
            }
        }
        for to in 0..self.peers.len() {
            self.later(20, 800, Action::See { to });
        }
        let at = self.now + self.scenario.block_time;
        self.put(at, Action::Mine);
    }

    /// Tells an operator that its transaction will not be mined.
    fn tell(&mut self, sent: Sent, revert: Revert) {
        let to = sent.from;
        if self.peers[to].lie.is_none() {
            self.judge.reverted(to, revert);
        }
        let event = match sent.transaction {
            Transaction::Settle(settlement) => NodeEvent::SettleFailed { id: settlement.candidate.id },
            Transaction::Report(operator, evidence) => NodeEvent::ReportFailed { operator, id: evidence.id() },
        };
        let life = self.peers[to].life;
        self.later(20, 800, Action::Local { to, life, event });
    }

    /// A node follows the chain from what it knew of it.
    fn see(&mut self, to: usize) {
        if self.peers[to].node.is_none() {
            return;
        }
        let mut events = Vec::new();
        let path = &self.chain.path;
        let view = &mut self.peers[to].view;
        let mut epoch = view.last().map(|block| self.chain.blocks[*block].epoch);
        while view.len() > path.len() || view.last().is_some_and(|last| path[view.len() - 1] != *last) {
            let Some(block) = view.pop() else { break };
            for change in self.chain.blocks[block].changes.iter().rev() {
                events.extend(match change {
                    Change::Snapshot(snapshot) => Some(NodeEvent::SnapshotRemoved { epoch: snapshot.epoch() }),
                    Change::Settled(candidate) => Some(NodeEvent::Unsettled { id: candidate.id }),
                    Change::Slashed(operator, id, epoch) => {
                        Some(NodeEvent::Unslashed { operator: *operator, id: *id, epoch: *epoch })
                    }
                    Change::Fined(..) => None,
                });
            }
        }
        while view.len() < path.len() {
            let block = path[view.len()];
            view.push(block);
            if epoch != Some(self.chain.blocks[block].epoch) {
                epoch = Some(self.chain.blocks[block].epoch);
                events.extend(epoch.map(NodeEvent::Epoch));
            }
            events.extend(self.chain.blocks[block].changes.iter().filter_map(|change| told(change, Finality::Recent)));
            if let Some(number) = view.len().checked_sub(FINAL_DEPTH + 1) {
                let block = &self.chain.blocks[view[number]];
                events.extend(block.changes.iter().filter_map(|change| match change {
                    Change::Settled(_) => told(change, Finality::Final),
                    _ => None,
                }));
            }
        }
        for event in events {
            self.step(to, event, None);
        }
    }

    /// Starts a node from what it saved. It learns the chain as it is, and its tasks.
    fn restart(&mut self, to: usize) {
        let operator: Option<Address> = Some(self.operators.0[to].address);
        let settings = NodeSettings {
            operator,
            roles: Roles { perform: true, attest: true, aggregate: true },
            stragglers: 300,
            turn: 6_000,
            submission_timeout: SUBMISSION_TIMEOUT,
            retry: 500,
            retry_most: 4_000,
            ask_first: 1_000,
            ask_most: 8_000,
            most_tasks: 64,
            patience: 60_000,
            evidence_epochs: 1,
            group: self.scenario.group,
            gather: 300,
            relief: 400,
            appeal: 6_000,
            add_up: signer::add_up,
        };
        let saved = match Saved::from_bytes(&self.peers[to].saved) {
            Ok(saved) => saved,
            Err(error) => return self.judge.accuse(format!("node {to}: {error}")),
        };
        let tip = self.chain.path[self.chain.path.len() - 1];
        let node = Node::new(settings, self.chain.blocks[tip].epoch, saved);
        let peer = &mut self.peers[to];
        peer.node = Some(node);
        peer.view = self.chain.path.clone();
        let life = peer.life;
        let changes = peer.view.iter().flat_map(|block| &self.chain.blocks[*block].changes);
        let events: Vec<_> = changes.filter_map(|change| told(change, Finality::Recent)).collect();
        for event in events {
            self.step(to, event, None);
        }
        for work in 0..self.works.len() {
            if self.peers[to].life == life && self.works[work].at < self.now {
                self.later(0, 200, Action::Announce { to, work });
            }
        }
    }
}

/// The indices of a sum's signers.
fn signers_of(node: &Node, message: &Signed) -> Option<MemberSet> {
    match message {
        Signed::Sum(sum) => node.signers(sum),
        _ => None,
    }
}

/// Of which snapshot a message is.
fn snapshot_of(message: &Signed) -> Option<SnapshotId> {
    match message {
        Signed::Sum(sum) => Some(sum.candidate().snapshot),
        _ => message.attestations().first().map(|attestation| attestation.candidate().snapshot),
    }
}

enum Half {
    Both,
    First,
    Second,
}

/// What a node is told of a change of the chain.
fn told(change: &Change, finality: Finality) -> Option<NodeEvent> {
    match change {
        Change::Snapshot(snapshot) => Some(NodeEvent::Snapshot(snapshot.clone())),
        Change::Settled(candidate) => Some(NodeEvent::Settled { id: candidate.id, epoch: candidate.epoch, finality }),
        Change::Slashed(operator, id, epoch) => {
            Some(NodeEvent::Slashed { operator: *operator, id: *id, epoch: *epoch })
        }
        Change::Fined(..) => None,
    }
}

/// Whether a result is right: it begins as it must, and ends with a byte that does not matter.
fn is_right(id: B256, bytes: &[u8]) -> bool {
    bytes.starts_with(&right_result(id))
}

fn opposite(held: &Attestation) -> Signed {
    let candidate = Task { approved: !held.candidate().approved, ..*held.candidate() };
    Signed::Attestation(signer::attest(candidate, held.index()))
}

fn another_result(held: &TaskResult) -> Signed {
    let candidate = held.candidate();
    let bytes = Bytes::from([held.bytes().as_ref(), b"other"].concat());
    let other = Task { result: candidate_result(&bytes), ..*candidate };
    let signature = signer::sign(held.performer(), &other);
    let other = TaskResult::new(candidate.epoch, candidate.snapshot, candidate.id, held.performer(), bytes, signature);
    Signed::Result(other.expect("a few bytes more are allowed"))
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    /// The heap gives the greatest first, so the earliest is the greatest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

const CONTRACT: Contract = Contract { chain_id: 1, address: Address::repeat_byte(0xcc) };

/// How long a node waits for its own transaction.
const SUBMISSION_TIMEOUT: u64 = 20_000;

/// See [`World::exchange`].
const EXCHANGE: u64 = 25_000;
