// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";
import {KeyTable} from "./KeyTable.sol";
import {Quorums} from "./Quorums.sol";

/// @title The verifier of one network
/// @notice Keeps the keys, weights and bases of one `TaskNetwork` and verifies its quorums' signatures. It is a
/// contract of its own because network and curve together have more code than EIP-170 allows for one. It knows nothing
/// of stake, tasks and time: the network says what each member weighs in each epoch, which table an epoch uses, which
/// keys are carried to the next table, and which bases are pinned. Only the network may call the functions that write, but
/// for `compact`, which anyone may call to move keys into pages.
///
/// A key is admitted once in the life of the verifier, whatever its table. So it has one owner for good, and a signature
/// with it says who signed, however often the table was renewed since.
///
/// NOT checked: that `network` is a contract which protects itself. The network's constructor checks that its verifier
/// names it.
abstract contract Verifier is Quorums, IVerifier {
    /// @dev Where the weights of an epoch are. One storage slot for each epoch.
    struct Published {
        uint64 firstPage; // nonce of the first page; the epoch's other pages have the next nonces
        uint64 keys; // number of weights
    }

    /// @inheritdoc IVerifier
    address public immutable network;

    /// @dev Where the weights of each epoch are.
    mapping(uint256 epoch => Published) private _published;

    /// @notice This epoch or a later one has weights already, or epochs have no such number.
    /// @param epoch The epoch.
    error EpochHasWeights(uint256 epoch);
    /// @notice Only the network may call this.
    /// @param sender Who called.
    error NotNetwork(address sender);

    /// @dev Lets only the network call.
    modifier onlyNetwork() {
        require(msg.sender == network, NotNetwork(msg.sender));
        _;
    }

    /// @param network_ The network, which may be made after its verifier.
    constructor(address network_) {
        network = network_;
    }

    /// @inheritdoc IVerifier
    function admit(address owner, bytes calldata key, bytes calldata proof)
        external
        onlyNetwork
        returns (uint256 index)
    {
        // In a settlement a key may come back in a later table. Here that would give a key a second owner.
        require(_indexOf[_hashOf(key)] == 0, KeyTaken(key));
        index = _admit(owner, key, proof);
        if (_carried != 0) _carryNew(key, index);
    }

    /// @inheritdoc IVerifier
    function carry(bytes calldata indices, uint256[] calldata nonces) external onlyNetwork {
        _carry(indices, nonces);
    }

    /// @inheritdoc IVerifier
    function renew() external onlyNetwork {
        _running++;
        _renew();
    }

    /// @inheritdoc IVerifier
    function verify(bytes32[] calldata digests, uint256 epoch, uint256 table, bytes calldata quorum)
        external
        onlyNetwork
        returns (bytes calldata signers, uint256 weight)
    {
        (Parts memory parts, bytes32 base) = _open(quorum);
        parts.table = table;
        _checkBase(parts, base);
        // A bitmap has fewer than 2^24 bits, so all of its members are weighed.
        weight = _weigh(parts, epoch, type(uint24).max);
        _complete(parts);
        _check(digests, _keyOf(parts.result), _proofOf(parts));
        if (_storeSlot(parts) != NONE) _store(parts, _storeSlot(parts), epoch, weight);
        return (_signersOf(parts), weight);
    }

    /// @inheritdoc IVerifier
    function signerOf(bytes32 digest, bytes calldata proof) external view returns (uint256 table, uint256 index) {
        uint256 size = _keyBytes();
        bytes calldata key = proof[:size];
        (table, index) = indexOf(key);
        uint256 copy = _allocate(size);
        // Not memory-safe by itself: the memory at `copy` is allocated.
        assembly {
            calldatacopy(copy, key.offset, size)
        }
        _check(_only(digest), copy, proof[size:]);
    }

    /// @inheritdoc IVerifier
    /// @dev Makes a page of each part, and stores no hashes. So a quorum names pages of weights, and weights in calldata
    /// are refused. Costs about 1,650 gas for each index, and one storage slot.
    function publish(uint256 epoch, bytes calldata weights) external onlyNetwork {
        require(epoch >= _weighedTo && epoch <= type(uint32).max, EpochHasWeights(epoch));
        _weighedTo = uint64(epoch + 1);
        _published[epoch] = Published(uint64(_lastPage() + 1), uint64(weights.length / 8));
        uint256 most = 8 * PART;
        for (uint256 from = 0; from == 0 || from < weights.length; from += most) {
            uint256 to = weights.length - from < most ? weights.length : from + most;
            _pageWeights(epoch, from / most, weights[from:to]);
        }
    }

    /// @inheritdoc IVerifier
    function weightsOf(uint256 epoch) external view returns (uint64[] memory weights) {
        Published memory published = _published[epoch];
        weights = new uint64[](published.keys);
        uint256 nonce = published.firstPage;
        for (uint256 first = 0; first < weights.length; first += PART) {
            (address page,) = CodePages.open(nonce++, WEIGHTS, 0);
            uint256 length = 8 * (weights.length - first < PART ? weights.length - first : PART);
            bytes memory packed = new bytes(length);
            CodePages.read(page, 0, length, _pointer(packed));
            // Assembly, because it costs a third of what indexing costs: claims and elections read every weight of an
            // epoch.
            assembly ("memory-safe") {
                let to := add(weights, mul(0x20, add(first, 1)))
                let end := add(packed, add(0x20, length))
                for { let from := add(packed, 0x20) } lt(from, end) { from := add(from, 8) } {
                    mstore(to, shr(192, mload(from)))
                    to := add(to, 0x20)
                }
            }
        }
    }

    /// @inheritdoc IVerifier
    function pin(uint256 slot, uint256 from) external onlyNetwork {
        _pin(_table(), slot, from);
    }

    /// @inheritdoc KeyTable
    function _table() internal view override returns (uint256) {
        return _running;
    }
}
