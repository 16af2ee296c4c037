// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "../../src/libraries/CodePages.sol";

/// @notice halmos proves each `check` for every input: the address of a page is that of RLP, written out for each length
/// of the nonce.
contract CodePagesSymbolic {
    function check_address_for_nonces_of_no_length_byte(address creator, uint8 nonce) external pure {
        if (nonce == 0 || nonce >= 0x80) return;
        compare(creator, nonce, abi.encodePacked(uint8(0xd6), uint8(0x94), creator, nonce));
    }

    function check_address_for_nonces_of_one_byte(address creator, uint8 nonce) external pure {
        if (nonce < 0x80) return;
        compare(creator, nonce, abi.encodePacked(uint8(0xd7), uint8(0x94), creator, uint8(0x81), nonce));
    }

    // The first byte of a longer nonce is not zero. It takes each value in turn, because halmos needs lengths that are
    // numbers and not formulas.

    function check_address_for_nonces_of_two_bytes(address creator, uint8 rest) external pure {
        for (uint256 first = 1; first < 0x100; ++first) {
            uint16 nonce = uint16(first << 8 | rest);
            compare(creator, nonce, abi.encodePacked(uint8(0xd8), uint8(0x94), creator, uint8(0x82), nonce));
        }
    }

    function check_address_for_nonces_of_three_bytes(address creator, uint16 rest) external pure {
        for (uint256 first = 1; first < 0x100; ++first) {
            uint24 nonce = uint24(first << 16 | rest);
            compare(creator, nonce, abi.encodePacked(uint8(0xd9), uint8(0x94), creator, uint8(0x83), nonce));
        }
    }

    function check_address_for_nonces_of_four_bytes(address creator, uint24 rest) external pure {
        for (uint256 first = 1; first < 0x100; ++first) {
            uint32 nonce = uint32(first << 24 | rest);
            compare(creator, nonce, abi.encodePacked(uint8(0xda), uint8(0x94), creator, uint8(0x84), nonce));
        }
    }

    function compare(address creator, uint256 nonce, bytes memory rlp) private pure {
        assert(CodePages.addressOf(creator, nonce) == address(uint160(uint256(keccak256(rlp)))));
    }
}
