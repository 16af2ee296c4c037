//! `quorate-server demo`: a server with traffic, so that a newcomer sees batches, a false claim and a ban.

use std::{
    io::Write,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use quorate::{AnySuite, Backend, ClaimBytes, Messages, MinPk, SecretKey, Signature, SourceId, aggregate::aggregate};
use quorate_batcher::{Class, Standing};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{runtime::Handle, time::interval};

use crate::{
    Server,
    app::App,
    claims::{Asked, Named},
    config::Config,
    metrics::Second,
};

/// Starts a server and sends it claims, for so many seconds or until Ctrl-C.
///
/// # Errors
/// The server cannot start, or the output cannot be written.
pub async fn run(config: Config, seconds: Option<u64>, mut out: impl Write) -> anyhow::Result<()> {
    let server = Server::start(config).await?;
    let address = server.address().context("the demonstration needs listen.address for its page")?;
    writeln!(out, "The dashboard is at http://{address}/ (Ctrl-C ends the demonstration).")?;
    writeln!(out, "Twelve peers send claims, some of them twice. A thirteenth, mallory, lies.\n")?;
    writeln!(out, "{HEADING}")?;

    let ended = Arc::new(AtomicBool::new(false));
    let traffic = Traffic::new(server.app.clone(), ended.clone());
    let handle = Handle::current();
    let sender = thread::Builder::new().name("demo".to_owned()).spawn(move || traffic.run(&handle))?;
    let shown = show(&server, seconds, &mut out).await;
    ended.store(true, Ordering::Relaxed);
    // It looks at the flag many times a second.
    let _ = tokio::task::spawn_blocking(move || sender.join()).await;
    server.stop().await;
    shown
}

const HEADING: &str = "second  claims  false  refused  batches  a batch  known      p50     p99  queue";

/// Writes a line each second, and one for each ban.
async fn show(server: &Server, seconds: Option<u64>, out: &mut impl Write) -> anyhow::Result<()> {
    let mut ticks = interval(Duration::from_secs(1));
    ticks.tick().await;
    // Asked for once: a Ctrl-C that comes while a line is written is not lost.
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    let (mut second, mut told) = (0u64, Vec::<SourceId>::new());
    while seconds.is_none_or(|seconds| second < seconds) {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = interrupted.as_mut() => return Ok(()),
        }
        second += 1;
        let load = server.app.batcher.load();
        let full = load.waiting_us() as f64 / load.capacity_us.max(1) as f64 * 100.0;
        let recent = server.app.metrics.recent_seconds();
        // The last one has just begun.
        let over = recent.iter().rev().nth(1).copied().unwrap_or_default();
        writeln!(out, "{}", line(second, &over, full))?;
        for source in server.app.batcher.sources() {
            if source.standing == Standing::Banned && !told.contains(&source.source) {
                let name = quorate_batcher::shown_name(&source.source);
                writeln!(out, "          {name} is banned after {} false claims", source.false_claims)?;
                told.push(source.source);
            }
        }
        out.flush()?;
    }
    Ok(())
}

fn line(second: u64, over: &Second, full: f64) -> String {
    let Second { invalid, refused, known, batches, p50_ms, p99_ms, .. } = *over;
    let claims = over.verdicts();
    let batch = claims as f64 / batches.max(1) as f64;
    format!(
        "{second:>6} {claims:>7} {invalid:>6} {refused:>8} {batches:>8} {batch:>8.1} {known:>6} {p50_ms:>5.1} ms {p99_ms:>4.0} ms {full:>4.0} %"
    )
}

/// What is sent, and by whom.
struct Traffic {
    app: Arc<App>,
    ended: Arc<AtomicBool>,
    peers: Vec<SecretKey<MinPk>>,
    /// What was signed since the last block.
    signed: Vec<Signed>,
    sent: u64,
    rng: StdRng,
}

/// A key's signature of a message.
#[derive(Clone)]
struct Signed {
    public_key: Vec<u8>,
    message: Arc<[u8]>,
    signature: Signature<MinPk>,
}

const SUITE: MinPk = MinPk::Eth2;
const PEERS: u64 = 12;
/// How often claims are sent.
const TICK: Duration = Duration::from_millis(50);

impl Traffic {
    fn new(app: Arc<App>, ended: Arc<AtomicBool>) -> Self {
        let mut rng = StdRng::from_rng(&mut rand::rng());
        let peers = (0..=PEERS).map(|_| SecretKey::generate(SUITE, &mut rng)).collect();
        Self { app, ended, peers, signed: Vec::new(), sent: 0, rng }
    }

    /// Sends until the demonstration ends. Signing takes time, so this has a thread of its own.
    fn run(mut self, handle: &Handle) {
        let begun = Instant::now();
        let (mut next, mut next_block, mut next_lie) = (begun, Duration::from_secs(1), Duration::from_secs(2));
        while !self.ended.load(Ordering::Relaxed) {
            let now = begun.elapsed();
            // A slow wave between 40 and 260 claims a second.
            let rate = 150.0 + 110.0 * (now.as_secs_f64() / 8.0 * std::f64::consts::TAU).sin();
            for _ in 0..(rate * TICK.as_secs_f64()).round() as usize {
                self.gossip(handle);
            }
            if now >= next_lie {
                self.lie(handle);
                next_lie += Duration::from_millis(200);
            }
            if now >= next_block {
                self.block(handle);
                next_block += Duration::from_secs(1);
            }
            next += TICK;
            thread::sleep(next.saturating_duration_since(Instant::now()));
            // Where signing is slow, what was missed is not made up for.
            next = next.max(Instant::now());
        }
    }

    /// A peer signs something new, or sends again what another one sent.
    fn gossip(&mut self, handle: &Handle) {
        let peer = self.rng.random_range(0..PEERS);
        let again = !self.signed.is_empty() && self.rng.random_bool(0.2);
        let signed = if again {
            let any = self.rng.random_range(0..self.signed.len());
            self.signed[any].clone()
        } else {
            let signed = self.sign(peer as usize, format!("attestation {}", self.sent / 4));
            self.sent += 1;
            self.signed.push(signed.clone());
            signed
        };
        let class = if self.rng.random_bool(0.1) { Class::Duty } else { Class::Gossip };
        self.send(handle, class, single(&signed, &format!("peer-{}", peer + 1)));
    }

    /// A signature of something else than the claim says.
    fn lie(&mut self, handle: &Handle) {
        let mut signed = self.sign(PEERS as usize, "what mallory signed".to_owned());
        signed.message = format!("what mallory says that it signed, {}", self.sent).into_bytes().into();
        self.sent += 1;
        self.send(handle, Class::Gossip, single(&signed, "mallory"));
    }

    /// Everything since the last block with one signature. What was verified before is subtracted.
    fn block(&mut self, handle: &Handle) {
        let signed = std::mem::take(&mut self.signed);
        let signatures: Vec<_> = signed.iter().map(|signed| signed.signature).collect();
        let Ok(sum) = aggregate(&signatures, Backend::auto()) else { return };
        let claim = ClaimBytes {
            suite: AnySuite::MinPk(SUITE),
            public_keys: signed.iter().map(|signed| signed.public_key.clone()).collect(),
            messages: Messages::Each(signed.iter().map(|signed| signed.message.clone()).collect()),
            signature: sum.to_bytes().to_vec(),
            source: Some(SourceId::from("the chain")),
        };
        self.send(handle, Class::Block, claim);
    }

    fn sign(&self, peer: usize, message: String) -> Signed {
        let secret = &self.peers[peer];
        let signature = secret.sign(SUITE, message.as_bytes());
        let public_key = secret.public_key().to_bytes().to_vec();
        Signed { public_key, message: message.into_bytes().into(), signature }
    }

    fn send(&self, handle: &Handle, class: Class, claim: ClaimBytes) {
        let asked = Asked { suite: None, class, deadline: None };
        let app = self.app.clone();
        let submitted = app.submit(0, Named { id: None, claim }, &asked, None);
        handle.spawn(async move { app.answer(submitted).await });
    }
}

fn single(signed: &Signed, source: &str) -> ClaimBytes {
    let suite = AnySuite::MinPk(SUITE);
    let claim = ClaimBytes::single(suite, &signed.public_key, &signed.message, signed.signature.to_bytes().as_ref());
    ClaimBytes { source: Some(SourceId::from(source)), ..claim }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_a_terminal_of_80_columns() {
        assert!(HEADING.chars().count() <= 80);
        let most = Second {
            valid: 999_999,
            invalid: 9999,
            refused: 99_999,
            known: 999_999,
            batches: 9999,
            p50_ms: 999.9,
            p99_ms: 9999.0,
        };
        for second in [Second::default(), most] {
            let line = line(86_400, &second, 100.0);
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
