// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Bls12381G2Signing, Bn254G1Signing} from "./Signing.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {Bls12381G2Page} from "../src/curves/Bls12381G2Page.sol";
import {Bn254G1Page} from "../src/curves/Bn254G1Page.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2, SettlementBls12381G2Nu, SettlementBn254G1} from "../src/Settlements.sol";

/// @notice Programs of pages add the same keys as plain twins do, one by one.
contract PageProgramsBn254G1Test is Test, Bn254G1Signing {
    uint256 private constant N = 12;
    uint256 private constant A = 0x1234567;
    uint256 private constant B = 0x89abcd;

    address private _page;
    uint256[] private _secrets;

    function setUp() public {
        // Among the keys are a, b, a + b and -(a + b), and one key twice.
        _secrets = [A, B, A + B, Bn254.R - A - B, 11, 12, 13, 14, A, 15, 16, 17];
        bytes memory keys;
        for (uint256 i = 0; i < N; i++) {
            keys = bytes.concat(keys, keyOf(_secrets[i]));
        }
        _page = CodePages.create(1, 0, keys, type(Bn254G1Page).runtimeCode);
    }

    function _call(Bn254.G1 memory sum, uint256 left, uint256 came, uint256 start)
        private
        view
        returns (bool done, bytes memory answer)
    {
        uint256 first = type(Bn254G1Page).runtimeCode.length + CodePages.HEADER;
        unchecked {
            first -= 64 * start;
        }
        return _page.staticcall{gas: 1_000_000}(abi.encode(sum, left, came, first));
    }

    /// @notice Any two sets, of which the page may begin anywhere in the word, from any sum, also the identity.
    function testFuzz_addsAndSubtracts(uint256 left, uint256 came, uint256 begin, uint8 start) public view {
        start = uint8(bound(start, 0, 256 - N));
        uint256 mask = (uint256(1) << N) - 1;
        left = (left & mask) << (256 - N - start);
        came = (came & mask) << (256 - N - start);
        vm.assume(left | came != 0);
        begin = bound(begin, 0, 3) == 0 ? 0 : begin % Bn254.R;
        Bn254.G1 memory sum = begin == 0 ? Bn254.G1(0, 0) : Bn254.mul(Bn254.generator(), begin);
        (bool done, bytes memory answer) = _call(sum, left, came, start);
        assertTrue(done, "done");
        uint256 secret = begin;
        for (uint256 i = 0; i < N; i++) {
            uint256 bit = (1 << 255) >> (start + i);
            if (came & bit != 0) secret = addmod(secret, _secrets[i], Bn254.R);
            if (left & bit != 0) secret = addmod(secret, Bn254.R - _secrets[i], Bn254.R);
        }
        sum = secret == 0 ? Bn254.G1(0, 0) : Bn254.mul(Bn254.generator(), secret);
        assertEq(answer, abi.encode(sum), "the sum");
    }

    /// @notice A sum off the curve, or with coordinates that are not below the prime, is refused as soon as a key is added.
    function test_trap_sumsThatAreNoPoints() public view {
        Bn254.G1[3] memory sums = [Bn254.G1(1, 1), Bn254.G1(Bn254.P, 0), Bn254.G1(0, Bn254.P)];
        for (uint256 i = 0; i < sums.length; i++) {
            (bool done, bytes memory answer) = _call(sums[i], 0, 1 << 255, 0);
            assertTrue(!done && answer.length == 0, "added");
            // The negative of (0, P) is the identity. No sum of keys has y = P.
            (done, answer) = _call(sums[i], 1 << 255, 0, 0);
            assertTrue(i == 2 || (!done && answer.length == 0), "subtracted");
        }
    }

    /// @notice Strangers may call a page with anything. It answers with a point or reverts, and keeps nothing.
    function testFuzz_strangersCallAPage(bytes calldata data) public {
        bytes32 before = _page.codehash;
        (bool done, bytes memory answer) = _page.call{gas: 1_000_000}(data);
        assertTrue(!done || answer.length == 64, "a point");
        assertEq(_page.codehash, before, "as before");
    }

    /// @notice A page of another kind whose payload has a header where the program of a page of keys ends. Weights of an epoch could
    /// be such a payload. It is no page of keys.
    function test_trap_aPayloadThatImitatesAHeader() public {
        PagesOfKeys pages = new PagesOfKeys();
        uint256 program = type(Bn254G1Page).runtimeCode.length;
        // One key of the running table, from index 0 on.
        bytes memory header = hex"00010000000000000001";
        bytes memory payload = bytes.concat(new bytes(program - CodePages.HEADER), header, new bytes(128));
        uint256 weights = pages.makeWeights(payload);
        vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, weights));
        pages.open(weights);
        uint256 keys = pages.makeKeys(keyOf(A));
        assertEq(uint16(pages.open(keys) >> 160), 1, "a page of keys");
    }

    /// @notice How many keys fit into a page. `KeyGroup::page_keys` of quorate-evm has the same numbers.
    function test_pagesWithAProgram() public {
        assertEq(_most(new SettlementBn254G1(address(this), 0, 1)), 379, "BN254 G1");
        assertEq(_most(new SettlementBls12381G2(address(this), 0, 1)), 125, "BLS12-381");
        assertEq(_most(new SettlementBls12381G2Nu(address(this), 0, 1)), 125, "BLS12-381, nonuniform");
    }

    function _most(Settlement settlement) private returns (uint256 most) {
        (bool done, bytes memory why) =
            address(settlement).call(abi.encodeCall(KeyTable.compact, (0, 1000, new uint256[](0), "")));
        assertTrue(!done && bytes4(why) == KeyTable.KeysAPage.selector, "too many");
        assembly {
            most := mload(add(why, 0x44))
        }
    }
}

contract PageProgramsBls12381G2Test is Test, Bls12381G2Signing {
    uint256 private constant N = 6;

    address private _page;
    bytes[] private _keys;
    uint256[] private _secrets;

    function setUp() public {
        _secrets = [2, 3, 5, order() - 5, 2, 11];
        bytes memory keys;
        for (uint256 i = 0; i < N; i++) {
            _keys.push(keyOf(_secrets[i]));
            keys = bytes.concat(keys, _keys[i]);
        }
        _page = CodePages.create(1, 0, keys, type(Bls12381G2Page).runtimeCode);
    }

    /// @notice The first set is added to the sum, and the second to its negative.
    function testFuzz_addsToTheSumAndToItsNegative(uint256 first, uint256 second, uint8 begin, uint8 start)
        public
        view
    {
        start = uint8(bound(start, 0, 256 - N));
        uint256 mask = (uint256(1) << N) - 1;
        first = (first & mask) << (256 - N - start);
        second = (second & mask) << (256 - N - start);
        vm.assume(first | second != 0);
        uint256 offset = type(Bls12381G2Page).runtimeCode.length + CodePages.HEADER;
        unchecked {
            offset -= 192 * uint256(start);
        }
        bytes memory sum = begin == 0 ? new bytes(256) : BlsPoints.pad(keyOf(begin));
        (bool done, bytes memory answer) = _page.staticcall(abi.encodePacked(sum, first, second, offset));
        assertTrue(done, "done");
        uint256 secret = begin;
        for (uint256 i = 0; i < N; i++) {
            if (first & ((1 << 255) >> (start + i)) != 0) secret = addmod(secret, _secrets[i], order());
        }
        if (second != 0) secret = (order() - secret) % order();
        for (uint256 i = 0; i < N; i++) {
            if (second & ((1 << 255) >> (start + i)) != 0) secret = addmod(secret, _secrets[i], order());
        }
        assertEq(answer, secret == 0 ? new bytes(256) : BlsPoints.pad(keyOf(secret)), "the sum");
    }

    function test_trap_sumsThatAreNoPoints() public view {
        bytes memory sum = BlsPoints.pad(_keys[0]);
        sum[255] ^= 0x01;
        uint256 offset = type(Bls12381G2Page).runtimeCode.length + CodePages.HEADER;
        uint256[2] memory sets = [uint256(1) << 255, 0];
        for (uint256 i = 0; i < 2; i++) {
            (bool done, bytes memory answer) =
                _page.staticcall{gas: 1_000_000}(abi.encodePacked(sum, sets[i], sets[1 - i], offset));
            assertTrue(!done && answer.length == 0, "refused");
        }
    }

    function testFuzz_strangersCallAPage(bytes calldata data) public {
        bytes32 before = _page.codehash;
        (bool done, bytes memory answer) = _page.call{gas: 1_000_000}(data);
        assertTrue(!done || answer.length == 256, "a point");
        assertEq(_page.codehash, before, "as before");
    }
}

/// @notice A settlement that makes pages of any content.
contract PagesOfKeys is SettlementBn254G1 {
    constructor() SettlementBn254G1(address(this), 0, 1) {}

    function makeWeights(bytes memory payload) external returns (uint256 nonce) {
        return _newPage(WEIGHTS, 0, payload, "");
    }

    function makeKeys(bytes memory payload) external returns (uint256 nonce) {
        return _newPage(KEYS, 1, payload, _program());
    }

    function open(uint256 nonce) external view returns (uint256) {
        return _openKeys(nonce, 0);
    }
}
