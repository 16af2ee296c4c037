// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G1Point, G2Point, G2Sum} from "../src/libraries/Bls12381.sol";
import {BLS12381_P_HIGH, BLS12381_P_LOW} from "../src/libraries/Fields.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {BlsVectors, vmMore} from "./plain/BlsVectors.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Meter} from "./mocks/Meter.sol";
import {Test, vm} from "./Test.sol";

/// @notice Calls the library through external functions, so that a test can expect a revert and limit the gas.
contract Bls12381Caller {
    function addG1(bytes memory a, bytes memory b) external view returns (bytes memory) {
        G1Point memory sum = Bls12381.unpackG1(a);
        Bls12381.addG1(sum, Bls12381.unpackG1(b));
        return Bls12381.packG1(sum);
    }

    function addG2(bytes memory a, bytes memory b) external view returns (bytes memory) {
        G2Sum memory sum;
        Bls12381.loadG2(sum, positionOf(a));
        Bls12381.addG2(sum, positionOf(b));
        return Bls12381.packG2(Bls12381.pointG2(sum));
    }

    function addG2Calldata(bytes memory a, bytes calldata b) external view returns (bytes memory) {
        G2Sum memory sum;
        Bls12381.loadG2(sum, positionOf(a));
        Bls12381.addG2Calldata(sum, b);
        return Bls12381.packG2(Bls12381.pointG2(sum));
    }

    function subG2(bytes memory a, bytes memory b) external view returns (bytes memory) {
        G2Sum memory sum;
        Bls12381.loadG2(sum, positionOf(a));
        Bls12381.subG2(sum, positionOf(b));
        return Bls12381.packG2(Bls12381.pointG2(sum));
    }

    function isPairingOne(bytes memory a1, bytes memory a2, bytes memory b1, bytes memory b2)
        external
        view
        returns (bool)
    {
        return Bls12381.isPairingOne(
            Bls12381.unpackG1(a1), Bls12381.unpackG2(a2), Bls12381.unpackG1(b1), Bls12381.unpackG2(b2)
        );
    }

    function mapToG1(uint256 high, uint256 low) external view returns (bytes memory) {
        return Bls12381.packG1(Bls12381.mapToG1(high, low));
    }

    function unpackG1Calldata(bytes calldata packed) external pure returns (bytes memory) {
        return Bls12381.packG1(Bls12381.unpackG1Calldata(packed));
    }

    function positionOf(bytes memory key) internal pure returns (uint256 position) {
        assembly {
            position := add(key, 0x20)
        }
    }
}

contract Bls12381Test is Test {
    /// @dev The gas of calls that are refused: a precompile that refuses burns all of it.
    uint256 internal constant LIMIT = 1_000_000;
    bytes internal constant G1 =
        hex"17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1";
    bytes internal constant G2 =
        hex"024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb813e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b828010606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be";
    /// @dev A point of the curve with x = 2, which is not in the subgroup.
    bytes internal constant G2_OUTSIDE = abi.encodePacked(
        bytes32(0),
        bytes16(uint128(2)),
        bytes32(0),
        bytes16(0),
        hex"18c6b864ae17dc9da64203ffefb966306425a7bc6aeb7c75247438372716284a4173830420cd476ba1a365b95bfcec38",
        hex"172e93db764a8400a7d5071b6b6f5de0da2f0f4a063119abca014006b7c40a2cfe291a1924e65db0d6d0fcfbf3bf3d5c"
    );
    /// @dev Two points of the curve, with y = 3 and with y = u, so that one part of y is zero. Neither is in the
    /// subgroup.
    bytes internal constant G2_Y_REAL = abi.encodePacked(
        hex"09f1477ff0430ca4808b4b98f3ce959fcb5be667df6ef1073e182a4f887fa0f0b7fdd6105d99e027bba24c6b4e932032",
        hex"0c2b2b8487f8e8d648e4f7905c0943b14474f62dd4726f98e902923c7fa2518eab1519d0cd9eef39aad762206d086ced",
        bytes32(0),
        bytes16(uint128(3)),
        bytes32(0),
        bytes16(0)
    );
    bytes internal constant G2_Y_IMAGINARY = abi.encodePacked(
        hex"100fca6a493cd9f5ca905c1d4f7d1737991b651d141621b82918a8516e31553366ae29ee53ba1fd7fe5cb394b16c8a79",
        hex"0c2b2b8487f8e8d648e4f7905c0943b14474f62dd4726f98e902923c7fa2518eab1519d0cd9eef39aad762206d086ced",
        bytes32(0),
        bytes16(0),
        bytes32(0),
        bytes16(uint128(1))
    );
    bytes internal constant P =
        hex"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    uint256 internal constant ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001;
    uint256 internal constant P_HIGH = 0x1a0111ea397fe69a4b1ba7b6434bacd7;
    uint256 internal constant P_LOW = 0x64774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab;

    Bls12381Caller internal caller = new Bls12381Caller();
    Meter internal meter = new Meter();

    // ------------------------------------------------------------------------------------------------------- vectors

    /// @notice Runs every stored file on the precompiles themselves: they behave as EIP-2537 says, and the library
    /// relies on that.
    function test_vectors_of_eip2537_hold_for_the_precompiles() public view {
        string[18] memory files = [
            "0beips/add_G1_bls",
            "0deips/add_G2_bls",
            "0beips/fail-add_G1_bls",
            "10eips/fail-map_fp_to_G1_bls",
            "0eeips/fail-msm_G2_bls",
            "0ceips/fail-mul_G1_bls",
            "11eips/map_fp2_to_G2_bls",
            "10eips/map_fp_to_G1_bls",
            "0ceips/mul_G1_bls",
            "0feips/pairing_check_bls",
            "0cgeth/blsG1Mul",
            "0bgeth/fail-blsG1Add",
            "0cgeth/fail-blsG1Mul",
            "0egeth/fail-blsG2MultiExp",
            "10geth/fail-blsMapG1",
            "0econstantine/fail-multiexp_G2_bls",
            "0cconstantine/multiexp_G1_bls",
            "0econstantine/multiexp_G2_bls"
        ];
        uint256 cases = 0;
        for (uint256 i = 0; i < files.length; ++i) {
            bytes memory name = bytes(files[i]);
            address precompile = address(
                uint160(
                    uint8(
                        vm.parseJsonBytes(string.concat('{"a":"0x', string(BlsPoints.slice(name, 0, 2)), '"}'), ".a")[0]
                    )
                )
            );
            string memory json =
                Vectors.read(string.concat("04_eip2537_", string(BlsPoints.slice(name, 2, name.length - 2)), ".json"));
            for (uint256 j = 0; BlsVectors.has(json, j, "Input"); ++j) {
                (bool success, bytes memory output) =
                    precompile.staticcall{gas: 1_000_000}(BlsVectors.bytesAt(json, j, "Input"));
                if (BlsVectors.has(json, j, "Expected")) {
                    assertTrue(success, files[i]);
                    assertEq(output, BlsVectors.bytesAt(json, j, "Expected"), files[i]);
                } else {
                    assertTrue(!success, files[i]);
                }
                ++cases;
            }
        }
        assertTrue(cases > 140, "cases of EIP-2537");
    }

    function test_vectors_of_eip2537_hold_for_addG1() public view {
        string memory json = Vectors.read("04_eip2537_eips/add_G1_bls.json");
        uint256 j = 0;
        for (; BlsVectors.has(json, j, "Input"); ++j) {
            bytes memory input = BlsVectors.bytesAt(json, j, "Input");
            bytes memory sum = caller.addG1(half(input, 0), half(input, 1));
            assertEq(BlsPoints.pad(sum), BlsVectors.bytesAt(json, j, "Expected"), "addG1");
        }
        assertEq(j, 9, "cases of addG1");
    }

    function test_vectors_of_eip2537_hold_for_addG2() public view {
        string memory json = Vectors.read("04_eip2537_eips/add_G2_bls.json");
        uint256 j = 0;
        for (; BlsVectors.has(json, j, "Input"); ++j) {
            bytes memory input = BlsVectors.bytesAt(json, j, "Input");
            bytes memory expected = BlsPoints.pack(BlsVectors.bytesAt(json, j, "Expected"));
            (bytes memory a, bytes memory b) = (half(input, 0), half(input, 1));
            assertEq(caller.addG2(a, b), expected, "addG2");
            assertEq(caller.addG2Calldata(a, b), expected, "addG2Calldata");
            assertEq(caller.subG2(a, BlsPoints.negateG2(b)), expected, "subG2");
            assertEq(caller.subG2(expected, b), a, "subG2 back");
        }
        assertEq(j, 9, "cases of addG2");
    }

    /// @notice The cases that G1ADD refuses and that can be packed: those with the right length and zero padding.
    function test_vectors_of_eip2537_are_refused_by_addG1() public {
        string[2] memory files = ["04_eip2537_eips/fail-add_G1_bls.json", "04_eip2537_geth/fail-blsG1Add.json"];
        for (uint256 i = 0; i < 2; ++i) {
            string memory json = Vectors.read(files[i]);
            uint256 refused = 0;
            for (uint256 j = 0; BlsVectors.has(json, j, "Input"); ++j) {
                bytes memory input = BlsVectors.bytesAt(json, j, "Input");
                if (input.length != 256 || !paddingIsZero(input)) continue;
                (bytes memory a, bytes memory b) = (half(input, 0), half(input, 1));
                vm.expectRevert(Bls12381.G1AddFailed.selector);
                caller.addG1{gas: LIMIT}(a, b);
                ++refused;
            }
            assertTrue(refused > 1, "refused cases of addG1");
        }
    }

    function test_vectors_of_eip2537_hold_for_mapToG1() public view {
        string memory json = Vectors.read("04_eip2537_eips/map_fp_to_G1_bls.json");
        uint256 j = 0;
        for (; BlsVectors.has(json, j, "Input"); ++j) {
            (uint256 high, uint256 low) = abi.decode(BlsVectors.bytesAt(json, j, "Input"), (uint256, uint256));
            assertEq(BlsPoints.pad(caller.mapToG1(high, low)), BlsVectors.bytesAt(json, j, "Expected"), "mapToG1");
        }
        assertEq(j, 5, "cases of mapToG1");
    }

    function test_vectors_of_eip2537_are_refused_by_mapToG1() public {
        string[2] memory files = ["04_eip2537_eips/fail-map_fp_to_G1_bls.json", "04_eip2537_geth/fail-blsMapG1.json"];
        for (uint256 i = 0; i < 2; ++i) {
            string memory json = Vectors.read(files[i]);
            uint256 refused = 0;
            for (uint256 j = 0; BlsVectors.has(json, j, "Input"); ++j) {
                bytes memory input = BlsVectors.bytesAt(json, j, "Input");
                if (input.length != 64) continue;
                (uint256 high, uint256 low) = abi.decode(input, (uint256, uint256));
                vm.expectRevert(Bls12381.MapToG1Failed.selector);
                caller.mapToG1{gas: LIMIT}(high, low);
                ++refused;
            }
            assertTrue(refused > 0, "refused cases of mapToG1");
        }
    }

    /// @notice The cases with two pairs. A case with one pair is completed by a pair of infinities.
    function test_vectors_of_eip2537_hold_for_isPairingOne() public view {
        string memory json = Vectors.read("04_eip2537_eips/pairing_check_bls.json");
        uint256 checked = 0;
        for (uint256 j = 0; BlsVectors.has(json, j, "Input"); ++j) {
            bytes memory input = BlsVectors.bytesAt(json, j, "Input");
            if (input.length == 384) input = bytes.concat(input, new bytes(384));
            if (input.length != 768) continue;
            bool expected = abi.decode(BlsVectors.bytesAt(json, j, "Expected"), (bool));
            bool isOne = caller.isPairingOne(
                BlsPoints.pack(BlsPoints.slice(input, 0, 128)),
                BlsPoints.pack(BlsPoints.slice(input, 128, 256)),
                BlsPoints.pack(BlsPoints.slice(input, 384, 128)),
                BlsPoints.pack(BlsPoints.slice(input, 512, 256))
            );
            assertTrue(isOne == expected, "isPairingOne");
            ++checked;
        }
        assertEq(checked, 12, "cases of isPairingOne");
    }

    // ------------------------------------------------------------------------------------------------- fuzz and twins

    function testFuzz_sums_agree_with_the_plain_twin(uint256[6] memory scalars, uint8 signs) public view {
        bytes memory expected = BlsPoints.multiplyG2(G2, scalars[0]);
        // The keys lie behind each other at odd offsets, as in a page.
        bytes memory page = hex"01";
        for (uint256 i = 1; i < 6; ++i) {
            page = bytes.concat(page, BlsPoints.multiplyG2(G2, scalars[i]));
        }
        dirtyMemory();
        G2Sum memory sum;
        Bls12381.loadG2(sum, positionOf(expected));
        for (uint256 i = 1; i < 6; ++i) {
            bytes memory key = BlsPoints.multiplyG2(G2, scalars[i]);
            uint256 position = positionOf(page) + 1 + 192 * (i - 1);
            dirtyMemory();
            if (signs >> i & 1 == 0) {
                Bls12381.addG2(sum, position);
                expected = BlsPoints.addG2(expected, key);
            } else {
                Bls12381.subG2(sum, position);
                expected = BlsPoints.subG2(expected, key);
            }
            dirtyMemory();
            assertEq(Bls12381.packG2(Bls12381.pointG2(sum)), expected, "sum");
        }
        dirtyMemory();
        Bls12381.negateG2(sum);
        assertEq(Bls12381.packG2(Bls12381.pointG2(sum)), BlsPoints.negateG2(expected), "negated");
    }

    function testFuzz_addG1_agrees_with_the_plain_twin(uint256 a, uint256 b) public view {
        bytes memory left = BlsPoints.multiplyG1(G1, a);
        bytes memory right = BlsPoints.multiplyG1(G1, b);
        dirtyMemory();
        G1Point memory sum = Bls12381.unpackG1(left);
        G1Point memory point = Bls12381.unpackG1(right);
        dirtyMemory();
        Bls12381.addG1(sum, point);
        assertEq(Bls12381.packG1(sum), BlsPoints.addG1(left, right), "addG1");
        assertEq(Bls12381.packG1(point), right, "the point added is left as it was");
        assertEq(caller.unpackG1Calldata(right), right, "unpackG1Calldata");
    }

    /// @notice Tries any numbers below p, on the curve or not: negation is arithmetic and does not use the curve.
    function testFuzz_negateG2_agrees_with_the_plain_twin(uint256[8] memory words, uint8 edges) public pure {
        for (uint256 i = 0; i < 8; i += 2) {
            words[i] %= P_HIGH;
            // Half of the parts lie at an edge.
            uint256 edge = edges >> i & 3;
            if (edge == 1) (words[i], words[i + 1]) = (0, 0);
            if (edge == 2) (words[i], words[i + 1]) = (P_HIGH, P_LOW - 1);
        }
        dirtyMemory();
        G2Sum memory sum;
        bytes memory packed = BlsPoints.pack(abi.encode(words));
        Bls12381.loadG2(sum, positionOf(packed));
        Bls12381.negateG2(sum);
        assertEq(Bls12381.packG2(Bls12381.pointG2(sum)), BlsPoints.negateG2(packed), "negated");
        assertEq(
            keccak256(abi.encode(Bls12381.unpackG2(packed))), keccak256(BlsPoints.pad(packed)), "unpacked as padded"
        );
    }

    function testFuzz_mapToG1_agrees_with_the_plain_twin(uint256 high, uint256 low) public view {
        high %= P_HIGH;
        dirtyMemory();
        bytes memory packed = Bls12381.packG1(Bls12381.mapToG1(high, low));
        assertEq(packed, BlsPoints.mapToG1(abi.encodePacked(uint128(high), low)), "mapToG1");
    }

    /// forge-config: default.fuzz.runs = 32
    function testFuzz_pairing_is_bilinear(uint256 a, uint256 b) public view {
        a = bound(a, 1, ORDER - 1);
        b = bound(b, 1, ORDER - 1);
        bytes memory aG1 = BlsPoints.multiplyG1(G1, a);
        bytes memory bG2 = BlsPoints.multiplyG2(G2, b);
        bytes memory abG1 = BlsPoints.multiplyG1(G1, mulmod(a, b, ORDER));
        bytes memory minusG2 = Bls12381.packG2(Bls12381.negatedGeneratorG2());
        assertTrue(caller.isPairingOne(aG1, bG2, abG1, minusG2), "e(aG1, bG2) = e(abG1, G2)");
        assertTrue(!caller.isPairingOne(aG1, bG2, abG1, G2), "e(aG1, bG2) = e(abG1, -G2)");
        assertTrue(BlsPoints.isPairingOne(aG1, bG2, abG1, minusG2), "twin");
    }

    // --------------------------------------------------------------------------------------------------------- points

    function test_generator_is_negated() public pure {
        assertEq(Bls12381.packG2(Bls12381.negatedGeneratorG2()), BlsPoints.negateG2(G2), "-G2");
    }

    function test_equal_points() public view {
        bytes memory twice = BlsPoints.multiplyG2(G2, 2);
        assertEq(caller.addG2(G2, G2), twice, "G2 + G2");
        assertEq(caller.subG2(G2, BlsPoints.negateG2(G2)), twice, "G2 - (-G2)");
        assertEq(caller.addG1(G1, G1), BlsPoints.multiplyG1(G1, 2), "G1 + G1");
    }

    /// @notice Operators who collude hold the keys a, b and a + b, so the third key is equal to the sum.
    function test_colluding_keys_meet_a_sum_equal_to_the_key() public view {
        bytes memory a = BlsPoints.multiplyG2(G2, 5);
        bytes memory b = BlsPoints.multiplyG2(G2, 7);
        bytes memory c = BlsPoints.multiplyG2(G2, 12);
        G2Sum memory sum;
        Bls12381.addG2(sum, positionOf(a));
        Bls12381.addG2(sum, positionOf(b));
        Bls12381.addG2(sum, positionOf(c));
        assertEq(Bls12381.packG2(Bls12381.pointG2(sum)), BlsPoints.multiplyG2(G2, 24), "24 G2");
    }

    function test_opposite_points_give_infinity() public view {
        assertEq(caller.addG2(G2, BlsPoints.negateG2(G2)), new bytes(192), "G2 + (-G2)");
        assertEq(caller.subG2(G2, G2), new bytes(192), "G2 - G2");
        assertEq(caller.addG1(G1, BlsPoints.multiplyG1(G1, ORDER - 1)), new bytes(96), "G1 + (-G1)");
    }

    function test_infinity_is_neutral() public view {
        bytes memory infinity = new bytes(192);
        assertEq(caller.addG2(infinity, G2), G2, "0 + G2");
        assertEq(caller.addG2(G2, infinity), G2, "G2 + 0");
        assertEq(caller.subG2(G2, infinity), G2, "G2 - 0");
        assertEq(caller.subG2(infinity, G2), BlsPoints.negateG2(G2), "0 - G2");
        assertEq(caller.subG2(infinity, infinity), infinity, "0 - 0");
        assertEq(caller.addG1(new bytes(96), G1), G1, "0 + G1");
        assertEq(caller.addG1(G1, new bytes(96)), G1, "G1 + 0");
    }

    function test_loading_replaces_every_word_of_the_sum() public pure {
        G2Sum memory sum;
        (sum.x0High, sum.x1High, sum.y0High, sum.y1High) =
        (type(uint256).max, type(uint256).max, type(uint256).max, type(uint256).max);
        Bls12381.loadG2(sum, positionOf(G2));
        assertEq(keccak256(abi.encode(Bls12381.pointG2(sum))), keccak256(BlsPoints.pad(G2)), "loaded");
    }

    /// @notice Shows why the caller must refuse the key of an empty quorum.
    function test_infinity_passes_the_pairing() public view {
        assertTrue(caller.isPairingOne(new bytes(96), G2, G1, new bytes(192)), "infinity passes");
        assertTrue(Bls12381.isInfinity(Bls12381.unpackG1(new bytes(96))), "0 in G1");
        assertTrue(Bls12381.isInfinity(Bls12381.unpackG2(new bytes(192))), "0 in G2");
    }

    function test_no_word_of_a_point_is_left_out_of_isInfinity() public pure {
        for (uint256 i = 0; i < 8; ++i) {
            uint256[8] memory words;
            words[i] = 1;
            G2Point memory point = abi.decode(abi.encode(words), (G2Point));
            assertTrue(!Bls12381.isInfinity(point), "G2");
            if (i > 3) continue;
            G1Point memory inG1 = abi.decode(abi.encode(words), (G1Point));
            assertTrue(!Bls12381.isInfinity(inG1), "G1");
        }
    }

    function test_negation_of_a_y_with_a_zero_part() public view {
        bytes[2] memory points = [G2_Y_REAL, G2_Y_IMAGINARY];
        for (uint256 i = 0; i < 2; ++i) {
            assertEq(caller.subG2(points[i], points[i]), new bytes(192), "P - P");
            bytes memory minus = caller.subG2(new bytes(192), points[i]);
            assertEq(minus, BlsPoints.negateG2(points[i]), "-P");
            assertEq(caller.subG2(new bytes(192), minus), points[i], "-(-P)");
        }
    }

    function test_point_outside_the_subgroup_is_accepted_by_the_additions() public view {
        bytes memory g1Outside = abi.encodePacked(bytes32(0), bytes16(0), bytes32(0), bytes16(uint128(2)));
        caller.addG1(G1, g1Outside);
        caller.addG2(G2, G2_OUTSIDE);
        caller.subG2(G2, G2_OUTSIDE);
    }

    function test_point_outside_the_subgroup_is_refused_by_the_pairing() public {
        bytes memory g1Outside = abi.encodePacked(bytes32(0), bytes16(0), bytes32(0), bytes16(uint128(2)));
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(G1, G2_OUTSIDE, G1, G2);
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(G1, G2, G1, G2_OUTSIDE);
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(g1Outside, G2, G1, G2);
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(G1, G2, g1Outside, G2);
    }

    function test_point_off_the_curve_is_refused() public {
        bytes memory g1 = bytes.concat(G1);
        g1[95] ^= 0x01;
        bytes memory g2 = bytes.concat(G2);
        g2[191] ^= 0x01;
        vm.expectRevert(Bls12381.G1AddFailed.selector);
        caller.addG1{gas: LIMIT}(G1, g1);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.addG2{gas: LIMIT}(G2, g2);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.addG2{gas: LIMIT}(g2, G2);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.addG2Calldata{gas: LIMIT}(G2, g2);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.subG2{gas: LIMIT}(G2, g2);
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(g1, G2, G1, G2);
        vm.expectRevert(Bls12381.PairingFailed.selector);
        caller.isPairingOne{gas: LIMIT}(G1, G2, G1, g2);
    }

    /// @notice Adds p to each coordinate of a good point. That is the same point in another encoding.
    function test_coordinate_not_below_p_is_refused() public {
        // 2p < 2^384, so every coordinate has a second encoding.
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory g2 = raisedByP(G2, i);
            vm.expectRevert(Bls12381.G2AddFailed.selector);
            caller.addG2{gas: LIMIT}(new bytes(192), g2);
            vm.expectRevert(Bls12381.G2AddFailed.selector);
            caller.addG2Calldata{gas: LIMIT}(new bytes(192), g2);
            vm.expectRevert(Bls12381.G2AddFailed.selector);
            caller.subG2{gas: LIMIT}(new bytes(192), g2);
            vm.expectRevert(Bls12381.PairingFailed.selector);
            caller.isPairingOne{gas: LIMIT}(G1, g2, G1, G2);
        }
        for (uint256 i = 0; i < 2; ++i) {
            bytes memory g1 = raisedByP(G1, i);
            vm.expectRevert(Bls12381.G1AddFailed.selector);
            caller.addG1{gas: LIMIT}(new bytes(96), g1);
            vm.expectRevert(Bls12381.PairingFailed.selector);
            caller.isPairingOne{gas: LIMIT}(g1, G2, G1, G2);
        }
        vm.expectRevert(Bls12381.MapToG1Failed.selector);
        caller.mapToG1{gas: LIMIT}(P_HIGH, P_LOW);
        caller.mapToG1(P_HIGH, P_LOW - 1);
    }

    /// @notice p - p = 0 would turn an encoding that is not canonical into a canonical one.
    function test_zero_part_of_y_written_as_p_is_refused_by_the_subtraction() public {
        bytes memory real = raisedByP(G2_Y_REAL, 3);
        bytes memory imaginary = raisedByP(G2_Y_IMAGINARY, 2);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.subG2{gas: LIMIT}(new bytes(192), real);
        vm.expectRevert(Bls12381.G2AddFailed.selector);
        caller.subG2{gas: LIMIT}(new bytes(192), imaginary);
    }

    function test_length_of_a_packed_point() public {
        bytes memory long = new bytes(193);
        bytes memory short = new bytes(95);
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PackedLengthWrong.selector, 193));
        caller.addG2Calldata(G2, long);
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PackedLengthWrong.selector, 193));
        caller.isPairingOne(G1, long, G1, G2);
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PackedLengthWrong.selector, 95));
        caller.isPairingOne(G1, G2, short, G2);
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PackedLengthWrong.selector, 95));
        caller.unpackG1Calldata(short);
    }

    // ---------------------------------------------------------------------------------------------------- precompiles

    /// @notice Cancun does not have EIP-2537. A call of 0x0d succeeds there and returns nothing.
    /// forge-config: default.evm_version = "cancun"
    function test_chain_without_the_precompiles() public {
        expectMissing(0x0b);
        caller.addG1(G1, G1);
        expectMissing(0x0d);
        caller.addG2(G2, G2);
        expectMissing(0x0d);
        caller.addG2Calldata(G2, G2);
        expectMissing(0x0d);
        caller.subG2(G2, G2);
        expectMissing(0x0f);
        caller.isPairingOne(G1, G2, G1, G2);
        expectMissing(0x10);
        caller.mapToG1(0, 1);
    }

    /// @notice Puts other code at the address, which returns a word too few or too many.
    function test_answer_of_a_wrong_length() public {
        uint256[4] memory precompiles = [uint256(0x0b), 0x0d, 0x0f, 0x10];
        uint256[4] memory lengths = [uint256(128), 256, 32, 128];
        for (uint256 i = 0; i < 4; ++i) {
            for (uint256 change = 0; change < 3; ++change) {
                bytes memory answer = new bytes(change == 0 ? 0 : change == 1 ? lengths[i] - 32 : lengths[i] + 32);
                vmMore.mockCall(address(uint160(precompiles[i])), "", answer);
                expectMissing(precompiles[i]);
                if (i == 0) caller.addG1(G1, G1);
                if (i == 1) caller.addG2(G2, G2);
                if (i == 2) caller.isPairingOne(G1, G2, G1, G2);
                if (i == 3) caller.mapToG1(0, 1);
                vmMore.clearMockedCalls();
            }
        }
    }

    /// @notice An answer of the right length that is neither 0 nor 1 does not count as true.
    function test_pairing_answer_is_compared_with_one() public {
        vmMore.mockCall(address(0x0f), "", abi.encode(uint256(2)));
        assertTrue(!caller.isPairingOne(G1, G2, G1, G2), "2");
        vmMore.mockCall(address(0x0f), "", abi.encode(uint256(1)));
        assertTrue(caller.isPairingOne(G1, G2, G1, G2), "1");
    }

    function test_modulus_is_that_of_eip2537() public pure {
        assertEq(BlsPoints.pack(abi.encode(BLS12381_P_HIGH, BLS12381_P_LOW)), P, "p");
    }

    /// @notice A malformed point costs nearly all the gas of the call, whatever the precompile's price is, and no more.
    /// So a caller who limits the gas of the call keeps the rest.
    function test_refusing_precompile_burns_what_the_call_was_given() public {
        bytes memory g1 = bytes.concat(G1);
        g1[95] ^= 0x01;
        bytes memory g2 = bytes.concat(G2);
        g2[191] ^= 0x01;
        uint256[3] memory limits = [uint256(300_000), 1_000_000, 16_000_000];
        for (uint256 i = 0; i < limits.length; ++i) {
            uint256 limit = limits[i];
            bytes memory data = abi.encodeCall(Bls12381Caller.isPairingOne, (g1, G2, G1, G2));
            uint256 burnt = refuse(data, limit, Bls12381.PairingFailed.selector);
            vm.snapshotValue("Bls12381", string.concat("malformed point, call of ", vm.toString(limit)), burnt);
            refuse(abi.encodeCall(Bls12381Caller.addG1, (G1, g1)), limit, Bls12381.G1AddFailed.selector);
            bytes4 why = Bls12381.G2AddFailed.selector;
            refuse(abi.encodeCall(Bls12381Caller.addG2, (G2, g2)), limit, why);
            refuse(abi.encodeCall(Bls12381Caller.addG2Calldata, (G2, g2)), limit, why);
            refuse(abi.encodeCall(Bls12381Caller.subG2, (G2, g2)), limit, why);
            refuse(abi.encodeCall(Bls12381Caller.mapToG1, (P_HIGH, P_LOW)), limit, Bls12381.MapToG1Failed.selector);
        }
    }

    // ------------------------------------------------------------------------------------------------------------ gas

    function test_gas() public {
        bytes memory key = BlsPoints.multiplyG2(G2, 3);
        bytes memory tag = "QUORATE-V01-CS01-with-BLS12381G1_XMD:SHA-256_SSWU_RO_";
        uint256 position = positionOf(key);
        G2Sum memory sum;
        Bls12381.loadG2(sum, positionOf(G2));
        Bls12381.addG2(sum, position);

        uint256 before = gasleft();
        uint256 nothing = since(before);

        uint256 sumAt;
        assembly {
            sumAt := sum
        }
        before = gasleft();
        Bls12381.addG2At(sumAt, position);
        uint256 add = since(before);

        before = gasleft();
        Bls12381.subG2(sum, position);
        uint256 sub = since(before);

        before = gasleft();
        Bls12381.negateG2(sum);
        uint256 negate = since(before);

        before = gasleft();
        G1Point memory hash = HashToBls12381.hashToG1(bytes32(uint256(1)), tag);
        uint256 hashing = since(before);

        before = gasleft();
        HashToBls12381.reduce(hash.yLow, hash.xLow);
        uint256 reduction = since(before);

        G1Point memory other = Bls12381.mapToG1(0, 1);
        before = gasleft();
        Bls12381.addG1(other, hash);
        uint256 addInG1 = since(before);

        G2Point memory point = Bls12381.pointG2(sum);
        G2Point memory minusG2 = Bls12381.negatedGeneratorG2();
        before = gasleft();
        Bls12381.isPairingOne(hash, point, other, minusG2);
        uint256 pairing = since(before);

        vm.snapshotValue("Bls12381", "addG2, a key", add - nothing);
        vm.snapshotValue("Bls12381", "subG2, a key", sub - nothing);
        vm.snapshotValue("Bls12381", "negateG2", negate - nothing);
        vm.snapshotValue("Bls12381", "addG1", addInG1 - nothing);
        vm.snapshotValue("Bls12381", "hashToG1, 32 bytes, tag of 53", hashing - nothing);
        vm.snapshotValue("Bls12381", "reduce, 512 bits", reduction - nothing);
        vm.snapshotValue("Bls12381", "isPairingOne, two pairs", pairing - nothing);
        assertTrue(add < 950 && sub < 1_350 && hashing < 14_700 && pairing < 103_500, "gas");
    }

    // ---------------------------------------------------------------------------------------------------------- parts

    /// @notice The gas spent since `before`, without the checked subtraction.
    function since(uint256 before) internal view returns (uint256 spent) {
        unchecked {
            spent = before - gasleft();
        }
    }

    /// @notice The call reverts and says why. It burns at least 62/64 of its gas, and no more than all of it.
    function refuse(bytes memory data, uint256 limit, bytes4 why) internal returns (uint256 burnt) {
        bool ok;
        bytes memory answer;
        (ok, answer, burnt) = meter.measure(address(caller), data, limit);
        assertTrue(!ok, "refused");
        assertEq(answer, abi.encodeWithSelector(why), "why");
        // A call of another contract costs 2,600, and Meter some more.
        assertTrue(burnt > limit / 64 * 62 && burnt < limit + 5_000, "nearly all of the limit");
    }

    function expectMissing(uint256 precompile) internal {
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PrecompileMissing.selector, precompile));
    }

    /// @notice One half of a padded input, packed.
    function half(bytes memory input, uint256 which) internal pure returns (bytes memory) {
        return BlsPoints.pack(BlsPoints.slice(input, which * input.length / 2, input.length / 2));
    }

    function paddingIsZero(bytes memory input) internal pure returns (bool) {
        for (uint256 i = 0; i < input.length; ++i) {
            if (i % 64 < 16 && input[i] != 0) return false;
        }
        return true;
    }

    /// @notice Adds p to one coordinate, named by its number.
    function raisedByP(bytes memory packed, uint256 coordinate) internal pure returns (bytes memory raised) {
        raised = bytes.concat(packed);
        bytes memory p = P;
        uint256 carry = 0;
        for (uint256 j = 0; j < 48; ++j) {
            uint256 i = 47 - j;
            carry += uint256(uint8(p[i])) + uint8(raised[coordinate * 48 + i]);
            raised[coordinate * 48 + i] = bytes1(uint8(carry));
            carry >>= 8;
        }
        require(carry == 0, "fits");
    }

    function positionOf(bytes memory key) internal pure returns (uint256 position) {
        assembly {
            position := add(key, 0x20)
        }
    }
}
