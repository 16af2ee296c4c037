//! A mesh of peers over libp2p: gossip for signed messages, requests for what was missed.
//!
//! The driver is one task. It owns the swarm, the peers and their bans, and takes the calls of the handle.
//!
//! `<prefix>` is `/quorate/<wire version>/<chain id>/<contract in lower-case hexadecimal>`.
//!
//! | name | what it is |
//! |---|---|
//! | `<prefix>/signed` | the topic of signed messages for everybody |
//! | `<prefix>/signed/<epoch>/<level>/<number>` | that of a group (level 0) or a branch |
//! | `<prefix>/gossip/1.1.0` and other versions | gossipsub, without authors, sequence numbers and signatures around messages |
//! | `<prefix>/hello` | a credential and up to 4 addresses; the reply tells of up to 24 admitted peers |
//! | `<prefix>/ask` | a request; the reply is an answer |
//!
//! A message's id is the first 20 bytes of the SHA-256 of the topic's name, a zero byte and the message's bytes. On `hello` and `ask`,
//! four bytes of length stand first, the most significant first. `hello` and its reply are postcard.

mod lobby;
mod stream;
mod codec;
mod topics;
mod gate;
mod book;
mod peer;
mod protocols;
mod driver;
#[cfg(test)]
mod hostile;

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use quorate_host::exit::innermost;
use tokio::sync::{mpsc, watch};

use self::{book::Book, driver::Driver, stream::Meters};
use super::{
    admission::Terms,
    handle::{CALLS, Transport, TransportError},
    inbox::{self, Tally},
};

/// Where a node listens, and whom it dials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshSettings {
    /// Multiaddresses of TCP to listen at, as `/ip4/0.0.0.0/tcp/9600`. Port 0 takes a free one. Without one the node only
    /// dials.
    pub listen: Vec<String>,
    /// Multiaddresses at which others reach the node, where those differ from what it listens at: behind a router, or in a
    /// container. If there are none, the addresses that it listens at.
    pub announce: Vec<String>,
    /// Peers to dial, and to dial again when they are lost: multiaddresses that end in `/p2p/` and a peer id. Name several:
    /// with one alone, a network comes together only while that one is there.
    pub bootstrap: Vec<String>,
    /// Whether peers are on this machine or in a private network: then the node also dials addresses that are not public when
    /// peers tell of them. It does anyway if it listens at loopback alone.
    pub private_network: bool,
}

/// Starts a node of the mesh, inside a runtime of tokio.
///
/// # Errors
/// [`TransportError`] if an address is wrong or in use, or the credential too long.
pub fn start(terms: Terms, settings: &MeshSettings) -> Result<Transport, TransportError> {
    terms.credential.check()?;
    let read =
        |field, texts: &[String]| texts.iter().map(|text| book::address(field, text)).collect::<Result<Vec<_>, _>>();
    let (listen, announce) = (read("listen", &settings.listen)?, read("external", &settings.announce)?);
    let own = terms.identity.peer_id().inner();
    let bootstrap = settings.bootstrap.iter().map(|text| book::bootstrap(text)).collect::<Result<Vec<_>, _>>()?;
    // One list of bootstrap peers may serve all nodes, those in it too.
    let bootstrap: Vec<_> = bootstrap.into_iter().filter(|(peer, _)| *peer != own).collect();
    let loopback = |address| lobby::ip(address).is_some_and(|ip| ip.is_loopback());
    let private = settings.private_network || (!listen.is_empty() && listen.iter().all(loopback));
    let pauses = (terms.limits.redial_first, terms.limits.redial_most);
    let book = Book::new(bootstrap, private, pauses, Instant::now());

    let meters = Meters::default();
    let mut swarm = protocols::swarm(&terms, meters.clone())?;
    for (address, text) in listen.into_iter().zip(&settings.listen) {
        swarm
            .listen_on(address)
            .map_err(|why| TransportError::Listen { address: text.clone(), why: innermost(&why) })?;
    }
    let tally = Arc::new(Tally::default());
    let (outbox, inbox) = inbox::queue(&terms.limits, tally.clone());
    let (calls, called) = mpsc::channel(CALLS);
    let (commands, commanded) = mpsc::unbounded_channel();
    let (reports, peers) = watch::channel(Vec::new());
    let (listening, addresses) = watch::channel(Vec::new());
    let (audiences, heard) = watch::channel(BTreeSet::new());
    let peer_id = terms.identity.peer_id();
    let driver = Driver::new(terms, swarm, meters, outbox, tally.clone(), book, announce, heard, reports, listening);
    let task = tokio::spawn(driver.run(called, commanded));
    Ok(Transport { peer_id, addresses, calls, commands, audiences, inbox, peers, tally, task })
}
