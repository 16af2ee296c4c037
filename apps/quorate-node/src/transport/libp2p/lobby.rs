//! Sockets that were accepted and whose handshake is not over, counted by the address from which they came.
//!
//! A socket costs whoever opens it nothing, so nobody may hold the places of the others by leaving sockets idle: where all
//! places are taken, the address that has most gives one up, and of one address the socket that has waited longest. Only a
//! socket that came a moment ago stays, so that a handshake has the time that it needs.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::Waker,
    time::{Duration, Instant},
};

use futures::task::AtomicWaker;
use libp2p_core::{Multiaddr, multiaddr::Protocol};

use super::super::origin::network;

/// The sockets. A clone is the same lobby.
#[derive(Clone, Debug)]
pub(super) struct Lobby {
    /// In the order in which they came.
    guests: Arc<Mutex<Vec<Guest>>>,
    most: usize,
    most_here: usize,
}

#[derive(Debug)]
struct Guest {
    from: IpAddr,
    since: Instant,
    stay: Arc<Stay>,
}

/// What becomes of a socket in the lobby.
#[derive(Debug, Default)]
pub(super) struct Stay {
    state: AtomicU8,
    /// Whoever reads from the socket.
    reader: AtomicWaker,
}

const WAITS: u8 = 0;
const LEFT: u8 = 1;
const SENT_AWAY: u8 = 2;

impl Stay {
    /// The handshake is over, or the socket closed.
    pub(super) fn leave(&self) {
        // One that was sent away stays so.
        let _ = self.state.compare_exchange(WAITS, LEFT, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether the socket has to close. Else the reader is woken when it has.
    pub(super) fn is_over(&self, reader: &Waker) -> bool {
        self.reader.register(reader);
        self.state.load(Ordering::Acquire) == SENT_AWAY
    }

    fn send_away(&self) {
        if self.state.compare_exchange(WAITS, SENT_AWAY, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.reader.wake();
        }
    }

    fn waits(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITS
    }
}

impl Lobby {
    /// A lobby for so many sockets at once, and so many of one address.
    pub(super) fn new(most: usize, most_here: usize) -> Self {
        Self { guests: Arc::default(), most, most_here }
    }

    /// A socket has come. If there is no place for it, it is sent away at once.
    pub(super) fn enter(&self, from: IpAddr, now: Instant) -> Arc<Stay> {
        let from = network(from);
        let stay = Arc::new(Stay::default());
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.retain(|guest| guest.stay.waits());
        let of = |address: IpAddr| guests.iter().filter(|guest| guest.from == address).count();
        let here = of(from);
        // Of whom one has to go, and whether one must that came just now.
        let crowd = if here >= self.most_here {
            Some((from, false))
        } else if guests.len() >= self.most {
            let busiest = guests.iter().map(|guest| (of(guest.from), guest.from)).max();
            busiest.map(|(count, address)| (address, count > here + 1))
        } else {
            None
        };
        if let Some((address, any)) = crowd {
            let oldest = guests.iter().position(|guest| guest.from == address);
            match oldest.filter(|at| any || now.saturating_duration_since(guests[*at].since) >= HANDSHAKE) {
                Some(at) => guests.remove(at).stay.send_away(),
                None => {
                    stay.send_away();
                    return stay;
                }
            }
        }
        guests.push(Guest { from, since: now, stay: stay.clone() });
        stay
    }
}

/// The IP address of a multiaddress.
pub(super) fn ip(address: &Multiaddr) -> Option<IpAddr> {
    address.iter().find_map(|part| match part {
        Protocol::Ip4(ip) => Some(ip.into()),
        Protocol::Ip6(ip) => Some(ip.into()),
        _ => None,
    })
}

/// How long a socket has its place whoever else comes: a few times round the world.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [1, 1, 1, last].into()
    }

    fn waiting(stays: &[Arc<Stay>]) -> usize {
        stays.iter().filter(|stay| stay.waits()).count()
    }

    #[test]
    fn idle_sockets_of_one_address_keep_nobody_out() {
        let (lobby, start) = (Lobby::new(64, 16), Instant::now());
        let idle: Vec<_> = (0..64).map(|_| lobby.enter(address(1), start)).collect();
        assert_eq!(waiting(&idle), 16, "no more of one address");
        assert!(lobby.enter(address(2), start).waits(), "another address");
        assert!(!lobby.enter(address(1), start).waits(), "the first have come just now");
        let later = start + HANDSHAKE;
        assert!(lobby.enter(address(1), later).waits(), "also from their own address");
        assert_eq!(waiting(&idle), 15);
    }

    #[test]
    fn the_address_with_most_makes_room_when_all_places_are_taken() {
        let (lobby, start) = (Lobby::new(64, 16), Instant::now());
        let idle: Vec<_> = (0..64).map(|number| lobby.enter(address(number % 4), start)).collect();
        assert_eq!(waiting(&idle), 64);
        // All of them came just now.
        assert!((10..20).all(|number| lobby.enter(address(number), start).waits()));
        assert_eq!(waiting(&idle), 54);
    }

    #[test]
    fn one_each_of_many_addresses_stay_for_a_moment() {
        let (lobby, start) = (Lobby::new(4, 2), Instant::now());
        let first: Vec<_> = (0..4).map(|number| lobby.enter(address(number), start)).collect();
        assert!(!lobby.enter(address(9), start).waits());
        assert!(lobby.enter(address(9), start + HANDSHAKE).waits());
        assert_eq!(waiting(&first), 3);
    }

    #[test]
    fn whoever_has_left_holds_no_place() {
        let (lobby, start) = (Lobby::new(2, 2), Instant::now());
        for _ in 0..9 {
            let stay = lobby.enter(address(1), start);
            assert!(stay.waits());
            stay.leave();
        }
    }
}
