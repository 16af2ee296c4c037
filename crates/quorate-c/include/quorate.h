// libquorate: BLS signatures at network scale. Guide: docs/languages.md.
//
// - Functions return a code, and say more in `error`, which may be null. A code says nothing about claims: their verdicts do.
// - Pointers are read and written during the call alone, but for handles. Where a size is 0, the pointer beside it may be null.
// - Handles are opaque, freed by the function of their type, and shared between threads; nobody frees one that a call uses.
// - A call that fails writes null where it would have written a handle. Functions that free a handle take null.
// - The library writes to memory of the caller, which must not overlap with what the call reads. Nothing that one side allocates is freed
//   by the other.
// - Keys, signatures and messages are bytes: compressed points on BLS12-381, words of the EVM on BN254.
//
// This file is made from crates/quorate-c. Licence: MIT OR Apache-2.0.

#ifndef QUORATE_H
#define QUORATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The C data and stream interfaces of Arrow: https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowArray;
struct ArrowArrayStream;
struct ArrowSchema;

// The interface of this header. It rises when a program that was compiled with an earlier header would go wrong with the library: when the
// size of a structure changes, or the place, the type or the meaning of a field, of an argument or of a number, and when a function goes. A
// new function, or a new number for a new case, leaves it.
#define QUORATE_ABI 1

// What a claim got. The number 1 alone means that something proved it, and memory that nobody wrote is 0. From 16 on, nobody looked at
// the claim. The numbers are a part of the C interface and never change.
enum quorate_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing proved or refuted it. From a verifier, it is an internal error.
  QUORATE_VERDICT_UNDECIDED = 0,
  // Something proved it.
  QUORATE_VERDICT_VALID = 1,
  // Its signature is not the one that these keys make over these messages.
  QUORATE_VERDICT_MISMATCH = 2,
  // A key, its signature or a message does not decode.
  QUORATE_VERDICT_ENCODING = 3,
  // It breaks a rule of its suite: no keys, equal messages, keys that add up to the identity, other counts.
  QUORATE_VERDICT_RULE = 4,
  // It does not fit the key set that it names: one of another variant, a member that the set does not have, or several members of whom
  // one has not proven its key. The set can be older than the claim, so this says nothing about who sent it.
  QUORATE_VERDICT_KEY_SET = 5,
  // Nobody looked at it, because as much work waits as the settings allow, or because it alone is larger.
  QUORATE_VERDICT_OVERLOADED = 16,
  // Nobody looked at it, because its source sent false claims.
  QUORATE_VERDICT_BANNED = 17,
  // Nobody looked at it before its deadline.
  QUORATE_VERDICT_DEADLINE_PASSED = 18,
  // Nobody looked at it, because the batcher stops.
  QUORATE_VERDICT_STOPPED = 19,
  // An internal error of the batcher.
  QUORATE_VERDICT_FAILED = 20,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum quorate_verdict quorate_verdict;
#else
typedef uint8_t quorate_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What kind of failure it is. The numbers are a part of the C interface and never change.
enum quorate_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing failed.
  QUORATE_CODE_OK = 0,
  // A pointer is null that must not be.
  QUORATE_CODE_NULL = 1,
  // There is no such suite.
  QUORATE_CODE_SUITE = 2,
  // Bytes that are not a key, a signature or a secret.
  QUORATE_CODE_ENCODING = 3,
  // Something that is not allowed or not possible: the text says what, and what to do.
  QUORATE_CODE_MISUSE = 4,
  // The memory for the result is too small.
  QUORATE_CODE_TOO_SMALL = 5,
  // The operating system has no random numbers, or no threads.
  QUORATE_CODE_SYSTEM = 6,
  // A fault of the library. Please report it.
  QUORATE_CODE_INTERNAL = 7,
  // Claims, or a table, that cannot be read: cut bytes, an unknown kind of messages, or another number of them than the kind has.
  // Nothing was verified.
  QUORATE_CODE_CLAIMS = 8,
  // A handle that was freed, or that this library did not make: only builds with assertions find it. Or the number of a key set that was
  // freed, which every build finds.
  QUORATE_CODE_HANDLE = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum quorate_code quorate_code;
#else
typedef int32_t quorate_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What the keys of a claim signed. The numbers are a part of the C interface and never change.
enum quorate_messages
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Every key signed the one message.
  QUORATE_MESSAGES_SHARED = 0,
  // Each key signed the message at its index.
  QUORATE_MESSAGES_EACH = 1,
  // The one key signed its own encoding: a proof that its owner holds the secret.
  QUORATE_MESSAGES_POSSESSION = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum quorate_messages quorate_messages;
#else
typedef uint32_t quorate_messages;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a packed claim says whose keys signed: this is added to its `quorate_messages`. The numbers are a part of the C interface and never
// change.
enum quorate_signers
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // By their encodings.
  QUORATE_SIGNERS_KEYS = 0,
  // As members of a key set, by a bitmap.
  QUORATE_SIGNERS_BITMAP = 256,
  // As members of a key set, by indices of 32 bits each.
  QUORATE_SIGNERS_INDICES = 512,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum quorate_signers quorate_signers;
#else
typedef uint32_t quorate_signers;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How urgent a claim is.
enum quorate_class
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A block: at once, on all threads.
  QUORATE_CLASS_BLOCK = 0,
  // What a node needs for its own duties.
  QUORATE_CLASS_DUTY = 1,
  // Everything else, which an overloaded batcher refuses first.
  QUORATE_CLASS_GOSSIP = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum quorate_class quorate_class;
#else
typedef uint32_t quorate_class;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Verifies claims as they come, in batches, on threads of its own. Any number of threads can use one. Make it after a `fork`: a child has
// none of its parent's threads, so nobody would answer.
typedef struct quorate_batcher quorate_batcher;

// A committee's keys, which are read and checked once. Bitmaps name its members: bit i, counted from the lowest bit of the first byte,
// is the member with index i. Claims name them by the number of the set. Any number of threads can use one.
typedef struct quorate_key_set quorate_key_set;

// A secret key. It is wiped when it is freed, and constant-time code alone computes with it. Any number of threads can use one.
typedef struct quorate_secret_key quorate_secret_key;

// Verdicts with their reasons.
typedef struct quorate_verdicts quorate_verdicts;

// Verifies claims. Any number of threads can use one at the same time. It keeps decoded keys, hashes of recent messages, and known
// statements for later calls.
typedef struct quorate_verifier quorate_verifier;

// Why a call failed. Pass null if only the code matters, which the function also returns.
typedef struct quorate_error {
  // The code that the function returns.
  int32_t code;
  // What was found and what was expected, in UTF-8, with a zero behind it. A longer text is cut.
  char text[508];
} quorate_error;

// How a verifier works. All zeros are the defaults: one thread, 64 bits, the fastest backend.
typedef struct quorate_options {
  // How many threads a call uses, its own included: 0 for one, `UINT32_MAX` for all of the machine. They start and end in the call, which
  // uses no more than one for every sixteen keys of its claims. Other numbers above 1024 are refused.
  uint32_t threads;
  // How unlikely it must be that a false claim passes: 64 or 128 bits.
  uint32_t soundness;
  // The name of a backend, such as "portable"; null for the fastest of this machine.
  const char *backend;
  // The length of that name.
  size_t backend_size;
  // At most so many known statements are kept of each variant: when there are more, the older half is forgotten. 0 for any number.
  uint64_t most_known;
} quorate_options;

// Bytes of the caller's, which the library only reads, and only during the call. `data` may be null if `size` is 0.
typedef struct quorate_bytes {
  // The first byte.
  const uint8_t *data;
  // How many there are.
  size_t size;
} quorate_bytes;

// A claim: these keys signed these messages, and this is the sum of their signatures. The keys stand in it, or it names members of a key
// set. Zeros are no claim, but no danger either.
//
// Keys, messages and signatures may have any length: what does not decode is the verdict of its claim alone.
typedef struct quorate_claim {
  // Its number: `quorate_suite`.
  uint32_t suite;
  // What was signed: a `quorate_messages`. Another number makes the whole call fail with `QUORATE_CODE_CLAIMS`.
  uint32_t kind;
  // The encoded public keys.
  const struct quorate_bytes *public_keys;
  // How many there are.
  size_t public_key_count;
  // The messages: one, or one for each key, or none of a proof of possession.
  const struct quorate_bytes *messages;
  // How many there are. With another number than its kind has, a claim makes the whole call fail with `QUORATE_CODE_CLAIMS`. But with
  // `QUORATE_MESSAGES_EACH` it gets the verdict `QUORATE_VERDICT_RULE`, and the others are verified.
  size_t message_count;
  // The encoded signature, an aggregate if there are several keys.
  struct quorate_bytes signature;
  // Who sent the claim: any bytes, none if nobody is named. Equal bytes are one source, and the batcher bans by it.
  struct quorate_bytes source;
  // In the place of keys: the number of a set of this variant, `quorate_key_set_number`; 0 for none. The claim is about the set as it is
  // when the function is called. If the set is freed, the whole call fails with `QUORATE_CODE_HANDLE`.
  uint64_t key_set;
  // Its members who signed, as a bitmap: bit i, counted from the lowest bit of the first byte, is the member with index i. Zeros at the
  // end stand for nobody. A member that the set does not have is the verdict `QUORATE_VERDICT_KEY_SET` of this claim alone.
  struct quorate_bytes members;
  // Or their indices, in any order. An index may repeat, and each counts: do not take their number for that of the members. In a BDN
  // suite a repeated one is the verdict `QUORATE_VERDICT_RULE`.
  const uint32_t *indices;
  // How many there are. With members and indices, or with members and keys, the whole call fails with `QUORATE_CODE_CLAIMS`.
  size_t index_count;
} quorate_claim;

// How a batcher works. All zeros are the defaults. `docs/batcher.md` says what each does.
typedef struct quorate_batcher_options {
  // How many batches are verified at the same time, each on a thread of its own: 0 for one on each core.
  uint32_t threads;
  // As in `quorate_options`.
  uint32_t soundness;
  // As in `quorate_options`.
  const char *backend;
  // As in `quorate_options`.
  size_t backend_size;
  // The longest that a claim waits for others while a thread is idle, in microseconds. It waits if batches begin so soon after one
  // another that this takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
  uint64_t linger_us;
  // The planned work at which a batch is full, in microseconds.
  uint64_t target_us;
  // The planned work that may wait for each thread, in microseconds. What comes beyond it is refused.
  uint64_t queue_us;
  // The most memory that waiting claims may take, in bytes, and the most bytes of messages that are hashed for one claim.
  uint64_t queue_bytes;
} quorate_batcher_options;

// What is called with a claim's answer: a `quorate_verdict`, and the reason of `size` bytes, which is there during the call alone.
//
// It is called once for each claim: on a thread of the batcher, or on the thread of a caller, before a function of the batcher returns. A
// caller must not hold a lock that the answer takes. It must return soon, because claims wait; it may hand in other claims; and it must
// not throw or jump out. It must not free a batcher, and functions that wait for answers fail in it with `QUORATE_CODE_MISUSE`.
//
// If an answer hands in a claim that the batcher refuses at once, the answer to that comes after this one has returned, on the same
// thread. An answer that hands every refused claim in again is called without end once the batcher is stopped.
typedef void (*quorate_answer)(void *user, uint8_t verdict, const char *reason, size_t size);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, as text.
const char *quorate_version(void);

// The number of this interface. A program that was compiled with a header runs with every library that answers the header's
// `QUORATE_ABI`.
uint32_t quorate_abi(void);

// The number of a suite by its name: "eth2", "drand-quicknet", "eigenlayer", or an id of the IETF in full. `size` is the length of the
// name, without a zero. `docs/schemes.md` describes the suites.
int32_t quorate_suite(const char *name,
                      size_t size,
                      uint32_t *suite,
                      struct quorate_error *error);

// How many bytes a public key and a signature of a suite have.
int32_t quorate_suite_lengths(uint32_t suite, size_t *public_key, size_t *signature, struct quorate_error *error);

// Makes a verifier. `options` may be null. Free it by `quorate_verifier_free`.
int32_t quorate_verifier_new(const struct quorate_options *options,
                             struct quorate_verifier **verifier,
                             struct quorate_error *error);

// Frees a verifier. Null is fine.
void quorate_verifier_free(struct quorate_verifier *verifier);

// Verifies claims. Writes one `quorate_verdict` for each to `verdicts`, in their order, and makes a handle with their reasons if
// `reasons` is not null; free that by `quorate_verdicts_free`. If the call fails, all verdicts are `QUORATE_VERDICT_UNDECIDED`.
//
// With `remember`, valid claims of one key are known from then on: they cost an addition when a later claim repeats them.
int32_t quorate_verify(const struct quorate_verifier *verifier,
                       const struct quorate_claim *claims,
                       size_t count,
                       bool remember,
                       uint8_t *verdicts,
                       struct quorate_verdicts **reasons,
                       struct quorate_error *error);

// The same for claims in one piece of memory: the number of claims must be `count`. For languages in which structures with pointers
// are slow or not allowed.
//
// A claim is, in little-endian numbers of 32 bits: its suite, its `quorate_messages`, how many keys, how many messages; then each key,
// each message, the signature and the source, each as its length and its bytes.
//
// One that names members of a key set has a `quorate_signers` added to its `quorate_messages`, and no keys. In their place stand the
// number of the set, of 64 bits, and the members as the length and the bytes of a bitmap or of indices of 32 bits each, all little-endian.
// As in `quorate_claim`, a set that is freed fails the whole call with `QUORATE_CODE_HANDLE`.
int32_t quorate_verify_packed(const struct quorate_verifier *verifier,
                              const uint8_t *packed,
                              size_t size,
                              size_t count,
                              bool remember,
                              uint8_t *verdicts,
                              struct quorate_verdicts **reasons,
                              struct quorate_error *error);

// Verifies one signature by one key over one message. Writes a `quorate_verdict`, and its reason as `quorate_verify` does: bytes that are no
// key or no signature are a verdict. It remembers nothing.
int32_t quorate_verify_one(const struct quorate_verifier *verifier,
                           uint32_t suite,
                           struct quorate_bytes public_key,
                           struct quorate_bytes message,
                           struct quorate_bytes signature,
                           uint8_t *verdict,
                           struct quorate_verdicts **reasons,
                           struct quorate_error *error);

// Why a claim is not valid, as a text of UTF-8 with a zero behind it, cut to `size`. `length` is how long all of it is, and may be
// null. The text of a valid claim is empty. `index` counts the claims of the call from 0: `QUORATE_CODE_MISUSE` if there is no such claim.
int32_t quorate_verdicts_reason(const struct quorate_verdicts *verdicts,
                                size_t index,
                                char *place,
                                size_t size,
                                size_t *length,
                                struct quorate_error *error);

// Frees verdicts. Null is fine.
void quorate_verdicts_free(struct quorate_verdicts *verdicts);

// What would be computed to verify packed claims, as text. It is written as `quorate_verdicts_reason` writes. Nothing is verified.
int32_t quorate_plan(const struct quorate_verifier *verifier,
                     const uint8_t *packed,
                     size_t packed_size,
                     char *place,
                     size_t size,
                     size_t *length,
                     struct quorate_error *error);

// The sum of public keys, which stand one after another, as `quorate_aggregate_public_keys` makes it. Keys that the verifier has decoded
// before are not decoded again, and a claim of the sum decodes nothing.
int32_t quorate_verifier_aggregate_public_keys(const struct quorate_verifier *verifier,
                                               uint32_t suite,
                                               const uint8_t *keys,
                                               size_t size,
                                               uint8_t *sum,
                                               size_t sum_size,
                                               struct quorate_error *error);

// How many statements a verifier knows.
int32_t quorate_verifier_known(const struct quorate_verifier *verifier, size_t *known, struct quorate_error *error);

// Forgets all known statements.
int32_t quorate_verifier_forget(const struct quorate_verifier *verifier, struct quorate_error *error);

// Verifies a table: one claim a row, with the columns `public_key` or `public_keys`, `message` or `messages`, and `signature`, as
// binary or as hexadecimal text, and if need be `suite` and `source`. A row without a suite is a claim of `suite`; 0 is no suite. A
// claim of a chain also has `kind`, `slot` and `index`, and a `reason` if the chain refutes it: such a claim is not valid, and the
// reason of its verdict is "chain: " and that text. A row that is null as a whole is an error: `QUORATE_CODE_CLAIMS`.
//
// `claims` is a `struct ArrowArrayStream` of the C stream interface of Arrow. It is read to its end and released, also if the call
// fails. `verdicts` is memory for another one, which the caller releases: one row for each row, with the columns `valid` and
// `reason`, and a batch for each batch, or several if its reasons take more than 1 GiB. If the reasons that come from the table
// take more than 1 GiB together, that is an error: `QUORATE_CODE_CLAIMS`. If the call fails, `verdicts` is a released stream.
int32_t quorate_verify_arrow(const struct quorate_verifier *verifier,
                             uint32_t suite,
                             struct ArrowArrayStream *claims,
                             struct ArrowArrayStream *verdicts,
                             struct quorate_error *error);

// Verifies a table that is one array of rows: the same by the C data interface of Arrow.
//
// `claims` is a `struct ArrowArray`, and `schema` is its `struct ArrowSchema`. Both are released, also if the call fails. `verdicts` and
// `verdicts_schema` are memory for others, which the caller releases: one row for each row. If all reasons together take more than
// 1 GiB, that is an error: `QUORATE_CODE_CLAIMS`. If the call fails, what it writes there is released.
int32_t quorate_verify_arrow_array(const struct quorate_verifier *verifier,
                                   uint32_t suite,
                                   struct ArrowArray *claims,
                                   struct ArrowSchema *schema,
                                   struct ArrowArray *verdicts,
                                   struct ArrowSchema *verdicts_schema,
                                   struct quorate_error *error);

// Whether bytes are a public key of a suite: canonical, in the subgroup, not the identity. `QUORATE_CODE_ENCODING` if not.
int32_t quorate_check_public_key(uint32_t suite,
                                 const uint8_t *key,
                                 size_t size,
                                 struct quorate_error *error);

// Whether bytes are a signature of a suite: canonical, in the subgroup. It says nothing about who signed what.
int32_t quorate_check_signature(uint32_t suite, const uint8_t *signature, size_t size, struct quorate_error *error);

// The sum of signatures, which stand one after another: `size` is that of all. `sum_size` is the room at `sum`, which must be at
// least that of a signature. All are checked, and the sum says nothing about whether any is valid. `QUORATE_CODE_ENCODING` if one does not
// decode or is cut, `QUORATE_CODE_MISUSE` for no signatures, and in a BDN suite, where each signature needs its key:
// `quorate_bdn_aggregate`.
int32_t quorate_aggregate(uint32_t suite,
                          const uint8_t *signatures,
                          size_t size,
                          uint8_t *sum,
                          size_t sum_size,
                          struct quorate_error *error);

// The same of signatures that `quorate_check_signature` has accepted: whether they are in the subgroup is not checked again. Its answer
// about others means nothing.
int32_t quorate_aggregate_checked(uint32_t suite,
                                  const uint8_t *signatures,
                                  size_t size,
                                  uint8_t *sum,
                                  size_t sum_size,
                                  struct quorate_error *error);

// The aggregate of a BDN suite: the signature of several keys over one message, with the coefficients of exactly these keys. Keys and
// signatures stand one after another, and the signature of each key at its place. All are checked, but not whether each signature is valid:
// verify them first, as claims of one key, or a false one spoils the aggregate. Verify it by a claim of these keys, in any order.
// `QUORATE_CODE_MISUSE` in another suite, for none, for other numbers of keys than of signatures, and if a key stands there twice.
int32_t quorate_bdn_aggregate(uint32_t suite,
                              struct quorate_bytes keys,
                              struct quorate_bytes signatures,
                              uint8_t *aggregate,
                              size_t aggregate_size,
                              struct quorate_error *error);

// The sum of public keys, which stand one after another; in a BDN suite with its coefficients. It is as long as a public key. All are
// checked. In the other suites rely on it only if the owner of each key has shown that it holds the secret. `QUORATE_CODE_ENCODING` if one
// does not decode or is cut, `QUORATE_CODE_MISUSE` for no keys, if they add up to the identity, in a BDN suite if one stands there twice, and
// under `eigenlayer`.
int32_t quorate_aggregate_public_keys(uint32_t suite,
                                      const uint8_t *keys,
                                      size_t size,
                                      uint8_t *sum,
                                      size_t sum_size,
                                      struct quorate_error *error);

// A sum of signatures without some of its parts, which stand one after another. That they are parts of it is the caller's knowledge. Without
// parts it is the sum. `QUORATE_CODE_ENCODING` if one does not decode or is cut, `QUORATE_CODE_MISUSE` in a BDN suite.
int32_t quorate_subtract(uint32_t suite,
                         struct quorate_bytes sum,
                         struct quorate_bytes parts,
                         uint8_t *rest,
                         size_t rest_size,
                         struct quorate_error *error);

// Makes a new secret key from the random numbers of the operating system. Free it by `quorate_secret_key_free`.
int32_t quorate_secret_key_generate(uint32_t suite, struct quorate_secret_key **secret, struct quorate_error *error);

// Derives a secret key from at least 32 bytes of key material: `KeyGen` of draft-irtf-cfrg-bls-signature-05, in the suite `chia` that of
// draft 3. `info` may be empty. The caller wipes the material. `QUORATE_CODE_ENCODING` for material that is too short. Free the key by
// `quorate_secret_key_free`.
int32_t quorate_secret_key_derive(uint32_t suite,
                                  struct quorate_bytes material,
                                  struct quorate_bytes info,
                                  struct quorate_secret_key **secret,
                                  struct quorate_error *error);

// Reads a secret key: 32 bytes, big-endian, from 1 to the order of the group less one; others are `QUORATE_CODE_ENCODING`. The caller wipes
// its copy. Free the key by `quorate_secret_key_free`.
int32_t quorate_secret_key_from_bytes(uint32_t suite,
                                      const uint8_t *bytes,
                                      size_t size,
                                      struct quorate_secret_key **secret,
                                      struct quorate_error *error);

// Writes the 32 bytes of a secret key, big-endian. The caller wipes them.
int32_t quorate_secret_key_to_bytes(const struct quorate_secret_key *secret,
                                    uint8_t *bytes,
                                    size_t size,
                                    struct quorate_error *error);

// Writes the public key of a secret. `size` is the room at `key`, which must be at least that of a key of its suite.
int32_t quorate_secret_key_public_key(const struct quorate_secret_key *secret,
                                      uint8_t *key,
                                      size_t size,
                                      struct quorate_error *error);

// Signs a message. `size` is the room at `signature`, which must be at least that of a signature. `QUORATE_CODE_MISUSE` if the suite signs no
// such message: `eigenlayer` signs 32 bytes.
int32_t quorate_secret_key_sign(const struct quorate_secret_key *secret,
                                const uint8_t *message,
                                size_t message_size,
                                uint8_t *signature,
                                size_t size,
                                struct quorate_error *error);

// Proves that the owner of the public key holds its secret. The proof is as long as a signature. Verify it by a claim of the kind
// `QUORATE_MESSAGES_POSSESSION`. `QUORATE_CODE_MISUSE` in suites without such proofs.
int32_t quorate_secret_key_prove(const struct quorate_secret_key *secret,
                                 uint8_t *proof,
                                 size_t size,
                                 struct quorate_error *error);

// Wipes and frees a secret key. Null is fine.
void quorate_secret_key_free(struct quorate_secret_key *secret);

// Makes an empty set. Free it by `quorate_key_set_free`.
int32_t quorate_key_set_new(uint32_t suite, struct quorate_key_set **set, struct quorate_error *error);

// The number by which claims name a set until it is freed. It is not 0, and no other set of the process has or had it.
int32_t quorate_key_set_number(const struct quorate_key_set *set, uint64_t *number, struct quorate_error *error);

// Adds keys, which stand one after another: all of them, or none. Their indices follow those of the members so far. No keys add no members.
// `assumed` says that their owners have shown elsewhere that they hold their secrets, as validators of Ethereum do by their deposits; without
// it, each needs `quorate_key_set_prove` in suites with such proofs. `QUORATE_CODE_ENCODING` if one does not decode or is cut.
int32_t quorate_key_set_push(const struct quorate_key_set *set,
                             const uint8_t *keys,
                             size_t size,
                             bool assumed,
                             struct quorate_error *error);

// Verifies that a member holds the secret of its key. `proven` says whether it is true; the set remembers it. If the call fails, `proven`
// is false, and the set is as it was. `QUORATE_CODE_ENCODING` if the proof does not decode, `QUORATE_CODE_MISUSE` if there is no such member,
// and in suites without such proofs.
int32_t quorate_key_set_prove(const struct quorate_key_set *set,
                              size_t index,
                              const uint8_t *proof,
                              size_t size,
                              bool *proven,
                              struct quorate_error *error);

// How many members there are.
int32_t quorate_key_set_members(const struct quorate_key_set *set, size_t *members, struct quorate_error *error);

// Writes the sum of members' keys, also of members that have proven nothing: verify with `quorate_key_set_verify`, and not under this sum.
// It is as long as a public key, and under `eigenlayer` the sum in G2, 128 bytes. For no members it is the identity, which is not a key. The
// set keeps its last sums, and computes the next one from the difference if that takes less. `QUORATE_CODE_MISUSE` if there is no such
// member, and in a BDN suite, where keys are added with coefficients.
int32_t quorate_key_set_sum(const struct quorate_key_set *set,
                            const uint8_t *members,
                            size_t members_size,
                            uint8_t *sum,
                            size_t size,
                            struct quorate_error *error);

// Verifies that these members signed a message. Writes a `quorate_verdict`, and its reason as `quorate_verify` does. A signature that does
// not decode is the error `QUORATE_CODE_ENCODING`. `QUORATE_CODE_MISUSE` for no members, unless the suite allows that, as
// `eth2-sync-aggregate` does; for members that are not there; for several of whom one has not proven its key, in suites with such proofs; for
// keys that add up to the identity; and in suites without signatures of several keys over one message. In a claim, these are verdicts.
int32_t quorate_key_set_verify(const struct quorate_key_set *set,
                               struct quorate_bytes members,
                               struct quorate_bytes message,
                               struct quorate_bytes signature,
                               uint8_t *verdict,
                               struct quorate_verdicts **reasons,
                               struct quorate_error *error);

// Frees a set. Null is fine. Claims that were handed to a batcher keep what they need of it, and its number names nothing any more.
void quorate_key_set_free(struct quorate_key_set *set);

// Starts a batcher. `options` may be null. Free it by `quorate_batcher_free`. `QUORATE_CODE_SYSTEM` if there are no threads.
int32_t quorate_batcher_new(const struct quorate_batcher_options *options,
                            struct quorate_batcher **batcher,
                            struct quorate_error *error);

// Hands a claim in, which is copied, and does not wait. `answer` is called with `user` once, unless this function fails: then never. A claim
// that is refused, also because the batcher is stopped, is no failure: its answer says so. `urgency` is a `quorate_class`. The deadline is in
// milliseconds from now; 0 is none.
int32_t quorate_batcher_submit(const struct quorate_batcher *batcher,
                               const struct quorate_claim *claim,
                               uint32_t urgency,
                               uint64_t deadline_ms,
                               quorate_answer answer,
                               void *user,
                               struct quorate_error *error);

// The same for one packed claim, as `quorate_verify_packed` reads it.
int32_t quorate_batcher_submit_packed(const struct quorate_batcher *batcher,
                                      const uint8_t *packed,
                                      size_t size,
                                      uint32_t urgency,
                                      uint64_t deadline_ms,
                                      quorate_answer answer,
                                      void *user,
                                      struct quorate_error *error);

// Hands packed claims in, as `quorate_verify_packed` reads them, and waits for all verdicts. Several threads that call it share
// batches. If the call fails, all verdicts are `QUORATE_VERDICT_UNDECIDED`. `QUORATE_CODE_MISUSE` in an answer, of any batcher.
int32_t quorate_batcher_verify_packed(const struct quorate_batcher *batcher,
                                      const uint8_t *packed,
                                      size_t size,
                                      size_t count,
                                      uint32_t urgency,
                                      uint64_t deadline_ms,
                                      uint8_t *verdicts,
                                      struct quorate_error *error);

// Takes no more claims, answers those that wait for at most so many milliseconds, and refuses the others. It waits for the batches in
// progress. If several threads call it at the same time, the shortest time counts for all, and all but one may return before those
// batches have ended. `QUORATE_CODE_MISUSE` in an answer, of any batcher.
int32_t quorate_batcher_stop(const struct quorate_batcher *batcher,
                             uint64_t within_ms,
                             struct quorate_error *error);

// Refuses what waits, waits for the batches in progress, and frees the batcher. All answers have come when it returns. Null is fine. Do
// not call it in an answer.
void quorate_batcher_free(struct quorate_batcher *batcher);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* QUORATE_H */
