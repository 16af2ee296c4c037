#!/usr/bin/env python3
"""Writes what Rust needs of the compiled contracts: ABI and creation code to crates/quorate-evm/abi, those of the baselines to
crates/quorate-bench/abi, and what the contracts' errors mean to crates/quorate-chain/errors.json.

They are in git so that the crates build without npm. With --check nothing is written, and a difference is an error.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "contracts" / "out"
TO = ROOT / "crates" / "quorate-evm" / "abi"
BASELINES_TO = ROOT / "crates" / "quorate-bench" / "abi"
ERRORS = ROOT / "crates" / "quorate-chain" / "errors.json"
CONTRACTS = {
    "Settlements.sol": ["SettlementBn254G2", "SettlementBn254G1", "SettlementBls12381G2", "SettlementBls12381G2Nu"],
    "TaskNetwork.sol": ["TaskNetwork"],
    "Hubs.sol": ["HubBls12381G2", "HubBls12381G2Nu", "HubSettlementBls12381G2", "HubSettlementBls12381G2Nu"],
    "Verifiers.sol": ["VerifierBn254G2", "VerifierBn254G1", "VerifierBls12381G2", "VerifierBls12381G2Nu"],
    "TestToken.sol": ["TestToken"],
    "StakeRegistrar.sol": ["StakeRegistrar"],
}
# What the benchmarks compare with.
BASELINES = {
    "Baselines.sol": ["SumOfAll", "ExactMatchCache", "DifferenceCache"],
    "EigenChecker.sol": ["EigenChecker", "EigenDeployment"],
}
# The contracts that a transaction may call. Their errors are explained by the comments beside them.
EXPLAINED = {
    "Settlements.sol": CONTRACTS["Settlements.sol"],
    "Hubs.sol": CONTRACTS["Hubs.sol"],
    "EigenLayerRegistrar.sol": ["EigenLayerRegistrar"],
    "SymbioticRegistrar.sol": ["SymbioticRegistrar"],
    "TaskNetwork.sol": ["TaskNetwork"],
    "Verifiers.sol": CONTRACTS["Verifiers.sol"],
}


def artifact(source: str, name: str) -> str:
    compiled = json.loads((OUT / source / f"{name}.json").read_text())
    kept = {"abi": compiled["abi"], "bytecode": {"object": compiled["bytecode"]["object"]}}
    return json.dumps(kept, separators=(",", ":")) + "\n"


def errors() -> str:
    """Each error by its signature: the names of its parameters, and what it means, from the comment in the contract."""
    explained = {}
    for source, names in EXPLAINED.items():
        for name in names:
            compiled = json.loads((OUT / source / f"{name}.json").read_text())
            comments = json.loads(compiled["rawMetadata"])["output"]
            user, dev = (comments[kind].get("errors", {}) for kind in ("userdoc", "devdoc"))
            for error in compiled["abi"]:
                if error["type"] != "error":
                    continue
                signature = f"{error['name']}({','.join(parameter['type'] for parameter in error['inputs'])})"
                means = [comment["notice"] for comment in user.get(signature, []) if "notice" in comment]
                means += [comment["details"] for comment in dev.get(signature, []) if "details" in comment]
                if not means:
                    sys.exit(f"{source}: error {signature} has no comment that explains it")
                names_of = [parameter["name"] for parameter in error["inputs"]]
                explained.setdefault(signature, {"parameters": names_of, "means": means[0]})
    return json.dumps(explained, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    check = "--check" in sys.argv[1:]
    differ = []
    wanted = {}
    for folder, contracts in ((TO, CONTRACTS), (BASELINES_TO, BASELINES)):
        folder.mkdir(parents=True, exist_ok=True)
        wanted |= {folder / f"{name}.json": artifact(source, name) for source, names in contracts.items() for name in names}
    for path, text in {**wanted, ERRORS: errors()}.items():
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
