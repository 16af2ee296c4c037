// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {EigenFixture} from "./EigenFixture.sol";
import {vm} from "./Test.sol";
import {IBLSSignatureChecker} from "../src/interfaces/IBLSSignatureChecker.sol";
import {HashToBn254Counting} from "../src/libraries/HashToBn254Counting.sol";

/// @notice Gas of whole transactions: `checkSignatures` of the drop-in beside that of theirs, rebuilt, where each tenth operator
/// is absent; and what a snapshot costs. The message's point is found in two steps, which is the mean.
contract EigenSignatureCheckerGasTest is EigenFixture {
    bytes private constant THREE = hex"000102";

    function _group() private pure returns (string memory) {
        return "EigenSignatureChecker";
    }

    function _measure(uint256 n, bytes memory quorums, bool proxies) private {
        vm.roll(100);
        _deploy(proxies, false, quorums.length);
        for (uint256 i = 0; i < n; i++) {
            _join(quorums, uint96(1e18 * (i + 1)));
        }
        vm.roll(110);
        string memory name = string.concat(
            vm.toString(n),
            " operators, ",
            quorums.length == 1 ? "1 quorum" : "3 quorums",
            proxies ? ", registries behind proxies: " : ": "
        );
        uint256 page = _take(105, quorums);
        if (!proxies) vm.snapshotGasLastCall(_group(), string.concat(name, "take"));
        vm.roll(200);
        uint256 set = 0;
        for (uint256 i = 0; i < n / 10; i++) {
            set |= 1 << (10 * i);
        }
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _encodedAsTheirs(_message(), 150, quorums, set);
        bytes memory expected = _call(address(_theirs), quorums, params, string.concat(name, "theirs"));
        _same(_call(address(_checker), quorums, params, string.concat(name, "their encoding")), expected);
        params = _encoded(_message(), page, true, 150, quorums, set);
        _same(_call(address(_checker), quorums, params, string.concat(name, "by the registries")), expected);
        _checker.extend(page);
        vm.snapshotGasLastCall(_group(), string.concat(name, "extend, the first time"));
        vm.roll(210);
        _checker.extend(page);
        vm.snapshotGasLastCall(_group(), string.concat(name, "extend"));
        params = _encoded(_message(), page, false, 150, quorums, set);
        _same(_call(address(_checker), quorums, params, string.concat(name, "proved")), expected);
    }

    function _call(
        address checker,
        bytes memory quorums,
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params,
        string memory name
    ) private returns (bytes memory) {
        (bool done, bytes memory answer) = _check(checker, _message(), quorums, 150, params);
        assertTrue(done, name);
        vm.snapshotGasLastCall(_group(), name);
        return answer;
    }

    function _same(bytes memory answer, bytes memory expected) private pure {
        assertEq(answer, expected, "another answer than theirs");
    }

    /// @dev The first message whose point is found in two steps.
    function _message() private view returns (bytes32 message) {
        for (uint256 i = 0; HashToBn254Counting.find(message).length != 2; i++) {
            message = keccak256(abi.encode(i));
        }
    }

    function test_gas_10() public {
        _measure(10, hex"00", false);
    }

    function test_gas_50() public {
        _measure(50, hex"00", false);
    }

    function test_gas_100() public {
        _measure(100, hex"00", false);
    }

    function test_gas_200() public {
        _measure(200, hex"00", false);
    }

    function test_gas_threeQuorums_10() public {
        _measure(10, THREE, false);
    }

    function test_gas_threeQuorums_50() public {
        _measure(50, THREE, false);
    }

    function test_gas_threeQuorums_100() public {
        _measure(100, THREE, false);
    }

    function test_gas_threeQuorums_200() public {
        _measure(200, THREE, false);
    }

    function test_gas_proxies_100() public {
        _measure(100, hex"00", true);
    }
}
