// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "./Test.sol";
import {Reads} from "../src/adapters/Reads.sol";

/// @notice Answers by what it is told in the first word of the call.
contract Answering {
    fallback() external {
        assembly {
            function answerList(offset, length, size) {
                mstore(0, offset)
                mstore(0x20, length)
                mstore(0x40, 8)
                mstore(0x60, 9)
                return(0, size)
            }
            let what := calldataload(0)
            switch what
            case 1 { revert(0, 0) }
            case 2 { invalid() }
            case 3 { return(0, 31) }
            case 4 { return(0, 64) }
            case 5 { return(0, 1000000) }
            case 6 { sstore(0, 1) }
            // A list of two words, and what comes near to one: one word too short, another offset, a length beyond all bounds.
            case 7 { answerList(0x20, 2, 0x80) }
            case 8 { answerList(0x20, 2, 0x7f) }
            case 9 { answerList(0x40, 2, 0x80) }
            case 10 { answerList(0x20, not(0), 0x80) }
            case 11 { answerList(0x20, shl(251, 1), 0x80) }
            case 12 { answerList(0x20, 0, 0x40) }
            mstore(0, 7)
            return(0, 32)
        }
    }
}

/// @notice Burns gas by hashing, and answers 7.
contract Slow {
    uint256 private immutable _rounds;

    constructor(uint256 rounds) {
        _rounds = rounds;
    }

    fallback() external {
        uint256 rounds = _rounds;
        assembly {
            for { let i := 0 } lt(i, rounds) { i := add(i, 1) } { pop(keccak256(0, 0x1000)) }
            mstore(0, 7)
            return(0, 32)
        }
    }
}

contract Reader {
    function word(address target, uint256 what, uint256 gasLimit) external view returns (bool, uint256) {
        return Reads.word(target, abi.encode(what), gasLimit);
    }

    function isTrue(address target, uint256 what) external view returns (bool) {
        return Reads.isTrue(target, abi.encode(what), 100_000);
    }

    function list(address target, uint256 what, uint256 most) external view returns (uint256[] memory) {
        return Reads.list(target, abi.encode(what), 100_000, most);
    }

    function words(address target, uint256 what, uint256 count) external view returns (bool done, bytes memory all) {
        uint256 answer;
        assembly {
            // Dirty memory must not show.
            let free := mload(0x40)
            for { let i := 0 } lt(i, 0x800) { i := add(i, 0x20) } { mstore(add(free, i), not(0)) }
        }
        (done, answer) = Reads.words(target, abi.encode(what), 100_000, count);
        all = new bytes(32 * count);
        assembly {
            mcopy(add(all, 0x20), answer, mul(32, count))
        }
    }
}

contract AdaptersReadsTest is Test {
    Reader private _reader;
    address private _target;

    function setUp() public {
        _reader = new Reader();
        _target = address(new Answering());
    }

    function _assertNone(uint256 what) private view {
        (bool done, uint256 value) = _reader.word(_target, what, 100_000);
        assertTrue(!done, "done");
        assertEq(value, 0, "value");
    }

    function test_anHonestAnswer() public view {
        (bool done, uint256 value) = _reader.word(_target, 0, 100_000);
        assertTrue(done, "done");
        assertEq(value, 7, "value");
    }

    function test_trap_noAnswer() public view {
        _assertNone(1);
        _assertNone(2);
        _assertNone(3);
        // It wants to write.
        _assertNone(6);
    }

    function test_trap_noContract() public view {
        (bool done, uint256 value) = _reader.word(address(0xdead), 0, 100_000);
        assertTrue(!done, "done");
        assertEq(value, 0, "value");
        assertTrue(!_reader.isTrue(address(0xdead), 0), "true");
    }

    /// @notice Neither 7, nor 0, nor nothing is true.
    function test_trap_onlyOneIsTrue() public view {
        for (uint256 what = 0; what < 7; what++) {
            assertTrue(!_reader.isTrue(_target, what), "true");
        }
    }

    /// @notice Only the words that were asked for are copied, and they are zeros if there are too few.
    function test_trap_longAndShortAnswers() public view {
        (bool done, bytes memory all) = _reader.words(_target, 4, 2);
        assertTrue(done, "two words");
        (done, all) = _reader.words(_target, 4, 3);
        assertTrue(!done, "three words of two");
        assertEq(all, new bytes(96), "zeros");
        uint256 before = gasleft();
        (done, all) = _reader.words(_target, 5, 2);
        // The answer of a million bytes costs its sender more than it has.
        assertTrue(!done && before - gasleft() < 200_000, "a million bytes");
        assertEq(all, new bytes(64), "zeros");
    }

    /// @notice A list counts only if all of it is there, and no more than was asked for.
    function test_trap_listsThatAreNone() public view {
        for (uint256 most = 2; most < 4; most++) {
            uint256[] memory list = _reader.list(_target, 7, most);
            assertEq(list.length, 2, "length");
            assertTrue(list[0] == 8 && list[1] == 9, "words");
        }
        assertEq(_reader.list(_target, 7, 1).length, 0, "longer");
        for (uint256 what = 0; what < 13; what++) {
            if (what != 7) assertEq(_reader.list(_target, what, 2).length, 0, "none");
        }
        assertEq(_reader.list(address(0xdead), 7, 2).length, 0, "no contract");
    }

    /// @notice Whatever gas a caller passes: an honest contract that needs almost all of the limit answers, or the call
    /// reverts.
    function test_trap_theCallerStarvesARead() public {
        address slow = address(new Slow(1_200));
        (bool done,) = _reader.word(slow, 0, 1_000_000);
        assertTrue(done, "with enough gas");
        (uint256 answered, uint256 refused) = (0, 0);
        for (uint256 gas = 800_000; gas < 1_100_000; gas += 500) {
            (bool success, bytes memory answer) =
                address(_reader).call{gas: gas}(abi.encodeCall(_reader.word, (slow, 0, 1_000_000)));
            if (!success) {
                refused++;
                continue;
            }
            answered++;
            (done,) = abi.decode(answer, (bool, uint256));
            assertTrue(done, "starved");
        }
        assertTrue(answered != 0 && refused != 0, "both");
    }
}
