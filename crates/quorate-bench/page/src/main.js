/*!
 * This script contains Observable Plot, Copyright 2020-2025 Observable, Inc., and modules of D3 and isoformat, Copyright
 * 2010-2026 Mike Bostock, under the ISC License: Permission to use, copy, modify, and/or distribute this software for any
 * purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear
 * in all copies. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE
 * INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL,
 * DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER
 * IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE
 * OF THIS SOFTWARE.
 */

// Draws the plots of the page, and makes the model of `compare` live. Without it the page has all its tables.

import { contradiction, ranking } from "./model.js";
import { draw, ranked, watch } from "./plots.js";
import { BUSY, factor, time } from "./words.js";

const data = JSON.parse(document.getElementById("data").textContent);

for (const figure of [data.summary, ...data.figures]) {
  const element = document.querySelector(`[data-plot="${figure.id}"]`);
  draw(element, figure);
  // With a plot above it, the table is one click away.
  element.parentElement.querySelector("details").removeAttribute("open");
}

const form = document.getElementById("setting");
const field = (name) => form.elements.namedItem(name);

/** The setting of the form. A field that is empty is not a number. */
function setting() {
  const number = (name) => (field(name).value.trim() === "" ? NaN : Number(field(name).value));
  return {
    delegates: number("delegates"),
    quorum: number("quorum"),
    bad: number("bad"),
    rtt_us: number("rtt") * 1e3,
    bandwidth: number("bandwidth") * 1e6,
  };
}

function cell(name, text, attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The same rows as page/comparison.rs writes. */
function table({ schemes, missing }) {
  const body = document.createElement("tbody");
  for (const each of schemes) {
    const ties = schemes.filter((other) => other.rank === each.rank).length > 1;
    const row = body.insertRow();
    const name = cell("th", each.name, { scope: "row" });
    if (each.is_busy) name.append(cell("small", BUSY, { class: "busy" }));
    row.append(cell("td", `${each.rank}${ties ? " =" : ""}`), name);
    const { us, network_us, bytes_us, delegate_us, primary_us } = each;
    for (const part of [us.median, network_us, bytes_us, delegate_us.median, primary_us.median]) row.append(cell("td", time(part)));
    row.append(cell("td", factor(us.median / schemes[0].us.median)));
  }
  for (const { name, row: bench } of missing) {
    const row = body.insertRow();
    const why = cell("td", `not measured: no row ${bench}`, { colspan: 6, class: "missing" });
    row.append(cell("td", "–"), cell("th", name, { scope: "row" }), why);
  }
  return body;
}

/** What has changed, for those who do not see the table. */
function news(schemes) {
  if (schemes.length === 0) return "No scheme was measured.";
  const first = schemes.filter((each) => each.rank === 1);
  const names = first.map((each) => each.name).join(", ");
  const fastest = time(first[0].us.median);
  const lead = first.length > 1
    ? `Equal within the spread, and the fastest: ${names}, with ${fastest}.`
    : `The fastest is ${names} with ${fastest}.`;
  const next = schemes[first.length];
  return next ? `${lead} Then comes ${next.name} with ${time(next.us.median)}.` : lead;
}

const place = document.getElementById("ranking");
const plotted = document.getElementById("ranking-plot");
let shown = [];
const redraw = (width) => plotted.replaceChildren(...(shown.length > 0 ? [ranked(shown, width)] : []));

function update() {
  const at = setting();
  const why = contradiction(at);
  const wrong = document.getElementById("wrong");
  wrong.hidden = why === null;
  wrong.textContent = why ?? "";
  // An answer to another setting than the one in the form would mislead.
  place.hidden = plotted.hidden = why !== null;
  if (why !== null) {
    document.getElementById("ranking-news").textContent = "";
    return;
  }
  const answer = ranking(data.model, at);
  // The figures as they are, for whoever checks them against the command.
  place.answer = answer;
  shown = answer.schemes;
  const bandwidth = `${Number((at.bandwidth / 1e6).toPrecision(6))} Mbit/s`;
  const caption = `${at.delegates} delegates, ${at.quorum} must sign, ${at.bad} send false shares, RTT ${time(at.rtt_us)}, ${bandwidth}`;
  place.querySelector(".caption").textContent = caption;
  place.querySelector(".scroll").setAttribute("aria-label", `Table: ${caption}`);
  place.querySelector("tbody").replaceWith(table(answer));
  document.getElementById("ranking-news").textContent = news(shown);
  redraw(plotted.clientWidth);
}

/** A slider and its number say the same. Those of RTT and bandwidth run through powers of ten. */
function connect(slider) {
  const number = document.getElementById(slider.dataset.for);
  const isLog = ["rtt", "bandwidth"].includes(number.name);
  if (isLog) {
    const edges = [slider.min, slider.max].map((edge) => Math.log10(Number(edge)));
    slider.step = "any";
    [slider.min, slider.max] = edges;
    slider.step = 0.01;
  }
  const follow = () => {
    const value = Number(number.value);
    slider.value = isLog ? Math.log10(value) : value;
    slider.setAttribute("aria-valuetext", number.value);
  };
  follow();
  slider.addEventListener("input", () => {
    number.value = isLog ? Number((10 ** Number(slider.value)).toPrecision(2)) : slider.value;
    slider.setAttribute("aria-valuetext", number.value);
    update();
  });
  number.addEventListener("input", () => {
    follow();
    update();
  });
}

form.querySelectorAll("[type=range]").forEach(connect);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
watch(plotted, redraw);
update();
