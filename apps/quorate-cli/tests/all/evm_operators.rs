//! Runs `quorate evm key`, `register`, `epoch`, `sign` and `aggregate` on real files.
//!
//! Long because each command is run with every kind of trouble, and they share one way to make operators and their lines.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::fs;

use quorate_curve::{Backend, Bls12381Group, G1};
use quorate_evm::{
    KeyGroup, MemberSet, Network, OperatorKey, Order, QuorumSignature,
    alloy_primitives::{Address, B256, Bytes, U256, uint},
    alloy_sol_types::SolCall,
    base::Table,
    bls12381::{self, DigestHash},
    contract::{Settlement, TaskNetwork},
    digest::{Contract, KeyPossession},
    gas::Measured,
};
use quorate_lab::{
    needs::example,
    run::{Folder, Ran, Run as _, command},
};
use serde_json::{Value, json};

const CONTRACT: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const OWNER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const RESULT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const OTHER: &str = "0xb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2";
const DEADLINE: u64 = 1_800_000_000;

fn evm(arguments: &[&str], input: &str) -> Ran {
    command("quorate").arg("evm").args(arguments).ran_with(input)
}

/// What all operators pass to `sign`.
const SIGNED: [&str; 8] = ["--contract", CONTRACT, "--chain", "1", "--epoch", "3", "--nonce", "17"];

fn sign(key_group: &str, key: &str, more: &[&str]) -> Ran {
    let deadline = DEADLINE.to_string();
    let arguments = ["sign", "--key-group", key_group, "--key", key, "--deadline", &deadline];
    evm(&[&arguments, &SIGNED[..], more].concat(), "")
}

/// Operators of one key group with fixed secrets, and a network of them. Each weighs 100; any three are enough.
struct World {
    folder: Folder,
    key_group: KeyGroup,
    operators: Vec<OperatorKey>,
}

impl World {
    fn new(key_group: KeyGroup) -> Self {
        let operators = (1..=4).map(|i| OperatorKey::from_entropy(key_group, &[i; 48])).collect();
        Self { folder: Folder::new(), key_group, operators }
    }

    fn network(&self) -> Network {
        network(self.key_group, self.operators.iter().map(OperatorKey::member).collect())
    }

    /// The network's file.
    fn file(&self) -> String {
        self.folder.file("network.json", serde_json::to_string(&self.network()).unwrap())
    }

    /// The line of an operator, made by the program.
    fn line(&self, index: usize) -> Value {
        self.line_with(index, &["--result", RESULT])
    }

    fn line_with(&self, index: usize, more: &[&str]) -> Value {
        let digits = const_hex::encode(self.operators[index].to_bytes());
        let key = self.folder.file("key", digits);
        private(&key);
        let index = index.to_string();
        sign(self.key_group.name(), &key, &[more, &["--index", &index]].concat()).exits(0).object()
    }

    fn aggregate(&self, lines: &[Value], more: &[&str]) -> Ran {
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        evm(&[&["aggregate", "--network", &self.file()], more].concat(), &input)
    }
}

fn network(key_group: KeyGroup, keys: Vec<Bytes>) -> Network {
    let n = keys.len();
    let Table { key_pages, weight_pages, weights } = Table::paged(key_group, vec![100; n], 1);
    Network {
        key_group,
        chain_id: 1,
        contract: CONTRACT.parse().unwrap(),
        nonce: 17,
        table: 0,
        epoch: 3,
        required: 300,
        enough: 3,
        paid: 0,
        keys,
        weights,
        key_pages,
        weight_pages,
        bases: vec![],
        unknown_newest: None,
    }
}

/// Only its owner can read the file.
fn private(path: &str) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(value: &Value) -> Bytes {
    text(value).parse().unwrap()
}

/// Whether the aggregate is what these signers sign, by the plan of it; and the plan makes calldata with it.
fn settles(network: &Network, signers: &[usize], aggregate: &Value, results: &[B256]) {
    let signers: MemberSet = signers.iter().copied().collect();
    let order = Order { deadline: DEADLINE, ..Order::of(results) };
    let plan = network.plan(&Measured::default(), &signers, order).unwrap();
    let signature = QuorumSignature::from_bytes(network.key_group, &bytes(aggregate)).unwrap();
    assert!(plan.verify(&signature).unwrap());
    assert!(plan.call(&signature).is_ok());
}

/// Keys, registrations, signatures and their sum, in all groups; one key lies in a keystore, the others are plain.
#[test]
fn from_keys_to_a_plan() {
    for key_group in KeyGroup::ALL {
        let folder = Folder::new();
        let name = key_group.name();
        let passphrase = folder.file("passphrase", "correct horse");
        private(&passphrase);
        let (mut members, mut lines) = (Vec::new(), String::new());
        for i in 0..4 {
            let key = folder.path(&format!("operator-{i}"));
            let make = ["key", "--key-group", name, "--out", &key, "--json"];
            let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", &passphrase];
            let (locked, unlock) = if i == 0 { (&keystore[..], &keystore[3..]) } else { (&[][..], &[][..]) };
            let made = evm(&[&make, locked].concat(), "").exits(0).object();
            assert_eq!(made["format"], if i == 0 { "keystore" } else { "plain" });
            let (registered_key, member) = (bytes(&made["key"]), bytes(&made["member"]));
            assert_eq!((registered_key.len(), member.len()), (key_group.key_bytes(), key_group.member_bytes()));
            assert_eq!(made.get("compressed").is_some(), DigestHash::of(key_group).is_some());

            let register = ["register", "--key-group", name, "--key", &key, "--contract", CONTRACT, "--chain", "1"];
            let registered =
                evm(&[&register[..], &["--owner", OWNER, "--json"], unlock].concat(), "").exits(0).object();
            let call = Settlement::registerCall::abi_decode(&bytes(&registered["calldata"])).unwrap();
            assert_eq!((call.owner, &call.key), (OWNER.parse().unwrap(), &registered_key));
            assert_eq!((&call.proof, registered["to"].as_str()), (&bytes(&registered["proof"]), Some(CONTRACT)));
            possesses(key_group, &member, &call.proof);

            members.push(member);
            if i != 1 {
                // Only the first one states its index.
                let index = if i == 0 { &["--index", "0"][..] } else { &[] };
                let more = [&["--result", RESULT, "--result", OTHER], unlock, index].concat();
                let signed = sign(name, &key, &more).exits(0);
                assert!(signed.err.contains(RESULT) && signed.err.contains(CONTRACT), "{}", signed.err);
                assert!(signed.err.contains(text(&signed.object()["digest"])), "{}", signed.err);
                lines += &signed.out;
            }
        }
        let network = network(key_group, members);
        let network_file = folder.file("network.json", serde_json::to_string(&network).unwrap());
        let signed = folder.file("signed.jsonl", lines);
        let aggregate = ["aggregate", "--network", &network_file, &signed];
        let sum = evm(&[&aggregate[..], &["--json"]].concat(), "").exits(0);
        assert_eq!(sum.err, "");
        let sum = sum.object();
        assert_eq!((&sum["signers"], &sum["bitmap"], &sum["members"]), (&json!("0,2,3"), &json!("0xb0"), &json!(3)));
        assert_eq!((&sum["weight"], &sum["required"], &sum["heavy_enough"]), (&json!(300), &json!(300), &json!(true)));
        assert_eq!((&sum["valid"], &sum["invalid"], &sum["refused"]), (&json!(3), &json!(0), &json!(0)));
        settles(&network, &[0, 2, 3], &sum["signature"], &[RESULT.parse().unwrap(), OTHER.parse().unwrap()]);

        // A person sees the same, and `plan` takes it.
        let page = evm(&aggregate, "").exits(0).out;
        let (_, flags) = page.split_once("for quorate evm plan:\n").unwrap();
        let plan = ["plan", "--network", &network_file, "--json"];
        let plan = evm(&plan.into_iter().chain(flags.split_whitespace()).collect::<Vec<_>>(), "").exits(0).object();
        assert_eq!((&plan["signers"], &plan["bitmap"]), (&json!([0, 2, 3]), &sum["bitmap"]));
        assert!(plan["calldata"].is_string() && plan["missing"] == json!([]), "{plan}");
    }
}

/// Checks a proof of possession as the contract does.
fn possesses(key_group: KeyGroup, member: &[u8], proof: &[u8]) {
    let verifier = Contract { chain_id: 1, address: CONTRACT.parse().unwrap() };
    let key = &member[..key_group.key_bytes()];
    let digest = KeyPossession { verifier, owner: OWNER.parse().unwrap(), key }.digest();
    let (signature, hints) = proof.split_at(key_group.signature_bytes());
    if let Some(hash) = DigestHash::of(key_group) {
        let key = bls12381::decode_key(member).unwrap();
        assert!(hash.verify(&key, &[digest], &bls12381::decode_signature(signature).unwrap()) && hints.is_empty());
        return;
    }
    use quorate_bn254::{Bn254PublicKey, Bn254Signature, DualKey, verify};
    let (g2, hint) = hints.split_at(hints.len() - 33);
    let hint = quorate_evm::hint::CounterHint { counter: hint[0], y: hint[1..].try_into().unwrap() };
    let message = hint.check(&digest).unwrap();
    let signature = Bn254Signature::from_bytes(signature).unwrap();
    let key = match key_group {
        KeyGroup::Bn254G1 => DualKey::from_bytes(&[key, g2].concat()).unwrap().g2(),
        _ => Bn254PublicKey::from_bytes(key).unwrap(),
    };
    assert!(verify(&key, &message, &signature));
}

#[test]
fn known_answers_of_another_implementation() {
    let folder = Folder::new();
    let key = folder.file("key", "2a".repeat(32));
    private(&key);
    for (key_group, public, digest, proof) in KNOWN_REGISTRATIONS {
        let register = ["register", "--key-group", key_group, "--key", &key, "--contract", CONTRACT, "--chain", "1"];
        let object = evm(&[&register[..], &["--owner", OWNER, "--json"]].concat(), "").exits(0).object();
        for (field, expected) in [("key", public), ("digest", digest), ("proof", proof)] {
            assert_eq!(object[field], format!("0x{expected}"), "{key_group} {field}");
        }
        // The same for a person.
        let page = evm(&[&register[..], &["--owner", OWNER]].concat(), "").exits(0).out;
        for line in [public, digest, proof, &text(&object["calldata"])[2..]] {
            assert!(page.lines().any(|printed| printed.ends_with(line)), "{line} in {page}");
        }
        let signed = sign(key_group, &key, &["--result", RESULT, "--result", OTHER]).exits(0).object();
        assert_eq!(signed["digest"], format!("0x{KNOWN_RESULTS}"));
    }
}

#[test]
fn a_task_network_gets_the_stake() {
    let world = World::new(KeyGroup::Bn254G2);
    let key = world.folder.file("key", const_hex::encode(world.operators[0].to_bytes()));
    private(&key);
    let register = ["register", "--key-group", "bn254-g2", "--key", &key, "--contract", CONTRACT, "--chain", "1"];
    let register = [&register[..], &["--owner", OWNER]].concat();
    let network = Address::repeat_byte(0xcc).to_string();
    let staked = [&register[..], &["--task-network", &network, "--stake", "1000000000000000000000"]].concat();
    let object = evm(&[&staked[..], &["--json"]].concat(), "").exits(0).object();
    let call = TaskNetwork::registerCall::abi_decode(&bytes(&object["calldata"])).unwrap();
    assert_eq!((call.amount, &call.proof), (uint!(1000000000000000000000_U256), &bytes(&object["proof"])));
    assert_eq!((&object["to"], &object["contract"]), (&json!(network), &json!(CONTRACT)));
    possesses(KeyGroup::Bn254G2, &call.key, &call.proof);
    let page = evm(&staked, "").exits(0).out;
    assert!(page.contains("sent by the owner") && page.contains(&format!("verifier   {CONTRACT}")), "{page}");

    evm(&[&register[..], &["--stake", "1"]].concat(), "").exits(2).says("--task-network");
    evm(&[&register[..], &["--task-network", &network]].concat(), "").exits(2).says("--stake");
    for amount in ["", "-1", "0x10", "1.5", "1.0", "7.", "1e18", &"9".repeat(79)] {
        let stake = format!("--stake={amount}");
        let wrong = [&register[..], &["--task-network", &network, &stake]].concat();
        evm(&wrong, "").exits(2).says("--stake").says("smallest unit");
    }
    let too_much = U256::MAX.to_string();
    evm(&[&register[..], &["--task-network", &network, "--stake", &too_much]].concat(), "").exits(0);
}

/// A key of bls12381-g2 is a key of the suite, for the commands about suites as well.
#[test]
fn a_key_on_bls12381_is_one_of_its_suite() {
    const SUITE: &str = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
    let folder = Folder::new();
    let (key, passphrase) = (folder.path("key.json"), folder.file("passphrase", "p"));
    private(&passphrase);
    let make = ["key", "--key-group", "bls12381-g2", "--out", &key, "--json", "--keystore", "--kdf", "pbkdf2"];
    let made = evm(&[&make[..], &["--passphrase-file", &passphrase]].concat(), "").exits(0).object();
    let signed = sign("bls12381-g2", &key, &["--result", RESULT, "--passphrase-file", &passphrase]).exits(0).object();
    let mut command = command("quorate");
    command.args(["sign", "--suite", SUITE, "--key", &key, "--passphrase-file", &passphrase, "--claim"]);
    command.args(["--message", text(&signed["digest"])]);
    let claim = command.ran().exits(0).object();
    assert_eq!(format!("0x{}", text(&claim["public_key"])), text(&made["compressed"]));
    let signature = quorate::Signature::from_bytes(&const_hex::decode(text(&claim["signature"])).unwrap()).unwrap();
    assert_eq!(bls12381::encode_signature(&signature)[..], bytes(&signed["signature"]));
}

#[test]
fn keys_are_kept_for_their_owner_and_not_overwritten() {
    let folder = Folder::new();
    let key = folder.path("key");
    let make = ["key", "--key-group", "bn254-g1", "--out", &key];
    let page = evm(&make, "").exits(0).out;
    assert!(page.starts_with("key        0x") && page.contains("\nmember     0x"), "{page}");
    let written = fs::read_to_string(&key).unwrap();
    assert_eq!((written.len(), page.contains(written.trim())), (65, false));
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&key).unwrap().permissions()) & 0o777, 0o600);
    evm(&make, "").exits(2).says("exists already");
    assert_eq!(fs::read_to_string(&key).unwrap(), written);
    evm(&[&make[..], &["--force"]].concat(), "").exits(0);
    assert_ne!(fs::read_to_string(&key).unwrap(), written);
    // To standard output: the key file alone, and the public key elsewhere.
    let piped = evm(&["key", "--key-group", "bn254-g2", "--out", "-"], "").exits(0).says("key        0x");
    assert_eq!(piped.out.len(), 65);
    evm(&["key", "--key-group", "bn254-g2", "--out", "-", "--json"], "").exits(2).says("--json");
    evm(&["key", "--out", "x"], "").exits(2).says("--key-group");
    evm(&["key", "--key-group", "bn254", "--out", "x"], "").exits(2).says("there is no key group `bn254`");
}

#[test]
fn keys_that_cannot_be_used_are_refused() {
    let folder = Folder::new();
    let passphrase = folder.file("passphrase", "p");
    let wrong = folder.file("wrong", "q");
    [&passphrase, &wrong].into_iter().for_each(|path| private(path));
    let keystore = |name: &str| {
        let key = folder.path(name);
        let make = ["key", "--key-group", name, "--out", &key, "--keystore", "--kdf", "pbkdf2"];
        evm(&[&make[..], &["--passphrase-file", &passphrase]].concat(), "").exits(0);
        key
    };
    let keys = KeyGroup::ALL.map(|group| (group.name(), keystore(group.name())));
    for (name, key) in &keys {
        for (other, _) in &keys {
            let ran = sign(other, key, &["--result", RESULT, "--passphrase-file", &passphrase]);
            // One secret has the same key in both key groups of BLS12-381.
            if name == other || [name, other].into_iter().all(|name| name.starts_with("bls12381-g2")) {
                ran.exits(0);
            } else {
                let ran = ran.exits(2).says("choose the --key-group that the key was made for").says(key);
                assert_eq!(ran.out, "");
            }
        }
        let ran = sign(name, key, &["--result", RESULT, "--passphrase-file", &wrong]).exits(2);
        assert_eq!(ran.says("passphrase").out, "");
    }
    let jwk =
        folder.file("key.jwk", r#"{"kty":"OKP","crv":"BLS12381G2","d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}"#);
    let order = "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001";
    let outside = folder.file("order", order);
    let zero = folder.file("zero", "00".repeat(32));
    [&jwk, &outside, &zero].into_iter().for_each(|path| private(path));
    sign("bn254-g2", &jwk, &["--result", RESULT]).exits(2).says("a JSON Web Key is on BLS12-381");
    for group in ["bn254-g2", "bn254-g1"] {
        sign(group, &outside, &["--result", RESULT]).exits(2).says("not below the group order");
    }
    let signed = ["bls12381-g2", "bls12381-g2-nu"].map(|group| {
        let signed = sign(group, &outside, &["--result", RESULT]).exits(0).object();
        (signed["key"].clone(), signed["digest"].clone(), signed["signature"].clone())
    });
    assert_eq!((&signed[0].0, &signed[0].1), (&signed[1].0, &signed[1].1));
    assert_ne!(signed[0].2, signed[1].2, "the suites differ");
    for group in ["bls12381-g2", "bls12381-g2-nu"] {
        sign(group, &jwk, &["--result", RESULT]).exits(0);
    }
    for group in KeyGroup::ALL {
        sign(group.name(), &zero, &["--result", RESULT]).exits(2).says("not a secret key");
    }
    sign("bn254-g2", &folder.path("nowhere"), &["--result", RESULT]).exits(3).says("nowhere");
}

/// The command computes what it signs.
#[test]
fn a_bare_digest_is_not_signed() {
    let world = World::new(KeyGroup::Bn254G2);
    let key = world.folder.file("key", const_hex::encode(world.operators[0].to_bytes()));
    private(&key);
    for flag in ["--digest", "--message", "--message-file"] {
        assert_eq!(sign("bn254-g2", &key, &[flag, RESULT, "--result", RESULT]).exits(2).says(flag).out, "");
    }
    assert_eq!(sign("bn254-g2", &key, &[RESULT]).exits(2).out, "");
    sign("bn254-g2", &key, &[]).exits(2).says("--result");
    sign("bn254-g2", &key, &["--result", "0x00"]).exits(2).says("--result");
    sign("bn254-g2", &key, &["--result", RESULT, "--store", "65534"]).exits(2).says("--store");
    let parts = |contract: &'static str| {
        let own =
            ["sign", "--key-group", "bn254-g2", "--chain", "1", "--epoch", "3", "--nonce", "0", "--deadline", "1"];
        [&own[..], &["--result", RESULT, "--contract", contract]].concat()
    };
    let wrong = parts("0x5fbDB2315678afecb367f032d93F642f64180aa3");
    evm(&[&wrong[..], &["--key", &key]].concat(), "").exits(2).says("EIP-55").says("--contract");
    evm(&[&parts("0x00")[..], &["--key", &key]].concat(), "").exits(2).says("40 hexadecimal digits");
}

/// In each flag that takes an address. The address is read before anything that is missing is asked for.
#[test]
fn addresses_with_a_wrong_digit_are_refused() {
    for (commands, flag) in [
        (["evm", "register"], "--owner"),
        (["evm", "register"], "--contract"),
        (["evm", "register"], "--stake-registrar"),
        (["evm", "register"], "--task-network"),
        (["evm", "sign"], "--contract"),
        (["evm", "hub"], "--hub"),
        (["sign", "deposit"], "--withdrawal-address"),
        (["sign", "change"], "--to-address"),
    ] {
        for (wrong, why) in
            [(CONTRACT.replace("0aa3", "0aa4"), "EIP-55"), (CONTRACT[2..].to_owned(), "40 hexadecimal digits after 0x")]
        {
            command("quorate").args(commands).args([flag, &wrong]).ran().exits(2).says(flag).says(why);
        }
    }
}

/// Everything that is signed changes the digest.
#[test]
fn every_part_is_signed() {
    let world = World::new(KeyGroup::Bn254G2);
    let digest = |more: &[&str]| text(&world.line_with(0, more)["digest"]).to_owned();
    let mut digests = vec![
        digest(&["--result", RESULT]),
        digest(&["--result", OTHER]),
        digest(&["--result", RESULT, "--result", OTHER]),
        digest(&["--result", OTHER, "--result", RESULT]),
        digest(&["--result", RESULT, "--store", "0"]),
        digest(&["--result", RESULT, "--store", "1"]),
        digest(&["--result", RESULT, "--store", "rental"]),
    ];
    let key = world.folder.path("key");
    for (flag, value) in
        [("--contract", OWNER), ("--chain", "2"), ("--epoch", "4"), ("--nonce", "18"), ("--deadline", "1800000001")]
    {
        let deadline = DEADLINE.to_string();
        let own = ["--deadline", &deadline];
        let own: Vec<_> =
            SIGNED.chunks(2).chain([&own[..]]).filter(|pair| pair[0] != flag).flatten().copied().collect();
        let start = ["sign", "--key-group", "bn254-g2", "--key", &key, "--result", RESULT, flag, value];
        digests.push(text(&evm(&[&start[..], &own].concat(), "").exits(0).object()["digest"]).to_owned());
    }
    let n = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), n);
    assert_eq!(digest(&["--result", RESULT, "--store", "none"]), digest(&["--result", RESULT]));
}

#[test]
fn false_signatures_are_named_and_the_others_are_added() {
    for key_group in KeyGroup::ALL {
        let world = World::new(key_group);
        let mut lines: Vec<_> = (0..4).map(|i| world.line(i)).collect();
        // Member 2 sends the signature of member 1.
        lines[2]["signature"] = lines[1]["signature"].clone();
        let input: String = lines.iter().map(|line| format!("{line}\n\n")).collect();
        let file = world.folder.file("signed.jsonl", input);
        let network = world.file();
        let arguments = ["aggregate", "--network", &network, &file, "--verdicts", "--json"];
        let ran = evm(&arguments, "").exits(1);
        let reason = "the signature does not match the member's key and the digest";
        let ran = ran.says(&format!("{file}, line 5: the signature of member 2 is false: {reason}"));
        let mut objects = ran.objects();
        let sum = objects.pop().unwrap();
        let verdict = |line: usize, index: usize| json!({"file": file, "line": line, "index": index, "valid": true});
        let mut expected = vec![verdict(1, 0), verdict(3, 1), verdict(5, 2), verdict(7, 3)];
        expected[2]["valid"] = json!(false);
        expected[2]["reason"] = json!(reason);
        assert_eq!(objects, expected);
        assert_eq!((&sum["valid"], &sum["invalid"], &sum["signers"]), (&json!(3), &json!(1), &json!("0,1,3")));
        settles(&world.network(), &[0, 1, 3], &sum["signature"], &[RESULT.parse().unwrap()]);
    }
}

/// Two signatures whose errors cancel: their sum is right, and each is false.
#[test]
fn cancelling_errors_are_both_false() {
    let world = World::new(KeyGroup::Bn254G2);
    let mut lines: Vec<_> = (0..4).map(|i| world.line(i)).collect();
    let swapped = lines[0]["signature"].clone();
    lines[0]["signature"] = lines[1]["signature"].clone();
    lines[1]["signature"] = swapped;
    let ran = world.aggregate(&lines, &["--json"]).exits(1).says("member 0 is false").says("member 1 is false");
    let ran = ran.says("the quorum is too light: it weighs 200, and 300 are required");
    assert_eq!((&ran.object()["signers"], &ran.object()["heavy_enough"]), (&json!("2,3"), &json!(false)));
}

/// Bytes of the right length that are no signature make their line false.
#[test]
fn points_that_are_no_signatures_are_false() {
    let outside = (1u8..).find_map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        let point: G1 = Backend::Portable.decode(&bytes).ok()?;
        (!Backend::Portable.in_subgroup(&[point])[0]).then(|| point.serialize())
    });
    let outside = const_hex::encode(outside.unwrap());
    let p_bn254 = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
    for (key_group, signature, reason) in [
        (KeyGroup::Bls12381G2, "00".repeat(96), "the point is the identity"),
        (KeyGroup::Bls12381G2, "01".repeat(96), "not on the curve"),
        (KeyGroup::Bls12381G2, outside, "not in the subgroup"),
        (KeyGroup::Bls12381G2, format!("ff{}", "01".repeat(95)), "not below the field modulus"),
        (KeyGroup::Bn254G2, "00".repeat(64), "the point is the identity"),
        (KeyGroup::Bn254G1, "00".repeat(64), "the point is the identity"),
        (KeyGroup::Bn254G2, "01".repeat(64), "not on the curve"),
        (KeyGroup::Bn254G2, format!("{p_bn254}{}", "00".repeat(32)), "not below the field modulus"),
    ] {
        let world = World::new(key_group);
        let mut lines: Vec<_> = (0..4).map(|i| world.line(i)).collect();
        lines[3]["signature"] = json!(signature);
        let ran = world.aggregate(&lines, &["--json"]).exits(1);
        let ran = ran.says("standard input, line 4: the signature of member 3 is false: ").says(reason);
        assert_eq!(ran.object()["signers"], "0-2", "{reason}");
    }
}

/// Each line that is refused is named; the others are added up, and the exit code is 2.
#[test]
fn lines_that_are_refused() {
    let world = World::new(KeyGroup::Bls12381G2);
    let lines: Vec<_> = (0..4).map(|i| world.line(i)).collect();
    let refused = |line: Value, reason: &str| {
        let all = [&lines[..3], &[line]].concat();
        let ran = world.aggregate(&all, &["--verdicts", "--json"]).exits(2);
        let ran = ran.says(&format!("standard input, line 4: {reason}"));
        let objects = ran.objects();
        assert_eq!((&objects[3]["valid"], &objects[3]["malformed"]), (&json!(false), &json!(true)), "{reason}");
        assert_eq!((&objects[4]["signers"], &objects[4]["refused"]), (&json!("0-2"), &json!(1)), "{reason}");
    };
    let with = |field: &str, value: Value| {
        let mut line = lines[3].clone();
        line[field] = value;
        line
    };
    refused(lines[1].clone(), "the signature of member 1 is there already");
    refused(with("index", json!(2)), "\"index\": it is not the key of member 2");
    refused(with("index", json!(4)), "\"index\": there is no member 4: the network has 4 keys");
    refused(with("index", json!(-1)), "\"index\"");
    refused(with("signature", json!("00".repeat(64))), "\"signature\": 64 bytes, expected 96 as in bls12381-g2");
    refused(with("signature", json!("0x0")), "\"signature\": found string \"0x0\", expected a valid hex string");
    refused(with("key", json!("00".repeat(128))), "\"key\": 128 bytes, expected 192 as in bls12381-g2");
    refused(with("key_group", json!("bn254-g2")), "\"key\": 192 bytes, expected 128 as in bn254-g2");
    refused(with("key_group", json!("bn254-g1")), "\"signature\": 96 bytes, expected 64 as in bn254-g1");
    refused(with("key_group", json!("g")), "\"key_group\": there is no key group `g`");
    refused(with("results", json!([])), "\"results\": found an empty list");
    refused(with("results", json!([OTHER])), "\"digest\": it is not the digest of the other fields");
    refused(with("deadline", json!(DEADLINE + 1)), "\"digest\": it is not the digest of the other fields");
    refused(with("store", json!(0)), "\"digest\": it is not the digest of the other fields");
    refused(with("store", json!(65534)), "\"store\": expected a slot from 0 to 65533");
    refused(with("digest", json!(OTHER)), "\"digest\": it is not the digest of the other fields");
    refused(with("more", json!(1)), "\"more\": unknown field `more`");
    refused(json!([]), "found a list, expected a JSON object");
    let mut without = lines[3].clone();
    without.as_object_mut().unwrap().remove("deadline");
    refused(without, "missing field `deadline`");
    // What the program itself signs for something else.
    let other = |more: &[&str]| {
        let key = world.folder.file("key", const_hex::encode(world.operators[3].to_bytes()));
        private(&key);
        let deadline = DEADLINE.to_string();
        let own = ["--deadline", &deadline, "--result", RESULT];
        let own = SIGNED.chunks(2).chain(own.chunks(2)).filter(|pair| pair[0] != more[0]).flatten().copied();
        let own: Vec<_> = own.collect();
        evm(&[&["sign", "--key-group", "bls12381-g2", "--key", &key][..], &own, more].concat(), "").exits(0).object()
    };
    refused(other(&["--chain", "5"]), "\"chain_id\": found 5, expected 1 as in the network");
    refused(
        other(&["--contract", OWNER]),
        &format!("\"contract\": found {OWNER}, expected {CONTRACT} as in the network"),
    );
    refused(other(&["--epoch", "2"]), "\"epoch\": found 2, expected 3 as in the network");
    refused(other(&["--nonce", "16"]), "\"nonce\": found 16, expected 17 as in the network");
    for another in [["--result", OTHER], ["--deadline", "1800000001"], ["--store", "0"]] {
        let line = other(&another);
        let expected = format!("expected {}, whose true signers weigh enough", text(&lines[0]["digest"]));
        refused(line.clone(), &format!("\"digest\": found {}, {expected}", text(&line["digest"])));
    }
    // A key that no member has, without an index.
    let stranger = OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[9; 48]);
    let mut line = with("key", json!(stranger.member()));
    line.as_object_mut().unwrap().remove("index");
    refused(line, "\"key\": no member of the network has this key");
    // Lines of another group than the network's.
    let bn254 = World::new(KeyGroup::Bn254G2).line(3);
    refused(bn254, "\"key_group\": found bn254-g2, expected bls12381-g2 as in the network");
}

/// A false line before the true one does not lock a member out, and a member counts once.
#[test]
fn a_member_counts_once_with_a_true_signature() {
    for key_group in [KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu, KeyGroup::Bn254G2] {
        let world = World::new(key_group);
        let lines: Vec<_> = (0..3).map(|i| world.line(i)).collect();
        let mut false_one = lines[0].clone();
        false_one["signature"] = lines[1]["signature"].clone();
        let all = [&[false_one][..], &lines, &lines[..1]].concat();
        let ran = world.aggregate(&all, &["--json"]).exits(2);
        let ran = ran.says("line 1: the signature of member 0 is false");
        let ran = ran.says("line 5: the signature of member 0 is there already");
        let sum = ran.object();
        assert_eq!((&sum["signers"], &sum["weight"]), (&json!("0-2"), &json!(300)));
        settles(&world.network(), &[0, 1, 2], &sum["signature"], &[RESULT.parse().unwrap()]);
    }
}

/// A liar's digest that comes first, or on most lines, stops nobody. The digest counts whose true signers weigh enough.
#[test]
fn the_digest_is_the_one_that_a_quorum_signed() {
    let world = World::new(KeyGroup::Bn254G2);
    let lie = world.line_with(3, &["--result", OTHER]);
    // The liar's line under all numbers, and often.
    let mut lies = vec![lie.clone()];
    for i in 0..3 {
        let mut other = world.line_with(i, &["--result", OTHER]);
        other["signature"] = lie["signature"].clone();
        lies.extend(vec![other; 3]);
    }
    let honest: Vec<_> = (0..3).map(|i| world.line(i)).collect();
    let wanted = text(&honest[0]["digest"]);
    for lines in [[&lies[..1], &honest].concat(), [&lies[..], &honest].concat(), [&honest[..], &lies].concat()] {
        let ran = world.aggregate(&lines, &["--json"]).exits(2);
        let ran = ran.says(&format!("\"digest\": found {}, expected {wanted}, whose true", text(&lie["digest"])));
        let ran = ran.says(&format!("the digest is {wanted}: its true signers weigh enough")).says("(member 3)");
        let sum = ran.object();
        assert_eq!((&sum["signers"], &sum["digest"], &sum["valid"]), (&json!("0-2"), &json!(wanted), &json!(3)));
        assert_eq!(sum["refused"], json!(lines.len() - 3));
        settles(&world.network(), &[0, 1, 2], &sum["signature"], &[RESULT.parse().unwrap()]);
        let verdicts = world.aggregate(&lines, &["--verdicts"]).exits(2);
        let verdicts: Vec<Value> =
            verdicts.out.lines().take(lines.len()).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(verdicts.len(), lines.len());
        for (number, (line, verdict)) in lines.iter().zip(&verdicts).enumerate() {
            let is_honest = line["digest"] == json!(wanted);
            assert_eq!((&verdict["line"], &verdict["valid"]), (&json!(number + 1), &json!(is_honest)), "{verdict}");
            assert_eq!(verdict.get("malformed").is_some(), !is_honest, "{verdict}");
        }
    }
    let lines = [&lies[..1], &honest].concat();
    let ran = world.aggregate(&lines, &["--json", "--digest", wanted]).exits(2);
    let ran = ran.says("standard input, line 1: \"digest\"").says("expected that of --digest");
    assert_eq!((&ran.object()["signers"], &ran.object()["digest"]), (&json!("0-2"), &json!(wanted)));
    world.aggregate(&lines, &["--digest", OTHER]).exits(2).says("all lines are refused");
    // The liar alone is too light, as it is with a flag.
    let alone = world.aggregate(&lies[..1], &["--json"]).exits(1);
    assert_eq!(alone.object()["heavy_enough"], json!(false));
}

/// Two quorums signed, or none: nothing is added up silently.
#[test]
fn two_digests_of_which_neither_or_both_weigh_enough() {
    let world = World::new(KeyGroup::Bn254G2);
    let other = |i: usize| world.line_with(i, &["--result", OTHER]);
    let both: Vec<_> = (0..3).map(|i| world.line(i)).chain((1..4).map(other)).collect();
    let (one, two) = (text(&both[0]["digest"]), text(&both[3]["digest"]));
    let ran = world.aggregate(&both, &["--json", "--verdicts"]).exits(2);
    let ran = ran.says("the true signers of 2 digests weigh enough, so it is not clear which one is meant");
    let ran =
        ran.says(&format!("{one} with 3 true signatures, which weigh")).says(&format!("{two} with 3 true signatures"));
    assert_eq!(ran.says("choose one with --digest").out, "");
    let neither = [world.line(0), world.line(0), other(1)];
    let ran = world.aggregate(&neither, &["--json"]).exits(2);
    let ran = ran.says("the lines are for 2 digests, and the true signers of none weigh");
    let ran = ran.says(&format!("{one} with 1 true signature, which weigh")).says("--digest chooses one");
    assert_eq!(ran.out, "");
    world.aggregate(&both, &["--digest", two]).exits(2).says("expected that of --digest");
}

/// Anyone can send lines that are refused. Their verdicts wait for the choice of a digest in bounded memory.
#[test]
fn verdicts_of_refused_lines_do_not_pile_up() {
    let world = World::new(KeyGroup::Bls12381G2);
    let line = world.line(0);
    let input = format!("{line}\n{}", "x\n".repeat(200_000));
    let (network, digest) = (world.file(), text(&line["digest"]));
    let arguments = ["aggregate", "--network", &network, "--verdicts"];
    let ran = evm(&arguments, &input).refused("take more than 16 MiB").says("choose one with --digest");
    assert_eq!(ran.out, "");
    let ran = evm(&[&arguments[..], &["--json", "--digest", digest]].concat(), &input).exits(2);
    assert_eq!(ran.out.lines().count(), 200_002);
    // Without verdicts nothing is kept.
    let ran = evm(&["aggregate", "--network", &network, "--json"], &input).exits(2);
    assert_eq!(ran.object()["refused"], json!(200_000));
}

/// A network that requires nothing in an epoch: the contract has none, and neither command takes it.
#[test]
fn an_epoch_that_requires_nothing_is_refused() {
    let world = World::new(KeyGroup::Bls12381G2);
    let light = Network { required: 0, enough: 0, weights: vec![], ..world.network() };
    let file = world.folder.file("light.json", serde_json::to_string(&light).unwrap());
    let line = format!("{}\n", world.line(0));
    evm(&["aggregate", "--network", &file], &line).refused("light.json: required: found 0, expected at least 1");
    evm(&["plan", "--network", &file, "--signers", "0"], "").refused("required: found 0, expected at least 1");
}

#[test]
fn nothing_to_add_is_an_error() {
    let world = World::new(KeyGroup::Bn254G2);
    for input in ["", "\n \n"] {
        let ran = evm(&["aggregate", "--network", &world.file()], input).exits(2);
        assert_eq!(ran.says("no signature in standard input, so there is nothing to add").out, "");
    }
    let ran = evm(&["aggregate", "--network", &world.file()], "not a line\n").exits(2);
    assert_eq!(ran.says("line 1: found ").says("all lines are refused").out, "");
    let ran = evm(&["aggregate", "--network", "-"], "").exits(2).says("standard input cannot be read twice");
    assert_eq!(ran.out, "");
    evm(&["aggregate", "--network", "-", "-"], "").exits(2).says("standard input cannot be read twice");
    evm(&["aggregate", "--network", &world.file(), &world.folder.path("nowhere")], "").exits(3).says("nowhere");
    evm(&["aggregate"], "").exits(2).says("--network");
    // The only signature is false.
    let mut line = world.line(0);
    line["signature"] = world.line(1)["signature"].clone();
    let ran = world.aggregate(&[line], &["--json"]).exits(1).says("it weighs 0, and 300 are required");
    assert_eq!((&ran.object()["signature"], &ran.object()["signers"]), (&json!(null), &json!("")));
}

/// A quorum that is too light is said to be, and its page does not say how to settle it.
#[test]
fn a_light_quorum_exits_with_1() {
    let world = World::new(KeyGroup::Bls12381G2);
    let ran = world.aggregate(&[world.line(3), world.line(1)], &[]).exits(1);
    let ran = ran.says("error: the quorum is too light: it weighs 200, and 300 are required");
    assert!(ran.out.contains("signers    1,3") && !ran.out.contains("--signers"), "{}", ran.out);
}

/// Faults of the network's keys are the file's, and nobody's signature is called false. Anyone can send a line of such a member, so it
/// is refused alone: the others are added up.
#[test]
fn keys_of_the_network_that_are_no_keys() {
    for (key_group, is_seen) in
        [(KeyGroup::Bn254G1, true), (KeyGroup::Bn254G1, false), (KeyGroup::Bn254G2, true), (KeyGroup::Bls12381G2, true)]
    {
        let world = World::new(key_group);
        let mut network = world.network();
        let mut line = world.line(1);
        let mut key = network.keys[1].to_vec();
        match (key_group, is_seen) {
            // The key in G2 of another member, and the zeros that stand for one that is in no calldata.
            (KeyGroup::Bn254G1, true) => key[64..].copy_from_slice(&network.keys[2][64..]),
            (KeyGroup::Bn254G1, false) => key[64..].fill(0),
            _ => key[100] ^= 1,
        }
        network.keys[1] = key.into();
        line["key"] = json!(network.keys[1]);
        let file = world.folder.file("broken.json", serde_json::to_string(&network).unwrap());
        let aggregate = |lines: &[Value]| {
            let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
            evm(&["aggregate", "--network", &file, "--verdicts", "--json"], &input).exits(2)
        };
        let reason = format!("the signature of member 1 cannot be checked: {file}: keys[1]: ");
        let ran = aggregate(&[world.line(0), line.clone(), world.line(2), world.line(3)]);
        let ran = ran.says(&format!("standard input, line 2: {reason}"));
        assert!(!ran.err.contains("is false"), "{}", ran.err);
        let objects = ran.objects();
        let [verdicts @ .., sum] = &objects[..] else { panic!("{objects:?}") };
        assert_eq!(verdicts.iter().map(|one| &one["valid"]).collect::<Vec<_>>(), [true, false, true, true]);
        assert_eq!(verdicts[1]["malformed"], json!(true));
        assert!(text(&verdicts[1]["reason"]).starts_with(&reason), "{}", verdicts[1]);
        let counts = (&sum["valid"], &sum["invalid"], &sum["refused"], &sum["signers"]);
        assert_eq!(counts, (&json!(3), &json!(0), &json!(1), &json!("0,2,3")));
        settles(&network, &[0, 2, 3], &sum["signature"], &[RESULT.parse().unwrap()]);
        // Alone, it makes no quorum.
        let ran = aggregate(&[line]).says(&reason).says("it weighs 0, and 300 are required");
        assert_eq!(ran.objects()[1]["signature"], json!(null));
    }
}

/// Under keys that cancel everyone can sign, so no contract accepts their quorum.
#[test]
fn keys_that_cancel_make_no_quorum() {
    let world = World::new(KeyGroup::Bn254G2);
    let r = uint!(0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001_U256);
    let secret = r - U256::from_be_bytes(*world.operators[0].to_bytes());
    let opposite = OperatorKey::from_bytes(world.key_group, &secret.to_be_bytes()).unwrap();
    let world = World { operators: vec![OperatorKey::from_entropy(world.key_group, &[1; 48]), opposite], ..world };
    let file = world.folder.path("network.json");
    let mut network = world.network();
    (network.required, network.enough) = (200, 2);
    let lines = [world.line(0), world.line(1)].map(|line| format!("{line}\n")).concat();
    fs::write(&file, serde_json::to_string(&network).unwrap()).unwrap();
    let ran = evm(&["aggregate", "--network", &file], &lines).exits(2);
    assert_eq!(ran.says(&file).says("the quorum's keys add up to the identity").out, "");
}

/// Two files; the place of each line is in its verdict.
#[test]
fn several_files_are_told_apart() {
    let world = World::new(KeyGroup::Bn254G2);
    let [a, b] = [("a.jsonl", [0, 1]), ("b.jsonl", [2, 3])]
        .map(|(name, members)| world.folder.file(name, members.map(|i| format!("{}\n", world.line(i))).concat()));
    let network = world.file();
    let ran = evm(&["aggregate", "--network", &network, &a, &b, "--verdicts", "--json"], "").exits(0);
    let places: Vec<_> = ran.objects().iter().take(4).map(|v| (v["file"].clone(), v["line"].clone())).collect();
    assert_eq!(places, [(json!(a), json!(1)), (json!(a), json!(2)), (json!(b), json!(1)), (json!(b), json!(2))]);
}

/// A signer whose file begins with a mark of UTF-16 stops nobody: neither the other files, nor the lines behind its own.
#[test]
fn a_mark_of_utf_16_is_the_fault_of_its_line() {
    let world = World::new(KeyGroup::Bn254G2);
    let honest: String = (0..3).map(|i| format!("{}\n", world.line(i))).collect();
    let network = world.file();
    for mark in [b"\xff\xfe", b"\xfe\xff"] {
        let alone = world.folder.path("alone.jsonl");
        fs::write(&alone, mark).unwrap();
        let before = world.folder.path("before.jsonl");
        fs::write(&before, [&mark[..], b"{\n", honest.as_bytes()].concat()).unwrap();
        let others = world.folder.file("honest.jsonl", &honest);
        for files in [&[&alone[..], &others][..], &[&before]] {
            let ran = evm(&[&["aggregate", "--network", &network, "--json"], files].concat(), "").exits(2);
            let ran = ran.says(&format!("{}, line 1: found text in UTF-16, expected UTF-8", files[0]));
            let object = ran.object();
            assert_eq!((&object["signers"], &object["refused"]), (&json!("0-2"), &json!(1)), "{files:?}");
        }
    }
}

/// Two quorums that share no signer could settle two results.
#[test]
fn less_than_half_is_named() {
    let folder = Folder::new();
    let network = example("network.json");
    let weights = folder.file("weights.json", "[10, 20, 30, 40]");
    let epoch = |more: &[&str]| evm(&[&["epoch", "--network", &network, "--weights", &weights], more].concat(), "");
    for part in ["0/1", "1/3", "49/100"] {
        epoch(&["--more-than", part]).exits(2).says("--more-than").says("at least 1/2");
    }
    epoch(&["--more-than", "+2/3"]).exits(2).says("two whole numbers");
    assert_eq!(epoch(&["--more-than", "1/2", "--json"]).exits(0).object()["required"], json!("51"));
    epoch(&["--required", "50"]).exits(0).says("warning: two quorums of 50 without a common signer");
    let enough = epoch(&["--required", "51"]).exits(0);
    assert!(!enough.err.contains("two quorums"), "{enough:?}");
}

#[test]
fn an_epoch_has_calls_for_the_registrar() {
    let folder = Folder::new();
    let network = example("network.json");
    let weights = folder.file("weights.json", "[10, 20, 30, 40]");
    let epoch = |more: &[&str]| evm(&[&["epoch", "--network", &network, "--weights", &weights], more].concat(), "");
    let report = epoch(&["--required", "60", "--json"]).exits(0).object();
    assert_eq!((&report["epoch"], &report["enough"], &report["total"]), (&json!(4), &json!(3), &json!("100")));
    assert_eq!(report["prepare"], json!([]));
    let begin = Settlement::beginCall::abi_decode(&bytes(&report["begin"])).unwrap();
    assert_eq!((begin.threshold, begin.required.to::<u64>(), begin.weights.len()), (30, 60, 32));
    let network: Network = serde_json::from_str(&fs::read_to_string(&network).unwrap()).unwrap();
    let enter = Settlement::enterCall::abi_decode(&bytes(&report["enter"])).unwrap();
    assert_eq!((enter.head, enter.newest), (network.head().encode().unwrap(), network.newest()));
    // More than two thirds of 100.
    let page = epoch(&["--more-than", "2/3"]).exits(0).out;
    assert!(page.contains("epoch      4: 4 members weigh 100\nrequired   67\n"), "{page}");
    for (more, reason) in [
        (&["--required", "101"][..], "found 101, but all members together weigh 100"),
        (&["--required", "0"], "found 0, expected at least 1"),
        (&["--more-than", "1"], "such as 2/3"),
        (&["--more-than", "3/3"], "less than the whole"),
        (&["--more-than", "x/3"], "two whole numbers"),
        (&["--more-than", "1/2", "--required", "60"], "cannot be used with"),
        (&[], "--required"),
    ] {
        epoch(more).exits(2).says(reason);
    }
    folder.file("weights.json", "{\"0\": 1}");
    epoch(&["--required", "1"]).exits(2).says("expected a JSON list of numbers below 2^64");
    folder.file("weights.json", "[1, 2");
    epoch(&["--required", "1"]).exits(2).says("weights.json").says("line 1");
    folder.file("weights.json", format!("{:?}", [1; 13]));
    epoch(&["--required", "1"]).exits(2).says("weights: found 13, expected at most 12, the number of keys");
}

#[test]
fn help_and_pages_fit_80_columns() {
    for command in [&[][..], &["key"], &["register"], &["epoch"], &["call"], &["sign"], &["aggregate"], &["plan"]] {
        let help = evm(&[command, &["--help"]].concat(), "").exits(0).out;
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
        assert!(command.is_empty() || help.contains("Examples:"), "{command:?}");
    }
    let world = World::new(KeyGroup::Bls12381G2);
    let lines: Vec<_> = (0..4).map(|i| world.line(i)).collect();
    let page = world.aggregate(&lines, &[]).exits(0).out;
    let long: Vec<_> = page.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(matches!(long[..], [one] if one.starts_with("--signature 0x")), "{page}");
}

/// The lines of `examples/signatures.jsonl`: members of `examples/network.json`, of whom member 9 sends the signature of
/// member 8.
#[test]
fn the_example_is_what_its_members_sign() {
    let network: Network = serde_json::from_str(&fs::read_to_string(example("network.json")).unwrap()).unwrap();
    let folder = Folder::new();
    let result = format!("0x{}aa", "00".repeat(31));
    let (nonce, epoch) = (network.nonce.to_string(), network.epoch.to_string());
    let (mut expected, mut last) = (String::new(), String::new());
    for i in [0_u8, 1, 3, 4, 6, 7, 8, 9, 10, 11] {
        let operator = OperatorKey::from_entropy(network.key_group, &[i + 1; 48]);
        assert_eq!(operator.member(), network.keys[usize::from(i)]);
        let key = folder.file("key", const_hex::encode(operator.to_bytes()));
        private(&key);
        let index = i.to_string();
        let own = ["sign", "--key-group", "bn254-g2", "--key", &key, "--contract", CONTRACT, "--chain", "1"];
        let own =
            [&own[..], &["--epoch", &epoch, "--nonce", &nonce, "--deadline", "4102444800", "--store", "0"]].concat();
        let ran = evm(&[&own[..], &["--result", &result, "--index", &index]].concat(), "").exits(0);
        let signature = text(&ran.object()["signature"]).to_owned();
        expected += &if i == 9 { ran.out.replace(&signature, &last) } else { ran.out };
        last = signature;
    }
    if std::env::var_os("QUORATE_WRITE_EXAMPLES").is_some() {
        fs::write(example("signatures.jsonl"), &expected).unwrap();
    }
    assert_eq!(
        fs::read_to_string(example("signatures.jsonl")).unwrap(),
        expected,
        "QUORATE_WRITE_EXAMPLES=1 writes it"
    );
}

/// From another implementation: py_ecc's arithmetic and hash, pycryptodome's Keccak, and the words of the ABI by hand. The
/// secret is 32 bytes 0x2a, the contract 0x5FbD… on chain 1, the owner 0x7099….
const KNOWN_REGISTRATIONS: [(&str, &str, &str, &str); 2] = [
    (
        "bls12381-g2",
        "058b3e8b9fc9552e30787cb4a541a1c3bf67a02e91fc648b2c19f4bb333e14c5c73b9bfbc5ec56dadabb07ff15d45124\
         1772c16106e9c70b2073dfe17989225dd10f3adb675365fc6d833587ad4cbd3ae692ad1e20679003f676b0b089e83feb\
         007716a86bd9db89662f87a026604bb85fd531599681071feddab5f40869ea036145f6bcf138e67b986361ce25d9c63c\
         06a63710dada90a4ab7b4c89b64cc2f94dc2e77dd6dc77b0b0653620bee399d05a27aea1c12e96540a80aad355af3d40",
        "98c61fb404f8f3e477ef6f3722df9c6abcabbd8e5bf734aaf68e861851ee122b",
        "160aef59163adb4fc797bf448f2eea3ed8c631a8448d9e3174ff7b8cd7e7d148b0eff4b1e416d0cd28a77924f8a401cd\
         0ca24cc6527d1646a6858042cb05a14194d81ea8778555c0a75aec5cd216788df7ff405bbcf91b20aca6cb74c86471f2",
    ),
    (
        "bn254-g2",
        "042b7b58ea93653f1790a45052464af8c34a0c74314303f673ce7061b42df51227e631283d0e82a5c516ea486c533eac\
         8dac51c30c19199689b86a6a9db0c8802094c7c9c00766f646e06b040d5980597cda3d7482ed6e05ef3b5e8e88f8cb96\
         04dc3bfd3ad079ff415a8e4e90cbc0779fd7f1a4009581448dd20247cb94002d",
        "361f26fe8cd6dc9d70f8a9443f12f6ffdea8ea7b95a1d3e07d9bcd5c600cf0c7",
        "13647c2a3789e461ebe043bed0ff04e35b649d8411f69d0b6500538b788aaa2d10512129f2e6fd882d3737569c22dcda\
         1c5b790092e91498e9a1d48fc6beb788011d10c5ec76492b4a833cba6dc9294b92670ce90fa9df295a9cfaaff5e286ec\
         ac",
    ),
];
/// The digest of the results 0xa1… and 0xb2… in epoch 3 from number 17 on, until 1800000000, stored nowhere.
const KNOWN_RESULTS: &str = "a0ab923e20dc5a483a67192e6e887b95cd5ab4efc8e332e0c233d1d21475b30b";
