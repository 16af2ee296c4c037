// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title Pages: data kept as the code of contracts
/// @notice Writing a page costs 200 gas for each byte, and the creation of a contract. Opening it costs 2,600 gas,
/// however much is read. A storage slot costs 2,100 gas for 32 bytes.
///
/// The code of a page is `0x00 ‖ kind (1 byte) ‖ number (8 bytes) ‖ payload`. The first byte stops execution, so the
/// page cannot be called to any effect. Kind and number say what the page holds. A page does not say how long its
/// payload is, because asking for the length of code costs 100 gas more; a reader who needs the length derives it from
/// the number.
///
/// A *program*, code that works on the payload, may stand before all that. Then a call runs the program, which can read the
/// payload for less than others can. All pages of one kind have the same program, which does not begin with 0.
///
/// A page is named by the nonce with which its creator made it. Its address follows from creator and nonce, so no
/// storage slot is read to find it. A creator that makes nothing but pages knows that each contract at such an address
/// is one of its pages. So a contract that makes pages must create nothing else. Whoever opens a page that a caller
/// named must check kind and number: `open` and `load` check the kind, and the number is the reader's duty.
library CodePages {
    /// @notice Bytes of code before the payload.
    uint256 internal constant HEADER = 10;

    /// @notice The longest payload: EIP-170's limit of 24,576 bytes of code, less the header.
    uint256 internal constant MOST_PAYLOAD = 24_566;

    /// @notice The payload does not fit into a page.
    /// @param length Bytes of the payload.
    error PageTooLong(uint256 length);
    /// @notice The contract of a page could not be created.
    error PageNotCreated();
    /// @notice No contract was made with this nonce, or it is a page of another kind, or not the reader's.
    /// @param nonce The nonce.
    error NoSuchPage(uint256 nonce);

    /// @notice Makes a page. The calling contract's nonce rises by one.
    /// @param kind What the page holds; not zero, which is not checked.
    /// @param number A number in the page's header, which says more of what it holds.
    /// @param payload The data.
    /// @return page The page's address.
    function create(uint8 kind, uint64 number, bytes memory payload) internal returns (address page) {
        require(payload.length <= MOST_PAYLOAD, PageTooLong(payload.length));
        // The code of creation returns what follows it: PUSH2 length, DUP1, PUSH1 10, RETURNDATASIZE (0), CODECOPY,
        // RETURNDATASIZE, RETURN. With the page's header it has 20 bytes. They are written before the payload, over its
        // length, which is restored.
        uint256 code = 0x61 << 80 | (payload.length + HEADER) << 64 | 0x80600a3d393df300;
        code = code << 72 | uint256(kind) << 64 | number;
        assembly ("memory-safe") {
            let length := mload(payload)
            mstore(payload, code)
            page := create(0, add(payload, 0x0c), add(length, 0x14))
            mstore(payload, length)
        }
        require(page != address(0), PageNotCreated());
    }

    /// @notice Makes a page with a program. The calling contract's nonce rises by one. Reverts with PageNotCreated if both
    /// are longer than a page.
    /// @param kind What the page holds; not zero, which is not checked.
    /// @param number A number in the page's header, which says more of what it holds.
    /// @param payload The data, shorter than 2^16 bytes.
    /// @param program The program.
    /// @return page The page's address.
    function create(uint8 kind, uint64 number, bytes memory payload, bytes memory program)
        internal
        returns (address page)
    {
        // As above: 10 bytes of the code of creation, the program, 10 bytes of the header, and the payload. The free memory
        // is not kept.
        uint256 creation = 0x61 << 72 | (program.length + HEADER + payload.length) << 56 | 0x80600a3d393df3;
        uint256 header = uint256(kind) << 64 | number;
        assembly ("memory-safe") {
            let code := mload(0x40)
            mstore(code, shl(176, creation))
            let end := add(code, 10)
            mcopy(end, add(program, 0x20), mload(program))
            end := add(end, mload(program))
            mstore(end, shl(176, header))
            end := add(end, 10)
            mcopy(end, add(payload, 0x20), mload(payload))
            page := create(0, code, sub(add(end, mload(payload)), code))
        }
        require(page != address(0), PageNotCreated());
    }

    /// @notice The address of a created contract: the last 20 bytes of keccak256(rlp([creator, nonce])).
    /// @dev RLP writes a nonce below 0x80 as one byte, and any other as 0x80 plus its length, followed by its bytes. All of
    /// it takes 27 bytes at most. Assembly, because abi.encodePacked costs 80 gas more for each page that is opened.
    /// @param creator The contract that creates. Its upper 96 bits must be zero, as in every address that Solidity has read.
    /// @param nonce Its nonce at the creation, from 1 on. Only the lower 32 bits count: others would get into the creator's
    /// place, and name what a contract with another address made.
    /// @return page The address.
    function addressOf(address creator, uint256 nonce) internal pure returns (address page) {
        assembly ("memory-safe") {
            let length := 0
            nonce := and(nonce, 0xffffffff)
            if gt(nonce, 0x7f) {
                length := add(add(add(1, gt(nonce, 0xff)), gt(nonce, 0xffff)), gt(nonce, 0xffffff))
                nonce := or(shl(shl(3, length), add(0x80, length)), nonce)
            }
            // 0xd6 plus the nonce's length begins a list of that many bytes. 0x94 says that 20 bytes follow.
            let list := or(shl(160, add(0xd694, shl(8, length))), creator)
            mstore(0x00, or(shl(shl(3, add(1, length)), list), nonce))
            page := shr(96, shl(96, keccak256(sub(9, length), add(23, length))))
        }
    }

    /// @notice Finds a page that this contract made, and reads its header. Costs 2,600 gas, and about 370 beside.
    /// @param nonce The page's nonce.
    /// @param kind The kind that the page must have; reverts if it has not.
    /// @param program Length of the program that pages of this kind have. If it is not 0, the caller must ask `hasProgram`,
    /// too: the payload of a page without a program could look like a header where the program of another kind ends.
    /// @return page The page's address.
    /// @return number The number in the page's header.
    function open(uint256 nonce, uint8 kind, uint256 program) internal view returns (address page, uint256 number) {
        page = addressOf(address(this), nonce);
        uint256 header;
        assembly ("memory-safe") {
            extcodecopy(page, 0x00, program, 0x20)
            header := mload(0x00)
        }
        number = _numberOf(header, nonce, kind);
    }

    /// @notice Whether a page of this contract has a program: then it does not begin with 0. Costs 110 gas.
    /// @param page The page's address, from `open`.
    function hasProgram(address page) internal view returns (bool has) {
        assembly ("memory-safe") {
            extcodecopy(page, 0x00, 0, 0x01)
            has := byte(0, mload(0x00))
        }
    }

    /// @notice Copies a page's header and the beginning of its payload to memory, in one copy. Bytes beyond the page's
    /// end are zero.
    /// @param nonce The page's nonce.
    /// @param kind The kind that the page must have; reverts if it has not.
    /// @param length Bytes of the payload to copy.
    /// @param to Where in memory the header is written, the payload behind it. The caller has allocated HEADER + length
    /// bytes.
    /// @return number The number in the page's header.
    function load(uint256 nonce, uint8 kind, uint256 length, uint256 to) internal view returns (uint256 number) {
        address page = addressOf(address(this), nonce);
        uint256 header;
        // Not memory-safe by itself: the caller allocated the memory at `to`.
        assembly {
            extcodecopy(page, to, 0, add(length, 10))
            header := mload(to)
        }
        number = _numberOf(header, nonce, kind);
    }

    /// @notice Copies a part of a page's payload to memory. Bytes beyond the page's end are zero, and that is not an
    /// error: the caller knows the length.
    /// @param page The page's address, from `open`.
    /// @param offset Where in the payload the part begins.
    /// @param length Bytes to copy.
    /// @param to Where in memory they are written. The caller has allocated the room.
    function read(address page, uint256 offset, uint256 length, uint256 to) internal view {
        // Not memory-safe by itself: the caller allocated the memory at `to`.
        assembly {
            extcodecopy(page, to, add(offset, 10), length)
        }
    }

    /// @notice Reverts with `NoSuchPage`, for readers whom a page's number does not suit.
    /// @param nonce The page's nonce.
    function refuse(uint256 nonce) internal pure {
        revert NoSuchPage(nonce);
    }

    /// @dev Checks the kind in a header, and returns its number. An address without code gives zeros, and no kind is
    /// zero.
    function _numberOf(uint256 header, uint256 nonce, uint8 kind) private pure returns (uint256) {
        if (header >> 240 != kind) refuse(nonce);
        return (header >> 176) & type(uint64).max;
    }
}
