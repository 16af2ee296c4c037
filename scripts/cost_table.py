#!/usr/bin/env python3
"""Writes the gas that `quorate evm cost` computes from: crates/quorate-evm/src/cost/rows.tsv.

The rows are those of contracts/snapshots and of the newest benchmarks/*/gas.json. They are in the crate because an installed
program has no repository. With --check nothing is written, and a difference is an error.

Columns: what was measured, the keys, operators, a number (changed members, results, or quorums), gas, and the file with the row.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SNAPSHOTS = ROOT / "contracts" / "snapshots"
TO = ROOT / "crates" / "quorate-evm" / "src" / "cost" / "rows.tsv"
# The names of contracts, and those of their keys.
KEYS = {"Bn254G2": "bn254-g2", "Bn254G1": "bn254-g1", "Bls12381G2": "bls12381-g2", "Bls12381G2Nu": "bls12381-g2-nu"}
CHANGED = re.compile(r"gas/changed=(\d+)")
# The mean number of operators who missed one of these tasks, which the rows of EigenLayer tell.
MISSED = re.compile(r"([\d.]+) did not sign on average")
HUB = re.compile(r"(\d+) quorums by a hub")
# The rows of EigenSignatureChecker.json for one quorum and registries without proxies. A tenth of the operators is absent.
DROP_IN = re.compile(r"(\d+) operators, 1 quorum: (.+)")
DROP_INS = {"proved": "drop-in-proved", "by the registries": "drop-in", "take": "drop-in-snapshot"}
# The names of rows of the snapshots OptimisticSettlement*.json, and what they count.
POSTED = re.compile(r"posted, ([\d,]+) operators")
POSTINGS = {
    # The test posts them for ten operators.
    "posted, ten results": ("post", 10, 10),
    "demanded": ("demanded", 0, 1),
    # From the newest base, whose members are the signers; and the same quorum in an instant settlement.
    "proven when demanded": ("proven", 0, 1),
    "the same quorum": ("settled", 0, 1),
}


def whole(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def benchmarks():
    """The rows by the number of operators."""
    path = sorted(ROOT.glob("benchmarks/*/gas.json"))[-1]
    name = path.relative_to(ROOT)
    rows = json.loads(path.read_text())
    missed = {row["n"]: float(MISSED.search(row["note"])[1]) for row in rows if row["engine"] == "eigenlayer/check-signatures"}
    for row in rows:
        bench, engine, n, gas = row["bench"], row["engine"], row["n"], row["gas"]["mean"]
        kind, _, keys = engine.partition("/")
        found = None
        if kind == "eigenlayer" and bench == "gas/miss":
            found = (keys, "-", missed[n])
        elif kind != "quorate":
            continue
        elif bench == "gas/exact":
            found = ("quorum", keys, 0)
        elif bench == "gas/miss":
            found = ("quorum", keys, missed[n])
        elif changed := CHANGED.fullmatch(bench):
            found = ("quorum", keys, int(changed[1]))
        elif bench == "gas/further-task":
            found = ("further", keys, 1)
        elif bench == "gas/hub":
            # Each operator joins or leaves with a probability of 10 %.
            found = ("hub", keys, n / 10)
        if found:
            what, keys, number = found
            yield what, keys, n, whole(number), whole(gas), f"{name}#{bench} {engine} {n}"


def snapshots():
    """The rows by the number of results, or of quorums."""
    for contract, keys in KEYS.items():
        settlement, hub, optimistic = (SNAPSHOTS / f"{kind}{contract}.json" for kind in ("Settlement", "Hub", "OptimisticSettlement"))
        for path in (settlement, hub, optimistic):
            if not path.exists():
                continue
            for row, gas in json.loads(path.read_text()).items():
                found = None
                if path == settlement and row in ("the same quorum", "the same quorum, two results"):
                    found = ("results", 0, 2 if "two" in row else 1)
                elif path == hub and (quorums := HUB.fullmatch(row)):
                    found = ("hub of", 0, int(quorums[1]))
                elif path == optimistic:
                    found = of_posting(row)
                if found:
                    what, n, number = found
                    yield what, keys, n, number, int(gas), f"{path.relative_to(ROOT)}#{row}"


def drop_ins():
    """The rows of the drop-in for EigenLayer's checker, by the number of operators."""
    path = SNAPSHOTS / "EigenSignatureChecker.json"
    for row, gas in json.loads(path.read_text()).items():
        if (found := DROP_IN.fullmatch(row)) and (what := DROP_INS.get(found[2])):
            n = int(found[1])
            yield what, "-", n, whole(n / 10), int(gas), f"{path.relative_to(ROOT)}#{row}"


def of_posting(row):
    if posted := POSTED.fullmatch(row):
        return "post", int(posted[1].replace(",", "")), 1
    return POSTINGS.get(row)


def main() -> int:
    rows = [*benchmarks(), *snapshots(), *drop_ins()]
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    if TO.exists() and TO.read_text() == text:
        return 0
    name = TO.relative_to(ROOT)
    if "--check" in sys.argv[1:]:
        print(f"{name} is not what the measured rows say; run scripts/cost_table.py")
        return 1
    TO.write_text(text)
    print(f"{name}: {len(rows)} rows written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
