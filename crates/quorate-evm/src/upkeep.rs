//! The calls that keep a settlement cheap between epochs: pages of keys and weights, pinned bases, the next key table.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::SolCall;

use crate::{
    base::{KeyPage, PART},
    contract::Settlement,
    network::Network,
    state::TooLarge,
    transaction::{Sender, Transaction},
};

/// One of these calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upkeep {
    /// Enters the epoch that was begun, from the network's head and newest base: those before the epoch.
    Enter,
    /// The same, from a head and a newest commitment that are known from elsewhere: `quorate-chain follow` prints them.
    EnterFrom {
        /// The head before the epoch.
        head: U256,
        /// The commitment of the newest base, or zero.
        newest: B256,
    },
    /// Copies keys whose indices follow each other to a page, so that settlements name the page and pass no keys. At most
    /// [`KeyGroup::page_keys`](crate::KeyGroup::page_keys).
    Compact {
        /// The first index.
        first: usize,
        /// How many keys.
        keys: usize,
    },
    /// Copies a part of the epoch's weights to a page: part p holds the weights of the indices from 2,048·p on.
    Publish {
        /// The part.
        part: usize,
    },
    /// Copies a base to a pinned slot.
    Pin {
        /// The pinned slot.
        slot: u16,
        /// The slot of the base.
        from: u16,
    },
    /// Carries keys to the next table, to a page of their own. Pages must hold them. At most
    /// [`KeyGroup::page_keys`](crate::KeyGroup::page_keys).
    Carry {
        /// Their indices, in the order that they get in the next table.
        indices: Vec<u32>,
    },
    /// Forgets what was prepared of the next epoch.
    Discard,
}

/// Why there is no such call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpkeepError {
    /// A range of keys that does not lie in the table.
    #[error("there are no {keys} keys from index {first} on: the network has {all} keys")]
    Keys {
        /// The first index.
        first: usize,
        /// How many keys were asked for.
        keys: usize,
        /// How many there are.
        all: usize,
    },
    /// One call makes one page, which has no room for so many keys.
    #[error("a call makes one page, which holds {most} keys at most, and not {keys}; make several calls")]
    PageKeys {
        /// How many keys were asked for.
        keys: usize,
        /// How many fit.
        most: usize,
    },
    /// The epoch has no such part of weights.
    #[error("there is no part {part}: the epoch has {weights} weights, and a part has 2,048")]
    Part {
        /// The part.
        part: usize,
        /// The number of weights.
        weights: usize,
    },
    /// A slot without a base that is known, or slot 0, which the ring does not have.
    #[error("there is no base in slot {0} of the ring, according to the network")]
    Slot(u16),
    /// No page holds the key.
    #[error("no page holds the key with index {0}; make one with `compact` first, and follow")]
    NotInPage(u32),
    /// The network's head does not fit into its word.
    #[error(transparent)]
    Head(#[from] TooLarge),
}

impl Upkeep {
    /// The transaction for a network.
    ///
    /// # Errors
    /// [`UpkeepError`].
    pub fn transaction(&self, network: &Network) -> Result<Transaction, UpkeepError> {
        let all = network.keys.len();
        let (about, sender, calldata) = match self {
            Self::Enter => {
                let entered = Self::EnterFrom { head: network.head().encode()?, newest: network.newest() };
                return entered.transaction(network);
            }
            Self::EnterFrom { head, newest } => {
                let call = Settlement::enterCall { head: *head, newest: *newest };
                ("enter the epoch that was begun".to_owned(), Sender::Anyone, call.abi_encode())
            }
            Self::Compact { first, keys } => {
                let (first, keys) = (*first, *keys);
                if keys == 0 || first.checked_add(keys).is_none_or(|end| end > all) {
                    return Err(UpkeepError::Keys { first, keys, all });
                }
                fits_a_page(network, keys)?;
                let (nonces, tail) = pages_and_tail(network, first, first + keys);
                let call = Settlement::compactCall { first: U256::from(first), keys: U256::from(keys), nonces, tail };
                let about = format!("copy the keys with the indices {first} to {} to a page", first + keys - 1);
                (about, Sender::Anyone, call.abi_encode())
            }
            Self::Publish { part } => {
                let weights = network.weights.chunks(PART).nth(*part);
                let weights = weights.ok_or(UpkeepError::Part { part: *part, weights: network.weights.len() })?;
                let weights = weights.iter().flat_map(|weight| weight.to_be_bytes()).collect();
                let call = Settlement::publishCall { part: U256::from(*part), weights };
                (format!("copy part {part} of the weights to a page"), Sender::Anyone, call.abi_encode())
            }
            Self::Pin { slot, from } => {
                if *from == 0 || network.bases.iter().all(|base| base.slot != *from) {
                    return Err(UpkeepError::Slot(*from));
                }
                let call = Settlement::pinCall { slot: U256::from(*slot), from: U256::from(*from) };
                (format!("pin the base of slot {from} in slot {slot}"), Sender::Registrar, call.abi_encode())
            }
            Self::Carry { indices } => {
                fits_a_page(network, indices.len())?;
                let pages = pages_of(network, indices)?;
                let call = Settlement::carryCall {
                    indices: indices.iter().flat_map(|index| index.to_be_bytes()).collect(),
                    nonces: pages.iter().map(|page| U256::from(page.nonce)).collect(),
                };
                (format!("carry {} keys to the next table", indices.len()), Sender::Registrar, call.abi_encode())
            }
            Self::Discard => {
                let call = Settlement::discardCall {};
                ("forget what was prepared of the next epoch".to_owned(), Sender::Registrar, call.abi_encode())
            }
        };
        Ok(Transaction {
            about,
            chain_id: network.chain_id,
            to: network.contract,
            sender,
            after_epoch: None,
            access_list: Vec::new(),
            calldata: calldata.into(),
        })
    }
}

/// Refuses more keys than the contract puts into one page.
fn fits_a_page(network: &Network, keys: usize) -> Result<(), UpkeepError> {
    let most = network.key_group.page_keys();
    if keys <= most { Ok(()) } else { Err(UpkeepError::PageKeys { keys, most }) }
}

/// Few pages that hold these keys. For the first key that no chosen page holds, it takes the page that holds the most of such keys.
///
/// Anyone makes pages, and the contract goes through those that are named, from the first on, whenever the open page does not hold
/// the next key. So a page that is named without need costs gas for many keys, and many of them let the call fail.
fn pages_of(network: &Network, indices: &[u32]) -> Result<Vec<KeyPage>, UpkeepError> {
    let mut left: Vec<_> = indices.to_vec();
    let mut chosen = Vec::new();
    let held = |page: &KeyPage, left: &[u32]| left.iter().filter(|index| page.holds(**index as usize)).count();
    while let Some(first) = left.first() {
        let pages = network.key_pages.iter().filter(|page| page.holds(*first as usize));
        let page = pages.max_by_key(|page| held(page, &left)).ok_or(UpkeepError::NotInPage(*first))?;
        left.retain(|index| !page.holds(*index as usize));
        chosen.push(*page);
    }
    Ok(chosen)
}

/// The pages that hold keys of a range, by rising indices and without overlap, and the keys that none of them holds.
fn pages_and_tail(network: &Network, first: usize, end: usize) -> (Vec<U256>, Bytes) {
    let (mut nonces, mut tail, mut at) = (Vec::new(), Vec::new(), first);
    let size = network.key_group.key_bytes();
    while at < end {
        let page = network.key_pages.iter().filter(|page| page.first == at).max_by_key(|page| page.keys);
        match page {
            Some(page) => {
                nonces.push(U256::from(page.nonce));
                at += page.keys;
            }
            None => {
                tail.extend_from_slice(&network.keys[at][..size]);
                at += 1;
            }
        }
    }
    (nonces, tail.into())
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Address;

    use super::*;
    use crate::{KeyGroup, base::Base};

    fn network() -> Network {
        Network {
            key_group: KeyGroup::Bn254G1,
            chain_id: 5,
            contract: Address::repeat_byte(1),
            nonce: 3,
            table: 0,
            epoch: 2,
            required: 1,
            enough: 1,
            paid: 0,
            keys: (0..9).map(|i| vec![i; 192].into()).collect(),
            weights: (1..=2_050).collect(),
            key_pages: [(7, 1, 2), (8, 1, 3), (9, 6, 9)]
                .map(|(nonce, first, keys)| KeyPage { nonce, first, keys })
                .to_vec(),
            weight_pages: vec![],
            bases: vec![Base { slot: 0, ..base() }, Base { slot: 6, ..base() }],
            unknown_newest: None,
        }
    }

    fn base() -> Base {
        Base { slot: 0, epoch: 0, weight: 0, key: vec![1; 64].into(), signers: crate::MemberSet::full(1) }
    }

    fn call<C: SolCall>(upkeep: Upkeep, sender: Sender) -> C {
        let transaction = upkeep.transaction(&network()).unwrap();
        assert_eq!((transaction.chain_id, transaction.to, transaction.sender), (5, Address::repeat_byte(1), sender));
        C::abi_decode(&transaction.calldata).unwrap()
    }

    #[test]
    fn enter_names_the_state_before() {
        let enter: Settlement::enterCall = call(Upkeep::Enter, Sender::Anyone);
        assert_eq!((enter.head, enter.newest), (network().head().encode().unwrap(), network().newest()));
        let (head, newest) = (U256::from(7), B256::repeat_byte(8));
        let enter: Settlement::enterCall = call(Upkeep::EnterFrom { head, newest }, Sender::Anyone);
        assert_eq!((enter.head, enter.newest), (head, newest));
    }

    /// The larger of two pages that begin together is taken, and a page that begins inside it is not.
    #[test]
    fn compact_takes_keys_from_pages() {
        let compact: Settlement::compactCall = call(Upkeep::Compact { first: 0, keys: 8 }, Sender::Anyone);
        assert_eq!(compact.nonces, [U256::from(8), U256::from(9)]);
        assert_eq!(compact.tail[..], [[0; 64], [4; 64], [5; 64]].concat());
        for (first, keys) in [(0, 0), (0, 10), (9, 1), (usize::MAX, 2)] {
            let error = Upkeep::Compact { first, keys }.transaction(&network()).unwrap_err();
            assert_eq!(error, UpkeepError::Keys { first, keys, all: 9 });
        }
    }

    /// The contract reverts with `KeysAPage`.
    #[test]
    fn no_more_keys_than_a_page_holds() {
        for key_group in KeyGroup::ALL {
            let (most, all) = (key_group.page_keys(), key_group.page_keys() + 1);
            let keys = vec![vec![7_u8; key_group.member_bytes()].into(); all];
            let key_pages =
                vec![KeyPage { nonce: 7, first: 0, keys: most }, KeyPage { nonce: 8, first: most, keys: 1 }];
            let network = Network { key_group, keys, key_pages, bases: vec![], ..network() };
            for keys in [most, all] {
                let expected = if keys == most { Ok(()) } else { Err(UpkeepError::PageKeys { keys, most }) };
                let carry = Upkeep::Carry { indices: (0..keys as u32).collect() };
                for upkeep in [Upkeep::Compact { first: 0, keys }, carry] {
                    assert_eq!(upkeep.transaction(&network).map(drop), expected, "{key_group}");
                }
            }
        }
    }

    #[test]
    fn publish_has_the_weights_of_the_part() {
        let publish: Settlement::publishCall = call(Upkeep::Publish { part: 1 }, Sender::Anyone);
        assert_eq!(
            (publish.part, &publish.weights[..]),
            (U256::from(1), &[2049_u64, 2050].map(u64::to_be_bytes).concat()[..])
        );
        let error = Upkeep::Publish { part: 2 }.transaction(&network()).unwrap_err();
        assert_eq!(error, UpkeepError::Part { part: 2, weights: 2_050 });
    }

    /// The contract cannot copy slot 0, whose commitment is in the state and not in the ring.
    #[test]
    fn pin_copies_a_base_of_the_ring() {
        let pin: Settlement::pinCall = call(Upkeep::Pin { slot: 1, from: 6 }, Sender::Registrar);
        assert_eq!((pin.slot, pin.from), (U256::from(1), U256::from(6)));
        for from in [0, 5] {
            let error = Upkeep::Pin { slot: 1, from }.transaction(&network()).unwrap_err();
            assert_eq!(error, UpkeepError::Slot(from));
        }
    }

    #[test]
    fn carry_names_the_pages_of_its_keys() {
        let carry: Settlement::carryCall = call(Upkeep::Carry { indices: vec![8, 3] }, Sender::Registrar);
        assert_eq!(carry.indices[..], [0, 0, 0, 8, 0, 0, 0, 3]);
        assert_eq!(carry.nonces, [U256::from(9), U256::from(8)]);
        let error = Upkeep::Carry { indices: vec![8, 4] }.transaction(&network()).unwrap_err();
        assert_eq!(error, UpkeepError::NotInPage(4));
        let _: Settlement::discardCall = call(Upkeep::Discard, Sender::Registrar);
    }

    /// Pages of one key are cheap, and anyone makes them. They stand before and behind those that hold more.
    #[test]
    fn carry_names_no_page_without_need() {
        let lonely = |nonce: u32| (0..9).map(move |first| KeyPage { nonce: nonce + first as u32, first, keys: 1 });
        let carried = |pages: &[(u32, usize, usize)], indices: Vec<u32>| {
            let pages = pages.iter().map(|&(nonce, first, keys)| KeyPage { nonce, first, keys });
            let key_pages = lonely(100).chain(pages).chain(lonely(200)).collect();
            let transaction =
                Upkeep::Carry { indices }.transaction(&Network { key_pages, ..network() }).unwrap().calldata;
            let nonces = Settlement::carryCall::abi_decode(&transaction).unwrap().nonces;
            nonces.into_iter().map(|nonce| nonce.to::<u32>()).collect::<Vec<_>>()
        };
        assert_eq!(carried(&[(7, 0, 9)], (0..9).collect()), [7]);
        // In any order, and from several pages.
        let scattered = vec![8, 3, 7, 2, 6, 0];
        assert_eq!(carried(&[(7, 0, 9)], scattered.clone()), [7]);
        assert_eq!(carried(&[(7, 0, 5), (8, 5, 4)], scattered), [8, 7]);
        // What a chosen page holds does not count again: 9 holds more of the keys than 7, and only one beside those of 8.
        assert_eq!(carried(&[(7, 0, 5), (8, 5, 4), (9, 4, 4)], vec![8, 7, 6, 5, 4, 3]), [8, 7]);
    }
}
