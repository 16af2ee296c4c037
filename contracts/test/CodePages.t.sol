// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {CodePages} from "../src/libraries/CodePages.sol";

contract CodePagesTest is Test {
    /// @dev What `addressOf` computes, in plain Solidity.
    function _plain(address creator, uint256 nonce) private pure returns (address) {
        bytes memory rlp;
        if (nonce < 0x80) rlp = abi.encodePacked(hex"d694", creator, uint8(nonce));
        else if (nonce < 0x100) rlp = abi.encodePacked(hex"d794", creator, hex"81", uint8(nonce));
        else if (nonce < 0x10000) rlp = abi.encodePacked(hex"d894", creator, hex"82", uint16(nonce));
        else if (nonce < 0x1000000) rlp = abi.encodePacked(hex"d994", creator, hex"83", uint24(nonce));
        else rlp = abi.encodePacked(hex"da94", creator, hex"84", uint32(nonce));
        return address(uint160(uint256(keccak256(rlp))));
    }

    function testFuzz_addresses(address creator, uint256 nonce, uint256 shift) public pure {
        nonce >>= shift % 256;
        dirtyMemory();
        assertEq(CodePages.addressOf(creator, nonce), _plain(creator, uint32(nonce)), "address");
    }

    function test_addressesAtTheEdges() public view {
        uint256[9] memory nonces = [uint256(1), 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000];
        for (uint256 i = 0; i < nonces.length; i++) {
            assertEq(CodePages.addressOf(address(this), nonces[i]), _plain(address(this), nonces[i]), "address");
        }
    }

    function create(uint8 kind, uint64 number, bytes memory payload) external returns (address) {
        return CodePages.create(kind, number, payload);
    }

    /// @notice A page's code is its header and its payload. The payload in memory stays as it was.
    function testFuzz_theCodeOfAPage(uint8 kind, uint64 number, bytes memory payload) public {
        bytes memory kept = bytes.concat(payload);
        dirtyMemory();
        address page = CodePages.create(kind, number, payload);
        assertEq(page.code, abi.encodePacked(uint8(0), kind, number, kept), "code");
        assertEq(payload, kept, "payload");
    }

    /// @notice The longest payload, one byte more, and lengths whose low bits would make a shorter page.
    function test_theLongestPage() public {
        assertEq(this.create(1, 2, new bytes(24_566)).code.length, 24_576, "the longest");
        uint256[3] memory lengths = [uint256(24_567), 65_536 - 10, 65_536 + 5];
        for (uint256 i = 0; i < 3; i++) {
            vm.expectRevert(abi.encodeWithSelector(CodePages.PageTooLong.selector, lengths[i]));
            this.create(1, 2, new bytes(lengths[i]));
        }
    }

    /// @notice The gas of a call pays for no page of this length, so no contract is created.
    function test_trap_tooLittleGasForAPage() public {
        vm.expectRevert(CodePages.PageNotCreated.selector);
        this.create{gas: 1_000_000}(1, 2, new bytes(24_566));
    }

    /// @notice Opens pages in both ways, over memory that is not clean, and reads beyond their end.
    function test_opened() public {
        CodePages.create(7, 0x0102030405060708, hex"c0ffee");
        dirtyMemory();
        (address page, uint256 number) = CodePages.open(1, 7, 0);
        assertEq(number, 0x0102030405060708, "number");
        bytes memory payload = new bytes(5);
        uint256 to;
        assembly {
            to := add(payload, 0x20)
        }
        CodePages.read(page, 1, 5, to);
        assertEq(payload, hex"ffee000000", "payload");
        bytes memory whole = new bytes(CodePages.HEADER + 4);
        assembly {
            to := add(whole, 0x20)
        }
        assertEq(CodePages.load(1, 7, 4, to), 0x0102030405060708, "number");
        assertEq(whole, hex"00070102030405060708c0ffee00", "page");
    }

    /// @notice Compares addresses with those that forge computes, around every length that a nonce has in RLP.
    function test_addressesOfEveryLengthOfNonce() public {
        uint256 made = 1;
        for (uint256 nonce = 1; nonce < 300; nonce++) {
            address page = CodePages.create(1, uint64(nonce), hex"c0ffee");
            assertEq(page, CodePages.addressOf(address(this), made++), "address");
        }
    }
}
