//! Runs `quorate evm plan` on the network of `examples/network.json`.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::fs;

use quorate_bn254::{Bn254SecretKey, Bn254Signature, hash_to_curve::try_and_increment};
use quorate_evm::{
    Head, MemberSet, Network, Proof, Quorum,
    alloy_primitives::{U256, keccak256, uint},
    alloy_sol_types::SolCall,
    contract::Settlement,
    quorum::Store,
};
use quorate_lab::{
    needs::example,
    run::{Folder, Ran, Run as _, command},
};
use serde_json::{Value, json};

const RESULT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const OTHER: &str = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2";

/// Runs `quorate evm plan` on the example.
fn plan(arguments: &[&str]) -> Ran {
    plan_of(&example("network.json"), arguments, "")
}

fn plan_of(network: &str, arguments: &[&str], input: &str) -> Ran {
    command("quorate").args(["evm", "plan", "--network", network]).args(arguments).ran_with(input)
}

/// The example's operators sign the digest of a plan.
fn sign(plan: &Value) -> String {
    let signers: Vec<u8> = plan["signers"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as u8).collect();
    let digest = const_hex::decode_to_array(plan["digest"].as_str().unwrap()).unwrap();
    let message = try_and_increment(&digest).point;
    let each = signers.iter().map(|i| Bn254SecretKey::from_entropy(&[i + 1; 48]).sign(&message));
    const_hex::encode_prefixed(each.sum::<Bn254Signature>().to_bytes())
}

#[test]
fn a_plan_says_what_to_do_and_what_is_missing() {
    let object = plan(&["--signers", "!2,5", "--result", RESULT, "--json"]).exits(0).object();
    assert_eq!(
        (&object["key_group"], &object["chain_id"], &object["keys"]),
        (&json!("bn254-g2"), &json!(1), &json!(12))
    );
    // The base is the newest, the full set.
    assert_eq!((&object["base"], &object["added"], &object["removed"]), (&json!(0), &json!([]), &json!([2, 5])));
    let bases: Vec<_> = object["bases"].as_array().unwrap().iter().map(|base| base["slot"].clone()).collect();
    assert_eq!(bases.len(), 4);
    assert_eq!(bases[0], object["base"]);
    let gas: Vec<_> = object["bases"].as_array().unwrap().iter().map(|base| base["gas"].as_u64().unwrap()).collect();
    assert!(gas.is_sorted());
    assert_eq!(object["gas"]["total"], gas[0]);
    let part = |name: &str| object["gas"][name].as_u64().unwrap();
    let parts = ["transaction", "calldata", "head", "difference", "tasks", "check", "store"].map(part);
    assert_eq!(parts.iter().sum::<u64>(), part("total"));
    assert_eq!((&object["key_pages"], &object["keys_passed"]), (&json!([1]), &json!([])));
    // The contract counts ten of twelve members. The access list has the page of keys.
    assert_eq!((&object["weight_bytes_passed"], &object["weighing"]), (&json!(0), &json!("counted")));
    assert_eq!((&object["enough"], &object["call"]), (&json!(9), &json!("settle")));
    let network: Network = serde_json::from_str(&fs::read_to_string(example("network.json")).unwrap()).unwrap();
    assert_eq!(object["access_list"], json!([network.contract.create(1).to_string()]));
    assert_eq!(object["state"], network.state().unwrap().to_string());
    let state = keccak256([bytes(&object["head"]), bytes(&object["newest"])].concat());
    assert_eq!(object["state"], const_hex::encode_prefixed(state));
    assert_eq!(object["results"][0]["nonce"], 17);
    assert_eq!(object["results"][0]["result"], RESULT);
    assert!(object["y"].as_str().unwrap().len() == 66 && object["counter"].is_u64());
    assert_eq!(object["deadline"], json!(null));
    assert_eq!((&object["sum"], object["slopes"].as_array().map(Vec::len)), (&json!("slopes"), Some(2)));
    assert_eq!((object["slopes"][1].as_str().unwrap().len(), object.get("inverse_of_z")), (130, None));
    assert_eq!(object["missing"], json!(["the aggregate signature: --signature HEX"]));
    assert!(object.get("calldata").is_none());
    assert_eq!(object["store"], json!(null));
    let nothing = plan(&["--signers", "0-11", "--json"]).exits(0).object();
    assert_eq!(nothing["missing"][0], "the results: --result HEX");
    assert_eq!((&nothing["base"], nothing.get("sum"), nothing.get("digest")), (&json!(0), None, None));
    assert_eq!((&nothing["weighing"], &nothing["access_list"]), (&json!("counted"), &json!([])));
}

/// Some eight members weigh too little, so the contract reads weights. From the empty quorum many members change, which is
/// cheaper in Jacobian coordinates.
#[test]
fn a_quorum_of_few_is_weighed() {
    let object = plan(&["--signers", "!0,2,4,9", "--result", RESULT, "--json"]).exits(0).object();
    // Twelve weights are so few that they are passed.
    assert_eq!((&object["weighing"], &object["weight_bytes_passed"]), (&json!("from the base"), &json!(96)));
    let text = fs::read_to_string(example("network.json")).unwrap();
    let mut network: Value = serde_json::from_str(&text).unwrap();
    network["bases"] = json!([]);
    let arguments = ["--signers", "0-3,5-7,11", "--result", RESULT];
    let printed = plan_of("-", &arguments, &network.to_string()).exits(0).out;
    for line in
        ["from the weights of all signers", "the empty quorum; call settleAll", "in Jacobian coordinates, with 1/Z"]
    {
        assert!(printed.contains(line), "{line} in {printed}");
    }
    let object = plan_of("-", &[&arguments[..], &["--json"]].concat(), &network.to_string()).exits(0).object();
    assert_eq!((&object["sum"], object["inverse_of_z"].as_str().unwrap().len()), (&json!("jacobian"), 130));
    assert_eq!((&object["weighing"], object["access_list"].as_array().unwrap().len()), (&json!("anew"), 1));
    assert_eq!(object["newest"], format!("0x{}", "0".repeat(64)));
}

/// Ten of twelve members are counted, and weighed with `--weigh`. The digest is the same, and the call is another one.
#[test]
fn a_quorum_is_weighed_on_request() {
    let arguments = ["--signers", "!2,5", "--result", RESULT, "--store", "0", "--json"];
    let counted = plan(&arguments).exits(0).object();
    let weighed = plan(&[&arguments[..], &["--weigh"]].concat()).exits(0).object();
    assert_eq!((&counted["weighing"], &weighed["weighing"]), (&json!("counted"), &json!("from the base")));
    assert_eq!((&counted["weight_bytes_passed"], &weighed["weight_bytes_passed"]), (&json!(0), &json!(96)));
    assert_eq!(counted["digest"], weighed["digest"]);
    assert_eq!(weighed["bases"][0]["gas"], weighed["gas"]["total"]);
    assert!(weighed["gas"]["total"].as_u64() > counted["gas"]["total"].as_u64());
    // Of the base's own members nobody's weight is read, and a weighed quorum stays a weighed base.
    let again = ["--signers", "0-11", "--result", RESULT, "--store", "0", "--weigh", "--json"];
    let again = plan(&again).exits(0).object();
    assert_eq!((&again["weighing"], &again["weight_bytes_passed"]), (&json!("from the base"), &json!(0)));
}

fn bytes(hex: &Value) -> Vec<u8> {
    const_hex::decode(hex.as_str().unwrap()).unwrap()
}

#[test]
fn lists_exceptions_bitmaps_and_names_of_the_option_agree() {
    let expected = plan(&["--signers", "0,1,3-11", "--json"]).exits(0).out;
    for list in ["!2", "0xdff0", " 3-11, 0-1"] {
        assert_eq!(plan(&["--signers", list, "--json"]).exits(0).out, expected, "{list}");
    }
    let mut command = command("quorate");
    command.args(["evm", "plan", "--bases", &example("network.json"), "--signers", "!2", "--json"]);
    assert_eq!(command.ran().exits(0).out, expected);
    let text = fs::read_to_string(example("network.json")).unwrap();
    assert_eq!(plan_of("-", &["--signers", "!2", "--json"], &text).exits(0).out, expected);
}

#[test]
fn a_signature_makes_calldata() {
    let deadline = ["--deadline", "1900000000"];
    let arguments = ["--signers", "!2,5,9", "--result", RESULT, "--result", OTHER, "--store", "3"];
    let arguments = [&arguments[..], &deadline, &["--json"]].concat();
    let unsigned = plan(&arguments).exits(0).object();
    let signature = sign(&unsigned);
    let signed = plan(&[&arguments[..], &["--signature", &signature]].concat()).exits(0).object();
    assert_eq!((&signed["missing"], &signed["store"]), (&json!([]), &json!(3)));
    let calldata = const_hex::decode(signed["calldata"].as_str().unwrap()).unwrap();
    let call = Settlement::settleAllCall::abi_decode(&calldata).unwrap();
    assert_eq!(call.results.iter().map(ToString::to_string).collect::<Vec<_>>(), [RESULT, &format!("0x{OTHER}")]);
    let network: Network = serde_json::from_str(&fs::read_to_string(example("network.json")).unwrap()).unwrap();
    assert_eq!((call.newest, Head::decode(call.head)), (network.newest(), network.head()));
    assert_eq!((call.deadline, &signed["deadline"]), (1_900_000_000, &json!(1_900_000_000)));
    let quorum = Quorum::decode(network.key_group, &call.quorum).unwrap();
    assert_eq!(quorum.signers, (0..12).filter(|i| ![2, 5, 9].contains(i)).collect::<MemberSet>());
    assert_eq!((quorum.store, quorum.base.as_ref()), (Store::Slot(3), Some(&network.bases[1])));
    let Proof::Bn254G2 { signature: packed, hints, .. } = quorum.proof else {
        panic!("the example has keys in G2 of BN254")
    };
    assert_eq!(const_hex::encode_prefixed(packed), signature);
    assert_eq!(hints.len(), 1, "one digest for both results");
    // With the signature the estimate is the same, up to the price of its zero bytes.
    let [before, after] = [&unsigned, &signed].map(|object| object["gas"]["total"].as_u64().unwrap());
    assert!(before >= after && before - after < 200, "{before} {after}");
    // In the text output, the calldata is the last line.
    let printed = plan(&[&arguments[..10], &["--signature", &signature]].concat()).exits(0).out;
    assert_eq!(printed.lines().last(), signed["calldata"].as_str());
    assert!(!printed.contains("missing"), "{printed}");
}

#[test]
fn a_false_signature_makes_none() {
    let arguments = ["--signers", "!2", "--result", RESULT, "--json"];
    let signature = sign(&plan(&arguments).object());
    let other = ["--signers", "!3", "--result", RESULT, "--signature", &signature];
    let ran =
        plan(&other).exits(1).says("the signature is not the sum of these signers' signatures over these results");
    assert_eq!(ran.out, "");
    let other = ["--signers", "!2", "--result", OTHER, "--signature", &signature];
    assert_eq!(plan(&other).exits(1).out, "");
    // The signers sign the slot and the deadline, too.
    for more in [["--store", "0"], ["--deadline", "1900000000"]] {
        plan(&[&arguments[..], &more, &["--signature", &signature]].concat()).exits(1);
    }
    let with = |signature: &str| plan(&[&arguments[..], &["--signature", signature]].concat()).exits(2);
    with("0x00").says("signature: 1 bytes, expected 64");
    with("0xzz").says("--signature is not hexadecimal");
    with(&"01".repeat(64)).says("signature: the point is not on the curve");
    plan(&["--signers", "!2", "--signature", &signature]).exits(2).says("--result");
}

/// Nobody signs a deadline of nothing. A place to store the quorum counts in the gas, also where nothing is settled yet.
#[test]
fn without_results_a_deadline_is_refused_and_a_store_is_priced() {
    for deadline in ["1900000000", "none"] {
        plan(&["--signers", "!2", "--deadline", deadline]).exits(2).says("--result <HEX>");
        plan(&["--signers", "!2", "--result", RESULT, "--deadline", deadline]).exits(0);
    }
    let gas = |more: &[&str]| {
        let object = plan(&[&["--signers", "!2", "--json"], more].concat()).exits(0).object();
        ["total", "store"].map(|name| object["gas"][name].as_u64().unwrap())
    };
    let (without, with) = (gas(&[]), gas(&["--store", "9"]));
    assert!(without[1] == 0 && with[1] > 20_000 && with[0] > without[0] + 20_000, "{without:?} {with:?}");
}

#[test]
fn a_quorum_that_is_too_light_is_said_to_be() {
    for more in [&["--json"][..], &["--result", RESULT]] {
        let ran = plan(&[&["--signers", "0-5"][..], more].concat()).exits(1);
        assert_eq!(ran.says("the quorum is too light: it weighs 220000, and 304000 are required").out, "");
    }
}

#[test]
fn the_page_fits_80_columns() {
    for store in ["0", "2", "rental", "none"] {
        let many = ["--signers", "0,2-4,6,8,10-11", "--result", RESULT, "--result", OTHER, "--store", store];
        let ran = plan(&many).exits(0);
        assert_eq!(ran.err, "");
        for line in ran.out.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(ran.out.contains("if the contract stores the quorum"), store == "rental");
    }
    let help = plan(&["--help"]).exits(0).out;
    for word in [
        "--bases",
        "key_group",
        "bn254-g2",
        "bls12381-g2",
        "bls12381-g2-nu",
        "key_pages",
        "weight_pages",
        "try-and-increment",
        "Examples:",
        "!3,7",
    ] {
        assert!(help.contains(word), "{word} in {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

#[test]
fn lists_that_are_wrong_are_named() {
    for (list, reason) in [
        ("0-12", "--signers \"0-12\": there is no member 12: the network has 12 keys, numbered from 0 to 11"),
        ("1,x", "--signers \"x\": found neither a member's index"),
        ("1,,2", "--signers item 2 is empty"),
        ("5-3", "the range is backwards"),
        ("1,1", "member 1 is named twice"),
        ("!0-11", "there are no signers"),
        ("0x00", "the last byte of the bitmap (1 bytes) is zero"),
        ("0x0000000000000080", "there is no member 56"),
    ] {
        assert_eq!(plan(&["--signers", list]).exits(2).says(reason).out, "", "{list}");
    }
    plan(&[]).exits(2).says("--signers");
    plan(&["--signers", "0", "--result", "00"]).exits(2).says("--result");
    for deadline in ["-1", "tomorrow", "18446744073709551616"] {
        plan(&["--signers", "0", "--result", RESULT, "--deadline", deadline]).exits(2).says("--deadline");
    }
    for store in ["65535", "65534", "-1", "somewhere"] {
        plan(&["--signers", "0", "--store", store]).exits(2);
    }
}

#[test]
fn networks_that_are_wrong_are_named_by_file_and_field() {
    let folder = Folder::new();
    let text = fs::read_to_string(example("network.json")).unwrap();
    let refused = |change: &dyn Fn(&mut Value), reason: &str| {
        let mut network: Value = serde_json::from_str(&text).unwrap();
        change(&mut network);
        let path = folder.file("network.json", network.to_string());
        let ran = plan_of(&path, &["--signers", "0-9"], "").exits(2).says(&path).says(reason);
        assert_eq!(ran.out, "", "{reason}");
    };
    refused(&|network| network["color"] = json!(1), "unknown field `color`");
    refused(
        &|network| network["key_group"] = json!("c"),
        "there is no key group `c`; choose bn254-g2, bn254-g1, bls12381-g2 or",
    );
    // The names of earlier versions.
    for (letter, name) in [("a", "bn254-g2"), ("b", "bn254-g1"), ("d", "bls12381-g2")] {
        let reason = format!("the key group `{letter}` is now written `{name}`");
        refused(&|network| network["key_group"] = json!(letter), &reason);
    }
    refused(
        &|network| {
            let key_group = network.as_object_mut().unwrap().remove("key_group").unwrap();
            network["back_end"] = key_group;
        },
        "unknown field `back_end`, expected one of `key_group`",
    );
    refused(&|network| drop(network.as_object_mut().unwrap().remove("nonce")), "missing field `nonce`");
    refused(&|network| network["keys"][3] = json!("0x00"), "keys[3]: 1 bytes, expected 128");
    refused(&|network| network["keys"][3] = json!("0x0"), "expected a valid hex string");
    refused(&|network| network["key_group"] = json!("bls12381-g2"), "keys[0]: 128 bytes, expected 192");
    refused(&|network| network["required"] = json!("many"), "\"many\" is not a whole number");
    refused(&|network| network["key_pages"][0]["first"] = json!(5), "key_pages[0]: 8 keys from 5 on");
    refused(&|network| network["weight_pages"] = json!([4]), "invalid type: integer `4`, expected struct WeightPage");
    refused(&|network| drop(network.as_object_mut().unwrap().remove("enough")), "missing field `enough`");
    refused(&|network| network["enough"] = json!(8), "enough: found 8, expected at least 9");
    refused(&|network| network["bases"][1]["slot"] = json!(0), "bases[1]: slot 0 already has a base");
    refused(&|network| network["bases"][0]["signers"] = json!("0x"), "bases[0] (slot 0): there are no signers");
    // The nearest base has the key of another base.
    refused(&|network| network["bases"][0]["key"] = network["bases"][1]["key"].clone(), "slot 0 is not the sum");
    // The only members are a key and its opposite.
    let flipped = |network: &mut Value| {
        let p = uint!(0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47_U256);
        let key = network["keys"][0].as_str().unwrap().trim_start_matches("0x").to_owned();
        let minus = |word: &str| format!("{:064x}", p - U256::from_str_radix(word, 16).unwrap());
        let opposite = format!("0x{}{}{}", &key[..128], minus(&key[128..192]), minus(&key[192..]));
        network["keys"] = json!([format!("0x{key}"), opposite]);
        network["weights"] = json!([1, 1]);
        (network["required"], network["enough"]) = (json!(1), json!(1));
        network["key_pages"] = json!([]);
        network["bases"] = json!([]);
    };
    let mut network: Value = serde_json::from_str(&text).unwrap();
    flipped(&mut network);
    let path = folder.file("cancel.json", network.to_string());
    plan_of(&path, &["--signers", "0,1"], "").exits(2).says("the quorum's keys add up to the identity");
    plan_of(&path, &["--signers", "1"], "").exits(0);

    let rubbish = folder.file("rubbish.json", "{\"key_group\": \"bn254-g2\",\n 5}");
    plan_of(&rubbish, &["--signers", "0"], "").exits(2).says(&rubbish).says("line 2").says("quorate evm plan --help");
    plan_of(&folder.path("missing.json"), &["--signers", "0"], "").exits(3).says("cannot read").says("missing.json");
}

/// Runs `quorate evm cost`.
fn cost(arguments: &[&str]) -> Ran {
    command("quorate").args(["evm", "cost"]).args(arguments).ran()
}

/// The ways are ordered by gas, and say between which rows they lie.
#[test]
fn the_cost_of_each_way_is_a_page_or_an_object() {
    let arguments = ["--operators", "150", "--results", "10", "--window", "24", "--rate", "60", "--penalty", "0.1"];
    let page = cost(&[&arguments[..], &["--gas-price", "2", "--eth-price", "3000"]].concat()).exits(0).out;
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for words in [
        "between the rows of 100 and 200 operators",
        "one signature for 10, bls12381-g2-nu",
        "a posting of 10, bn254-g1",
        "24.15 h",
        "144 postings wait at a time",
        "432 slots, each of which holds a result for three windows: a deposit of 43.2 ETH",
        "is demanded",
        "EigenLayer, rebuilt",
        "drop-in for EigenLayer, after extend",
        "drop-in for EigenLayer, without extend",
        " checks by the drop-in for EigenLayer save what its snapshot costs",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let rows = cost(&[&["--operators", "100"][..], &arguments[2..]].concat()).exits(0).out;
    assert!(rows.contains("changed members on, bn254-g1 is cheaper than bls12381-g2-nu"), "{rows}");
    let object = cost(&[&arguments[..], &["--json"]].concat()).exits(0).object();
    let gas: Vec<_> = object["ways"].as_array().unwrap().iter().map(|way| way["gas"].as_u64().unwrap()).collect();
    assert!(gas.is_sorted() && gas.len() > 8, "{gas:?}");
    assert_eq!((&object["measured_operators"], &object["waiting_postings"]), (&json!([100, 200]), &json!(144)));
    assert_eq!(object["changed"], json!(15.0));
    let ways: Vec<_> = object["ways"].as_array().unwrap().iter().map(|way| &way["way"]).collect();
    assert!(ways.contains(&&json!("drop-in-proved")) && ways.contains(&&json!("drop-in")), "{ways:?}");
    assert!(object["break_evens"].as_array().unwrap().iter().any(|even| even["what"] == "snapshot"), "{object}");
}

/// JSON has no number that is infinite.
#[test]
fn cost_refuses_prices_whose_product_is_no_number() {
    for more in [
        &["--gas-price", "1e308", "--eth-price", "1e308"][..],
        &["--gas-price", "1e308"],
        &["--rate", "60", "--penalty", "1e308"],
    ] {
        for format in [&[][..], &["--json"]] {
            let ran = cost(&[&["--operators", "100"], more, format].concat()).exits(2);
            assert!(ran.out.is_empty() && ran.err.contains("the cost is too large for a number"), "{ran:?}");
        }
    }
}

#[test]
fn a_cost_that_was_not_measured_is_refused() {
    for (arguments, words) in [
        (&["--operators", "1200"][..], "gas was measured with 4 to 1000"),
        (&["--operators", "150", "--changed", "60"], "at most 24"),
        (&["--operators", "100", "--results", "5000"], "no transaction of more than 131,072 bytes"),
        (&["--operators", "100", "--changed", "ten"], "a part such as 10%"),
        (&["--operators", "100", "--demanded", "150%"], "the part of the postings"),
        (&["--operators", "100", "--window", "0"], "the window (--window): found 0, expected hours above 0"),
        (&["--operators", "100", "--gas-price", "nan"], "--gas-price"),
        (&["--operators", "100", "--penalty", "1"], "--rate"),
        (&[], "--operators"),
    ] {
        let ran = cost(arguments).exits(2);
        assert!(ran.err.contains(words), "{words}: {ran:?}");
    }
}
