//! The functions that Java calls: the native methods of the class `io.quorate.Native`, which documents them.

#![allow(non_snake_case)]

use std::{sync::Arc, time::Duration};

use jni::{
    EnvUnowned,
    objects::{JByteArray, JClass},
    sys::{jboolean, jint, jlong},
};
use quorate::{AnySuite, Backend, ClaimBytes};
use quorate_c::{
    CallFailure, Engine, EngineOptions, NumberedSet, Service, ServiceOptions, Signer, SuiteVerbs, packed, service,
    suites, verbs,
};
use zeroize::Zeroizing;

use crate::{
    answers::{self, Answers},
    call::{array, bytes, call},
    handles::Table,
};

static VERIFIERS: Table<Engine> = Table::new("verifier");
static SECRETS: Table<Box<dyn Signer>> = Table::new("secret key");
static COMMITTEES: Table<NumberedSet> = Table::new("key set");
static BATCHERS: Table<Station> = Table::new("batcher");

/// A batcher, and where its answers wait.
struct Station {
    service: Service,
    answers: Arc<Answers>,
}

fn of(suite: jint) -> Result<Box<dyn SuiteVerbs>, CallFailure> {
    Ok(verbs::of(by_number(suite)?))
}

fn by_number(suite: jint) -> Result<AnySuite, CallFailure> {
    suites::by_number(suite.cast_unsigned())
}

fn text(bytes: Vec<u8>) -> Result<String, CallFailure> {
    String::from_utf8(bytes).map_err(|_| CallFailure::misuse("a text that is not UTF-8"))
}

fn counted(claims: &[u8], count: jint) -> Result<Vec<ClaimBytes>, CallFailure> {
    packed::read_all(claims, usize::try_from(count).unwrap_or_default())
}

// The library.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_interfaceNumber<'a>(_: EnvUnowned<'a>, _: JClass<'a>) -> jint {
    INTERFACE
}

/// The number of the interface between this library and the class `Native`: it changes with every function's arguments or answers.
const INTERFACE: jint = 2;

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_suites<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>) -> JByteArray<'a> {
    call(&mut env, |env| {
        let mut table = String::new();
        for suite in AnySuite::all() {
            let (key, signature) = suites::lengths(suite);
            table += &format!("{} {} {key} {signature}\n", suites::number(suite)?, suite.name());
        }
        array(env, table.as_bytes())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_backends<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>) -> JByteArray<'a> {
    call(&mut env, |env| {
        let names: Vec<String> = Backend::available().iter().map(ToString::to_string).collect();
        array(env, names.join("\n").as_bytes())
    })
}

// Verifiers.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_verifierNew<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    threads: jint,
    soundness: jint,
    backend: JByteArray<'a>,
    most_known: jlong,
) -> jlong {
    call(&mut env, |env| {
        let backend = text(bytes(env, &backend)?)?;
        let engine = Engine::new(&EngineOptions {
            threads: threads.cast_unsigned(),
            soundness: soundness.cast_unsigned(),
            backend: &backend,
            most_known: most_known.cast_unsigned(),
        })?;
        Ok(VERIFIERS.put(Arc::new(engine)))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_verifierFree<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, verifier: jlong) {
    call(&mut env, |_| {
        VERIFIERS.take(verifier);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_verify<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    verifier: jlong,
    packed: JByteArray<'a>,
    count: jint,
    remember: jboolean,
) -> JByteArray<'a> {
    call(&mut env, |env| {
        let engine = VERIFIERS.of(verifier)?;
        let claims = counted(&bytes(env, &packed)?, count)?;
        array(env, &answers::verdicts(&engine.verify(&claims, remember)?))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_plan<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    verifier: jlong,
    packed: JByteArray<'a>,
    count: jint,
) -> JByteArray<'a> {
    call(&mut env, |env| {
        let engine = VERIFIERS.of(verifier)?;
        let claims = counted(&bytes(env, &packed)?, count)?;
        array(env, engine.plan(&claims).as_bytes())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_known<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, verifier: jlong) -> jlong {
    call(&mut env, |_| {
        let known = VERIFIERS.of(verifier)?.verifier().known();
        Ok(jlong::try_from(known).unwrap_or(jlong::MAX))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_forget<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, verifier: jlong) {
    call(&mut env, |_| {
        VERIFIERS.of(verifier)?.verifier().forget_known();
        Ok(())
    })
}

// Keys and signatures.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_checkPublicKey<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    key: JByteArray<'a>,
) {
    call(&mut env, |env| Ok(of(suite)?.check_public_key(&bytes(env, &key)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_checkSignature<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    signature: JByteArray<'a>,
) {
    call(&mut env, |env| Ok(of(suite)?.check_signature(&bytes(env, &signature)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_aggregate<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    signatures: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &of(suite)?.aggregate(&bytes(env, &signatures)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_bdnAggregate<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    keys: JByteArray<'a>,
    signatures: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &of(suite)?.bdn_aggregate(&bytes(env, &keys)?, &bytes(env, &signatures)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_aggregatePublicKeys<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    keys: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &of(suite)?.aggregate_public_keys(&bytes(env, &keys)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_subtract<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    sum: JByteArray<'a>,
    parts: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &of(suite)?.subtract(&bytes(env, &sum)?, &bytes(env, &parts)?)?))
}

// Secret keys.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretGenerate<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
) -> jlong {
    call(&mut env, |_| Ok(SECRETS.put(Arc::new(of(suite)?.generate()?))))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretDerive<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    material: JByteArray<'a>,
    info: JByteArray<'a>,
) -> jlong {
    call(&mut env, |env| {
        let material = Zeroizing::new(bytes(env, &material)?);
        Ok(SECRETS.put(Arc::new(of(suite)?.derive(&material, &bytes(env, &info)?)?)))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretRead<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
    secret: JByteArray<'a>,
) -> jlong {
    call(&mut env, |env| {
        let secret = Zeroizing::new(bytes(env, &secret)?);
        Ok(SECRETS.put(Arc::new(of(suite)?.secret(&secret)?)))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretFree<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, secret: jlong) {
    call(&mut env, |_| {
        SECRETS.take(secret);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretBytes<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    secret: jlong,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &*SECRETS.of(secret)?.to_bytes()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretPublicKey<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    secret: jlong,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &SECRETS.of(secret)?.public_key()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretSign<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    secret: jlong,
    message: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &SECRETS.of(secret)?.sign(&bytes(env, &message)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_secretProve<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    secret: jlong,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &SECRETS.of(secret)?.prove()?))
}

// Key sets.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeNew<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    suite: jint,
) -> jlong {
    call(&mut env, |_| Ok(COMMITTEES.put(Arc::new(NumberedSet::new(by_number(suite)?)))))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeFree<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, committee: jlong) {
    call(&mut env, |_| {
        COMMITTEES.take(committee);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeNumber<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
) -> jlong {
    call(&mut env, |_| Ok(COMMITTEES.of(committee)?.number().cast_signed()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeePush<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
    keys: JByteArray<'a>,
    assumed: jboolean,
) {
    call(&mut env, |env| Ok(COMMITTEES.of(committee)?.push(&bytes(env, &keys)?, assumed)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeProve<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
    index: jint,
    proof: JByteArray<'a>,
) -> jboolean {
    call(&mut env, |env| {
        let index = usize::try_from(index).map_err(|_| CallFailure::misuse(format!("there is no member {index}")))?;
        Ok(COMMITTEES.of(committee)?.prove(index, &bytes(env, &proof)?)?)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeMembers<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
) -> jint {
    call(&mut env, |_| {
        let members = COMMITTEES.of(committee)?.members();
        Ok(jint::try_from(members).unwrap_or(jint::MAX))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeSum<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
    members: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| array(env, &COMMITTEES.of(committee)?.sum(&bytes(env, &members)?)?))
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_committeeVerify<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    committee: jlong,
    members: JByteArray<'a>,
    message: JByteArray<'a>,
    signature: JByteArray<'a>,
) -> JByteArray<'a> {
    call(&mut env, |env| {
        let (members, message, signature) = (bytes(env, &members)?, bytes(env, &message)?, bytes(env, &signature)?);
        array(env, &answers::verdicts(&COMMITTEES.of(committee)?.verify(&members, &message, &signature)?))
    })
}

// Batchers.

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_batcherNew<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    threads: jint,
    soundness: jint,
    backend: JByteArray<'a>,
    linger_us: jlong,
    target_us: jlong,
    queue_us: jlong,
    queue_bytes: jlong,
) -> jlong {
    call(&mut env, |env| {
        let backend = text(bytes(env, &backend)?)?;
        let service = Service::start(&ServiceOptions {
            threads: threads.cast_unsigned(),
            soundness: soundness.cast_unsigned(),
            backend: &backend,
            linger_us: linger_us.cast_unsigned(),
            target_us: target_us.cast_unsigned(),
            queue_us: queue_us.cast_unsigned(),
            queue_bytes: queue_bytes.cast_unsigned(),
        })?;
        Ok(BATCHERS.put(Arc::new(Station { service, answers: Arc::default() })))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_batcherSubmit<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    batcher: jlong,
    id: jlong,
    packed: JByteArray<'a>,
    urgency: jint,
    deadline_us: jlong,
) {
    call(&mut env, |env| {
        let station = BATCHERS.of(batcher)?;
        let class = service::class(urgency.cast_unsigned())?;
        let claim = counted(&bytes(env, &packed)?, 1)?.swap_remove(0);
        let announced = station.answers.announce(id.cast_unsigned())?;
        let deadline = Duration::from_micros(deadline_us.cast_unsigned());
        station.service.submit(claim, class, deadline, move |answer| announced.give(service::ruled(answer)));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_batcherAnswers<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    batcher: jlong,
) -> JByteArray<'a> {
    call(&mut env, |env| {
        let written = BATCHERS.of(batcher)?.answers.take();
        if written.is_empty() {
            BATCHERS.take(batcher);
        }
        array(env, &written)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_batcherStop<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    batcher: jlong,
    within_us: jlong,
) {
    call(&mut env, |_| {
        BATCHERS.of(batcher)?.service.stop(Duration::from_micros(within_us.cast_unsigned()));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_io_quorate_Native_batcherClose<'a>(mut env: EnvUnowned<'a>, _: JClass<'a>, batcher: jlong) {
    call(&mut env, |_| {
        let station = BATCHERS.of(batcher)?;
        station.service.stop(Duration::ZERO);
        station.answers.close();
        Ok(())
    })
}
