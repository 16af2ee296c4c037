/**
 * What an aggregator of quorums on an EVM chain computes: the digests that operators sign, their signatures added up, the cheapest way
 * to settle, and the transaction. It is the code of `quorate evm`. Nothing here opens a network connection or holds a key.
 *
 * Bytes go in as `Uint8Array` or as text of hexadecimal digits behind `0x`, and come out as such text, which libraries of Ethereum take.
 * Keys and signatures are those of `quorate evm`: uncompressed coordinates, as the contracts have them. The capitals of an address are
 * not compared with its checksum.
 *
 * Errors are those of the package: a `TypeError` or `RangeError` that names the argument, `ERR_QUORATE_ENCODING` for bytes or a network
 * that cannot be read, `ERR_QUORATE_MISUSE` for a quorum that cannot settle, such as one that is too light. A false signature is no error,
 * and in `Network.collect` bytes that are no signature are none either.
 */

import type { Verdict } from "./index.js";

/** Hexadecimal digits behind `0x`. */
export type Hex = `0x${string}`;

/** Bytes, or their hexadecimal digits behind `0x`. */
export type Bytes = Uint8Array | Hex;

/** A whole number from 0 on. Above 2^53 - 1 it must be a `bigint`. */
export type Whole = number | bigint;

/** The curve and the group of a contract's keys. */
export type KeyGroup = "bn254-g2" | "bn254-g1" | "bls12381-g2" | "bls12381-g2-nu";

/** A contract on a chain. */
export interface Contract {
  /** The chain's id (EIP-155). */
  chainId: Whole;
  address: Bytes;
}

/** What a quorum settles in one call. */
export interface Order {
  /** 32 bytes each, in order; at least one. */
  results: readonly Bytes[];
  /** The last second, in Unix time, at which they settle, or `"none"`. It is signed. */
  deadline: Whole | "none";
  /**
   * Where the contract stores the quorum as a base: a slot (0 is the newest base, and costs almost nothing), `"rental"` to let the
   * contract decide, or `"none"`, the default. It is signed. Of an optimistic settlement's postings it is always `"none"`.
   */
  store?: number | "rental" | "none" | undefined;
}

/** The results of an order, and their place: all that one signature covers. */
export interface NumberedOrder extends Order {
  epoch: number;
  /** The number of the first result: how many were settled before. */
  nonce: Whole;
}

/** A task with a result and a verdict, as operators of a `TaskNetwork` sign it. */
export interface Task {
  /** The epoch in which it settles. */
  epoch: Whole;
  /** The id of the epoch's snapshot, from the event `EpochSnapshotted`: 20 bytes. */
  snapshot: Bytes;
  /** Its id, 32 bytes. */
  id: Bytes;
  /** The index of the performer's key. */
  performer: Whole;
  /** Keccak-256 of the result's bytes. */
  result: Bytes;
  /** The verdict. */
  approved: boolean;
}

/** What operators of a settlement sign, with or without a hub, at once or optimistic: `Settlement.resultsDigest`. */
export function resultsDigest(settlement: Contract, order: NumberedOrder): Hex;

/** What operators of a task network sign: `TaskNetwork.taskDigest`. */
export function taskDigest(network: Contract, task: Task): Hex;

/**
 * What a key signs to be registered: `possessionDigest` of a settlement, or of a task network's verifier. `owner` is the address for which
 * it is registered, and `key` the key as the contract keeps it.
 */
export function possessionDigest(verifier: Contract, owner: Bytes, key: Bytes): Hex;

/** An operator's signature over a digest. */
export interface MemberSignature {
  /** The index of the operator's key in the contract. `Network.memberOf` finds it. */
  member: number;
  /** 64 bytes on BN254, 96 on BLS12-381. */
  signature: Bytes;
}

/** What members' signatures over one digest add up to. */
export interface Collected {
  /**
   * One for each signature, in their order. Only the valid ones are added; a member's second one breaks a rule. Bytes of another length,
   * and text that is not `0x` and hexadecimal digits, are `encoding`. That of a member whose key in the file does not decode is
   * `undecided`. The others are added all the same.
   */
  readonly verdicts: Verdict[];
  /** Whose signatures are added, ascending. */
  readonly signers: number[];
  /** What they weigh in the epoch. */
  readonly weight: bigint;
  /** Whether that is what the epoch requires. */
  readonly heavyEnough: boolean;
  /** The sum, which `Plan` takes; `undefined` if no signature is valid. */
  readonly signature: Hex | undefined;
}

/** A call of a contract, in the form that viem and ethers take. Anyone may send it. */
export interface Transaction {
  readonly chainId: number;
  readonly to: Hex;
  readonly data: Hex;
  /** The pages that the contract reads (EIP-2930); empty if naming them does not save gas. */
  readonly accessList: { readonly address: Hex; readonly storageKeys: [] }[];
}

/** A settlement as its aggregator knows it. `quorate-chain follow` keeps the file of one. */
export class Network {
  /** Reads the file's text. `JSON.parse` would round its large numbers, so pass the text itself. */
  constructor(text: string);
  readonly keyGroup: KeyGroup;
  readonly chainId: number;
  readonly contract: Hex;
  /** The running epoch. */
  readonly epoch: number;
  /** The number of the next result. */
  readonly nonce: number;
  /** How many keys there are. */
  readonly members: number;
  /** The weight that a quorum needs. */
  readonly required: bigint;
  /** The state that this file implies. If the contract's `state()` is another, the file is out of date. */
  readonly state: Hex;
  /**
   * The index of a key as the file has keys, such as the `key` of a line of `quorate evm sign`; `undefined` if nobody has it, also for
   * text that is not `0x` and hexadecimal digits.
   */
  memberOf(key: Bytes): number | undefined;
  /** What the members sign, so that these become the next results. */
  digest(order: Order): Hex;
  /** Verifies members' signatures over a digest, and adds the valid ones up, on a thread of the package. */
  collect(digest: Bytes, signatures: readonly MemberSignature[]): Promise<Collected>;
  /**
   * The cheapest way to settle what these members sign, on a thread of the package. With `weigh` the contract reads weights even if the number
   * of signers suffices, so that a base that it stores has a weight. That is not signed.
   */
  plan(signers: readonly number[], order: Order, options?: { weigh?: boolean | undefined }): Promise<Plan>;
}

/** How a quorum settles. Each call that takes a signature verifies it first, on a thread of the package. */
export class Plan {
  private constructor();
  /** What each signer signs. */
  readonly digest: Hex;
  /** The contract's state in which the call settles. In another one it reverts. */
  readonly state: Hex;
  /** The slot of the base from which the contract computes the quorum's key; `undefined` for the empty quorum. */
  readonly base: number | undefined;
  readonly signers: number[];
  /** Signers that are not in the base. */
  readonly added: number[];
  /** Members of the base that do not sign. */
  readonly removed: number[];
  readonly weight: bigint;
  /** The gas of the transaction, as it is estimated. */
  readonly gas: number;
  /** Whether the contract will accept the signature. */
  verify(signature: Bytes): Promise<boolean>;
  /** The transaction that settles the results, or `undefined` if the signature is false. */
  transaction(signature: Bytes): Promise<Transaction | undefined>;
  /**
   * The transaction with which a poster posts the results to an optimistic settlement, or `undefined` if the signature is false. `place`
   * is the slot, and what lies in it: nothing, if `content` and `when` are left out.
   */
  posting(signature: Bytes, place: Place): Promise<Transaction | undefined>;
}

/** What a posting writes over: `IOptimisticSettlement.Place`. */
export interface Place {
  slot: number;
  /** The content of the posting that lies there, 32 bytes. */
  content?: Bytes | undefined;
  /** When that one was made: seconds of Unix time, and the block's number as the contract saw it. */
  when?: { time: Whole; block: Whole } | undefined;
}

/**
 * The transaction with which a hub settles signed plans, in this order, or `undefined` if one of the signatures is false: then the hub
 * would settle none. Plans of one settlement follow each other. There are hubs for all keys but those of `bn254-g2`.
 */
export function hubTransaction(
  hub: Bytes,
  signed: readonly { plan: Plan; signature: Bytes }[],
): Promise<Transaction | undefined>;
