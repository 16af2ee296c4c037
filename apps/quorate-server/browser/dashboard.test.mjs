// The dashboard in a real browser: it updates, shows a ban with its evidence, needs no mouse, and loads nothing from elsewhere.
//
// QUORATE_SERVER is the program; without it, the debug build of the workspace. SCREENSHOTS is a folder for pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as browserType } from "playwright-core";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = process.env.QUORATE_SERVER ?? `${root}target/debug/quorate-server`;
const mischief = "<script>window.mischief = 1</script><img src=x onerror='window.mischief = 2'>";

let server;
let address;
let browser;

before(async () => {
  server = spawn(program, ["--listen", "127.0.0.1:0", "demo"], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (data) => {
      text += data;
      const found = text.match(/http:\/\/[0-9.:]+/);
      if (found) resolve(found[0]);
    });
    server.on("error", reject);
    server.on("exit", () => reject(new Error(`the server ended: ${text}`)));
  });
  const lines = (await readFile(`${root}examples/one-false.jsonl`, "utf8")).trim().split("\n");
  const claim = JSON.parse(lines[3]);
  for (let times = 0; times < 4; times += 1) {
    await fetch(`${address}/v1/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...claim, source: mischief }),
    });
  }
  // In a single process, closing one page ends the browser.
  const args = chromium.args.filter((argument) => argument !== "--single-process");
  browser = await browserType.launch({ args, executablePath: await chromium.executablePath(), headless: true });
});

after(async () => {
  await browser?.close();
  server?.kill();
});

/** Opens the page, and gives it with everything that went wrong on it. */
async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("requestfailed", (request) => wrong.push(`failed: ${request.url()}`));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== address) wrong.push(`from elsewhere: ${request.url()}`);
  });
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

const banned = (page) => page.locator("tr", { hasText: "mallory" }).locator(".badge.banned");

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    test(`${colorScheme}, ${width} pixels wide`, async () => {
      const { page, wrong, close } = await open({ colorScheme, viewport: { width, height: 900 } });
      await banned(page).waitFor({ timeout: 20000 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
      assert.deepEqual(await page.evaluate(lowContrast), []);
      assert.equal(await page.evaluate(() => window.mischief), undefined);
      assert.equal(await page.getByText(mischief).count(), 1, "the name of a source is shown as it is");
      if (process.env.SCREENSHOTS) {
        await page.locator("tr", { hasText: "mallory" }).locator("summary").click();
        await page.waitForTimeout(2500);
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${colorScheme}-${width}.png`, fullPage: true });
      }
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}

test("the figures move, and stand still when paused", async () => {
  const { page, wrong, close } = await open({});
  const drawn = () => page.locator("svg.chart").first().innerHTML();
  const first = await drawn();
  await page.waitForFunction((old) => document.querySelector("svg.chart").innerHTML !== old, first);
  const rate = await page.locator(".big").first().textContent();
  assert.equal(await page.getByText("load this page again").isVisible(), false);
  assert.ok(Number(rate.replaceAll(",", "")) > 10, rate);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.waitForTimeout(500);
  const paused = await drawn();
  await page.waitForTimeout(2500);
  assert.equal(await drawn(), paused);
  assert.deepEqual(wrong, []);
  await close();
});

test("without a mouse", async () => {
  const { page, wrong, close } = await open({});
  await banned(page).waitFor({ timeout: 20000 });
  const focused = () => page.evaluate(() => {
    const { localName, id, className, textContent } = document.activeElement;
    return `${localName}#${id}.${className} ${textContent.trim().slice(0, 40)}`;
  });
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the figures/);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "one sees where the focus is");
  await page.keyboard.press("Tab");
  assert.match(await focused(), /#pause/);
  await page.keyboard.press("Tab");
  assert.match(await focused(), /div#\.scroll/, "a table that scrolls can be scrolled with keys");
  await page.keyboard.press("Tab");
  assert.match(await focused(), /^summary/);
  await page.keyboard.press("Enter");
  const details = page.locator("details[open]");
  assert.equal(await details.count(), 1);
  assert.match(await details.textContent(), /the signature does not match the keys and messages/);
  await page.waitForTimeout(2500);
  assert.equal(await details.count(), 1, "an update closes nothing");
  assert.match(await focused(), /^summary/, "an update takes no focus away");
  assert.deepEqual(wrong, []);
  await close();
});

test("what a screen reader is told", async () => {
  const { page, close } = await open({});
  await banned(page).waitFor({ timeout: 20000 });
  const tree = await page.locator("body").ariaSnapshot();
  for (const part of [
    'heading "quorate-server" [level=1]',
    'heading "Figures" [level=2]',
    'heading "Claims a second" [level=3]',
    /img "Claims in each of the last 60 seconds; at most \d+"/,
    /img "Latency in each of the last 60 seconds; p99 is at most .*"/,
    /img "\d+ % of the queue is full"/,
    'region "Sources that sent false claims"',
    'columnheader "Evidence"',
    /rowheader "mallory"/,
  ]) {
    assert.ok(typeof part === "string" ? tree.includes(part) : part.test(tree), `${part}\n${tree}`);
  }
  assert.match(await page.locator("#news").textContent(), /sources are banned|source is banned/);
  assert.equal(await page.locator("#news").getAttribute("aria-live"), "polite");
  await close();
});

test("without JavaScript it shows the same, once", async () => {
  const { page, wrong, close } = await open({ javaScriptEnabled: false });
  assert.equal(await page.getByText("load this page again").isVisible(), true);
  assert.equal(await page.locator("svg.chart").count(), 3);
  assert.deepEqual(wrong, []);
  await close();
});

/** The texts whose contrast to what is behind them is under 4.5 to 1. Runs in the page. */
function lowContrast() {
  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = parts(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((parts(color)[3] ?? 1) > 0.5) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const low = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const [a, b] = [getComputedStyle(element).color, behind(element)].map(luminance);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) low.add(`${walker.currentNode.data.trim()}: ${contrast.toFixed(2)}`);
  }
  return [...low];
}
