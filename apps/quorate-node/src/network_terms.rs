//! What a network of one's own is made with: a file, then the environment, then flags, as the options of a node.
//!
//! ```toml
//! # terms.toml
//! epoch-length = 3600
//! minimum-stake = 100
//! attester-reward = "0.5"
//! quorum = "2/3"
//! ```

use std::str::FromStr;

use quorate_chain::deploy::NetworkPlan;
use quorate_evm::{WeightPart, address::CheckedAddress, alloy_primitives::U256};
use serde::{Deserialize, Serialize};

use crate::{
    options::options,
    tokens::{self, AmountError},
};

options! {
    /// The terms of a network to make. What is not given is `None`, and has the default of the flag.
    NetworkTerms;
    /// The token of stake and rewards [default: a new one without any worth, all of which belongs to the account of --key-file]
    #[arg(value_name = "ADDRESS", help_heading = "Terms")]
    token: CheckedAddress, "QUORATE_NETWORK_TOKEN";
    /// How many tokens of a new one there are [default: 1000000000]
    #[arg(value_name = "TOKENS", help_heading = "Terms")]
    supply: Amount, "QUORATE_NETWORK_SUPPLY";
    /// Who may pause registrations and give the network's roles to others; it can move no stake [default: the account of
    /// --key-file]
    #[arg(value_name = "ADDRESS", help_heading = "Terms")]
    admin: CheckedAddress, "QUORATE_NETWORK_ADMIN";
    /// The first second of epoch 0 in Unix time, at most a year after the newest block [default: that of the newest block]
    #[arg(value_name = "SECOND", help_heading = "Terms")]
    genesis: u64, "QUORATE_NETWORK_GENESIS";
    /// Seconds of an epoch, at most a year. Weights are fixed for an epoch, and its tasks settle in it and in the next one [default: 86400]
    #[arg(value_name = "SECONDS", help_heading = "Terms")]
    epoch_length: u64, "QUORATE_NETWORK_EPOCH_LENGTH";
    /// For how many seconds conflicts can be reported after their epoch can settle nothing more, at most a year [default: 604800]
    #[arg(value_name = "SECONDS", help_heading = "Terms")]
    slashing_window: u64, "QUORATE_NETWORK_SLASHING_WINDOW";
    /// Seconds from the request of a withdrawal to its payout, at most three years [default: the slashing window and two epochs, the
    /// least]
    #[arg(value_name = "SECONDS", help_heading = "Terms")]
    withdrawal_delay: u64, "QUORATE_NETWORK_WITHDRAWAL_DELAY";
    /// How many tokens weigh 1 [default: 1]
    #[arg(value_name = "TOKENS", help_heading = "Terms")]
    unit: Amount, "QUORATE_NETWORK_UNIT";
    /// The least stake of an operator [default: 100]
    #[arg(value_name = "TOKENS", help_heading = "Terms")]
    minimum_stake: Amount, "QUORATE_NETWORK_MINIMUM_STAKE";
    /// The most operators at one time, at most 1,136 [default: 100]
    #[arg(value_name = "N", help_heading = "Terms")]
    maximum_operators: u32, "QUORATE_NETWORK_MAXIMUM_OPERATORS";
    /// The part of all weight that a quorum must exceed, at least a half [default: 2/3]
    #[arg(value_name = "N/M", help_heading = "Terms")]
    quorum: WeightPart, "QUORATE_NETWORK_QUORUM";
    /// What the performer of an approved task gets [default: 1]
    #[arg(value_name = "TOKENS", help_heading = "Terms")]
    performer_reward: Amount, "QUORATE_NETWORK_PERFORMER_REWARD";
    /// What the signers of a task get together [default: 1]
    #[arg(value_name = "TOKENS", help_heading = "Terms")]
    attester_reward: Amount, "QUORATE_NETWORK_ATTESTER_REWARD";
    /// What the performer of a rejected task loses of its stake, once an epoch [default: 1]
    #[arg(value_name = "PERCENT", help_heading = "Terms")]
    penalty: Amount, "QUORATE_NETWORK_PENALTY";
    /// What an operator loses of its stake that signs a conflict [default: 50]
    #[arg(value_name = "PERCENT", help_heading = "Terms")]
    slash: Amount, "QUORATE_NETWORK_SLASH";
    /// What the reporter gets of that, at most 50 [default: 5]
    #[arg(value_name = "PERCENT", help_heading = "Terms")]
    bounty: Amount, "QUORATE_NETWORK_BOUNTY";
}

/// An amount as it was written, such as `100` or `0.5`: in a file a whole number or a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AmountText", into = "String")]
pub struct Amount(String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a whole number, or a decimal one in quotation marks")]
enum AmountText {
    Whole(u64),
    Text(String),
}

impl From<AmountText> for Amount {
    fn from(amount: AmountText) -> Self {
        match amount {
            AmountText::Whole(whole) => Self(whole.to_string()),
            AmountText::Text(text) => Self(text),
        }
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

impl FromStr for Amount {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// A term does not stand for an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{flag}: {why}")]
pub struct TermError {
    flag: &'static str,
    why: AmountError,
}

impl NetworkTerms {
    /// The plan of the network, for a token with so many decimals. Nothing goes to the pool.
    ///
    /// # Errors
    /// [`TermError`]. What the contract allows is not checked here: [`NetworkPlan::check`] does.
    pub fn plan(&self, decimals: u8) -> Result<NetworkPlan, TermError> {
        let amount = |flag, given: &Option<Amount>, default: &str, decimals| {
            let text = given.as_ref().map_or(default, |amount| amount.0.as_str());
            let too_much = || AmountError::TooMuch(text.to_owned());
            let read = tokens::parse(text, decimals).and_then(|amount| u128::try_from(amount).map_err(|_| too_much()));
            read.map_err(|why| TermError { flag, why })
        };
        let tokens = |flag, given, default| amount(flag, given, default, decimals);
        // Percents have two decimals, so they are counted in 1/10,000.
        let share = |flag, given: &Option<Amount>, default: &str| {
            let found = amount(flag, given, default, 2)?;
            let why = || AmountError::TooMuch(given.clone().map_or(default.to_owned(), String::from));
            u16::try_from(found).map_err(|_| TermError { flag, why: why() })
        };
        let epoch_length = self.epoch_length.unwrap_or(86_400);
        let slashing_window = self.slashing_window.unwrap_or(7 * 86_400);
        let least_delay = slashing_window.saturating_add(epoch_length.saturating_mul(2));
        let quorum = self.quorum.unwrap_or(WeightPart::TWO_THIRDS);
        Ok(NetworkPlan {
            token: self.token.map(|token| token.0),
            supply: U256::from(tokens("supply", &self.supply, "1000000000")?),
            admin: self.admin.map(|admin| admin.0),
            pool: U256::ZERO,
            genesis: self.genesis,
            epoch_length,
            slashing_window,
            withdrawal_delay: self.withdrawal_delay.unwrap_or(least_delay),
            unit: tokens("unit", &self.unit, "1")?,
            minimum_stake: tokens("minimum-stake", &self.minimum_stake, "100")?,
            maximum_operators: self.maximum_operators.unwrap_or(100),
            quorum_numerator: quorum.numerator(),
            quorum_denominator: quorum.denominator(),
            performer_reward: tokens("performer-reward", &self.performer_reward, "1")?,
            attester_reward: tokens("attester-reward", &self.attester_reward, "1")?,
            penalty_share: share("penalty", &self.penalty, "1")?,
            slash_share: share("slash", &self.slash, "50")?,
            bounty_share: share("bounty", &self.bounty, "5")?,
            ..NetworkPlan::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use quorate_host::options::{OptionsError, Source, parse};

    use super::*;

    fn read(text: &str) -> Result<NetworkTerms, OptionsError> {
        parse(Source { name: "terms.toml", text })
    }

    fn terms(text: &str) -> NetworkTerms {
        read(text).unwrap()
    }

    #[test]
    fn the_default_terms_are_ones_that_the_contract_takes_and_a_node_works_with() {
        for decimals in [0, 6, 18] {
            let plan = NetworkTerms::default().plan(decimals).unwrap();
            plan.check().unwrap();
            assert_eq!(plan.key_group, quorate_evm::KeyGroup::Bls12381G2);
            assert_eq!(plan.minimum_stake, 100 * 10_u128.pow(decimals.into()));
        }
    }

    #[test]
    fn an_amount_of_another_kind_is_told_in_words() {
        let error = read("minimum-stake = 0.5").unwrap_err().to_string();
        assert!(error.contains("expected a whole number, or a decimal one in quotation marks"), "{error}");
    }

    #[test]
    fn amounts_are_tokens_and_percents() {
        let text =
            "minimum-stake = 7\nattester-reward = \"0.25\"\npenalty = \"0.01\"\nquorum = \"51/100\"\nepoch-length = 60";
        let file = terms(text);
        let flags = NetworkTerms { bounty: Some("10".parse().unwrap()), ..NetworkTerms::default() };
        let plan = flags.or(file).plan(6).unwrap();
        assert_eq!((plan.minimum_stake, plan.attester_reward, plan.performer_reward), (7_000_000, 250_000, 1_000_000));
        assert_eq!((plan.penalty_share, plan.slash_share, plan.bounty_share), (1, 5_000, 1_000));
        assert_eq!((plan.quorum_numerator, plan.quorum_denominator), (51, 100));
        assert_eq!(plan.withdrawal_delay, 7 * 86_400 + 120);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| terms(text).plan(2).unwrap_err().to_string();
        assert!(error("unit = \"0.001\"").starts_with("--unit: \"0.001\" has more than"));
        assert!(error("penalty = 1000").starts_with("--penalty: \"1000\" is more"));
        assert!(error("supply = \"many\"").starts_with("--supply: \"many\" is not an amount"));
        for (wrong, expected) in [
            ("quorum = \"2:3\"", "such as 2/3"),
            ("epoch-lenght = 3", "unknown field `epoch-lenght`"),
            ("token = \"0x5FbDB2315678afecb367f032d93F642f64180aa4\"", "EIP-55"),
            ("admin = \"5FbDB2315678afecb367f032d93F642f64180aa3\"", "expected 40 hexadecimal digits after 0x"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
