#!/usr/bin/env python3
"""Writes what Rust needs of the compiled contracts, ABI and creation code, to crates/quorate-evm/abi.

They are in git so that the crates build without npm. With --check nothing is written, and a difference is an error.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "contracts" / "out"
TO = ROOT / "crates" / "quorate-evm" / "abi"
CONTRACTS = {
    "Settlements.sol": ["SettlementBn254G2", "SettlementBn254G1", "SettlementBls12381G2", "SettlementBls12381G2Nu"],
    "TaskNetwork.sol": ["TaskNetwork"],
    "Hubs.sol": ["HubBls12381G2", "HubBls12381G2Nu", "HubSettlementBls12381G2", "HubSettlementBls12381G2Nu"],
    "Verifiers.sol": ["VerifierBn254G2", "VerifierBn254G1", "VerifierBls12381G2", "VerifierBls12381G2Nu"],
    "TestToken.sol": ["TestToken"],
    "Baselines.sol": ["SumOfAll", "ExactMatchCache", "DifferenceCache"],
    "EigenChecker.sol": ["EigenChecker", "EigenDeployment"],
}


def artifact(source: str, name: str) -> str:
    compiled = json.loads((OUT / source / f"{name}.json").read_text())
    kept = {"abi": compiled["abi"], "bytecode": {"object": compiled["bytecode"]["object"]}}
    return json.dumps(kept, separators=(",", ":")) + "\n"


def main() -> int:
    check = "--check" in sys.argv[1:]
    differ = []
    TO.mkdir(parents=True, exist_ok=True)
    for source, names in CONTRACTS.items():
        for name in names:
            path, text = TO / f"{name}.json", artifact(source, name)
            if path.exists() and path.read_text() == text:
                continue
            differ.append(path.relative_to(ROOT))
            if not check:
                path.write_text(text)
    for path in differ:
        print(f"{path}: {'is not what the contracts compile to; run make contracts' if check else 'written'}")
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
