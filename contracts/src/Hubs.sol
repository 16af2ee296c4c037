// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {UniformBls12381Hash, NonuniformBls12381Hash} from "./curves/Bls12381Hash.sol";
import {Bls12381G2Keys} from "./curves/Bls12381G2Keys.sol";
import {Bls12381G2NuKeys} from "./curves/Bls12381G2NuKeys.sol";
import {Bn254G1Keys} from "./curves/Bn254G1Keys.sol";
import {HubBls12381G2Sums} from "./curves/HubBls12381G2Sums.sol";
import {HubBn254G1Sums} from "./curves/HubBn254G1Sums.sol";
import {HubSettlement} from "./HubSettlement.sol";
import {Quorums} from "./Quorums.sol";
import {Settlement} from "./Settlement.sol";

/// @title A hub for settlements of the kind `HubSettlementBls12381G2`
contract HubBls12381G2 is HubBls12381G2Sums, UniformBls12381Hash {}

/// @title A hub for settlements of the kind `HubSettlementBls12381G2Nu`
contract HubBls12381G2Nu is HubBls12381G2Sums, NonuniformBls12381Hash {}

/// @title A hub for settlements of the kind `HubSettlementBn254G1`
contract HubBn254G1 is HubBn254G1Sums {}

/// @title `SettlementBls12381G2`, whose quorums a hub may prove
contract HubSettlementBls12381G2 is HubSettlement, Bls12381G2Keys {
    /// @param registrar The only address that may admit keys, begin epochs and pin bases.
    /// @param pinned How many slots are pinned.
    /// @param changesAStore How many changes have to be paid before a quorum is stored with `RENTAL`.
    /// @param hub The hub, a `HubBls12381G2`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, address hub)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
        HubSettlement(hub)
    {}
}

/// @title `SettlementBls12381G2Nu`, whose quorums a hub may prove
contract HubSettlementBls12381G2Nu is HubSettlement, Bls12381G2NuKeys {
    /// @param registrar The only address that may admit keys, begin epochs and pin bases.
    /// @param pinned How many slots are pinned.
    /// @param changesAStore How many changes have to be paid before a quorum is stored with `RENTAL`.
    /// @param hub The hub, a `HubBls12381G2Nu`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, address hub)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
        HubSettlement(hub)
    {}
}

/// @title `SettlementBn254G1`, whose quorums a hub may prove
contract HubSettlementBn254G1 is HubSettlement, Bn254G1Keys {
    /// @param registrar The only address that may admit keys, begin epochs and pin bases.
    /// @param pinned How many slots are pinned.
    /// @param changesAStore How many changes have to be paid before a quorum is stored with `RENTAL`.
    /// @param hub The hub, a `HubBn254G1`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, address hub)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
        HubSettlement(hub)
    {}
}
