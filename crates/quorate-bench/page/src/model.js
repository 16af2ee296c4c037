// The model of `quorate-bench compare`: the same file of records and the same arithmetic as compare/model.rs and
// compare/ranking.rs, in the same order, so that both give the same numbers.

/** The number of delegates of the rows. */
const MEASURED = 32;
/** What follows this in the name of a row is the number of corrupted shares. */
const BY_BAD = "=K";
/** The most delegates of a setting. */
const MOST = 10000;

/** What contradicts itself in a setting, or null. */
export function contradiction({ delegates, quorum, bad, rtt_us, bandwidth }) {
  if (![delegates, quorum, bad].every(Number.isInteger)) return "Delegates, signers and false shares must be whole numbers.";
  if (!(rtt_us > 0) || !Number.isFinite(rtt_us)) return "The RTT must be above zero.";
  if (!(bandwidth > 0) || !Number.isFinite(bandwidth)) return "The bandwidth must be above zero.";
  if (delegates < 1 || delegates > MOST) return `There can be 1 to ${MOST} delegates.`;
  if (quorum < 1) return "At least one must sign.";
  if (quorum > delegates) return `${quorum} must sign, but there are only ${delegates} delegates.`;
  if (bad < 0 || bad >= delegates) return `${bad} of ${delegates} delegates cannot send false shares: one must be good.`;
  if (bad + quorum > delegates) return `${bad} false ones and ${quorum} signers are more than the ${delegates} delegates.`;
  return null;
}

const linear = ({ one = 0, delegates = 0, quorum = 0, bad = 0 }, setting) =>
  one + delegates * setting.delegates + quorum * setting.quorum + bad * setting.bad;

const add = (a, b) => ({ min: a.min + b.min, median: a.median + b.median, max: a.max + b.max });
const fixed = (value) => ({ min: value, median: value, max: value });

/** The greatest time by the least, above which the machine was busy: row.rs says the same. */
const MOST_SPREAD = 3;
export const busy = ({ min, max }) => max > MOST_SPREAD * min;

/** A row that was not measured. */
class Missing extends Error {}

function row(scheme, bench, rows) {
  return rows.find((r) => r.bench === bench && r.engine === scheme.engine && r.n === MEASURED && r.threads === 1)?.us;
}

/** The rows of a family at a number of bad shares, on straight lines between those measured. */
function byBad(scheme, family, rows, setting) {
  const measured = [];
  for (let k = 0; k <= MEASURED; k += 1) {
    const us = row(scheme, `${family}=${k}`, rows);
    if (us) measured.push([k, us]);
  }
  const bad = (setting.bad * MEASURED) / setting.delegates;
  const exact = measured.find(([k]) => k === bad);
  if (exact) return { us: exact[1], is_busy: busy(exact[1]) };
  if (measured.length < 2 || measured[0][0] > bad) throw new Missing(`${family}${BY_BAD}`);
  const found = measured.findIndex(([k]) => k > bad);
  const above = found < 0 ? measured.length - 1 : found;
  const [[k0, low], [k1, high]] = [measured[above - 1], measured[above]];
  const part = (bad - k0) / (k1 - k0);
  const between = (a, b) => a + (b - a) * part;
  const median = between(low.median, high.median);
  const us = { min: Math.min(between(low.min, high.min), median), median, max: Math.max(between(low.max, high.max), median) };
  return { us, is_busy: busy(low) || busy(high) };
}

function term({ row: bench, times, over = 1 }, scheme, rows, setting) {
  const factor = linear(times, setting) / over;
  const exact = bench.endsWith(BY_BAD) ? null : row(scheme, bench, rows);
  if (exact === undefined) throw new Missing(bench);
  const { us, is_busy } = exact === null
    ? byBad(scheme, bench.slice(0, -BY_BAD.length), rows, setting)
    : { us: exact, is_busy: busy(exact) };
  const [a, b] = [us.min * factor, us.max * factor];
  return { us: { min: Math.min(a, b), median: us.median * factor, max: Math.max(a, b) }, is_busy };
}

function estimate(scheme, rows, setting) {
  const costs = setting.bad > 0 ? scheme.bad : scheme.good;
  const restarts = setting.bad > 0 ? scheme.restarts : 0;
  let is_busy = false;
  const cpu = (terms) => terms.reduce((sum, each) => {
    const part = term(each, scheme, rows, setting);
    is_busy ||= part.is_busy;
    return add(sum, part.us);
  }, fixed(0));
  const [delegate_us, primary_us] = [cpu(costs.delegate), cpu(costs.primary)];
  const bytes = costs.bytes.reduce((sum, part) => sum + linear(part.copies, setting) * linear(part.each, setting), 0);
  const network_us = scheme.rounds * (1 + restarts) * setting.rtt_us;
  const bytes_us = ((bytes * 8) / setting.bandwidth) * 1e6;
  const us = add(fixed(network_us + bytes_us), add(delegate_us, primary_us));
  return { id: scheme.id, name: scheme.name, engine: scheme.engine, us, network_us, bytes, bytes_us, delegate_us, primary_us, restarts, is_busy };
}

/** The schemes from the fastest. A rank is one more than the number of those that are surely faster: their greatest time is below its least. */
export function ranking({ schemes, rows }, setting) {
  const [estimates, missing] = [[], []];
  for (const scheme of schemes) {
    try {
      estimates.push(estimate(scheme, rows, setting));
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      missing.push({ id: scheme.id, name: scheme.name, row: error.message });
    }
  }
  estimates.sort((a, b) => a.us.median - b.us.median);
  const rank = (of) => 1 + estimates.filter((other) => other.us.max < of.us.min).length;
  const ranked = estimates.map((each) => ({ rank: rank(each), ...each }));
  // A wide spread can give a slower median the better place.
  ranked.sort((a, b) => a.rank - b.rank);
  return { schemes: ranked, missing };
}
