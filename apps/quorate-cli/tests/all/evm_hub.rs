//! Runs `quorate evm hub` on plans that `quorate evm plan` makes.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use getrandom::{SysRng, rand_core::UnwrapErr};
use quorate::Options;
use quorate_evm::{
    Collection, KeyGroup, Network, OperatorKey, Transaction,
    alloy_primitives::{Address, B256},
    gas::{MOST_GAS, Measured},
    hub::{self, Settling},
    transaction::Sender,
};
use quorate_lab::run::{Folder, Ran, Run as _, command};
use serde_json::{Value, json};

const RESULT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const HUB: Address = Address::repeat_byte(0x77);

fn evm(arguments: &[&str]) -> Ran {
    command("quorate").arg("evm").args(arguments).ran()
}

fn secret(key_group: KeyGroup, member: u8) -> OperatorKey {
    OperatorKey::from_entropy(key_group, &[member + 1; 48])
}

/// A settlement of three members, of which two are required. It has settled nothing yet.
fn network(key_group: KeyGroup, contract: u8) -> Network {
    Network {
        epoch: 1,
        required: 2,
        enough: 2,
        keys: (0..3).map(|member| secret(key_group, member).member()).collect(),
        weights: vec![1; 3],
        ..Network::deployed(key_group, 5, Address::repeat_byte(contract))
    }
}

/// Writes a plan of the members 0 and 2 to a file, signed or not. Returns the file and the plan.
fn plan(folder: &Folder, network: &Network, signed: bool) -> (String, Value) {
    let name = network.contract.to_string();
    let of = folder.file(&format!("{name}.network.json"), serde_json::to_vec(network).unwrap());
    let arguments = ["plan", "--network", &of, "--signers", "0,2", "--result", RESULT, "--json"];
    let mut object = evm(&arguments).exits(0).object();
    if signed {
        let digest: [u8; 32] = const_hex::decode_to_array(object["digest"].as_str().unwrap()).unwrap();
        let each = [0, 2].map(|member| (member, secret(network.key_group, member as u8).sign(&digest)));
        let mut collection = Collection::new(network, digest);
        let added = collection.add(&each, &Options::default(), &mut UnwrapErr(SysRng));
        assert!(added.iter().all(Result::is_ok), "{added:?}");
        let signature = const_hex::encode_prefixed(collection.aggregate().unwrap().unwrap().as_bytes());
        object = evm(&[&arguments[..], &["--signature", &signature]].concat()).exits(0).object();
    }
    let file = folder.file(&format!("{name}.plan.json"), object.to_string());
    (file, object)
}

fn hub_of(plans: &[&str]) -> Ran {
    let mut command = command("quorate");
    command.args(["evm", "hub", "--hub", &HUB.to_string()]);
    for plan in plans {
        command.args(["--plan", plan]);
    }
    command.ran()
}

#[test]
fn signed_plans_become_one_transaction() {
    for key_group in [KeyGroup::Bn254G1, KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu] {
        signed_plans_of(key_group);
    }
}

fn signed_plans_of(key_group: KeyGroup) {
    let folder = Folder::new();
    let plans = [1, 2].map(|contract| plan(&folder, &network(key_group, contract), true));
    let printed = hub_of(&[&plans[0].0, &plans[1].0]).exits(0);
    let transaction: Transaction = serde_json::from_value(printed.object()).unwrap();
    let settling = [1, 2].map(|contract| {
        let calldata = const_hex::decode(plans[contract as usize - 1].1["calldata"].as_str().unwrap()).unwrap();
        Settling::of_call(key_group, Address::repeat_byte(contract), &calldata).unwrap()
    });
    assert_eq!((transaction.chain_id, transaction.to, transaction.sender), (5, HUB, Sender::Anyone));
    assert_eq!(transaction.calldata, hub::call(&settling));
    assert_eq!(transaction.access_list, [1, 2].map(Address::repeat_byte));
    assert_eq!(transaction.about, "settle 2 quorums of 2 settlements by a hub");
    let totals = [0, 1].map(|place: usize| plans[place].1["gas"]["total"].as_u64().unwrap());
    let total = Measured::default().hub(key_group, &totals);
    assert!(totals[0] < total && total < totals[0] + totals[1], "{total} of {totals:?}");
    let digits: String = printed.err.chars().filter(char::is_ascii_digit).collect();
    assert_eq!((printed.err.lines().count(), digits), (1, total.to_string()), "{}", printed.err);
}

#[test]
fn plans_that_a_hub_cannot_settle_are_named() {
    let folder = Folder::new();
    let (good, object) = plan(&folder, &network(KeyGroup::Bls12381G2, 1), true);
    let (unsigned, _) = plan(&folder, &network(KeyGroup::Bls12381G2, 2), false);
    let refused = |plans: &[&str], words: &[&str]| {
        words.iter().fold(hub_of(plans).exits(2), |ran, word| ran.says(word));
    };
    refused(&[&good, &unsigned], &["0x0202", "has no signature: plan again with --signature"]);
    hub_of(&["/nowhere.json"]).exits(3).says("cannot read /nowhere.json");
    let changed = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut object = object.clone();
        change(&mut object);
        folder.file(name, object.to_string())
    };
    let other = changed("chain.json", &|plan| plan["chain_id"] = json!(6));
    refused(&[&good, &other], &["chain.json is of chain 6", "first plan of chain 5"]);
    refused(&[&good, &good], &["0x0101", "in the same state of 0x0101", "the hub would skip it"]);
    let other = changed("keys.json", &|plan| plan["key_group"] = json!("bls12381-g2-nu"));
    refused(&[&good, &other], &["keys.json is of chain 5 and keys of bls12381-g2-nu"]);
    let other = changed("bn254.json", &|plan| plan["key_group"] = json!("bn254-g2"));
    refused(&[&other], &["bn254.json", "no hub takes keys of bn254-g2"]);
    let other = changed("call.json", &|plan| plan["calldata"] = json!(B256::ZERO));
    refused(&[&other], &["call.json", "not a call of settle or settleAll"]);
    // Each plan fits a transaction, and both do not.
    let halves = [1, 2].map(|contract| {
        let (_, mut object) = plan(&folder, &network(KeyGroup::Bls12381G2, contract), true);
        object["gas"]["total"] = json!(MOST_GAS / 2 + 60_000);
        folder.file(&format!("half-{contract}.json"), object.to_string())
    });
    refused(&[&halves[0], &halves[1]], &["name fewer plans", "and one has at most 16777216"]);
    hub_of(&[&halves[0]]).exits(0);
    let other = folder.file("text.json", "{}");
    refused(&[&other], &["text.json: this is not what `quorate evm plan --json` prints"]);
    // Without a plan there is nothing to settle.
    refused(&[], &["--plan"]);
}
