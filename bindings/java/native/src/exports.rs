//! The functions that Java calls: the native methods of the class `io.quorate.Native`, which documents them.

#![allow(non_snake_case)]

use std::{sync::Arc, time::Duration};

use jni::sys::{jboolean, jint, jlong};
use quorate::{AnySuite, Backend, ClaimBytes};
use quorate_c::{
    CallFailure, Engine, EngineOptions, NumberedSet, Service, ServiceOptions, Signer, SuiteVerbs, packed, service,
    suites, verbs,
};
use zeroize::Zeroizing;

use crate::{
    answers::{self, Answers},
    call::exports,
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

fn counted(claims: &[u8], count: jint) -> Result<Vec<ClaimBytes>, CallFailure> {
    packed::read_all(claims, usize::try_from(count).unwrap_or_default())
}

/// The number of the interface between this library and the class `Native`: it changes with every function's arguments or answers.
const INTERFACE: jint = 2;

// The library.
exports! {
    fn Java_io_quorate_Native_interfaceNumber() -> jint {
        Ok(INTERFACE)
    }

    fn Java_io_quorate_Native_suites() -> Vec<u8> {
        let mut table = String::new();
        for suite in AnySuite::all() {
            let (key, signature) = suites::lengths(suite);
            table += &format!("{} {} {key} {signature}\n", suites::number(suite)?, suite.name());
        }
        Ok(table.into())
    }

    fn Java_io_quorate_Native_backends() -> Vec<u8> {
        let names: Vec<String> = Backend::available().iter().map(ToString::to_string).collect();
        Ok(names.join("\n").into())
    }
}

// Verifiers.
exports! {
    fn Java_io_quorate_Native_verifierNew(threads: jint, soundness: jint, backend: String, most_known: jlong) -> jlong {
        let engine = Engine::new(&EngineOptions {
            threads: threads.cast_unsigned(),
            soundness: soundness.cast_unsigned(),
            backend: &backend,
            most_known: most_known.cast_unsigned(),
        })?;
        Ok(VERIFIERS.put(Arc::new(engine)))
    }

    fn Java_io_quorate_Native_verifierFree(verifier: jlong) -> () {
        VERIFIERS.take(verifier);
        Ok(())
    }

    fn Java_io_quorate_Native_verify(verifier: jlong, packed: Vec<u8>, count: jint, remember: jboolean) -> Vec<u8> {
        let engine = VERIFIERS.of(verifier)?;
        Ok(answers::verdicts(&engine.verify(&counted(&packed, count)?, remember)?))
    }

    fn Java_io_quorate_Native_plan(verifier: jlong, packed: Vec<u8>, count: jint) -> Vec<u8> {
        let engine = VERIFIERS.of(verifier)?;
        Ok(engine.plan(&counted(&packed, count)?).into())
    }

    fn Java_io_quorate_Native_known(verifier: jlong) -> jlong {
        let known = VERIFIERS.of(verifier)?.verifier().known();
        Ok(jlong::try_from(known).unwrap_or(jlong::MAX))
    }

    fn Java_io_quorate_Native_forget(verifier: jlong) -> () {
        VERIFIERS.of(verifier)?.verifier().forget_known();
        Ok(())
    }
}

// Keys and signatures.
exports! {
    fn Java_io_quorate_Native_checkPublicKey(suite: jint, key: Vec<u8>) -> () {
        of(suite)?.check_public_key(&key)
    }

    fn Java_io_quorate_Native_checkSignature(suite: jint, signature: Vec<u8>) -> () {
        of(suite)?.check_signature(&signature)
    }

    fn Java_io_quorate_Native_aggregate(suite: jint, signatures: Vec<u8>) -> Vec<u8> {
        of(suite)?.aggregate(&signatures)
    }

    fn Java_io_quorate_Native_bdnAggregate(suite: jint, keys: Vec<u8>, signatures: Vec<u8>) -> Vec<u8> {
        of(suite)?.bdn_aggregate(&keys, &signatures)
    }

    fn Java_io_quorate_Native_aggregatePublicKeys(suite: jint, keys: Vec<u8>) -> Vec<u8> {
        of(suite)?.aggregate_public_keys(&keys)
    }

    fn Java_io_quorate_Native_subtract(suite: jint, sum: Vec<u8>, parts: Vec<u8>) -> Vec<u8> {
        of(suite)?.subtract(&sum, &parts)
    }
}

// Secret keys.
exports! {
    fn Java_io_quorate_Native_secretGenerate(suite: jint) -> jlong {
        Ok(SECRETS.put(Arc::new(of(suite)?.generate()?)))
    }

    fn Java_io_quorate_Native_secretDerive(suite: jint, material: Zeroizing<Vec<u8>>, info: Vec<u8>) -> jlong {
        Ok(SECRETS.put(Arc::new(of(suite)?.derive(&material, &info)?)))
    }

    fn Java_io_quorate_Native_secretRead(suite: jint, secret: Zeroizing<Vec<u8>>) -> jlong {
        Ok(SECRETS.put(Arc::new(of(suite)?.secret(&secret)?)))
    }

    fn Java_io_quorate_Native_secretFree(secret: jlong) -> () {
        SECRETS.take(secret);
        Ok(())
    }

    fn Java_io_quorate_Native_secretBytes(secret: jlong) -> Zeroizing<[u8; 32]> {
        Ok(SECRETS.of(secret)?.to_bytes())
    }

    fn Java_io_quorate_Native_secretPublicKey(secret: jlong) -> Vec<u8> {
        Ok(SECRETS.of(secret)?.public_key())
    }

    fn Java_io_quorate_Native_secretSign(secret: jlong, message: Vec<u8>) -> Vec<u8> {
        SECRETS.of(secret)?.sign(&message)
    }

    fn Java_io_quorate_Native_secretProve(secret: jlong) -> Vec<u8> {
        SECRETS.of(secret)?.prove()
    }
}

// Key sets.
exports! {
    fn Java_io_quorate_Native_committeeNew(suite: jint) -> jlong {
        Ok(COMMITTEES.put(Arc::new(NumberedSet::new(by_number(suite)?))))
    }

    fn Java_io_quorate_Native_committeeFree(committee: jlong) -> () {
        COMMITTEES.take(committee);
        Ok(())
    }

    fn Java_io_quorate_Native_committeeNumber(committee: jlong) -> jlong {
        Ok(COMMITTEES.of(committee)?.number().cast_signed())
    }

    fn Java_io_quorate_Native_committeePush(committee: jlong, keys: Vec<u8>, assumed: jboolean) -> () {
        COMMITTEES.of(committee)?.push(&keys, assumed)
    }

    fn Java_io_quorate_Native_committeeProve(committee: jlong, index: jint, proof: Vec<u8>) -> jboolean {
        let index = usize::try_from(index).map_err(|_| CallFailure::misuse(format!("there is no member {index}")))?;
        COMMITTEES.of(committee)?.prove(index, &proof)
    }

    fn Java_io_quorate_Native_committeeMembers(committee: jlong) -> jint {
        Ok(jint::try_from(COMMITTEES.of(committee)?.members()).unwrap_or(jint::MAX))
    }

    fn Java_io_quorate_Native_committeeSum(committee: jlong, members: Vec<u8>) -> Vec<u8> {
        COMMITTEES.of(committee)?.sum(&members)
    }

    fn Java_io_quorate_Native_committeeVerify(
        committee: jlong, members: Vec<u8>, message: Vec<u8>, signature: Vec<u8>,
    ) -> Vec<u8> {
        Ok(answers::verdicts(&COMMITTEES.of(committee)?.verify(&members, &message, &signature)?))
    }
}

// Batchers.
exports! {
    fn Java_io_quorate_Native_batcherNew(
        threads: jint, soundness: jint, backend: String, linger_us: jlong, target_us: jlong, queue_us: jlong, queue_bytes: jlong,
    ) -> jlong {
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
    }

    fn Java_io_quorate_Native_batcherSubmit(
        batcher: jlong, id: jlong, packed: Vec<u8>, urgency: jint, deadline_us: jlong,
    ) -> () {
        let station = BATCHERS.of(batcher)?;
        let class = service::class(urgency.cast_unsigned())?;
        let claim = counted(&packed, 1)?.swap_remove(0);
        let announced = station.answers.announce(id.cast_unsigned())?;
        let deadline = Duration::from_micros(deadline_us.cast_unsigned());
        station.service.submit(claim, class, deadline, move |answer| announced.give(service::ruled(answer)));
        Ok(())
    }

    fn Java_io_quorate_Native_batcherAnswers(batcher: jlong) -> Vec<u8> {
        let written = BATCHERS.of(batcher)?.answers.take();
        if written.is_empty() {
            BATCHERS.take(batcher);
        }
        Ok(written)
    }

    fn Java_io_quorate_Native_batcherStop(batcher: jlong, within_us: jlong) -> () {
        BATCHERS.of(batcher)?.service.stop(Duration::from_micros(within_us.cast_unsigned()));
        Ok(())
    }

    fn Java_io_quorate_Native_batcherClose(batcher: jlong) -> () {
        let station = BATCHERS.of(batcher)?;
        station.service.stop(Duration::ZERO);
        station.answers.close();
        Ok(())
    }
}
