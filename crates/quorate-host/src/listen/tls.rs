//! TLS of a listener: its own certificate, and those by which clients show who they are.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{NoServerSessionStorage, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio_rustls::TlsAcceptor;
use webpki::EndEntityCert;

use crate::file::{self, FileError};

/// The files of a listener's TLS, all in PEM.
#[derive(Clone, Copy, Debug)]
pub struct TlsFiles<'a> {
    /// The listener's certificate, and those between it and an authority.
    pub certificate: &'a Path,
    /// The key of that certificate. Nobody else may read it.
    pub key: &'a Path,
    /// Which clients get in.
    pub clients: TlsClients<'a>,
}

/// Which clients a listener lets in.
#[derive(Clone, Copy, Debug)]
pub enum TlsClients<'a> {
    /// Each, and none shows a certificate.
    All,
    /// Each, and one that shows a certificate must have it from an authority of this file.
    Known(&'a Path),
    /// Those that show a certificate from an authority of this file.
    KnownAlone(&'a Path),
}

/// Why a listener has no TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or others may read the key.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file does not hold what it should.
    #[error("{}: {why}; expected {expected} in PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The certificate, the key and the authorities do not go together.
    #[error("{}: {why}", path.display())]
    Refused {
        /// The file of the certificate or of the authorities.
        path: PathBuf,
        /// What was found.
        why: String,
    },
}

/// The TLS of a listener, which can change for the connections that come. A clone is the same one.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<LoadedTls>>);

/// What files come to.
#[derive(Clone)]
pub struct LoadedTls {
    config: Arc<ServerConfig>,
    /// What checks the certificates of clients, where they show some.
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for LoadedTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedTls").finish_non_exhaustive()
    }
}

impl Tls {
    /// TLS as loaded.
    #[must_use]
    pub fn new(loaded: LoadedTls) -> Self {
        Self(Arc::new(RwLock::new(loaded)))
    }

    /// The connections that come have this one. Those that are there keep theirs, and end if their client would not get in any more.
    pub fn set(&self, loaded: LoadedTls) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.loaded().config.into()
    }

    /// Whether a client that has shown these certificates, its own first, would get in now: they expire, and authorities change.
    pub(super) fn knows(&self, shown: &[CertificateDer<'_>]) -> bool {
        let (Some(clients), Some((own, others))) = (self.loaded().clients, shown.split_first()) else { return false };
        clients.verify_client_cert(own, others, UnixTime::now()).is_ok()
    }

    fn loaded(&self) -> LoadedTls {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LoadedTls {
    /// Reads the files, for HTTP/2 and HTTP/1.1.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(files: &TlsFiles<'_>) -> Result<Self, TlsError> {
        let TlsFiles { certificate, key, clients } = *files;
        let chain = certificates(certificate)?;
        let secret = PrivateKeyDer::from_pem_slice(&file::read_secret(key, LARGEST)?).map_err(|why| TlsError::Pem {
            path: key.to_owned(),
            why: why.to_string(),
            expected: "a private key",
        })?;
        let refused = |path: &Path, why: String| TlsError::Refused { path: path.to_owned(), why };
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|why| refused(certificate, why.to_string()))?;
        let verifier = match clients {
            TlsClients::All => None,
            TlsClients::Known(path) | TlsClients::KnownAlone(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path)? {
                    roots.add(authority).map_err(|why| refused(path, why.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                let verifier = match clients {
                    TlsClients::KnownAlone(_) => verifier,
                    _ => verifier.allow_unauthenticated(),
                };
                Some(verifier.build().map_err(|why| refused(path, why.to_string()))?)
            }
        };
        let config = match &verifier {
            None => config.with_no_client_auth(),
            Some(verifier) => config.with_client_cert_verifier(verifier.clone()),
        };
        let mut config = config.with_single_cert(chain, secret).map_err(|why| refused(certificate, why.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        if verifier.is_some() {
            // A session that is opened again brings its client's certificate along, and nobody checks that once more.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Self { config: Arc::new(config), clients: verifier })
    }
}

/// The certificates of a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = |why: String| TlsError::Pem { path: path.to_owned(), why, expected: "certificates" };
    let text = file::read(path, LARGEST)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let read = read.map_err(|why| wrong(why.to_string()))?;
    if read.is_empty() { Err(wrong("found none".to_owned())) } else { Ok(read) }
}

/// The longest file: 1 MiB.
const LARGEST: u64 = 1 << 20;

/// A client's certificate is for several DNS names, or for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate is not for exactly one DNS name, so it names nobody; ask for another certificate")]
pub struct NamesNobody;

/// The name in a client's certificate: the one DNS name that it is for.
pub(super) fn name_of(certificate: &CertificateDer<'_>) -> Result<Arc<str>, NamesNobody> {
    let certificate = EndEntityCert::try_from(certificate).map_err(|_| NamesNobody)?;
    let mut names = certificate.valid_dns_names();
    match (names.next(), names.next()) {
        (Some(name), None) => Ok(name.to_ascii_lowercase().into()),
        _ => Err(NamesNobody),
    }
}
