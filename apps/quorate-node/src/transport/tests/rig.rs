//! Nodes whose registry is a table, and what tests wait for.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use quorate_evm::{
    SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes, keccak256},
    digest::{Contract, PeerBinding},
};
use tokio::time::{Instant, timeout_at};

use super::super::{
    Admission, Admitted, Arrival, Credential, Identity, Judgement, Limits, PeerId, Rate, Terms, Transport, libp2p,
};
use quorate_network::{
    message::{Attestation, Signed},
    roles::PeerSource,
};

/// The network of the tests.
pub(in crate::transport) const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(7) };

/// The registry of a network: operators by number. A signature of operator `n` is a hash of its number and the digest, which
/// is all that a transport needs to be tested.
#[derive(Debug, Default)]
pub(in crate::transport) struct Registry {
    answers: Mutex<HashMap<Address, Admitted>>,
    weights: Mutex<HashMap<Address, u64>>,
}

impl Registry {
    /// What the registry says of an operator from now on, whatever it shows.
    pub(in crate::transport) fn say(&self, operator: u8, answer: Admitted) {
        self.answers.lock().unwrap().insert(address(operator), answer);
    }

    /// What an operator weighs; all others weigh 1.
    pub(in crate::transport) fn weigh(&self, operator: u8, weight: u64) {
        self.weights.lock().unwrap().insert(address(operator), weight);
    }

    /// Nothing special any more.
    pub(in crate::transport) fn forget(&self, operator: u8) {
        self.answers.lock().unwrap().remove(&address(operator));
    }
}

impl Admission for Registry {
    fn weight(&self, operator: &Address) -> u64 {
        self.weights.lock().unwrap().get(operator).copied().unwrap_or(1)
    }

    fn admit(&self, peer_id: &[u8], credential: &Credential) -> Admitted {
        let Some(number) = credential.operator_key.first() else { return Admitted::No("no key".to_owned()) };
        if let Some(answer) = self.answers.lock().unwrap().get(&address(*number)) {
            return answer.clone();
        }
        if credential.signature == sign(*number, NETWORK, peer_id) {
            Admitted::Operator(address(*number))
        } else {
            Admitted::No("the signature is not the operator's".to_owned())
        }
    }
}

pub(in crate::transport) fn address(operator: u8) -> Address {
    Address::repeat_byte(operator)
}

fn sign(operator: u8, network: Contract, peer: &[u8]) -> Bytes {
    keccak256([&[operator][..], &PeerBinding { network, peer }.digest()].concat()).to_vec().into()
}

pub(in crate::transport) fn credential(operator: u8, network: Contract, peer: &PeerId) -> Credential {
    Credential { operator_key: vec![operator].into(), signature: sign(operator, network, &peer.to_bytes()) }
}

/// Limits with short times, of which none can end what a slow machine does right.
pub(in crate::transport) fn limits() -> Limits {
    Limits {
        handshake: Duration::from_secs(120),
        stranger_ban: Duration::from_millis(200),
        strangers_per_address: 64,
        redial_first: Duration::from_millis(100),
        redial_most: Duration::from_millis(500),
        ..Limits::default()
    }
}

pub(in crate::transport) fn terms(operator: u8, registry: &Arc<Registry>) -> Terms {
    let identity = Identity::random();
    let credential = credential(operator, NETWORK, &identity.peer_id());
    Terms { network: NETWORK, identity, credential, admission: registry.clone(), limits: limits() }
}

/// A node that listens at a free port of loopback.
pub(in crate::transport) async fn node(terms: Terms, bootstrap: &[String]) -> Transport {
    node_at(terms, "/ip4/127.0.0.1/tcp/0", bootstrap).await
}

pub(in crate::transport) async fn node_at(terms: Terms, listen: &str, bootstrap: &[String]) -> Transport {
    let settings = libp2p::MeshSettings {
        listen: vec![listen.to_owned()],
        bootstrap: bootstrap.to_vec(),
        ..libp2p::MeshSettings::default()
    };
    let transport = libp2p::start(terms, &settings).unwrap();
    until("it listens", || !transport.addresses().is_empty()).await;
    transport
}

/// A message that no other is equal to.
pub(in crate::transport) fn message(node: u8, number: u32) -> Signed {
    let candidate = Task {
        epoch: number.into(),
        snapshot: SnapshotId::repeat_byte(1),
        id: B256::repeat_byte(node),
        performer: 0,
        result: B256::ZERO,
        approved: true,
    };
    Signed::Attestation(Attestation::new(candidate, node.into(), vec![node; 96].into()).unwrap())
}

/// The numbers of messages from here on are those of probes, by which a test sees who hears whom.
pub(in crate::transport) const PROBES: u32 = 1 << 30;

fn is_probe(message: &Signed) -> bool {
    message.attestations().iter().any(|attestation| attestation.candidate().epoch >= u64::from(PROBES))
}

/// Waits for a fact.
pub(in crate::transport) async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < end, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The next arrival for which something is said; others are let go, so that messages are ignored.
pub(in crate::transport) async fn wait_for<T>(
    transport: &mut Transport,
    what: &str,
    mut choose: impl FnMut(Arrival) -> Option<T>,
) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        let arrival = timeout_at(end, transport.next()).await.unwrap_or_else(|_| panic!("not in time: {what}"));
        if let Some(chosen) = choose(arrival.unwrap_or_else(|| panic!("the transport ended before: {what}"))) {
            return chosen;
        }
    }
}

pub(in crate::transport) async fn joined(transport: &mut Transport, peer: PeerId) -> PeerSource {
    wait_for(transport, "a peer joins", |arrival| match arrival {
        Arrival::Joined { source, peer: other, .. } if other == peer => Some(source),
        _ => None,
    })
    .await
}

pub(in crate::transport) async fn left(transport: &mut Transport, gone: PeerSource) {
    wait_for(transport, "a peer leaves", |arrival| match arrival {
        Arrival::Left { source } if source == gone => Some(()),
        _ => None,
    })
    .await;
}

/// Two nodes that admitted each other, and the number that the first gave the second.
pub(in crate::transport) async fn pair(one: Terms, other: Terms) -> (Transport, Transport, PeerSource) {
    let mut first = node(one, &[]).await;
    let mut second = node(other, &first.addresses()).await;
    let source = joined(&mut first, second.peer_id()).await;
    joined(&mut second, first.peer_id()).await;
    (first, second, source)
}

/// Takes what comes and accepts it, until every expected message was there once; then for a moment more, in which none may
/// come again. A probe is let go.
pub(in crate::transport) async fn accept_all(mut transport: Transport, expected: usize) -> (Transport, Vec<Signed>) {
    let mut seen = Vec::new();
    let mut end = Instant::now() + PATIENCE;
    let mut quiet = false;
    loop {
        match timeout_at(end, transport.next()).await {
            Ok(Some(Arrival::Signed { ticket, message, .. })) if !is_probe(&message) => {
                transport.judge(ticket, Judgement::Accept);
                assert!(!seen.contains(&message), "twice: {message:?}");
                seen.push(message);
                if seen.len() == expected {
                    quiet = true;
                    end = Instant::now() + Duration::from_millis(1500);
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => panic!("the transport ended"),
            Err(_) if quiet => return (transport, seen),
            Err(_) => panic!("{} of {expected} messages came", seen.len()),
        }
    }
}

/// A rate that no test reaches.
pub(in crate::transport) const ENDLESS: Rate = Rate { per_second: 1 << 40, at_once: 1 << 40 };

/// More than anything takes on a slow machine, and less than a ban.
pub(in crate::transport) const PATIENCE: Duration = Duration::from_secs(300);
