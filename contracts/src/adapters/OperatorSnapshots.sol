// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bitmaps} from "../Bitmaps.sol";
import {IBLSSignatureChecker} from "../interfaces/IBLSSignatureChecker.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {Clz} from "../libraries/Clz.sol";
import {CodePages} from "../libraries/CodePages.sol";
import {IEigenCoordinator, IEigenKeys, IEigenStakes} from "./IEigenMiddleware.sol";

/// @title Snapshots of the operators of a service with EigenLayer's registries
/// @notice `checkSignatures` reads two histories for each operator who did not sign. A snapshot holds what these
/// histories say of one block, in the code of a contract, where a stake costs a few gas. Anyone takes one (`take`). The
/// caller is not trusted: the contract reads each value in the registries itself.
///
/// **A page of a snapshot** holds the *header* and a record of each listed operator, by rising ids. Numbers are
/// big-endian; the left column counts bytes:
///
///     4   the block
///     1   Q: number of quorums, 1 to 8
///     64  sum of the quorums' aggregate keys
///     21Q for each quorum, by rising numbers: its number (1), its stake (12), and the indices of the entries of its
///         aggregate key (4) and of its stake (4)
///     …   for each operator: its key (64), in how many of the quorums it is (1), and its stake in each of the quorums
///         (12Q), which is zero where it is not in the quorum
///
/// Pages with the same header belong to one snapshot, so a snapshot may have more operators than fit into a page. The
/// list need not be complete. Who is not listed cannot be named as absent, so it counts as a signer, and without its
/// signature the check fails.
///
/// **In which blocks a snapshot is right.** It is right in its own block. In a later block b it is right if these three
/// hold for each quorum (`_requireUnchanged`):
///
/// 1. The entry of its aggregate key still counts in b. Whenever an operator joins or leaves, there is a new entry.
/// 2. The entry of its stake still counts in b. Whenever the stake of one operator changes, there is a new entry.
/// 3. Since the snapshot's block no call updated all stakes of the quorum at once. In newer registries such a call adds
///    up the changes, and if what one operator gains is what another one loses, there is no new entry for the sum.
///
/// That rests on the registries' code: it was read in eigenlayer-middleware of August 2024 and of the slashing release of 2025.
/// If a service replaces its registries by others in which a stake can change without these traces, do not use snapshots.
///
/// `extend` reads the three of all quorums for the last block, and stores that the snapshot is right up to it. Checks for
/// blocks up to there read one slot and no registry.
abstract contract OperatorSnapshots is Bitmaps, IBLSSignatureChecker {
    /// @notice A quorum of a snapshot, and the hints for the registries.
    struct Quorum {
        /// The quorum's number.
        uint8 number;
        /// The index of the entry of its aggregate key that counts in the block.
        uint32 keyIndex;
        /// The index of the entry of its stake.
        uint32 totalIndex;
        /// Its aggregate key.
        Bn254.G1 key;
    }

    /// @notice The most quorums of a snapshot.
    uint256 internal constant MOST_QUORUMS = 8;

    /// @dev The kind of the pages.
    uint8 private constant SNAPSHOT = 1;

    /// @dev Bytes of a header before the quorums, of a quorum, and of a record before the stakes.
    uint256 internal constant BEFORE_QUORUMS = 69;
    uint256 internal constant QUORUM_BYTES = 21;
    uint256 internal constant BEFORE_STAKES = 65;

    /// @inheritdoc IBLSSignatureChecker
    address public immutable registryCoordinator;
    /// @inheritdoc IBLSSignatureChecker
    address public immutable stakeRegistry;
    /// @inheritdoc IBLSSignatureChecker
    address public immutable blsApkRegistry;
    /// @inheritdoc IBLSSignatureChecker
    address public immutable delegation;

    /// @notice The nonce of the last page.
    uint256 public lastPage;

    /// @notice The last block up to which a snapshot was proved right by `extend`; 0 if it never was. The snapshot is named
    /// by the hash of its header.
    mapping(bytes32 snapshot => uint256 inBlock) public provedUntil;

    /// @notice A page of a snapshot was stored.
    /// @param nonce The page's nonce.
    /// @param snapshot The hash of its header.
    /// @param inBlock The block.
    /// @param operators How many operators the page has.
    event SnapshotTaken(uint256 indexed nonce, bytes32 indexed snapshot, uint256 inBlock, uint256 operators);
    /// @notice A snapshot was proved to be right up to a block.
    /// @param snapshot The hash of its header.
    /// @param inBlock The block.
    event SnapshotExtended(bytes32 indexed snapshot, uint256 inBlock);

    /// @notice The bytes of the operators do not divide by the length of an operator.
    /// @param length Bytes that were passed.
    /// @param each Bytes of an operator.
    error OperatorsLength(uint256 length, uint256 each);
    /// @notice A snapshot has 1 to 8 quorums.
    /// @param quorums How many were passed.
    error QuorumsOfSnapshot(uint256 quorums);
    /// @notice The block is not over, so what the registries say of it may still change.
    /// @param inBlock The block.
    error BlockToCome(uint256 inBlock);
    /// @notice Quorums or operators are not in rising order, or one is named twice.
    /// @param index The place of the first one that is not above the one before it.
    error NotRising(uint256 index);
    /// @notice The registry has another aggregate key of the quorum in the block.
    /// @param quorum The quorum's number.
    error NotTheQuorumsKey(uint256 quorum);
    /// @notice The operator is in none of the quorums in the block.
    /// @param operatorId The hash of its key.
    error NotAMember(bytes32 operatorId);
    /// @notice The snapshot is of a later block.
    /// @param taken The snapshot's block.
    /// @param inBlock The block that counts.
    error SnapshotTooNew(uint256 taken, uint256 inBlock);
    /// @notice All stakes of a quorum were updated at once since the snapshot's block.
    /// @param quorum The quorum's number.
    /// @param updated The block of the update.
    error UpdatedSince(uint256 quorum, uint256 updated);

    /// @param coordinator The service's RegistryCoordinator.
    constructor(address coordinator) {
        registryCoordinator = coordinator;
        stakeRegistry = IEigenCoordinator(coordinator).stakeRegistry();
        blsApkRegistry = IEigenCoordinator(coordinator).blsApkRegistry();
        delegation = IEigenStakes(stakeRegistry).delegation();
        Clz.requireAvailable();
        lastPage = Clz.NONCES;
    }

    // The registries are those of the constructor. If one of them reverts, nothing can be proved by it.
    // slither-disable-start calls-loop

    /// @notice Takes a page of a snapshot. Anyone may call it.
    /// @param inBlock The block, before this one.
    /// @param quorums The quorums, by rising numbers.
    /// @param operators The operators, by rising ids. For each of them: its key (64), the index of the entry of its quorums
    /// that counts in the block (4), and for each quorum that of the entry of its stake (4), which is not read if the
    /// operator is not in the quorum.
    /// @return nonce The page's nonce.
    function take(uint32 inBlock, Quorum[] calldata quorums, bytes calldata operators)
        external
        returns (uint256 nonce)
    {
        require(inBlock < block.number, BlockToCome(inBlock));
        bytes memory header = _headerOf(inBlock, quorums);
        uint256 each = 68 + 4 * quorums.length;
        require(operators.length % each == 0, OperatorsLength(operators.length, each));
        uint256 count = operators.length / each;
        // The length is a multiple of `each`.
        // slither-disable-next-line divide-before-multiply
        uint256 length = header.length + count * (BEFORE_STAKES + 12 * quorums.length);
        // The last number of a record is written with a whole word.
        bytes memory payload = new bytes(length + 0x20);
        uint256 to;
        assembly ("memory-safe") {
            mstore(payload, length)
            to := add(payload, 0x20)
            mcopy(to, add(header, 0x20), mload(header))
            to := add(to, mload(header))
        }
        uint256 last = 0;
        for (uint256 i = 0; i < count; i++) {
            bytes32 id = _writeRecord(inBlock, quorums, operators[i * each:(i + 1) * each], to);
            require(uint256(id) > last, NotRising(i));
            last = uint256(id);
            to += BEFORE_STAKES + 12 * quorums.length;
        }
        nonce = ++lastPage;
        // Fewer than 2^15 operators: a page has no room for more.
        // forge-lint: disable-next-line(unsafe-typecast)
        CodePages.create(SNAPSHOT, uint64(count), payload);
        emit SnapshotTaken(nonce, keccak256(header), inBlock, count);
    }

    /// @notice Proves that a snapshot is right up to the last block, and stores that. Anyone may call it. It reads three
    /// slots of the registries for each quorum, and the lengths of two arrays.
    /// @param nonce The nonce of a page of the snapshot.
    /// @return inBlock The last block.
    function extend(uint256 nonce) external returns (uint256 inBlock) {
        uint256 length = BEFORE_QUORUMS + MOST_QUORUMS * QUORUM_BYTES;
        uint256 header = _allocate(length + 0x40) + 0x20;
        _openSnapshot(nonce, length, header);
        (, uint256 quorums) = _blockAndQuorums(header);
        inBlock = block.number - 1;
        // Block numbers fit into the registries' 32 bits.
        // forge-lint: disable-next-line(unsafe-typecast)
        _requireUnchanged(header, uint32(inBlock));
        bytes32 snapshot = _hashOf(header, BEFORE_QUORUMS + quorums * QUORUM_BYTES);
        provedUntil[snapshot] = inBlock;
        emit SnapshotExtended(snapshot, inBlock);
    }

    /// @notice Opens a page of a snapshot, and reads its header.
    /// @param nonce The page's nonce.
    /// @param length Bytes of the header.
    /// @param header Where in memory the header is written. The caller has allocated `length` bytes, and 10 before it.
    /// @return page The page's address.
    /// @return count How many operators it has.
    function _openSnapshot(uint256 nonce, uint256 length, uint256 header)
        internal
        view
        returns (address page, uint256 count)
    {
        page = CodePages.addressOf(address(this), nonce);
        uint256 kind;
        // One copy, because a second one costs 100 gas more. Not memory-safe by itself: the caller allocated the memory.
        assembly {
            let from := sub(header, 10)
            extcodecopy(page, from, 0, add(length, 10))
            kind := shr(240, mload(from))
            count := shr(192, shl(16, mload(from)))
        }
        if (kind != SNAPSHOT) CodePages.refuse(nonce);
    }

    /// @notice Reverts unless a snapshot is right in a block that is over.
    /// @param header Where in memory the snapshot's header lies.
    /// @param inBlock The block.
    function _requireUnchanged(uint256 header, uint32 inBlock) internal view {
        (uint256 taken, uint256 quorums) = _blockAndQuorums(header);
        require(taken <= inBlock, SnapshotTooNew(taken, inBlock));
        for (uint256 i = 0; i < quorums; i++) {
            uint256 quorum = _quorumOf(header, i);
            uint8 number = uint8(quorum >> 248);
            // Both revert unless the entry counts in the block. What they return is what they returned for the
            // snapshot, because entries of a block that is over do not change.
            IEigenKeys(blsApkRegistry).getApkHashAtBlockNumberAndIndex(number, inBlock, uint32(quorum >> 120));
            IEigenStakes(stakeRegistry).getTotalStakeAtBlockNumberFromIndex(number, inBlock, uint32(quorum >> 88));
            uint256 updated = IEigenCoordinator(registryCoordinator).quorumUpdateBlockNumber(number);
            require(updated <= taken, UpdatedSince(number, updated));
        }
    }

    /// @dev The block and the number of quorums of a header.
    function _blockAndQuorums(uint256 header) internal pure returns (uint256 inBlock, uint256 quorums) {
        assembly ("memory-safe") {
            inBlock := shr(224, mload(header))
            quorums := byte(4, mload(header))
        }
    }

    /// @dev The quorum at a place in a header: its number in the top 8 bits, its stake in the 96 bits below, and then the
    /// two indices, 32 bits each.
    function _quorumOf(uint256 header, uint256 place) internal pure returns (uint256 quorum) {
        assembly ("memory-safe") {
            quorum := mload(add(add(header, BEFORE_QUORUMS), mul(place, QUORUM_BYTES)))
        }
    }

    /// @dev The hash of some bytes of memory.
    function _hashOf(uint256 from, uint256 length) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(from, length)
        }
    }

    /// @dev The header of a snapshot, of what the registries say of the quorums.
    function _headerOf(uint32 inBlock, Quorum[] calldata quorums) private view returns (bytes memory header) {
        require(quorums.length != 0 && quorums.length <= MOST_QUORUMS, QuorumsOfSnapshot(quorums.length));
        Bn254.G1 memory sum;
        bytes memory parts;
        for (uint256 i = 0; i < quorums.length; i++) {
            Quorum calldata quorum = quorums[i];
            require(i == 0 || quorum.number > quorums[i - 1].number, NotRising(i));
            bytes24 hash =
                IEigenKeys(blsApkRegistry).getApkHashAtBlockNumberAndIndex(quorum.number, inBlock, quorum.keyIndex);
            require(bytes24(keccak256(abi.encode(quorum.key))) == hash, NotTheQuorumsKey(quorum.number));
            uint96 total = IEigenStakes(stakeRegistry)
                .getTotalStakeAtBlockNumberFromIndex(quorum.number, inBlock, quorum.totalIndex);
            sum = Bn254.add(sum, quorum.key);
            parts = abi.encodePacked(parts, quorum.number, total, quorum.keyIndex, quorum.totalIndex);
        }
        // At most `MOST_QUORUMS`.
        // forge-lint: disable-next-line(unsafe-typecast)
        header = abi.encodePacked(inBlock, uint8(quorums.length), sum.x, sum.y, parts);
    }

    /// @dev Writes the record of an operator, of what the registries say of it.
    /// @return id The operator's id.
    function _writeRecord(uint32 inBlock, Quorum[] calldata quorums, bytes calldata operator, uint256 to)
        private
        view
        returns (bytes32 id)
    {
        id = keccak256(operator[:64]);
        uint256 member = IEigenCoordinator(registryCoordinator)
            .getQuorumBitmapAtBlockNumberByIndex(id, inBlock, uint32(bytes4(operator[64:])));
        uint256 common = 0;
        for (uint256 i = 0; i < quorums.length; i++) {
            uint256 stake = 0;
            if ((member >> quorums[i].number) & 1 != 0) {
                common++;
                stake = IEigenStakes(stakeRegistry)
                    .getStakeAtBlockNumberAndIndex(
                        quorums[i].number, inBlock, id, uint32(bytes4(operator[68 + 4 * i:]))
                    );
            }
            assembly ("memory-safe") {
                mstore(add(add(to, BEFORE_STAKES), mul(12, i)), shl(160, stake))
            }
        }
        require(common != 0, NotAMember(id));
        assembly ("memory-safe") {
            calldatacopy(to, operator.offset, 0x40)
            mstore8(add(to, 0x40), common)
        }
    }

    // slither-disable-end calls-loop
}
