//! Work for a thread of libuv, and its promise.

use napi::{
    Env, ScopedTask,
    bindgen_prelude::{AsyncTask, ToNapiValue, TypeName},
};
use quorate_c::{CallFailure, Code};

use crate::fault::{guarded, rejection};

/// Something that is computed on a thread of libuv. Its promise is rejected with the fault, or if the work panics.
pub struct Job<T>(Option<Work<T>>);

type Work<T> = Box<dyn FnOnce() -> Result<T, CallFailure> + Send>;

/// A promise of what `work` returns.
pub(crate) fn job<T>(work: impl FnOnce() -> Result<T, CallFailure> + Send + 'static) -> AsyncTask<Job<T>>
where
    T: Send + ToNapiValue + TypeName + 'static,
{
    AsyncTask::new(Job(Some(Box::new(work))))
}

impl<'task, T: Send + ToNapiValue + TypeName + 'static> ScopedTask<'task> for Job<T> {
    type Output = Result<T, CallFailure>;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let again = || Err(CallFailure::new(Code::Internal, "a job was started twice"));
        Ok(self.0.take().map_or_else(again, guarded))
    }

    fn resolve(&mut self, env: &'task Env, output: Self::Output) -> napi::Result<T> {
        output.map_err(|fault| rejection(env, fault))
    }
}
