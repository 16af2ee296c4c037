// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Keys} from "./curves/Bls12381G2Keys.sol";
import {Bn254G1Keys} from "./curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "./curves/Bn254G2Keys.sol";
import {KeyTable} from "./KeyTable.sol";
import {Quorums} from "./Quorums.sol";
import {Settlement} from "./Settlement.sol";

/// @notice For quorums that change by a handful of members: the cheapest while few keys change.
contract SettlementBn254G2 is Settlement, Bn254G2Keys {
    constructor(address registrar, uint256 leastKeysAPage, uint256 pinned, uint256 changesAStore)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
    {}
}

/// @notice For quorums of which many members change.
contract SettlementBn254G1 is Settlement, Bn254G1Keys {
    constructor(address registrar, uint256 leastKeysAPage, uint256 pinned, uint256 changesAStore)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
    {}
}

/// @notice For about 120 bits of security, on a chain with EIP-2537.
contract SettlementBls12381G2 is Settlement, Bls12381G2Keys {
    constructor(address registrar, uint256 leastKeysAPage, uint256 pinned, uint256 changesAStore)
        KeyTable(leastKeysAPage)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
    {}
}
