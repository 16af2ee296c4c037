//! Gossip behind a gate, which opens for a connection when its peer is admitted.
//!
//! Before that, the behaviour of gossip does not hear of the peer, so it sends nothing; and what the peer sends stays unread
//! in the stream, whose window is bounded, so nothing is lost for a peer that admitted this node sooner.
//!
//! The gate also reads the inbound stream in place of gossip's own handler, which would only close the stream if its bytes do
//! not decode. Here the peer is named for it.

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use futures::{Stream as _, future::Either};
use libp2p_core::{ConnectedPoint, Endpoint, Multiaddr, transport::PortUse};
use libp2p_gossipsub::{Behaviour as Gossipsub, Event, IdentityTransform};
use libp2p_identity::PeerId;
use libp2p_swarm::{
    ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm, NetworkBehaviour,
    NotifyHandler, SubstreamProtocol, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
    behaviour::ConnectionEstablished,
    handler::{ConnectionEvent, InboundUpgradeSend},
};

use super::{
    super::limits::{Bucket, Rate},
    topics::Topics,
};

/// Gossip without a gate.
pub(super) type Gossip = Gossipsub<IdentityTransform, Topics>;

type Inner = THandler<Gossip>;
type Inbound = <<Inner as ConnectionHandler>::InboundProtocol as InboundUpgradeSend>::Output;

/// Gossip behind its gate.
pub(super) struct Gate {
    pub(super) gossip: Gossip,
    rate: Rate,
    /// Connections, by peer. Of those that are not open, gossip does not know.
    peers: HashMap<PeerId, Vec<Connection>>,
    events: VecDeque<ToSwarm<GateEvent, ToHandler>>,
    waker: Option<Waker>,
}

struct Connection {
    id: ConnectionId,
    point: ConnectedPoint,
    open: bool,
}

/// What comes out.
#[derive(Debug)]
pub(super) enum GateEvent {
    /// Gossip's own.
    Gossip(Event),
    /// A peer's stream of gossip does not decode, or is opened again and again.
    Malformed(PeerId, String),
    /// A peer sends more messages than it may.
    Flood(PeerId),
}

impl Gate {
    pub(super) fn new(gossip: Gossip, rate: Rate) -> Self {
        Self { gossip, rate, peers: HashMap::new(), events: VecDeque::new(), waker: None }
    }

    /// Opens the connections that a peer has.
    pub(super) fn open(&mut self, peer: PeerId) {
        let Some(connections) = self.peers.get_mut(&peer) else { return };
        for at in 0..connections.len() {
            if connections[at].open {
                continue;
            }
            let other_established = connections.iter().filter(|connection| connection.open).count();
            connections[at].open = true;
            let Connection { id, point, .. } = &connections[at];
            self.events.push_back(ToSwarm::NotifyHandler {
                peer_id: peer,
                handler: NotifyHandler::One(*id),
                event: ToHandler::Open,
            });
            self.gossip.on_swarm_event(FromSwarm::ConnectionEstablished(ConnectionEstablished {
                peer_id: peer,
                connection_id: *id,
                endpoint: point,
                failed_addresses: &[],
                other_established,
            }));
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn wrap(&self, inner: Inner) -> GateHandler {
        GateHandler {
            inner,
            open: false,
            inbound: None,
            streams: 0,
            bucket: Bucket::new(self.rate, Instant::now()),
            fault: None,
            waker: None,
        }
    }
}

impl NetworkBehaviour for Gate {
    type ConnectionHandler = GateHandler;
    type ToSwarm = GateEvent;

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<GateHandler, ConnectionDenied> {
        let inner = self.gossip.handle_established_inbound_connection(id, peer, local, remote)?;
        Ok(self.wrap(inner))
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        role: Endpoint,
        port: PortUse,
    ) -> Result<GateHandler, ConnectionDenied> {
        let inner = self.gossip.handle_established_outbound_connection(id, peer, address, role, port)?;
        Ok(self.wrap(inner))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(ConnectionEstablished { peer_id, connection_id, endpoint, .. }) => {
                let connection = Connection { id: connection_id, point: endpoint.clone(), open: false };
                self.peers.entry(peer_id).or_default().push(connection);
            }
            FromSwarm::ConnectionClosed(closed) => {
                if let Some(connections) = self.peers.get_mut(&closed.peer_id) {
                    connections.retain(|connection| connection.id != closed.connection_id);
                    if connections.is_empty() {
                        self.peers.remove(&closed.peer_id);
                    }
                }
                // Gossip made the connection's handler, so it must hear of its end even if the gate never opened.
                self.gossip.on_swarm_event(FromSwarm::ConnectionClosed(closed));
            }
            other => self.gossip.on_swarm_event(other),
        }
    }

    fn on_connection_handler_event(&mut self, peer: PeerId, id: ConnectionId, event: THandlerOutEvent<Self>) {
        match event {
            FromHandler::Gossip(event) => self.gossip.on_connection_handler_event(peer, id, event),
            FromHandler::Malformed(why) => {
                self.events.push_back(ToSwarm::GenerateEvent(GateEvent::Malformed(peer, why)));
            }
            FromHandler::Flood => self.events.push_back(ToSwarm::GenerateEvent(GateEvent::Flood(peer))),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ToSwarm<GateEvent, THandlerInEvent<Self>>> {
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready(event);
        }
        self.waker = Some(cx.waker().clone());
        self.gossip.poll(cx).map(|event| event.map_out(GateEvent::Gossip).map_in(ToHandler::Gossip))
    }
}

/// What a handler is told.
#[derive(Debug)]
pub(super) enum ToHandler {
    Gossip(THandlerInEvent<Gossip>),
    Open,
}

/// What a handler tells.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all are the large one")]
pub(super) enum FromHandler {
    Gossip(THandlerOutEvent<Gossip>),
    Malformed(String),
    Flood,
}

/// The gate of one connection.
pub(super) struct GateHandler {
    /// Sends. It is not polled before the gate opens, and never gets an inbound stream.
    inner: Inner,
    open: bool,
    /// What the peer sends.
    inbound: Option<Inbound>,
    /// How many inbound streams there were.
    streams: u32,
    bucket: Bucket,
    fault: Option<FromHandler>,
    waker: Option<Waker>,
}

impl GateHandler {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl ConnectionHandler for GateHandler {
    type FromBehaviour = ToHandler;
    type ToBehaviour = FromHandler;
    type InboundProtocol = <Inner as ConnectionHandler>::InboundProtocol;
    type OutboundProtocol = <Inner as ConnectionHandler>::OutboundProtocol;
    type InboundOpenInfo = <Inner as ConnectionHandler>::InboundOpenInfo;
    type OutboundOpenInfo = <Inner as ConnectionHandler>::OutboundOpenInfo;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol, Self::InboundOpenInfo> {
        self.inner.listen_protocol()
    }

    /// The node itself ends connections: strangers' by their time, peers' never for lack of gossip.
    fn connection_keep_alive(&self) -> bool {
        true
    }

    fn on_behaviour_event(&mut self, event: ToHandler) {
        match event {
            ToHandler::Gossip(event) => self.inner.on_behaviour_event(event),
            ToHandler::Open => self.open = true,
        }
        self.wake();
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<
            '_,
            Self::InboundProtocol,
            Self::OutboundProtocol,
            Self::InboundOpenInfo,
            Self::OutboundOpenInfo,
        >,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(negotiated) => {
                self.streams += 1;
                if self.streams > MAX_STREAMS {
                    self.fault = Some(FromHandler::Malformed(format!("{} streams of gossip", self.streams)));
                } else {
                    self.inbound = Some(negotiated.protocol);
                }
            }
            other => self.inner.on_connection_event(other),
        }
        self.wake();
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, Self::OutboundOpenInfo, FromHandler>> {
        self.waker = Some(cx.waker().clone());
        if let Some(fault) = self.fault.take() {
            self.inbound = None;
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(fault));
        }
        if !self.open {
            return Poll::Pending;
        }
        if let Poll::Ready(event) = self.inner.poll(cx) {
            return Poll::Ready(match event {
                ConnectionHandlerEvent::NotifyBehaviour(event) => {
                    ConnectionHandlerEvent::NotifyBehaviour(FromHandler::Gossip(event))
                }
                ConnectionHandlerEvent::OutboundSubstreamRequest { protocol } => {
                    ConnectionHandlerEvent::OutboundSubstreamRequest { protocol }
                }
                ConnectionHandlerEvent::ReportRemoteProtocols(support) => {
                    ConnectionHandlerEvent::ReportRemoteProtocols(support)
                }
                _ => return Poll::Pending,
            });
        }
        let Some(Either::Left((framed, _))) = self.inbound.as_mut() else {
            return Poll::Pending;
        };
        let frame = std::task::ready!(Pin::new(framed).poll_next(cx));
        let event = match frame {
            Some(Ok(_)) if !self.bucket.take(1, Instant::now()) => FromHandler::Flood,
            Some(Ok(event)) => return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(FromHandler::Gossip(event))),
            Some(Err(error)) => match std::io::Error::from(error) {
                error if error.kind() == std::io::ErrorKind::InvalidData => FromHandler::Malformed(error.to_string()),
                // The connection broke.
                _ => {
                    self.inbound = None;
                    return Poll::Pending;
                }
            },
            None => {
                self.inbound = None;
                return Poll::Pending;
            }
        };
        self.inbound = None;
        Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(event))
    }
}

/// A peer opens one stream of gossip on a connection, and another one if the first breaks.
const MAX_STREAMS: u32 = 4;
