// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {TaskNetwork} from "../../src/TaskNetwork.sol";

/// @notice A network whose signatures are hashes: whoever knows a key can sign with it. Everything else is the real thing.
contract MockNetwork is TaskNetwork {
    error FalsePossession();
    error FalseQuorum();
    error PublishedTwice();

    bytes[] public keys;
    bytes32 public beacon;
    bool public usesBeacon;
    uint256 public forcedIndex = type(uint256).max;
    mapping(uint256 epoch => uint64[]) private _pages;

    constructor(Parameters memory parameters) TaskNetwork(parameters) {}

    function setBeacon(bytes32 value) external {
        (beacon, usesBeacon) = (value, true);
    }

    function forceIndex(uint256 index) external {
        forcedIndex = index;
    }

    function weightsOf(uint256 epoch) external view returns (uint64[] memory) {
        return _pages[epoch];
    }

    function _addKey(address operator, bytes calldata key, bytes calldata proof) internal override returns (uint256) {
        if (bytes32(proof) != MockProofs.possession(operator, key)) revert FalsePossession();
        keys.push(key);
        return forcedIndex == type(uint256).max ? keys.length - 1 : forcedIndex;
    }

    function _verifyQuorum(bytes32[] memory digests, uint256 epoch, bytes calldata quorum)
        internal
        view
        virtual
        override
        returns (bytes memory signers, uint256 weight)
    {
        bytes32 proof;
        (signers, proof) = abi.decode(quorum, (bytes, bytes32));
        if (proof != MockProofs.quorum(digests, signers)) revert FalseQuorum();
        uint64[] storage page = _pages[epoch];
        for (uint256 i = 0; i < page.length; ++i) {
            if (i >> 3 < signers.length && uint8(signers[i >> 3]) >> (i & 7) & 1 == 1) weight += page[i];
        }
    }

    function _verifySingle(bytes32 digest, uint256 index, bytes calldata proof) internal view override returns (bool) {
        return bytes32(proof) == MockProofs.single(digest, keys[index]);
    }

    function _publishWeights(uint256 epoch, uint64[] memory weights) internal override {
        if (_pages[epoch].length != 0) revert PublishedTwice();
        _pages[epoch] = weights;
    }

    function _weightsOf(uint256 epoch) internal view override returns (uint64[] memory) {
        return _pages[epoch];
    }

    function _beacon(uint256 epoch) internal override returns (bytes32) {
        return usesBeacon ? beacon : super._beacon(epoch);
    }
}

/// @notice Takes a bitmap and a weight from the quorum at their word: what is left of a submission's gas is the network's own.
contract UnverifiedNetwork is MockNetwork {
    constructor(Parameters memory parameters) MockNetwork(parameters) {}

    function _verifyQuorum(bytes32[] memory, uint256, bytes calldata quorum)
        internal
        pure
        override
        returns (bytes memory signers, uint256 weight)
    {
        return (quorum[32:], uint256(bytes32(quorum)));
    }
}

library MockProofs {
    function possession(address operator, bytes memory key) internal pure returns (bytes32) {
        return keccak256(abi.encode("possession", operator, key));
    }

    function quorum(bytes32[] memory digests, bytes memory signers) internal pure returns (bytes32) {
        return keccak256(abi.encode("quorum", digests, signers));
    }

    function single(bytes32 digest, bytes memory key) internal pure returns (bytes32) {
        return keccak256(abi.encode("single", digest, key));
    }
}
