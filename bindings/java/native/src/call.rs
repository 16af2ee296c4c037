//! Native functions: arguments are read, answers given, and errors and panics become exceptions.

use std::any::Any;

use jni::{
    Env, EnvUnowned, JValue,
    errors::ErrorPolicy,
    jni_sig, jni_str,
    objects::{JByteArray, JString, JThrowable},
    sys::{jboolean, jint, jlong},
};
use quorate_c::{CallFailure, Code};
use zeroize::Zeroizing;

/// Why a body ended without a result.
pub(crate) enum Failure {
    /// The library says why.
    Call(CallFailure),
    /// The Java machine says why, perhaps by an exception that is already on its way.
    Java(jni::errors::Error),
}

impl From<CallFailure> for Failure {
    fn from(fault: CallFailure) -> Self {
        Self::Call(fault)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Self::Java(error)
    }
}

/// Runs a body. If it fails or panics, the result is a zero, a null or `false`, and an exception is on its way.
pub(crate) fn call<'a, T: Default>(
    env: &mut EnvUnowned<'a>,
    body: impl FnOnce(&mut Env<'a>) -> Result<T, Failure>,
) -> T {
    let outcome = env.with_env(|env| match quorate_host::contained(|| body(env)) {
        Ok(result) => result,
        Err(panicked) => Err(internal(&panicked.message).into()),
    });
    outcome.resolve::<Throw>()
}

/// Native functions, by the names for which Java looks. A body gets what was read of Java's arguments, and its answer is given to Java.
macro_rules! exports {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $answer:ty $body:block)*) => {$(
        #[unsafe(no_mangle)]
        extern "system" fn $name<'a>(
            mut env: jni::EnvUnowned<'a>,
            _: jni::objects::JClass<'a>,
            $($argument: <$type as $crate::call::FromJava>::Java<'a>),*
        ) -> <$answer as $crate::call::IntoJava>::Java<'a> {
            fn body($($argument: $type),*) -> Result<$answer, quorate_c::CallFailure> $body
            $crate::call::call(&mut env, |env| {
                let answer = body($(<$type as $crate::call::FromJava>::read(env, $argument)?),*)?;
                $crate::call::IntoJava::give(answer, env)
            })
        }
    )*};
}
pub(crate) use exports;

/// What a native function takes.
pub(crate) trait FromJava: Sized {
    /// What Java passes.
    type Java<'a>;

    /// Reads it. A null, and an array that is no text where a text is asked for, is a failure.
    fn read<'a>(env: &Env<'a>, java: Self::Java<'a>) -> Result<Self, Failure>;
}

/// What a native function returns.
pub(crate) trait IntoJava {
    /// What Java gets: a zero, a null or `false` if the function fails.
    type Java<'a>: Default;

    /// Gives it to Java.
    fn give<'a>(self, env: &mut Env<'a>) -> Result<Self::Java<'a>, Failure>;
}

/// Numbers and booleans are the same on both sides.
macro_rules! unchanged {
    ($($type:ty),*) => {$(
        impl FromJava for $type {
            type Java<'a> = Self;

            fn read(_: &Env<'_>, java: Self) -> Result<Self, Failure> {
                Ok(java)
            }
        }

        impl IntoJava for $type {
            type Java<'a> = Self;

            fn give(self, _: &mut Env<'_>) -> Result<Self, Failure> {
                Ok(self)
            }
        }
    )*};
}
unchanged!(jint, jlong, jboolean);

impl FromJava for Vec<u8> {
    type Java<'a> = JByteArray<'a>;

    fn read<'a>(env: &Env<'a>, java: JByteArray<'a>) -> Result<Self, Failure> {
        Ok(env.convert_byte_array(&java)?)
    }
}

/// Bytes of a secret.
impl FromJava for Zeroizing<Vec<u8>> {
    type Java<'a> = JByteArray<'a>;

    fn read<'a>(env: &Env<'a>, java: JByteArray<'a>) -> Result<Self, Failure> {
        Vec::<u8>::read(env, java).map(Self::new)
    }
}

/// A text in UTF-8.
impl FromJava for String {
    type Java<'a> = JByteArray<'a>;

    fn read<'a>(env: &Env<'a>, java: JByteArray<'a>) -> Result<Self, Failure> {
        let text = Self::from_utf8(Vec::<u8>::read(env, java)?);
        Ok(text.map_err(|_| CallFailure::misuse("a text that is not UTF-8"))?)
    }
}

impl IntoJava for () {
    type Java<'a> = Self;

    fn give(self, _: &mut Env<'_>) -> Result<Self, Failure> {
        Ok(())
    }
}

impl IntoJava for Vec<u8> {
    type Java<'a> = JByteArray<'a>;

    fn give<'a>(self, env: &mut Env<'a>) -> Result<JByteArray<'a>, Failure> {
        array(env, &self)
    }
}

impl IntoJava for Zeroizing<[u8; 32]> {
    type Java<'a> = JByteArray<'a>;

    fn give<'a>(self, env: &mut Env<'a>) -> Result<JByteArray<'a>, Failure> {
        array(env, &*self)
    }
}

/// An array of bytes.
fn array<'a>(env: &mut Env<'a>, bytes: &[u8]) -> Result<JByteArray<'a>, Failure> {
    if i32::try_from(bytes.len()).is_err() {
        return Err(CallFailure::misuse(format!(
            "the answer has {} bytes, more than an array of Java holds",
            bytes.len()
        ))
        .into());
    }
    Ok(env.byte_array_from_slice(bytes)?)
}

fn internal(text: &str) -> CallFailure {
    CallFailure::new(Code::Internal, format!("internal error, please report it: {text}"))
}

/// Makes an exception of a failure.
struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        (): &mut Self::Captures<'local, 'method>,
        failure: Failure,
    ) -> jni::errors::Result<T> {
        // An exception of the Java machine, such as that there is no memory for an array, says more than we do.
        if env.exception_check() {
            return Ok(T::default());
        }
        let fault = match failure {
            Failure::Call(fault) => fault,
            Failure::Java(jni::errors::Error::NullPtr(what)) => CallFailure::new(Code::Null, format!("a null: {what}")),
            Failure::Java(error) => internal(&error.to_string()),
        };
        let exception = exception(env, &fault)?;
        // `throw` itself answers that an exception is on its way, which is what was asked for.
        match env.throw(exception) {
            Ok(()) | Err(jni::errors::Error::JavaException) => Ok(T::default()),
            Err(error) => Err(error),
        }
    }

    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        captures: &mut Self::Captures<'local, 'method>,
        _payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        // Bodies are contained, so this is a panic of the glue around them.
        Self::on_error(env, captures, internal("a panic outside of a call's body").into())
    }
}

/// `IllegalStateException` for an object that is closed, `QuorateException` for everything else.
fn exception<'a>(env: &mut Env<'a>, fault: &CallFailure) -> jni::errors::Result<JThrowable<'a>> {
    let text = JString::new(env, &fault.text)?;
    let made = match fault.code {
        Code::Handle => env.new_object(
            jni_str!("java/lang/IllegalStateException"),
            jni_sig!("(Ljava/lang/String;)V"),
            &[JValue::Object(&text)],
        )?,
        code => env.new_object(
            jni_str!("io/quorate/QuorateException"),
            jni_sig!("(ILjava/lang/String;)V"),
            &[JValue::Int(code as i32), JValue::Object(&text)],
        )?,
    };
    env.cast_local::<JThrowable<'_>>(made)
}
