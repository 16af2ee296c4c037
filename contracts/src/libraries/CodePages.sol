// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Data kept as the code of contracts
/// @notice A page costs 200 gas a byte to write and 2,600 to open, whatever is read from it; a storage slot is 2,100 for 32
/// bytes. Its code is `0x00 ‖ kind (1) ‖ number (8) ‖ payload`: it cannot be executed, and it says itself what it is.
///
/// A page is named by the nonce with which its creator made it, and its address follows from that, so no slot has to be read
/// to find it. Whoever reads a page that a caller named must check kind and number; that nobody else's contract stands at the
/// address is what CREATE guarantees. A contract that makes pages must create nothing else.
library CodePages {
    /// @notice Bytes before the payload.
    uint256 internal constant HEADER = 10;

    /// @notice EIP-170's limit of 24,576 bytes, less the header.
    uint256 internal constant MOST_PAYLOAD = 24_566;

    error PageTooLong(uint256 length);
    error PageNotCreated();
    /// @notice No contract was made with this nonce, or it is no page of the kind that was wanted.
    error NoSuchPage(uint256 nonce);

    /// @notice Makes a page. The caller's CREATE nonce goes up by one.
    function create(uint8 kind, uint64 number, bytes memory payload) internal returns (address page) {
        require(payload.length <= MOST_PAYLOAD, PageTooLong(payload.length));
        // Init code that returns what follows it: PUSH2 length, DUP1, PUSH1 10, RETURNDATASIZE (0), CODECOPY,
        // RETURNDATASIZE, RETURN.
        bytes memory code = abi.encodePacked(
            hex"61", uint16(payload.length + HEADER), hex"80600a3d393df3", uint8(0), kind, number, payload
        );
        assembly ("memory-safe") {
            page := create(0, add(code, 0x20), mload(code))
        }
        require(page != address(0), PageNotCreated());
    }

    /// @notice The address of what `creator` makes with this nonce: the last 20 bytes of keccak256(rlp([creator, nonce])).
    /// @dev Nonces from 1 to 2^32 - 1, which RLP writes in up to five bytes.
    function addressOf(address creator, uint256 nonce) internal pure returns (address) {
        bytes memory rlp;
        if (nonce < 0x80) rlp = abi.encodePacked(hex"d694", creator, uint8(nonce));
        else if (nonce < 0x100) rlp = abi.encodePacked(hex"d794", creator, hex"81", uint8(nonce));
        else if (nonce < 0x10000) rlp = abi.encodePacked(hex"d894", creator, hex"82", uint16(nonce));
        else if (nonce < 0x1000000) rlp = abi.encodePacked(hex"d994", creator, hex"83", uint24(nonce));
        else rlp = abi.encodePacked(hex"da94", creator, hex"84", uint32(nonce));
        return address(uint160(uint256(keccak256(rlp))));
    }

    /// @notice The page that this contract made with a nonce, if it is of a kind; the number in its header, and how long its
    /// payload is. 2,600 gas and about 500.
    function open(uint256 nonce, uint8 kind) internal view returns (address page, uint256 number, uint256 length) {
        page = addressOf(address(this), nonce);
        uint256 header;
        uint256 size;
        assembly ("memory-safe") {
            extcodecopy(page, 0x00, 0, 0x20)
            header := mload(0x00)
            size := extcodesize(page)
        }
        // Of an address without code nothing but zeros is read, and no kind is zero.
        require(size >= HEADER && header >> 240 == kind, NoSuchPage(nonce));
        number = (header >> 176) & type(uint64).max;
        length = size - HEADER;
    }

    /// @notice Copies a stretch of a page's payload to memory. Bytes beyond its end are zeros: the caller knows the length.
    function read(address page, uint256 offset, uint256 length, uint256 to) internal view {
        // Not memory-safe by itself: `to` is memory that the caller allocated.
        assembly {
            extcodecopy(page, to, add(offset, 10), length)
        }
    }
}
