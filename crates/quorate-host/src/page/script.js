"use strict";
// Asks for the page each second and takes over what has changed. The program renders it; here it is only compared. So what
// has the focus keeps it, what was opened stays open, and bars grow from where they were.
(() => {
  const PERIOD = 1000;
  const PARTS = ["state", "facts", "news", "banner", "content"];
  const pause = document.getElementById("pause");
  const connection = document.getElementById("connection");
  let paused = false;
  let failures = 0;

  const keyOf = (node) => node.dataset?.key;
  const isSame = (one, other) =>
    one.nodeType === other.nodeType && one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

  function adoptAttributes(old, fresh) {
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      // Whether details are open is the reader's choice.
      const readers = old.localName === "details" && name === "open";
      if (!fresh.hasAttribute(name) && !readers) old.removeAttribute(name);
    }
  }

  function adopt(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    adoptAttributes(old, fresh);
    // Rows with a key are found again wherever they stand.
    const keyed = new Map([...old.children].filter((child) => keyOf(child)).map((child) => [keyOf(child), child]));
    let place = old.firstChild;
    for (const child of fresh.childNodes) {
      const key = keyOf(child);
      const found = key === undefined ? place : keyed.get(key);
      if (!found || !isSame(found, child)) {
        old.insertBefore(document.importNode(child, true), place);
        continue;
      }
      if (found === place) place = place.nextSibling;
      else old.insertBefore(found, place);
      adopt(found, child);
    }
    while (place) {
      const next = place.nextSibling;
      place.remove();
      place = next;
    }
  }

  async function update() {
    const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // Whoever has paused meanwhile goes on looking at what stands there.
    if (paused) return;
    for (const part of PARTS) adopt(document.getElementById(part), fresh.getElementById(part));
  }

  async function tick() {
    if (!paused && !document.hidden) {
      try {
        await update();
        failures = 0;
        if (!paused) connection.textContent = "";
      } catch {
        failures += 1;
        if (failures === 2 && !paused) connection.textContent = `${document.title} does not answer. Trying again.`;
      }
    }
    setTimeout(tick, failures > 1 ? 3 * PERIOD : PERIOD);
  }

  document.getElementById("still").hidden = true;
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    connection.textContent = paused ? "Paused" : "";
  });
  setTimeout(tick, PERIOD);
})();
