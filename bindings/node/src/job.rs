//! Work for another thread, and its promise.

use napi::{
    Env,
    bindgen_prelude::{Object, ToNapiValue},
};
use quorate_c::CallFailure;

use crate::{
    fault::{Result, guarded, of_node, rejection},
    pool::{POOL, Work, run_apart},
};

/// A promise of what `work` returns, which is computed on a thread of the pool. It is rejected with the fault, or if the work panics, or if
/// the system gives no thread. If the environment of Node ends first, nobody hears of the result.
pub(crate) fn job<T>(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<T, CallFailure> + Send + 'static,
) -> Result<Object<'_>>
where
    T: Send + ToNapiValue + 'static,
{
    promised(env, work, |work| POOL.run(work))
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
        let outcome = started.and_then(|()| guarded(work));
        deferred.resolve(move |env| outcome.map_err(|fault| rejection(&env, fault)));
    }));
    Ok(promise)
}
