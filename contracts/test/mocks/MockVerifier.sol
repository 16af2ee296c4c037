// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVerifier} from "../../src/interfaces/IVerifier.sol";
import {Verifier} from "../../src/Verifier.sol";
import {VerifierBn254G1} from "../../src/Verifiers.sol";

/// @notice A verifier whose signatures are hashes, so that everyone who knows a key can sign with it.
contract MockVerifier is IVerifier {
    error FalsePossession();
    error FalseQuorum();
    error FalseSingle();
    error PublishedTwice();

    address public immutable network;
    bytes[] public keys;
    uint256 public forcedIndex = type(uint256).max;
    mapping(uint256 slot => uint256 from) public pinned;
    mapping(uint256 epoch => uint64[]) private _pages;

    constructor(address network_) {
        network = network_;
    }

    function forceIndex(uint256 index) external {
        forcedIndex = index;
    }

    function admit(address owner, bytes calldata key, bytes calldata proof) external returns (uint256) {
        if (bytes32(proof) != MockProofs.possession(owner, key)) revert FalsePossession();
        keys.push(key);
        return forcedIndex == type(uint256).max ? keys.length - 1 : forcedIndex;
    }

    function verify(bytes32[] calldata digests, uint256 epoch, bytes calldata quorum)
        external
        virtual
        returns (bytes memory signers, uint256 weight)
    {
        bytes32 proof;
        (signers, proof) = abi.decode(quorum, (bytes, bytes32));
        if (proof != MockProofs.quorum(digests, signers)) revert FalseQuorum();
        uint64[] storage page = _pages[epoch];
        for (uint256 i = 0; i < page.length; ++i) {
            if (i / 8 < signers.length && uint8(signers[i / 8]) & (0x80 >> (i % 8)) != 0) weight += page[i];
        }
    }

    function checkMember(bytes32 digest, uint256 index, bytes calldata proof) external view {
        if (bytes32(proof) != MockProofs.single(digest, keys[index])) revert FalseSingle();
    }

    function publish(uint256 epoch, uint64[] calldata weights) external {
        if (_pages[epoch].length != 0) revert PublishedTwice();
        _pages[epoch] = weights;
    }

    function weightsOf(uint256 epoch) external view returns (uint64[] memory) {
        return _pages[epoch];
    }

    function pin(uint256 slot, uint256 from) external {
        pinned[slot] = from;
    }
}

/// @notice A verifier that believes the quorum's bitmap and weight. So the gas of a submission is the network's own
/// part.
contract Unverified is MockVerifier {
    constructor(address network_) MockVerifier(network_) {}

    function verify(bytes32[] calldata, uint256, bytes calldata quorum)
        external
        pure
        override
        returns (bytes memory signers, uint256 weight)
    {
        return (quorum[32:], uint256(bytes32(quorum)));
    }
}

/// @notice Believes keys, bitmaps and the weights of quorums. A real verifier publishes weights and reads them back:
/// these calls are passed on as bytes, so that they cost little more than without this contract.
contract PagedVerifier {
    address public immutable network;
    Verifier public immutable pages;
    uint256 private _next;

    constructor(address network_) {
        network = network_;
        pages = new VerifierBn254G1(address(this), 1);
    }

    /// @notice The next key gets this index.
    function skipTo(uint256 index) external {
        _next = index;
    }

    function admit(address, bytes calldata, bytes calldata) external returns (uint256) {
        return _next++;
    }

    function verify(bytes32[] calldata, uint256, bytes calldata quorum)
        external
        pure
        returns (bytes memory signers, uint256 weight)
    {
        return (quorum[32:], uint256(bytes32(quorum)));
    }

    fallback(bytes calldata input) external returns (bytes memory output) {
        bool done;
        (done, output) = address(pages).call(input);
        require(done, "the verifier reverted");
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
