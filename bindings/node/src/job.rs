//! Work for another thread, and its promise.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use napi::{
    Env,
    bindgen_prelude::{ClassInstance, Object, ToNapiValue},
};
use napi_derive::napi;
use quorate_c::{CallFailure, Code};

use crate::{
    fault::{Fault, Result, guarded, of_node, rejection},
    pool::{POOL, Work, run_apart},
};

/// A promise of what `work` returns, which is computed on a thread of the pool. It is rejected with the fault, or if the work panics, or if
/// the system gives no thread, or if too much waits already: until its turn, the work holds `bytes`.
/// If the environment of Node ends first, nobody hears of the result, so work that waits for its turn is not done. The memory of its arrays
/// is gone then, and work that has begun has copies of what it reads: a `Uint8Array` of napi, which is a view, must not be in it.
pub(crate) fn job<T>(
    env: &Env,
    bytes: usize,
    work: impl FnOnce() -> std::result::Result<T, CallFailure> + Send + 'static,
) -> Result<Object<'_>>
where
    T: Send + ToNapiValue + 'static,
{
    let ended = ENVIRONMENT.with(|environment| Arc::clone(&environment.ended));
    let unless_ended = move || if ended.load(Ordering::Relaxed) { Err(not_done()) } else { work() };
    promised(env, unless_ended, |work| POOL.run(bytes, work))
}

/// The same for work that is not done if it is aborted while it waits for its turn.
pub(crate) fn abortable_job<'env, T>(
    env: &'env Env,
    abort: &Abort<'_>,
    bytes: usize,
    work: impl FnOnce() -> std::result::Result<T, CallFailure> + Send + 'static,
) -> Result<Object<'env>>
where
    T: Send + ToNapiValue + 'static,
{
    let Some(abort) = abort else { return job(env, bytes, work) };
    let aborted = Arc::clone(&abort.0);
    job(env, bytes, move || if aborted.load(Ordering::Relaxed) { Err(not_done()) } else { work() })
}

/// What nobody reads: the environment has ended, or JavaScript has rejected the promise of the call itself.
fn not_done() -> CallFailure {
    CallFailure::new(Code::System, "nobody waits for this call any more")
}

/// What aborts a call.
#[napi]
pub struct NativeAbort(Arc<AtomicBool>);

/// What aborts a call, if something does.
pub(crate) type Abort<'a> = Option<ClassInstance<'a, NativeAbort>>;

#[napi]
impl NativeAbort {
    /// One that has not aborted its call.
    #[napi(factory)]
    pub fn armed() -> Self {
        Self(Arc::default())
    }

    /// Aborts the call, unless it has begun.
    #[napi]
    pub fn abort(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An environment of Node. It ends with its thread: that of the process, or that of a worker.
#[derive(Default)]
struct Environment {
    ended: Arc<AtomicBool>,
}

thread_local! {
    static ENVIRONMENT: Environment = Environment::default();
}

impl Drop for Environment {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// The same for work that waits for something, on a thread of its own.
pub(crate) fn waiting_job<T>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, CallFailure> + Send + 'static,
) -> Result<Object<'_>>
where
    T: Send + ToNapiValue + 'static,
{
    promised(env, work, run_apart)
}

fn promised<T>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, CallFailure> + Send + 'static,
    run: impl FnOnce(Work),
) -> Result<Object<'_>>
where
    T: Send + ToNapiValue + 'static,
{
    let (deferred, promise) = env.create_deferred().map_err(of_node)?;
    run(Box::new(move |started| {
        let outcome = started.and_then(|()| guarded(work).map_err(Fault::from));
        deferred.resolve(move |env| outcome.map_err(|fault| rejection(&env, fault)));
    }));
    Ok(promise)
}
