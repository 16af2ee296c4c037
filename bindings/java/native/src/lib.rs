//! The native half of the jar: what the class `io.quorate.Native` calls.
//!
//! Claims, keys, verdicts and texts cross as arrays of bytes, which the Java machine copies. A copy of a claim takes less than a
//! hundredth of its verification, and a thread that writes to an array during a call changes nothing here. Objects are
//! numbers, so no address crosses. A body that fails or panics is a Java exception.
//!
//! | module | noun |
//! |---|---|
//! | `handles` | objects by number: a freed or invented number is an error |
//! | `call` | native functions: arguments are read, answers given, and errors and panics become exceptions |
//! | `answers` | verdicts as bytes, and the queue of a batcher's answers |
//! | `exports` | the functions that Java calls |

#![deny(unsafe_code)]

mod handles;
mod call;
mod answers;
// The names of exported functions are attributes that the compiler counts as unsafe, because two libraries could have the same
// name. Nothing in the module is an unsafe block.
#[allow(unsafe_code)]
mod exports;
