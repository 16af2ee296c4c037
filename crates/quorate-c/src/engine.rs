//! Claims to verdicts, for callers in other languages.

use std::{num::NonZeroUsize, thread};

use getrandom::SysRng;
use quorate::{
    AnySuite, Backend, ClaimBytes, Exhaustive, Options, Soundness, SumError, Verifier, rand_core::UnwrapErr,
    threads::MOST_THREADS,
};

use crate::{
    fault::{CallFailure, Code},
    suites,
    verdicts::Verdicts,
};

/// How to verify. The default is one thread, 64 bits, the fastest backend, and known statements without a limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineOptions<'a> {
    /// How many threads a call uses, its own included; 0 for one, `u32::MAX` for all of the machine. It uses no more than one for every
    /// sixteen statements, because starting one takes as long as some of them.
    pub threads: u32,
    /// How unlikely it must be that a false claim passes: 64 or 128 bits; 0 for 64.
    pub soundness: u32,
    /// The name of a backend, or nothing for the fastest.
    pub backend: &'a str,
    /// The most known statements that it keeps of each variant: when there are more, it forgets the older half. 0 for any number.
    pub most_known: u64,
}

impl EngineOptions<'_> {
    fn options(&self) -> Result<Options, CallFailure> {
        Ok(Options {
            threads: threads(self.threads, NonZeroUsize::MIN)?,
            soundness: soundness(self.soundness)?,
            backend: backend(self.backend)?,
            ..Options::default()
        })
    }
}

/// A number of threads: 0 for the default, `u32::MAX` for all of the machine.
pub(crate) fn threads(number: u32, default: NonZeroUsize) -> Result<NonZeroUsize, CallFailure> {
    match number {
        u32::MAX => Ok(thread::available_parallelism().unwrap_or(default)),
        number if number as usize > MOST_THREADS => Err(CallFailure::misuse(format!(
            "threads: found {number}, expected 0 for the default, 1 to {MOST_THREADS}, or UINT32_MAX for all of the machine"
        ))),
        number => Ok(NonZeroUsize::new(number as usize).unwrap_or(default)),
    }
}

pub(crate) fn soundness(bits: u32) -> Result<Soundness, CallFailure> {
    match bits {
        0 | 64 => Ok(Soundness::Bits64),
        128 => Ok(Soundness::Bits128),
        other => Err(CallFailure::misuse(format!("soundness: found {other}, expected 64 or 128"))),
    }
}

pub(crate) fn backend(name: &str) -> Result<Backend, CallFailure> {
    if name.is_empty() {
        return Ok(Backend::auto());
    }
    name.parse().map_err(|error| CallFailure::misuse(format!("backend: {error}")))
}

/// Verifies claims that are bytes: [`Verifier`]. Threads can use one at the same time, and share what it keeps.
#[derive(Clone, Debug)]
pub struct Engine(Verifier);

impl Engine {
    /// An engine that knows no statement.
    ///
    /// # Errors
    /// [`Code::Misuse`]: a backend or a soundness that does not exist.
    pub fn new(options: &EngineOptions<'_>) -> Result<Self, CallFailure> {
        let most = if options.most_known == 0 {
            usize::MAX
        } else {
            usize::try_from(options.most_known).unwrap_or(usize::MAX)
        };
        Ok(Self(Verifier::with_known_limit(options.options()?, most)))
    }

    /// One verdict for each claim. With `remember`, valid claims of one statement are known from then on.
    ///
    /// # Errors
    /// [`Code::System`], if there are no random numbers.
    pub fn verify(&self, claims: &[ClaimBytes], remember: bool) -> Result<Verdicts, CallFailure> {
        let mut random = random()?;
        let verifier = self.for_claims(claims);
        Ok(Verdicts::new(match remember {
            true => verifier.verify_and_remember(claims, &mut Exhaustive, &mut random),
            false => verifier.verify(claims, &mut random),
        }))
    }

    fn for_claims(&self, claims: &[ClaimBytes]) -> Verifier {
        self.for_statements(claims.iter().map(ClaimBytes::statements).sum())
    }

    /// The verifier with as many threads as so many statements are worth.
    fn for_statements(&self, statements: usize) -> Verifier {
        let options = *self.0.options();
        let worth = NonZeroUsize::new(statements / STATEMENTS_A_THREAD).unwrap_or(NonZeroUsize::MIN);
        self.0.with_options(Options { threads: options.threads.min(worth), ..options })
    }

    /// The sum of public keys, which stand one after another. Keys that were decoded for an earlier call are not decoded again, and a claim
    /// of the sum decodes nothing.
    ///
    /// # Errors
    /// As [`SuiteVerbs::aggregate_public_keys`](crate::SuiteVerbs::aggregate_public_keys).
    pub fn aggregate_public_keys(&self, suite: AnySuite, keys: &[u8]) -> Result<Vec<u8>, CallFailure> {
        let keys = suites::parts("public keys", keys, suites::single_key_length(suite)?)?;
        let sum = self.for_statements(keys.len()).sum_of_keys(suite, &keys);
        sum.map_err(|error| match error {
            SumError::Key(_) => CallFailure::new(Code::Encoding, error.to_string()),
            error => CallFailure::misuse(error.to_string()),
        })
    }

    /// What would be computed to verify claims, as text. Nothing is verified.
    #[must_use]
    pub fn plan(&self, claims: &[ClaimBytes]) -> String {
        self.for_claims(claims).prepare(claims).to_string()
    }

    /// The verifier.
    #[must_use]
    pub fn verifier(&self) -> &Verifier {
        &self.0
    }
}

/// The fewest statements for which a thread pays off.
const STATEMENTS_A_THREAD: usize = 16;

/// The random numbers of the operating system. It is asked once here, so that a missing generator is an error and no panic later.
///
/// # Errors
/// [`Code::System`].
pub fn random() -> Result<UnwrapErr<SysRng>, CallFailure> {
    let absent = |error| CallFailure::new(Code::System, format!("the operating system has no random numbers: {error}"));
    getrandom::fill(&mut [0; 8]).map_err(absent)?;
    Ok(UnwrapErr(SysRng))
}
