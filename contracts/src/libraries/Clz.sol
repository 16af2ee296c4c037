// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title Whether the chain has the opcode CLZ, "count leading zeros" (EIP-7939)
/// @notice Ethereum has CLZ since Osaka. On a chain without it, a contract that runs CLZ burns all gas of the call. A
/// constructor calls `requireAvailable`, so that such a contract is not deployed there.
///
/// The probe creates a contract of 9 bytes, which counts the leading zeros of the word that it is called with. Then it
/// calls this contract with `PROBE_GAS`. If CLZ is missing, the call burns this gas and no more.
///
/// The created contract takes one nonce of its creator (`NONCES`) and stays there. Its code begins with the byte 0x5f,
/// so it is not a page of `CodePages`, whose code begins with 0x00.
/// @dev NOT checked: other opcodes. What the compiler emits for Cancun and later also needs PUSH0 (EIP-3855) and MCOPY
/// (EIP-5656).
library Clz {
    /// @notice How many nonces of the calling contract the probe takes: the contract's next creation has a nonce that
    /// is larger by this number.
    uint256 internal constant NONCES = 1;

    /// @notice The gas with which the created contract is called: it needs 23 at Osaka's prices, and CLZ 5 of them. The
    /// rest is for chains and times with higher prices.
    uint256 internal constant PROBE_GAS = 20_000;

    /// @dev The code of creation: PUSH9 code, PUSH0, MSTORE, PUSH1 9, PUSH1 23, RETURN. The code that it returns is:
    /// PUSH0, CALLDATALOAD, CLZ, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
    bytes17 private constant CREATION = hex"685f351e5f5260205ff35f5260096017f3";

    /// @notice The chain does not have CLZ.
    error ClzMissing();
    /// @notice The contract of the probe could not be created: there is too little gas, or the call stack is too deep.
    error ProbeNotCreated();

    /// @notice Reverts with ClzMissing unless the chain has CLZ. For constructors. Costs about 34,200 gas, and
    /// `PROBE_GAS` more if CLZ is missing. Takes `NONCES` nonces of the calling contract. Reverts with ProbeNotCreated
    /// if the probe's contract cannot be created.
    function requireAvailable() internal {
        if (!isAvailable()) revert ClzMissing();
    }

    /// @notice Whether the chain has CLZ. It costs what `requireAvailable` costs, takes as many nonces, and reverts with
    /// ProbeNotCreated like it.
    /// @return available Whether it has. False also if the opcode 0x1e does something else there.
    function isAvailable() internal returns (bool available) {
        bytes32 creation = CREATION;
        address probe;
        assembly ("memory-safe") {
            mstore(0x00, creation)
            probe := create(0, 0x00, 17)
        }
        if (probe == address(0)) revert ProbeNotCreated();
        assembly ("memory-safe") {
            // The word 2^155 has 100 leading zeros. An account without code would answer with nothing.
            mstore(0x00, shl(155, 1))
            available := staticcall(PROBE_GAS, probe, 0x00, 0x20, 0x00, 0x20)
            available := and(available, and(eq(returndatasize(), 0x20), eq(mload(0x00), 100)))
        }
    }
}
