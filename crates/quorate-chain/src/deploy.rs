//! Deploys a verifier and a `TaskNetwork`, and a token if none is named: for networks of one's own, demonstrations and tests.
//!
//! A new token is a plain one, all of which belongs to the deployer, and is worth nothing. A network that is meant to stay
//! takes a token that exists, and gives its roles to a multi-signature.

use std::fmt::Display;

use alloy::primitives::{Address, Bytes, U256};
use quorate_evm::{
    KeyGroup, WeightPart,
    alloy_sol_types::SolConstructor as _,
    contract::{
        Erc20, TASK_NETWORK_CODE, TEST_TOKEN_CODE, TaskNetwork, TestToken, Verifier,
        task_network::ITaskNetwork::Parameters,
    },
};
use quorate_host::exit::{Ends, Exit};

use crate::{
    account::{Account, AccountError},
    token,
};

/// Why something was not deployed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The account did not get something done.
    #[error("{what}: {source}")]
    Account {
        /// What was to be done.
        what: &'static str,
        /// Why it was not.
        source: AccountError,
    },
    /// The account sent something else between the verifier and the network.
    #[error(
        "the network is at {found}, and its verifier expects it at {expected}: the account sent something else. Deploy both anew, and send \
         nothing else meanwhile"
    )]
    Displaced {
        /// The address of the network.
        found: Address,
        /// The address that the verifier names.
        expected: Address,
    },
    /// A term of the plan is one that the contract refuses. Nothing was sent.
    #[error("the {term} is {found}; {expected}")]
    Term {
        /// The term.
        term: &'static str,
        /// Its value.
        found: String,
        /// What the contract takes.
        expected: String,
    },
}

impl Ends for DeployError {
    fn exit(&self) -> Exit {
        match self {
            Self::Account { source, .. } => source.exit(),
            Self::Displaced { .. } => Exit::Negative,
            Self::Term { .. } => Exit::Usage,
        }
    }
}

/// A network to deploy. Amounts are in the token's smallest unit, times in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPlan {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// How many slots for bases are pinned.
    pub pinned_slots: u16,
    /// The token of stake and rewards. Without it, a new one is made.
    pub token: Option<Address>,
    /// All tokens there are of a new one. They belong to the deployer.
    pub supply: U256,
    /// Who gets all roles. Without it, the deployer.
    pub admin: Option<Address>,
    /// How many of them go to the pool of rewards.
    pub pool: U256,
    /// The first second of epoch 0, at most a year after the newest block. Without it, the time of the newest block.
    pub genesis: Option<u64>,
    /// See `ITaskNetwork.Parameters`, as of all that follow. At most a year.
    pub epoch_length: u64,
    /// How long conflicts can be reported after the epoch can settle nothing more. At most a year.
    pub slashing_window: u64,
    /// At least the slashing window and two epochs, and at most three years.
    pub withdrawal_delay: u64,
    /// Tokens that weigh 1.
    pub unit: u128,
    /// The least stake of an operator.
    pub minimum_stake: u128,
    /// The most operators at one time.
    pub maximum_operators: u32,
    /// A quorum must weigh more than this part of all weight.
    pub quorum_numerator: u32,
    /// See `quorum_numerator`.
    pub quorum_denominator: u32,
    /// What the elected performer of an approved task gets.
    pub performer_reward: u128,
    /// What the signers of a task get together.
    pub attester_reward: u128,
    /// What a rejected task costs its performer, in 1/10,000 of the stake.
    pub penalty_share: u16,
    /// What a conflict costs, in 1/10,000 of the stake.
    pub slash_share: u16,
    /// What the reporter gets of that, in 1/10,000.
    pub bounty_share: u16,
}

impl Default for NetworkPlan {
    fn default() -> Self {
        Self {
            key_group: KeyGroup::Bls12381G2,
            pinned_slots: 1,
            token: None,
            admin: None,
            supply: U256::from(1_u64 << 50),
            pool: U256::from(1_u64 << 40),
            genesis: None,
            epoch_length: 86_400,
            slashing_window: 86_400,
            withdrawal_delay: 3 * 86_400,
            unit: 100,
            minimum_stake: 1_000,
            maximum_operators: 100,
            quorum_numerator: 2,
            quorum_denominator: 3,
            performer_reward: 50,
            attester_reward: 500,
            penalty_share: 100,
            slash_share: 5_000,
            bounty_share: 500,
        }
    }
}

impl NetworkPlan {
    /// Checks what the contract's constructor checks (`NetworkTerms`), before anything is sent and paid; and that no time is so long that
    /// stake is locked for good, as with milliseconds in the place of seconds.
    ///
    /// # Errors
    /// [`DeployError::Term`], with the first term that is refused.
    pub fn check(&self) -> Result<(), DeployError> {
        let wrong = |term, found: &dyn Display, expected: String| {
            Err(DeployError::Term { term, found: found.to_string(), expected })
        };
        let least_delay = u128::from(self.slashing_window) + 2 * u128::from(self.epoch_length);
        let quorum = WeightPart::new(self.quorum_numerator, self.quorum_denominator);
        if self.epoch_length == 0 {
            return wrong("epoch length", &0, "it must be at least a second".to_owned());
        }
        if self.slashing_window == 0 {
            return wrong("slashing window", &0, "it must be at least a second".to_owned());
        }
        for (term, found, most) in [
            ("epoch length", self.epoch_length, YEAR),
            ("slashing window", self.slashing_window, YEAR),
            ("withdrawal delay", self.withdrawal_delay, 3 * YEAR),
        ] {
            if found > most {
                return wrong(
                    term,
                    &found,
                    format!("at most {most} are allowed, because it is fixed for good: write seconds"),
                );
            }
        }
        if u128::from(self.withdrawal_delay) < least_delay {
            let expected = format!("it must be at least {least_delay}: the slashing window and two epochs");
            return wrong("withdrawal delay", &self.withdrawal_delay, expected);
        }
        if self.unit == 0 {
            return wrong("unit", &0, "so many tokens weigh 1; it must not be zero".to_owned());
        }
        if self.minimum_stake < self.unit {
            return wrong("minimum stake", &self.minimum_stake, format!("it must be at least the unit, {}", self.unit));
        }
        if !(1..=MOST_OPERATORS).contains(&self.maximum_operators) {
            return wrong("most operators", &self.maximum_operators, format!("1 to {MOST_OPERATORS} are allowed"));
        }
        if quorum.is_none_or(|quorum| !quorum.shares_a_signer()) {
            let found = format!("{}/{}", self.quorum_numerator, self.quorum_denominator);
            return wrong("quorum", &found, "it must be at least a half, and less than all".to_owned());
        }
        for (term, found, most) in [
            ("share of a penalty", self.penalty_share, WHOLE),
            ("share of a slashing", self.slash_share, WHOLE),
            ("share of a bounty", self.bounty_share, WHOLE / 2),
        ] {
            if found > most {
                return wrong(term, &found, format!("at most {most} of {WHOLE} are allowed"));
            }
        }
        if self.slash_share == 0 {
            return wrong("share of a slashing", &0, "whoever signs a conflict must lose something".to_owned());
        }
        Ok(())
    }
}

/// What was deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deployed {
    /// The token.
    pub token: Address,
    /// The verifier.
    pub verifier: Address,
    /// The network.
    pub network: Address,
    /// The block from which on the network is followed.
    pub block: u64,
}

/// The most operators of a network: a snapshot of all their seats and keys fits into the gas that the contract allows for one.
const MOST_OPERATORS: u32 = 1_136;
/// The denominator of shares.
const WHOLE: u16 = 10_000;
/// A year in seconds.
const YEAR: u64 = 365 * 86_400;

/// Deploys a verifier and a network, and a token if the plan names none, and funds the network's pool.
///
/// # Errors
/// [`DeployError`]. What was deployed before stays.
pub async fn task_network(account: &Account, plan: &NetworkPlan) -> Result<Deployed, DeployError> {
    plan.check()?;
    if let Some(genesis) = plan.genesis {
        let newest = account.rpc.newest().await.map_err(AccountError::node).map_err(failed("the genesis"))?;
        check_genesis(genesis, newest.timestamp)?;
    }
    let create = async |what: &'static str, code: Bytes| account.create(what, code).await.map_err(failed(what));
    let token = match plan.token {
        Some(token) => {
            let code = account.rpc.code(token).await.map_err(AccountError::node).map_err(failed("the token"))?;
            if code.is_empty() {
                let (term, expected) = ("token", "there must be a contract at that address".to_owned());
                return Err(DeployError::Term { term, found: token.to_string(), expected });
            }
            token
        }
        None => {
            let arguments = TestToken::constructorCall { supply: plan.supply };
            create("the token", with(TEST_TOKEN_CODE, &arguments.abi_encode())).await?.0
        }
    };
    // The verifier names the network, which the account creates next.
    let nonce = account.next_nonce().await.map_err(failed("the verifier"))?;
    let network = account.address().create(nonce + 1);
    let arguments = Verifier::constructorCall { network, pinned: U256::from(plan.pinned_slots) };
    let code = with(plan.key_group.verifier_code(), &arguments.abi_encode());
    let (verifier, _) = create("the verifier", code).await?;
    let genesis = match plan.genesis {
        Some(genesis) => genesis,
        None => {
            let newest = account.rpc.newest().await.map_err(AccountError::node).map_err(failed("the network"))?;
            newest.timestamp
        }
    };
    let parameters = Parameters {
        token,
        verifier,
        admin: plan.admin.unwrap_or(account.address()),
        genesis,
        epochLength: plan.epoch_length,
        slashingWindow: plan.slashing_window,
        withdrawalDelay: plan.withdrawal_delay,
        unit: plan.unit,
        minimumStake: plan.minimum_stake,
        maximumOperators: plan.maximum_operators,
        quorumNumerator: plan.quorum_numerator,
        quorumDenominator: plan.quorum_denominator,
        performerReward: plan.performer_reward,
        attesterReward: plan.attester_reward,
        penaltyShare: plan.penalty_share,
        slashShare: plan.slash_share,
        bountyShare: plan.bounty_share,
    };
    let arguments = TaskNetwork::constructorCall { parameters };
    let code = with(TASK_NETWORK_CODE, &arguments.abi_encode());
    let (created, receipt) = create("the network", code).await?;
    if created != network {
        return Err(DeployError::Displaced { found: created, expected: network });
    }
    if !plan.pool.is_zero() {
        let approve = Erc20::approveCall { spender: network, value: plan.pool };
        let fund = TaskNetwork::fundCall { amount: plan.pool };
        token::send(account, "the pool's tokens", token, &approve).await.map_err(failed("the pool's tokens"))?;
        account.send("the pool", network, &fund).await.map_err(failed("the pool"))?;
    }
    Ok(Deployed { token, verifier, network, block: receipt.block_number.to() })
}

/// Refuses a genesis that is in other units than seconds, or has a digit too many: nothing is ever settled then, and nobody takes tokens out
/// of the pool. The contract takes any.
fn check_genesis(genesis: u64, newest: u64) -> Result<(), DeployError> {
    let latest = newest.saturating_add(YEAR);
    if genesis <= latest {
        return Ok(());
    }
    let expected = format!("it must be at most {latest}, a year after the newest block: write seconds of Unix time");
    Err(DeployError::Term { term: "genesis", found: genesis.to_string(), expected })
}

fn with(code: &[u8], arguments: &[u8]) -> Bytes {
    [code, arguments].concat().into()
}

/// What was to be done, in front of the reason why it was not.
fn failed(what: &'static str) -> impl Fn(AccountError) -> DeployError {
    move |source| DeployError::Account { what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_genesis_in_milliseconds_is_refused() {
        let now = 1_798_761_600;
        for genesis in [0, now - 1, now, now + YEAR] {
            check_genesis(genesis, now).unwrap();
        }
        for genesis in [now + YEAR + 1, 1_000 * now, 10 * now, u64::MAX] {
            let error = check_genesis(genesis, now).unwrap_err();
            assert_eq!(error.exit(), Exit::Usage);
            assert!(error.to_string().contains("write seconds of Unix time"), "{error}");
        }
    }

    #[test]
    fn a_term_that_the_contract_refuses_is_named_before_anything_is_sent() {
        NetworkPlan::default().check().unwrap();
        let plan = NetworkPlan::default;
        for (changed, expected) in [
            (NetworkPlan { epoch_length: 0, ..plan() }, "epoch length is 0"),
            (NetworkPlan { slashing_window: 0, ..plan() }, "slashing window is 0"),
            (
                NetworkPlan { epoch_length: 86_400_000, ..plan() },
                "epoch length is 86400000; at most 31536000 are allowed",
            ),
            (NetworkPlan { slashing_window: 604_800_000, ..plan() }, "slashing window is 604800000; at most 31536000"),
            (
                NetworkPlan { withdrawal_delay: 777_600_000, ..plan() },
                "withdrawal delay is 777600000; at most 94608000",
            ),
            (
                NetworkPlan { withdrawal_delay: 259_199, ..plan() },
                "withdrawal delay is 259199; it must be at least 259200",
            ),
            (NetworkPlan { unit: 0, ..plan() }, "unit is 0"),
            (NetworkPlan { minimum_stake: 99, ..plan() }, "minimum stake is 99; it must be at least the unit, 100"),
            (NetworkPlan { maximum_operators: 0, ..plan() }, "most operators is 0"),
            (NetworkPlan { maximum_operators: 1_137, ..plan() }, "1 to 1136"),
            (NetworkPlan { quorum_numerator: 1, ..plan() }, "quorum is 1/3; it must be at least a half"),
            (NetworkPlan { quorum_numerator: 3, ..plan() }, "quorum is 3/3"),
            (NetworkPlan { penalty_share: 10_001, ..plan() }, "share of a penalty is 10001"),
            (NetworkPlan { slash_share: 0, ..plan() }, "share of a slashing is 0"),
            (NetworkPlan { bounty_share: 5_001, ..plan() }, "at most 5000"),
        ] {
            let error = changed.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
