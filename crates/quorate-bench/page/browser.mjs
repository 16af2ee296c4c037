// A real browser that reaches no network, for the tests of the page and for its picture.

import chromium from "@sparticuz/chromium";
import { chromium as browserType } from "playwright-core";

/** Longer than anything takes on a busy machine, in milliseconds. */
const patience = 300000;

export async function launch() {
  // In a single process, closing one page ends the browser.
  const args = chromium.args.filter((argument) => argument !== "--single-process");
  return browserType.launch({ args, executablePath: await chromium.executablePath(), headless: true, timeout: patience });
}

/** Opens a file without a network, and gives the page with everything that went wrong on it. */
export async function open(browser, file, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patience);
  await context.setOffline(true);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== file && !request.url().startsWith("data:")) wrong.push(`asked for ${request.url()}`);
  });
  await page.goto(file);
  return { page, wrong, close: () => context.close() };
}
