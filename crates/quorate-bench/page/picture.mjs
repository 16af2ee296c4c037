// The picture of the page for BENCHMARKING.md: `npm run picture -- PAGE.html PICTURE.png`. It carries the page's fingerprint as text,
// so that a test of the page sees a picture of another one.

import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { launch, open } from "./browser.mjs";

const NAME = "quorate-first-screen";
/** A PNG begins with a signature of 8 bytes and its header chunk of 25. */
const HEADER = 33;

/** A PNG with a chunk of text after its header. */
function withText(png, name, text) {
  const data = Buffer.from(`tEXt${name}\0${text}`, "latin1");
  const number = (value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const chunk = Buffer.concat([number(data.length - 4), data, number(crc32(data))]);
  return Buffer.concat([png.subarray(0, HEADER), chunk, png.subarray(HEADER)]);
}

const [page, picture] = process.argv.slice(2);
const browser = await launch();
try {
  const viewport = { width: 1200, height: 800 };
  const opened = await open(browser, pathToFileURL(page).href, { viewport, colorScheme: "light" });
  const png = await opened.page.screenshot();
  const fingerprint = await opened.page.locator(`meta[name=${NAME}]`).getAttribute("content");
  await writeFile(picture, withText(png, NAME, fingerprint));
  if (opened.wrong.length > 0) throw new Error(opened.wrong.join("\n"));
} finally {
  await browser.close();
}
