//! A peer that says what the test wants, with the credential of an operator.

use std::sync::Arc;

use quorate_evm::{
    KeyGroup, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes, keccak256},
    digest::{Contract, PeerBinding},
};
use quorate_network::{
    groups::Audience,
    message::{Attestation, Signed, TaskResult, candidate_for},
};
use quorate_node::transport::{Admission, Admitted, Arrival, Credential, Identity, Limits, Terms, Transport, libp2p};
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

use crate::rig::{GivenTask, Net, PATIENCE};

/// Admits everybody, as an operator of its own.
struct Everybody;

impl Admission for Everybody {
    fn admit(&self, peer_id: &[u8], _: &Credential) -> Admitted {
        Admitted::Operator(Address::from_slice(&keccak256(peer_id)[..20]))
    }

    fn weight(&self, _: &Address) -> u64 {
        1
    }
}

/// What a peer shows that speaks for an operator.
pub(crate) fn terms(net: &Net, operator: usize, network: Contract) -> Terms {
    let identity = Identity::random();
    let peer = identity.peer_id().to_bytes();
    let key = net.local.key(operator);
    let signature = key.sign(&PeerBinding { network, peer: &peer }.digest());
    let credential = Credential {
        operator_key: Bytes::copy_from_slice(&key.member()[..KeyGroup::Bls12381G2.key_bytes()]),
        signature: Bytes::copy_from_slice(signature.as_bytes()),
    };
    // It dials only whom it is told to dial.
    let limits = Limits { wanted_peers: 0, ..Limits::default() };
    Terms { network, identity, credential, admission: Arc::new(Everybody), limits }
}

/// A peer of some nodes.
pub(crate) struct Client {
    pub(crate) transport: Transport,
}

impl Client {
    /// Joins some nodes by libp2p with the credential of an operator, and waits until each has admitted it.
    pub(crate) async fn join(net: &Net, operator: usize, nodes: &[usize]) -> Self {
        let this = Self::dial(net, terms(net, operator, net.local.network()), nodes);
        for node in nodes {
            let peer = this.name();
            net.until(&format!("node {node} admits the test's peer"), async || net.has_peer(*node, &peer).await).await;
        }
        this
    }

    /// Dials nodes, which may refuse it.
    pub(crate) fn dial(net: &Net, terms: Terms, nodes: &[usize]) -> Self {
        let bootstrap = nodes.iter().map(|node| net.local.peer_address(*node).unwrap()).collect();
        let settings = libp2p::MeshSettings { bootstrap, ..libp2p::MeshSettings::default() };
        Self { transport: libp2p::start(terms, &settings).unwrap() }
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.transport.peer_id().to_string()
    }

    pub(crate) fn say(&self, message: Signed) {
        self.transport.publish(message, Audience::Everybody);
    }

    /// Waits until a peer has ended the connection.
    pub(crate) async fn left(&mut self) {
        let left = async {
            while let Some(arrival) = self.transport.next().await {
                if let Arrival::Left { .. } = arrival {
                    return;
                }
            }
            panic!("the transport ended");
        };
        timeout(PATIENCE, left).await.expect("the connection ends");
    }

    /// Listens to all attestations from now on, until it is stopped.
    pub(crate) fn listen(mut self) -> (mpsc::UnboundedReceiver<Attestation>, JoinHandle<()>) {
        let (sender, heard) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Some(arrival) = self.transport.next().await {
                if let Arrival::Signed { message, .. } = arrival {
                    for attestation in message.attestations() {
                        // The test may have ended.
                        let _ = sender.send(attestation.clone());
                    }
                }
            }
        });
        (heard, task)
    }
}

/// The snapshot of the running epoch, as a node says.
pub(crate) async fn snapshot(net: &Net, node: usize) -> SnapshotId {
    net.status(node).await["chain"]["snapshot"].as_str().unwrap().parse().unwrap()
}

/// The signature of an operator over a candidate.
pub(crate) fn signature(net: &Net, operator: usize, candidate: &Task) -> Bytes {
    let signature = net.local.key(operator).sign(&candidate.digest(net.local.network()));
    Bytes::copy_from_slice(signature.as_bytes())
}

/// The attestation of an operator.
pub(crate) async fn attestation(net: &Net, operator: usize, candidate: Task) -> Signed {
    let signature = signature(net, operator, &candidate);
    Signed::Attestation(Attestation::new(candidate, net.index(operator).await, signature).unwrap())
}

/// The result of a task, signed by an operator as its performer.
pub(crate) async fn result(net: &Net, operator: usize, snapshot: SnapshotId, task: &GivenTask, bytes: &str) -> Signed {
    let index = net.index(operator).await;
    let candidate = candidate_for(task.epoch, snapshot, task.id, index, bytes.as_bytes());
    let signature = signature(net, operator, &candidate);
    let bytes = Bytes::copy_from_slice(bytes.as_bytes());
    Signed::Result(TaskResult::new(task.epoch, snapshot, task.id, index, bytes, signature).unwrap())
}

/// The right result of a task: what `quorate-lab demo-work` prints.
pub(crate) fn price(task: &GivenTask) -> String {
    let cents = task.time * 7_919 % 10_000;
    format!("ETH/USD {}.{:02}", 3_000 + cents / 100, cents % 100)
}

/// The hash of a result.
pub(crate) fn hash(result: &str) -> B256 {
    keccak256(result)
}
