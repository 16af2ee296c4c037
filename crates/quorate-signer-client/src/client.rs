//! Asks a signer: what a node uses.
//!
//! ```no_run
//! # async fn sign(network: quorate_evm::digest::Contract, task: &quorate_evm::Task) -> Result<(), quorate_signer_client::SignerError> {
//! use quorate_signer_client::SignerClient;
//! let signer = SignerClient::new("/run/quorate-signer/signer.sock");
//! let signature = signer.sign_task(network, task).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A client connects when it is first used, and again when the signer was restarted. A request may reach the signer twice
//! then, which does no harm: the same request has the same answer. Requests of one client wait for each other; make
//! several clients to ask at the same time.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use quorate_evm::{
    Task,
    alloy_primitives::Address,
    digest::{Contract, PeerBinding},
};
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    net::UnixStream,
    sync::Mutex,
    time::timeout,
};

use crate::{
    line::{LineEnd, read_line},
    protocol::{
        BindPeer, KeyAnswer, LONGEST_LINE, PossessionAnswer, ProvePossession, Refusal, SignTask, SignatureAnswer,
        SignerAnswer, SignerRequest, StatusAnswer,
    },
};

/// A connection to a signer, made when it is needed.
#[derive(Debug)]
pub struct SignerClient {
    socket: PathBuf,
    settings: ClientSettings,
    /// Taken out while a request waits for its answer. A request that is dropped closes it, so that the next one does not
    /// get the answer.
    connection: Mutex<Option<BufReader<UnixStream>>>,
}

/// How long a client waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// For a connection. Default: 2 seconds.
    pub connect: Duration,
    /// For an answer, once connected. Default: 10 seconds.
    pub answer: Duration,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), answer: Duration::from_secs(10) }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignerError {
    /// Nobody listens on the socket, or it cannot be opened.
    #[error("{}: cannot connect to the signer ({source}); is it running, as the same user?", socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The connection ended before the answer.
    #[error("{}: the signer closed the connection before it answered ({source})", socket.display())]
    Lost {
        /// The socket.
        socket: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It took longer than [`ClientSettings`] allow. What was asked for may still be signed.
    #[error("{}: the signer did not answer in time", socket.display())]
    TimedOut {
        /// The socket.
        socket: PathBuf,
    },
    /// The signer refused.
    #[error("the signer refused: {}", .0.message)]
    Refused(Refusal),
    /// The answer is not one of this protocol, or not one to the request.
    #[error("{}: expected an answer of a signer to \"{request}\"; is this socket a signer's?", socket.display())]
    WrongAnswer {
        /// The socket.
        socket: PathBuf,
        /// The request.
        request: &'static str,
    },
}

impl SignerClient {
    /// A client of the signer that listens on a socket. It does not connect yet.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self::with(socket, ClientSettings::default())
    }

    /// The same with other times to wait.
    pub fn with(socket: impl Into<PathBuf>, settings: ClientSettings) -> Self {
        Self { socket: socket.into(), settings, connection: Mutex::new(None) }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The operator's public key.
    ///
    /// # Errors
    /// [`SignerError`].
    pub async fn public_key(&self) -> Result<KeyAnswer, SignerError> {
        match self.ask(&SignerRequest::PublicKey {}).await? {
            SignerAnswer::PublicKey(key) => Ok(key),
            _ => Err(self.no_answer("public_key")),
        }
    }

    /// The operator's signature over a task of a network: 96 bytes. It is on the signer's disk by then. The digest in the answer is
    /// compared with the task's; the signature is not verified.
    ///
    /// # Errors
    /// [`SignerError`]; [`SignerError::Refused`] says why the signer does not sign.
    pub async fn sign_task(&self, network: Contract, task: &Task) -> Result<[u8; 96], SignerError> {
        let request = SignerRequest::SignTask(SignTask { network, task: *task });
        self.signature(&request, "sign_task", task.digest(network)).await
    }

    /// The operator's signature that binds a peer id to its key: 96 bytes. The digest in the answer is compared; the
    /// signature is not verified.
    ///
    /// # Errors
    /// [`SignerError`].
    pub async fn bind_peer(&self, binding: &PeerBinding<'_>) -> Result<[u8; 96], SignerError> {
        let Contract { chain_id, address: contract } = binding.network;
        let peer_id = binding.peer.to_vec().into();
        let request = SignerRequest::BindPeer(BindPeer { chain_id, contract, peer_id });
        self.signature(&request, "bind_peer", binding.digest()).await
    }

    /// The proof of possession that `TaskNetwork.register` takes. The signer gives it for its own verifier and operator
    /// only.
    ///
    /// # Errors
    /// [`SignerError`].
    pub async fn possession(
        &self,
        network: Contract,
        verifier: Address,
        operator: Address,
    ) -> Result<PossessionAnswer, SignerError> {
        let Contract { chain_id, address: contract } = network;
        match self.ask(&SignerRequest::Possession(ProvePossession { chain_id, contract, verifier, operator })).await? {
            SignerAnswer::Possession(proof) => Ok(proof),
            _ => Err(self.no_answer("possession")),
        }
    }

    /// The signer's state.
    ///
    /// # Errors
    /// [`SignerError`].
    pub async fn status(&self) -> Result<StatusAnswer, SignerError> {
        match self.ask(&SignerRequest::Status {}).await? {
            SignerAnswer::Status(status) => Ok(*status),
            _ => Err(self.no_answer("status")),
        }
    }

    async fn signature(
        &self,
        request: &SignerRequest,
        name: &'static str,
        expected: [u8; 32],
    ) -> Result<[u8; 96], SignerError> {
        match self.ask(request).await? {
            SignerAnswer::Signature(SignatureAnswer { digest, signature }) if digest == expected => {
                signature.as_ref().try_into().map_err(|_| self.no_answer(name))
            }
            _ => Err(self.no_answer(name)),
        }
    }

    async fn ask(&self, request: &SignerRequest) -> Result<SignerAnswer, SignerError> {
        let mut line = serde_json::to_vec(request).map_err(|_| self.no_answer("a request"))?;
        line.push(b'\n');
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.take() {
            // The signer may have been restarted since. Asked again, it answers the same.
            match self.exchange(connection, &line).await {
                Ok((answer, connection)) => {
                    *slot = Some(connection);
                    return refused(answer);
                }
                Err(SignerError::Lost { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let (answer, connection) = self.exchange(self.connect().await?, &line).await?;
        *slot = Some(connection);
        refused(answer)
    }

    async fn connect(&self) -> Result<BufReader<UnixStream>, SignerError> {
        let failed = |source| SignerError::Connect { socket: self.socket.clone(), source };
        match timeout(self.settings.connect, UnixStream::connect(&self.socket)).await {
            Ok(stream) => Ok(BufReader::new(stream.map_err(failed)?)),
            Err(_) => Err(SignerError::TimedOut { socket: self.socket.clone() }),
        }
    }

    async fn exchange(
        &self,
        mut connection: BufReader<UnixStream>,
        request: &[u8],
    ) -> Result<(SignerAnswer, BufReader<UnixStream>), SignerError> {
        let lost = |source| SignerError::Lost { socket: self.socket.clone(), source };
        let exchange = async {
            let sent = connection.get_mut().write_all(request).await;
            // A signer that is busy answers without reading, so a failed write has an answer, too.
            let mut line = Vec::new();
            match read_line(&mut connection, &mut line, LONGEST_LINE).await {
                Ok(LineEnd::Newline) => Ok(line),
                Ok(LineEnd::TooLong) => Err(self.no_answer("a request")),
                Ok(LineEnd::Stream) => Err(lost(sent.err().unwrap_or(io::ErrorKind::UnexpectedEof.into()))),
                Err(error) => Err(lost(sent.err().unwrap_or(error))),
            }
        };
        let line = match timeout(self.settings.answer, exchange).await {
            Ok(line) => line?,
            Err(_) => return Err(SignerError::TimedOut { socket: self.socket.clone() }),
        };
        let answer = serde_json::from_slice(&line).map_err(|_| self.no_answer("a request"))?;
        Ok((answer, connection))
    }

    fn no_answer(&self, request: &'static str) -> SignerError {
        SignerError::WrongAnswer { socket: self.socket.clone(), request }
    }
}

fn refused(answer: SignerAnswer) -> Result<SignerAnswer, SignerError> {
    match answer {
        SignerAnswer::Error(refusal) => Err(SignerError::Refused(refusal)),
        answer => Ok(answer),
    }
}
