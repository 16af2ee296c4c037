// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Data kept as the code of contracts
/// @notice A page costs 200 gas a byte to write and 2,600 to open, whatever is read from it; a storage slot is 2,100 for 32
/// bytes. Its code is `0x00 ‖ kind (1) ‖ number (8) ‖ payload`: it cannot be executed, and it says itself what it is. How much
/// payload there is its number has to say, where a reader wants to know: asking for the size of the code costs 100 gas more.
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
    /// @dev Nonces from 1 to 2^32 - 1: RLP writes those below 0x80 as they are, others behind 0x80 + their length, at most 27
    /// bytes in all. Assembly, because abi.encodePacked takes 350 gas more and each page that is opened pays them.
    function addressOf(address creator, uint256 nonce) internal pure returns (address page) {
        assembly ("memory-safe") {
            let length := 0
            if gt(nonce, 0x7f) {
                length := add(add(add(1, gt(nonce, 0xff)), gt(nonce, 0xffff)), gt(nonce, 0xffffff))
                nonce := or(shl(shl(3, length), add(0x80, length)), nonce)
            }
            // 0xd6 + length: a list of so many bytes. 0x94: 20 bytes follow.
            let list := or(shl(160, add(0xd694, shl(8, length))), shr(96, shl(96, creator)))
            mstore(0x00, or(shl(shl(3, add(1, length)), list), nonce))
            page := shr(96, shl(96, keccak256(sub(9, length), add(23, length))))
        }
    }

    /// @notice The page that this contract made with a nonce, if it is of a kind, and the number in its header. 2,600 gas and
    /// about 370.
    function open(uint256 nonce, uint8 kind) internal view returns (address page, uint256 number) {
        page = addressOf(address(this), nonce);
        uint256 header;
        assembly ("memory-safe") {
            extcodecopy(page, 0x00, 0, 0x20)
            header := mload(0x00)
        }
        number = _numberOf(header, nonce, kind);
    }

    /// @notice `open` and `read` in one copy: the header and the first `length` bytes of the payload, to memory at `to`, which the
    /// caller allocated with room for HEADER + length. Bytes beyond the page's end are zeros.
    function load(uint256 nonce, uint8 kind, uint256 length, uint256 to) internal view returns (uint256 number) {
        address page = addressOf(address(this), nonce);
        uint256 header;
        // Not memory-safe by itself: `to` is memory that the caller allocated.
        assembly {
            extcodecopy(page, to, 0, add(length, 10))
            header := mload(to)
        }
        number = _numberOf(header, nonce, kind);
    }

    /// @notice Copies a stretch of a page's payload to memory. Bytes beyond its end are zeros: the caller knows the length.
    function read(address page, uint256 offset, uint256 length, uint256 to) internal view {
        // Not memory-safe by itself: `to` is memory that the caller allocated.
        assembly {
            extcodecopy(page, to, add(offset, 10), length)
        }
    }

    /// @dev Of an address without code nothing but zeros is read, and no kind is zero.
    function _numberOf(uint256 header, uint256 nonce, uint8 kind) private pure returns (uint256) {
        require(header >> 240 == kind, NoSuchPage(nonce));
        return (header >> 176) & type(uint64).max;
    }
}
