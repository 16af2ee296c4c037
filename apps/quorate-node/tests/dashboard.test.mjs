// The node's dashboard in a real browser: bars fill up, names are missing, markup stays text, and nothing comes from elsewhere.
//
// QUORATE_NODE_BOARD is the example `board`; without it, the debug build of the workspace.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { everyPage, mischief, open, patience, root, start } from "../../../crates/quorate-host/browser/dashboard.mjs";

const program = process.env.QUORATE_NODE_BOARD ?? `${root}target/debug/examples/board`;

let finished;

before(async () => {
  finished = (await start(program, "--at-once")).address;
});

const task = (page, label) => page.locator("li.task", { has: page.getByRole("heading", { name: label, exact: true }) });
const width = async (row, part) => Number(await row.locator(`rect.${part}`).getAttribute("width"));

everyPage({
  name: "quorate-node",
  address: () => finished,
  begin: () => start(program, "--wait"),
  moving: (page) => page.locator(".tiles").textContent(),
  settled: (page) => page.locator("li.task").first().waitFor(),
  async seen(page) {
    // The bar is as wide as its row, and what is drawn follows from the attributes.
    const drawn = await task(page, mischief).locator("svg.bar").evaluate((bar) => {
      const [all, signed] = ["track", "signed"].map((part) => bar.querySelector(`.${part}`).getBoundingClientRect().width);
      return { all, part: signed / all, inside: all <= bar.closest("li").clientWidth };
    });
    assert.ok(drawn.all > 200 && drawn.inside, JSON.stringify(drawn));
    assert.ok(Math.abs(drawn.part - 0.636) < 0.01, JSON.stringify(drawn));
  },
  steps: [/^summary/],
  async opened(details) {
    assert.match(await details.textContent(), /18 earlier tasks/);
  },
  heard: [
    'heading "The node cannot do its work" [level=2]',
    'heading "Tasks" [level=2]',
    'img "81.8 % of the weight has signed; a quorum is more than 66.6 %"',
    'region "Operators"',
    'columnheader "Settled tasks that it signed"',
  ],
  news: /^The node cannot do its work, for 2 reasons\.$/,
  drawn: { what: "svg.bar", count: 12 },
});

test("tasks say what became of them", async () => {
  const { page, wrong, close } = await open(finished);
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
  const filling = task(page, mischief);
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
  const { page, wrong, close } = await open(finished);
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
  const watch = page.locator(".tile", { has: page.getByRole("heading", { name: "Watch", exact: true }) });
  assert.match(await watch.textContent(), /0 open0 false · 0 not recomputed · reports only · looked .* ago.*of 0x/s);
  assert.deepEqual(wrong, []);
  await close();
});

test("markup from outside is text wherever it comes from", async () => {
  const { page, wrong, close } = await open(finished);
  await page.waitForTimeout(2500);
  assert.ok(await page.getByText(mischief).count() >= 4, "a label, a refusal, a ban and a problem");
  assert.equal(await page.locator("#content script, #banner script, #content img").count(), 0);
  assert.equal(await page.evaluate(() => window.mischief), undefined);
  assert.deepEqual(wrong, []);
  await close();
});

test("a board that lives: bars fill up, and a banner says that the chain stopped", async () => {
  const { address, tell } = await start(program, "--wait");
  const { page, wrong, close } = await open(address);
  const row = task(page, mischief);
  assert.equal(await page.locator(".banner").count(), 0);
  assert.equal((await page.locator("#state").textContent()).trim(), "ready");
  tell();
  await row.locator("rect.signed.short").waitFor({ state: "attached" });
  // The element stays the same, so that the bar grows and does not jump.
  await row.evaluate((element) => { element.kept = true; });
  const widths = new Set();
  for (const begun = Date.now(); Date.now() - begun < patience && !widths.has(636);) {
    widths.add(await width(row, "signed"));
    await page.waitForTimeout(100);
  }
  assert.ok(widths.size >= 3 && widths.has(636), `it grew in steps: ${[...widths]}`);
  assert.equal(await row.evaluate((element) => element.kept), true);
  await task(page, '{"pair":"BTC/USD","minute":24}').locator(".badge.final").waitFor();
  await page.locator("#bans tbody tr").waitFor();
  await page.locator(".banner").waitFor();
  assert.match(await page.locator(".banner").textContent(), /chain: https:\/\/rpc\.example timed out <script>/);
  assert.equal((await page.locator("#state").textContent()).trim(), "not ready");
  assert.deepEqual(wrong, []);
  await close();
});
