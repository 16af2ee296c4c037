// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Clz} from "../src/libraries/Clz.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {Meter} from "./mocks/Meter.sol";
import {Test, vm} from "./Test.sol";

interface Versions {
    function setEvmVersion(string calldata evm) external;
}

/// @notice Needs CLZ, as the contracts that settle quorums do.
contract NeedsClz {
    address public immutable next;

    constructor() {
        Clz.requireAvailable();
        next = address(new Nothing());
    }
}

contract Nothing {}

/// @notice Calls the library and measures it.
contract ClzCaller {
    function isAvailable() external returns (bool available, uint256 used) {
        uint256 start = gasleft();
        available = Clz.isAvailable();
        used = start - gasleft();
    }

    function make() external returns (address) {
        return address(new NeedsClz());
    }

    function opens(uint256 nonce, uint8 kind) external view returns (address page) {
        (page,) = CodePages.open(nonce, kind, 0);
    }

    /// @notice Whether the probe's contract answers with this gas.
    function answers(address probe, uint256 limit) external view returns (bool ok) {
        (ok,) = probe.staticcall{gas: limit}(abi.encode(uint256(1)));
    }

    function leadingZeros(address probe, uint256 word) external view returns (uint256) {
        (bool ok, bytes memory answer) = probe.staticcall(abi.encode(word));
        require(ok, "the probe answers");
        return abi.decode(answer, (uint256));
    }
}

contract ClzTest is Test {
    ClzCaller private immutable caller = new ClzCaller();
    Meter private immutable meter = new Meter();

    /// @notice The hard fork before Osaka. Afterwards every call and every creation of the test runs under its rules.
    function toPrague() private {
        Versions(address(vm)).setEvmVersion("prague");
    }

    function test_osaka_has_clz() public {
        (bool available, uint256 used) = caller.isAvailable();
        assertTrue(available, "available");
        vm.snapshotValue("Clz", "probe, with CLZ", used);
        assertTrue(used < 34_500, "a creation and a call");
    }

    function test_prague_does_not_and_the_probe_burns_a_bounded_amount() public {
        toPrague();
        (bool available, uint256 used) = caller.isAvailable();
        assertTrue(!available, "not available");
        vm.snapshotValue("Clz", "probe, without CLZ", used);
        assertTrue(used > Clz.PROBE_GAS && used < 34_500 + Clz.PROBE_GAS, "the gas of the probe and no more");
    }

    /// @notice The gas that a failed deployment burns does not depend on the gas that it was given.
    function test_deployment_without_clz_reverts_and_burns_little() public {
        toPrague();
        uint256[3] memory limits = [uint256(300_000), 1_000_000, 16_000_000];
        for (uint256 i = 0; i < limits.length; ++i) {
            (bool ok, bytes memory answer, uint256 burnt) =
                meter.measure(address(caller), abi.encodeCall(caller.make, ()), limits[i]);
            assertTrue(!ok, "reverts");
            assertEq(answer, abi.encodeWithSelector(Clz.ClzMissing.selector), "says why");
            assertTrue(burnt > 34_000 + Clz.PROBE_GAS && burnt < 100_000, "two creations and the gas of the probe");
        }
    }

    function test_deployment_with_clz_takes_exactly_the_nonces_that_it_says() public {
        NeedsClz made = new NeedsClz();
        assertEq(made.next(), vm.computeCreateAddress(address(made), 1 + Clz.NONCES), "the creation after the probe");
        assertEq(vm.getNonce(address(made)), 2 + Clz.NONCES, "and no other");
    }

    /// @notice A page's code begins with 0x00. No kind makes the probe's contract pass for one.
    function test_trap_the_probe_is_no_page() public {
        caller.isAvailable();
        address probe = vm.computeCreateAddress(address(caller), 1);
        assertEq(bytes(probe.code), hex"5f351e5f5260205ff3", "its code");
        for (uint256 kind = 1; kind < 256; ++kind) {
            vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, 1));
            caller.opens(1, uint8(kind));
        }
    }

    /// @notice The gas of the probe leaves room for prices that are many times as high.
    function test_the_probe_needs_little() public {
        caller.isAvailable();
        address probe = vm.computeCreateAddress(address(caller), 1);
        assertTrue(caller.answers(probe, 23) && !caller.answers(probe, 22), "23 gas");
        assertTrue(Clz.PROBE_GAS > 100 * 23, "room");
    }

    function testFuzz_the_probe_counts_leading_zeros(uint256 word, uint256 shift) public {
        caller.isAvailable();
        address probe = vm.computeCreateAddress(address(caller), 1);
        word >>= bound(shift, 0, 256);
        uint256 zeros = 0;
        while (zeros < 256 && word < 2 ** (255 - zeros)) ++zeros;
        assertEq(caller.leadingZeros(probe, word), zeros, "leading zeros");
    }

    /// @notice With too little gas for the creation, the probe reverts, and does not say that CLZ is missing.
    function testFuzz_too_little_gas_is_not_a_missing_opcode(uint256 gas) public {
        (bool ok, bytes memory answer) =
            address(caller).call{gas: bound(gas, 0, 40_000)}(abi.encodeCall(caller.isAvailable, ()));
        if (!ok) return assertTrue(bytes4(answer) != Clz.ClzMissing.selector, "for another reason");
        (bool available,) = abi.decode(answer, (bool, uint256));
        assertTrue(available, "available");
    }
}
