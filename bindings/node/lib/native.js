"use strict";
// Loads the native library of this platform.

const { join } = require("node:path");

/** The platforms that the package is built for, and how Rust calls them. */
const TARGETS = new Map([
  ["linux-x64-gnu", "x86_64-unknown-linux-gnu"],
  ["linux-arm64-gnu", "aarch64-unknown-linux-gnu"],
]);

function load() {
  const { platform, arch } = process;
  const name = platform === "linux" ? `linux-${arch}-gnu` : `${platform}-${arch}`;
  if (!TARGETS.has(name)) throw noLibrary(platform === "linux" ? ofLinux() : name);
  const file = join(__dirname, "..", `quorate.${name}.node`);
  try {
    return require(file);
  } catch (cause) {
    const found = ofLinux();
    if (found !== name) throw noLibrary(found);
    const missing = cause.code === "MODULE_NOT_FOUND";
    throw new Error(
      missing
        ? `quorate: ${file} is missing. Run bindings/node/build.sh in a clone of the repository, on ${name}`
        : `quorate: ${file} does not load on ${name}: ${cause.message}`,
      { cause },
    );
  }
}

function noLibrary(name) {
  return new Error(`quorate has no native library for ${name}: it runs on ${[...TARGETS.keys()].join(" and ")}`);
}

/**
 * The name of this Linux. Node's report has the version of glibc, if there is one. It would also look up the names of the peers of all open
 * sockets, and the event loop would wait for it. So it is left out where Node can (20.13), and only an error needs a report.
 */
function ofLinux() {
  const { arch, report } = process;
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return `linux-${arch}-${report.getReport().header.glibcVersionRuntime ? "gnu" : "musl"}`;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

module.exports = load();
