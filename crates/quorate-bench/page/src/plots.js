// Plots from the numbers of the tables. A colour says whose a figure is, on the whole page.

import { areaY, axisX, axisY, dot, gridX, gridY, line, link, plot, pointer, ruleX, text, tip } from "@observablehq/plot";
import { busy } from "./model.js";
import { BUSY, axes, factor, tick, written } from "./words.js";

const colour = (family) => `var(--${family})`;
const symbols = ["circle", "diamond2", "triangle2", "square2", "times", "plus", "asterisk"];
const dashes = [null, "6,3", "2,3", "8,3,2,3", "1,4", "12,3", "4,2,1,2"];

/** Each line's symbol and dash: of those with one colour no two are the same until all are used. */
function styled(lines) {
  const seen = new Map();
  return lines.map((each) => {
    const index = seen.get(each.family) ?? 0;
    seen.set(each.family, index + 1);
    return { ...each, symbol: symbols[index % symbols.length], dash: dashes[index % dashes.length] };
  });
}

/** The names of the lines. Plot's own legend cannot show colour, dash and symbol at once. */
function legend(lines, hasLines) {
  const list = document.createElement("ul");
  list.className = "legend";
  const width = hasLines ? 30 : 14;
  for (const { label, family, symbol, dash } of lines) {
    const item = document.createElement("li");
    const mark = plot({
      width, height: 12, margin: 0, axis: null,
      x: { domain: [0, 1], range: [1, width - 1] },
      y: { domain: [0, 1], range: [11, 1] },
      symbol: { type: "identity" },
      marks: [
        hasLines ? line([[0, 0.5], [1, 0.5]], { stroke: colour(family), strokeWidth: 2, strokeDasharray: dash }) : null,
        dot([symbol], { x: [0.5], y: [0.5], symbol: [symbol], stroke: colour(family), fill: colour(family), r: 3.5 }),
      ],
    });
    silence(mark);
    mark.setAttribute("aria-hidden", "true");
    item.append(mark, label);
    list.append(item);
  }
  return list;
}

/** The parts of a picture have no names of their own: a role that has a name would be missing. */
function silence(svg) {
  for (const part of [svg, ...svg.querySelectorAll("[aria-label], [aria-description]")]) {
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
}

/** What a screen reader is told of a plot; its numbers are in the table below. */
function picture(svg, label) {
  silence(svg);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${label}. The table below has the numbers.`);
  return svg;
}

const common = (width) => ({
  width,
  style: { background: "transparent", fontSize: "12px", fontFamily: "inherit", color: "var(--text)", "--plot-background": "var(--surface)" },
});

/** Powers of ten inside a range, and numbers between them where there are few. */
function ticks(low, high, most) {
  const all = (factors) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const each of factors) found.push(Number((each * 10 ** power).toPrecision(3)));
    }
    return found.filter((value) => value >= low && value <= high);
  };
  const fine = [[1, 2, 5], [1, 3], [1]].map(all).find((found) => found.length <= most);
  if (fine) return fine;
  const tens = all([1]);
  const step = Math.ceil(tens.length / most);
  return tens.filter((_, i) => i % step === 0);
}

const logarithmic = (values) => [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
const direction = (figure) => (figure.better === "more" ? "more is better" : "less is better");

function lines(figure, width) {
  const all = styled(figure.lines);
  const points = all.flatMap((each) => each.values.flatMap((value, i) => (value === null ? [] : [{
    ...each, x: figure.places[i].at, place: figure.places[i].label, min: value[0], y: value[1], max: value[2],
  }])));
  const xs = points.map((point) => point.x);
  const y = logarithmic(points.map((point) => point.y));
  const yTicks = ticks(...y, 8);
  const places = figure.places.filter((place) => xs.includes(place.at));
  const step = Math.ceil(places.length / Math.max(2, Math.floor(width / 72)));
  const domain = [figure.shape === "lines-from-zero" ? 0 : Math.min(...xs), Math.max(...xs)];
  const svg = plot({
    ...common(width),
    height: Math.round(Math.min(430, Math.max(270, width * 0.5))),
    marginLeft: 60, marginRight: 18, marginBottom: 42, marginTop: 28,
    x: { type: figure.shape === "lines-from-zero" ? "linear" : "log", domain },
    y: { type: "log", domain: y },
    symbol: { type: "identity" },
    marks: [
      gridY(yTicks, { stroke: "var(--line)", strokeOpacity: 1 }),
      axisY(yTicks, { text: (value) => tick(figure.unit, value), label: `${axes[figure.unit]}, ${direction(figure)}`, labelArrow: "none", tickSize: 0 }),
      axisX(places.filter((_, i) => i % step === 0).map((place) => place.at), {
        text: (value) => places.find((place) => place.at === value).label, label: figure.across, labelArrow: "none", labelAnchor: "center", tickSize: 4,
      }),
      ...all.flatMap((each) => {
        const own = points.filter((point) => point.label === each.label);
        return [
          areaY(own, { x: "x", y1: "min", y2: "max", fill: colour(each.family), fillOpacity: 0.1, clip: true }),
          line(own, { x: "x", y: "y", stroke: colour(each.family), strokeWidth: 2, strokeDasharray: each.dash }),
        ];
      }),
      dot(points, { x: "x", y: "y", symbol: "symbol", fill: (point) => colour(point.family), stroke: (point) => colour(point.family), r: 3 }),
      tip(points, pointer({
        x: "x", y: "y", fill: "var(--surface)", stroke: "var(--quiet)",
        title: (point) => `${point.label}\n${point.place} ${figure.across}\n${written(figure.unit, point.y)}${figure.unit !== "gas" && busy(point) ? `, ${BUSY}` : ""}`,
      })),
    ],
  });
  return [legend(all, true), picture(svg, `${figure.title}: a line for each of ${all.map((each) => each.label).join("; ")}`)];
}

function dots(figure, width) {
  const all = styled(figure.lines);
  const points = figure.places.flatMap((place, i) => all.flatMap((each) => (each.values[i] === null ? [] : [{
    ...each, place: place.label, min: each.values[i][0], x: each.values[i][1], max: each.values[i][2],
  }])));
  const groups = figure.places.map((place) => place.label).filter((label) => points.some((point) => point.place === label));
  const labels = all.map((each) => each.label);
  const x = logarithmic(points.flatMap((point) => [point.min, point.max]));
  const isWide = width > 560;
  const marginLeft = isWide ? 262 : 14;
  const xTicks = ticks(...x, Math.floor((width - marginLeft) / 68));
  const svg = plot({
    ...common(width),
    height: groups.length * (labels.length * 17 + 40) + 44,
    marginLeft, marginRight: 70, marginTop: 30, marginBottom: 38,
    x: { type: "log", domain: x },
    y: { domain: labels, axis: null, padding: 0.2 },
    fy: { domain: groups, axis: null, padding: 36 / (labels.length * 17 + 36) },
    symbol: { type: "identity" },
    marks: [
      gridX(xTicks, { stroke: "var(--line)", strokeOpacity: 1 }),
      axisX(xTicks, { anchor: "bottom", text: (value) => tick(figure.unit, value), label: direction(figure), labelArrow: "none", labelAnchor: "center", tickSize: 0 }),
      // The name of a group stands above its dots, and the name of a dot, on a wide screen, beside it.
      text(groups, { fy: (group) => group, text: (group) => group, frameAnchor: "top-left", dx: 4 - marginLeft, dy: -19, textAnchor: "start", fontWeight: 620, fontSize: 13, fill: "var(--text)" }),
      link(points, { fy: "place", y1: "label", y2: "label", x1: "min", x2: "max", stroke: (point) => colour(point.family), strokeOpacity: 0.4, strokeWidth: 5, strokeLinecap: "round" }),
      dot(points, { fy: "place", y: "label", x: "x", symbol: "symbol", fill: (point) => colour(point.family), stroke: (point) => colour(point.family), r: 3.5 }),
      text(points, { fy: "place", y: "label", x: "max", text: (point) => written(figure.unit, point.x), dx: 9, textAnchor: "start", fill: "var(--text)" }),
      isWide ? text(points, { fy: "place", y: "label", text: "label", frameAnchor: "left", dx: -10, textAnchor: "end", fill: (point) => colour(point.family) }) : null,
    ],
  });
  const shown = picture(svg, `${figure.title}. Groups: ${groups.join("; ")}. In each a dot for ${labels.join("; ")}`);
  return isWide ? [shown] : [legend(all, false), shown];
}

/** How many times faster, on one axis. */
function summary({ lines: all }, width) {
  const points = all.flatMap(({ what, source, blst }) => [
    { what, times: source, family: "published" },
    { what, times: blst, family: "blst" },
  ]).filter(({ times }) => times !== null);
  if (points.length === 0) return [];
  const x = [Math.min(1, ...points.map(({ times }) => times)), 1.4 * Math.max(...points.map(({ times }) => times))];
  const names = all.map(({ what }) => what);
  const isWide = width > 560;
  const svg = plot({
    ...common(width),
    height: names.length * (isWide ? 52 : 78) + 48,
    marginLeft: isWide ? 230 : 10, marginRight: 24, marginTop: isWide ? 10 : 20, marginBottom: 36,
    x: { type: "log", domain: x },
    y: { domain: names, axis: null, padding: 0.5 },
    marks: [
      gridX(ticks(...x, 8), { stroke: "var(--line)", strokeOpacity: 1 }),
      axisX(ticks(...x, 8), { text: (value) => tick("factor", value), label: "times faster, or cheaper", labelArrow: "none", labelAnchor: "center", tickSize: 0 }),
      ruleX([1], { stroke: "var(--quorate)", strokeWidth: 2.5 }),
      link(points, { x1: 1, x2: "times", y1: "what", y2: "what", stroke: (point) => colour(point.family), strokeWidth: 2, strokeOpacity: 0.45 }),
      dot(points, { x: "times", y: "what", fill: (point) => colour(point.family), r: 6 }),
      // Above and below, so that two numbers never stand on each other.
      ...[["published", -14], ["blst", 14]].map(([family, dy]) => text(points.filter((point) => point.family === family), {
        x: "times", y: "what", text: (point) => factor(point.times), dy, fill: colour(family), fontWeight: 650, fontSize: 13,
      })),
      text(names, { y: (name) => name, text: (name) => name, frameAnchor: "left", dx: isWide ? -14 : 6, dy: isWide ? 0 : -34, textAnchor: isWide ? "end" : "start", fill: "var(--text)", stroke: "var(--surface)", strokeWidth: 4, fontSize: 13 }),
    ],
  });
  return [picture(svg, "How many times faster quorate is than each source, and than blst")];
}

/** The parts of the time of each scheme. */
export function ranked(schemes, width) {
  const parts = ["network_us", "bytes_us", "delegate_us", "primary_us"];
  const family = ({ engine }) => (engine.endsWith("/quorate") ? "quorate" : engine.endsWith("/blst") ? "blst" : "peer");
  const bars = schemes.flatMap((scheme) => {
    let from = 0;
    return parts.map((part, i) => {
      const us = scheme[part].median ?? scheme[part];
      const bar = { name: scheme.name, x1: from, x2: from + us, family: family(scheme), opacity: [0.3, 0.5, 0.75, 1][i] };
      from = bar.x2;
      return bar;
    });
  });
  const isWide = width > 560;
  const svg = plot({
    ...common(width),
    height: schemes.length * (isWide ? 26 : 40) + 46,
    marginLeft: isWide ? 176 : 10, marginRight: 74, marginTop: 8, marginBottom: 36,
    x: { domain: [0, Math.max(...schemes.map((scheme) => scheme.us.median))] },
    y: { domain: schemes.map((scheme) => scheme.name), axis: null, padding: 0.3 },
    marks: [
      axisX({
        ticks: Math.max(3, Math.floor(width / 130)), tickFormat: (value) => (value === 0 ? "0" : tick("time", value)),
        label: isWide ? "from the left: network, bytes, time of a delegate, time of the primary" : "network, bytes, times", labelArrow: "none", labelAnchor: "center", tickSize: 0,
      }),
      link(bars, { x1: "x1", x2: "x2", y1: "name", y2: "name", stroke: (bar) => colour(bar.family), strokeWidth: 11, strokeOpacity: (bar) => bar.opacity, strokeLinecap: "butt", dy: isWide ? 0 : 8 }),
      text(schemes, { y: "name", x: (scheme) => scheme.us.median, text: (scheme) => written("time", scheme.us.median), dx: 6, dy: isWide ? 0 : 8, textAnchor: "start", fill: "var(--text)" }),
      text(schemes, { y: "name", frameAnchor: "left", dx: isWide ? -10 : 0, dy: isWide ? 0 : -8, text: "name", textAnchor: isWide ? "end" : "start", fill: (scheme) => colour(family(scheme)) }),
    ],
  });
  return picture(svg, `Time of each scheme: ${schemes.map((scheme) => scheme.name).join("; ")}`);
}

/** Draws into an element, and again if its width changes. */
export function draw(element, figure) {
  const how = figure.id === "summary" ? summary : figure.shape === "dots" ? dots : lines;
  watch(element, (width) => element.replaceChildren(...how(figure, width)));
}

/** Calls with an element's width, now and whenever it changes. */
export function watch(element, call) {
  let seen = 0;
  const look = () => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== seen) {
      seen = width;
      call(width);
    }
  };
  new ResizeObserver(look).observe(element);
  look();
}
