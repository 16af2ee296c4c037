//! The user's work behind an address: one POST a call.

use std::{sync::Once, time::Duration};

use quorate_host::exit::innermost;
use reqwest::{Client, Response, StatusCode, Url, header, redirect, retry};
use tokio::time::timeout;

use super::{
    error::{ProgramFailure, ProgramSetupError, escaped},
    schema::ProgramVerdict,
    settings::MAX_STANDARD_ERROR,
};
use quorate_network::message::MAX_RESULT;

/// An address of `http` or `https`, and a client for it.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    url: Url,
    client: Client,
}

impl Endpoint {
    pub(super) fn new(url: &str) -> Result<Self, ProgramSetupError> {
        static TLS: Once = Once::new();
        // Fails only if a provider is installed already.
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let url: Url = url.parse().map_err(|why| ProgramSetupError::Address(format!("{why}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            let why = format!("the scheme is {}", escaped(url.scheme().as_bytes()));
            return Err(ProgramSetupError::Address(why));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ProgramSetupError::Credentials);
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            // The state machine decides what is asked again.
            .retry(retry::never())
            // A task goes to the named address and nowhere else, whatever the environment says.
            .no_proxy()
            // A kept connection could be closed by the endpoint just when the next task is sent.
            .pool_max_idle_per_host(0);
        // Without TLS, the machine needs no list of certificate authorities.
        let client = if url.scheme() == "http" { client.tls_certs_only([]) } else { client };
        let client = client.build().map_err(|why| ProgramSetupError::Client(cause_of(why)))?;
        Ok(Self { url, client })
    }

    /// What errors call it: without the query, which may hold a token.
    pub(super) fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        escaped(url.as_str().as_bytes())
    }

    /// The bytes of a result.
    pub(super) async fn execute(&self, input: Vec<u8>, limit: Duration) -> Result<Vec<u8>, ProgramFailure> {
        let result = self.ask(input, limit).await?;
        if result.is_empty() { Err(ProgramFailure::NoResult) } else { Ok(result) }
    }

    /// A verdict.
    pub(super) async fn validate(&self, input: Vec<u8>, limit: Duration) -> Result<bool, ProgramFailure> {
        let answer = self.ask(input, limit).await?;
        let verdict: Result<ProgramVerdict, _> = serde_json::from_slice(&answer);
        verdict
            .map(|verdict| verdict.approved)
            .map_err(|why| ProgramFailure::NoVerdict(escaped(why.to_string().as_bytes())))
    }

    async fn ask(&self, input: Vec<u8>, limit: Duration) -> Result<Vec<u8>, ProgramFailure> {
        timeout(limit, self.ask_without_limit(input)).await.unwrap_or(Err(ProgramFailure::Time(limit)))
    }

    async fn ask_without_limit(&self, input: Vec<u8>) -> Result<Vec<u8>, ProgramFailure> {
        let request = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, "application/json").body(input);
        let mut answer = request.send().await.map_err(no_answer)?;
        if answer.status() == StatusCode::OK {
            let body = beginning(&mut answer, MAX_RESULT + 1).await.map_err(no_answer)?;
            return if body.len() > MAX_RESULT { Err(ProgramFailure::Output) } else { Ok(body) };
        }
        let found = answer.status().as_u16();
        // The status says enough if the text does not come.
        let text = beginning(&mut answer, MAX_STANDARD_ERROR).await.unwrap_or_default();
        Err(ProgramFailure::HttpStatus { found, text: escaped(&text) })
    }
}

/// The first bytes of an answer, at most so many.
async fn beginning(answer: &mut Response, most: usize) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while body.len() < most
        && let Some(chunk) = answer.chunk().await?
    {
        body.extend_from_slice(&chunk[..chunk.len().min(most - body.len())]);
    }
    Ok(body)
}

fn no_answer(why: reqwest::Error) -> ProgramFailure {
    ProgramFailure::NoAnswer(cause_of(why))
}

/// The innermost cause. The others repeat the address, whose query may hold a token.
fn cause_of(why: reqwest::Error) -> String {
    escaped(innermost(&why.without_url()).as_bytes())
}
