//! `quorate-node create`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate_chain::deploy::{self, Deployed, NetworkPlan};
use quorate_evm::{
    address,
    alloy_primitives::{Address, U256},
    contract::Erc20,
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    flag::variable,
    utc,
};
use quorate_node::{
    network_terms::NetworkTerms,
    options::{Options, Payment},
    tokens,
};

use super::{Token, account, payer, print, read_options, rpc, runtime, send_to_token, word};

/// Make a network of one's own: deploy its contract and its verifier, and a token if none is named
///
/// The account of --key-file pays, and gets the network's roles. All terms are fixed for good: there is no setter. Nothing is sent
/// before all of them are ones that the contract takes. Each transaction is named on standard error before it is sent, and each
/// contract once it is deployed. Then the commands are printed that come next. `quorate evm network new` writes a file for --terms
/// with all defaults, and the files to do the same by Foundry, without this program.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    payment: Payment,

    /// Put so many tokens into the pool from which rewards are paid; `quorate-node fund` does it later
    #[arg(long, value_name = "TOKENS")]
    pool: Option<String>,

    /// Send tokens to an account, for its stake; once for each account
    #[arg(long, value_name = "ADDRESS=TOKENS", value_parser = gift)]
    give: Vec<(Address, String)>,

    /// A file of terms, whose names are those of the flags
    #[arg(long, value_name = "FILE", env = variable("QUORATE_NETWORK_TERMS"))]
    terms: Option<PathBuf>,

    #[command(flatten)]
    flags: NetworkTerms,
}

const EXAMPLE: &str = "\
Example, on a local chain:
  quorate-node create --rpc http://127.0.0.1:8545 --key-file payer \\
      --epoch-length 600 --slashing-window 600 --pool 10000 \\
      --give 0x…=500 --give 0x…=500";

/// The decimals of a new token.
const DECIMALS: u8 = 18;

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = Options::from(self.payment.clone());
        let (rpc, payer) = (rpc(&options)?, payer(&options)?);
        let terms = match &self.terms {
            None => self.flags.clone(),
            Some(path) => self.flags.clone().or(read_options(path)?),
        };
        if terms.token.is_some() && terms.supply.is_some() {
            return Err(Failure::usage(anyhow!("--supply is that of a new token, and --token names one that exists")));
        }
        runtime()?.block_on(async {
            let decimals = match terms.token.map(|token| token.0) {
                None => DECIMALS,
                Some(token) => Token::decimals(&rpc, token).await?.ok_or_else(|| {
                    Failure::usage(anyhow!("--token {token}: the contract does not say its decimals; is it a token?"))
                })?,
            };
            let amount = |flag: &str, text: &str| {
                tokens::parse(text, decimals).map_err(|error| Failure::usage(anyhow!("--{flag}: {error}")))
            };
            let plan = terms.plan(decimals).map_err(Failure::usage)?;
            let pool = self.pool.as_deref().map_or(Ok(U256::ZERO), |text| amount("pool", text))?;
            let gifts = self.give.iter().map(|(to, tokens)| Ok((*to, amount("give", tokens)?)));
            let gifts: Vec<_> = gifts.collect::<Result<_>>()?;
            let needed = gifts.iter().fold(pool, |sum, (_, amount)| sum.saturating_add(*amount));
            let held = match plan.token {
                None => plan.supply,
                Some(token) => {
                    let account = payer.address();
                    rpc.read(token, &Erc20::balanceOfCall { account }, None).await.map_err(Failure::io)?
                }
            };
            if held < needed {
                let [held, needed] = [held, needed].map(|amount| tokens::exact(amount, decimals));
                let why = anyhow!("--pool and --give need {needed} tokens, and the account has {held}");
                return Err(Failure::refused(why));
            }
            let plan = NetworkPlan { pool, ..plan };
            let account = account(&options, &rpc, payer).await?;
            let deployed = account.until_interrupted(deploy::task_network(&account, &plan)).await?;
            let token = Token::with(&rpc, deployed.token, decimals).await;
            show(&plan, &deployed, account.address(), &token)
                .map_err(|failure| failure.context("the network is deployed, and nothing more is sent"))?;
            for (to, value) in gifts {
                send_to_token(&account, "give", deployed.token, &Erc20::transferCall { to, value }).await?;
            }
            print(next(&options, (deployed.network, deployed.block), &plan, decimals))?;
            Ok(Exit::Success)
        })
    }
}

/// Reads an account and the tokens that it gets.
fn gift(text: &str) -> std::result::Result<(Address, String), String> {
    let (to, tokens) = text.split_once('=').ok_or("write it as 0x…=100")?;
    let to = address::parse(to).map_err(|error| format!("{error}; write it as 0x…=100"))?;
    Ok((to, tokens.to_owned()))
}

fn show(plan: &NetworkPlan, deployed: &Deployed, account: Address, token: &Token) -> Result<()> {
    let percent = |share: u16| tokens::exact(U256::from(share), 2);
    let shown = |amount: u128| token.exact(U256::from(amount));
    print(format!(
        "\
token       {token_address}{new}
verifier    {verifier}
contract    {network}, in block {block}
roles       {admin}
epochs      of {length} s; conflicts can be reported for {window} s more, and stake is paid out after {delay} s
quorum      more than {numerator}/{denominator} of all weight; {unit} weigh 1
operators   at most {most}, each with at least {minimum}
rewards     {performer} for the performer of a task, {attesters} for its signers together
fines       {penalty} % of the stake for a rejected result, {slash} % for a conflict; {bounty} % of that for the reporter
pool        {pool}{empty}",
        token_address = deployed.token,
        new = if plan.token.is_none() { format!(", new and worth nothing; {account} has all of it") } else { String::new() },
        verifier = deployed.verifier,
        network = deployed.network,
        block = deployed.block,
        admin = plan.admin.unwrap_or(account),
        length = plan.epoch_length,
        window = plan.slashing_window,
        delay = plan.withdrawal_delay,
        numerator = plan.quorum_numerator,
        denominator = plan.quorum_denominator,
        unit = shown(plan.unit),
        most = plan.maximum_operators,
        minimum = shown(plan.minimum_stake),
        performer = shown(plan.performer_reward),
        attesters = shown(plan.attester_reward),
        penalty = percent(plan.penalty_share),
        slash = percent(plan.slash_share),
        bounty = percent(plan.bounty_share),
        pool = token.exact(plan.pool),
        empty = if plan.pool.is_zero() { "; nobody is paid until `quorate-node fund`" } else { "" },
    ))?;
    match plan.genesis {
        Some(genesis) => print(format!("epoch 0     begins {}", utc(genesis))),
        None => Ok(()),
    }
}

/// The commands that come next, as a shell takes them, for a contract that was deployed in a block.
fn next(options: &Options, (contract, block): (Address, u64), plan: &NetworkPlan, decimals: u8) -> String {
    let of_file = |file: &Option<PathBuf>| file.as_ref().map(|path| word(&path.display().to_string()));
    let passphrase = of_file(&options.passphrase_file).map(|file| format!(" --passphrase-file {file}"));
    format!(
        "
Next, for each operator (docs/node.md, \"Make a network\"), with its own account and key file:
  quorate-node init --data node --rpc {rpc} \\
      --contract {contract} --from-block {block} \\
      --operator 0x… --key-file … --signer signer/signer.sock \\
      --perform --attest --aggregate \\
      --execute 'python3 price.py' --validate 'python3 price.py' \\
      --task-every 12 --bootstrap /ip4/…/tcp/9600/p2p/12D3…
`init` prints the rest; an operator needs at least {minimum} tokens.

And so that somebody is paid:
  quorate-node fund --rpc {rpc} --contract {contract} \\
      --key-file {key_file}{passphrase} --tokens 1000",
        rpc = options.rpc.as_deref().map_or_else(of_the_variable, word_of_url),
        key_file = of_file(&options.key_file).unwrap_or_default(),
        passphrase = passphrase.unwrap_or_default(),
        minimum = tokens::exact(U256::from(plan.minimum_stake), decimals),
    )
}

/// The URL of a node as a word of a shell. One that may hold a secret is not printed: whoever takes the command sets the variable.
fn word_of_url(text: &str) -> String {
    let is_open = |url: reqwest::Url| {
        let has_login = !url.username().is_empty() || url.password().is_some();
        !has_login && url.path() == "/" && url.query().is_none() && url.fragment().is_none()
    };
    if reqwest::Url::parse(text).is_ok_and(is_open) { word(text) } else { of_the_variable() }
}

/// The variable from which the program takes the URL, too.
fn of_the_variable() -> String {
    "\"$QUORATE_NODE_RPC\"".to_owned()
}

#[cfg(test)]
mod tests {
    use quorate_lab::run::{Run as _, shell};

    use super::*;

    /// The command of a text, which goes on behind each backslash.
    fn command<'a>(text: &'a str, name: &str) -> &'a str {
        let begin = format!("  quorate-node {name} ");
        let (_, rest) = text.split_once(&begin).expect("the command");
        let ends = |(at, _): &(usize, &str)| !rest[..*at].ends_with('\\');
        rest.match_indices('\n').find(ends).map_or(rest, |(at, _)| &rest[..at])
    }

    /// A shell gives the commands to a program as they are meant, and no secret of a URL is in them.
    #[test]
    fn what_create_prints_can_be_run() {
        let of_variable = "http://of.the.variable";
        for (url, expected) in [
            ("http://127.0.0.1:8545", "http://127.0.0.1:8545"),
            ("http://[::1]:8545/", "http://[::1]:8545/"),
            ("https://node.example/v3/s3cret", of_variable),
            ("https://node.example/?key=s3cret", of_variable),
            ("https://s3cret@node.example/", of_variable),
            ("https://me:s3cret@node.example/", of_variable),
        ] {
            let options = Options {
                rpc: Some(url.to_owned()),
                key_file: Some("it's $HOME/a payer".into()),
                passphrase_file: Some("pass/phrase".into()),
                ..Options::default()
            };
            let text = next(&options, (Address::repeat_byte(7), 9), &NetworkPlan::default(), DECIMALS);
            assert!(!text.contains("s3cret"), "{text}");
            let of_init = ["--rpc", expected, "--validate", "python3 price.py", "--key-file"].to_vec();
            let of_fund =
                ["--rpc", expected, "it's $HOME/a payer", "--passphrase-file", "pass/phrase", "1000"].to_vec();
            for (name, expected) in [("init", of_init), ("fund", of_fund)] {
                let script = format!("printf '%s\\n' {}", command(&text, name));
                let ran = shell(&script).env("QUORATE_NODE_RPC", of_variable).ran().exits(0);
                let words: Vec<_> = ran.out.lines().collect();
                assert!(expected.iter().all(|word| words.contains(word)), "{words:?}");
            }
        }
    }
}
