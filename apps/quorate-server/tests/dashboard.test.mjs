// The dashboard in a real browser: it updates, shows a ban with its evidence, needs no mouse, and loads nothing from elsewhere.
//
// QUORATE_SERVER is the program; without it, the debug build of the workspace.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { everyPage, mischief, open, root, start } from "../../../crates/quorate-host/browser/dashboard.mjs";

const program = process.env.QUORATE_SERVER ?? `${root}target/debug/quorate-server`;
const begin = () => start(program, "--listen", "127.0.0.1:0", "demo");

let address;

before(async () => {
  ({ address } = await begin());
  const lines = (await readFile(`${root}examples/one-false.jsonl`, "utf8")).trim().split("\n");
  const claim = JSON.parse(lines[3]);
  for (let times = 0; times < 4; times += 1) {
    await fetch(`${address}/v1/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...claim, source: mischief }),
    });
  }
});

const mallory = (page) => page.locator("tr", { hasText: "mallory" });

everyPage({
  name: "quorate-server",
  address: () => address,
  begin,
  moving: (page) => page.locator("svg.chart").first().innerHTML(),
  settled: (page) => mallory(page).locator(".badge.banned").waitFor(),
  async seen(page) {
    assert.equal(await page.getByText(mischief).count(), 1, "the name of a source is shown as it is");
    // A picture shows the evidence as well.
    if (process.env.SCREENSHOTS) await mallory(page).locator("summary").click();
  },
  // A table that scrolls can be scrolled with keys.
  steps: [/div#\.scroll/, /^summary/],
  async opened(details) {
    assert.match(await details.textContent(), /the signature does not match the keys and messages/);
  },
  heard: [
    'heading "Claims a second" [level=3]',
    /img "Claims in each of the last 60 seconds; at most \d+"/,
    /img "Latency in each of the last 60 seconds; p99 is at most .*"/,
    /img "\d+ % of the queue is full"/,
    'region "Sources that sent false claims"',
    'columnheader "Evidence"',
    /rowheader "mallory"/,
  ],
  news: /sources are banned|source is banned/,
  drawn: { what: "svg.chart", count: 3 },
});

test("the demonstration's claims are counted", async () => {
  const { page, wrong, close } = await open(address);
  await page.waitForFunction(() => Number(document.querySelector(".big").textContent.replaceAll(",", "")) > 10);
  assert.deepEqual(wrong, []);
  await close();
});
