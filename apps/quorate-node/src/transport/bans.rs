//! Who is kept out, and until when.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    net::IpAddr,
    time::Instant,
};

use quorate_evm::alloy_primitives::Address;

use super::{
    identity::PeerId,
    origin::{may_be_shared, network},
};

/// Bans by peer, by operator and, for strangers, by address. Each table is bounded: where it is full, the ban that ends
/// first makes room. Strangers cannot push out the ban of an operator, because their addresses have a table of their
/// own.
#[derive(Debug, Default)]
pub(super) struct Bans {
    operators: Table<Address>,
    peers: Table<PeerId>,
    strangers: Table<PeerId>,
    addresses: Table<IpAddr>,
}

impl Bans {
    /// Bans somebody who was admitted.
    pub(super) fn ban(&mut self, peer: PeerId, operator: Address, until: Instant) {
        self.peers.insert(peer, until);
        self.operators.insert(operator, until);
    }

    /// Bans somebody who was not. An address that others may share is left alone: one stranger would keep out all who come
    /// through the same proxy. Says by which address the stranger is banned.
    pub(super) fn ban_stranger(
        &mut self,
        peer: Option<PeerId>,
        address: Option<IpAddr>,
        until: Instant,
    ) -> Option<IpAddr> {
        if let Some(peer) = peer {
            self.strangers.insert(peer, until);
        }
        let address = address.filter(|address| !may_be_shared(*address));
        if let Some(address) = address {
            self.addresses.insert(network(address), until);
        }
        address
    }

    /// Whether connections of a peer are refused.
    pub(super) fn has_peer(&self, peer: &PeerId, now: Instant) -> bool {
        self.peers.has(peer, now) || self.strangers.has(peer, now)
    }

    /// Whether peers of an operator are refused.
    pub(super) fn has_operator(&self, operator: &Address, now: Instant) -> bool {
        self.operators.has(operator, now)
    }

    /// Whether strangers from an address are refused.
    pub(super) fn has_address(&self, address: IpAddr, now: Instant) -> bool {
        self.addresses.has(&network(address), now)
    }

    /// Forgets bans that are over.
    pub(super) fn clean(&mut self, now: Instant) {
        self.operators.clean(now);
        self.peers.clean(now);
        self.strangers.clean(now);
        self.addresses.clean(now);
    }
}

/// Somebody whom a transport refuses for some time, as [`Transport::bans`](super::Transport::bans) shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BanReport {
    /// The peer's name; none for a stranger who gave none.
    pub peer: Option<PeerId>,
    /// The peer's operator, whose other peers are refused too; none for somebody who was never admitted.
    pub operator: Option<Address>,
    /// From where strangers are refused too.
    pub address: Option<IpAddr>,
    /// Why, in words: at most 200 bytes. Parts of it may come from outside.
    pub reason: String,
    /// When the ban ends.
    pub until: Instant,
}

/// The newest bans, for people: at most [`MOST_SHOWN`] of peers that were admitted, and as many of strangers, so that
/// strangers push out nobody else.
#[derive(Debug, Default)]
pub(super) struct ShownBans {
    admitted: VecDeque<BanReport>,
    strangers: VecDeque<BanReport>,
}

impl ShownBans {
    /// Notes a ban. It takes the place of the one before of the same peer, or of the same address.
    pub(super) fn note(&mut self, mut report: BanReport) {
        report.reason.truncate(report.reason.floor_char_boundary(MOST_REASON));
        let list = if report.operator.is_some() { &mut self.admitted } else { &mut self.strangers };
        list.retain(|held| match report.peer {
            Some(_) => held.peer != report.peer,
            None => held.peer.is_some() || held.address != report.address,
        });
        if list.len() >= MOST_SHOWN {
            list.pop_front();
        }
        list.push_back(report);
    }

    /// The bans that have not ended: first those of peers that were admitted, then those of strangers, the newest first.
    pub(super) fn list(&mut self, now: Instant) -> Vec<BanReport> {
        self.admitted.retain(|ban| ban.until > now);
        self.strangers.retain(|ban| ban.until > now);
        self.admitted.iter().rev().chain(self.strangers.iter().rev()).cloned().collect()
    }
}

/// Bans of each kind that are shown.
const MOST_SHOWN: usize = 256;
/// Bytes of a reason.
const MOST_REASON: usize = 200;

const MOST: usize = 4096;

#[derive(Debug)]
struct Table<K>(HashMap<K, Instant>);

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq + Copy> Table<K> {
    fn insert(&mut self, key: K, until: Instant) {
        if self.0.len() >= MOST
            && !self.0.contains_key(&key)
            && let Some(first) = self.0.iter().min_by_key(|(_, until)| **until).map(|(key, _)| *key)
        {
            self.0.remove(&first);
        }
        let end = self.0.entry(key).or_insert(until);
        *end = (*end).max(until);
    }

    fn has(&self, key: &K, now: Instant) -> bool {
        self.0.get(key).is_some_and(|until| *until > now)
    }

    fn clean(&mut self, now: Instant) {
        self.0.retain(|_, until| *until > now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_ban_ends_and_a_shorter_one_does_not_replace_it() {
        let now = Instant::now();
        let mut bans = Bans::default();
        let operator = Address::repeat_byte(1);
        let peer = super::super::identity::Identity::random().peer_id();
        bans.ban(peer, operator, now + Duration::from_secs(10));
        bans.ban(peer, operator, now + Duration::from_secs(5));
        let late = now + Duration::from_secs(9);
        assert!(bans.has_peer(&peer, late) && bans.has_operator(&operator, late));
        let over = now + Duration::from_secs(10);
        assert!(!bans.has_peer(&peer, over) && !bans.has_operator(&operator, over));
    }

    #[test]
    fn strangers_fill_their_own_table() {
        let now = Instant::now();
        let mut bans = Bans::default();
        let peer = super::super::identity::Identity::random().peer_id();
        bans.ban(peer, Address::ZERO, now + Duration::from_secs(1));
        for number in 0..2 * MOST as u32 {
            let until = now + Duration::from_secs(60) + Duration::from_millis(number.into());
            bans.ban_stranger(None, Some(IpAddr::from((0x0101_0101 + number).to_be_bytes())), until);
        }
        assert_eq!(bans.addresses.0.len(), MOST);
        assert!(bans.has_peer(&peer, now));
        bans.clean(now + Duration::from_secs(3600));
        assert!(bans.addresses.0.is_empty() && bans.peers.0.is_empty());
    }

    #[test]
    fn strangers_do_not_push_out_what_is_shown_of_peers() {
        let now = Instant::now();
        let mut shown = ShownBans::default();
        let peer = Some(super::super::identity::Identity::random().peer_id());
        let later = now + Duration::from_secs(9);
        let ban = |peer, operator, address, reason: &str, until| BanReport {
            peer,
            operator,
            address,
            reason: reason.to_owned(),
            until,
        };
        shown.note(ban(peer, Some(Address::ZERO), None, "first", later));
        shown.note(ban(peer, Some(Address::ZERO), None, &"ü".repeat(MOST_REASON), later));
        for number in 0..2 * MOST_SHOWN as u32 {
            let address = Some(IpAddr::from(number.to_be_bytes()));
            shown.note(ban(None, None, address, "a stranger", now + Duration::from_secs(number.into())));
            shown.note(ban(None, None, address, "again", now + Duration::from_secs(number.into())));
        }
        let list = shown.list(now);
        assert_eq!(list.len(), 1 + MOST_SHOWN);
        assert_eq!((list[0].peer, list[0].reason.as_str()), (peer, "ü".repeat(MOST_REASON / 2).as_str()));
        assert!(list[1..].iter().all(|ban| ban.reason == "again"));
        assert!(list[1..].is_sorted_by_key(|ban| std::cmp::Reverse(ban.until)), "the newest first");
        assert_eq!(shown.list(now + Duration::from_secs(2 * MOST_SHOWN as u64)), []);
    }

    #[test]
    fn an_address_of_ipv6_stands_for_its_network() {
        let now = Instant::now();
        let mut bans = Bans::default();
        bans.ban_stranger(None, Some("2606:4700::1".parse().unwrap()), now + Duration::from_secs(1));
        assert!(bans.has_address("2606:4700::ffff".parse().unwrap(), now));
        assert!(!bans.has_address("2606:4700:0:1::1".parse().unwrap(), now));
    }

    #[test]
    fn an_address_that_others_may_share_is_not_banned() {
        let now = Instant::now();
        let mut bans = Bans::default();
        for shared in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "::ffff:192.168.0.1"] {
            let address = shared.parse().unwrap();
            assert_eq!(bans.ban_stranger(None, Some(address), now + Duration::from_secs(9)), None);
            assert!(!bans.has_address(address, now), "{shared}");
        }
    }
}
