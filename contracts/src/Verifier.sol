// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {CodePages} from "./libraries/CodePages.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";
import {Quorums} from "./Quorums.sol";

/// @title The verifier of one network
/// @notice `Quorums` as a contract of its own, since network and curve together are more code than EIP-170 allows one. It knows
/// nothing of stake, tasks and time: what weighs how much in which epoch, and which slots are pinned, the network says. Anyone
/// may move keys into pages (`compact`).
///
/// NOT checked: that `network` is a contract that checks itself. The network's constructor checks that it is the one named here.
abstract contract Verifier is Quorums, IVerifier {
    /// @dev One slot an epoch.
    struct Published {
        uint64 firstPage; // nonce; the pages of an epoch are made one after the other
        uint64 keys;
    }

    address public immutable network;

    mapping(uint256 epoch => Published) private _published;

    error NotNetwork(address sender);

    modifier onlyNetwork() {
        require(msg.sender == network, NotNetwork(msg.sender));
        _;
    }

    constructor(address network_) {
        network = network_;
    }

    function admit(address owner, bytes calldata key, bytes calldata proof)
        external
        onlyNetwork
        returns (uint256 index)
    {
        return _admit(owner, key, proof);
    }

    function verify(bytes32[] calldata digests, uint256 epoch, bytes calldata quorum)
        external
        onlyNetwork
        returns (bytes calldata signers, uint256 weight)
    {
        (Parts memory parts, bytes32 base) = _open(quorum);
        _checkBase(parts, base);
        weight = _weigh(parts, epoch);
        _prove(parts, digests);
        if (_storeSlot(parts) != NONE) _store(parts, _storeSlot(parts), epoch, weight);
        return (_signersOf(parts), weight);
    }

    function checkMember(bytes32 digest, uint256 index, bytes calldata proof) external view {
        _checkMember(digest, index, proof);
    }

    /// @dev About 2,100 gas a key, and a slot.
    function publish(uint256 epoch, uint64[] calldata weights) external onlyNetwork {
        _published[epoch] = Published(uint64(_lastPage() + 1), uint64(weights.length));
        _publish(epoch, weights);
    }

    function weightsOf(uint256 epoch) external view returns (uint64[] memory weights) {
        Published memory published = _published[epoch];
        weights = new uint64[](published.keys);
        uint256 nonce = published.firstPage;
        for (uint256 first = 0; first < weights.length; first += WEIGHTS_A_PAGE) {
            (address page,) = CodePages.open(nonce++, WEIGHTS);
            uint256 length = 8 * (weights.length - first < WEIGHTS_A_PAGE ? weights.length - first : WEIGHTS_A_PAGE);
            bytes memory packed = new bytes(length);
            CodePages.read(page, 0, length, _pointer(packed));
            // A third of the gas of indexing: claims and elections read every weight of the epoch.
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

    function pin(uint256 slot, uint256 from) external onlyNetwork {
        _pin(slot, from);
    }
}
