// Claims for the tests.

import { readFileSync } from "node:fs";
import { SecretKey, fromHex } from "quorate";

/** A suite of each variant, whose keys and signatures stand in other groups. */
export const VARIANTS = ["eth2", "drand-quicknet", "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_"];

export const text = (message) => new TextEncoder().encode(message);

/** A message of 32 bytes, as every suite signs them. */
const padded = (message) => text(message.padEnd(32));

/** The secret of a number. */
export function secret(suite, number) {
  const material = new Uint8Array(32);
  new DataView(material.buffer).setUint32(0, number);
  return SecretKey.derive(suite, material);
}

/** A true claim of a number, or one whose signature is over another message. */
export function claim(suite, number, { valid = true } = {}) {
  const key = secret(suite, number);
  const message = padded(`message ${number}`);
  return { suite, publicKey: key.publicKey(), message, signature: key.sign(valid ? message : padded("another")) };
}

/** The claims of a file of the command line. */
export function claimsOf(file) {
  const lines = readFileSync(new URL(`../../../examples/${file}`, import.meta.url), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => {
    const { suite, public_key, public_keys, message, messages, signature } = JSON.parse(line);
    return {
      suite,
      publicKey: public_key && fromHex(public_key),
      publicKeys: public_keys?.map(fromHex),
      message: message && fromHex(message),
      messages: messages?.map(fromHex),
      signature: fromHex(signature),
    };
  });
}
