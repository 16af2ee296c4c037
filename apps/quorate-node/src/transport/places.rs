//! Who makes room when every place for an admitted peer is taken.
//!
//! An operator may have several peers, so a few operators with the least stake could hold all places. Therefore, when all are
//! taken:
//!
//! ```text
//! the first peer of an operator  ── takes the place of another operator's second to last peer: of whoever has most
//!                                └─ if nobody has two: that of an operator who weighs less
//! a bootstrap peer               ── takes a place in either way, whatever its operator has and weighs
//! anybody else                   ── is told that there is no room
//! ```
//!
//! A bootstrap peer makes room for nobody. Who weighs as much as the lightest takes no place, so that no two take turns.

use std::{cmp::Reverse, collections::HashMap, time::Instant};

use quorate_evm::alloy_primitives::Address;

/// An admitted peer, as far as its place is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<K> {
    /// Its name to the transport.
    pub(super) peer: K,
    pub(super) operator: Address,
    pub(super) since: Instant,
    /// Whether it is a bootstrap peer.
    pub(super) kept: bool,
}

/// The peer that makes room for a newcomer of an operator, `None` if nobody does. `weight` is what an operator weighs in the
/// newest snapshot.
pub(super) fn makes_room<K: Copy>(
    held: &[Place<K>],
    newcomer: Address,
    kept: bool,
    weight: impl Fn(&Address) -> u64,
) -> Option<K> {
    let mut of_operator = HashMap::<_, usize>::new();
    held.iter().for_each(|place| *of_operator.entry(place.operator).or_default() += 1);
    if of_operator.contains_key(&newcomer) && !kept {
        return None;
    }
    let candidates = || held.iter().filter(|place| !place.kept);
    // The youngest of the operator with most, whose first one stays.
    let crowd = candidates().filter(|place| of_operator[&place.operator] > 1);
    if let Some(place) = crowd.max_by_key(|place| (of_operator[&place.operator], place.since)) {
        return Some(place.peer);
    }
    let lightest = candidates().map(|place| (weight(&place.operator), place));
    let (least, place) = lightest.min_by_key(|(weight, place)| (*weight, Reverse(place.since)))?;
    (kept || least < weight(&newcomer)).then_some(place.peer)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn operator(number: u8) -> Address {
        Address::repeat_byte(number)
    }

    /// Peers by number, of these operators, each a second younger than the one before.
    fn held(operators: &[u8]) -> Vec<Place<usize>> {
        let start = Instant::now();
        let place = |(peer, number): (usize, &u8)| Place {
            peer,
            operator: operator(*number),
            since: start + Duration::from_secs(peer as u64),
            kept: false,
        };
        operators.iter().enumerate().map(place).collect()
    }

    /// An operator weighs what its number is.
    fn weight(operator: &Address) -> u64 {
        operator[0].into()
    }

    #[test]
    fn many_peers_of_few_operators_make_room_for_another_operator() {
        // 32 minimum stakes with four peers each fill 128 places.
        let operators: Vec<u8> = (1..=32).flat_map(|number| [number; 4]).collect();
        let mut held = held(&operators);
        let mut newcomers = 0;
        for newcomer in 33..=128 {
            // However light: nobody weighs less than these do.
            let Some(gone) = makes_room(&held, operator(newcomer), false, |_| 1) else { break };
            let place = held.iter().position(|place| place.peer == gone).unwrap();
            held[place] = Place { peer: 1000 + usize::from(newcomer), operator: operator(newcomer), ..held[place] };
            newcomers += 1;
        }
        assert_eq!(newcomers, 96, "all but the first of each");
        assert!((1..=128).all(|number| held.iter().filter(|place| place.operator == operator(number)).count() == 1));
        assert_eq!(makes_room(&held, operator(200), false, |_| 1), None, "of equal ones nobody");
    }

    #[test]
    fn the_youngest_of_whoever_has_most_goes_first() {
        assert_eq!(makes_room(&held(&[1, 1, 2, 2, 2, 1, 2]), operator(3), false, weight), Some(6));
        assert_eq!(makes_room(&held(&[1, 1, 2]), operator(3), false, weight), Some(1));
        assert_eq!(makes_room(&held(&[1, 1, 2]), operator(2), false, weight), None, "it has one already");
    }

    #[test]
    fn the_heaviest_operators_always_have_a_place() {
        let held = held(&[5, 4, 9]);
        assert_eq!(makes_room(&held, operator(6), false, weight), Some(1));
        assert_eq!(makes_room(&held, operator(4), true, weight), Some(1), "a bootstrap peer");
        assert_eq!(makes_room(&held, operator(3), false, weight), None);
        let equal = makes_room(&held, operator(7), false, |_| 4);
        assert_eq!(equal, None, "nobody takes turns");
    }

    #[test]
    fn bootstrap_peers_make_room_for_nobody() {
        let mut held = held(&[1, 1, 2]);
        held.iter_mut().for_each(|place| place.kept = true);
        assert_eq!(makes_room(&held, operator(3), false, weight), None);
        assert_eq!(makes_room(&held, operator(3), true, weight), None);
        held[2].kept = false;
        assert_eq!(makes_room(&held, operator(3), false, weight), Some(2));
        assert_eq!(makes_room(&held, operator(1), true, weight), Some(2));
    }
}
