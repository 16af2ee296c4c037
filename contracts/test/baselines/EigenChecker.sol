// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BitmapHistory, KeyHistory, StakeHistory, TransparentProxy} from "./EigenRegistries.sol";
import {Bn254} from "../../src/libraries/Bn254.sol";

/// @title A contract that settles results by EigenLayer's `checkSignatures`
/// @notice For the benchmark alone. It is rebuilt from what `BLSSignatureChecker` of eigenlayer-middleware does, in the
/// version of May 2025 that no longer looks for stale stakes; older ones read three slots more. The consumer inherits
/// the checker, as EigenLayer's services do, and takes the message, the nonce and the event from `Baseline`.
///
/// A call reads these cold slots: the number of quorums; two of the history of the quorum's aggregate key; two of the
/// history of its total stake; and for each operator who did not sign, two of the history of its quorums and two of the
/// history of its stake. All three registries are contracts of their own (2,600 gas for the first call). With proxies,
/// each registry adds two slots and the account of the implementation, and each further call 300 gas. Besides that the
/// consumer reads and writes its nonce.
///
/// The digest is hashed to the curve as they do it: x = digest mod p is counted up until a root by MODEXP is one, twice
/// on average, without a hint. The settings of the compiler are those of this repository.
contract EigenChecker {
    /// @notice What the aggregator passes, in the order of their `NonSignerStakesAndSignature`, of which each part has
    /// the same type.
    struct Params {
        uint32[] bitmapIndices;
        Bn254.G1[] nonSigners;
        Bn254.G1[] quorumKeys;
        Bn254.G2 signersKey;
        Bn254.G1 signature;
        uint32[] quorumKeyIndices;
        uint32[] totalIndices;
        uint32[][] stakeIndices;
    }

    /// @notice The stake that signed, and all stake, for each quorum.
    struct Totals {
        uint96[] signed;
        uint96[] all;
    }

    /// @notice The operators who did not sign: their ids, and the quorums they are in.
    struct Absent {
        bytes32[] ids;
        uint256[] quorums;
    }

    /// @notice A result needs this part of the stake, in percent. It is small because the other baselines require no
    /// stake at all.
    uint256 public constant THRESHOLD = 1;

    uint256 private constant P = Bn254.P;
    /// @dev (p + 1)/4.
    uint256 private constant ROOT = 0x0c19139cb84c680a6e14116da060561765e05aa45a1c72a34f082305b61f3f52;
    /// @dev What they forward to the pairing.
    uint256 private constant PAIRING_GAS = 120_000;

    bytes32 private constant RESULT =
        keccak256("Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)");

    BitmapHistory public immutable bitmaps;
    StakeHistory public immutable stakes;
    KeyHistory public immutable keys;
    uint256 public nonce = 1;

    event Settled(uint256 indexed nonce, bytes32 result);

    error NoQuorum();
    error LengthsDiffer();
    error BlockToCome();
    error NotAscending();
    error NoSuchQuorum();
    error NotTheQuorumsKey();
    error PrecompileFailed();
    error FalseSignature();
    error TooLittleStake();

    /// @param bitmaps_ Where the quorums of the operators are, maybe a proxy.
    /// @param stakes_ Where the stakes are.
    /// @param keys_ Where the hashes of the quorums' keys are.
    constructor(BitmapHistory bitmaps_, StakeHistory stakes_, KeyHistory keys_) {
        (bitmaps, stakes, keys) = (bitmaps_, stakes_, keys_);
    }

    /// @notice Registers an operator for quorum 0.
    /// @param key Its key in G1.
    /// @param stake Its stake.
    function register(Bn254.G1 calldata key, uint96 stake) external {
        bytes32 id = keccak256(abi.encode(key));
        bitmaps.register(id);
        stakes.setStake(id, stake);
        keys.register(key);
    }

    /// @notice The digest that operators sign.
    /// @param nonce_ The result's number.
    /// @param result The result.
    /// @return The digest.
    function resultDigest(uint256 nonce_, bytes32 result) public view returns (bytes32) {
        return keccak256(abi.encode(RESULT, block.chainid, address(this), nonce_, result));
    }

    /// @notice Settles a result that enough stake signed.
    /// @param result The result.
    /// @param quorums The numbers of the quorums, one byte each, ascending.
    /// @param inBlock The block whose operators and stakes count.
    /// @param params Who did not sign, the hints of the histories, and the signature.
    function settle(bytes32 result, bytes calldata quorums, uint32 inBlock, Params memory params) external {
        (Totals memory totals,) = checkSignatures(resultDigest(nonce, result), quorums, inBlock, params);
        for (uint256 i = 0; i < quorums.length; i++) {
            require(uint256(totals.signed[i]) * 100 >= uint256(totals.all[i]) * THRESHOLD, TooLittleStake());
        }
        emit Settled(nonce++, result);
    }

    /// @notice Reverts unless all operators of the quorums but the named ones signed a digest.
    /// @param digest The digest.
    /// @param quorums The numbers of the quorums.
    /// @param inBlock The block whose operators and stakes count.
    /// @param params Who did not sign, the hints, and the signature.
    /// @return totals The stake that signed, and all stake.
    /// @return record A hash of the block and of those who did not sign.
    function checkSignatures(bytes32 digest, bytes calldata quorums, uint32 inBlock, Params memory params)
        public
        view
        returns (Totals memory totals, bytes32 record)
    {
        require(quorums.length != 0, NoQuorum());
        require(
            quorums.length == params.quorumKeys.length && quorums.length == params.quorumKeyIndices.length
                && quorums.length == params.totalIndices.length && quorums.length == params.stakeIndices.length
                && params.nonSigners.length == params.bitmapIndices.length,
            LengthsDiffer()
        );
        require(inBlock < uint32(block.number), BlockToCome());
        totals.signed = new uint96[](quorums.length);
        totals.all = new uint96[](quorums.length);
        (Absent memory absent, Bn254.G1 memory key) = _absent(quorums, inBlock, params);
        key = _negated(key);
        for (uint256 i = 0; i < quorums.length; i++) {
            uint8 quorum = uint8(quorums[i]);
            bytes24 hash = bytes24(_hashOf(params.quorumKeys[i]));
            require(hash == keys.keyHashAt(quorum, inBlock, params.quorumKeyIndices[i]), NotTheQuorumsKey());
            key = _add(key, params.quorumKeys[i]);
            totals.all[i] = stakes.totalAt(quorum, inBlock, params.totalIndices[i]);
            totals.signed[i] = totals.all[i] - _stakeOf(absent, quorum, inBlock, params.stakeIndices[i]);
        }
        _checkPairing(digest, key, params.signersKey, params.signature);
        record = keccak256(abi.encodePacked(inBlock, absent.ids));
    }

    /// @dev Those who did not sign, and the sum of their keys, each as often as the operator is in one of the quorums.
    function _absent(bytes calldata quorums, uint32 inBlock, Params memory params)
        private
        view
        returns (Absent memory absent, Bn254.G1 memory sum)
    {
        uint256 signing = _bitmapOf(quorums);
        require(signing >> bitmaps.quorumCount() == 0, NoSuchQuorum());
        absent.ids = new bytes32[](params.nonSigners.length);
        absent.quorums = new uint256[](params.nonSigners.length);
        for (uint256 j = 0; j < params.nonSigners.length; j++) {
            absent.ids[j] = _hashOf(params.nonSigners[j]);
            // Ascending ids: nobody is named twice.
            if (j != 0) require(uint256(absent.ids[j]) > uint256(absent.ids[j - 1]), NotAscending());
            absent.quorums[j] = bitmaps.quorumsAt(absent.ids[j], inBlock, params.bitmapIndices[j]);
            for (uint256 common = absent.quorums[j] & signing; common != 0; common &= common - 1) {
                sum = _add(sum, params.nonSigners[j]);
            }
        }
    }

    /// @dev The stake in a quorum of those who did not sign. `indices` has one for each of them who is in the quorum.
    function _stakeOf(Absent memory absent, uint8 quorum, uint32 inBlock, uint32[] memory indices)
        private
        view
        returns (uint96 stake)
    {
        uint256 place = 0;
        for (uint256 j = 0; j < absent.ids.length; j++) {
            if ((absent.quorums[j] >> quorum) & 1 == 0) continue;
            stake += stakes.stakeAt(quorum, inBlock, absent.ids[j], indices[place]);
            unchecked {
                ++place;
            }
        }
    }

    function _bitmapOf(bytes calldata quorums) private pure returns (uint256 bitmap) {
        for (uint256 i = 0; i < quorums.length; i++) {
            uint256 bit = 2 ** uint8(quorums[i]);
            require(bit > bitmap, NotAscending());
            bitmap |= bit;
        }
    }

    /// @dev With γ a hash of all points: e(s + γ·pk1, -G2) · e(H + γ·G1, pk2) = 1. It proves the signature, and that the
    /// two keys have one secret.
    function _checkPairing(bytes32 digest, Bn254.G1 memory key, Bn254.G2 memory signersKey, Bn254.G1 memory signature)
        private
        view
    {
        uint256 gamma = uint256(
            keccak256(
                abi.encodePacked(
                    digest,
                    key.x,
                    key.y,
                    signersKey.xIm,
                    signersKey.xRe,
                    signersKey.yIm,
                    signersKey.yRe,
                    signature.x,
                    signature.y
                )
            )
        ) % Bn254.R;
        Bn254.G1 memory left = _add(signature, _times(key, gamma));
        Bn254.G1 memory right = _add(_hashToCurve(digest), _times(Bn254.G1(1, 2), gamma));
        Bn254.G2 memory negated = Bn254.negatedG2Generator();
        uint256[12] memory input = [
            left.x,
            left.y,
            negated.xIm,
            negated.xRe,
            negated.yIm,
            negated.yRe,
            right.x,
            right.y,
            signersKey.xIm,
            signersKey.xRe,
            signersKey.yIm,
            signersKey.yRe
        ];
        uint256[1] memory one;
        bool done;
        assembly ("memory-safe") {
            done := staticcall(PAIRING_GAS, 8, input, 0x180, one, 0x20)
        }
        require(done, PrecompileFailed());
        require(one[0] != 0, FalseSignature());
    }

    /// @dev Ends after two rounds on average; half of all x have a root.
    function _hashToCurve(bytes32 digest) private view returns (Bn254.G1 memory point) {
        for (point.x = uint256(digest) % P;; point.x = addmod(point.x, 1, P)) {
            uint256 right = addmod(mulmod(mulmod(point.x, point.x, P), point.x, P), 3, P);
            point.y = _power(right);
            if (mulmod(point.y, point.y, P) == right) return point;
        }
    }

    /// @dev The root of a square, by MODEXP.
    function _power(uint256 square) private view returns (uint256) {
        uint256[6] memory input = [uint256(32), 32, 32, square, ROOT, P];
        uint256[1] memory root;
        bool done;
        assembly ("memory-safe") {
            done := staticcall(sub(gas(), 2000), 5, input, 0xc0, root, 0x20)
        }
        require(done, PrecompileFailed());
        return root[0];
    }

    function _add(Bn254.G1 memory a, Bn254.G1 memory b) private view returns (Bn254.G1 memory sum) {
        uint256[4] memory input = [a.x, a.y, b.x, b.y];
        bool done;
        assembly ("memory-safe") {
            done := staticcall(sub(gas(), 2000), 6, input, 0x80, sum, 0x40)
        }
        require(done, PrecompileFailed());
    }

    function _times(Bn254.G1 memory a, uint256 scalar) private view returns (Bn254.G1 memory product) {
        uint256[3] memory input = [a.x, a.y, scalar];
        bool done;
        assembly ("memory-safe") {
            done := staticcall(sub(gas(), 2000), 7, input, 0x60, product, 0x40)
        }
        require(done, PrecompileFailed());
    }

    function _negated(Bn254.G1 memory a) private pure returns (Bn254.G1 memory) {
        return a.x | a.y == 0 ? Bn254.G1(0, 0) : Bn254.G1(a.x, P - (a.y % P));
    }

    function _hashOf(Bn254.G1 memory a) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(a, 0x40)
        }
    }
}

/// @notice The same with a proxy before each registry, as EigenLayer deploys them.
contract EigenDeployment {
    EigenChecker public immutable checker;

    /// @param proxies Whether the registries stand behind proxies.
    constructor(bool proxies) {
        BitmapHistory bitmaps = new BitmapHistory();
        StakeHistory stakes = new StakeHistory();
        KeyHistory keys = new KeyHistory();
        if (proxies) {
            bitmaps = BitmapHistory(address(new TransparentProxy(address(bitmaps))));
            stakes = StakeHistory(address(new TransparentProxy(address(stakes))));
            keys = KeyHistory(address(new TransparentProxy(address(keys))));
        }
        bitmaps.createQuorum();
        checker = new EigenChecker(bitmaps, stakes, keys);
    }
}
