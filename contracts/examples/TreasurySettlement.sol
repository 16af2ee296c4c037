// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254G2Keys} from "../src/curves/Bn254G2Keys.sol";
import {ForwardedResults} from "../src/ForwardedResults.sol";
import {IResultReceiver} from "../src/interfaces/IResultReceiver.sol";
import {Quorums} from "../src/Quorums.sol";
import {Settlement} from "../src/Settlement.sol";

/// @title A settlement whose results a treasury pays
contract TreasurySettlement is ForwardedResults, Bn254G2Keys {
    /// @param treasury The treasury, which is made after this contract and names it.
    /// @param registrar Who admits keys and begins epochs.
    constructor(IResultReceiver treasury, address registrar)
        Quorums(1)
        Settlement(registrar, 4)
        ForwardedResults(treasury)
    {}
}
