//! Settlements whose members weigh what they have at stake in a restaking protocol: deployed by the scripts, and driven by the
//! programs alone. The protocols are the mocks of the contracts' tests.

use std::{fs, os::unix::fs::PermissionsExt as _};

use quorate_evm::{
    Network,
    alloy_primitives::{Address, U256},
    contract::StakeRegistrar,
    state,
};

use quorate_lab::anvil::TestNode;

use crate::tools::{Transcript, Workplace};

/// A chain with a protocol, and the folder of all files.
struct World {
    folder: Workplace,
    node: TestNode,
    /// The network file's name in `contracts/deployments`, since both tests write one.
    name: &'static str,
}

/// How many operators there are. Operator i, from 0 on, is account i + 1 and has (i + 1)·100 at stake.
const OPERATORS: usize = 4;

impl World {
    fn new(name: &'static str) -> Option<Self> {
        let world = Self { folder: Workplace::new()?, node: TestNode::start()?, name };
        for account in 0..=OPERATORS {
            let path = world.folder.path(&format!("account-{account}.key"));
            fs::write(&path, world.node.key(account)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Some(world)
    }

    fn bash(&self, script: &str) -> Transcript {
        let (url, name) = (self.node.url(), self.name);
        let forge = "forge() { (cd contracts && bin/forge script \"$@\" --rpc-url \
                     $QUORATE_CHAIN_RPC --private-key 0x$(cat $HERE/account-0.key) --broadcast); }";
        let start = format!("export QUORATE_CHAIN_RPC={url} HERE=$PWD NETWORK_FILE=deployments/{name}.json\n{forge}");
        self.folder.bash(&format!("{start}\n{script}"))
    }

    /// Puts the mocks on the chain, and gives the addresses that the script returns.
    fn protocol(&self, function: &str, names: &[&str]) -> Vec<Address> {
        let operators: Vec<_> = (1..=OPERATORS).map(|account| self.node.account(account).to_string()).collect();
        let script =
            format!("forge test/mocks/DeployRestaking.s.sol --sig '{function}(address[])' '[{}]'", operators.join(","));
        let ran = self.bash(&script).ends(0);
        names.iter().map(|name| returned(&ran, name)).collect()
    }

    fn network(&self) -> Network {
        serde_json::from_str(&self.folder.read("network.json")).unwrap()
    }

    /// Registers all operators, begins an epoch by what they have at stake, and settles a result.
    fn settles(&self, registrar: Address) {
        let register = |operator: usize, payer: usize| {
            let owner = self.node.account(operator + 1);
            format!(
                "quorate evm register --key-group bn254-g1 --key operator-{operator}.key --network network.json \
                 --owner {owner} --stake-registrar {registrar} --transactions > register-{operator}.jsonl
                 quorate-chain send --transactions register-{operator}.jsonl --key-file account-{payer}.key\n"
            )
        };
        let prepare = format!("cp contracts/deployments/{}.json network.json\n", self.name)
            + &(0..OPERATORS)
                .map(|i| format!("quorate evm key --key-group bn254-g1 --out operator-{i}.key\n"))
                .collect::<String>();
        self.bash(&prepare).ends(0);
        let other = self.node.account(2);
        let wrong = self.bash(&register(0, 2)).ends(2);
        wrong.says(&["the owner of the key, has to send this", &format!("the key is that of {other}")]);
        let all: String = (0..OPERATORS).map(|operator| register(operator, operator + 1)).collect();
        self.bash(&all).ends(0);
        // A second key in the same epoch: the registrar's error, in words.
        let again = self.bash(&register(0, 1)).ends(1);
        again.says(&["SeatTaken (operator = 0x", "The operator has a seat already. Rotate instead."]);

        let follow = "quorate-chain follow --once --confirmations 0\n";
        let weigh = "quorate-chain weigh --step 3 --key-file account-0.key\n";
        let ran = self.bash(&format!("{follow}{weigh}{follow}")).ends(0);
        ran.says(&["weigh operators", "begin the epoch: 4 keys weigh 1000, required: 667", "enter the epoch"]);
        assert_eq!(ran.out.matches("weigh operators").count(), 2, "three operators, and then one");
        let network = self.network();
        assert_eq!((&network.weights[..], network.required, network.epoch), (&[100, 200, 300, 400][..], 667, 1));
        // The next epoch is not due, and nothing is sent.
        let block = self.node.block();
        self.bash(weigh).ends(1).says(&["the next epoch is due in"]);
        assert_eq!(self.node.block(), block);

        let signed = |operators: &[usize]| {
            let sign = |operator: &usize| {
                format!(
                    "quorate evm sign --key-group bn254-g1 --key operator-{operator}.key --network network.json \
                     --deadline 4102444800 --result 0x{:064x} >> signed.jsonl\n",
                    7
                )
            };
            "rm -f signed.jsonl\n".to_owned() + &operators.iter().map(sign).collect::<String>()
        };
        let aggregate = "quorate evm aggregate --network network.json --json signed.jsonl > quorum.json\n";
        // Operators 0, 1 and 2 weigh 600.
        let light = self.bash(&format!("{}{aggregate}", signed(&[0, 1, 2]))).ends(1);
        light.says(&["600", "667"]);
        let settle = "quorate evm plan --network network.json --quorum quorum.json --json > plan.json
            quorate-chain send --plan plan.json --key-file account-0.key\n";
        self.bash(&format!("cp network.json behind.json\n{}{aggregate}{settle}{follow}", signed(&[2, 3]))).ends(0);
        assert_eq!(self.network().nonce, 1);

        // A day later the next epoch begins, and the timer that is late finds nothing to do.
        self.node.pass(86_400);
        // An epoch that is due and cannot begin is a failure for the timer, unlike one that is not due.
        let block = self.node.block();
        self.bash(&format!("{} --max-fee 1\n", weigh.trim_end())).ends(3).says(&["more than --max-fee 1"]);
        assert_eq!(self.node.block(), block);
        // As if a result had settled while operators were weighed, and then the epoch began: the file is behind, and `follow` writes none.
        self.node.send(registrar, &StakeRegistrar::weighCall { count: U256::from(OPERATORS) });
        let packed = self.node.read(registrar, &StakeRegistrar::weightsCall {});
        let weights: Vec<_> = packed.as_chunks::<8>().0.iter().map(|weight| u64::from_be_bytes(*weight)).collect();
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let (threshold, _) = state::enough(&weights, total * 2 / 3 + 1);
        self.node.send(registrar, &StakeRegistrar::beginEpochCall { threshold });
        self.bash(follow).ends(1).says(&["epoch 2 was begun", "--network FILE"]);
        let behind = weigh.replace("--step", "--network behind.json --step");
        self.bash(&format!("{behind}{follow}")).ends(0).says(&["enter the epoch"]);
        assert_eq!((self.network().epoch, self.network().nonce), (2, 1));
        self.bash(weigh).ends(1).says(&["the next epoch is due in"]);
    }
}

/// The address that a script returns under a name: `name: contract Kind 0x…`.
fn returned(ran: &Transcript, name: &str) -> Address {
    let start = format!("{name}: ");
    let line = ran.out.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("{name} is not in:\n{}", ran.out));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn stake_of_eigenlayer() {
    let Some(world) = World::new("test-eigenlayer") else { return };
    let [manager, strategy] = world.protocol("eigenLayer", &["manager", "strategy"])[..] else { unreachable!() };
    let avs = world.node.account(0);
    let right =
        format!("CURVE=bn254-g1 GENESIS=0 ALLOCATION_MANAGER={manager} AVS={avs} OPERATOR_SET=7 STRATEGIES={strategy}");
    let deploy = |variables: &str| world.bash(&format!("{right} {variables} forge script/DeployEigenLayer.s.sol"));
    let block = world.node.block();
    for (variables, words) in [
        ("CURVE=bn254", "UnknownCurve(\"bn254\")"),
        ("ALLOCATION_MANAGER=", "Missing(\"ALLOCATION_MANAGER\")"),
        (&format!("ALLOCATION_MANAGER={avs}"), "NoContract(\"ALLOCATION_MANAGER\""),
        ("AVS=", "Missing(\"AVS\")"),
        ("STRATEGIES=", "Missing(\"STRATEGIES\")"),
        (&format!("STRATEGIES={strategy},{strategy}"), "NotRising(\"STRATEGIES\", 1)"),
        ("MULTIPLIERS=1,2", "OneMultiplierEach(2, 1)"),
        ("MULTIPLIERS=0", "OutOfBounds(\"MULTIPLIERS\", 0"),
        ("LOOKAHEAD=100800", "OutOfBounds(\"LOOKAHEAD\", 100800"),
        ("QUORUM_NUMERATOR=3", "OutOfBounds(\"QUORUM_NUMERATOR\", 3"),
        ("QUORUM_NUMERATOR=1", "OutOfBounds(\"QUORUM_NUMERATOR\", 1"),
        ("GENESIS=1800000000000", "OutOfBounds(\"GENESIS\", 1800000000000"),
        ("READ_GAS=8000000", "OutOfBounds(\"READ_GAS\", 8000000"),
    ] {
        deploy(variables).ends(1).says(&[words]);
    }
    assert_eq!(world.node.block(), block, "something was deployed");
    let registrar = returned(&deploy("").ends(0), "registrar");
    world.settles(registrar);
}

#[test]
fn stake_of_symbiotic() {
    let Some(world) = World::new("test-symbiotic") else { return };
    let [registry, opt_ins, vault] = world.protocol("symbiotic", &["registry", "optIns", "vault"])[..] else {
        unreachable!()
    };
    let network = world.node.account(0);
    let right = format!(
        "CURVE=bn254-g1 GENESIS=0 NETWORK_REGISTRY={registry} OPERATOR_REGISTRY={registry} VAULT_FACTORY={registry} \
         OPT_IN_SERVICE={opt_ins} NETWORK={network} VAULTS={vault}"
    );
    let deploy = |variables: &str| world.bash(&format!("{right} {variables} forge script/DeploySymbiotic.s.sol"));
    let block = world.node.block();
    for (variables, words) in [
        (&format!("OPT_IN_SERVICE={network}")[..], "NoContract(\"OPT_IN_SERVICE\""),
        (&format!("NETWORK={opt_ins}"), "BadParameter(\"network\")"),
        (&format!("VAULTS={opt_ins}"), "BadParameter(\"vaults\")"),
        // Half of the vault's 14 days, so no hour is left for the weighing.
        ("EPOCH_LENGTH=604800", "BadParameter(\"epochDuration\")"),
        ("READ_GAS=4000000", "OutOfBounds(\"READ_GAS\", 4000000"),
    ] {
        deploy(variables).ends(1).says(&[words]);
    }
    assert_eq!(world.node.block(), block, "something was deployed");
    let registrar = returned(&deploy("").ends(0), "registrar");
    world.settles(registrar);
}
