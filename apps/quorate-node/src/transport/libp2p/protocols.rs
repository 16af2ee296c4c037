//! The protocols of a node, their names and their settings.

use std::time::Duration;

use libp2p_connection_limits::ConnectionLimits;
use libp2p_gossipsub::{
    ConfigBuilder, IdentTopic, IdentityTransform, Message, MessageAuthenticity, MessageId, PeerScoreParams,
    PeerScoreThresholds, TopicScoreParams, ValidationMode,
};
use libp2p_request_response::ProtocolSupport;
use libp2p_swarm::{NetworkBehaviour, StreamProtocol, Swarm};
use quorate_evm::digest::Contract;
use sha2::{Digest as _, Sha256};

use super::{
    super::{
        admission::Terms,
        handle::TransportError,
        handshake::{MAX_HELLO, MAX_REPLY},
        limits::Limits,
    },
    codec::Lengths,
    gate::{Gate, Gossip},
    stream::{self, Meters},
    topics::{OwnTopics, prefix, topic},
};
use quorate_network::{
    groups::Audience,
    message::{MAX_MESSAGE, MAX_RESULT},
};

/// All protocols of a node.
#[derive(NetworkBehaviour)]
#[behaviour(prelude = "libp2p_swarm::derive_prelude")]
pub(super) struct Protocols {
    pub(super) limits: libp2p_connection_limits::Behaviour,
    pub(super) gate: Gate,
    pub(super) hello: libp2p_request_response::Behaviour<Lengths>,
    pub(super) ask: libp2p_request_response::Behaviour<Lengths>,
}

pub(super) fn swarm(terms: &Terms, meters: Meters) -> Result<Swarm<Protocols>, TransportError> {
    let limits = &terms.limits;
    let transport = stream::transport(terms.identity.keypair(), limits, meters)?;
    let most = |count: usize| Some(u32::try_from(count).unwrap_or(u32::MAX));
    let connections = ConnectionLimits::default()
        // The lobby of `stream.rs` bounds those that wait, by their addresses. These are beside it for as long as it takes to
        // send one away.
        .with_max_pending_incoming(most(4 * limits.strangers))
        .with_max_pending_outgoing(most(limits.strangers))
        // Both may have dialled at once.
        .with_max_established_per_peer(Some(2))
        .with_max_established(most(2 * (limits.peers + limits.strangers)));
    let protocols = Protocols {
        limits: libp2p_connection_limits::Behaviour::new(connections),
        gate: Gate::new(gossip(terms.network, limits)?, limits.messages),
        hello: requests(terms.network, "hello", MAX_HELLO, MAX_REPLY, limits.answer_within)?,
        ask: requests(terms.network, "ask", MAX_MESSAGE, MAX_MESSAGE, limits.answer_within)?,
    };
    let config = libp2p_swarm::Config::with_tokio_executor()
        // The driver ends connections.
        .with_idle_connection_timeout(Duration::from_secs(365 * 86_400))
        .with_max_negotiating_inbound_streams(16);
    Ok(Swarm::new(transport, protocols, terms.identity.peer_id().inner(), config))
}

pub(super) fn requests(
    network: Contract,
    name: &str,
    most_request: usize,
    most_response: usize,
    within: Duration,
) -> Result<libp2p_request_response::Behaviour<Lengths>, TransportError> {
    let protocol = StreamProtocol::try_from_owned(format!("{}/{name}", prefix(network)))
        .map_err(|why| TransportError::Setup { part: "requests", why: why.to_string() })?;
    Ok(libp2p_request_response::Behaviour::with_codec(
        Lengths { most_request, most_response },
        [(protocol, ProtocolSupport::Full)],
        libp2p_request_response::Config::default().with_request_timeout(within).with_max_concurrent_streams(8),
    ))
}

fn gossip(network: Contract, limits: &Limits) -> Result<Gossip, TransportError> {
    let setup = |why: String| TransportError::Setup { part: "gossip", why };
    let heartbeats =
        |time: Duration| usize::try_from(time.as_millis().div_ceil(HEARTBEAT.as_millis())).unwrap_or(usize::MAX);
    let config = ConfigBuilder::default()
        .protocol_id_prefix(format!("{}/gossip", prefix(network)))
        .heartbeat_interval(HEARTBEAT)
        .heartbeat_initial_delay(HEARTBEAT)
        // Forwarded when the node says so.
        .validate_messages()
        .history_length(heartbeats(limits.judge_within) + 2)
        .history_gossip(6)
        // Who signed is in the message. Where it came from says nothing.
        .validation_mode(ValidationMode::Anonymous)
        .message_id_fn(message_id)
        .duplicate_cache_time(Duration::from_secs(120))
        .max_transmit_size(MAX_FRAME)
        .max_publish_messages(16)
        .max_control_messages_sent(1000)
        .max_control_message_size(64 * 1024)
        .connection_handler_queue_len(1000)
        .publish_queue_duration(Duration::from_secs(10))
        .forward_queue_duration(Duration::from_secs(5))
        .build()
        .map_err(|why| setup(why.to_string()))?;
    let topic = topic(network, Audience::Everybody);
    let mut gossip = Gossip::new_with_subscription_filter_and_transform(
        MessageAuthenticity::Anonymous,
        config,
        OwnTopics::of(network),
        IdentityTransform,
    )
    .map_err(|why| setup(why.to_owned()))?;
    let (score, thresholds) = score(&topic);
    gossip.with_peer_score(score, thresholds).map_err(setup)?;
    gossip.subscribe(&topic).map_err(|why| setup(why.to_string()))?;
    Ok(gossip)
}

/// A score that counts nothing but gossip that was malformed or rejected: one such message makes it -100. Everything else is
/// limited elsewhere, and a slow peer must not be taken for a hostile one.
fn score(topic: &IdentTopic) -> (PeerScoreParams, PeerScoreThresholds) {
    let score = PeerScoreParams {
        topics: [(topic.hash(), invalid())].into(),
        app_specific_weight: 0.0,
        ip_colocation_factor_weight: 0.0,
        behaviour_penalty_weight: 0.0,
        slow_peer_weight: 0.0,
        retain_score: Duration::ZERO,
        ..PeerScoreParams::default()
    };
    let thresholds = PeerScoreThresholds {
        gossip_threshold: -1.0,
        publish_threshold: -1.0,
        graylist_threshold: -1.0,
        opportunistic_graft_threshold: 0.0,
        ..PeerScoreThresholds::default()
    };
    (score, thresholds)
}

/// How a topic counts for a peer's score.
pub(super) fn invalid() -> TopicScoreParams {
    TopicScoreParams {
        topic_weight: 1.0,
        time_in_mesh_weight: 0.0,
        first_message_deliveries_weight: 0.0,
        mesh_message_deliveries_weight: 0.0,
        mesh_failure_penalty_weight: 0.0,
        invalid_message_deliveries_weight: -100.0,
        invalid_message_deliveries_decay: 0.99,
        ..TopicScoreParams::default()
    }
}

/// The first 20 bytes of the SHA-256 of the topic and the message: what went to a group can be published to everybody.
pub(super) fn message_id(message: &Message) -> MessageId {
    let hash =
        Sha256::new().chain_update(message.topic.as_str()).chain_update([0]).chain_update(&message.data).finalize();
    MessageId::new(&hash[..20])
}

/// How often gossip mends its mesh and tells what it has.
const HEARTBEAT: Duration = Duration::from_millis(700);
/// The most bytes of a frame of gossip: the largest result with what stands around it, and lists of what a peer has.
const MAX_FRAME: usize = MAX_RESULT + 16 * 1024;
/// A peer with a lesser score is banned.
pub(super) const LEAST_SCORE: f64 = -1.0;
