//! What validators sign about their stake: deposits, changes of withdrawal credentials, and exits. Pure functions, for those who
//! verify such messages and for those who make them.
//!
//! | message | signed by | under |
//! |---|---|---|
//! | [`DepositMessage`] | the validator's key | the genesis fork version, and no chain |
//! | [`CredentialsChange`] | the key whose hash the credentials are | the genesis fork version and the chain |
//! | [`VoluntaryExit`] | the validator's key | Capella's fork version (EIP-7044) and the chain |
//!
//! A network's versions and root stand in [`KnownNetwork`](crate::network::KnownNetwork).
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md` (`DepositMessage`, `DepositData`, `VoluntaryExit`),
//! `specs/capella/beacon-chain.md` (`BLSToExecutionChange`), `specs/deneb/beacon-chain.md` (`process_voluntary_exit`).

use sha2::{Digest, Sha256};

use crate::network::Family;
use crate::signing::{DomainType, signing_root};
use crate::ssz::{self, Root};

/// A deposit, without its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepositMessage {
    /// The validator's key, compressed.
    pub public_key: [u8; 48],
    /// Where the stake may be withdrawn to.
    pub withdrawal_credentials: [u8; 32],
    /// The stake in Gwei.
    pub amount: u64,
}

impl DepositMessage {
    /// The root of `DepositMessage`.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        ssz::merkleize(&self.leaves(), 2)
    }

    /// The root of `DepositData`, which has the signature as well. The deposit contract asks for it.
    #[must_use]
    pub fn data_root(&self, signature: &[u8; 96]) -> [u8; 32] {
        let [key, credentials, amount] = self.leaves();
        ssz::merkleize(&[key, credentials, amount, ssz::merkleize(&ssz::leaves(signature), 2)], 2)
    }

    /// What the validator's key signs. A deposit can be signed before there is a chain, so no chain is part of it.
    #[must_use]
    pub fn signing_root(&self, genesis_fork_version: [u8; 4]) -> [u8; 32] {
        signing_root(&self.root(), DomainType::Deposit, genesis_fork_version, &Root::default())
    }

    fn leaves(&self) -> [Root; 3] {
        [root_of_key(&self.public_key), self.withdrawal_credentials, ssz::number(self.amount)]
    }
}

/// The change of withdrawal credentials from the hash of a key to an address (`BLSToExecutionChange`), without its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialsChange {
    /// The validator's number on the chain.
    pub validator_index: u64,
    /// The withdrawal key, compressed. It signs.
    pub from_public_key: [u8; 48],
    /// The address to which stake and rewards will go.
    pub to_address: [u8; 20],
}

impl CredentialsChange {
    /// The root of `BLSToExecutionChange`.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        let key = root_of_key(&self.from_public_key);
        ssz::merkleize(&[ssz::number(self.validator_index), key, ssz::leaf(&self.to_address)], 2)
    }

    /// What the withdrawal key signs.
    #[must_use]
    pub fn signing_root(&self, genesis_fork_version: [u8; 4], genesis_validators_root: &[u8; 32]) -> [u8; 32] {
        signing_root(&self.root(), DomainType::BlsToExecutionChange, genesis_fork_version, genesis_validators_root)
    }
}

/// A validator's exit, without its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoluntaryExit {
    /// The first epoch in which a block may contain the exit.
    pub epoch: u64,
    /// The validator's number on the chain.
    pub validator_index: u64,
}

impl VoluntaryExit {
    /// The root of `VoluntaryExit`.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        ssz::parent(&ssz::number(self.epoch), &ssz::number(self.validator_index))
    }

    /// What the validator's key signs, since Deneb under Capella's fork version whatever the epoch (EIP-7044).
    #[must_use]
    pub fn signing_root(&self, capella_fork_version: [u8; 4], genesis_validators_root: &[u8; 32]) -> [u8; 32] {
        signing_root(&self.root(), DomainType::VoluntaryExit, capella_fork_version, genesis_validators_root)
    }
}

/// The withdrawal credentials of a key (0x00): a byte of zero and the last 31 bytes of the key's SHA-256 hash.
#[must_use]
pub fn credentials_of_key(public_key: &[u8; 48]) -> [u8; 32] {
    let mut credentials: [u8; 32] = Sha256::digest(public_key).into();
    credentials[0] = 0;
    credentials
}

/// The withdrawal credentials of an address (0x01), or those whose rewards are staked as well (0x02).
#[must_use]
pub fn credentials_of_address(compounding: Compounding, address: &[u8; 20]) -> [u8; 32] {
    let mut credentials = [0; 32];
    credentials[0] = match compounding {
        Compounding::No => 1,
        Compounding::Yes => 2,
    };
    credentials[12..].copy_from_slice(address);
    credentials
}

/// Whether rewards are staked as well, up to 2,048 ETH (EIP-7251).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Compounding {
    No,
    Yes,
}

/// Checks that a stake with these withdrawal credentials can be withdrawn: `Ok` says to whom, `Err` what is wrong. The chain checks
/// nothing of this when it takes a deposit.
///
/// # Errors
/// The first byte is none of 0, 1 and 2; an address does not stand at the end, behind eleven zeros; an address stands there behind 0; or
/// nothing but zeros follows the first byte.
pub fn check_withdrawal_credentials(credentials: &[u8; 32]) -> Result<String, String> {
    let [prefix, rest @ ..] = credentials;
    let found = const_hex::encode_prefixed(credentials);
    match (prefix, rest.split_at(11)) {
        (0..=2, _) if *rest == [0; 31] => {
            Err(format!("found {found}: nobody can withdraw to zeros; expected the hash of a key, or an address"))
        }
        // A hash begins so once in 2^88.
        (0, (padding, _)) if padding.iter().all(|byte| *byte == 0) => Err(format!(
            "found {found}: after 0x00 expected the hash of a withdrawal key, found eleven bytes of zeros and an address, of which no key is \
             known, or the stake can never be withdrawn; the credentials of an address begin with 0x01 or 0x02"
        )),
        (0, _) => Ok(format!("0x00: the hash of a withdrawal key, {found}")),
        (1 | 2, (padding, address)) if padding.iter().all(|byte| *byte == 0) => {
            Ok(format!("0x{prefix:02x}: the address {}", const_hex::encode_prefixed(address)))
        }
        (1 | 2, _) => Err(format!(
            "found {found}: after 0x{prefix:02x} expected eleven bytes of zeros and then the address, or the stake can never \
             be withdrawn"
        )),
        _ => Err(format!(
            "found {found}: expected 0x00, 0x01 or 0x02 as the first byte, or the stake can never be withdrawn"
        )),
    }
}

/// Checks the amount of a deposit in Gwei: at least [`LEAST_DEPOSIT`], and on a network of a known family at most [`MOST_DEPOSIT`].
/// `Ok` says what was found, and `Err` what is wrong.
///
/// # Errors
/// It is less, or more.
pub fn check_amount(amount: u64, family: Option<Family>) -> Result<String, String> {
    let unit = match family {
        Some(Family::Gnosis) => "mGNO",
        Some(Family::Ethereum) | None => "ETH",
    };
    let (whole, parts) = (amount / GWEI, format!(".{:09}", amount % GWEI));
    let found = format!("{whole}{} {unit}", parts.trim_end_matches('0').trim_end_matches('.'));
    if amount < LEAST_DEPOSIT {
        return Err(format!("found {found}, expected at least 1 {unit}, which the deposit contract asks for"));
    }
    if family.is_some() && amount > MOST_DEPOSIT {
        return Err(format!("found {found}, expected at most 2048 {unit}, the most that a validator's stake can be"));
    }
    Ok(found)
}

const GWEI: u64 = 1_000_000_000;
/// The least deposit in Gwei: 1 ETH, on Gnosis 1 mGNO, which is 1/32 GNO.
pub const LEAST_DEPOSIT: u64 = GWEI;
/// The largest stake of a validator in Gwei: 2,048 ETH, on Gnosis 2,048 mGNO, which are 64 GNO.
pub const MOST_DEPOSIT: u64 = 2048 * GWEI;

fn root_of_key(key: &[u8; 48]) -> Root {
    ssz::merkleize(&ssz::leaves(key), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::KnownNetwork;

    fn bytes<const N: usize>(digits: &str) -> [u8; N] {
        const_hex::decode_to_array(digits).unwrap()
    }

    #[test]
    fn roots_that_a_deposit_tool_wrote() {
        // ethereum/staking-launchpad, issue 708.
        let deposit = DepositMessage {
            public_key: bytes(
                "b2fdc483c3de28ea3ba19b8c6a4ee8f9bf5282472d32a41013047d6ded18f644a37043788181dc45a9f16851876a0ed9",
            ),
            withdrawal_credentials: bytes("000dc7ec6563cf6007e31bb90bb4108ba9af92ea053ad9c6c8bb037eced77cb1"),
            amount: 2_500_000_000_000,
        };
        assert_eq!(deposit.root(), bytes("34df4399e644f782c2c364fdfddaf5e64b7612d60ac75751150fb1ee8a419022"));
        let signature = bytes(
            "865ec2fcf1312f4e36fbd9b4d75693bc59cecda6ac1a63ae5aa8d51b9d075f896770546e0dc418ea700caf4e4d3d75ce\
             0b48b24225bf327475539e546f8eeb5d2442b0b99242b444166f0f54e2458904b0a7c28bb0a4cbcd445605c858ee5b22",
        );
        let data_root = bytes("1d71de6a04dc300fa6d4208a65f03056a616fca8c7334eccafb50de81e8f870a");
        assert_eq!(deposit.data_root(&signature), data_root);
    }

    #[test]
    fn every_field_is_signed() {
        let mainnet = KnownNetwork::of_name("mainnet").unwrap();
        let (version, root) = (mainnet.genesis_fork_version(), mainnet.genesis_validators_root);
        let change = CredentialsChange { validator_index: 1, from_public_key: [2; 48], to_address: [3; 20] };
        let signed = change.signing_root(version, &root);
        for other in [
            CredentialsChange { validator_index: 9, ..change },
            CredentialsChange { from_public_key: [9; 48], ..change },
            CredentialsChange { to_address: [9; 20], ..change },
        ] {
            assert_ne!(other.signing_root(version, &root), signed);
        }
        assert_ne!(change.signing_root([9; 4], &root), signed);
        assert_ne!(change.signing_root(version, &[9; 32]), signed);
        let exit = VoluntaryExit { epoch: 1, validator_index: 2 };
        let signed = exit.signing_root(version, &root);
        assert_ne!(VoluntaryExit { epoch: 2, validator_index: 1 }.signing_root(version, &root), signed);
        assert_ne!(exit.signing_root(mainnet.exit_fork_version(), &root), signed);
    }

    #[test]
    fn credentials_that_lock_a_stake_for_ever() {
        let address = [0x11; 20];
        for good in [
            credentials_of_address(Compounding::No, &address),
            credentials_of_address(Compounding::Yes, &address),
            credentials_of_key(&[7; 48]),
        ] {
            assert!(check_withdrawal_credentials(&good).is_ok(), "{good:?}");
        }
        let mut not_padded = [0; 32];
        not_padded[0] = 1;
        not_padded[1..21].copy_from_slice(&address);
        let builder = [&[3; 1][..], &[0; 11], &address].concat().try_into().unwrap();
        let mut address_as_hash = credentials_of_address(Compounding::No, &address);
        address_as_hash[0] = 0;
        let to_nobody = credentials_of_address(Compounding::No, &[0; 20]);
        for (bad, why) in [
            (not_padded, "eleven bytes of zeros"),
            (builder, "expected 0x00, 0x01 or 0x02"),
            (to_nobody, "nobody can withdraw"),
            (address_as_hash, "the credentials of an address begin with 0x01 or 0x02"),
            ([0; 32], "nobody can withdraw"),
            ([0xff; 32], "expected 0x00, 0x01 or 0x02"),
        ] {
            let error = check_withdrawal_credentials(&bad).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn amounts_between_the_least_and_the_most() {
        let text = |amount, family| check_amount(amount, family).unwrap_or_else(|why| why);
        assert_eq!(text(32 * GWEI, Some(Family::Ethereum)), "32 ETH");
        assert_eq!(text(GWEI, Some(Family::Gnosis)), "1 mGNO");
        assert_eq!(text(1_500_000_000, None), "1.5 ETH");
        assert!(check_amount(MOST_DEPOSIT, Some(Family::Ethereum)).is_ok());
        assert!(check_amount(MOST_DEPOSIT + 1, Some(Family::Ethereum)).is_err());
        // How large a stake can be on a network that nobody knows is not known either.
        assert!(check_amount(2500 * GWEI, None).is_ok());
        for family in [None, Some(Family::Ethereum), Some(Family::Gnosis)] {
            for amount in [0, 1, GWEI - 1] {
                assert!(check_amount(amount, family).unwrap_err().contains("at least 1"), "{amount}");
            }
        }
        assert!(text(999_999_999, Some(Family::Ethereum)).starts_with("found 0.999999999 ETH,"));
        assert!(text(0, Some(Family::Ethereum)).starts_with("found 0 ETH,"));
    }
}
