"use strict";
// Loads the native library of this platform.

const { join } = require("node:path");

/** The platforms that the package is built for, and how Rust calls them. */
const TARGETS = new Map([
  ["linux-x64-gnu", "x86_64-unknown-linux-gnu"],
  ["linux-arm64-gnu", "aarch64-unknown-linux-gnu"],
]);

function platform() {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  // Node's report names the version of glibc, if it runs on glibc.
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return `linux-${arch}-${glibc ? "gnu" : "musl"}`;
}

function load() {
  const name = platform();
  if (!TARGETS.has(name)) {
    throw new Error(
      `quorate has no native library for ${name}: it runs on ${[...TARGETS.keys()].join(" and ")}`,
    );
  }
  const file = join(__dirname, "..", `quorate.${name}.node`);
  try {
    return require(file);
  } catch (cause) {
    const missing = cause.code === "MODULE_NOT_FOUND";
    throw new Error(
      missing
        ? `quorate: ${file} is missing. Run bindings/node/build.sh in a clone of the repository, on ${name}`
        : `quorate: ${file} does not load on ${name}: ${cause.message}`,
      { cause },
    );
  }
}

module.exports = load();
