//! What others do for the same task, rebuilt in `contracts/test/baselines`: the contracts of the source, and EigenLayer's
//! `checkSignatures`.

use std::rc::Rc;

use quorate_bn254::{Bn254SecretKey, Bn254Signature, DualKey, hash_to_curve::eigenlayer};
use quorate_evm::{
    KeyGroup, MemberSet, QuorumSignature,
    alloy_primitives::{Address, B256, Bytes, U256, keccak256},
    alloy_sol_types::{SolCall, SolConstructor, SolValue},
    hint::CounterHint,
};

use super::deployed::{Model, Secrets, WEIGHT, row};
use crate::{
    chain::{CHAIN_ID, Chain, Prices},
    row::Row,
};

/// The contracts' ABI and creation code, which `make contracts-snapshots` writes to `abi/`.
mod contract {
    macro_rules! contracts {
        ($($module:ident: $name:ident, $path:literal;)*) => { $(
            // The ABIs share types, so each contract has a module of its own.
            #[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated from the ABI")]
            pub(super) mod $module {
                alloy_sol_types::sol!($name, $path);
            }
            pub(super) use $module::$name;
        )* };
    }

    contracts! {
        sum_of_all: SumOfAll, "abi/SumOfAll.json";
        exact_match: ExactMatchCache, "abi/ExactMatchCache.json";
        difference: DifferenceCache, "abi/DifferenceCache.json";
        eigen_checker: EigenChecker, "abi/EigenChecker.json";
        eigen_deployment: EigenDeployment, "abi/EigenDeployment.json";
    }
}

use contract::{
    DifferenceCache, EigenChecker, EigenDeployment, ExactMatchCache, SumOfAll,
    eigen_checker::{
        Bn254::{G1, G2},
        EigenChecker::Params,
    },
};

/// The result that is settled, again and again.
const RESULT: B256 = B256::repeat_byte(0xa0);

/// The contracts of the source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Baseline {
    Sum,
    Exact,
    Difference,
}

impl Baseline {
    pub(super) const ALL: [Self; 3] = [Self::Sum, Self::Exact, Self::Difference];

    fn name(self) -> &'static str {
        match self {
            Self::Sum => "source/sum-of-all",
            Self::Exact => "source/exact-match",
            Self::Difference => "source/difference",
        }
    }

    fn code(self) -> &'static Bytes {
        match self {
            Self::Sum => &SumOfAll::BYTECODE,
            Self::Exact => &ExactMatchCache::BYTECODE,
            Self::Difference => &DifferenceCache::BYTECODE,
        }
    }

    /// The gas of each quorum of a trace after the full set. `None` if a quorum does not fit a transaction.
    pub(super) fn row(self, model: Model, n: usize, trace: &[MemberSet]) -> Option<Row> {
        // A thousand affine additions do not fit a transaction (EIP-7825).
        if self != Self::Difference && n > 500 {
            return None;
        }
        let mut deployed = DeployedBaseline::new(self, n);
        let gas: Vec<_> = trace.iter().map(|signers| deployed.settle(signers)).collect();
        Some(row(model.name(), self.name(), n, &gas, "no weights, no proof of possession"))
    }
}

/// The difference cache with a quorum that has not changed, so that no key is added: the loop over all bits, once for each
/// member, and what every task costs.
pub(super) fn same_quorum(n: usize) -> Row {
    let mut deployed = DeployedBaseline::new(Baseline::Difference, n);
    let gas = deployed.settle(&MemberSet::full(n));
    row("gas/exact", Baseline::Difference.name(), n, &[gas], "the last quorum again: no key is added")
}

/// A contract of the source whose last quorum is the full set.
struct DeployedBaseline {
    chain: Chain,
    address: Address,
    secrets: Secrets,
    nonce: u64,
}

impl DeployedBaseline {
    fn new(baseline: Baseline, n: usize) -> Self {
        let mut chain = Chain::new(Prices::Osaka);
        let address = chain.create(baseline.code().clone()).expect("the baseline is deployed");
        let secrets = secrets(n);
        for secret in secrets.iter() {
            let bytes = secret.public_key_g2().to_bytes();
            let call = DifferenceCache::registerCall { key: words(&bytes) };
            chain.call(address, call.abi_encode().into()).expect("the key is registered");
        }
        let mut this = Self { chain, address, secrets: Secrets::Bn254(secrets), nonce: 1 };
        // The full set comes first, in parts that fit a transaction.
        for part in (400..n).step_by(400).chain([n]) {
            this.settle(&MemberSet::full(part));
        }
        this
    }

    fn settle(&mut self, signers: &MemberSet) -> u64 {
        let digest = digest(self.address, self.nonce);
        self.nonce += 1;
        let QuorumSignature::Bn254(signature) = self.secrets.sign(signers, &[digest]) else {
            unreachable!("a signature on BN254")
        };
        let hint = CounterHint::new(&digest);
        let call = DifferenceCache::settleCall {
            result: RESULT,
            signers: Bytes::copy_from_slice(signers.as_bytes()),
            proof: [&signature[..], &[hint.counter], &hint.y].concat().into(),
        };
        self.chain.call(self.address, call.abi_encode().into()).expect("the quorum settles")
    }
}

/// EigenLayer's registries as the checker calls them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Registries {
    /// Directly.
    Bare,
    /// Through a proxy each, as EigenLayer deploys them.
    Proxied,
}

impl Registries {
    pub(super) const ALL: [Self; 2] = [Self::Bare, Self::Proxied];

    /// The gas of each quorum of a trace, by EigenLayer's `checkSignatures`.
    pub(super) fn row(self, n: usize, trace: &[MemberSet]) -> Row {
        let (name, registries) = match self {
            Self::Bare => ("eigenlayer/check-signatures", "registries without proxies"),
            Self::Proxied => ("eigenlayer/check-signatures-proxies", "registries behind proxies, as deployed"),
        };
        let absent = trace.iter().map(|signers| n - signers.len()).sum::<usize>() as f64 / trace.len() as f64;
        let note = format!("with stake history; {absent} did not sign on average; {registries}");
        let mut checker = Checker::new(self, n);
        let gas: Vec<_> = trace.iter().map(|signers| checker.settle(signers)).collect();
        row(Model::Miss.name(), name, n, &gas, &note)
    }
}

/// A contract that settles by `checkSignatures`, with registered operators.
struct Checker {
    chain: Chain,
    address: Address,
    secrets: Rc<[Bn254SecretKey]>,
    keys: Vec<DualKey>,
    nonce: u64,
}

impl Checker {
    fn new(registries: Registries, n: usize) -> Self {
        let mut chain = Chain::new(Prices::Osaka);
        let proxied = registries == Registries::Proxied;
        let arguments = EigenDeployment::constructorCall { proxies: proxied };
        let code = [&EigenDeployment::BYTECODE[..], &arguments.abi_encode()].concat();
        let deployment = chain.create(code.into()).expect("the registries are deployed");
        // The checker is what the deployment creates after three registries, and three proxies if it has proxies.
        let address = deployment.create(if proxied { 7 } else { 4 });
        let secrets = secrets(n);
        let keys: Vec<_> = secrets.iter().map(Bn254SecretKey::dual_key).collect();
        for key in &keys {
            let call = EigenChecker::registerCall { key: g1(key), stake: U256::from(WEIGHT).to() };
            chain.call(address, call.abi_encode().into()).expect("the operator is registered");
        }
        // The stake of an earlier block counts.
        chain.wait(12);
        Self { chain, address, secrets, keys, nonce: 1 }
    }

    /// Settles a result. A signature in which one signer is missing must be refused.
    fn settle(&mut self, signers: &MemberSet) -> u64 {
        let message = eigenlayer(&digest(self.address, self.nonce));
        self.nonce += 1;
        let sign = |i: usize| self.secrets[i].sign(&message);
        let call = |signature: Bn254Signature| self.call(signers, &signature);
        let (right, wrong) = (call(signers.iter().map(sign).sum()), call(signers.iter().skip(1).map(sign).sum()));
        self.chain.clone().call(self.address, wrong).expect_err("a signer is missing");
        self.chain.call(self.address, right).expect("the quorum settles")
    }

    fn call(&self, signers: &MemberSet, signature: &Bn254Signature) -> Bytes {
        let id = |key: &G1| keccak256((key.x, key.y).abi_encode());
        let absent = (0..self.keys.len()).filter(|i| !signers.contains(*i));
        let mut absent: Vec<_> = absent.map(|i| g1(&self.keys[i])).collect();
        absent.sort_by_key(id);
        let sum = |keys: Vec<DualKey>| DualKey::aggregate(keys).expect("the sum is not the identity");
        let (all, signed) = (sum(self.keys.clone()), sum(signers.iter().map(|i| self.keys[i]).collect()));
        let [x_im, x_re, y_im, y_re] = words(&signed.g2().to_bytes());
        let [x, y] = words(&signature.to_bytes());
        let params = Params {
            // All operators registered in one block, so that each history has one entry.
            bitmapIndices: vec![0; absent.len()],
            stakeIndices: vec![vec![0; absent.len()]],
            nonSigners: absent,
            quorumKeys: vec![g1(&all)],
            signersKey: G2 { xIm: x_im, xRe: x_re, yIm: y_im, yRe: y_re },
            signature: G1 { x, y },
            quorumKeyIndices: vec![0],
            totalIndices: vec![0],
        };
        let in_block = self.chain.number() as u32 - 1;
        EigenChecker::settleCall { result: RESULT, quorums: vec![0].into(), inBlock: in_block, params }
            .abi_encode()
            .into()
    }
}

/// The secrets of operators with keys on BN254.
fn secrets(n: usize) -> Rc<[Bn254SecretKey]> {
    let Secrets::Bn254(secrets) = Secrets::new(KeyGroup::Bn254G2, n) else { unreachable!("keys of BN254") };
    secrets
}

/// The digest that the baselines and the checker compute for a result.
fn digest(address: Address, nonce: u64) -> [u8; 32] {
    let kind = keccak256("Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)");
    keccak256((kind, U256::from(CHAIN_ID), address, U256::from(nonce), RESULT).abi_encode()).0
}

fn g1(key: &DualKey) -> G1 {
    let [x, y] = words(&key.g1().to_bytes());
    G1 { x, y }
}

/// Bytes as words of 32, of which there must be N.
fn words<const N: usize>(bytes: &[u8]) -> [U256; N] {
    let words: Vec<_> = bytes.chunks(32).map(U256::from_be_slice).collect();
    words.try_into().expect("so many words")
}
