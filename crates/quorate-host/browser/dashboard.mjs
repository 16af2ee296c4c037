// A program's page in a real browser: what the tests of each program need, and what every page must do.
//
// SCREENSHOTS is a folder for pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as browserType } from "playwright-core";

/** The folder of the workspace. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Longer than anything takes on a busy machine, in milliseconds; after it, a test fails. */
export const patience = 300000;
/** A text from outside that would do something if it were not escaped. */
export const mischief = "<script>window.mischief = 1</script><img src=x onerror='window.mischief = 2'>";

const programs = [];
let browser;

before(async () => {
  // In a single process, closing one page ends the browser.
  const args = chromium.args.filter((argument) => argument !== "--single-process");
  browser = await browserType.launch({ args, executablePath: await chromium.executablePath(), headless: true, timeout: patience });
});

after(async () => {
  await browser?.close();
  for (const program of programs) program.kill();
});

/**
 * Starts a program, which ends with the tests at the latest, and gives the address that it prints; `kill` ends it, and `tell` writes a line
 * to its standard input.
 */
export async function start(path, ...options) {
  const program = spawn(path, options, { stdio: ["pipe", "pipe", "inherit"] });
  programs.push(program);
  const address = await new Promise((resolve, reject) => {
    let text = "";
    program.stdout.on("data", (data) => {
      text += data;
      // The character behind it says that all of it has come.
      const found = text.match(/(http:\/\/[0-9.:]+)[^0-9.:]/);
      if (found) resolve(found[1]);
    });
    program.on("error", reject);
    program.on("exit", () => reject(new Error(`the program ended: ${text}`)));
  });
  return { address, kill: () => program.kill(), tell: () => program.stdin.write("\n") };
}

/** Opens the page at an address, and gives it with everything that went wrong on it. */
export async function open(address, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("requestfailed", (request) => {
    // The page gives up what has no answer after some seconds, as on a busy machine, and asks again.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") wrong.push(`failed: ${request.url()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== address) wrong.push(`from elsewhere: ${request.url()}`);
  });
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

/**
 * What every page must do:
 *
 * - `name`: the program's name
 * - `address()`: where it shows all that `settled` waits for
 * - `begin()`: starts another one, whose `moving(page)` is a text that changes once the program was told a line, and which may be killed
 * - `settled(page)`: waits until the page shows what the tests look at
 * - `seen(page)`: further checks of each color scheme and width
 * - `steps`: where the focus goes after the button, and last is details that open
 * - `opened(details)`: further checks of these
 * - `heard` and `news`: what a screen reader reads, and what it says by itself
 * - `drawn`: a selector, and how many of it there are
 */
export function everyPage({ name, address, begin, moving, settled, seen, steps, opened, heard, news, drawn }) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1280]) {
      test(`${name}: ${colorScheme}, ${width} pixels wide`, async () => {
        const { page, wrong, close } = await open(address(), { colorScheme, viewport: { width, height: 900 } });
        await settled(page);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
        assert.deepEqual(await page.evaluate(lowContrast), []);
        assert.equal(await page.evaluate(() => window.mischief), undefined);
        await seen(page);
        if (process.env.SCREENSHOTS) {
          await page.waitForTimeout(1500);
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true });
        }
        assert.deepEqual(wrong, []);
        await close();
      });
    }
  }

  test(`${name}: it moves, stands still when paused, and goes on without the program`, async () => {
    const { address, kill, tell } = await begin();
    const { page, wrong, close } = await open(address);
    tell();
    const first = await moving(page);
    for (const begun = Date.now(); (await moving(page)) === first; await page.waitForTimeout(100)) {
      assert.ok(Date.now() - begun < patience, "nothing moves");
    }
    assert.equal(await page.getByText("load this page again").isVisible(), false);
    // An answer that was asked for before it is paused, and comes afterwards, changes nothing.
    await page.evaluate(() => {
      const asks = window.fetch;
      window.fetch = async (from, options) => {
        window.fetch = asks;
        const answer = await asks(from, { ...options, signal: undefined });
        await new Promise((resolve) => { window.letGo = resolve; });
        return answer;
      };
    });
    await page.waitForFunction(() => window.letGo !== undefined);
    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await moving(page);
    await page.evaluate(() => window.letGo());
    await page.waitForTimeout(2500);
    assert.equal(await moving(page), paused);
    assert.equal(await page.locator("#connection").textContent(), "Paused");
    assert.deepEqual(wrong, []);
    await page.getByRole("button", { name: "Pause" }).click();
    kill();
    await page.getByText(`${name} does not answer`).waitFor();
    await close();
  });

  test(`${name}: without a mouse`, async () => {
    const { page, wrong, close } = await open(address(), { viewport: { width: 1280, height: 900 } });
    await settled(page);
    const focused = () => page.evaluate(() => {
      const { localName, id, className, textContent } = document.activeElement;
      return `${localName}#${id}.${className} ${textContent.trim().slice(0, 40)}`;
    });
    await page.keyboard.press("Tab");
    assert.match(await focused(), /Skip to the figures/);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, "none", "one sees where the focus is");
    for (const step of [/#pause/, ...steps]) {
      await page.keyboard.press("Tab");
      assert.match(await focused(), step);
    }
    await page.keyboard.press("Enter");
    const details = page.locator("details[open]");
    assert.equal(await details.count(), 1);
    await opened(details);
    await page.waitForTimeout(2500);
    assert.equal(await details.count(), 1, "an update closes nothing");
    assert.match(await focused(), steps.at(-1), "an update takes no focus away");
    assert.deepEqual(wrong, []);
    await close();
  });

  test(`${name}: what a screen reader is told`, async () => {
    const { page, close } = await open(address());
    await settled(page);
    const tree = await page.locator("body").ariaSnapshot();
    for (const part of [`heading "${name}" [level=1]`, 'heading "Figures" [level=2]', ...heard]) {
      assert.ok(typeof part === "string" ? tree.includes(part) : part.test(tree), `${part}\n${tree}`);
    }
    assert.match(await page.locator("#news").textContent(), news);
    assert.equal(await page.locator("#news").getAttribute("aria-live"), "polite");
    await close();
  });

  test(`${name}: without JavaScript it shows the same, once`, async () => {
    const { page, wrong, close } = await open(address(), { javaScriptEnabled: false });
    assert.equal(await page.getByText("load this page again").isVisible(), true);
    assert.equal(await page.locator(drawn.what).count(), drawn.count);
    assert.deepEqual(wrong, []);
    await close();
  });
}

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
