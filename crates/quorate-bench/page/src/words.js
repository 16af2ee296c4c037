// Numbers as people read them: the same words as page/words.rs.

/** Beside a figure whose greatest time is too far above its least. */
export const BUSY = "the machine was busy";

/** Three significant digits, or whole numbers. */
export function short(value) {
  const decimals = value >= 100 || !(value > 0) ? 0 : Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(value))));
  return value.toFixed(decimals);
}

const thousands = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");

/** Microseconds in the unit that fits. */
export function time(us) {
  const sign = us < 0 ? "-" : "";
  const size = Math.abs(us);
  for (const [least, unit] of [[3.6e9, "h"], [60e6, "min"], [1e6, "s"], [1e3, "ms"]]) {
    if (size >= least) return `${sign}${short(size / least)} ${unit}`;
  }
  return `${sign}${short(size)} µs`;
}

export function factor(times) {
  if (times >= 1000) return `${thousands(times)}×`;
  return `${times.toFixed(times >= 100 ? 0 : times >= 10 ? 1 : 2)}×`;
}

const units = {
  "time": time,
  "ns/byte": (value) => `${short(value)} ns`,
  "per second": thousands,
  "gas": thousands,
  "factor": factor,
};

export const written = (unit, value) => units[unit](value);

/** The same beside a tick of an axis, without digits that say nothing. */
export function tick(unit, value) {
  if (unit === "factor") return value >= 1000 ? factor(value) : `${+value.toPrecision(3)}×`;
  if (unit === "time" && value >= 1e6) return `${thousands(value / 1e6)} s`;
  if (unit === "time") return time(value).replace(/\.(\d*?)0+ /, ".$1 ").replace(". ", " ");
  if (unit === "ns/byte") return `${value >= 1000 ? thousands(value) : +value.toPrecision(3)} ns`;
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  return value >= 1e3 ? `${+(value / 1e3).toPrecision(3)}k` : `${+value.toPrecision(3)}`;
}

/** What stands at the axis of a unit. */
export const axes = { "time": "time", "ns/byte": "nanoseconds a byte", "per second": "a second", "gas": "gas", "factor": "times" };
