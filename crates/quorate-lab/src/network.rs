//! A whole network on this machine: a chain, its contracts, and operators with a signer and a node each, as processes. For
//! the demonstration, for tests with processes, and for benchmarks.
//!
//! Everything listens on loopback, on free ports. Whatever was started ends with the [`LocalNetwork`], also after a panic.
//! The keys are made for it, and worth nothing elsewhere.

use std::{
    collections::BTreeMap,
    env, fs, io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use alloy::node_bindings::AnvilInstance;
use quorate_chain::{
    FeeLimits, Payer, Rpc,
    account::Account,
    deploy::{Deployed, NetworkPlan, task_network},
};
use quorate_evm::{
    KeyGroup, OperatorKey,
    alloy_primitives::{Address, U256, hex},
    contract::{Erc20, TaskNetwork},
    digest::Contract,
};
use quorate_keystore::{
    keystore::{Kdf, Keystore, KeystoreOptions, Pbkdf2},
    passphrase::Passphrase,
    secret::Secret,
    secret_file::{self, Existing},
};
use quorate_node::transport::Identity;
use serde_json::Value;
use tokio::time::sleep;
use zeroize::Zeroizing;

use crate::{
    anvil,
    needs::skip,
    run::{Running, free_ports, programs},
};

/// What to start.
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// Of each operator: its stake in units, and what its node does.
    pub operators: Vec<LocalOperator>,
    /// What is started.
    pub programs: LocalPrograms,
    /// How the nodes talk to each other.
    pub peers: LocalPeers,
    /// A block every so many seconds, at least one.
    pub block_time: u64,
    /// A task every so many seconds; zero for none.
    pub task_every: u64,
    /// The payload of these tasks.
    pub task_payload: String,
    /// The length of an epoch in seconds.
    pub epoch_length: u64,
    /// The options of every node, each followed by its value, beside those that follow from the rest. An option that would
    /// follow from the rest has the value that is given here.
    pub options: Vec<String>,
    /// The port of the first node's dashboard; of the others, the ports behind it. None takes free ones.
    pub first_port: Option<u16>,
}

/// The programs of a local network.
#[derive(Clone, Debug)]
pub struct LocalPrograms {
    /// `quorate-node`.
    pub node: PathBuf,
    /// `quorate-signer`.
    pub signer: PathBuf,
    /// `quorate-lab`, which does the work of the operators.
    pub lab: PathBuf,
    /// `anvil`.
    pub anvil: PathBuf,
}

impl LocalPrograms {
    /// Ours of the same build as the program that runs, and the chain's program.
    ///
    /// # Errors
    /// [`LocalError::Missing`] names the first that is absent.
    pub fn find() -> Result<Self, LocalError> {
        let ours = |name: &str| {
            let program = programs().join(name);
            let how = "`cargo build -p quorate-node -p quorate-signer -p quorate-lab --features quorate-lab/network`, with \
                       the profile of this program, makes it";
            if program.is_file() { Ok(program) } else { Err(LocalError::Missing { program, how }) }
        };
        let (node, signer, lab) = (ours("quorate-node")?, ours("quorate-signer")?, ours("quorate-lab")?);
        let how = "`make contracts` installs it, or name one in QUORATE_ANVIL";
        let anvil = anvil::find().ok_or_else(|| LocalError::Missing { program: "anvil".into(), how })?;
        Ok(Self { node, signer, lab, anvil })
    }

    /// The same for a test; `None`, with a printed line, if one is absent.
    ///
    /// # Panics
    /// If one is absent and `CI=true`.
    #[track_caller]
    pub fn or_skip() -> Option<Self> {
        Self::find().map_err(|missing| skip(missing)).ok()
    }

    /// The command that executes a task of the demonstration or judges its result; one that lies does both falsely.
    pub fn work(&self, lie: bool) -> String {
        // Quotation marks keep a path with spaces one word.
        format!("'{}' demo-work{}", self.lab.display(), if lie { " --lie" } else { "" })
    }
}

/// An operator of a local network.
#[derive(Clone, Debug)]
pub struct LocalOperator {
    /// In stake units.
    pub stake: u64,
    /// The command that executes a task.
    pub execute: String,
    /// The command that judges a result.
    pub validate: String,
    /// Whether the node settles tasks.
    pub aggregate: bool,
}

/// How the nodes of a local network talk to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalPeers {
    /// By libp2p. The first three nodes are known to all.
    Libp2p,
    /// By HTTP to the first node.
    Http,
}

/// A part of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalPart {
    /// The node.
    Node,
    /// The signer.
    Signer,
}

/// A local network could not be started, or a part of it did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A program is absent.
    #[error("there is no {}: {how}", program.display())]
    Missing {
        /// The program.
        program: PathBuf,
        /// What to do.
        how: &'static str,
    },
    /// A program cannot be started.
    #[error("{} cannot be started: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The chain cannot be started.
    #[error("anvil cannot be started: {0}")]
    Anvil(String),
    /// The chain refused something.
    #[error("the local chain: {0}")]
    Chain(String),
    /// A key could not be made.
    #[error("a key for the local network: {0}")]
    Key(String),
    /// A part did not get ready in time, or ended.
    #[error("operator {operator}: the {part} is not ready: {why}")]
    NotReady {
        /// The operator.
        operator: usize,
        /// `node` or `signer`.
        part: &'static str,
        /// What its log says last.
        why: String,
    },
}

/// A network that runs. Dropping it kills every process of it.
#[derive(Debug)]
pub struct LocalNetwork {
    // Dropped in this order: what writes to the folder ends before the folder goes.
    parts: BTreeMap<(usize, LocalPart), Running>,
    anvil: AnvilInstance,
    folder: tempfile::TempDir,
    settings: LocalSettings,
    rpc: Rpc,
    deployed: Deployed,
    /// The first second of epoch 0.
    genesis: u64,
    interfaces: Vec<SocketAddr>,
    listens: Vec<SocketAddr>,
    /// The chain's endpoint of nodes that have one of their own.
    endpoints: BTreeMap<usize, String>,
    client: reqwest::Client,
}

/// How often each of so many nodes looks for new blocks, in milliseconds: all ask one chain, which shares the machine with them,
/// so together they ask it at most 50 times a second.
fn poll_ms(operators: usize) -> usize {
    (20 * operators).max(200)
}

/// The name by which questions of [`LocalNetwork::get`] call a node, as a proxy in front of it does.
const HOST: &str = "operator.example";
/// How long a part may take until it is ready.
const READY: Duration = Duration::from_secs(300);
/// How long a part may take to end when it was asked to.
const ENDS: Duration = Duration::from_secs(120);
/// How long a node may take to answer a question.
const ANSWERS: Duration = Duration::from_secs(60);
/// What weighs 1, in the token's smallest unit: one token.
const UNIT: u128 = 1_000_000_000_000_000_000;
/// Of the key derivation of their keystores: cheap, because the keys are worth nothing elsewhere.
const ITERATIONS: u64 = 1_000;
/// The same is why their passphrase is not a secret.
const PASSPHRASE: &str = "a key of a local network";

impl LocalNetwork {
    /// Starts the chain, deploys the contracts, registers the operators with their keys and stakes, begins the first epoch,
    /// and starts a signer and a node for each. Returns when every node is ready.
    ///
    /// If the future is dropped before, all that was started ends. So whoever handles signals drops it when one comes.
    /// If the process ends without dropping it, by a signal that it does not handle, what was started runs on.
    ///
    /// # Errors
    /// [`LocalError`]. What was started by then has ended.
    pub async fn start(settings: LocalSettings) -> Result<Self, LocalError> {
        let folder = tempfile::Builder::new().prefix("quorate-local-").tempdir();
        let folder = folder.map_err(|source| LocalError::File { path: env::temp_dir(), source })?;
        let accounts = settings.operators.len() + 1;
        let program = settings.programs.anvil.clone();
        // It waits until the chain listens, and would hold up the caller's handling of signals. If the caller gives up
        // meanwhile, the chain is dropped, and ends, as soon as it has started.
        let anvil = tokio::task::spawn_blocking(move || anvil::start(&program, accounts)).await;
        let anvil = anvil.map_err(|error| LocalError::Anvil(error.to_string()))?;
        let anvil = anvil.map_err(|error| LocalError::Anvil(error.to_string()))?;
        let rpc = Rpc::new(&anvil.endpoint()).map_err(chain)?;
        let interfaces = ports(settings.operators.len(), settings.first_port)?;
        // Held, so that none of the others is one of these. Whoever has one already is told when its node starts.
        let held: Vec<_> = interfaces.iter().map(TcpListener::bind).collect();
        let listens = ports(settings.operators.len(), None)?;
        drop(held);
        // Without idle connections, which a node ends when it likes, also as a question is written to them.
        let client = reqwest::Client::builder().timeout(ANSWERS).no_proxy().pool_max_idle_per_host(0).build();
        let client = client.map_err(|error| LocalError::Chain(error.to_string()))?;
        let deployer = account(&rpc, &anvil, 0).await?;
        let plan = NetworkPlan {
            unit: UNIT,
            minimum_stake: UNIT,
            supply: U256::from(UNIT) * U256::from(1_000_000_000_u64),
            pool: U256::from(UNIT) * U256::from(1_000_000_u64),
            performer_reward: UNIT / 10,
            attester_reward: UNIT,
            epoch_length: settings.epoch_length,
            slashing_window: settings.epoch_length,
            withdrawal_delay: 3 * settings.epoch_length,
            // Some seats stay free, for operators that come later.
            maximum_operators: u32::try_from(settings.operators.len() + 16).unwrap_or(u32::MAX),
            ..NetworkPlan::default()
        };
        let deployed = task_network(&deployer, &plan).await.map_err(chain)?;
        let genesis = genesis(&rpc, &deployed).await?;
        let mut this = Self {
            settings,
            folder,
            anvil,
            rpc,
            deployed,
            genesis,
            parts: BTreeMap::new(),
            interfaces,
            listens,
            endpoints: BTreeMap::new(),
            client,
        };
        for operator in 0..this.settings.operators.len() {
            this.admit(&deployer, operator).await?;
        }
        deployer.send("the first epoch", deployed.network, &TaskNetwork::snapshotCall {}).await.map_err(chain)?;
        this.ask("evm_setIntervalMining", serde_json::json!([this.settings.block_time.max(1)])).await?;
        for operator in 0..this.settings.operators.len() {
            this.start_part(operator, LocalPart::Signer)?;
        }
        for operator in 0..this.settings.operators.len() {
            this.signer_ready(operator).await?;
            this.start_part(operator, LocalPart::Node)?;
        }
        for operator in 0..this.settings.operators.len() {
            this.node_ready(operator).await?;
        }
        Ok(this)
    }

    /// Gives an operator its key, its tokens and its seat.
    async fn admit(&self, deployer: &Account, operator: usize) -> Result<(), LocalError> {
        let folder = self.operator_folder(operator);
        fs::create_dir_all(&folder).map_err(file(&folder))?;
        let key = self.key(operator);
        write_key(&folder, &key)?;
        let payer = folder.join("payer");
        let digits = hex::encode(self.anvil.keys()[operator + 1].to_bytes());
        secret_file::write(&payer, digits.as_bytes(), Existing::Refuse)
            .map_err(|error| LocalError::Key(error.to_string()))?;

        let account = account(&self.rpc, &self.anvil, operator + 1).await?;
        let (owner, amount) =
            (account.address(), U256::from(self.settings.operators[operator].stake) * U256::from(UNIT));
        let Deployed { token, verifier, network, .. } = self.deployed;
        let verifier = Contract { chain_id: self.anvil.chain_id(), address: verifier };
        let registration = key.registration(verifier, owner);
        let (key, proof) = (registration.key, registration.proof);
        deployer.send("tokens", token, &Erc20::transferCall { to: owner, value: amount }).await.map_err(chain)?;
        account
            .send("approval", token, &Erc20::approveCall { spender: network, value: amount })
            .await
            .map_err(chain)?;
        account
            .send("registration", network, &TaskNetwork::registerCall { key, proof, amount })
            .await
            .map_err(chain)?;
        Ok(())
    }

    /// Starts a part of an operator, also after it was killed. It may not be ready yet.
    ///
    /// # Errors
    /// [`LocalError::Program`].
    pub fn start_part(&mut self, operator: usize, part: LocalPart) -> Result<(), LocalError> {
        let (program, arguments) = match part {
            LocalPart::Signer => (self.settings.programs.signer.clone(), self.signer_arguments(operator)),
            LocalPart::Node => (self.settings.programs.node.clone(), self.node_arguments(operator)),
        };
        if part == LocalPart::Signer && !self.operator_folder(operator).join("signer").exists() {
            let made = Command::new(&program).args(self.signer_record(operator)).output();
            let made = made.map_err(|source| started(&program, source))?;
            if !made.status.success() {
                let why = String::from_utf8_lossy(&made.stderr).trim().to_owned();
                return Err(LocalError::NotReady { operator, part: "signer", why });
            }
        }
        let log = self.log(operator, part);
        let log = fs::File::options().create(true).append(true).open(&log).map_err(file(&log))?;
        let child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(file(&self.log(operator, part)))?)
            .stderr(log)
            .spawn()
            .map_err(|source| started(&program, source))?;
        self.parts.insert((operator, part), Running { child });
        Ok(())
    }

    /// The command that starts an operator's node. A second process of it finds the folder in use.
    pub fn node_command(&self, operator: usize) -> Command {
        let mut command = Command::new(&self.settings.programs.node);
        command.args(self.node_arguments(operator));
        command
    }

    /// From its next start on, a node asks this endpoint about the chain.
    pub fn set_endpoint(&mut self, operator: usize, url: String) {
        self.endpoints.insert(operator, url);
    }

    /// Asks a part to end, as `kill -TERM` does, and waits until it has. `None` if it did not within two minutes; it runs on
    /// then.
    pub async fn end(&mut self, operator: usize, part: LocalPart) -> Option<ExitStatus> {
        let process = i32::try_from(self.process(operator, part)?).ok().and_then(rustix::process::Pid::from_raw)?;
        // It may have ended already.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let begun = Instant::now();
        while begun.elapsed() < ENDS {
            if let Some(Ok(Some(status))) = self.parts.get_mut(&(operator, part)).map(|part| part.child.try_wait()) {
                self.parts.remove(&(operator, part));
                return Some(status);
            }
            sleep(Duration::from_millis(20)).await;
        }
        None
    }

    /// Kills a part as `kill -9` does. It is gone when this returns.
    pub fn kill(&mut self, operator: usize, part: LocalPart) {
        drop(self.parts.remove(&(operator, part)));
    }

    /// Waits until a node answers that it is ready.
    ///
    /// # Errors
    /// [`LocalError::NotReady`], with what its log says last.
    pub async fn node_ready(&mut self, operator: usize) -> Result<(), LocalError> {
        let url = format!("http://{}/readyz", self.interfaces[operator]);
        let client = self.client.clone();
        self.ready(operator, LocalPart::Node, || {
            let (client, url) = (client.clone(), url.clone());
            async move { client.get(url).send().await.is_ok_and(|answer| answer.status().is_success()) }
        })
        .await
    }

    /// Waits until a signer listens.
    ///
    /// # Errors
    /// [`LocalError::NotReady`], with what its log says last.
    pub async fn signer_ready(&mut self, operator: usize) -> Result<(), LocalError> {
        let socket = self.socket(operator);
        self.ready(operator, LocalPart::Signer, || {
            // Of a signer that was killed the socket is still there.
            let listens = UnixStream::connect(&socket).is_ok();
            async move { listens }
        })
        .await
    }

    async fn ready<F: Future<Output = bool>>(
        &mut self,
        operator: usize,
        part: LocalPart,
        is_ready: impl Fn() -> F,
    ) -> Result<(), LocalError> {
        let begun = Instant::now();
        loop {
            if is_ready().await {
                return Ok(());
            }
            let ended =
                self.parts.get_mut(&(operator, part)).is_none_or(|part| !matches!(part.child.try_wait(), Ok(None)));
            if ended || begun.elapsed() > READY {
                let name = if part == LocalPart::Node { "node" } else { "signer" };
                return Err(LocalError::NotReady { operator, part: name, why: self.last_lines(operator, part) });
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// What a node answers to a GET of its HTTP interface, such as `/v1/tasks`.
    ///
    /// # Errors
    /// [`LocalError::NotReady`] if it does not answer with JSON.
    pub async fn get(&self, operator: usize, path: &str) -> Result<Value, LocalError> {
        let request = self.client.get(format!("http://{}{path}", self.interfaces[operator])).header("host", HOST);
        Ok(self.answer(operator, request).await?.1)
    }

    /// Hands a node a task with `POST /v1/tasks`: the status of the answer, and the answer.
    ///
    /// # Errors
    /// [`LocalError::NotReady`] if it does not answer with JSON.
    pub async fn post_task(&self, operator: usize, body: &Value) -> Result<(u16, Value), LocalError> {
        let path = self.operator_folder(operator).join("node").join("token");
        let token = fs::read_to_string(&path).map_err(file(&path))?;
        let request = self.client.post(format!("http://{}/v1/tasks", self.interfaces[operator]));
        let request = request.header("authorization", format!("Bearer {}", token.trim()));
        self.answer(operator, request.header("content-type", "application/json").body(body.to_string())).await
    }

    /// Why a node is not ready, as `/readyz` says; nothing if it is ready.
    ///
    /// # Errors
    /// [`LocalError::NotReady`] if it does not answer with JSON.
    pub async fn reasons(&self, operator: usize) -> Result<Vec<String>, LocalError> {
        let request = self.client.get(format!("http://{}/readyz", self.interfaces[operator]));
        let (_, answer) = self.answer(operator, request).await?;
        let reasons = answer.get("reasons").and_then(Value::as_array).into_iter().flatten();
        Ok(reasons.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    async fn answer(&self, operator: usize, request: reqwest::RequestBuilder) -> Result<(u16, Value), LocalError> {
        let failed = |why: String| LocalError::NotReady { operator, part: "node", why };
        let answer = request.send().await.map_err(|error| failed(error.to_string()))?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(|error| failed(error.to_string()))?;
        Ok((status, serde_json::from_slice(&body).map_err(|error| failed(error.to_string()))?))
    }

    /// Asks the local chain something, such as `anvil_reorg`.
    ///
    /// # Errors
    /// [`LocalError::Chain`].
    pub async fn ask(&self, method: &'static str, parameters: Value) -> Result<Value, LocalError> {
        self.rpc.ask(method, parameters).await.map_err(chain)
    }

    /// The chain's endpoint.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// The contracts.
    pub fn deployed(&self) -> &Deployed {
        &self.deployed
    }

    /// The network's contract on its chain.
    pub fn network(&self) -> Contract {
        Contract { chain_id: self.anvil.chain_id(), address: self.deployed.network }
    }

    /// The chain's endpoint, as a URL.
    pub fn endpoint(&self) -> String {
        self.anvil.endpoint()
    }

    /// The key of an operator. Like all keys of a local network it is worth nothing elsewhere.
    pub fn key(&self, operator: usize) -> OperatorKey {
        let mut entropy = [0; 48];
        entropy[..8].copy_from_slice(&(operator as u64 + 1).to_be_bytes());
        OperatorKey::from_entropy(KeyGroup::Bls12381G2, &entropy)
    }

    /// Where the peers of a node reach it: a multiaddress, or with HTTP the first node's address.
    pub fn peer_address(&self, operator: usize) -> Option<String> {
        match self.settings.peers {
            LocalPeers::Libp2p => self.address(operator),
            LocalPeers::Http => Some(format!("http://{}", self.listens[0])),
        }
    }

    /// The account of an operator.
    pub fn operator(&self, operator: usize) -> Address {
        self.anvil.addresses()[operator + 1]
    }

    /// The account that deployed the contracts, which is not an operator, and its key in hexadecimal. It has all other tokens.
    pub fn deployer(&self) -> (Address, String) {
        (self.anvil.addresses()[0], hex::encode(self.anvil.keys()[0].to_bytes()))
    }

    /// Where a node's dashboard is.
    pub fn interface(&self, operator: usize) -> SocketAddr {
        self.interfaces[operator]
    }

    /// The folder of an operator: `node`, `signer`, keys and logs.
    pub fn operator_folder(&self, operator: usize) -> PathBuf {
        self.folder.path().join(operator.to_string())
    }

    /// The number of a process.
    pub fn process(&self, operator: usize, part: LocalPart) -> Option<u32> {
        self.parts.get(&(operator, part)).map(|part| part.child.id())
    }

    /// Ends every node in order, then everything else. Says which nodes did not end by themselves within two minutes.
    pub async fn stop(mut self) -> Vec<usize> {
        let nodes: Vec<_> = self.parts.keys().filter(|(_, part)| *part == LocalPart::Node).copied().collect();
        for key in &nodes {
            if let Some(part) = self.parts.get(key)
                && let Some(process) = i32::try_from(part.child.id()).ok().and_then(rustix::process::Pid::from_raw)
            {
                // It may have ended already.
                let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
            }
        }
        let begun = Instant::now();
        let mut left = nodes;
        while !left.is_empty() && begun.elapsed() < ENDS {
            left.retain(|key| self.parts.get_mut(key).is_some_and(|part| matches!(part.child.try_wait(), Ok(None))));
            sleep(Duration::from_millis(20)).await;
        }
        left.into_iter().map(|(operator, _)| operator).collect()
    }

    fn socket(&self, operator: usize) -> PathBuf {
        self.operator_folder(operator).join("signer").join("signer.sock")
    }

    fn log(&self, operator: usize, part: LocalPart) -> PathBuf {
        self.operator_folder(operator).join(if part == LocalPart::Node { "node.log" } else { "signer.log" })
    }

    /// The end of a part's log.
    pub fn last_lines(&self, operator: usize, part: LocalPart) -> String {
        let text = fs::read_to_string(self.log(operator, part)).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }

    fn signer_record(&self, operator: usize) -> Vec<String> {
        self.record_of(&self.operator_folder(operator), self.operator(operator))
    }

    /// The arguments with which a signer makes the record of an account, from the key in a folder ([`write_key`]).
    pub fn record_of(&self, folder: &Path, operator: Address) -> Vec<String> {
        let Deployed { verifier, network, .. } = self.deployed;
        let path = |name: &str| folder.join(name).display().to_string();
        [
            ["init".to_owned(), "--key-group=bls12381-g2".to_owned()].to_vec(),
            pairs([
                ("--data", path("signer")),
                ("--keystore", path("keystore.json")),
                ("--passphrase-file", path("passphrase")),
                ("--chain-id", self.anvil.chain_id().to_string()),
                ("--contract", network.to_string()),
                ("--verifier", verifier.to_string()),
                ("--operator", operator.to_string()),
                ("--genesis", self.genesis.to_string()),
                ("--epoch-length", self.settings.epoch_length.to_string()),
                ("--slashing-window", self.settings.epoch_length.to_string()),
            ]),
        ]
        .concat()
    }

    fn signer_arguments(&self, operator: usize) -> Vec<String> {
        let folder = self.operator_folder(operator);
        let path = |name: &str| folder.join(name).display().to_string();
        let options = [
            ("--data", path("signer")),
            ("--keystore", path("keystore.json")),
            ("--passphrase-file", path("passphrase")),
        ];
        [vec!["run".to_owned()], pairs(options)].concat()
    }

    fn node_arguments(&self, operator: usize) -> Vec<String> {
        let settings = &self.settings;
        let LocalOperator { execute, validate, aggregate, .. } = &settings.operators[operator];
        let folder = self.operator_folder(operator);
        let options = [
            ("--data", folder.join("node").display().to_string()),
            ("--rpc", self.endpoints.get(&operator).cloned().unwrap_or_else(|| self.anvil.endpoint())),
            ("--contract", self.deployed.network.to_string()),
            ("--signer", self.socket(operator).display().to_string()),
            ("--key-file", folder.join("payer").display().to_string()),
            ("--execute", execute.clone()),
            ("--validate", validate.clone()),
            ("--http", self.interfaces[operator].to_string()),
            ("--http-hosts", HOST.to_owned()),
            ("--confirmations", "2".to_owned()),
            ("--poll", poll_ms(settings.operators.len()).to_string()),
        ];
        let mut arguments = vec!["run".to_owned(), "--perform".to_owned(), "--attest".to_owned()];
        arguments.extend(aggregate.then(|| "--aggregate".to_owned()));
        let given = |name: &str| settings.options.iter().any(|option| option == name);
        let options = options.into_iter().filter(|(name, _)| !given(name));
        arguments.extend(options.flat_map(|(name, value)| [name.to_owned(), value]));
        match settings.peers {
            LocalPeers::Libp2p => {
                // The first three know each other, and everybody knows them.
                let known = (0..settings.operators.len().min(3)).filter(|known| *known != operator);
                let known: Vec<_> = known.filter_map(|known| self.address(known)).collect();
                arguments.extend(pairs([
                    ("--listen", format!("/ip4/127.0.0.1/tcp/{}", self.listens[operator].port())),
                    ("--bootstrap", known.join(",")),
                ]));
            }
            LocalPeers::Http if operator == 0 => {
                arguments.extend(pairs([("--aggregator-listen", self.listens[0].to_string())]));
            }
            LocalPeers::Http => arguments.extend(pairs([("--aggregator", format!("http://{}", self.listens[0]))])),
        }
        if settings.task_every != 0 {
            arguments.extend(pairs([
                ("--task-every", settings.task_every.to_string()),
                ("--task-payload", settings.task_payload.clone()),
            ]));
        }
        arguments.extend(settings.options.iter().cloned());
        arguments
    }

    /// The multiaddress of a node, with the identity that its folder has.
    fn address(&self, operator: usize) -> Option<String> {
        let path = self.operator_folder(operator).join("node");
        fs::create_dir_all(&path).ok()?;
        let identity = Identity::load_or_create(&path.join("identity")).ok()?;
        Some(format!("/ip4/127.0.0.1/tcp/{}/p2p/{}", self.listens[operator].port(), identity.peer_id()))
    }
}

fn pairs<const N: usize>(options: [(&str, String); N]) -> Vec<String> {
    options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
}

fn chain(error: impl std::fmt::Display) -> LocalError {
    LocalError::Chain(error.to_string())
}

fn file(path: &Path) -> impl Fn(io::Error) -> LocalError + '_ {
    |source| LocalError::File { path: path.to_owned(), source }
}

fn started(program: &Path, source: io::Error) -> LocalError {
    LocalError::Program { program: program.to_owned(), source }
}

async fn account(rpc: &Rpc, anvil: &AnvilInstance, index: usize) -> Result<Account, LocalError> {
    let digits = Zeroizing::new(hex::encode(anvil.keys()[index].to_bytes()));
    let payer = Payer::from_hex(&digits).map_err(chain)?;
    Account::new(rpc.clone(), payer, FeeLimits::default()).await.map_err(chain)
}

async fn genesis(rpc: &Rpc, deployed: &Deployed) -> Result<u64, LocalError> {
    let genesis = rpc.read(deployed.network, &TaskNetwork::genesisCall {}, None).await.map_err(chain)?;
    u64::try_from(genesis).map_err(chain)
}

/// Writes `keystore.json` and `passphrase` to a folder. The key derivation is cheap, because the key is worth nothing.
///
/// # Errors
/// [`LocalError::Key`].
pub fn write_key(folder: &Path, key: &OperatorKey) -> Result<(), LocalError> {
    let failed = |error: &dyn std::fmt::Display| LocalError::Key(error.to_string());
    let compressed = key.compressed().ok_or_else(|| failed(&"it is not one of BLS12-381"))?;
    let kdf = Kdf::Pbkdf2(Pbkdf2::new(ITERATIONS).map_err(|error| failed(&error))?);
    let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
    let passphrase = Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()));
    let keystore = Keystore::encrypt(&Secret::new(key.to_bytes()), &compressed, &passphrase, options);
    let text = keystore.map_err(|error| failed(&error))?.to_json();
    for (name, contents) in [("keystore.json", text.as_str()), ("passphrase", PASSPHRASE)] {
        let path = folder.join(name);
        secret_file::write(&path, contents.as_bytes(), Existing::Refuse).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Ports of loopback for what is started soon; or those from a first one on.
fn ports(count: usize, first: Option<u16>) -> Result<Vec<SocketAddr>, LocalError> {
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let ports = first.map_or_else(|| free_ports(count), |first| Ok((first..).take(count).collect()));
    let ports = ports.map_err(chain)?;
    Ok(ports.into_iter().map(loopback).collect())
}
