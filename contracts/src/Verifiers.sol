// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Keys} from "./curves/Bls12381G2Keys.sol";
import {Bls12381G2NuKeys} from "./curves/Bls12381G2NuKeys.sol";
import {Bn254G1Keys} from "./curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "./curves/Bn254G2Keys.sol";
import {Quorums} from "./Quorums.sol";
import {Verifier} from "./Verifier.sol";

/// @title Verifier with keys in G2 of BN254
/// @notice For chains without EIP-2537 where only a handful of members change from quorum to quorum. About 100 bits of
/// security.
contract VerifierBn254G2 is Verifier, Bn254G2Keys {
    /// @param network The network that this verifier serves.
    /// @param pinned How many slots are pinned.
    constructor(address network, uint256 pinned) Quorums(pinned) Verifier(network) {}
}

/// @title Verifier with keys in G1 of BN254
/// @notice Costs the least where many members change from quorum to quorum; docs/onchain.md says how many. About 100
/// bits of security.
contract VerifierBn254G1 is Verifier, Bn254G1Keys {
    /// @param network The network that this verifier serves.
    /// @param pinned How many slots are pinned.
    constructor(address network, uint256 pinned) Quorums(pinned) Verifier(network) {}
}

/// @title Verifier with keys in G2 of BLS12-381
/// @notice For about 120 bits of security, on a chain with EIP-2537. Any BLS library can sign for it.
contract VerifierBls12381G2 is Verifier, Bls12381G2Keys {
    /// @param network The network that this verifier serves.
    /// @param pinned How many slots are pinned.
    constructor(address network, uint256 pinned) Quorums(pinned) Verifier(network) {}
}

/// @title Verifier with keys in G2 of BLS12-381 and a nonuniform hash
/// @notice Costs the least where fewer members change, with about 120 bits of security, on a chain with EIP-2537. Signers
/// need encode_to_curve of RFC 9380, which BLS libraries have and their ready-made suites do not use.
contract VerifierBls12381G2Nu is Verifier, Bls12381G2NuKeys {
    /// @param network The network that this verifier serves.
    /// @param pinned How many slots are pinned.
    constructor(address network, uint256 pinned) Quorums(pinned) Verifier(network) {}
}
