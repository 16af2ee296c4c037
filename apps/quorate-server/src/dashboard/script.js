"use strict";
// Asks for the page each second, and takes over what has changed. The server renders it, here it is only compared, so
// that what has the focus keeps it and what was opened stays open.
(() => {
  const period = 1000;
  const pause = document.getElementById("pause");
  const connection = document.getElementById("connection");
  let paused = false;
  let failures = 0;

  // Attributes that belong to the reader of the page.
  const ours = (element, name) => element.localName === "details" && name === "open";

  function takeOver(old, fresh) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !ours(old, name)) old.removeAttribute(name);
    }
    const keyed = new Map();
    for (const child of old.children) {
      if (child.dataset?.key !== undefined) keyed.set(child.dataset.key, child);
    }
    let at = old.firstChild;
    for (const child of fresh.childNodes) {
      const same = child.dataset?.key === undefined ? at : keyed.get(child.dataset.key);
      const fits = same && same.nodeType === child.nodeType && same.nodeName === child.nodeName &&
        same.dataset?.key === child.dataset?.key;
      if (!fits) {
        old.insertBefore(document.importNode(child, true), at);
      } else {
        if (same !== at) old.insertBefore(same, at);
        else at = at.nextSibling;
        takeOver(same, child);
      }
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  async function update() {
    const response = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of ["#top .state", "#top .facts", "#news", "#content"]) {
      takeOver(document.querySelector(part), fresh.querySelector(part));
    }
  }

  async function tick() {
    if (!paused && !document.hidden) {
      try {
        await update();
        failures = 0;
        connection.textContent = "";
      } catch {
        failures += 1;
        if (failures === 2) connection.textContent = "The server does not answer. Trying again.";
      }
    }
    setTimeout(tick, failures > 1 ? 3 * period : period);
  }

  document.getElementById("still").hidden = true;
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    connection.textContent = paused ? "Paused" : "";
  });
  setTimeout(tick, period);
})();
