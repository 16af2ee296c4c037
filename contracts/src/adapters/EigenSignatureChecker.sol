// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBLSSignatureChecker} from "../interfaces/IBLSSignatureChecker.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {CodePages} from "../libraries/CodePages.sol";
import {BN254_P} from "../libraries/Fields.sol";
import {HashToBn254Counting} from "../libraries/HashToBn254Counting.sol";
import {IEigenCoordinator, IEigenKeys, IEigenStakes} from "./IEigenMiddleware.sol";
import {OperatorSnapshots} from "./OperatorSnapshots.sol";

/// @title A drop-in for EigenLayer's `BLSSignatureChecker`
/// @notice Answers `checkSignatures` as theirs does, for less gas. Operators sign what they sign today with the keys that
/// they have today. The registries stay what they are, and their histories decide who was an operator with which stake in the
/// reference block.
///
/// **Two encodings.** What their encoder makes is checked in their way, history by history (`_byHistories`). In the other
/// encoding `totalStakeIndices` is empty, which theirs refuses, and what is needed beside the signature stands in
/// `quorumApks`, two words to a point (`_bySnapshot`):
///
///     1 word          number of pages (1 byte); number of words of the hash, or 0 (1); 1 to read the registries, or 0 (1);
///                     number of absent operators (5); the pages' nonces (24), 4 bytes each, the first one last
///     for each page   a bitmap of the absent ones among its operators: ⌈n/256⌉ words for n operators. Bit i, from the most
///                     significant one on, stands for operator i of the page
///     some words      the words of the message's hash (`HashToBn254Counting`); none lets the contract search
///     0 or 1 words    to make the number even
///
/// `EigenSignatureLens` makes both what `take` needs and this encoding, in calls off chain.
///
/// **What a check proves.** The snapshot is right in the reference block: because that is its block, or because `extend` proved
/// it, or because the registries say so in the call. If none holds the call reverts. The aggregator is not trusted: a
/// quorum's key, each stake and each absent operator's key come from pages of this contract, which `take` filled from the
/// registries. The dual-key check proves that the key in G2 has the secret of the key in G1 (`Bn254.isDualKeySignature`). That
/// nobody registered a rogue key is proved at their registration.
///
/// **Differences from theirs.** If nobody signed, the call reverts, where theirs returns a signed stake of zero for the
/// signature 0. Errors have other names. Malformed points cost all gas of the call, so limit it where you pay for points of
/// others. In the encoding by snapshots an operator is absent only if it is in one of the quorums, and
/// `nonSignerPubkeys` may be empty. A consumer that reads this field itself sets `keysAreNamed`; then the keys must stand there
/// and are compared.
contract EigenSignatureChecker is OperatorSnapshots {
    /// @dev What a check by a snapshot knows while it walks through the pages. It lies in memory because the compiler's
    /// stack has no room for it.
    struct Walk {
        uint256 first; // the first word of the encoding
        uint256 next; // calldata: the next word
        uint256 header; // memory: the snapshot's header
        uint256 length; // bytes of the header
        uint256 size; // bytes of a record
        uint256 signed; // memory: for each quorum the stake of all operators, less that of the absent ones so far
        uint256 sums; // memory: for each number of quorums the sum of the absent ones' keys, and room for a key
        uint256 ids; // memory: where the next id is written
    }

    /// @dev Those who did not sign, in their encoding.
    struct Absent {
        bytes32[] ids; // their ids
        uint256[] members; // a bitmap of the quorums that each of them is in
        Bn254.G1 sum; // the sum of their keys, each as often as it is in one of the quorums
    }

    /// @dev Place of `signed` in `Walk`, for assembly.
    uint256 private constant SIGNED = 0xa0;

    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;

    /// @notice Whether the keys of the absent ones must stand in `nonSignerPubkeys`, as in their encoding.
    bool public immutable keysAreNamed;

    /// @notice No quorum is named.
    error NoQuorum();
    /// @notice Two fields do not have one entry for each quorum, or for each operator who did not sign.
    error LengthsDiffer();
    /// @notice There are only so many quorums.
    /// @param quorums Their number.
    error NoSuchQuorum(uint256 quorums);
    /// @notice The signature is not that of the message under these keys, or the keys do not have the same secret.
    error FalseSignature();
    /// @notice The snapshot has other quorums.
    error OtherQuorums();
    /// @notice A page belongs to another snapshot than the first one.
    /// @param nonce The page's nonce.
    error AnotherSnapshot(uint256 nonce);
    /// @notice `extend` proved the snapshot only up to an earlier block.
    /// @param until That block; 0 if `extend` was never called for it.
    error ProvedUntil(uint256 until);
    /// @notice The number of absent operators, of pages or of words is not what the first word says.
    error NotTheseWords();
    /// @notice The ids of the absent operators do not rise from one page to the next.
    error IdsNotRising();
    /// @notice The absent operators have more stake in a quorum than all of its operators.
    error StakesDiffer();
    /// @notice A named key is not that of the absent operator, or there are too few or too many.
    error NotNamed();

    /// @param coordinator The service's RegistryCoordinator.
    /// @param keysAreNamed_ Whether the keys of the absent ones must stand in `nonSignerPubkeys`.
    constructor(address coordinator, bool keysAreNamed_) OperatorSnapshots(coordinator) {
        keysAreNamed = keysAreNamed_;
    }

    // The registries are those of the constructor. A check that one of them does not answer has to revert.
    // slither-disable-start calls-loop

    /// @inheritdoc IBLSSignatureChecker
    function checkSignatures(
        bytes32 msgHash,
        bytes calldata quorumNumbers,
        uint32 referenceBlockNumber,
        NonSignerStakesAndSignature calldata params
    ) external view returns (QuorumStakeTotals memory, bytes32) {
        require(quorumNumbers.length != 0, NoQuorum());
        if (referenceBlockNumber >= block.number) revert BlockToCome(referenceBlockNumber);
        // The answer is written as the ABI encodes it, which saves 1,500 gas.
        uint256 answer = _newAnswer(quorumNumbers.length);
        // The transcript of the dual-key check: room for a tag, the hash, the key in G1, the key in G2, the signature, and
        // room for the pairing's input.
        uint256 transcript = _allocate(0x2e0);
        bytes32 record;
        if (params.totalStakeIndices.length == 0) {
            record = _bySnapshot(msgHash, quorumNumbers, referenceBlockNumber, params, answer, transcript);
        } else {
            record = _byHistories(quorumNumbers, referenceBlockNumber, params, answer, transcript);
            (uint256 x, uint256 y) = HashToBn254Counting.search(msgHash);
            _write(transcript + 0x20, x, y);
        }
        G2Point calldata apkG2 = params.apkG2;
        G1Point calldata sigma = params.sigma;
        // The memory at `transcript` is allocated.
        assembly {
            calldatacopy(add(transcript, 0xa0), apkG2, 0x80)
            calldatacopy(add(transcript, 0x120), sigma, 0x40)
        }
        require(Bn254.isDualKeySignatureAt(transcript), FalseSignature());
        assembly {
            mstore(add(answer, 0x20), record)
            return(answer, add(0xc0, shl(6, quorumNumbers.length)))
        }
    }

    /// @inheritdoc IBLSSignatureChecker
    /// @dev Reverts where theirs answers that the pairing failed.
    function trySignatureAndApkVerification(
        bytes32 msgHash,
        G1Point memory apk,
        G2Point memory apkG2,
        G1Point memory sigma
    ) external view returns (bool, bool) {
        (uint256 x, uint256 y) = HashToBn254Counting.search(msgHash);
        bool valid = Bn254.isDualKeySignature(
            Bn254.G1(x, y),
            Bn254.G1(apk.X, apk.Y),
            Bn254.G2(apkG2.X[0], apkG2.X[1], apkG2.Y[0], apkG2.Y[1]),
            Bn254.G1(sigma.X, sigma.Y)
        );
        return (true, valid);
    }

    /// @dev Begins the answer: where the struct is, the record, where its two arrays are, and the arrays.
    /// @param quorums How many quorums there are.
    /// @return answer Where in memory it lies. The first array begins at answer + 0xa0, the second one 0x20 behind its end.
    function _newAnswer(uint256 quorums) private pure returns (uint256 answer) {
        unchecked {
            answer = _allocate(0xc0 + 0x40 * quorums);
        }
        assembly ("memory-safe") {
            mstore(answer, 0x40)
            mstore(add(answer, 0x40), 0x40)
            mstore(add(answer, 0x60), add(0x60, shl(5, quorums)))
            mstore(add(answer, 0x80), quorums)
            mstore(add(add(answer, 0xa0), shl(5, quorums)), quorums)
        }
    }

    /// @dev Checks all but the pairing by a snapshot. Writes the stakes to the answer, and the hash and the key of those who
    /// signed to `transcript`.
    /// @return record The hash of the block and the absent ones' ids.
    function _bySnapshot(
        bytes32 msgHash,
        bytes calldata quorumNumbers,
        uint32 inBlock,
        NonSignerStakesAndSignature calldata params,
        uint256 answer,
        uint256 transcript
    ) private view returns (bytes32 record) {
        Walk memory walk;
        uint256 end = _readFirst(walk, params.quorumApks);
        uint256 quorums = quorumNumbers.length;
        // Unchecked: at most 8 quorums, and fewer than 2^40 absent ones.
        unchecked {
            if (quorums > MOST_QUORUMS) revert QuorumsOfSnapshot(quorums);
            walk.signed = answer + 0xa0;
            walk.length = BEFORE_QUORUMS + quorums * QUORUM_BYTES;
            walk.size = BEFORE_STAKES + 12 * quorums;
            // A header is read with whole words, and with what stands before it in the page.
            walk.header = _allocate(walk.length + 0x40) + 0x20;
            walk.sums = _zeros(0x80 * quorums);
            uint256 absent = 0x20 * ((walk.first >> 192) & 0xffffffffff);
            uint256 ids = _allocate(0x20 + absent) + 0x20;
            walk.ids = ids;
            assembly ("memory-safe") {
                mstore(sub(ids, 0x20), inBlock)
            }
            _walkPages(walk, quorumNumbers, inBlock);
            if (walk.ids != ids + absent) revert NotTheseWords();
            G1Point[] calldata named = params.nonSignerPubkeys;
            if (named.length != 0 || keysAreNamed) _requireNamed(named, ids, absent);
            // The block stands in the four bytes before the ids.
            record = _hashOf(ids - 4, 4 + absent);
            _requireLess(walk.signed, quorums);
            _signersKey(walk.sums, quorums, transcript + 0x60);
        }
        _hashByWords(walk, end, msgHash, transcript + 0x20);
    }

    /// @dev Reads the first word, and notes where the next one lies.
    /// @return end Calldata: where the words end.
    function _readFirst(Walk memory walk, G1Point[] calldata points) private pure returns (uint256 end) {
        require(points.length != 0, NotTheseWords());
        uint256 first;
        uint256 next;
        assembly ("memory-safe") {
            first := calldataload(points.offset)
            next := add(points.offset, 0x20)
            end := add(points.offset, shl(6, points.length))
        }
        (walk.first, walk.next) = (first, next);
    }

    /// @dev Opens the first page, checks that its snapshot is one of the quorums and right in the block, and walks through
    /// all pages.
    function _walkPages(Walk memory walk, bytes calldata quorumNumbers, uint32 inBlock) private view {
        uint256 first = walk.first;
        (uint256 header, uint256 length) = (walk.header, walk.length);
        uint256 pages = first >> 248;
        if (pages == 0 || pages > 6) revert NotTheseWords();
        (address page, uint256 count) = _openSnapshot(uint32(first), length, header);
        _writeTotals(header, quorumNumbers, walk.signed);
        _requireRight(walk, inBlock);
        // The sum of the quorums' keys lies behind the first five bytes.
        _negate(header + 5, walk.sums);
        _walkPage(walk, page, count);
        // Unchecked: at most 6 pages.
        unchecked {
            for (uint256 i = 1; i < pages; i++) {
                uint256 nonce = uint32(first >> (32 * i));
                // Memory that is not kept.
                uint256 other = _allocate(0) + 0x20;
                (page, count) = _openSnapshot(nonce, length, other);
                if (_hashOf(other, length) != _hashOf(header, length)) revert AnotherSnapshot(nonce);
                _walkPage(walk, page, count);
            }
        }
    }

    /// @dev Reverts unless a header has these quorums. Writes the stake of each of them to both arrays of the answer.
    function _writeTotals(uint256 header, bytes calldata quorumNumbers, uint256 signed) private pure {
        (, uint256 quorums) = _blockAndQuorums(header);
        if (quorums != quorumNumbers.length) revert OtherQuorums();
        bool same = true;
        assembly ("memory-safe") {
            let quorum := add(header, BEFORE_QUORUMS)
            for { let i := 0 } lt(i, quorums) { i := add(i, 1) } {
                let word := mload(quorum)
                same := and(same, eq(shr(248, word), byte(0, calldataload(add(quorumNumbers.offset, i)))))
                let total := shr(160, shl(8, word))
                mstore(signed, total)
                mstore(add(signed, shl(5, add(quorums, 1))), total)
                signed := add(signed, 0x20)
                quorum := add(quorum, QUORUM_BYTES)
            }
        }
        if (!same) revert OtherQuorums();
    }

    /// @dev Reverts unless the snapshot is right in the block: it is the snapshot's block, or the registries say so now, or
    /// `extend` proved it.
    function _requireRight(Walk memory walk, uint32 inBlock) private view {
        uint256 header = walk.header;
        (uint256 taken,) = _blockAndQuorums(header);
        if (taken == inBlock) return;
        if ((walk.first >> 232) & 0xff != 0) return _requireUnchanged(header, inBlock);
        if (taken > inBlock) revert SnapshotTooNew(taken, inBlock);
        uint256 until = provedUntil[_hashOf(header, walk.length)];
        if (inBlock > until) revert ProvedUntil(until);
    }

    /// @dev Walks through a page's bitmap.
    /// @param walk The walk.
    /// @param page The page.
    /// @param count How many operators it has.
    function _walkPage(Walk memory walk, address page, uint256 count) private view {
        // Memory behind all that is allocated. What is written there is not kept.
        uint256 records = _allocate(0);
        uint256 size = walk.size;
        uint256 next = walk.next;
        // Unchecked: a page has fewer than 2^15 bytes.
        unchecked {
            CodePages.read(page, walk.length, count * size, records);
            for (uint256 start = 0; start < count; start += 256) {
                uint256 absent;
                assembly ("memory-safe") {
                    absent := calldataload(next)
                }
                next += 0x20;
                // Bits behind the last operator name nobody.
                if (count - start < 256 && absent << (count - start) != 0) revert NotTheseWords();
                if (absent != 0) _walkWord(walk, absent, records + start * size);
            }
        }
        walk.next = next;
    }

    /// @dev Adds up the keys of absent operators, subtracts their stakes, and writes their ids.
    /// @param walk The walk.
    /// @param absent The operators, as bits of a word; at least one.
    /// @param records Where in memory the record of the word's first operator lies.
    function _walkWord(Walk memory walk, uint256 absent, uint256 records) private view {
        (uint256 size, uint256 sums, uint256 signed) = (walk.size, walk.sums, walk.signed);
        uint256 ids = walk.ids;
        bool added = true;
        // A record is one that `take` wrote, so the number of the operator's quorums is from 1 to that of the snapshot. The
        // memory of sums, stakes and ids is allocated. If there are more ids than the first word says, what is written
        // behind them does not matter, since `_bySnapshot` then reverts.
        assembly {
            for {} absent {} {
                let place := clz(absent)
                absent := xor(absent, shr(place, shl(255, 1)))
                let record := add(records, mul(size, place))
                let behind := mload(add(record, 0x40))
                let sum := add(sub(sums, 0x80), shl(7, byte(0, behind)))
                mcopy(add(sum, 0x40), record, 0x40)
                mstore(ids, keccak256(record, 0x40))
                ids := add(ids, 0x20)
                added := and(added, staticcall(gas(), 0x06, sum, 0x80, sum, 0x40))
                // The stakes have 12 bytes each. The first one is in the word that was read.
                mstore(signed, sub(mload(signed), shr(160, shl(8, behind))))
                if gt(size, 77) {
                    for { place := 77 } lt(place, size) { place := add(place, 12) } {
                        signed := add(signed, 0x20)
                        mstore(signed, sub(mload(signed), shr(160, mload(add(record, place)))))
                    }
                    signed := mload(add(walk, SIGNED))
                }
            }
            // If a call to one address has answered with 64 bytes, earlier calls to it that succeeded have, too.
            added := and(added, eq(returndatasize(), 0x40))
        }
        if (!added) revert Bn254.AddFailed();
        _endWord(walk, ids);
    }

    /// @dev Notes where the next id is written. Reverts unless the first id of the word is above the one before it; those of
    /// one page rise.
    function _endWord(Walk memory walk, uint256 ids) private pure {
        uint256 first = walk.ids;
        bool rising;
        assembly ("memory-safe") {
            // Before all ids stands the block, which is smaller than any hash that is ever found.
            rising := gt(mload(first), mload(sub(first, 0x20)))
        }
        if (!rising) revert IdsNotRising();
        walk.ids = ids;
    }

    /// @dev Reverts unless the named keys are those of the absent ones.
    /// @param named The keys.
    /// @param ids Where in memory the ids lie.
    /// @param length Their length in bytes.
    function _requireNamed(G1Point[] calldata named, uint256 ids, uint256 length) private pure {
        require(0x20 * named.length == length, NotNamed());
        for (uint256 i = 0; i < named.length; i++) {
            bytes32 id;
            assembly ("memory-safe") {
                id := mload(add(ids, shl(5, i)))
            }
            require(keccak256(abi.encode(named[i])) == id, NotNamed());
        }
    }

    /// @dev Reverts unless the signed stake of each quorum is at most its stake. If a registry says that the absent ones have
    /// more than all, theirs reverts, too.
    function _requireLess(uint256 signed, uint256 quorums) private pure {
        bool less = true;
        assembly ("memory-safe") {
            let behind := shl(5, add(quorums, 1))
            for { let end := add(signed, shl(5, quorums)) } lt(signed, end) { signed := add(signed, 0x20) } {
                less := and(less, iszero(gt(mload(signed), mload(add(signed, behind)))))
            }
        }
        if (!less) revert StakesDiffer();
    }

    /// @dev Writes the key of those who signed: the negation of s₁ + 2·s₂ + 3·s₃ and so on.
    /// @param sums For each number n of quorums, from 1 on, the sum sₙ of the keys of those who are in n; each is followed by
    /// room for a point. The first one began with the negated key of all. Overwritten.
    /// @param quorums How many quorums there are.
    /// @param to Where in memory the key is written.
    function _signersKey(uint256 sums, uint256 quorums, uint256 to) private view {
        unchecked {
            uint256 each = sums + 0x80 * (quorums - 1);
            uint256 sum = _allocate(0x80);
            assembly ("memory-safe") {
                mcopy(sum, each, 0x40)
            }
            // With three quorums the sum is s₃ + (s₃ + s₂) + (s₃ + s₂ + s₁).
            while (each != sums) {
                uint256 smaller = each - 0x80;
                _addTo(smaller, each);
                _addTo(sum, smaller);
                each = smaller;
            }
            _negate(sum, to);
        }
    }

    /// @dev to := -a. For infinity y is 0, and stays 0. The coordinates are below P.
    function _negate(uint256 a, uint256 to) private pure {
        assembly {
            let y := mload(add(a, 0x20))
            mstore(to, mload(a))
            mstore(add(to, 0x20), mul(iszero(iszero(y)), sub(P, y)))
        }
    }

    /// @dev a := a + b. Behind a there is room for a point.
    function _addTo(uint256 a, uint256 b) private view {
        bool done;
        assembly {
            mcopy(add(a, 0x40), b, 0x40)
            done := staticcall(gas(), 0x06, a, 0x80, a, 0x40)
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @dev Writes the message's point, by the words that are left, or by a search if there are none.
    function _hashByWords(Walk memory walk, uint256 end, bytes32 msgHash, uint256 to) private view {
        uint256 count = (walk.first >> 240) & 0xff;
        uint256 next = walk.next;
        // One word may be left, to make their number even. If more were read than there are, the difference is negative.
        unchecked {
            if (end - next - 0x20 * count > 0x20) revert NotTheseWords();
        }
        (uint256 x, uint256 y) =
            count == 0 ? HashToBn254Counting.search(msgHash) : HashToBn254Counting.byWords(msgHash, next, count);
        _write(to, x, y);
    }

    /// @dev Writes a point.
    function _write(uint256 to, uint256 x, uint256 y) private pure {
        assembly {
            mstore(to, x)
            mstore(add(to, 0x20), y)
        }
    }

    /// @dev Takes memory that is zero.
    function _zeros(uint256 size) private pure returns (uint256 pointer) {
        pointer = _allocate(size);
        assembly ("memory-safe") {
            calldatacopy(pointer, calldatasize(), size)
        }
    }

    /// @dev Checks all but the pairing in their way, for what their encoder makes. Writes the stakes to the answer, and the
    /// key of those who signed to `transcript`.
    /// @return record The hash of the block and the absent ones' ids.
    function _byHistories(
        bytes calldata quorumNumbers,
        uint32 inBlock,
        NonSignerStakesAndSignature calldata params,
        uint256 answer,
        uint256 transcript
    ) private view returns (bytes32 record) {
        uint256 quorums = quorumNumbers.length;
        require(
            params.quorumApks.length == quorums && params.quorumApkIndices.length == quorums
                && params.totalStakeIndices.length == quorums && params.nonSignerStakeIndices.length == quorums
                && params.nonSignerPubkeys.length == params.nonSignerQuorumBitmapIndices.length,
            LengthsDiffer()
        );
        Absent memory absent = _absent(_bitmapOf(quorumNumbers), inBlock, params);
        Bn254.G1 memory key = Bn254.negate(absent.sum);
        for (uint256 i = 0; i < quorums; i++) {
            uint8 quorum = uint8(quorumNumbers[i]);
            key = Bn254.add(key, _quorumKey(quorum, inBlock, params, i));
            uint96 total = IEigenStakes(stakeRegistry)
                .getTotalStakeAtBlockNumberFromIndex(quorum, inBlock, params.totalStakeIndices[i]);
            uint96 signed = total - _stakeOf(absent, quorum, inBlock, params.nonSignerStakeIndices[i]);
            assembly ("memory-safe") {
                let to := add(add(answer, 0xa0), shl(5, i))
                mstore(to, signed)
                mstore(add(to, shl(5, add(quorums, 1))), total)
            }
        }
        _write(transcript + 0x60, key.x, key.y);
        record = keccak256(abi.encodePacked(inBlock, absent.ids));
    }

    /// @dev The aggregate key of a quorum, which must be that of the registry.
    function _quorumKey(uint8 quorum, uint32 inBlock, NonSignerStakesAndSignature calldata params, uint256 i)
        private
        view
        returns (Bn254.G1 memory key)
    {
        key = Bn254.G1(params.quorumApks[i].X, params.quorumApks[i].Y);
        bytes24 hash =
            IEigenKeys(blsApkRegistry).getApkHashAtBlockNumberAndIndex(quorum, inBlock, params.quorumApkIndices[i]);
        require(bytes24(keccak256(abi.encode(key))) == hash, NotTheQuorumsKey(quorum));
    }

    /// @dev Those who did not sign.
    function _absent(uint256 signing, uint32 inBlock, NonSignerStakesAndSignature calldata params)
        private
        view
        returns (Absent memory absent)
    {
        G1Point[] calldata keys = params.nonSignerPubkeys;
        absent.ids = new bytes32[](keys.length);
        absent.members = new uint256[](keys.length);
        for (uint256 j = 0; j < keys.length; j++) {
            Bn254.G1 memory key = Bn254.G1(keys[j].X, keys[j].Y);
            bytes32 id = keccak256(abi.encode(key));
            require(j == 0 || id > absent.ids[j - 1], NotRising(j));
            absent.ids[j] = id;
            uint256 members = IEigenCoordinator(registryCoordinator)
                .getQuorumBitmapAtBlockNumberByIndex(id, inBlock, params.nonSignerQuorumBitmapIndices[j]);
            absent.members[j] = members;
            for (uint256 common = members & signing; common != 0; common &= common - 1) {
                absent.sum = Bn254.add(absent.sum, key);
            }
        }
    }

    /// @dev The stake in a quorum of those who did not sign.
    function _stakeOf(Absent memory absent, uint8 quorum, uint32 inBlock, uint32[] calldata indices)
        private
        view
        returns (uint96 stake)
    {
        uint256 next = 0;
        for (uint256 j = 0; j < absent.ids.length; j++) {
            if ((absent.members[j] >> quorum) & 1 == 0) continue;
            stake += IEigenStakes(stakeRegistry)
                .getStakeAtBlockNumberAndIndex(quorum, inBlock, absent.ids[j], indices[next++]);
        }
    }

    /// @dev A bitmap of the quorums, which exist and are named by rising numbers.
    function _bitmapOf(bytes calldata quorumNumbers) private view returns (uint256 bitmap) {
        for (uint256 i = 0; i < quorumNumbers.length; i++) {
            uint256 bit = 1 << uint8(quorumNumbers[i]);
            require(bit > bitmap, NotRising(i));
            bitmap |= bit;
        }
        uint256 count = IEigenCoordinator(registryCoordinator).quorumCount();
        require(bitmap >> count == 0, NoSuchQuorum(count));
    }

    // slither-disable-end calls-loop
}
