/**
 * BLS signatures verified in bulk, off the event loop. Every claim gets a verdict, so you see which one is false.
 *
 * All keys, signatures and messages are `Uint8Array`, of which `Buffer` is one; `fromHex` reads text. Encodings: compressed points on
 * BLS12-381; on BN254 uncompressed coordinates, as the EVM has them.
 *
 * A call that gets a wrong type throws a `TypeError` (or rejects with it) that names the argument, and for a number outside its range or an
 * index that no member has, a `RangeError`. Other errors have a `code`: `ERR_QUORATE_ENCODING` for bytes that are no key, signature or
 * secret, `ERR_QUORATE_MISUSE` for what a suite or a set of keys does not allow, `ERR_QUORATE_QUEUE_FULL` where too many calls wait for
 * their turn, `ERR_QUORATE_SYSTEM` where the operating system has no random numbers or no threads, `ERR_QUORATE_INTERNAL` for a fault of
 * the package. An error never means that a signature is true or false: only a verdict does.
 *
 * Calls that give a promise wait for a thread of the package, in their order. Those of a process that wait have 256 MiB at most, which are
 * copies of their arguments and 1 KiB for each: the promise of one more is rejected with `ERR_QUORATE_QUEUE_FULL`. Await earlier calls
 * before you make more. A call that is larger is taken if no other one waits. A `Batcher` has a queue of its own.
 */

/** The name of a suite: `suites()` lists them. A suite is a curve, the group of the keys, a tag and a rule about keys. */
export type Suite =
  | "eth2"
  | "eth2-sync-aggregate"
  | "chia"
  | "drand-chained"
  | "drand-unchained"
  | "drand-quicknet"
  | "drand-g1-legacy"
  | "drand-evmnet"
  | "eigenlayer"
  | "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"
  | "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_"
  | "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
  | "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_"
  | "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
  | "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_"
  | "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"
  | "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_"
  | "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_"
  | "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_"
  | "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_"
  | "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_"
  | "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_"
  | "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_";

/** One key or several, or members of a set of keys that were checked before. */
export type Keys =
  | { publicKey: Uint8Array; publicKeys?: undefined; keySet?: undefined; members?: undefined }
  | { publicKey?: undefined; publicKeys: readonly Uint8Array[]; keySet?: undefined; members?: undefined }
  | {
      publicKey?: undefined;
      publicKeys?: undefined;
      /** The set whose members signed. Members that are added, or prove their keys, while a call waits for its turn may count in it or not. */
      keySet: KeySet;
      /**
       * A bitmap, whose lowest bit of the first byte stands for member 0, or indices. Indices may repeat, and each counts: do not take their
       * number for that of the members. In a BDN suite a repeated one breaks a rule.
       */
      members: Uint8Array | readonly number[];
    };

/** What the keys signed. */
export type Messages =
  /** Every key signed this message. */
  | { message: Uint8Array; messages?: undefined; possession?: false | undefined }
  /** Each key signed the message at its index. With another number of messages than keys the claim breaks a rule. */
  | { message?: undefined; messages: readonly Uint8Array[]; possession?: false | undefined }
  /** A proof of possession: the one key signed its own encoding, which shows that its owner holds the secret. */
  | { message?: undefined; messages?: undefined; possession: true };

/** That keys made a signature over messages. */
export type Claim = Keys &
  Messages & {
    suite: Suite;
    /** A signature, or the sum of the signatures of all keys. */
    signature: Uint8Array;
    /** Who sent the claim. A `Batcher` bans sources of false claims; never let a peer choose the name of another one. */
    source?: string | undefined;
  };

/** What a claim got. */
export type Verdict =
  | {
      /** Something proved the claim. */
      readonly valid: true;
      readonly code: "valid";
      readonly reason?: undefined;
    }
  | {
      /** Nothing proved the claim. */
      readonly valid: false;
      /**
       * `mismatch`: the signature is not the one of these keys over these messages. `encoding`: a key, the signature or a message does
       * not decode. `rule`: the claim breaks a rule of its suite, such as no keys, equal messages, or keys that add up to the identity.
       * `key-set`: the claim does not fit its key set, which has keys in the other group, has no such member, or has several of them of whom
       * one has not proven its key. The set can be older than the claim, so this says nothing about who sent it.
       * `undecided`: nothing says whether it is true, such as after an internal error; treat the claim as not verified.
       */
      readonly code: "mismatch" | "encoding" | "rule" | "key-set" | "undecided";
      /** Why, for people. */
      readonly reason: string;
    };

/** How to verify. */
export interface EngineOptions {
  /** How many threads a call uses, 1 to 1,024, or `"all"` that the machine has. One by default: several calls then share the machine. */
  threads?: number | "all" | undefined;
  /** A false claim passes with a probability of about 2^-64, or 2^-128. 64 by default. */
  soundness?: 64 | 128 | undefined;
  /** A name that `backends()` gives. The fastest by default. */
  backend?: string | undefined;
}

export interface VerifierOptions extends EngineOptions {
  /**
   * The most statements that the verifier remembers of each variant, at least 1: when there are more, it forgets the older half. 450 to 900
   * bytes each. Without a limit by default.
   */
  mostKnown?: number | undefined;
}

export interface Abortable {
  /**
   * When it is aborted, the promise is rejected with an `AbortError`. A call that waits for its turn is not computed then. One that has begun,
   * and a claim that a `Batcher` has, is computed all the same.
   */
  signal?: AbortSignal | undefined;
}

export interface Remembering {
  /** Remembers valid claims of one statement, so that later claims that contain the statement cost less. */
  remember?: boolean | undefined;
}

/**
 * Verifies every claim: one verdict for each, in their order; none for no claims, which proves nothing.
 *
 * The event loop copies the claims into one array (about 1 µs for a claim, and 0.1 µs for each further key). A thread of the
 * package decodes and verifies them. The caller may change its arrays as soon as the call returns.
 *
 * Calls without `threads`, `soundness` and `backend` share one verifier of the thread. It keeps decoded keys and hashes of messages for
 * later claims: at most about 20 MiB for keys in G1, 40 MiB for keys in G2, and 2 MiB of hashes for each.
 */
export function verify(claims: readonly Claim[], options?: EngineOptions & Abortable): Promise<Verdict[]>;

/** The same on this thread. It blocks the event loop meanwhile: use it in scripts and worker threads. */
export function verifySync(claims: readonly Claim[], options?: EngineOptions): Verdict[];

/** Verifies claims with options of its own, and remembers statements if it is asked to. It belongs to the thread that made it. */
export class Verifier {
  constructor(options?: VerifierOptions);
  /** Verifies every claim, on a thread of the package. */
  verify(claims: readonly Claim[], options?: Remembering & Abortable): Promise<Verdict[]>;
  /** The same on this thread. */
  verifySync(claims: readonly Claim[], options?: Remembering): Verdict[];
  /** Verifies one signature. For many, `verify` takes a fraction of the time for each. */
  verifyOne(suite: Suite, publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<Verdict>;
  /** What would be computed to verify claims, for people. Nothing is verified. It decodes the claims on this thread. */
  plan(claims: readonly Claim[]): string;
  /** How many statements are remembered. */
  readonly known: number;
  /** Forgets all of them. */
  forget(): void;
  /**
   * Frees what it keeps, as soon as no call has it. The garbage collector, which is told about how much that is, frees it later. Later
   * calls throw or reject (`ERR_QUORATE_MISUSE`); to close it again does nothing.
   */
  close(): void;
}

/** A suite and its lengths in bytes. */
export interface SuiteInfo {
  name: Suite;
  publicKeyLength: number;
  signatureLength: number;
}

/** All suites. */
export function suites(): SuiteInfo[];

/** The names of the backends of this machine, the fastest first. */
export function backends(): string[];

/** Reads hexadecimal digits, with or without `0x`. A `SyntaxError` names the first character that is none. */
export function fromHex(text: string): Uint8Array;

/**
 * A secret key. Neither `console.log` nor `JSON.stringify` prints it. `close` wipes it; without that, the garbage collector does at some
 * time, or never before the process ends. Signing takes constant time, and 0.1 to 0.5 ms on this thread.
 */
export class SecretKey {
  private constructor();
  /** A new key, of random numbers of the operating system. */
  static generate(suite: Suite): SecretKey;
  /**
   * `KeyGen` of the specification (draft-irtf-cfrg-bls-signature-05, section 2.3; `chia`: draft 3), of at least 32 secret bytes: fewer are
   * `ERR_QUORATE_ENCODING`. `info`, which may be public, tells keys of one material apart.
   */
  static derive(suite: Suite, material: Uint8Array, info?: Uint8Array): SecretKey;
  /**
   * Reads 32 bytes, big-endian, from 1 to the order of the group less one: others are `ERR_QUORATE_ENCODING`. The array stays yours to wipe.
   */
  static fromBytes(suite: Suite, secret: Uint8Array): SecretKey;
  /** The name of its suite. */
  readonly suite: Suite;
  /** The 32 bytes of the secret, big-endian. Overwrite the array when you are done with it. */
  toBytes(): Uint8Array;
  /** The public key, as claims have it. Each call computes it, which takes 0.1 to 1.6 ms: keep it. */
  publicKey(): Uint8Array;
  /** Signs a message. Under `eigenlayer` a message has 32 bytes, and others are `ERR_QUORATE_MISUSE`. */
  sign(message: Uint8Array): Uint8Array;
  /**
   * A proof that the owner of the public key holds this secret: the signature of a claim with `possession: true`. `ERR_QUORATE_MISUSE` in
   * suites without such proofs.
   */
  prove(): Uint8Array;
  /** Wipes the key. Its other calls throw from then on (`ERR_QUORATE_MISUSE`); to close it again does nothing. */
  close(): void;
}

/** Throws unless the bytes are a public key: canonical, in the subgroup, not the identity. About 0.1 ms. */
export function checkPublicKey(suite: Suite, key: Uint8Array): void;

/** Throws unless the bytes are a signature: canonical, in the subgroup. It does not say whose signature it is. About 0.1 ms. */
export function checkSignature(suite: Suite, signature: Uint8Array): void;

/**
 * The sum of signatures, each of which is checked (about 0.1 ms each, on this thread). It does not say whether any is valid. No signatures
 * are an error, and so is a BDN suite, where each signature needs its key (`ERR_QUORATE_MISUSE`): `bdnAggregate`.
 */
export function aggregate(suite: Suite, signatures: readonly Uint8Array[]): Uint8Array;

/**
 * The aggregate of a BDN suite: the signature of several keys over one message, with the coefficients of exactly these keys. The signature of
 * each key stands at its index. Both are checked (about 0.2 ms for each pair, on this thread), but not whether each signature is valid:
 * verify them first, as claims of one key, or a false one spoils the aggregate. A claim of these keys verifies it.
 *
 * `ERR_QUORATE_MISUSE`: another suite, none, other numbers of keys than of signatures, and a key that stands there twice.
 */
export function bdnAggregate(suite: Suite, keys: readonly Uint8Array[], signatures: readonly Uint8Array[]): Uint8Array;

/**
 * The sum of public keys, each of which is checked (about 0.1 ms each, on this thread); in a BDN suite with its coefficients. In the other
 * suites rely on it only if the owner of each has proven that it holds the secret. `ERR_QUORATE_MISUSE`: no keys, keys that add up to the
 * identity, a key that stands there twice in a BDN suite, and `eigenlayer`.
 */
export function aggregatePublicKeys(suite: Suite, keys: readonly Uint8Array[]): Uint8Array;

/**
 * A sum of signatures without some of its parts; without parts it is the sum. It is your task to know that they are parts of it. A BDN
 * suite is an error (`ERR_QUORATE_MISUSE`).
 */
export function subtract(suite: Suite, sum: Uint8Array, parts: readonly Uint8Array[]): Uint8Array;

/** Members of a `KeySet`: a bitmap whose lowest bit of the first byte is member 0, or an array of indices, none of them twice. */
export type Members = Uint8Array | readonly number[];

/**
 * A committee's keys by index, which are checked once. It keeps its last sums, and computes the next one from the difference. Claims name its
 * members (`keySet`, `members`), so that many of them are verified together, and by a `Batcher`.
 */
export class KeySet {
  constructor(suite: Suite);
  /** The name of its suite. */
  readonly suite: Suite;
  /** How many members there are. */
  readonly size: number;
  /**
   * Adds members, whose indices follow those of the members so far. All are checked (about 0.1 ms each, on this thread), and if one does
   * not decode (`ERR_QUORATE_ENCODING`), none is added. No keys add no members.
   *
   * In a suite of proofs of possession a member takes part with others only if it has proven that it holds its secret, or if you say that it has
   * elsewhere: `assumePossession`. With a wrong word, the owner of a rogue key can forge for all members.
   */
  push(keys: readonly Uint8Array[], options?: { assumePossession?: boolean | undefined }): void;
  /**
   * Verifies a member's proof of possession (about 1 ms, on this thread), and records it if it is true. A `RangeError`
   * (`ERR_OUT_OF_RANGE`) if there is no such member, `ERR_QUORATE_ENCODING` if the proof does not decode, and `ERR_QUORATE_MISUSE` in
   * suites without such proofs.
   */
  prove(index: number, proof: Uint8Array): boolean;
  /**
   * The sum of the members' keys, also of members that have proven nothing: verify with `verify`, and not under this sum. For no members it
   * is the identity. A `RangeError` (`ERR_OUT_OF_RANGE`) for an index that no member has or that stands there twice, and for a bitmap with
   * more bytes than the members need. `ERR_QUORATE_MISUSE` for a bit of the bitmap's last byte that is no member's, and in a BDN suite,
   * where keys are added with coefficients.
   */
  sum(members: Members): Uint8Array;
  /**
   * Whether these members signed one message, on a thread of the package. `ERR_QUORATE_ENCODING` if the signature does not decode; one outside
   * the subgroup is a verdict. Errors of the members as in `sum`, and `ERR_QUORATE_MISUSE` for no members, unless the suite allows that, as
   * `eth2-sync-aggregate` does; for members without a proof of possession; for keys that add up to the identity; and in suites of schemes
   * without multi-signatures.
   */
  verify(members: Members, message: Uint8Array, signature: Uint8Array, options?: Abortable): Promise<Verdict>;
  /** The same on this thread. */
  verifySync(members: Members, message: Uint8Array, signature: Uint8Array): Verdict;
  /**
   * Frees the keys, as soon as no call and no claim that was handed over has them. The garbage collector, which is told about how much that
   * is, frees them later. Later calls, and calls with claims that name the set, throw or reject (`ERR_QUORATE_MISUSE`); to close it again
   * does nothing.
   */
  close(): void;
}

/** How a batcher works. What is absent gets a good default. Times are in milliseconds, above 0 and up to one hour. */
export interface BatcherOptions {
  /** How many batches are verified at the same time. One on each core by default. */
  threads?: number | "all" | undefined;
  /** As in `EngineOptions`. */
  soundness?: 64 | 128 | undefined;
  /** As in `EngineOptions`. */
  backend?: string | undefined;
  /**
   * The longest that a claim waits for others while a thread is idle. It waits if batches begin so soon after one another that this takes
   * an eighth of the threads' time: docs/batcher.md, "When a batch closes".
   */
  lingerMs?: number | undefined;
  /** The planned work at which a batch is full. */
  targetMs?: number | undefined;
  /** The planned work that may wait for each thread. More is refused. */
  queueMs?: number | undefined;
  /**
   * The most memory that waiting claims may take, in bytes, and the most bytes of messages that are hashed for one claim. More is
   * refused.
   */
  queueBytes?: number | undefined;
}

export interface SubmitOptions extends Abortable {
  /** How urgent the claim is. `"gossip"` by default. */
  class?: "block" | "duty" | "gossip" | undefined;
  /** Nobody needs the answer later than in so many milliseconds, up to one hour. Without a deadline by default. */
  deadlineMs?: number | undefined;
}

/**
 * Verifies claims as they come, in batches, on threads of its own. The process stays alive while an answer is due, and can end when none
 * is. `stop` ends the threads; without it they end at some time after nobody holds the batcher. A claim of another worker thread goes to a
 * batcher of that thread.
 */
export class Batcher {
  constructor(options?: BatcherOptions);
  /**
   * Hands a claim in, which is copied. The promise is resolved with its verdict. If nobody verified the claim, that says nothing about the
   * claim: then the promise is rejected with a `RefusedError`. A claim that names a closed key set is `ERR_QUORATE_MISUSE`.
   */
  submit(claim: Claim, options?: SubmitOptions): Promise<Verdict>;
  /**
   * Takes no more claims, answers those that wait for at most so many milliseconds, up to one hour, and refuses the rest. 0 by default. If
   * it is called again meanwhile, the shortest time counts for all calls, and all but one may end before the batches in progress.
   */
  stop(ms?: number): Promise<void>;
  /** How many answers are due. */
  readonly pending: number;
}

/** Nobody verified the claim. Never treat it as a false one: do not blame its sender. */
export class RefusedError extends Error {
  private constructor();
  name: "RefusedError";
  /**
   * `overloaded`: as much work waits as the settings allow, or the claim alone is larger. `banned`: its source sent false claims.
   * `deadline-passed`: nobody looked at it in time. `stopped`: the batcher stops. `failed`: an internal error.
   */
  code: "overloaded" | "banned" | "deadline-passed" | "stopped" | "failed";
}

/** The signal of a call was aborted. `cause` is the signal's reason. */
export class AbortError extends Error {
  private constructor();
  name: "AbortError";
  code: "ABORT_ERR";
}
