//! The commands of an operator, as processes against a local chain: init, register, status, exit; and what `run` refuses.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_evm::{
    KeyGroup, OperatorKey, alloy_primitives::Bytes, alloy_sol_types::SolCall as _, contract::TaskNetwork,
};
use quorate_host::options;
use quorate_lab::{
    needs::checkout,
    network::{LocalNetwork, LocalOperator, LocalPeers, LocalPrograms, LocalSettings, write_key},
    proxy::Proxy,
    run::{LIMIT, Run as _, Running, command},
};
use quorate_node::network_terms::NetworkTerms;
use serde_json::json;

const TOKEN: &str = "000000000000000000";

fn node(arguments: &[&str]) -> (i32, String) {
    let ran = command("quorate-node").args(arguments).ran();
    (ran.code, ran.all())
}

/// It may hold the key of a provider.
#[test]
fn no_help_shows_the_url_of_a_node() {
    for name in ["create", "fund", "init", "register", "run", "status", "claim", "withdraw", "exit"] {
        for help in ["-h", "--help"] {
            let mut asked = command("quorate-node");
            for variable in ["QUORATE_NODE_RPC", "QUORATE_NODE_WATCH_RPC"] {
                asked.env(variable, "https://node.example/SECRET");
            }
            let shown = asked.args([name, help]).ran().exits(0).all();
            assert!(shown.contains("--rpc <URL>") && !shown.contains("SECRET"), "{name}: {shown}");
        }
    }
}

#[test]
fn what_run_refuses_before_it_asks_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("node").display().to_string();
    for (arguments, code, expected) in [
        (&[][..], 2, "name what the node does"),
        (&["--perform"], 2, "--execute is missing"),
        (&["--attest"], 2, "--validate is missing"),
        (&["--aggregate"], 2, "--key-file is missing"),
        (&["--attest", "--validate", "true", "--http", "0.0.0.0:0"], 2, "add --beyond-loopback"),
        (
            &["--attest", "--validate", "true", "--http-hosts", "node.example,node.example:9601"],
            2,
            "--http-hosts: found",
        ),
        (&["--attest", "--validate", "true", "--http", "nowhere"], 3, "--http nowhere: cannot listen"),
        (&["--attest", "--validate", "true"], 2, "--rpc is missing"),
        (&["--attest", "--validate", "true", "--rpc", "ftp://x"], 2, "--rpc"),
        (&["--attest", "--validate", "true", "--rpc", "http://127.0.0.1:9"], 2, "--contract is missing"),
        (&["--attest", "--validate", "true", "--listen", ""], 2, "--listen names no address"),
        (&["--attest", "--validate", "true", "--aggregator-listen", "localhost:9605"], 2, "an IP address and a port"),
        (&["--attest=perhaps"], 2, "perhaps"),
        (&["--config", "/nowhere/node.toml"], 3, "/nowhere/node.toml"),
    ] {
        let (found, said) = node(&[&["run", "--data", &data], arguments].concat());
        assert!(found == code && said.contains(expected), "{arguments:?}: {found}: {said}");
    }
    fs::write(folder.path().join("node.toml"), "atest = true").unwrap();
    let config = folder.path().join("node.toml").display().to_string();
    let (found, said) = node(&["run", "--config", &config]);
    assert!(found == 2 && said.contains("unknown field `atest`") && said.contains("line 1"), "{said}");
}

/// A link to a disk that is away would leave the node without its options, and `init` would put a file in its place.
#[test]
fn a_file_of_options_that_leads_nowhere_is_not_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("node.toml");
    symlink(folder.path().join("away"), &link).unwrap();
    let data = folder.path().display().to_string();
    let init = ["--rpc", "http://127.0.0.1:9", "--contract", "0x5fbdb2315678afecb367f032d93f642f64180aa3"];
    for arguments in [&[&["init", "--data", &data][..], &init].concat()[..], &["run", "--data", &data]] {
        command("quorate-node").args(arguments).ran().exits(3).says("node.toml").says("No such file or directory");
    }
    assert!(link.is_symlink());
}

/// A flag beside a file, or two lines of a file: nothing that is named has no effect.
#[test]
fn options_that_contradict_the_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (data, file) = (at("node"), at("node.toml"));
    let (here, there) = (["--aggregator-listen", "127.0.0.1:0"], ["--aggregator", "http://127.0.0.1:9"]);
    let libp2p = "is about peers of libp2p";
    for (text, flags, expected) in [
        ("bootstrap = \"/dns4/node.example\"", &here[..], ["--bootstrap", libp2p]),
        ("listen = \"/ip4/127.0.0.1/tcp/0\"", &there, ["--listen", libp2p]),
        ("external = \"/ip4/127.0.0.1/tcp/0\"", &there, ["--external", libp2p]),
        ("private-network = true", &here, ["--private-network", libp2p]),
        ("aggregator = \"http://127.0.0.1:9\"", &["--bootstrap", "x"], ["--bootstrap", libp2p]),
        ("aggregator = \"http://127.0.0.1:9\"", &here, ["--aggregator-listen makes", "--aggregator names another"]),
        ("aggregator = \"http://127.0.0.1:9\"\nlisten = \"x\"", &[], ["--listen", libp2p]),
        ("trusted-proxy = \"127.0.0.1\"", &[], ["--trusted-proxy", "--aggregator-listen, which is missing"]),
        ("task-payload = \"{time}\"", &[], ["--task-payload", "--task-every, which is missing"]),
    ] {
        fs::write(&file, format!("attest = true\nvalidate = \"true\"\n{text}\n")).unwrap();
        let mut run = command("quorate-node");
        run.args(["run", "--data", &data, "--config", &file]).args(flags);
        run.ran().exits(2).says(expected[0]).says(expected[1]);
    }
    fs::write(&file, "attest = true\nvalidate = \"true\"\ntask-payload = \"{time}\"\ntrusted-proxy = \"10.0.0.0/8\"\n")
        .unwrap();
    let mut run = command("quorate-node");
    run.args(["run", "--data", &data, "--config", &file, "--task-every", "12"]).args(here);
    run.ran().exits(2).says("--rpc is missing");
}

/// A mistyped address would get tokens, stake or a role: as a flag, in a variable and in a field of a file.
#[test]
fn addresses_with_a_wrong_digit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("payer"), "07".repeat(32)).unwrap();
    fs::set_permissions(at("payer"), fs::Permissions::from_mode(0o600)).unwrap();
    let (data, payer, rpc) = (at("node"), at("payer"), "http://127.0.0.1:9");
    let refused = |arguments: &[&str], name: &str, why: &str| {
        command("quorate-node").args(arguments).ran().exits(2).says(name).says(why);
    };
    for (wrong, why) in [
        ("0x5FbDB2315678afecb367f032d93F642f64180aa4", "EIP-55"),
        ("5FbDB2315678afecb367f032d93F642f64180aa3", "expected 40 hexadecimal digits after 0x"),
    ] {
        for command in ["run", "init", "register", "fund", "status", "claim", "exit", "withdraw"] {
            refused(&[command, "--data", &data, "--contract", wrong], "--contract", why);
        }
        for command in ["init", "status", "claim"] {
            refused(&[command, "--data", &data, "--operator", wrong], "--operator", why);
        }
        refused(&["run", "--data", &data, "--watch", wrong], "--watch", why);
        let create = ["create", "--rpc", rpc, "--key-file", &payer];
        refused(&[&create[..], &["--token", wrong]].concat(), "--token", why);
        refused(&[&create[..], &["--admin", wrong]].concat(), "--admin", why);
        refused(&[&create[..], &["--give", &format!("{wrong}=500")]].concat(), "--give", why);

        let mut variable = command("quorate-node");
        variable.args(["run", "--data", &data]).env("QUORATE_NODE_CONTRACT", wrong).ran().exits(2).says(why);
        let mut variable = command("quorate-node");
        variable.args(create).env("QUORATE_NETWORK_ADMIN", wrong).ran().exits(2).says(why);
        for field in ["contract", "watch"] {
            fs::write(at("node.toml"), format!("{field} = \"{wrong}\"")).unwrap();
            refused(&["run", "--config", &at("node.toml")], &format!("in `{field} = "), why);
        }
        for field in ["token", "admin"] {
            fs::write(at("terms.toml"), format!("{field} = \"{wrong}\"")).unwrap();
            refused(&[&create[..], &["--terms", &at("terms.toml")]].concat(), &format!("in `{field} = "), why);
        }
    }
    refused(&["create", "--give", "500"], "--give", "write it as 0x…=100");
    // A right checksum, and an address without one: what is refused then is something else.
    for right in ["0x5FbDB2315678afecb367f032d93F642f64180aa3", "0x5fbdb2315678afecb367f032d93f642f64180aa3"] {
        let (found, said) = node(&["run", "--data", &data, "--contract", right]);
        assert!(found == 2 && said.contains("name what the node does"), "{found}: {said}");
    }
}

/// The files that `quorate evm network new` writes: one for `create --terms`, one for `contracts/script/Deploy.s.sol`.
#[test]
fn the_files_of_a_new_network_have_the_defaults() {
    let folder = checkout().join("apps/quorate-cli/src/commands/evm/network");
    let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let text = file("terms.toml");
    let terms: NetworkTerms = options::parse(options::Source { name: "terms.toml", text: &text }).unwrap();
    let plan = NetworkTerms::default().plan(18).unwrap();
    assert_eq!(terms.plan(18).unwrap(), plan);
    // Each term stands there, also those without a default of their own.
    let given = toml_names(&text);
    let clap = <NetworkTerms as clap::Args>::augment_args(clap::Command::new("terms"));
    let names: BTreeSet<_> = clap.get_arguments().filter_map(|flag| flag.get_long()).map(str::to_owned).collect();
    let left_out = ["genesis", "supply"].map(str::to_owned).into();
    assert_eq!(&names - &left_out, given);

    let text = file("terms.env");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let found: Vec<_> = lines.map(|line| line.split_once('=').unwrap()).collect();
    let expected = [
        ("CURVE", plan.key_group.to_string()),
        ("PINNED_SLOTS", plan.pinned_slots.to_string()),
        ("EPOCH_LENGTH", plan.epoch_length.to_string()),
        ("SLASHING_WINDOW", plan.slashing_window.to_string()),
        ("WITHDRAWAL_DELAY", plan.withdrawal_delay.to_string()),
        ("UNIT", plan.unit.to_string()),
        ("MINIMUM_STAKE", plan.minimum_stake.to_string()),
        ("MAXIMUM_OPERATORS", plan.maximum_operators.to_string()),
        ("QUORUM_NUMERATOR", plan.quorum_numerator.to_string()),
        ("QUORUM_DENOMINATOR", plan.quorum_denominator.to_string()),
        ("PERFORMER_REWARD", plan.performer_reward.to_string()),
        ("ATTESTER_REWARD", plan.attester_reward.to_string()),
        ("PENALTY_SHARE", plan.penalty_share.to_string()),
        ("SLASH_SHARE", plan.slash_share.to_string()),
        ("BOUNTY_SHARE", plan.bounty_share.to_string()),
    ];
    assert_eq!(found, expected.each_ref().map(|(name, value)| (*name, value.as_str())));

    // The numbers that the script itself falls back on.
    let script = fs::read_to_string(checkout().join("contracts/script/Deploy.s.sol")).unwrap().replace('_', "");
    for name in [
        "PINNED_SLOTS",
        "MAXIMUM_OPERATORS",
        "QUORUM_NUMERATOR",
        "QUORUM_DENOMINATOR",
        "PENALTY_SHARE",
        "SLASH_SHARE",
        "BOUNTY_SHARE",
    ] {
        let (_, value) = expected.iter().find(|(other, _)| *other == name).unwrap();
        let name = name.replace('_', "");
        let is_default = [format!("\"{name}\", {value}, "), format!("\"{name}\", uint256({value}))")];
        assert!(is_default.iter().any(|default| script.contains(default)), "{name} of Deploy.s.sol is not {value}");
    }
}

/// The names of a file's fields, those that stand in comments included.
fn toml_names(text: &str) -> BTreeSet<String> {
    let fields = text.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
    fields.map(|(name, _)| name.to_owned()).filter(|name| !name.contains(' ')).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_comes_and_goes() {
    let Some(programs) = LocalPrograms::or_skip() else { return };
    // Programs read their input to the end.
    let (execute, validate) = ("sh -c 'cat > /dev/null; echo 1'", "sh -c 'cat > /dev/null'");
    let operator = || LocalOperator { stake: 10, execute: execute.into(), validate: validate.into(), aggregate: true };
    let settings = LocalSettings {
        operators: (0..4).map(|_| operator()).collect(),
        programs,
        peers: LocalPeers::Libp2p,
        block_time: 1,
        task_every: 1,
        task_payload: "{number}".to_owned(),
        epoch_length: 3_600,
        options: Vec::new(),
        first_port: None,
    };
    let network = LocalNetwork::start(settings).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (account, digits) = network.deployer();
    fs::write(at("payer"), digits).unwrap();
    fs::set_permissions(at("payer"), fs::Permissions::from_mode(0o600)).unwrap();
    let (data, socket, payer) = (at("node"), at("signer/signer.sock"), at("payer"));
    let url = network.endpoint();
    let (contract, owner) = (network.deployed().network.to_string(), account.to_string());

    // The folder, and what comes next.
    let begin = [
        ["init", "--data", &data, "--rpc", &url, "--contract", &contract, "--operator", &owner, "--signer", &socket],
        [
            "--key-file",
            &payer,
            "--attest",
            "--validate",
            "true",
            "--poll",
            "200",
            "--http",
            "127.0.0.1:1",
            "--log",
            "text",
        ],
    ]
    .concat();
    let (code, said) = node(&begin);
    assert!(code == 0 && said.contains(&owner) && said.contains("quorate-signer init"), "{code}: {said}");
    assert!(
        said.lines().all(|line| line.chars().count() <= 100 || line.contains("0x") || line.contains('/')),
        "{said}"
    );
    let options = fs::read_to_string(at("node/node.toml")).unwrap();
    assert!(options.contains("attest = true") && options.contains("validate = \"true\""), "{options}");
    let (code, said) = node(&begin);
    assert!(code == 0 && said.contains("stays as it is"), "{code}: {said}");
    // What it prints is for a shell.
    let (data_of_other, socket_of_other) = (at("another node"), at("it's a socket"));
    let of_other =
        ["init", "--data", &data_of_other, "--signer", &socket_of_other, "--rpc", &url, "--contract", &contract];
    let (code, said) = node(&of_other);
    let words = format!("quorate-node run --data '{data_of_other}' --signer '{}'", at("it'\\''s a socket"));
    assert!(code == 0 && said.contains(&words), "{code}: {said}");

    // Nothing is there yet.
    let with = |command: &str, more: &[&str]| node(&[&[command, "--data", &data], more].concat());
    let (code, said) = with("status", &[]);
    assert!(
        code == 1 && said.contains("cannot connect to the signer") && said.contains("has no seat"),
        "{code}: {said}"
    );
    assert!(said.contains("no node answers at http://127.0.0.1:1/"), "{said}");
    assert!(!said.contains("the chain is behind"), "{said}");

    // The node at the address is another operator's, or another network's, or there is to be none.
    let interface = network.interface(0).to_string();
    let (code, said) = with("status", &["--http", &interface]);
    let whose =
        format!("problem     the node at http://{interface}/ is that of operator {}; name", network.operator(0));
    assert!(code == 1 && said.contains(&whose) && !said.contains("node        http"), "{code}: {said}");
    let (_, said) = with("status", &["--http", &interface, "--operator", &network.operator(0).to_string()]);
    assert!(!said.contains("is that of") && said.contains(&format!("node        http://{interface}/, ")), "{said}");
    let (_, said) = with("status", &["--http", ""]);
    assert!(!said.contains("no node answers") && said.contains("node        not asked"), "{said}");

    // The chain stands still.
    let still = Proxy::start(&url);
    still.tells(|question, answer| {
        if question["method"] == "eth_getBlockByNumber" {
            answer["result"]["timestamp"] = json!("0x1");
        }
        true
    });
    let (code, said) = with("status", &["--rpc", &still.url]);
    assert!(code == 1 && said.contains("problem     the chain is behind: its newest block is "), "{code}: {said}");
    let (code, said) = with("register", &["--stake", &format!("5{TOKEN}")]);
    assert!(code == 3 && said.contains("cannot connect to the signer"), "{code}: {said}");
    let (code, said) = with("exit", &[]);
    assert!(code == 1 && said.contains("no stake that waits"), "{code}: {said}");
    let (code, said) = with("withdraw", &["--tokens", "1"]);
    assert!(code == 1 && said.contains("has no seat"), "{code}: {said}");

    // A signer.
    let start_signer = |folder: &Path, seed: u8| {
        write_key(folder, &OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[seed; 48])).unwrap();
        command("quorate-signer").args(network.record_of(folder, account)).ran().exits(0);
        let mut signer = command("quorate-signer");
        signer.arg("run").arg("--data").arg(folder.join("signer")).arg("--keystore").arg(folder.join("keystore.json"));
        signer.arg("--passphrase-file").arg(folder.join("passphrase")).stdout(Stdio::null()).stderr(Stdio::null());
        let signer = Running::start(&mut signer);
        let begun = Instant::now();
        while !folder.join("signer/signer.sock").exists() && begun.elapsed() < LIMIT {
            sleep(Duration::from_millis(50));
        }
        signer
    };
    let _signer = start_signer(folder.path(), 77);

    // The seat.
    let (code, said) = with("register", &["--stake", "5"]);
    assert!(
        code == 2 && said.contains("a stake of 0.000000000000000005 TEST: the network takes none below"),
        "{code}: {said}"
    );
    let (code, said) = with("register", &["--stake", &format!("2000000000{TOKEN}")]);
    assert!(code == 1 && said.contains("less than the stake of 2000000000 TEST"), "{code}: {said}");
    let (code, said) = with("register", &["--rotate"]);
    assert!(code == 1 && said.contains("no seat"), "{code}: {said}");
    let (code, said) = with("register", &["--stake", &format!("5{TOKEN}")]);
    assert!(code == 0 && said.contains("stake 5 TEST, key 4"), "{code}: {said}");
    // Nothing is no stake, and a signer of another key would not put more stake to work.
    for none in [["--tokens", "0"], ["--stake", "0"]] {
        let (code, said) = with("register", &none);
        assert!(code == 2 && said.contains("nothing is no stake") && !said.contains("approve"), "{code}: {said}");
    }
    let (code, said) = with("register", &["--tokens", "1"]);
    assert!(code == 0 && said.contains("stake 6 TEST, key 4") && !said.contains("warning"), "{code}: {said}");
    let other = tempfile::tempdir().unwrap();
    let _other = start_signer(other.path(), 78);
    let socket_of_other = other.path().join("signer/signer.sock").display().to_string();
    let (code, said) = with("register", &["--tokens", "1", "--signer", &socket_of_other]);
    assert!(code == 0 && said.contains("warning: the signer's key is not the registered one of 0x"), "{code}: {said}");
    assert!(said.contains("stake 7 TEST, key 4"), "{said}");
    let (code, said) = with("register", &["--rotate"]);
    assert!(code == 1 && said.contains("RotatedTooSoon"), "a key is replaced once an epoch: {code}: {said}");
    let (code, said) = with("status", &[]);
    assert!(code == 1 && said.contains("stake       7 TEST") && said.contains("key         index 4"), "{said}");
    assert!(!said.contains("no seat") && !said.contains("cannot connect to the signer"), "{said}");

    // A file that is damaged, or that others can read, keeps the node down: systemd does not start it again after 2.
    let refused = |name: &str, mode: u32, expected: &str| {
        let path = Path::new(&data).join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let (code, said) = with("run", &["--http", "127.0.0.1:0", "--listen", "/ip4/127.0.0.1/tcp/0"]);
        assert!(code == 2 && said.contains(expected), "{name}: {code}: {said}");
        path
    };
    let identity = refused("identity", 0o640, "other users can read it");
    fs::set_permissions(identity, fs::Permissions::from_mode(0o600)).unwrap();
    let secret = "a".repeat(64);
    for (name, content, mode, expected) in [
        ("token", secret.as_str(), 0o640, "other users can read it"),
        ("token", "short", 0o600, "visible ASCII characters"),
        ("state", "x\n", 0o600, "/state: "),
        ("tasks.json", "[", 0o600, "this is not a list of tasks"),
    ] {
        fs::write(Path::new(&data).join(name), content).unwrap();
        fs::remove_file(refused(name, mode, expected)).unwrap();
    }

    // The pool, and a network of one's own.
    let (code, said) = with("fund", &["--tokens", "0"]);
    assert!(code == 2 && said.contains("puts nothing into the pool"), "{code}: {said}");
    let (code, said) = with("fund", &["--tokens", "2.5"]);
    assert!(code == 0 && said.contains("pool        ") && said.contains("enough for"), "{code}: {said}");
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut fund = command("quorate-node");
        fund.args(["fund", "--tokens", "1", "--data", &data]).stdout(full).stderr(Stdio::piped());
        let ended = Running::start(&mut fund).ends().exits(3).says("approve: sending transaction 0x");
        let ended = ended.says("approve: mined in block ").says("and nothing more is sent").says("No space left");
        assert!(!ended.err.contains("fund: "), "{ended:#?}");
        // The approval is there, and the same command goes on behind it.
        let (code, said) = with("fund", &["--tokens", "1"]);
        assert!(code == 0 && said.contains("fund: sending") && !said.contains("approve"), "{code}: {said}");
    }
    // A node that fails at the question for the decimals does not make 2.5 tokens something else, and nothing is sent.
    let failing = Proxy::start(&url);
    failing.tells(|question, answer| {
        if question["params"][0]["data"] == "0x313ce567" {
            let error = json!({ "code": -32005, "message": "15/second request limit reached" });
            *answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        true
    });
    for command in ["fund", "register", "withdraw"] {
        let (code, said) = with(command, &["--rpc", &failing.url, "--tokens", "2"]);
        assert!(code == 3 && said.contains("request limit reached"), "{command}: {code}: {said}");
        assert!(!said.contains("sending transaction"), "{command}: {said}");
    }
    let create = ["create", "--rpc", &url, "--key-file", &payer, "--epoch-length", "600", "--slashing-window", "600"];
    let (code, said) = node(&[&create[..], &["--maximum-operators", "1137"]].concat());
    assert!(
        code == 2 && said.contains("1 to 1136"),
        "nothing is sent for terms that the contract refuses: {code}: {said}"
    );
    let (code, said) = node(&create);
    assert!(code == 0 && said.contains("nobody is paid until `quorate-node fund`"), "{code}: {said}");
    let made = said.lines().find_map(|line| line.strip_prefix("contract    ")?.split(',').next()).unwrap().to_owned();
    let of_new = ["--rpc", &url, "--contract", &made, "--key-file", &payer, "--data", &at("none")];
    let (_, said) = node(&[&["status", "--http", &interface], &of_new[..]].concat());
    assert!(said.contains("the pool is empty"), "{said}");
    let whose = format!("the node at http://{interface}/ is that of contract ");
    assert!(said.contains(&whose) && !said.contains("the node: "), "{said}");
    let (code, said) = node(&[&["fund", "--tokens", "100"], &of_new[..]].concat());
    assert!(code == 0 && said.contains("100 "), "{code}: {said}");
    let (_, said) = node(&[&["status"], &of_new[..]].concat());
    assert!(!said.contains("the pool is empty"), "{said}");

    // A part of the stake.
    let (code, said) = with("withdraw", &["--tokens", "0"]);
    assert!(code == 2 && said.contains("takes nothing back"), "{code}: {said}");
    let (code, said) = with("withdraw", &[]);
    assert!(code == 1 && said.contains("no stake that waits"), "{code}: {said}");
    for too_much in ["6.5", "8"] {
        let (code, said) = with("withdraw", &["--tokens", too_much]);
        assert!(
            code == 1 && said.contains("has a stake of 7 TEST") && said.contains("take at most "),
            "{code}: {said}"
        );
    }
    let (code, said) = with("withdraw", &["--tokens", "0.25"]);
    assert!(code == 0 && said.contains("a stake of 6.75 TEST is left"), "{code}: {said}");
    assert!(said.contains("all 0.25 TEST that wait can be paid out from 20"), "{said}");
    let (_, said) = with("status", &[]);
    assert!(said.contains("stake       6.75 TEST"), "the seat stays: {said}");
    let (code, said) = with("withdraw", &[]);
    assert!(code == 1 && said.contains("0.25 TEST can be paid out from 20"), "{code}: {said}");

    // A seat that weighs nothing is one all the same: here the chain's node says so, and in a restaked network the contract may.
    let (code, said) = with("register", &["--restaked"]);
    assert!(code == 1 && said.contains("this network holds the stake itself"), "{code}: {said}");
    let (poor, stake) = (Proxy::start(&url), TaskNetwork::stakeOfCall { operator: account });
    let stake = json!(Bytes::from(stake.abi_encode()));
    poor.tells(move |question, answer| {
        if question["params"][0]["data"] == stake {
            answer["result"] = json!(format!("0x{}", "0".repeat(64)));
        }
        true
    });
    let (code, said) = with("register", &["--rotate", "--rpc", &poor.url]);
    assert!(code == 1 && said.contains("RotatedTooSoon"), "{code}: {said}");
    let (_, said) = with("status", &["--rpc", &poor.url]);
    assert!(said.contains("key         index 4") && !said.contains("has no seat"), "{said}");

    // And away again.
    let (code, said) = with("exit", &["--rpc", &poor.url]);
    assert!(
        code == 0 && said.contains("all 7 TEST can be paid out from 20") && said.contains(" UTC on"),
        "{code}: {said}"
    );
    let (code, said) = with("exit", &[]);
    assert!(code == 1 && said.contains("0.25 TEST can be paid out from 20") && said.contains(" UTC"), "{code}: {said}");

    // Tasks were settled meanwhile. Nothing of a running epoch is paid; of one that is over, all of it, once.
    let settled = network.get(0, "/v1/status").await.unwrap();
    assert!(settled.pointer("/chain/head").is_some(), "{settled}");
    let tasks = network.get(0, "/v1/tasks").await.unwrap();
    let list = tasks.get("tasks").unwrap_or(&tasks).as_array().unwrap().clone();
    let done = list.iter().filter(|task| task.pointer("/settlement/approved") == Some(&json!(true))).count();
    assert!(done > 2, "{tasks}");
    let payer = network.operator_folder(0).join("payer").display().to_string();
    let claim =
        || node(&["claim", "--rpc", &url, "--contract", &contract, "--key-file", &payer, "--data", &at("none")]);
    let (code, said) = claim();
    assert!(code == 1 && said.contains("has earned nothing that waits"), "{code}: {said}");
    network.ask("evm_increaseTime", json!([4 * 3_600])).await.unwrap();
    network.ask("evm_mine", json!([])).await.unwrap();
    let (code, said) = with("exit", &[]);
    assert!(code == 0 && said.contains(&format!("7 TEST was paid to {owner}")), "{code}: {said}");
    let (code, said) = claim();
    assert!(
        code == 0 && said.contains("tally") && said.contains(&format!("was paid to {}", network.operator(0))),
        "{code}: {said}"
    );
    let (code, said) = claim();
    assert!(code == 1 && said.contains("has earned nothing that waits"), "{code}: {said}");
    assert!(network.stop().await.is_empty());
}
