//! Where peers listen, and when they are dialled next.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use libp2p_core::{Multiaddr, multiaddr::Protocol};
use libp2p_identity::PeerId;

use quorate_evm::alloy_primitives::Address;

use super::{
    super::{
        TransportError,
        handshake::{MAX_ADDRESS, MAX_ADDRESSES},
        origin::is_public,
    },
    lobby::ip,
};

/// The addresses of bootstrap peers, and of peers that admitted peers told of. Bounded.
///
/// What a peer says of itself and what others say of it are kept beside each other, so that nobody makes the node forget where
/// another one is. Its own word is dialled first.
#[derive(Debug)]
pub(super) struct Book {
    entries: HashMap<PeerId, Entry>,
    /// Whether addresses that are not public are dialled on a peer's word.
    private: bool,
    first: Duration,
    most: Duration,
}

#[derive(Debug)]
struct Entry {
    /// From the settings.
    bootstrap: Vec<Multiaddr>,
    /// What the peer said of itself.
    own: Vec<Multiaddr>,
    /// What others said of it, by operator.
    others: Vec<(Address, Vec<Multiaddr>)>,
    failures: u32,
    due: Instant,
    dialling: bool,
}

/// An address to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) address: Multiaddr,
    /// Whether a name may stand for an address that is not public.
    pub(super) anywhere: bool,
}

impl Entry {
    fn new(now: Instant) -> Self {
        Self { bootstrap: Vec::new(), own: Vec::new(), others: Vec::new(), failures: 0, due: now, dialling: false }
    }

    fn is_bootstrap(&self) -> bool {
        !self.bootstrap.is_empty()
    }

    /// Where to dial: the most trusted first.
    fn targets(&self, private: bool) -> Vec<Target> {
        let others = self.others.iter().flat_map(|(_, addresses)| addresses);
        let told = self.own.iter().chain(others).map(|address| (address, private));
        let mut targets: Vec<Target> = Vec::new();
        for (address, anywhere) in self.bootstrap.iter().map(|address| (address, true)).chain(told) {
            if targets.len() < TARGETS && targets.iter().all(|target| target.address != *address) {
                targets.push(Target { address: address.clone(), anywhere });
            }
        }
        targets
    }
}

impl Book {
    pub(super) fn new(
        bootstrap: Vec<(PeerId, Multiaddr)>,
        private: bool,
        (first, most): (Duration, Duration),
        now: Instant,
    ) -> Self {
        let mut entries: HashMap<PeerId, Entry> = HashMap::new();
        for (peer, address) in bootstrap {
            entries.entry(peer).or_insert_with(|| Entry::new(now)).bootstrap.push(address);
        }
        Self { entries, private, first, most }
    }

    /// Whether a peer is one of the settings.
    pub(super) fn is_bootstrap(&self, peer: &PeerId) -> bool {
        self.entries.get(peer).is_some_and(Entry::is_bootstrap)
    }

    /// An admitted peer says where it listens. Of addresses that are not public only those are kept at which it is connected:
    /// else it could have the node knock at machines of its own network.
    pub(super) fn told_by_itself(&mut self, peer: PeerId, mut addresses: Vec<Multiaddr>, at: &[IpAddr], now: Instant) {
        addresses.retain(|address| self.private || ip(address).is_none_or(|ip| is_public(ip) || at.contains(&ip)));
        if !addresses.is_empty()
            && let Some(entry) = self.entry(peer, true, now)
        {
            entry.own = addresses;
        }
    }

    /// A peer of an operator says where another one listens. Of each operator the newest word is kept.
    pub(super) fn told_by(&mut self, teller: Address, peer: PeerId, mut addresses: Vec<Multiaddr>, now: Instant) {
        addresses.retain(|address| self.private || ip(address).is_none_or(is_public));
        if addresses.is_empty() {
            return;
        }
        let Some(entry) = self.entry(peer, false, now) else { return };
        let held = entry.others.iter().position(|(other, _)| *other == teller);
        match held {
            None if entry.others.len() < TELLERS => entry.others.push((teller, addresses)),
            // By chance, so that nobody holds these places.
            at => entry.others[at.unwrap_or_else(|| rand::random_range(0..TELLERS))] = (teller, addresses),
        }
    }

    /// The entry of a peer, a new one if there is a place for it. Whoever speaks for itself takes that of a peer which is only
    /// hearsay.
    fn entry(&mut self, peer: PeerId, own: bool, now: Instant) -> Option<&mut Entry> {
        if !self.entries.contains_key(&peer) && self.entries.len() >= MOST {
            let idle = self.entries.iter().filter(|(_, entry)| !entry.is_bootstrap() && !entry.dialling);
            let loses = |entry: &Entry| entry.failures > 0 || (own && entry.own.is_empty());
            let worst = idle.filter(|(_, entry)| loses(entry) && (own || entry.own.is_empty()));
            // One that failed most makes room.
            let (worst, _) = worst.max_by_key(|(_, entry)| (entry.own.is_empty(), entry.failures))?;
            let worst = *worst;
            self.entries.remove(&worst);
        }
        Some(self.entries.entry(peer).or_insert_with(|| Entry::new(now)))
    }

    /// Peers to dial now: bootstrap peers, and others if more are wanted, in a random order.
    pub(super) fn due(
        &mut self,
        now: Instant,
        wanted: usize,
        skip: impl Fn(&PeerId) -> bool,
    ) -> Vec<(PeerId, Vec<Target>)> {
        let private = self.private;
        let dialling = self.entries.values().filter(|entry| entry.dialling && !entry.is_bootstrap()).count();
        let mut room = wanted.saturating_sub(dialling).min(DIALS);
        let mut due: Vec<_> = self
            .entries
            .iter_mut()
            .filter(|(peer, entry)| !entry.dialling && entry.due <= now && !skip(peer))
            .map(|entry| (rand::random::<u64>(), entry))
            .collect();
        due.sort_unstable_by_key(|(order, _)| *order);
        let mut chosen = Vec::new();
        for (_, (peer, entry)) in due {
            if !entry.is_bootstrap() {
                if room == 0 {
                    continue;
                }
                room -= 1;
            }
            entry.dialling = true;
            chosen.push((*peer, entry.targets(private)));
        }
        chosen
    }

    /// A connection is there. Whether it lasts is not known yet.
    pub(super) fn connected(&mut self, peer: &PeerId) {
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.dialling = false;
        }
    }

    /// The peer was admitted: the next loss is the first one.
    pub(super) fn succeeded(&mut self, peer: &PeerId) {
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.failures = 0;
        }
    }

    /// A dial failed, or a connection was lost. A peer that fails too often is forgotten, unless it is a bootstrap peer.
    pub(super) fn failed(&mut self, peer: &PeerId, now: Instant) {
        self.put_off(peer, now, Duration::ZERO);
    }

    /// The same, with a least time until the next attempt.
    pub(super) fn put_off(&mut self, peer: &PeerId, now: Instant, least: Duration) {
        let Some(entry) = self.entries.get_mut(peer) else { return };
        entry.dialling = false;
        entry.failures = entry.failures.saturating_add(1);
        if entry.failures > FAILURES && !entry.is_bootstrap() {
            self.entries.remove(peer);
            return;
        }
        let wait = self.first.saturating_mul(1 << (entry.failures - 1).min(16)).min(self.most);
        // Between half of it and all of it, so that peers that lost each other do not dial in step for ever.
        entry.due = now + wait.mul_f64(0.5 + rand::random::<f64>() / 2.0).max(least);
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

/// A bootstrap peer's address, with its name taken off the end.
pub(super) fn bootstrap(text: &str) -> Result<(PeerId, Multiaddr), TransportError> {
    let wrong = |why: String| TransportError::Address { field: "bootstrap", found: text.to_owned(), why };
    let mut address: Multiaddr = text.parse().map_err(|why| wrong(format!("{why}; {EXAMPLE}")))?;
    match address.pop() {
        Some(Protocol::P2p(peer)) if dialable(&address) => Ok((peer, address)),
        _ => Err(wrong(EXAMPLE.to_owned())),
    }
}

/// An address to listen at or to announce.
pub(super) fn address(field: &'static str, text: &str) -> Result<Multiaddr, TransportError> {
    let wrong = |why: String| TransportError::Address { field, found: text.to_owned(), why };
    let address: Multiaddr =
        text.parse().map_err(|why| wrong(format!("{why}; write it as in /ip4/0.0.0.0/tcp/9600")))?;
    if dialable(&address) { Ok(address) } else { Err(wrong("write it as in /ip4/0.0.0.0/tcp/9600".to_owned())) }
}

/// Whether an address is an IP address or a name, and a port of TCP, and nothing else.
pub(super) fn dialable(address: &Multiaddr) -> bool {
    let parts: Vec<_> = address.iter().collect();
    matches!(
        parts[..],
        [
            Protocol::Ip4(_) | Protocol::Ip6(_) | Protocol::Dns(_) | Protocol::Dns4(_) | Protocol::Dns6(_),
            Protocol::Tcp(_)
        ]
    )
}

/// The addresses that a peer announced, of which those that cannot be dialled are left out.
pub(super) fn announced(addresses: &[Vec<u8>]) -> Vec<Multiaddr> {
    let short = addresses.iter().take(MAX_ADDRESSES).filter(|bytes| bytes.len() <= MAX_ADDRESS);
    short.filter_map(|bytes| Multiaddr::try_from(bytes.clone()).ok()).filter(dialable).filter(not_nowhere).collect()
}

/// The name and port of an address that has no IP address.
pub(super) fn name(address: &Multiaddr) -> Option<(String, u16)> {
    let mut parts = address.iter();
    match (parts.next(), parts.next()) {
        (Some(Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name)), Some(Protocol::Tcp(port))) => {
            Some((name.into_owned(), port))
        }
        _ => None,
    }
}

fn not_nowhere(address: &Multiaddr) -> bool {
    let port = address.iter().any(|part| matches!(part, Protocol::Tcp(0)));
    !port && !ip(address).is_some_and(|ip| ip.is_unspecified() || ip.is_multicast())
}

const EXAMPLE: &str =
    "write it as in /ip4/192.0.2.1/tcp/9600/p2p/12D3KooW…, or /dns4/node.example/tcp/9600/p2p/12D3KooW…";
/// The most peers whose addresses are kept.
const MOST: usize = 512;
/// Of how many operators the word on another one's peer is kept.
const TELLERS: usize = 4;
/// The most addresses of a peer that are dialled at a time.
const TARGETS: usize = 12;
/// Dials at once, beside those of bootstrap peers.
const DIALS: usize = 4;
/// After so many failures in a row a peer is forgotten.
const FAILURES: u32 = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn book(bootstrap: Vec<(PeerId, Multiaddr)>, now: Instant) -> Book {
        Book::new(bootstrap, true, (Duration::from_secs(1), Duration::from_secs(8)), now)
    }

    fn somewhere() -> Multiaddr {
        "/ip4/127.0.0.1/tcp/1".parse().unwrap()
    }

    #[test]
    fn bootstrap_peers_are_dialled_for_ever_and_others_are_forgotten() {
        let (one, other, now) = (PeerId::random(), PeerId::random(), Instant::now());
        let mut book = book(vec![(one, somewhere())], now);
        book.told_by(Address::ZERO, other, vec![somewhere()], now);
        assert_eq!(book.due(now, 0, |_| false).len(), 1, "no others are wanted");
        let mut later = now;
        for failure in 0..FAILURES + 5 {
            book.failed(&one, later);
            book.failed(&other, later);
            assert!(book.due(later, 9, |_| false).is_empty());
            later += Duration::from_secs(8);
            assert_eq!(book.due(later, 9, |_| false).len(), if failure < FAILURES { 2 } else { 1 }, "{failure}");
        }
        assert_eq!(book.len(), 1);
    }

    #[test]
    fn a_peer_that_is_dialled_is_not_due() {
        let (one, now) = (PeerId::random(), Instant::now());
        let mut book = book(vec![(one, somewhere())], now);
        assert_eq!(book.due(now, 9, |_| true).len(), 0, "skipped");
        assert_eq!(book.due(now, 9, |_| false).len(), 1);
        assert_eq!(book.due(now, 9, |_| false).len(), 0);
        book.connected(&one);
        assert_eq!(book.due(now, 9, |_| false).len(), 1);
    }

    #[test]
    fn what_peers_tell_is_bounded() {
        let now = Instant::now();
        let mut book = book(Vec::new(), now);
        let peers: Vec<_> = (0..MOST).map(|_| PeerId::random()).collect();
        for peer in &peers {
            book.told_by(Address::ZERO, *peer, vec![somewhere()], now);
        }
        book.told_by(Address::ZERO, PeerId::random(), vec![somewhere()], now);
        assert_eq!(book.len(), MOST);
        book.failed(&peers[0], now);
        let new = PeerId::random();
        book.told_by(Address::ZERO, new, vec![somewhere()], now);
        assert!(book.len() == MOST && book.entries.contains_key(&new) && !book.entries.contains_key(&peers[0]));
    }

    fn at(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    fn addresses(book: &Book, peer: &PeerId) -> Vec<Multiaddr> {
        let targets = book.entries.get(peer).map(|entry| entry.targets(false)).unwrap_or_default();
        targets.into_iter().map(|target| target.address).collect()
    }

    #[test]
    fn nobody_makes_the_node_forget_where_another_peer_is() {
        let (honest, now) = (PeerId::random(), Instant::now());
        let mut book = book(Vec::new(), now);
        book.private = false;
        let (own, lie) = (at("/ip4/1.1.1.1/tcp/9600"), at("/ip4/9.9.9.9/tcp/1"));
        book.told_by_itself(honest, vec![own.clone()], &[], now);
        for liar in 1..200 {
            book.told_by(Address::repeat_byte(liar), honest, vec![lie.clone()], now);
            assert_eq!(addresses(&book, &honest), [own.clone(), lie.clone()], "its own word first, and both");
        }
        assert!(book.entries[&honest].others.len() == TELLERS);
        // One operator's word takes the place of its own alone.
        let unknown = PeerId::random();
        book.told_by(Address::repeat_byte(1), unknown, vec![own.clone()], now);
        book.told_by(Address::repeat_byte(2), unknown, vec![lie.clone()], now);
        book.told_by(Address::repeat_byte(2), unknown, vec![at("/ip4/9.9.9.9/tcp/2")], now);
        assert_eq!(addresses(&book, &unknown), [own, at("/ip4/9.9.9.9/tcp/2")]);
    }

    #[test]
    fn on_anothers_word_the_node_knocks_at_no_machine_inside() {
        let (peer, now) = (PeerId::random(), Instant::now());
        let mut book = book(Vec::new(), now);
        book.private = false;
        let inside =
            ["/ip4/127.0.0.1/tcp/22", "/ip4/10.0.0.1/tcp/22", "/ip4/169.254.169.254/tcp/80", "/ip6/::1/tcp/22"];
        book.told_by(Address::ZERO, peer, inside.map(at).to_vec(), now);
        assert_eq!(book.len(), 0);
        // Nor on its own, but where it is.
        let home = at("/ip4/10.0.0.7/tcp/9600");
        book.told_by_itself(
            peer,
            [&inside.map(at)[..], std::slice::from_ref(&home)].concat(),
            &[[10, 0, 0, 7].into()],
            now,
        );
        assert_eq!(addresses(&book, &peer), [home]);
        // What a name stands for is looked at when it is known.
        let (named, name) = (PeerId::random(), at("/dns4/node.example/tcp/9600"));
        book.told_by(Address::ZERO, named, vec![name.clone()], now);
        assert_eq!(book.entries[&named].targets(false), [Target { address: name, anywhere: false }]);
    }

    #[test]
    fn whoever_speaks_for_itself_has_a_place_before_hearsay() {
        let now = Instant::now();
        let mut book = book(Vec::new(), now);
        for _ in 0..MOST {
            book.told_by(Address::ZERO, PeerId::random(), vec![somewhere()], now);
        }
        let known = PeerId::random();
        book.told_by_itself(known, vec![somewhere()], &[], now);
        assert!(book.len() == MOST && book.entries.contains_key(&known));
        book.failed(&known, now);
        book.told_by(Address::ZERO, PeerId::random(), vec![somewhere()], now);
        assert!(book.entries.contains_key(&known));
    }

    #[test]
    fn only_tcp_addresses_are_taken() {
        let id = PeerId::random();
        for good in ["/ip4/127.0.0.1/tcp/9600", "/ip6/::1/tcp/1", "/dns4/node.example/tcp/9600", "/dns/a/tcp/1"] {
            assert_eq!(bootstrap(&format!("{good}/p2p/{id}")).unwrap(), (id, good.parse().unwrap()));
            assert!(address("listen", good).is_ok());
        }
        for bad in ["", "/ip4/127.0.0.1/udp/1/quic-v1", "127.0.0.1:9600", "/ip4/127.0.0.1", "/ip4/127.0.0.1/tcp/1/ws"] {
            assert!(bootstrap(&format!("{bad}/p2p/{id}")).is_err() && address("listen", bad).is_err(), "{bad}");
        }
        assert!(bootstrap("/ip4/127.0.0.1/tcp/9600").unwrap_err().to_string().contains("12D3KooW"));
        let bytes = |text: &str| text.parse::<Multiaddr>().unwrap().to_vec();
        let nowhere = ["/ip4/0.0.0.0/tcp/1", "/ip4/1.1.1.1/tcp/0", "/ip4/224.0.0.1/tcp/1"].map(bytes);
        assert!(announced(&nowhere).is_empty());
        assert_eq!(announced(&[bytes("/ip4/127.0.0.1/tcp/1"), vec![9; 3]]), [somewhere()]);
        assert_eq!(name(&"/dns4/a.example/tcp/7".parse().unwrap()), Some(("a.example".to_owned(), 7)));
    }

    proptest! {
        #[test]
        fn random_addresses_never_panic(addresses in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..40), 0..6,
        )) {
            prop_assert!(announced(&addresses).iter().all(dialable));
        }
    }
}
