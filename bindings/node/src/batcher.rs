//! Claims as they come.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use napi::{
    Env, Status,
    bindgen_prelude::{FnArgs, Function, Object, Unknown},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use napi_derive::napi;
use quorate_c::{CallFailure, Code, Ruled, Service, ServiceOptions, packed, service};

use crate::{
    fault::{Result, called, of_node},
    job::waiting_job,
    keyset::{NamedSets, kept},
};

/// The settings of a batcher. Zeros, and the empty name, are the defaults.
#[napi(object)]
pub struct NativeSettings {
    /// How many batches are verified at the same time.
    pub threads: u32,
    /// 64 or 128 bits.
    pub soundness: u32,
    /// The name of a backend.
    pub backend: String,
    /// Microseconds.
    pub linger: u32,
    /// Microseconds.
    pub target: u32,
    /// Microseconds.
    pub queue: u32,
    /// Bytes.
    pub queue_bytes: f64,
}

/// The answers that JavaScript has not heard yet: the numbers of their claims, their codes, and why they are not valid.
type Answers = (Vec<u32>, Vec<u32>, Vec<String>);

/// Calls JavaScript with all answers that are there by then. Weak: it does not keep the process alive. JavaScript does that while
/// it waits for answers.
type Listener = ThreadsafeFunction<(), Unknown<'static>, FnArgs<Answers>, Status, false, true>;

struct Outbox {
    answers: Arc<Mutex<Answers>>,
    listener: Listener,
}

impl Outbox {
    /// Keeps an answer, and calls JavaScript if no call is on its way.
    fn put(&self, number: u32, ruled: Ruled, reason: String) {
        let mut answers = lock(&self.answers);
        let first = answers.0.is_empty();
        answers.0.push(number);
        answers.1.push(ruled as u32);
        answers.2.push(reason);
        drop(answers);
        if first {
            // It fails only if this environment of Node has ended. Then nobody waits.
            let _: Status = self.listener.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

fn lock(answers: &Mutex<Answers>) -> MutexGuard<'_, Answers> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A batcher. When the garbage collector frees it, it refuses what waits.
#[napi]
pub struct NativeBatcher {
    service: Service,
    outbox: Arc<Outbox>,
}

#[napi]
impl NativeBatcher {
    /// Starts the threads. `listener` is called with answers: numbers, codes, reasons.
    #[napi(constructor)]
    pub fn new(settings: NativeSettings, listener: Function<'_, FnArgs<Answers>, Unknown<'static>>) -> Result<Self> {
        let NativeSettings { threads, soundness, backend, linger, target, queue, queue_bytes } = settings;
        let options = ServiceOptions {
            threads,
            soundness,
            backend: &backend,
            linger_us: linger.into(),
            target_us: target.into(),
            queue_us: queue.into(),
            // Rounded down, and at the ends of the range if it is outside.
            queue_bytes: queue_bytes as u64,
        };
        let answers: Arc<Mutex<Answers>> = Arc::default();
        let heard = answers.clone();
        let listener = listener
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .build_callback(move |_| Ok(FnArgs::from(mem::take(&mut *lock(&heard)))))
            .map_err(of_node)?;
        let service = called(|| Service::start(&options))?;
        Ok(Self { service, outbox: Arc::new(Outbox { answers, listener }) })
    }

    /// Hands a packed claim in. The listener gets its answer under `number`. A deadline in milliseconds, or 0 for none.
    #[napi]
    pub fn submit(&self, number: u32, packed: &[u8], sets: NamedSets<'_>, class: u32, deadline: f64) -> Result<()> {
        called(|| {
            let (class, _kept) = (service::class(class)?, kept(&sets)?);
            let Ok([claim]) = <[_; 1]>::try_from(packed::read(packed)?) else {
                return Err(CallFailure::new(Code::Internal, "more or less than one claim was packed"));
            };
            let outbox = self.outbox.clone();
            let done = move |answer| {
                let (ruled, reason) = service::ruled(answer);
                outbox.put(number, ruled, reason);
            };
            self.service.submit(claim, class, milliseconds(deadline)?, done);
            Ok(())
        })
    }

    /// Takes no more claims, and answers those that wait for at most so many milliseconds. Of calls at the same time, the shortest time
    /// counts.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn stop<'env>(&self, env: &'env Env, within: f64) -> Result<Object<'env>> {
        let service = self.service.clone();
        waiting_job(env, move || {
            service.stop(milliseconds(within)?);
            Ok(())
        })
    }
}

fn milliseconds(number: f64) -> std::result::Result<Duration, CallFailure> {
    Duration::try_from_secs_f64(number / 1000.0)
        .map_err(|error| CallFailure::misuse(format!("{number} milliseconds: {error}")))
}
