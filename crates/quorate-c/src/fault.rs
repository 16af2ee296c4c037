//! Why a call failed.

use std::fmt;

use quorate::{MisuseError, ParseError};

/// What kind of failure it is. The numbers are a part of the C interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Code {
    /// Nothing failed.
    Ok = 0,
    /// A pointer is null that must not be.
    Null = 1,
    /// There is no such suite.
    Suite = 2,
    /// Bytes that are not a key, a signature or a secret.
    Encoding = 3,
    /// Something that is not allowed or not possible: the text says what, and what to do.
    Misuse = 4,
    /// The memory for the result is too small.
    TooSmall = 5,
    /// The operating system has no random numbers, or no threads.
    System = 6,
    /// A fault of the library. Please report it.
    Internal = 7,
    /// Claims, or a table, that cannot be read: cut bytes, an unknown kind of messages, or another number of them than the kind has.
    /// Nothing was verified.
    Claims = 8,
    /// A handle that was freed, or that this library did not make: only builds with assertions find it. Or the number of a key set that was
    /// freed, which every build finds.
    Handle = 9,
}

/// Why a call failed: a number for programs, a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// What kind it is.
    pub code: Code,
    /// What was found and what was expected.
    pub text: String,
}

impl CallFailure {
    /// A fault of a kind.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    /// A fault of the caller.
    pub fn misuse(text: impl Into<String>) -> Self {
        Self::new(Code::Misuse, text)
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CallFailure {}

impl From<ParseError> for CallFailure {
    fn from(error: ParseError) -> Self {
        Self::new(Code::Encoding, error.to_string())
    }
}

impl From<MisuseError> for CallFailure {
    fn from(error: MisuseError) -> Self {
        Self::misuse(error.to_string())
    }
}
