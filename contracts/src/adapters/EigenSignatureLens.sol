// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBLSSignatureChecker} from "../interfaces/IBLSSignatureChecker.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {CodePages} from "../libraries/CodePages.sol";
import {HashToBn254Counting} from "../libraries/HashToBn254Counting.sol";
import {EigenSignatureChecker} from "./EigenSignatureChecker.sol";
import {IEigenCoordinator, IEigenKeys, IEigenStakes} from "./IEigenMiddleware.sol";
import {OperatorSnapshots} from "./OperatorSnapshots.sol";

/// @title The encoder of `EigenSignatureChecker`, for calls off chain
/// @notice An aggregator or a keeper calls it by eth_call, as it calls EigenLayer's `OperatorStateRetriever`. It has no
/// state. Nobody has to trust it: the checker checks all that it returns.
// slither-disable-next-line missing-inheritance
contract EigenSignatureLens {
    // It is called off chain.
    // slither-disable-start calls-loop

    /// @dev Bytes of a page before its payload.
    uint256 private constant HEADER = CodePages.HEADER;

    /// @dev The absent operators of some pages.
    struct Found {
        bytes32[] ids;
        IBLSSignatureChecker.G1Point[] keys;
        uint256 count;
        bytes bitmaps;
    }

    /// @notice The keys of a quorum's operators do not add up to its aggregate key: one is missing.
    /// @param quorum The quorum's number.
    error KeysMissing(uint256 quorum);
    /// @notice An absent operator is on none of the pages.
    /// @param operatorId The hash of its key.
    error NotListed(bytes32 operatorId);
    /// @notice An absent operator was named twice.
    /// @param named How many were named.
    /// @param different How many of them are different.
    error NamedTwice(uint256 named, uint256 different);
    /// @notice The first word of the argument has no room for these pages: there are more than 6, or none, or a nonce has
    /// more than 32 bits.
    /// @param pages The nonces.
    error NotThesePages(uint256[] pages);

    /// @notice What `take` needs.
    /// @param checker The checker.
    /// @param inBlock The block of the snapshot.
    /// @param quorumNumbers The numbers of the quorums, one byte each, rising.
    /// @param keys The keys of all operators of the quorums, in any order. Those of others are left out.
    /// @return quorums The quorums.
    /// @return operators The operators. For a snapshot of several pages, cut them at multiples of 68 + 4Q bytes, with Q
    /// quorums, and pass the parts one by one. A page has room for (24,497 - 21Q)/(65 + 12Q) operators.
    function takeArguments(
        EigenSignatureChecker checker,
        uint32 inBlock,
        bytes calldata quorumNumbers,
        Bn254.G1[] memory keys
    ) external view returns (OperatorSnapshots.Quorum[] memory quorums, bytes memory operators) {
        _sort(keys);
        quorums = _quorums(checker, inBlock, quorumNumbers);
        for (uint256 i = 0; i < keys.length; i++) {
            // A key may have been passed twice.
            if (i != 0 && _idOf(keys[i]) == _idOf(keys[i - 1])) continue;
            bytes memory indices = _indices(checker, inBlock, quorums, keys[i]);
            if (indices.length != 0) operators = bytes.concat(operators, abi.encode(keys[i]), indices);
        }
        for (uint256 i = 0; i < quorums.length; i++) {
            bytes24 hash = IEigenKeys(checker.blsApkRegistry())
                .getApkHashAtBlockNumberAndIndex(quorums[i].number, inBlock, quorums[i].keyIndex);
            require(bytes24(_idOf(quorums[i].key)) == hash, KeysMissing(quorums[i].number));
        }
    }

    /// @notice The last argument of `checkSignatures`, by a snapshot.
    /// @param checker The checker.
    /// @param msgHash The message.
    /// @param pages The nonces of the snapshot's pages that list the absent operators, by rising ids; at least one, and at
    /// most 6.
    /// @param readRegistries Whether the check reads the registries to see that the snapshot is right in the reference
    /// block. Not needed in the snapshot's block, and up to the block that `extend` proved.
    /// @param absent The ids of the operators who did not sign, each once, in any order.
    /// @param apkG2 The sum of the G2 keys of those who signed, each as often as it is in one of the quorums.
    /// @param sigma The sum of their signatures, each as often.
    /// @return params The argument.
    function paramsOf(
        EigenSignatureChecker checker,
        bytes32 msgHash,
        uint256[] calldata pages,
        bool readRegistries,
        bytes32[] calldata absent,
        IBLSSignatureChecker.G2Point calldata apkG2,
        IBLSSignatureChecker.G1Point calldata sigma
    ) external view returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory params) {
        (params.apkG2, params.sigma) = (apkG2, sigma);
        _checkPages(pages);
        uint256 first = absent.length << 192 | (readRegistries ? uint256(1) << 232 : 0) | pages.length << 248;
        Found memory found;
        found.ids = new bytes32[](absent.length);
        found.keys = new IBLSSignatureChecker.G1Point[](absent.length);
        for (uint256 i = 0; i < pages.length; i++) {
            first |= pages[i] << (32 * i);
            _find(checker, pages[i], absent, found);
        }
        for (uint256 i = 0; i < absent.length; i++) {
            require(_isIn(absent[i], found.ids), NotListed(absent[i]));
        }
        require(found.count == absent.length, NamedTwice(absent.length, found.count));
        if (checker.keysAreNamed()) params.nonSignerPubkeys = found.keys;
        uint256[] memory hints = HashToBn254Counting.find(msgHash);
        params.quorumApks =
            _points(bytes.concat(bytes32(first | hints.length << 240), found.bitmaps, abi.encodePacked(hints)));
    }

    /// @dev Reverts unless the first word of the argument has room for the nonces.
    function _checkPages(uint256[] calldata pages) private pure {
        bool fit = pages.length != 0 && pages.length <= 6;
        for (uint256 i = 0; i < pages.length; i++) {
            fit = fit && pages[i] <= type(uint32).max;
        }
        require(fit, NotThesePages(pages));
    }

    /// @dev Words as points, two to a point.
    function _points(bytes memory words) private pure returns (IBLSSignatureChecker.G1Point[] memory points) {
        if (words.length % 64 != 0) words = bytes.concat(words, bytes32(0));
        points = new IBLSSignatureChecker.G1Point[](words.length / 64);
        for (uint256 i = 0; i < points.length; i++) {
            IBLSSignatureChecker.G1Point memory point = points[i];
            assembly ("memory-safe") {
                mcopy(point, add(add(words, 0x20), shl(6, i)), 0x40)
            }
        }
    }

    /// @dev The quorums with their indices, without their keys.
    function _quorums(EigenSignatureChecker checker, uint32 inBlock, bytes calldata quorumNumbers)
        private
        view
        returns (OperatorSnapshots.Quorum[] memory quorums)
    {
        uint32[] memory keyIndices =
            IEigenKeys(checker.blsApkRegistry()).getApkIndicesAtBlockNumber(quorumNumbers, inBlock);
        uint32[] memory totalIndices =
            IEigenStakes(checker.stakeRegistry()).getTotalStakeIndicesAtBlockNumber(inBlock, quorumNumbers);
        quorums = new OperatorSnapshots.Quorum[](quorumNumbers.length);
        for (uint256 i = 0; i < quorums.length; i++) {
            quorums[i].number = uint8(quorumNumbers[i]);
            (quorums[i].keyIndex, quorums[i].totalIndex) = (keyIndices[i], totalIndices[i]);
        }
    }

    /// @dev The indices of an operator: of its quorums, and of its stake in each quorum. Adds its key to the quorums that it
    /// is in. Empty if it is in none.
    function _indices(
        EigenSignatureChecker checker,
        uint32 inBlock,
        OperatorSnapshots.Quorum[] memory quorums,
        Bn254.G1 memory key
    ) private view returns (bytes memory indices) {
        IEigenCoordinator coordinator = IEigenCoordinator(checker.registryCoordinator());
        bytes32 id = _idOf(key);
        bytes32[] memory one = new bytes32[](1);
        one[0] = id;
        uint32 index;
        // It reverts for an operator who was never there.
        try coordinator.getQuorumBitmapIndicesAtBlockNumber(inBlock, one) returns (uint32[] memory found) {
            index = found[0];
        } catch {
            return "";
        }
        uint192 members = coordinator.getQuorumBitmapAtBlockNumberByIndex(id, inBlock, index);
        indices = abi.encodePacked(index);
        bool any = false;
        for (uint256 i = 0; i < quorums.length; i++) {
            uint32 stake = 0;
            if ((members >> quorums[i].number) & 1 != 0) {
                any = true;
                quorums[i].key = Bn254.add(quorums[i].key, key);
                stake = IEigenStakes(checker.stakeRegistry())
                    .getStakeUpdateIndexAtBlockNumber(id, quorums[i].number, inBlock);
            }
            indices = abi.encodePacked(indices, stake);
        }
        if (!any) return "";
    }

    /// @dev Shell's sort, by ids: with these gaps about n^1.3 steps.
    function _sort(Bn254.G1[] memory keys) private pure {
        uint16[8] memory gaps = [701, 301, 132, 57, 23, 10, 4, 1];
        for (uint256 g = 0; g < 8; g++) {
            uint256 gap = gaps[g];
            for (uint256 i = gap; i < keys.length; i++) {
                for (uint256 j = i; j >= gap && _idOf(keys[j - gap]) > _idOf(keys[j]); j -= gap) {
                    (keys[j], keys[j - gap]) = (keys[j - gap], keys[j]);
                }
            }
        }
    }

    /// @dev An operator's id: the hash of its key.
    function _idOf(Bn254.G1 memory key) private pure returns (bytes32 id) {
        assembly ("memory-safe") {
            id := keccak256(key, 0x40)
        }
    }

    /// @dev Adds the bitmap of a page, and its absent operators.
    function _find(EigenSignatureChecker checker, uint256 nonce, bytes32[] calldata absent, Found memory found)
        private
        view
    {
        bytes memory code = CodePages.addressOf(address(checker), nonce).code;
        uint256 quorums = uint8(code[HEADER + 4]);
        uint256 record = HEADER + 69 + 21 * quorums;
        uint256 operators = (code.length - record) / (65 + 12 * quorums);
        // Whole words.
        // slither-disable-next-line divide-before-multiply
        bytes memory bitmap = new bytes((operators + 255) / 256 * 32);
        for (uint256 i = 0; i < operators; i++) {
            Bn254.G1 memory key;
            assembly ("memory-safe") {
                mcopy(key, add(add(code, 0x20), record), 0x40)
            }
            record += 65 + 12 * quorums;
            bytes32 id = _idOf(key);
            if (!_isIn(id, absent)) continue;
            bitmap[i / 8] |= bytes1(uint8(0x80 >> (i % 8)));
            found.ids[found.count] = id;
            found.keys[found.count++] = IBLSSignatureChecker.G1Point(key.x, key.y);
        }
        found.bitmaps = bytes.concat(found.bitmaps, bitmap);
    }

    function _isIn(bytes32 id, bytes32[] memory ids) private pure returns (bool) {
        for (uint256 i = 0; i < ids.length; i++) {
            if (ids[i] == id) return true;
        }
        return false;
    }

    // slither-disable-end calls-loop
}
