//! The commands of the program, a file for each.

pub(crate) mod claim;
pub(crate) mod create;
pub(crate) mod fund;
pub(crate) mod init;
pub(crate) mod withdraw;
pub(crate) mod leave;
pub(crate) mod register;
pub(crate) mod run;
pub(crate) mod status;

use std::{
    fmt::Display,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::anyhow;
use clap::Args;
use indicatif::HumanCount;
use quorate_chain::{
    Payer, PayerFile, Rpc, RpcError, RpcLimits,
    account::{Account, AccountError, Transacted},
    rpc::TransactionReceipt,
    task_network::read_terms,
    token,
};
use quorate_evm::{
    KeyGroup,
    alloy_primitives::{Address, U256},
    alloy_sol_types::SolCall,
    contract::{Erc20, TaskNetwork},
    task_network::{ContractTerms, PlannedCall},
};
use quorate_host::{
    clipped,
    exit::{Failure, Result, print_all},
    flag::variable,
    options::{self, OptionsError},
    runtime::ProgramRuntime,
};
use quorate_node::{data_folder::OPTIONS, options::Options, tokens};
use quorate_signer_client::{SignerClient, protocol::StatusAnswer};
use serde::de::DeserializeOwned;
use tokio::runtime::Builder;

pub(crate) use quorate_host::{exit::note, service::interrupted};

/// The options of a node, from flags, environment and file.
#[derive(Clone, Debug, Args)]
pub(crate) struct NodeArguments {
    /// File of options, whose names are those of the flags [default: node.toml in the data folder, if it is there]
    #[arg(long, value_name = "FILE", env = variable("QUORATE_NODE_CONFIG"))]
    config: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

impl NodeArguments {
    /// All options: a flag wins over the environment, and both over the file.
    pub(crate) fn options(&self) -> Result<Options> {
        let default = self.options.data().join(OPTIONS);
        let file = match &self.config {
            Some(path) => Some(path),
            None => Some(&default).filter(|path| !is_absent(path)),
        };
        let Some(path) = file else { return Ok(self.options.clone()) };
        Ok(self.options.clone().or(read_options(path)?))
    }
}

/// Whether there is nothing at a path. A link that leads nowhere is there, and so is a file that may not be looked at.
pub(crate) fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// The options of a file.
pub(crate) fn read_options<T: DeserializeOwned>(path: &Path) -> Result<T> {
    options::read(path).map_err(|error| match error {
        OptionsError::Read(_) => Failure::io(error),
        _ => Failure::usage(error),
    })
}

/// An option that a command cannot do without.
pub(crate) fn needed<T: Clone>(option: &Option<T>, flag: &str, what: &str) -> Result<T> {
    option.clone().ok_or_else(|| Failure::usage(anyhow!("--{flag} is missing: {what}")))
}

/// The chain's node. It may answer no more for the logs of one block than for those of several: of a TaskNetwork they are short.
pub(crate) fn rpc(options: &Options) -> Result<Rpc> {
    let limits = RpcLimits { answer_bytes: 32 << 20, ..RpcLimits::default() };
    Rpc::with(&rpc_url(options)?, limits).map_err(|error| Failure::usage(anyhow!("--rpc: {error}")))
}

/// The URL of the chain's node.
pub(crate) fn rpc_url(options: &Options) -> Result<String> {
    needed(&options.rpc, "rpc", "name the HTTP or HTTPS URL of a node of the chain")
}

/// The network's contract.
pub(crate) fn contract(options: &Options) -> Result<Address> {
    let contract = options.contract.map(|contract| contract.0);
    needed(&contract, "contract", "name the address of the network's contract, a TaskNetwork")
}

/// What the contract fixes, if a node can take part in it.
pub(crate) async fn terms(rpc: &Rpc, contract: Address) -> Result<ContractTerms> {
    let terms = read_terms(rpc, contract).await.map_err(Failure::io)?;
    if terms.key_group != KeyGroup::Bls12381G2 {
        return Err(Failure::usage(anyhow!(
            "the network's verifier has keys of {}; nodes and signers work with {}",
            terms.key_group,
            KeyGroup::Bls12381G2
        )));
    }
    Ok(terms)
}

/// The signer's client, and what the signer says of itself. It must be that of this network.
pub(crate) async fn signer(options: &Options, terms: &ContractTerms) -> Result<(Arc<SignerClient>, StatusAnswer)> {
    let socket = needed(&options.signer, "signer", "name the socket on which the operator's quorate-signer listens")?;
    let client = Arc::new(SignerClient::new(socket));
    let status = client.status().await.map_err(Failure::io)?;
    check_signer(&status, terms)?;
    Ok((client, status))
}

/// Whether a signer signs for this network, under the terms that the contract has.
pub(crate) fn check_signer(status: &StatusAnswer, terms: &ContractTerms) -> Result<()> {
    let found = &status.network;
    let compare = |what: &str, signer: &dyn Display, chain: &dyn Display| {
        let (signer, chain) = (signer.to_string(), chain.to_string());
        if signer == chain {
            return Ok(());
        }
        Err(Failure::usage(anyhow!(
            "the signer was made for another network: its {what} is {signer}, and the contract's is {chain}; make a record with \
             `quorate-signer init` as `quorate-node init` prints it"
        )))
    };
    compare("chain id", &found.chain_id, &terms.chain_id)?;
    compare("contract", &found.contract, &terms.contract)?;
    compare("verifier", &status.verifier, &terms.verifier)?;
    compare("genesis", &found.genesis, &terms.genesis)?;
    compare("epoch length", &found.epoch_length, &terms.epoch_length)?;
    compare("slashing window", &found.slashing_window, &terms.slashing_window)?;
    compare("key group", &status.key_group, &terms.key_group)
}

/// A text as a word of a shell.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./:,@%+=".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The key that pays.
pub(crate) fn payer(options: &Options) -> Result<Payer> {
    let what = "name the file with the key that pays for transactions";
    let file = needed(&options.key_file, "key-file", what)?;
    payer_of(&file, options.passphrase_file.as_deref(), "--passphrase-file")
}

/// The key of a file. Nobody is asked for the passphrase of a keystore: an option names the file that holds it.
pub(crate) fn payer_of(key: &Path, passphrase: Option<&Path>, passphrase_option: &'static str) -> Result<Payer> {
    let file = PayerFile { key, passphrase, passphrase_option };
    Ok(file.open(|| Ok(None), |warning| note(format!("warning: {warning}")))?)
}

/// An account that sends one call after the other.
pub(crate) async fn account(options: &Options, rpc: &Rpc, payer: Payer) -> Result<Account> {
    let account = Account::new(rpc.clone(), payer, options.fees()).await.map_err(Failure::io)?;
    // On standard error, so that nothing that was sent is lost if standard output is full or closed.
    Ok(account.telling(|event| {
        note(event);
        Ok(())
    }))
}

/// Sends a call, waits until it is mined, and says what it cost.
pub(crate) async fn send(account: &Account, what: &'static str, call: PlannedCall) -> Result<TransactionReceipt> {
    mined(account, what, account.send_bytes(what, call.to, call.calldata, &[])).await
}

/// The same for a call of a token, which says by its answer whether it is done.
pub(crate) async fn send_to_token<C: SolCall<Return = bool>>(
    account: &Account,
    what: &'static str,
    token: Address,
    call: &C,
) -> Result<TransactionReceipt> {
    mined(account, what, token::send(account, what, token, call)).await
}

/// Lets the network take so much of the account's tokens, if it may not do so already.
pub(crate) async fn approve(account: &Account, rpc: &Rpc, terms: &ContractTerms, amount: U256) -> Result<()> {
    let calls = token::approvals(rpc, terms.token, account.address(), terms.contract, amount);
    for call in calls.await.map_err(Failure::io)? {
        send_to_token(account, "approve", terms.token, &call).await?;
    }
    Ok(())
}

async fn mined(
    account: &Account,
    what: &'static str,
    sending: impl Future<Output = std::result::Result<Transacted, AccountError>>,
) -> Result<TransactionReceipt> {
    let Transacted { receipt, .. } =
        account.until_interrupted(sending).await.map_err(|failure| failure.context(what))?;
    let block = receipt.block_number;
    print(format!("{what:<12}block {block}, {} gas", HumanCount(receipt.gas_used.to())))
        .map_err(|failure| failure.context(format!("{what}: mined in block {block}, and nothing more is sent")))?;
    Ok(receipt)
}

/// The stake of an operator's seat; `None` if it has no seat. The seat of an operator with stake in a restaking protocol may hold nothing.
///
/// # Errors
/// [`Exit::Io`](quorate_host::exit::Exit::Io): the node does not say whether there is a seat.
pub(crate) async fn stake_of_seat(rpc: &Rpc, contract: Address, operator: Address) -> Result<Option<U256>> {
    let stake = rpc.read(contract, &TaskNetwork::stakeOfCall { operator }, None).await.map_err(Failure::io)?;
    if !stake.is_zero() {
        return Ok(Some(stake));
    }
    // The contract reverts at the question for the key of a seat that is not there.
    let key = rpc.read(contract, &TaskNetwork::keyOfCall { operator }, None).await;
    Ok(unless_it_reverts(key)?.map(|_| stake))
}

/// Refuses to move tokens as stake in a network whose operators have theirs in a restaking protocol. The contract would refuse it, too, but
/// only after the account had approved the tokens.
///
/// # Errors
/// [`Exit::Negative`](quorate_host::exit::Exit::Negative), with what to do.
pub(crate) fn refuse_elsewhere(terms: &ContractTerms, hint: &str) -> Result<()> {
    match terms.source {
        None => Ok(()),
        Some(source) => Err(Failure::refused(anyhow!(
            "the operators of this network have their stake in a restaking protocol, where {source} reads it: {hint}"
        ))),
    }
}

/// What a contract answers; `None` if it [reverts](RpcError::is_revert).
///
/// # Errors
/// [`Exit::Io`](quorate_host::exit::Exit::Io): the node does not say what the contract answers.
fn unless_it_reverts<T>(answer: std::result::Result<T, RpcError>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_revert() => Ok(None),
        Err(error) => Err(Failure::io(error)),
    }
}

/// The token of stake and rewards, as people write its amounts.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) decimals: u8,
    symbol: String,
}

impl Token {
    /// What the token says of itself. The amounts of a token that says no decimals are whole numbers.
    ///
    /// # Errors
    /// [`Exit::Io`](quorate_host::exit::Exit::Io): the node does not say what the token answers.
    pub(crate) async fn read(rpc: &Rpc, token: Address) -> Result<Self> {
        let decimals = Self::decimals(rpc, token).await?.unwrap_or(0);
        Ok(Self::with(rpc, token, decimals).await)
    }

    /// The same of a token whose decimals are known. Without a symbol its amounts are `tokens`.
    pub(crate) async fn with(rpc: &Rpc, token: Address, decimals: u8) -> Self {
        // No amount depends on the symbol, so a node that does not say it ends no command.
        let symbol = rpc.read(token, &Erc20::symbolCall {}, None).await.unwrap_or_default();
        let symbol = if symbol.is_empty() { "tokens".to_owned() } else { clipped(&symbol, 12) };
        Self { decimals, symbol }
    }

    /// The decimals of a token's amounts; `None` if the contract reverts at that question. An amount that is read with other ones is another
    /// amount.
    ///
    /// # Errors
    /// [`Exit::Io`](quorate_host::exit::Exit::Io): the node does not say what the token answers.
    pub(crate) async fn decimals(rpc: &Rpc, token: Address) -> Result<Option<u8>> {
        unless_it_reverts(rpc.read(token, &Erc20::decimalsCall {}, None).await)
    }

    /// An amount for the eye, such as `1.5 TEST`.
    pub(crate) fn short(&self, amount: U256) -> String {
        format!("{} {}", tokens::amount(amount, self.decimals), self.symbol)
    }

    /// An amount to the last digit.
    pub(crate) fn exact(&self, amount: U256) -> String {
        format!("{} {}", tokens::exact(amount, self.decimals), self.symbol)
    }

    /// The amount that a flag names.
    pub(crate) fn amount(&self, flag: &str, text: &str) -> Result<U256> {
        tokens::parse(text, self.decimals).map_err(|error| Failure::usage(anyhow!("--{flag}: {error}")))
    }
}

/// The pool from which rewards are paid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    free: U256,
    owed: U256,
    /// What a task takes from it.
    a_task: U256,
}

impl Pool {
    pub(crate) async fn read(rpc: &Rpc, terms: &ContractTerms) -> Result<Self> {
        let pool = rpc.read(terms.contract, &TaskNetwork::poolCall {}, None).await.map_err(Failure::io)?;
        let a_task = U256::from(terms.performer_reward) + U256::from(terms.attester_reward);
        Ok(Self { free: pool.free, owed: pool.owed, a_task })
    }

    /// Whether it cannot pay for one more task.
    pub(crate) fn is_empty(&self) -> bool {
        self.free < self.a_task
    }

    /// What it has, in words.
    pub(crate) fn words(&self, token: &Token) -> String {
        let Self { free, owed, a_task } = *self;
        let tasks = free.checked_div(a_task).map_or(String::new(), |tasks| format!(", enough for {tasks} tasks"));
        format!("{}{tasks}; {} more are owed", token.short(free), token.short(owed))
    }

    /// What is wrong with it, if it is empty.
    pub(crate) fn problem(&self, token: &Token) -> Option<String> {
        let (free, a_task) = (token.short(self.free), token.short(self.a_task));
        self.is_empty().then(|| {
            format!(
                "the pool is empty: it has {free}, and a task takes {a_task}; tasks settle and nobody is paid for them until \
                 somebody calls `quorate-node fund --tokens …`"
            )
        })
    }
}

/// A runtime for a command that asks the chain or the signer.
pub(crate) fn runtime() -> Result<ProgramRuntime> {
    ProgramRuntime::new(Builder::new_multi_thread().worker_threads(2)).map_err(Failure::internal)
}

/// Prints to standard output.
pub(crate) fn print(text: impl Display) -> Result<()> {
    print_all(format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use quorate_evm::alloy_primitives::{B256, Bytes};
    use quorate_host::exit::Exit;
    use quorate_lab::proxy::Proxy;
    use serde_json::{Value, json};

    use super::*;

    /// What a command knows of a token of which the node answers this about the decimals, and that it has no symbol.
    fn token(decimals: impl Fn() -> std::result::Result<Value, String> + Send + 'static) -> Result<Token> {
        let selector = Bytes::from(Erc20::decimalsCall {}.abi_encode());
        let node = Proxy::alone(move |_, parameters| {
            if parameters[0]["data"] == json!(selector) { decimals() } else { Err("execution reverted".to_owned()) }
        });
        runtime().unwrap().block_on(Token::read(&Rpc::new(&node.url).unwrap(), Address::ZERO))
    }

    /// A restaked operator whose stake was withdrawn, or slashed to nothing, has a seat: it rotates its key and leaves as others do.
    #[test]
    fn a_seat_that_weighs_nothing_is_a_seat() {
        let seat = |stake: u64, key: std::result::Result<u64, &'static str>| {
            let word = |number: u64| json!(B256::from(U256::from(number)));
            let asks_key = json!(Bytes::from(TaskNetwork::keyOfCall { operator: Address::ZERO }.abi_encode()));
            let node = Proxy::alone(move |_, parameters| {
                if parameters[0]["data"] == asks_key { key.map(word).map_err(str::to_owned) } else { Ok(word(stake)) }
            });
            let rpc = Rpc::new(&node.url).unwrap();
            runtime().unwrap().block_on(stake_of_seat(&rpc, Address::ZERO, Address::ZERO))
        };
        assert_eq!(seat(7, Ok(3)).unwrap(), Some(U256::from(7)));
        assert_eq!(seat(0, Ok(0)).unwrap(), Some(U256::ZERO));
        assert_eq!(seat(0, Err("execution reverted")).unwrap(), None);
        // A node that fails does not say that there is no seat.
        let failure = seat(0, Err("header not found")).unwrap_err();
        assert_eq!(failure.exit, Exit::Io);
        assert!(failure.error.to_string().contains("header not found"), "{}", failure.error);
    }

    /// With no decimals, 100 tokens would be 100 of the smallest unit, which are sent and cannot be taken back.
    #[test]
    fn a_node_that_fails_does_not_say_that_a_token_has_no_decimals() {
        for said in ["15/second request limit reached", "header not found", "execution timeout", "internal error"] {
            let failure = token(move || Err(said.to_owned())).unwrap_err();
            assert_eq!(failure.exit, Exit::Io, "{said}");
            assert!(failure.error.to_string().contains(said), "{}", failure.error);
        }
        // A node without the contract, and an answer that was cut off.
        for answer in [Bytes::new(), Bytes::from(vec![0; 31])] {
            assert_eq!(token(move || Ok(json!(answer))).unwrap_err().exit, Exit::Io);
        }
        let whole = token(|| Err("execution reverted".to_owned())).unwrap();
        assert_eq!((whole.decimals, whole.amount("tokens", "100").unwrap()), (0, U256::from(100)));
        let usual = token(|| Ok(json!(B256::from(U256::from(18))))).unwrap();
        assert_eq!(usual.exact(usual.amount("tokens", "1.5").unwrap()), "1.5 tokens");
        assert_eq!(usual.decimals, 18);
    }
}
