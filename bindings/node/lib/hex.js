"use strict";
// Hexadecimal digits, some of them of secrets. Node cuts short Buffers from one array, its pool, where what they held stays and where
// other code can read it. So what is read and written here has arrays of its own.

/** The bytes of digits: hexadecimal ones, and an even number of them. */
function fromDigits(digits) {
  const bytes = new Uint8Array(digits.length / 2);
  Buffer.from(bytes.buffer).write(digits, "hex");
  return bytes;
}

/** The digits of bytes, behind 0x. */
function toHex(bytes) {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}

module.exports = { fromDigits, toHex };
