// The picture of the page for the README: `npm run picture -- PAGE.html PICTURE.png`.

import { pathToFileURL } from "node:url";
import { launch, open } from "./browser.mjs";

const [page, picture] = process.argv.slice(2);
const browser = await launch();
try {
  const viewport = { width: 1200, height: 800 };
  const opened = await open(browser, pathToFileURL(page).href, { viewport, colorScheme: "light" });
  await opened.page.screenshot({ path: picture });
  if (opened.wrong.length > 0) throw new Error(opened.wrong.join("\n"));
} finally {
  await browser.close();
}
