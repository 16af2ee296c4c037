// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Reads of contracts that may misbehave
/// @notice A read never reverts because of what the called contract does. It is a static call, so the called contract
/// can change nothing. It gets at most a stated gas, and only so many bytes of its answer are copied as the reader
/// expects. `change` is the same for a call that is there to change something.
///
/// A caller who passes too little gas could make an honest contract run out of it. So a read reverts unless the stated
/// gas is there: then an answer that is missing is the called contract's own fault.
library Reads {
    /// @dev Gas for the call itself: 2,600 for a cold account and as much again if it delegates its code (EIP-7702), and
    /// what is done around the call.
    uint256 private constant AROUND = 10_000;

    /// @notice The transaction has too little gas left for a read.
    /// @param left The gas that is left.
    /// @param least The gas that has to be left.
    error NotEnoughGas(uint256 left, uint256 least);

    /// @notice Reads one word.
    /// @param target The contract.
    /// @param data The call.
    /// @param gasLimit The gas that the contract gets.
    /// @return done Whether it answered with 32 bytes or more.
    /// @return value The first 32 bytes; 0 if it did not answer so.
    function word(address target, bytes memory data, uint256 gasLimit)
        internal
        view
        returns (bool done, uint256 value)
    {
        uint256 answer;
        (done, answer) = words(target, data, gasLimit, 1);
        assembly ("memory-safe") {
            value := mload(answer)
        }
    }

    /// @notice Reads a boolean.
    /// @param target The contract.
    /// @param data The call.
    /// @param gasLimit The gas that the contract gets.
    /// @return Whether it answered with the word 1. Any other answer, and none, are false.
    function isTrue(address target, bytes memory data, uint256 gasLimit) internal view returns (bool) {
        (, uint256 value) = word(target, data, gasLimit);
        return value == 1;
    }

    /// @notice Reads several words.
    /// @param target The contract.
    /// @param data The call.
    /// @param gasLimit The gas that the contract gets.
    /// @param count How many words are read.
    /// @return done Whether the call succeeded and answered with so many words or more.
    /// @return answer Where in memory the words lie, which is for the reader alone. They are zeros unless `done`.
    function words(address target, bytes memory data, uint256 gasLimit, uint256 count)
        internal
        view
        returns (bool done, uint256 answer)
    {
        _requireGas(gasLimit);
        assembly ("memory-safe") {
            done := staticcall(gasLimit, target, add(data, 0x20), mload(data), 0, 0)
        }
        return _answered(done, count);
    }

    /// @notice Reads a list of words.
    /// @param target The contract.
    /// @param data The call.
    /// @param gasLimit The gas that the contract gets.
    /// @param most The most words that a list may have.
    /// @return answer The list; empty if the contract did not answer with one, or if that is longer.
    function list(address target, bytes memory data, uint256 gasLimit, uint256 most)
        internal
        view
        returns (uint256[] memory answer)
    {
        _requireGas(gasLimit);
        // The answer is 32, the length of the list, and its words. Length and words are copied as they stand.
        assembly ("memory-safe") {
            answer := mload(0x40)
            let length := 0
            if staticcall(gasLimit, target, add(data, 0x20), mload(data), 0, 0) {
                if gt(returndatasize(), 0x3f) {
                    returndatacopy(answer, 0, 0x40)
                    length := mload(add(answer, 0x20))
                    // Of a number above `most` the shift may lose bits, and the list is refused all the same.
                    let whole := iszero(lt(returndatasize(), add(0x40, shl(5, length))))
                    whole := and(whole, and(eq(mload(answer), 0x20), iszero(gt(length, most))))
                    length := mul(length, whole)
                }
            }
            if length { returndatacopy(add(answer, 0x20), 0x40, shl(5, length)) }
            mstore(answer, length)
            mstore(0x40, add(answer, add(0x20, shl(5, length))))
        }
    }

    /// @notice Calls a contract in order to change something in it, and reads several words of its answer.
    /// @dev The called contract may call others, the caller's too. So the caller guards against that.
    /// @param target The contract.
    /// @param data The call.
    /// @param gasLimit The gas that the contract gets.
    /// @param count How many words are read.
    /// @return done Whether the call succeeded and answered with so many words or more. If it succeeded and answered with
    /// fewer, what it changed stays.
    /// @return answer Where in memory the words lie, as in `words`.
    function change(address target, bytes memory data, uint256 gasLimit, uint256 count)
        internal
        returns (bool done, uint256 answer)
    {
        _requireGas(gasLimit);
        assembly ("memory-safe") {
            done := call(gasLimit, target, 0, add(data, 0x20), mload(data), 0, 0)
        }
        return _answered(done, count);
    }

    /// @dev Reverts unless a call gets the stated gas. A call passes at most 63/64 of the gas that is left.
    function _requireGas(uint256 gasLimit) private view {
        uint256 least = gasLimit + gasLimit / 63 + AROUND;
        require(gasleft() >= least, NotEnoughGas(gasleft(), least));
    }

    /// @dev Copies the words of the last call's answer, or zeros. Assembly, because the compiler's call copies the whole
    /// answer, and its length is the called contract's choice.
    function _answered(bool succeeded, uint256 count) private pure returns (bool done, uint256 answer) {
        assembly ("memory-safe") {
            answer := mload(0x40)
            let length := shl(5, count)
            mstore(0x40, add(answer, length))
            done := and(succeeded, iszero(lt(returndatasize(), length)))
            switch done
            case 0 { calldatacopy(answer, calldatasize(), length) }
            default { returndatacopy(answer, 0, length) }
        }
    }
}
