//! Who is admitted, and on what terms a node takes part.

use std::{fmt, sync::Arc};

use quorate_evm::{alloy_primitives::Address, digest::Contract};

use super::{handshake::Credential, identity::Identity, limits::Limits};

/// Says which peers are admitted. The node implements it from the chain's registry.
pub trait Admission: Send + Sync + 'static {
    /// Whether a credential holds: its key is registered and active, and its signature over the peer id is the key's.
    ///
    /// Called on a thread that may block, again for every admitted peer after [`Transport::readmit`](super::Transport::readmit).
    fn admit(&self, peer_id: &[u8], credential: &Credential) -> Admitted;

    /// What an operator weighs in the newest snapshot; zero for somebody who is in none. The heavier one has the place if
    /// there is one left for two.
    ///
    /// Called on the transport's task, so it does not block for long.
    fn weight(&self, operator: &Address) -> u64;
}

/// What [`Admission::admit`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// The peer speaks for this operator.
    Operator(Address),
    /// The credential does not hold. The peer is told why, so the reason holds nothing secret.
    No(String),
    /// The node's chain is behind, so it cannot say. The peer tries again.
    NotYet,
}

/// What is the same for both transports.
#[derive(Clone)]
pub struct Terms {
    /// The contract on its chain. Messages of other networks are refused.
    pub network: Contract,
    /// The node's own key.
    pub identity: Identity,
    /// What the node shows its peers.
    pub credential: Credential,
    /// Whom the node admits.
    pub admission: Arc<dyn Admission>,
    /// The limits.
    pub limits: Limits,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, identity, credential, admission: _, limits } = self;
        f.debug_struct("Terms")
            .field("network", network)
            .field("identity", identity)
            .field("credential", credential)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}
