//! A peer that sends any bytes: libp2p without the rules of `quorate_node::transport`, with the credential of an
//! operator.

use std::{io, time::Duration};

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, StreamExt as _};
use libp2p_core::{Multiaddr, Transport as _, upgrade::Version};
use libp2p_gossipsub::{
    ConfigBuilder, IdentTopic, IdentityTransform, MessageAuthenticity, MessageId, ValidationMode,
    WhitelistSubscriptionFilter,
};
use libp2p_identity::{Keypair, PeerId};
use libp2p_request_response::{Codec, Config, Event, Message, ProtocolSupport};
use libp2p_swarm::{NetworkBehaviour, StreamProtocol, Swarm, SwarmEvent};
use quorate_evm::{
    KeyGroup,
    alloy_primitives::{Bytes, keccak256},
    digest::PeerBinding,
};
use quorate_network::wire;
use quorate_node::transport::{
    Credential,
    handshake::{Hello, Reply},
};
use tokio::time::{Instant, timeout};

use crate::rig::{Net, PATIENCE};

type Requests = libp2p_request_response::Behaviour<AsItIs>;
type Gossip = libp2p_gossipsub::Behaviour<IdentityTransform, WhitelistSubscriptionFilter>;

#[derive(NetworkBehaviour)]
#[behaviour(prelude = "libp2p_swarm::derive_prelude")]
struct Protocols {
    hello: Requests,
    /// A node that speaks no such protocol is banned. This one answers nothing.
    ask: Requests,
    gossip: Gossip,
    /// Writes what it is told to a further stream of gossip.
    stream: Requests,
}

/// A peer of one node.
pub(crate) struct RawPeer {
    swarm: Swarm<Protocols>,
    node: PeerId,
    topic: IdentTopic,
    welcome: bool,
    ended: bool,
}

/// The most bytes that it reads of anything.
const MOST: u64 = 1 << 20;

impl RawPeer {
    /// Joins a node with the credential of an operator, and waits until the node has admitted it and listens to its
    /// gossip.
    pub(crate) async fn join(net: &Net, operator: usize, node: usize) -> Self {
        let network = net.local.network();
        let prefix = format!("/quorate/{}/{}/{:#x}", wire::VERSION, network.chain_id, network.address);
        let key = Keypair::generate_ed25519();
        let peer = key.public().to_peer_id();
        let topic = IdentTopic::new(format!("{prefix}/signed"));
        let mut swarm = swarm(&key, &prefix, &topic);
        let address: Multiaddr = net.local.peer_address(node).unwrap().parse().unwrap();
        let name = address.iter().last().unwrap();
        let libp2p_core::multiaddr::Protocol::P2p(name) = name else { panic!("{address} has no peer id") };
        swarm.dial(address).unwrap();
        let mut this = Self { swarm, node: name, topic, welcome: false, ended: false };

        let own = peer.to_bytes();
        let operator_key = net.local.key(operator);
        let signature = operator_key.sign(&PeerBinding { network, peer: &own }.digest());
        let credential = Credential {
            operator_key: Bytes::copy_from_slice(&operator_key.member()[..KeyGroup::Bls12381G2.key_bytes()]),
            signature: Bytes::copy_from_slice(signature.as_bytes()),
        };
        this.until("a connection", |this| this.swarm.is_connected(&this.node)).await;
        let hello = framed(&Hello::new(&credential, Vec::new()).encode());
        this.swarm.behaviour_mut().hello.send_request(&name, hello);
        this.until("admission", |this| {
            let heard = this.swarm.behaviour().gossip.all_peers().any(|(_, topics)| !topics.is_empty());
            this.welcome && heard
        })
        .await;
        this
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.swarm.local_peer_id().to_string()
    }

    /// Publishes bytes as gossip.
    pub(crate) fn gossip(&mut self, bytes: Vec<u8>) {
        self.swarm.behaviour_mut().gossip.publish(self.topic.clone(), bytes).unwrap();
    }

    /// Sends the same message as gossip again and again, which gossip by itself would not.
    pub(crate) fn replay(&mut self, message: &[u8], times: usize) {
        // In Protocol Buffers: field 2 of a frame is a message; of a message, field 2 is its data, and field 4 its
        // topic.
        let message = [field(2, message), field(4, self.topic.hash().as_str().as_bytes())].concat();
        let frame = field(2, &message);
        let frame = [varint(frame.len()), frame].concat();
        let frames = frame.repeat(times);
        self.swarm.behaviour_mut().stream.send_request(&self.node, frames);
    }

    /// Lets it work for a time.
    pub(crate) async fn run(&mut self, time: Duration) {
        let work = async {
            while !self.ended {
                self.step().await;
            }
        };
        // It goes on until the time is over, which is not an error.
        let _ = timeout(time, work).await;
    }

    /// Whether the node has ended the connection.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Lets it work until the node has ended the connection.
    pub(crate) async fn until_ended(&mut self) {
        self.until("the end of the connection", |this| this.ended).await;
    }

    async fn until(&mut self, what: &str, is: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is(self) {
            assert!(Instant::now() < end, "not in time: {what}");
            // An event may not come, and the fact be there.
            let _ = timeout(Duration::from_millis(100), self.step()).await;
        }
    }

    async fn step(&mut self) {
        match self.swarm.select_next_some().await {
            SwarmEvent::ConnectionClosed { num_established: 0, .. } => self.ended = true,
            SwarmEvent::OutgoingConnectionError { error, .. } => panic!("no connection: {error}"),
            SwarmEvent::Behaviour(ProtocolsEvent::Hello(Event::Message { message, .. })) => match message {
                Message::Request { channel, .. } => {
                    // It admits everybody.
                    let welcome = framed(&Reply::Welcome(Vec::new()).encode());
                    let _ = self.swarm.behaviour_mut().hello.send_response(channel, welcome);
                }
                Message::Response { response, .. } => {
                    let reply = Reply::decode(&response);
                    assert!(matches!(reply, Some(Reply::Welcome(_))), "{reply:?}");
                    self.welcome = true;
                }
            },
            _ => {}
        }
    }
}

fn swarm(key: &Keypair, prefix: &str, topic: &IdentTopic) -> Swarm<Protocols> {
    let config = ConfigBuilder::default()
        .protocol_id_prefix(format!("{prefix}/gossip"))
        .validation_mode(ValidationMode::Anonymous)
        .message_id_fn(|message| MessageId::new(keccak256(&message.data).as_slice()))
        // Far more than a node takes.
        .max_transmit_size(1 << 22)
        .build()
        .unwrap();
    let known = WhitelistSubscriptionFilter([topic.hash()].into());
    let anonymous = MessageAuthenticity::Anonymous;
    let mut gossip =
        Gossip::new_with_subscription_filter_and_transform(anonymous, config, known, IdentityTransform).unwrap();
    gossip.subscribe(topic).unwrap();
    let requests = |name: &str, support| {
        let protocol = StreamProtocol::try_from_owned(format!("{prefix}/{name}")).unwrap();
        Requests::with_codec(AsItIs, [(protocol, support)], Config::default().with_request_timeout(PATIENCE))
    };
    let protocols = Protocols {
        hello: requests("hello", ProtocolSupport::Full),
        ask: requests("ask", ProtocolSupport::Full),
        gossip,
        stream: requests("gossip/1.1.0", ProtocolSupport::Outbound),
    };
    let tcp = libp2p_tcp::tokio::Transport::new(libp2p_tcp::Config::default());
    let noise = libp2p_noise::Config::new(key).unwrap();
    let secured = tcp.upgrade(Version::V1).authenticate(noise).multiplex(libp2p_yamux::Config::default()).boxed();
    let config = libp2p_swarm::Config::with_tokio_executor().with_idle_connection_timeout(Duration::from_secs(3_600));
    Swarm::new(secured, protocols, key.public().to_peer_id(), config)
}

/// A request is written byte by byte as it was given. What is read has its length before it.
#[derive(Clone)]
struct AsItIs;

impl Codec for AsItIs {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, bytes: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        io.write_all(&bytes).await?;
        io.flush().await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, bytes: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        io.write_all(&bytes).await?;
        io.close().await
    }
}

async fn read(io: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    io.read_exact(&mut length).await?;
    let length = u64::from(u32::from_be_bytes(length)).min(MOST);
    let mut bytes = Vec::new();
    io.take(length).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [vec![number << 3 | 2], varint(bytes.len()), bytes.to_vec()].concat()
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
