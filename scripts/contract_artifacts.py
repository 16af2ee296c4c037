#!/usr/bin/env python3
"""Writes what Rust needs of the compiled contracts: interfaces to crates/quorate-evm/abi, creation code to
crates/quorate-evm/code, both of the baselines to crates/quorate-bench/abi, and what the contracts' errors mean to
crates/quorate-chain/errors.json.

They are in git so that the crates build without npm. With --check nothing is written, and a difference is an error.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "contracts" / "out"
INTERFACES_TO = ROOT / "crates" / "quorate-evm" / "abi"
CODE_TO = ROOT / "crates" / "quorate-evm" / "code"
BASELINES_TO = ROOT / "crates" / "quorate-bench" / "abi"
ERRORS = ROOT / "crates" / "quorate-chain" / "errors.json"
SETTLEMENTS = ["SettlementBn254G2", "SettlementBn254G1", "SettlementBls12381G2", "SettlementBls12381G2Nu"]
VERIFIERS = ["VerifierBn254G2", "VerifierBn254G1", "VerifierBls12381G2", "VerifierBls12381G2Nu"]
HUBS = ["HubBn254G1", "HubBls12381G2", "HubBls12381G2Nu"]
HUB_SETTLEMENTS = ["HubSettlementBn254G1", "HubSettlementBls12381G2", "HubSettlementBls12381G2Nu"]
OPTIMISTIC_SETTLEMENTS = [
    "OptimisticSettlementBls12381G2",
    "OptimisticSettlementBls12381G2Nu",
    "OptimisticSettlementBn254G1",
]
# The contracts that have one interface. They differ by their keys, and so by some of their errors.
INTERFACES = {
    "Settlement": ("Settlements.sol", SETTLEMENTS),
    "Verifier": ("Verifiers.sol", VERIFIERS),
    "Hub": ("Hubs.sol", HUBS),
    "HubSettlement": ("Hubs.sol", HUB_SETTLEMENTS),
    "OptimisticSettlement": ("OptimisticSettlements.sol", OPTIMISTIC_SETTLEMENTS),
    "TaskNetwork": ("TaskNetwork.sol", ["TaskNetwork"]),
    "RestakedTaskNetwork": ("RestakedTaskNetwork.sol", ["RestakedTaskNetwork"]),
    "StakeRegistrar": ("StakeRegistrar.sol", ["StakeRegistrar"]),
    "TestToken": ("TestToken.sol", ["TestToken"]),
}
# The contracts that Rust deploys.
DEPLOYED = ["Settlement", "Verifier", "Hub", "HubSettlement", "OptimisticSettlement", "TaskNetwork", "TestToken"]
# What the benchmarks compare with.
BASELINES = {
    "Baselines.sol": ["SumOfAll", "ExactMatchCache", "DifferenceCache"],
    "EigenChecker.sol": ["EigenChecker", "EigenDeployment"],
}
# The contracts that a transaction may call. Their errors are explained by the comments beside them.
EXPLAINED = {
    "Settlements.sol": SETTLEMENTS,
    "Hubs.sol": HUBS + HUB_SETTLEMENTS,
    "EigenSignatureChecker.sol": ["EigenSignatureChecker"],
    "OptimisticSettlements.sol": OPTIMISTIC_SETTLEMENTS,
    "EigenLayerRegistrar.sol": ["EigenLayerRegistrar"],
    "SymbioticRegistrar.sol": ["SymbioticRegistrar"],
    "TaskNetwork.sol": ["TaskNetwork"],
    "RestakedTaskNetwork.sol": ["RestakedTaskNetwork"],
    "EigenLayerSource.sol": ["EigenLayerSource"],
    "SymbioticSource.sol": ["SymbioticSource"],
    "Verifiers.sol": VERIFIERS,
}


def compiled(source: str, name: str) -> dict:
    return json.loads((OUT / source / f"{name}.json").read_text())


def dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def interface(source: str, names: list[str]) -> list:
    """What the contracts have in common, which must be all but their errors, and the errors of all."""
    abis = [compiled(source, name)["abi"] for name in names]
    common, *others = [[entry for entry in abi if entry["type"] != "error"] for abi in abis]
    if any(other != common for other in others):
        sys.exit(f"{', '.join(names)}: found different interfaces, expected one that differs in its errors alone")
    raised = {dumped(entry): entry for abi in abis for entry in abi if entry["type"] == "error"}
    return common + [raised[key] for key in sorted(raised)]


def plain(entry: dict) -> dict:
    """The same with the types of the ABI for all but structs."""
    parts = {key: [plain(each) for each in entry[key]] for key in ("inputs", "outputs", "components") if key in entry}
    if "internalType" in entry and not entry["type"].startswith("tuple"):
        parts["internalType"] = entry["type"]
    return {**entry, **parts}


def interfaces() -> dict[str, list]:
    found = {name: interface(*contracts) for name, contracts in INTERFACES.items()}
    # The settlement of a hub, and one to which results are posted, are settlements: what they add is what their interfaces say.
    settlement = [entry for entry in found["Settlement"] if entry["type"] != "constructor"]
    for name in ("HubSettlement", "OptimisticSettlement"):
        found[name] = [entry for entry in found[name] if entry not in settlement]
    # So is a network with restaked operators a network. Rust deploys none, and what it refuses has the selectors of a network.
    found["RestakedTaskNetwork"] = [
        entry
        for entry in found["RestakedTaskNetwork"]
        if entry not in found["TaskNetwork"] and entry["type"] != "constructor" and entry.get("stateMutability") != "pure"
    ]
    # `sol!` does not find a type of the contracts' own that is a member of a struct.
    found["OptimisticSettlement"] = [plain(entry) for entry in found["OptimisticSettlement"]]
    return found


def code(source: str, name: str) -> bytes:
    return bytes.fromhex(compiled(source, name)["bytecode"]["object"].removeprefix("0x"))


def baseline(source: str, name: str) -> str:
    artifact = compiled(source, name)
    return dumped({"abi": artifact["abi"], "bytecode": {"object": artifact["bytecode"]["object"]}})


def errors() -> str:
    """Each error by its signature: the names of its parameters, and what it means, from the comment in the contract."""
    explained = {}
    for source, names in EXPLAINED.items():
        for name in names:
            artifact = compiled(source, name)
            comments = json.loads(artifact["rawMetadata"])["output"]
            user, dev = (comments[kind].get("errors", {}) for kind in ("userdoc", "devdoc"))
            for error in artifact["abi"]:
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
    wanted = {ERRORS: errors().encode()}
    wanted |= {INTERFACES_TO / f"{name}.json": dumped(abi).encode() for name, abi in interfaces().items()}
    for source, names in (INTERFACES[name] for name in DEPLOYED):
        wanted |= {CODE_TO / f"{name}.bin": code(source, name) for name in names}
    for source, names in BASELINES.items():
        wanted |= {BASELINES_TO / f"{name}.json": baseline(source, name).encode() for name in names}
    differ = []
    for path, content in wanted.items():
        if path.exists() and path.read_bytes() == content:
            continue
        differ.append(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in differ:
        print(f"{path}: {'is not what the contracts compile to; run make contracts-snapshots' if check else 'written'}")
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
