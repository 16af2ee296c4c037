// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Keys} from "./curves/Bls12381G2Keys.sol";
import {Bls12381G2NuKeys} from "./curves/Bls12381G2NuKeys.sol";
import {Bn254G1Keys} from "./curves/Bn254G1Keys.sol";
import {Deposits} from "./Deposits.sol";
import {OptimisticSettlement} from "./OptimisticSettlement.sol";
import {Quorums} from "./Quorums.sol";
import {Settlement} from "./Settlement.sol";

// With keys in G2 of BN254 there is no room: the code of that settlement alone comes near the most that one may have.

/// @title An optimistic settlement that keeps no results
abstract contract PlainOptimisticSettlement is OptimisticSettlement {
    /// @param registrar The only address that may admit keys, begin epochs and pin bases.
    /// @param pinned How many slots are pinned.
    /// @param changesAStore How many changes have to be paid before a quorum is stored with `RENTAL`.
    /// @param conditions_ The conditions of postings.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, Conditions memory conditions_)
        Quorums(pinned)
        Settlement(registrar, changesAStore)
        Deposits(conditions_)
    {}

    /// @inheritdoc OptimisticSettlement
    function _mustFinish() internal pure override returns (bool) {
        return false;
    }
}

/// @title `SettlementBls12381G2`, to which results may also be posted without a proof
contract OptimisticSettlementBls12381G2 is PlainOptimisticSettlement, Bls12381G2Keys {
    /// @dev As that of `PlainOptimisticSettlement`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, Conditions memory conditions_)
        PlainOptimisticSettlement(registrar, pinned, changesAStore, conditions_)
    {}
}

/// @title `SettlementBls12381G2Nu`, to which results may also be posted without a proof
contract OptimisticSettlementBls12381G2Nu is PlainOptimisticSettlement, Bls12381G2NuKeys {
    /// @dev As that of `PlainOptimisticSettlement`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, Conditions memory conditions_)
        PlainOptimisticSettlement(registrar, pinned, changesAStore, conditions_)
    {}
}

/// @title `SettlementBn254G1`, to which results may also be posted without a proof
contract OptimisticSettlementBn254G1 is PlainOptimisticSettlement, Bn254G1Keys {
    /// @dev As that of `PlainOptimisticSettlement`.
    constructor(address registrar, uint256 pinned, uint256 changesAStore, Conditions memory conditions_)
        PlainOptimisticSettlement(registrar, pinned, changesAStore, conditions_)
    {}
}
