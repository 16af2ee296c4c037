// The package as programs see it: by import and require, its types, its example, and where it does not run.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "node:test";
import * as main from "quorate";
import * as blst from "quorate/blst";
import * as evm from "quorate/evm";

const require = createRequire(import.meta.url);
const run = promisify(execFile);
const folder = new URL("..", import.meta.url);
const read = (file) => readFileSync(new URL(file, folder), "utf8");

test("import and require give the same names", () => {
  for (const [imported, required] of [[main, require("quorate")], [blst, require("quorate/blst")], [evm, require("quorate/evm")]]) {
    const names = Object.keys(imported).filter((name) => name !== "default" && name !== "module.exports");
    assert.deepEqual(names.sort(), Object.keys(required).sort());
    for (const name of names) assert.equal(imported[name], required[name]);
  }
});

test("the types name what there is", async () => {
  for (const [file, module] of [["index.d.ts", main], ["blst.d.ts", blst], ["evm.d.ts", evm]]) {
    const declared = [...read(file).matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
    const names = Object.keys(module).filter((name) => name !== "default" && name !== "module.exports");
    assert.deepEqual([...new Set(declared)].sort(), names.sort());
  }
  const suites = /export type Suite =\n((?: {2}\| "[^"]+";?\n)+)/.exec(read("index.d.ts"))[1];
  const typed = [...suites.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(typed.sort(), main.suites().map(({ name }) => name).sort());
  await run(process.execPath, [require.resolve("typescript/bin/tsc")], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
});

test("the example of the README runs", async () => {
  const example = /```js\n([^`]+)```\n\n```text\n([^`]+)```/.exec(read("README.md"));
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", example[1]], { cwd: folder });
  assert.equal(stdout, example[2]);
});

test("the function of the README settles", async () => {
  const [, example] = /```js\n([^`]+export async function settle[^`]+```)/.exec(read("README.md").replaceAll("`undefined`", "undefined"));
  const asked = JSON.parse(read("test/evm/bn254-g2.json"));
  const place = await mkdtemp(join(tmpdir(), "quorate-"));
  await writeFile(join(place, "network.json"), asked.network);
  const order = { results: asked.results, deadline: asked.deadline };
  const [{ key, signature }] = asked.lines;
  const damaged = [
    null, 7, "text", [], {}, { signature }, { key }, { key: 7, signature }, { key, signature: null }, { key: "0x00", signature: "0x" },
    { key: key.slice(2), signature }, { key: `${key}00`, signature }, { key: "0xzz", signature }, { key, signature: "0xzz" },
    { key, signature: "" }, { key, signature: signature.slice(0, -2) }, { key, signature: signature.slice(2) },
  ];
  const script = (all) => `${example.replace("```", "")}
    process.chdir(${JSON.stringify(place)});
    for (const lines of ${JSON.stringify(all)}) console.log((await settle(${JSON.stringify(order)}, lines))?.data);`;
  const settled = async (all) => {
    const ran = await run(process.execPath, ["--input-type=module", "--eval", script(all)], { cwd: folder });
    return ran.stdout.trim().split("\n");
  };
  const { calldata } = asked.plan;
  assert.deepEqual(await settled(damaged.map((line) => [line, ...asked.lines])), damaged.map(() => calldata));
  assert.deepEqual(await settled([[...asked.lines, ...damaged], asked.lines.slice(1)]), [calldata, "undefined"]);
  await rm(place, { recursive: true });
});

test("another platform is named", async () => {
  const on = (platform, arch) => `
    Object.defineProperty(process, "platform", { value: "${platform}" });
    Object.defineProperty(process, "arch", { value: "${arch}" });
    try { require("quorate"); } catch ({ message }) { console.log(message); }
  `;
  const said = async (...machine) => (await run(process.execPath, ["--eval", on(...machine)], { cwd: folder })).stdout;
  assert.match(await said("darwin", "arm64"), /^quorate has no native library for darwin-arm64: it runs on linux-x64-gnu and /);
  assert.match(await said("linux", "riscv64"), /no native library for linux-riscv64-gnu/);
  const other = process.arch === "arm64" ? "x64" : "arm64";
  assert.match(await said("linux", other), /^quorate: .*\.node is missing\. Run bindings\/node\/build\.sh in a clone/);
});

test("loading asks nothing about open sockets", async () => {
  const script = (arch) => `
    Object.defineProperty(process, "arch", { value: "${arch}" });
    const { report } = process;
    const { excludeNetwork, getReport } = report;
    const asked = [];
    report.getReport = () => {
      asked.push(report.excludeNetwork);
      return getReport.call(report);
    };
    let loaded = true;
    try { require("quorate"); } catch { loaded = false; }
    console.log(JSON.stringify({ loaded, asked, kept: report.excludeNetwork === excludeNetwork }));
  `;
  const said = async (arch) => JSON.parse((await run(process.execPath, ["--eval", script(arch)], { cwd: folder })).stdout);
  assert.deepEqual(await said(process.arch), { loaded: true, asked: [], kept: true });
  // The error names the platform, for which there is a report.
  assert.deepEqual(await said("riscv64"), { loaded: false, asked: [true], kept: true });
});

test("the package has what it needs, and nothing else", async () => {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], { cwd: folder });
  const files = JSON.parse(stdout)[0].files.map(({ path }) => path);
  const needed = ["index.js", "index.d.ts", "blst.js", "blst.d.ts", "evm.js", "evm.d.ts", "lib/native.js", "README.md", "package.json"];
  for (const file of [...needed, "LICENSE-APACHE", "LICENSE-MIT"]) assert.ok(files.includes(file), file);
  const known = /^(lib\/\w+\.js|(index|blst|evm)\.(js|d\.ts)|quorate\.[\w-]+\.node|README\.md|package\.json|LICENSE-(APACHE|MIT)|LICENCES-OF-DEPENDENCIES\.html)$/;
  assert.deepEqual(files.filter((file) => !known.test(file)), []);
  assert.deepEqual(Object.keys(JSON.parse(read("package.json")).dependencies ?? {}), []);
});
