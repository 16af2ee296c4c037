// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Keys} from "./curves/Bls12381G2Keys.sol";
import {Bn254G1Keys} from "./curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "./curves/Bn254G2Keys.sol";
import {KeyTable} from "./KeyTable.sol";
import {Quorums} from "./Quorums.sol";
import {Verifier} from "./Verifier.sol";

/// @notice For quorums that change by a handful of members: the cheapest while few keys change.
contract VerifierBn254G2 is Verifier, Bn254G2Keys {
    constructor(address network, uint256 leastKeysAPage, uint256 pinned)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Verifier(network)
    {}
}

/// @notice For quorums of which many members change.
contract VerifierBn254G1 is Verifier, Bn254G1Keys {
    constructor(address network, uint256 leastKeysAPage, uint256 pinned)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Verifier(network)
    {}
}

/// @notice For about 120 bits of security, on a chain with EIP-2537.
contract VerifierBls12381G2 is Verifier, Bls12381G2Keys {
    constructor(address network, uint256 leastKeysAPage, uint256 pinned)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Verifier(network)
    {}
}
