/**
 * The names of the npm package `@chainsafe/blst` 2.2, on quorate. The suite is Ethereum's: keys in G1, signatures in G2, the tag
 * `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_`.
 *
 * Every point that gets in is checked, whatever a flag says: `PublicKey.fromBytes` refuses the identity and what lies outside the
 * subgroup, and `Signature.fromBytes` refuses what lies outside the subgroup. So flags that ask for a check are accepted and change
 * nothing, but where they are about the identity. Reading a key takes about 0.1 ms.
 *
 * Only a sum of keys can be the identity. It verifies nothing.
 *
 * Errors have the codes of that package (`BLST_BAD_ENCODING`, `BLST_POINT_NOT_IN_GROUP`, `BLST_PK_IS_INFINITY`, `INVALID_HEX`, …) and
 * other texts. A wrong type is a `TypeError` that names the argument.
 */

export const SECRET_KEY_LENGTH: 32;
export const PUBLIC_KEY_LENGTH_COMPRESSED: 48;
export const PUBLIC_KEY_LENGTH_UNCOMPRESSED: 96;
export const SIGNATURE_LENGTH_COMPRESSED: 96;
export const SIGNATURE_LENGTH_UNCOMPRESSED: 192;

/** A key that signed a message. */
export interface SignatureSet {
  msg: Uint8Array;
  pk: PublicKey;
  sig: Signature;
}

/** A key and its encoded signature over a message that all sets share. */
export interface PkAndSerializedSig {
  pk: PublicKey;
  sig: Uint8Array;
}

/** Sums of keys and of signatures. */
export interface PkAndSig {
  pk: PublicKey;
  sig: Signature;
}

/** A flag of which `null` and `undefined` are the default. */
type Flag = boolean | null | undefined;

/** A secret key. It is never printed. `close` wipes it, or else the garbage collector at some time, or never before the process ends. */
export class SecretKey {
  private constructor();
  /** `KeyGen` of the specification, of at least 32 secret bytes. */
  static fromKeygen(ikm: Uint8Array, keyInfo?: Uint8Array | null): SecretKey;
  /** `derive_master_SK` of EIP-2333, of at least 32 secret bytes. */
  static deriveMasterEip2333(ikm: Uint8Array): SecretKey;
  /** Reads 32 bytes, big-endian. */
  static fromBytes(bytes: Uint8Array): SecretKey;
  /** Reads hexadecimal digits, with or without `0x`. */
  static fromHex(hex: string): SecretKey;
  /** `derive_child_SK` of EIP-2333. The index is below 2^32. */
  deriveChildEip2333(index: number): SecretKey;
  /** The 32 bytes of the secret. */
  toBytes(): Uint8Array;
  /** The secret as hexadecimal digits, with `0x`. */
  toHex(): string;
  /** The public key. */
  toPublicKey(): PublicKey;
  /** Signs a message. */
  sign(msg: Uint8Array): Signature;
  /** Wipes the key, which @chainsafe/blst cannot do. Its other calls throw from then on (`ERR_QUORATE_MISUSE`). */
  close(): void;
}

/** A public key in the subgroup. Only a sum can be the identity. */
export class PublicKey {
  private constructor();
  /** Reads 48 or 96 bytes. The key is always validated. */
  static fromBytes(bytes: Uint8Array, pkValidate?: Flag): PublicKey;
  /** Reads hexadecimal digits, with or without `0x`. The key is always validated. */
  static fromHex(hex: string, pkValidate?: Flag): PublicKey;
  /** 48 bytes, or 96 if `compress` is `false`. */
  toBytes(compress?: Flag): Uint8Array;
  /** The same as hexadecimal digits, with `0x`. */
  toHex(compress?: Flag): string;
  /** Throws if the key is the identity. */
  keyValidate(): void;
}

/** A signature in the subgroup. Nothing says yet that it is of a key over a message. */
export class Signature {
  private constructor();
  /** Reads 96 or 192 bytes. With `sigValidate` the identity is refused, unless `sigInfcheck` is `false`. */
  static fromBytes(bytes: Uint8Array, sigValidate?: Flag, sigInfcheck?: Flag): Signature;
  /** Reads hexadecimal digits, with or without `0x`. */
  static fromHex(hex: string, sigValidate?: Flag, sigInfcheck?: Flag): Signature;
  /** 96 bytes, or 192 if `compress` is `false`. */
  toBytes(compress?: Flag): Uint8Array;
  /** The same as hexadecimal digits, with `0x`. */
  toHex(compress?: Flag): string;
  /** Throws if the signature is the identity, unless `sigInfcheck` is `false`. */
  sigValidate(sigInfcheck?: Flag): void;
}

/** The sum of keys. With `pksValidate` the identity is refused among them. */
export function aggregatePublicKeys(pks: readonly PublicKey[], pksValidate?: Flag): PublicKey;
/** The sum of signatures. */
export function aggregateSignatures(sigs: readonly Signature[], sigsGroupcheck?: Flag): Signature;
/** The sum of encoded keys, each of which is validated. */
export function aggregateSerializedPublicKeys(pks: readonly Uint8Array[], pksValidate?: Flag): PublicKey;
/** The sum of encoded signatures, each of which is validated. */
export function aggregateSerializedSignatures(sigs: readonly Uint8Array[], sigsGroupcheck?: Flag): Signature;

/**
 * Multiplies each key and its signature with a random number of 64 bits, and adds them up. All sets are about one message: if each
 * signature is true, the sums are, and if one is false, they are true with a probability of 2^-64.
 */
export function aggregateWithRandomness(sets: readonly PkAndSerializedSig[]): PkAndSig;
/** The same on a thread of the package. */
export function asyncAggregateWithRandomness(sets: readonly PkAndSerializedSig[]): Promise<PkAndSig>;

/** Whether the key made the signature over the message. */
export function verify(msg: Uint8Array, pk: PublicKey, sig: Signature, pkValidate?: Flag, sigGroupcheck?: Flag): boolean;
/** Whether the signature is the sum of signatures of these keys over the messages at their indices. */
export function aggregateVerify(
  msgs: readonly Uint8Array[],
  pks: readonly PublicKey[],
  sig: Signature,
  pkValidate?: Flag,
  sigsGroupcheck?: Flag,
): boolean;
/** Whether the signature is the sum of signatures of these keys over one message. Their owners must have proven possession. */
export function fastAggregateVerify(msg: Uint8Array, pks: readonly PublicKey[], sig: Signature, sigsGroupcheck?: Flag): boolean;
/** Whether all sets are true. `verify` of the main entry says which set is false. */
export function verifyMultipleAggregateSignatures(sets: readonly SignatureSet[], pksValidate?: Flag, sigsGroupcheck?: Flag): boolean;

/** `verify` on a thread of the package. */
export function asyncVerify(msg: Uint8Array, pk: PublicKey, sig: Signature, pkValidate?: Flag, sigGroupcheck?: Flag): Promise<boolean>;
/** `aggregateVerify` on a thread of the package. */
export function asyncAggregateVerify(
  msgs: readonly Uint8Array[],
  pks: readonly PublicKey[],
  sig: Signature,
  pkValidate?: Flag,
  sigsGroupcheck?: Flag,
): Promise<boolean>;
/** `fastAggregateVerify` on a thread of the package. */
export function asyncFastAggregateVerify(
  msg: Uint8Array,
  pks: readonly PublicKey[],
  sig: Signature,
  sigsGroupcheck?: Flag,
): Promise<boolean>;
/** `verifyMultipleAggregateSignatures` on a thread of the package. */
export function asyncVerifyMultipleAggregateSignatures(
  sets: readonly SignatureSet[],
  pksValidate?: Flag,
  sigsGroupcheck?: Flag,
): Promise<boolean>;
