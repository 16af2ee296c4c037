// The node's dashboard in a real browser: bars fill up, names are missing, markup stays text, and nothing comes from elsewhere.
//
// QUORATE_NODE_BOARD is the example `board`; without it, the debug build of the workspace. SCREENSHOTS is a folder for pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as browserType } from "playwright-core";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = process.env.QUORATE_NODE_BOARD ?? `${root}target/debug/examples/board`;
const markup = "<script>window.mischief = 1</script><img src=x onerror='window.mischief = 2'>";

const boards = [];
let finished;
let browser;

/** Starts a board, and gives its address. */
async function start(...options) {
  const board = spawn(program, options, { stdio: ["ignore", "pipe", "inherit"] });
  boards.push(board);
  return new Promise((resolve, reject) => {
    let text = "";
    board.stdout.on("data", (data) => {
      text += data;
      const found = text.match(/http:\/\/[0-9.:]+/);
      if (found) resolve(found[0]);
    });
    board.on("error", reject);
    board.on("exit", () => reject(new Error(`the board ended: ${text}`)));
  });
}

before(async () => {
  finished = await start("--at-once");
  // In a single process, closing one page ends the browser.
  const args = chromium.args.filter((argument) => argument !== "--single-process");
  browser = await browserType.launch({ args, executablePath: await chromium.executablePath(), headless: true });
});

after(async () => {
  await browser?.close();
  for (const board of boards) board.kill();
});

/** Opens the page of a board, and gives it with everything that went wrong on it. */
async function open(address, options) {
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

const task = (page, label) => page.locator("li.task", { has: page.getByRole("heading", { name: label, exact: true }) });
const width = async (row, part) => Number(await row.locator(`rect.${part}`).getAttribute("width"));

for (const colorScheme of ["light", "dark"]) {
  for (const pixels of [360, 1280]) {
    test(`${colorScheme}, ${pixels} pixels wide`, async () => {
      const { page, wrong, close } = await open(finished, { colorScheme, viewport: { width: pixels, height: 900 } });
      await page.locator("li.task").first().waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
      assert.deepEqual(await page.evaluate(lowContrast), []);
      assert.equal(await page.evaluate(() => window.mischief), undefined);
      // The bar is as wide as its row, and what is drawn follows from the attributes.
      const drawn = await task(page, markup).locator("svg.bar").evaluate((bar) => {
        const [all, signed] = ["track", "signed"].map((part) => bar.querySelector(`.${part}`).getBoundingClientRect().width);
        return { all, part: signed / all, inside: all <= bar.closest("li").clientWidth };
      });
      assert.ok(drawn.all > 200 && drawn.inside, JSON.stringify(drawn));
      assert.ok(Math.abs(drawn.part - 0.636) < 0.01, JSON.stringify(drawn));
      if (process.env.SCREENSHOTS) {
        await page.waitForTimeout(1500);
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/node-${colorScheme}-${pixels}.png`, fullPage: true });
      }
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}

test("tasks say what became of them", async () => {
  const { page, wrong, close } = await open(finished, {});
  // 2,400 of 3,300 have signed, and the quorum is above 2,200.
  const approved = task(page, '{"pair":"BTC/USD","minute":24}');
  assert.equal(await approved.getAttribute("data-state"), "final");
  assert.equal(await width(approved, "signed.enough"), 818);
  assert.equal(await approved.locator("line.mark").getAttribute("x1"), "666");
  assert.match(await approved.textContent(), /approved.*81\.8 % of the weight, 5 of 7 members · quorum above 66\.6 %/s);
  assert.match(await approved.locator(".missing").textContent(), /^Missing: #3 0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}, #6 0x/);
  const color = (badge) => approved.locator(`.badge.${badge}`).evaluate((element) => getComputedStyle(element).color);
  assert.equal(await color("final"), await color("good"), "what is final is as good as what is approved");
  assert.match(await approved.locator(".settlement").textContent(), /by this node.*182,431 gas/);
  // A performer lied: the others rejected its result.
  const rejected = task(page, '{"pair":"SOL/USD","minute":24}');
  assert.ok(await width(rejected, "signed.rejected") > 666);
  assert.equal(await width(rejected, "against"), 90);
  assert.match(await rejected.textContent(), /rejected.*9 % for another verdict.*nobody is paid/s);
  const filling = task(page, markup);
  assert.equal(await filling.getAttribute("data-state"), "attesting");
  assert.equal(await width(filling, "signed.short"), 636);
  assert.match(await filling.locator(".missing").textContent(), /^Missing: #1 0x.*, #3 0x[^,]*$/);
  assert.match(await task(page, '{"pair":"ETH/USD","minute":25}').textContent(), /performing.*by this node.*Nobody has signed yet/s);
  const conflict = task(page, '{"pair":"BTC/USD","minute":25}');
  assert.equal(await conflict.getAttribute("data-state"), "quorum");
  assert.match(await conflict.textContent(), /69\.6 % of the weight.*15\.1 % for another verdict/s);
  // The others are rows of a table that opens.
  await page.getByText("18 earlier tasks").click();
  assert.equal(await page.locator(".earlier tbody tr").count(), 18);
  assert.deepEqual(wrong, []);
  await close();
});

test("transactions, operators, punishments, peers, bans and rewards", async () => {
  const { page, wrong, close } = await open(finished, {});
  const row = (table, text) => page.locator(`#${table} tbody tr`, { hasText: text });
  assert.match(await row("submissions", "settle 0x").last().textContent(), /final.*182,431.*\+0\.3 %/s);
  assert.match(await row("submissions", "refused").textContent(), /AlreadySettled: <script>/);
  assert.match(await row("submissions", "claim of rewards").textContent(), /replaced/);
  assert.match(await row("operators", "#3").textContent(), /500.*15\.1 %.*slashed.*250/s);
  assert.match(await row("operators", "#4").textContent(), /penalised.*2\.5/s);
  assert.match(await row("operators", "this node").textContent(), /#2.*600.*100 %.*26 of 26/s);
  assert.match(await page.locator("#punishments").textContent(), /slashed.*it signed two things that conflict/s);
  assert.equal(await page.locator("#peers tbody tr").count(), 5);
  assert.match(await page.locator("#bans tbody tr").textContent(), /it sent a false signature and <script>.*59 min/s);
  assert.match(await page.locator(".tiles").textContent(), /Rewards to claim0?\.45.*12\.45 earned · 12 claimed · 600 at stake/s);
  assert.match(await page.locator(".tiles").textContent(), /block 4,226.*epoch 7/s);
  assert.deepEqual(wrong, []);
  await close();
});

test("markup from outside is text wherever it comes from", async () => {
  const { page, wrong, close } = await open(finished, {});
  await page.waitForTimeout(2500);
  assert.ok(await page.getByText(markup).count() >= 4, "a label, a refusal, a ban and a problem");
  assert.equal(await page.locator("#content script, #banner script, #content img").count(), 0);
  assert.equal(await page.evaluate(() => window.mischief), undefined);
  assert.deepEqual(wrong, []);
  await close();
});

test("a board that lives: bars fill up, and a banner says that the chain stopped", async () => {
  const address = await start();
  const { page, wrong, close } = await open(address, {});
  const row = task(page, markup);
  assert.equal(await page.locator(".banner").count(), 0);
  assert.equal((await page.locator("#state").textContent()).trim(), "ready");
  await row.locator("rect.signed.short").waitFor({ state: "attached", timeout: 30000 });
  // The element stays the same, so that the bar grows and does not jump.
  await row.evaluate((element) => { element.kept = true; });
  const widths = new Set();
  for (const begun = Date.now(); Date.now() - begun < 30000 && !widths.has(636);) {
    widths.add(await width(row, "signed"));
    await page.waitForTimeout(100);
  }
  assert.ok(widths.size >= 3 && widths.has(636), `it grew in steps: ${[...widths]}`);
  assert.equal(await row.evaluate((element) => element.kept), true);
  await task(page, '{"pair":"BTC/USD","minute":24}').locator(".badge.final").waitFor({ timeout: 20000 });
  await page.locator("#bans tbody tr").waitFor({ timeout: 20000 });
  await page.locator(".banner").waitFor({ timeout: 30000 });
  assert.match(await page.locator(".banner").textContent(), /chain: https:\/\/rpc\.example timed out <script>/);
  assert.equal((await page.locator("#state").textContent()).trim(), "not ready");
  assert.deepEqual(wrong, []);
  await close();
});

test("the figures stand still when paused, and go on without the node", async () => {
  const address = await start();
  const { page, close } = await open(address, {});
  const figures = () => page.locator(".tiles").textContent();
  const first = await figures();
  await page.waitForFunction((old) => document.querySelector(".tiles").textContent !== old, first);
  assert.equal(await page.getByText("load this page again").isVisible(), false);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.waitForTimeout(500);
  const paused = await figures();
  await page.waitForTimeout(2500);
  assert.equal(await figures(), paused);
  await page.getByRole("button", { name: "Pause" }).click();
  boards.at(-1).removeAllListeners("exit");
  boards.at(-1).kill();
  await page.getByText("The node does not answer").waitFor({ timeout: 20000 });
  await close();
});

test("without a mouse", async () => {
  const { page, wrong, close } = await open(finished, { viewport: { width: 1280, height: 900 } });
  const focused = () => page.evaluate(() => {
    const { localName, id, className, textContent } = document.activeElement;
    return `${localName}#${id}.${className} ${textContent.trim().slice(0, 40)}`;
  });
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the tasks/);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "one sees where the focus is");
  await page.keyboard.press("Tab");
  assert.match(await focused(), /#pause/);
  await page.keyboard.press("Tab");
  assert.match(await focused(), /^summary/);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(2500);
  assert.equal(await page.locator("details[open]").count(), 1, "an update closes nothing");
  assert.match(await focused(), /^summary/, "an update takes no focus away");
  assert.deepEqual(wrong, []);
  await close();
});

test("what a screen reader is told", async () => {
  const { page, close } = await open(finished, {});
  const tree = await page.locator("body").ariaSnapshot();
  for (const part of [
    'heading "quorate-node" [level=1]',
    'heading "The node cannot do its work" [level=2]',
    'heading "Figures" [level=2]',
    'heading "Tasks" [level=2]',
    'img "81.8 % of the weight has signed; a quorum is more than 66.6 %"',
    'region "Operators"',
    'columnheader "Settled tasks that it signed"',
  ]) {
    assert.ok(tree.includes(part), `${part}\n${tree}`);
  }
  assert.equal(await page.locator("#news").textContent(), "The node cannot do its work, for 2 reasons.");
  assert.equal(await page.locator("#news").getAttribute("aria-live"), "polite");
  await close();
});

test("without JavaScript it shows the same, once", async () => {
  const { page, wrong, close } = await open(finished, { javaScriptEnabled: false });
  assert.equal(await page.getByText("load this page again").isVisible(), true);
  assert.equal(await page.locator("svg.bar").count(), 12);
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
