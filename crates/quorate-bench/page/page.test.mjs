// The report page in a real browser without a network: its model gives what `quorate-bench compare` gives, its tables read
// without JavaScript, and nobody needs a mouse, a wide screen or eyes.
//
// QUORATE_BENCH is the program; without it, the debug build of the workspace. SCREENSHOTS is a folder for pictures. The records are
// those of the repository; the rows of the schemes are made up here, so that some are equal within the spread, some are of a busy machine and one is missing.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { launch, open as opened } from "./browser.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const script = "crates/quorate-bench/page/bundle/page.js";
const program = process.env.QUORATE_BENCH ?? `${root}target/debug/quorate-bench`;
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
let folder;
let file;

/** Rows of each scheme: microseconds of keys, signing, summing, verifying, and of finding no bad share and each bad one. */
function madeUp(schemes) {
  const rows = [];
  schemes.forEach(({ engine }, i) => {
    const row = (bench, us, spread = 0.04) => rows.push({
      bench, engine, threads: 1, n: 32, per: "whole", us: { min: us * (1 - spread), median: us, max: us * (1 + 2 * spread) },
    });
    row("multi/aggregate-keys", 90 + 40 * i);
    row("multi/sign", 60 + 35 * i);
    row("multi/aggregate", 50 + 10 * i);
    row("multi/verify", 400 + i * i, i % 2 === 0 ? 0.3 : 0.5);
    for (const bad of [0, 1, 2, 3, 5, 10]) row(`multi/find-bad=${bad}`, 900 + 450 * bad + 30 * i);
    row("round/A/delegate", 70 + 35 * i);
    if (i !== schemes.length - 2) row("round/A/primary", 1500 + 20 * i, 0.1);
    for (const party of ["delegate", "primary"]) row(`round/B/${party}`, 2500 + 20 * i);
  });
  return rows;
}

/** A repository with the records of this one, and made-up rows of the schemes. */
async function repositoryIn(path) {
  await cp(join(root, "benchmarks"), join(path, "benchmarks"), { recursive: true });
  await cp(join(root, script), join(path, script));
  const names = await readdir(join(path, "benchmarks"));
  const machines = await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(path, "benchmarks", name, "machine.json"), "utf8"))));
  // The newest knows the methods of today, without which its rows would not be shown.
  const machine = machines.sort((a, b) => (a.date < b.date ? -1 : 1)).at(-1);
  const made = join(path, "benchmarks", "made-up");
  const schemes = JSON.parse(await readFile(join(root, "crates/quorate-bench/src/compare/schemes.json"), "utf8"));
  await mkdir(made);
  const mischief = "<script>window.mischief = 1</script><img src=x onerror='window.mischief = 2'>";
  await writeFile(join(made, "machine.json"), JSON.stringify({ ...machine, date: "2999-01-01 00:00", cpu: mischief }));
  await writeFile(join(made, "schemes.json"), JSON.stringify(madeUp(schemes)));
  return path;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "quorate-page-"));
  await repositoryIn(folder);
  await run(program, ["report", "--html", folder, "--dir", folder]);
  file = pathToFileURL(join(folder, "index.html")).href;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

const open = (options) => opened(browser, file, options);

/** What the command says about a setting. */
async function command({ delegates, quorum, bad, rtt, bandwidth }) {
  const path = join(folder, "compare.json");
  const flags = { delegates, quorum, bad, rtt: `${rtt}ms`, bandwidth: `${bandwidth}Mbit` };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  await run(program, ["compare", ...words, "--json", path, "--dir", folder]);
  return JSON.parse(await readFile(path, "utf8"));
}

/** Every number of one is that of the other, to the last digits. */
function same(ours, theirs, where) {
  if (typeof theirs === "number") {
    assert.ok(Math.abs(ours - theirs) <= 1e-9 * Math.max(1, Math.abs(theirs)), `${where}: ${ours} is not ${theirs}`);
  } else if (theirs !== null && typeof theirs === "object") {
    if (Array.isArray(theirs)) assert.equal(ours.length, theirs.length, where);
    for (const name of Object.keys(theirs)) same(ours[name], theirs[name], `${where}.${name}`);
  } else {
    assert.equal(ours, theirs, where);
  }
}

const answer = (page) => page.evaluate(() => document.getElementById("ranking").answer);
const field = (page, label) => page.getByLabel(label, { exact: true });
const labels = { delegates: "Delegates", quorum: "Must sign", bad: "Send false shares", rtt: "RTT, ms", bandwidth: "Bandwidth, Mbit/s" };

test("the model is that of the command, in every figure", async () => {
  const { page, wrong, close } = await open();
  for (const setting of [
    { delegates: 32, quorum: 22, bad: 0, rtt: 200, bandwidth: 100 },
    { delegates: 32, quorum: 22, bad: 10, rtt: 200, bandwidth: 100 },
    { delegates: 32, quorum: 22, bad: 7, rtt: 0.5, bandwidth: 10000 },
    { delegates: 100, quorum: 67, bad: 33, rtt: 20, bandwidth: 1000 },
    { delegates: 7, quorum: 5, bad: 1, rtt: 80, bandwidth: 0.25 },
    { delegates: 200, quorum: 134, bad: 0, rtt: 1, bandwidth: 1 },
  ]) {
    for (const [name, value] of Object.entries(setting)) await field(page, labels[name]).fill(String(value));
    const theirs = await command(setting);
    const ours = await answer(page);
    same(ours, { schemes: theirs.schemes, missing: theirs.missing }, JSON.stringify(setting));
    assert.equal(theirs.missing.length, 1);
    const shown = await page.locator("#ranking tbody tr").allTextContents();
    assert.equal(shown.length, theirs.schemes.length + theirs.missing.length);
    theirs.schemes.forEach((scheme, i) => {
      assert.ok(shown[i].startsWith(String(scheme.rank)), shown[i]);
      assert.equal(shown[i].includes("the machine was busy"), scheme.is_busy, shown[i]);
    });
    assert.ok(theirs.schemes.some((scheme) => scheme.is_busy) && theirs.schemes.some((scheme) => !scheme.is_busy));
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("a slider moves the model", async () => {
  const { page, wrong, close } = await open();
  const slider = field(page, "RTT, slider");
  const news = page.locator("#ranking-news");
  assert.equal(await news.getAttribute("aria-live"), "polite");
  const before = await news.textContent();
  await slider.focus();
  for (let times = 0; times < 60; times += 1) await page.keyboard.press("ArrowLeft");
  const rtt = Number(await field(page, "RTT, ms").inputValue());
  assert.ok(rtt < 100 && rtt >= 1, String(rtt));
  assert.notEqual(await news.textContent(), before, "a screen reader is told");
  const theirs = await command({ delegates: 32, quorum: 22, bad: 0, rtt, bandwidth: 100 });
  same(await answer(page), { schemes: theirs.schemes, missing: theirs.missing }, "after the slider");
  await field(page, "Delegates, slider").fill("64");
  assert.equal(await field(page, "Delegates").inputValue(), "64");
  assert.match(await page.locator("#ranking .caption").textContent(), /^64 delegates/);
  assert.deepEqual(wrong, []);
  await close();
});

test("a contradiction is said, and no old answer stays", async () => {
  const { page, close } = await open();
  for (const [label, value, says] of [
    ["Must sign", "33", /33 must sign, but there are only 32/],
    ["Must sign", "22", null],
    ["Send false shares", "11", /11 false ones and 22 signers/],
    ["Send false shares", "", /whole numbers/],
    ["Send false shares", "0", null],
    ["RTT, ms", "0", /above zero/],
    ["RTT, ms", "200", null],
  ]) {
    await field(page, label).fill(value);
    const wrong = page.locator("#wrong");
    assert.equal(await wrong.isVisible(), says !== null, `${label} ${value}`);
    assert.equal(await page.locator("#ranking").isVisible(), says === null);
    if (says !== null) assert.match(await wrong.textContent(), says);
  }
  await close();
});

test("without JavaScript the tables are there", async () => {
  const { page, wrong, close } = await open({ javaScriptEnabled: false });
  for (const number of ["000", "001", "002", "003", "004"]) {
    assert.equal(await page.locator(`#source-${number}`).count(), 1);
    assert.ok((await page.locator(`#source-${number} table`).count()) >= 2, number);
  }
  for (const figure of await page.locator("figure.data").all()) {
    const shown = (await figure.locator("table").count()) + (await figure.locator("p.missing").count());
    assert.equal(shown, 1);
  }
  assert.equal(await page.locator("#block table").isVisible(), true);
  assert.match(await page.locator("#block table").textContent(), /482 ms/);
  assert.equal(await page.locator("#setting").isVisible(), false);
  assert.equal(await page.locator("#compare table").first().isVisible(), true);
  assert.deepEqual(wrong, []);
  await close();
});

// axe reads colours and what a screen reader is told, so each scheme and each width once is enough.
const checked = ["light 360", "dark 1280"];

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    test(`${colorScheme}, ${width} pixels wide`, async () => {
      const { page, wrong, close } = await open({ colorScheme, viewport: { width, height: 900 } });
      assert.equal(await page.locator("figure.data .plot:not(:has(svg))").count(), 0, "every measured figure has a plot");
      assert.ok((await page.locator(".plot svg[role=img]").count()) > 10);
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok((await overflow()) <= 0, `the page is ${await overflow()} pixels too wide`);
      const tooWide = await page.evaluate(() =>
        [...document.querySelectorAll(".plot")].filter((plot) => plot.scrollWidth > plot.clientWidth).map((plot) => plot.dataset.plot));
      assert.deepEqual(tooWide, [], "no plot is wider than its column");
      if (process.env.SCREENSHOTS) {
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${colorScheme}-${width}.png`, fullPage: true });
      }
      // Closed tables are read, too.
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
      assert.ok((await overflow()) <= 0, "tables scroll inside");
      if (checked.includes(`${colorScheme} ${width}`)) assert.deepEqual(await findings(page), []);
      assert.equal(await page.evaluate(() => window.mischief), undefined);
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}

/** What axe-core finds. Runs in the page, where nothing can be loaded. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.target).join("; ")}`);
}

test("without a mouse", async () => {
  const { page, wrong, close } = await open();
  const focused = () => page.evaluate(() => {
    const { localName, id, textContent } = document.activeElement;
    return `${localName}#${id} ${textContent.trim().slice(0, 40)}`;
  });
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the figures/);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "one sees where the focus is");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.match(await focused(), /input#delegates-number/);
  await page.keyboard.press("ArrowUp");
  assert.equal(await field(page, "Delegates").inputValue(), "33");
  assert.match(await page.locator("#ranking .caption").textContent(), /^33 delegates/);
  const summary = page.locator("#block summary");
  await summary.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#block table").isVisible(), true);
  await page.keyboard.press("Tab");
  assert.match(await focused(), /^div# /, "a table that scrolls can be scrolled with keys");
  assert.deepEqual(wrong, []);
  await close();
});

test("a point of a plot says its figure", async () => {
  const { page, wrong, close } = await open({ viewport: { width: 1280, height: 900 } });
  const plot = page.locator("#recover .plot > svg");
  await plot.scrollIntoViewIfNeeded();
  const texts = () => plot.textContent();
  assert.doesNotMatch(await texts(), /quorate/);
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + 0.5 * width, y + 0.6 * height, { steps: 3 });
  await page.waitForFunction((text) => /quorate|blst|source/.test(document.querySelector(text).textContent), "#recover .plot > svg");
  assert.match(await texts(), /(quorate|blst|source).*\d (µs|ms|s|min)/);
  assert.deepEqual(wrong, []);
  await close();
});

test("all rows can be downloaded", async () => {
  const { page, close } = await open();
  const href = await page.getByRole("link", { name: /Download all/ }).getAttribute("href");
  const files = JSON.parse(Buffer.from(href.slice(href.indexOf(",") + 1), "base64").toString());
  assert.deepEqual(files.map(({ file: name }) => name), ["single", "block", "aggregate", "culprits", "threshold", "schemes", "service", "gas", "bn254", "peers"]);
  assert.ok(files.every(({ record, rows }) => (record === null) === (rows.length === 0)));
  await close();
});
