//! The calls with which a settlement's registrar begins an epoch.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolCall;

use crate::{
    base::PART,
    contract::Settlement,
    network::Network,
    state::{self, NEVER, TooLarge},
    transaction::{Sender, Transaction},
};

/// Parts of the weights in one call: 65,536 bytes, half of what nodes take as one transaction.
const PARTS_A_CALL: usize = 4;

/// What the registrar decides for the next epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextEpoch {
    /// The weight of each member, by index.
    pub weights: Vec<u64>,
    /// The weight that a quorum needs, from 1 on and below 2^88.
    pub required: u128,
    /// Whether the contract goes on with the next key table, to which keys were carried.
    pub renew: bool,
}

/// The calls of an epoch, in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochCalls {
    /// The number of the epoch: the one behind that of the network.
    pub epoch: u32,
    /// The threshold from which the contract computes `enough`.
    pub threshold: u64,
    /// Any so many members weigh what is required; [`NEVER`] if no number of members is certain to.
    pub enough: u32,
    /// `prepare`, for the weights that `begin` has no room for. The registrar sends them.
    pub prepare: Vec<Bytes>,
    /// `begin`, which the registrar sends.
    pub begin: Bytes,
    /// `enter`, which anyone sends. It names the head and the newest base of the network, so results that settle between
    /// must be followed first.
    pub enter: Bytes,
}

/// Why an epoch has no calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EpochError {
    /// The network's epoch is the last: the contract's head has no room for another.
    #[error("epoch: {0} is the last one, and no other can begin")]
    LastEpoch(u32),
    /// Nobody weighs anything.
    #[error("weights: found none, expected one for each member")]
    NoWeights,
    /// There are more weights than keys, and the epoch does not go on with the next table.
    #[error("weights: found {weights}, expected at most {keys}, the number of keys")]
    WeightsBehindKeys {
        /// The number of weights.
        weights: usize,
        /// The number of keys.
        keys: usize,
    },
    /// The required weight is zero, so any quorum would settle.
    #[error("required: found 0, expected at least 1")]
    NothingRequired,
    /// All members together weigh less than what is required, so nothing would settle.
    #[error("required: found {required}, but all members together weigh {total}")]
    OutOfReach {
        /// The weight that is required.
        required: u128,
        /// The weight of all members.
        total: u128,
    },
    /// A number does not fit into its bits of the head.
    #[error(transparent)]
    Head(#[from] TooLarge),
}

impl NextEpoch {
    /// The calls for a network, whose epoch must have been entered. With `renew` nothing compares the number of weights with that of the
    /// carried keys, which the network does not have and the contract does not check.
    ///
    /// # Errors
    /// [`EpochError`].
    pub fn calls(&self, network: &Network) -> Result<EpochCalls, EpochError> {
        let Self { ref weights, required, renew } = *self;
        let keys = network.keys.len();
        let epoch = network.epoch.checked_add(1).ok_or(EpochError::LastEpoch(network.epoch))?;
        if weights.is_empty() {
            return Err(EpochError::NoWeights);
        }
        // The keys of the next table are not in the network.
        if !renew && weights.len() > keys {
            return Err(EpochError::WeightsBehindKeys { weights: weights.len(), keys });
        }
        if required == 0 {
            return Err(EpochError::NothingRequired);
        }
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        if required > total {
            return Err(EpochError::OutOfReach { required, total });
        }
        if required >> 88 != 0 {
            return Err(TooLarge { part: "required", found: required, bits: 88 }.into());
        }
        if weights.len() >= NEVER as usize {
            return Err(TooLarge { part: "members", found: weights.len() as u128, bits: 24 }.into());
        }
        let (threshold, enough) = state::enough(weights, required);
        let packed =
            |weights: &[u64]| weights.iter().flat_map(|weight| weight.to_be_bytes()).collect::<Vec<_>>().into();
        let mut calls = weights.chunks(PARTS_A_CALL * PART);
        let last = calls.next_back().unwrap_or_default();
        let prepare =
            calls.map(|weights| Settlement::prepareCall { threshold, weights: packed(weights) }.abi_encode().into());
        let required = U256::from(required).to();
        let begin = Settlement::beginCall { threshold, weights: packed(last), required, renew };
        let (head, newest) = (network.head().encode()?, network.newest());
        let enter = Settlement::enterCall { head, newest }.abi_encode().into();
        let (prepare, begin) = (prepare.collect(), begin.abi_encode().into());
        Ok(EpochCalls { epoch, threshold, enough, prepare, begin, enter })
    }
}

impl EpochCalls {
    /// The calls as transactions, in the order in which they are sent. All but `enter` name the epoch that they follow, so
    /// that nobody sends them twice. `discard` stands first: after an interruption all are sent again, and `begin` puts nothing before
    /// its weights that was prepared for an epoch which was given up.
    pub fn transactions(&self, network: &Network) -> Vec<Transaction> {
        let discard = Settlement::discardCall {}.abi_encode().into();
        let transaction = |about: String, sender, after_epoch, calldata: &Bytes| {
            let (chain_id, to, access_list) = (network.chain_id, network.contract, Vec::new());
            Transaction { about, chain_id, to, sender, after_epoch, access_list, calldata: calldata.clone() }
        };
        let (epoch, after) = (self.epoch, Some(network.epoch));
        let by_registrar = |about, calldata| transaction(about, Sender::Registrar, after, calldata);
        let mut all = vec![by_registrar("forget what was prepared before".to_owned(), &discard)];
        let of = self.prepare.len();
        for (number, prepare) in (1..).zip(&self.prepare) {
            all.push(by_registrar(format!("prepare epoch {epoch}: weights, {number} of {of}"), prepare));
        }
        all.push(by_registrar(format!("begin epoch {epoch}"), &self.begin));
        all.push(transaction(format!("enter epoch {epoch}"), Sender::Anyone, None, &self.enter));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyGroup, alloy_primitives::Address};

    fn network(keys: usize) -> Network {
        Network {
            key_group: KeyGroup::Bn254G1,
            chain_id: 1,
            contract: Address::ZERO,
            nonce: 3,
            table: 0,
            epoch: 2,
            required: 1,
            enough: NEVER,
            paid: 0,
            keys: vec![Bytes::new(); keys],
            weights: vec![],
            key_pages: vec![],
            weight_pages: vec![],
            bases: vec![],
            unknown_newest: None,
        }
    }

    fn next(weights: Vec<u64>, required: u128) -> NextEpoch {
        NextEpoch { weights, required, renew: false }
    }

    #[test]
    fn few_weights_take_one_call() {
        let calls = next(vec![10, 20, 30, 40], 60).calls(&network(4)).unwrap();
        assert_eq!((calls.threshold, calls.enough, calls.prepare.len()), (30, 3, 0));
        let begin = Settlement::beginCall::abi_decode(&calls.begin).unwrap();
        assert_eq!((begin.threshold, begin.required, begin.renew), (30, U256::from(60).to(), false));
        assert_eq!(begin.weights[..16], [[0; 7].as_slice(), &[10], &[0; 7], &[20]].concat());
        let enter = Settlement::enterCall::abi_decode(&calls.enter).unwrap();
        assert_eq!((enter.head, enter.newest), (network(4).head().encode().unwrap(), network(4).newest()));
    }

    /// All weights arrive once, in order, and all but the last call have whole parts.
    #[test]
    fn many_weights_take_several() {
        let n = 2 * PARTS_A_CALL * PART + 5;
        let weights: Vec<u64> = (1..=n as u64).collect();
        let calls = next(weights.clone(), 7).calls(&network(n)).unwrap();
        assert_eq!(calls.prepare.len(), 2);
        let mut sent = Vec::new();
        for call in &calls.prepare {
            let call = Settlement::prepareCall::abi_decode(call).unwrap();
            assert_eq!((call.threshold, call.weights.len() % (8 * PART)), (calls.threshold, 0));
            sent.extend(call.weights);
        }
        sent.extend(Settlement::beginCall::abi_decode(&calls.begin).unwrap().weights);
        assert_eq!(sent, weights.iter().flat_map(|weight| weight.to_be_bytes()).collect::<Vec<_>>());
    }

    /// What was prepared counts once, also if the transactions are sent again after an interruption; and not at all if those of
    /// another epoch are sent, also if these prepare nothing.
    #[test]
    fn transactions_in_order_and_for_one_epoch() {
        let n = 2 * PARTS_A_CALL * PART + 5;
        let network = network(n);
        let calls = next(vec![1; n], 7).calls(&network).unwrap();
        let all = calls.transactions(&network);
        let calldata = |all: &[Transaction]| all.iter().map(|one| one.calldata.clone()).collect::<Vec<_>>();
        let discard = Bytes::from(Settlement::discardCall {}.abi_encode());
        let expected = [std::slice::from_ref(&discard), &calls.prepare, &[calls.begin, calls.enter]].concat();
        assert_eq!(calldata(&all), expected);
        let (enter, others) = all.split_last().unwrap();
        assert_eq!((enter.sender, enter.after_epoch), (Sender::Anyone, None));
        for transaction in others {
            assert_eq!((transaction.sender, transaction.after_epoch), (Sender::Registrar, Some(network.epoch)));
        }
        let few = next(vec![1; 4], 3).calls(&network).unwrap();
        assert_eq!(calldata(&few.transactions(&network)), [discard, few.begin, few.enter]);
    }

    #[test]
    fn what_is_no_epoch() {
        let error = |weights: &[u64], required| next(weights.to_vec(), required).calls(&network(2)).unwrap_err();
        assert_eq!(error(&[], 1), EpochError::NoWeights);
        assert_eq!(error(&[1, 1, 1], 1), EpochError::WeightsBehindKeys { weights: 3, keys: 2 });
        let last = Network { epoch: u32::MAX, ..network(2) };
        assert_eq!(next(vec![1, 1], 1).calls(&last), Err(EpochError::LastEpoch(u32::MAX)));
        let before = Network { epoch: u32::MAX - 1, ..network(2) };
        assert_eq!(next(vec![1, 1], 1).calls(&before).unwrap().epoch, u32::MAX);
        assert_eq!(error(&[1, 1], 0), EpochError::NothingRequired);
        assert_eq!(error(&[1, 1], 3), EpochError::OutOfReach { required: 3, total: 2 });
        // A renewed table may have more keys than the network knows.
        assert!(NextEpoch { renew: true, ..next(vec![1; 3], 1) }.calls(&network(2)).is_ok());
        let heavy = next(vec![u64::MAX; 1 << 25], 1 << 88).calls(&network(1 << 25)).unwrap_err();
        assert_eq!(heavy, TooLarge { part: "required", found: 1 << 88, bits: 88 }.into());
    }
}
