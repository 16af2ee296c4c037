// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVerifier} from "../../src/interfaces/IVerifier.sol";
import {Verifier} from "../../src/Verifier.sol";
import {VerifierBn254G1} from "../../src/Verifiers.sol";
import {Quorums} from "../../src/Quorums.sol";
import {ToyKeys} from "./ToyCurve.sol";

/// @notice A verifier whose signatures are hashes, so that everyone who knows a key can sign with it.
contract MockVerifier is IVerifier {
    error FalsePossession();
    error FalseQuorum();
    error FalseSingle();
    error PublishedTwice();
    error UnknownKey();
    error KeyTaken();
    error KeyCarried();
    error NotAnOpenTable(uint256 table);

    address public immutable network;
    uint256 public running;
    uint256 public forcedIndex = type(uint256).max;
    mapping(uint256 slot => uint256 from) public pinned;
    mapping(uint256 table => uint256) public count;
    mapping(uint256 table => mapping(uint256 index => bytes)) private _keys;
    mapping(bytes32 keyHash => uint256) private _tableOf;
    mapping(bytes32 keyHash => uint256) private _indexOf;
    mapping(uint256 epoch => bytes) private _weights;

    constructor(address network_) {
        network = network_;
    }

    function forceIndex(uint256 index) external {
        forcedIndex = index;
    }

    /// @notice The next key gets this index, as if keys had come before it.
    function skipTo(uint256 index) external {
        count[running] = index;
    }

    function admit(address owner, bytes calldata key, bytes calldata proof) external returns (uint256 index) {
        if (bytes32(proof) != MockProofs.possession(owner, key)) revert FalsePossession();
        if (_indexOf[keccak256(key)] != 0) revert KeyTaken();
        index = _add(running, key);
        if (count[running + 1] != 0) _add(running + 1, key);
        if (forcedIndex != type(uint256).max) index = forcedIndex;
    }

    function carry(bytes calldata indices, uint256[] calldata) external {
        for (uint256 i = 0; i < indices.length; i += 4) {
            bytes memory key = _keys[running][uint32(bytes4(indices[i:]))];
            if (_tableOf[keccak256(key)] != running) revert KeyCarried();
            _add(running + 1, key);
        }
    }

    function renew() external {
        ++running;
    }

    function _add(uint256 table, bytes memory key) private returns (uint256 index) {
        index = count[table]++;
        _keys[table][index] = key;
        (_tableOf[keccak256(key)], _indexOf[keccak256(key)]) = (table, index + 1);
    }

    function verify(bytes32[] calldata digests, uint256 epoch, uint256 table, bytes calldata quorum)
        external
        virtual
        returns (bytes memory signers, uint256 weight)
    {
        // What a real verifier relies on.
        if (table != running && table + 1 != running) revert NotAnOpenTable(table);
        bytes32 proof;
        (signers, proof) = abi.decode(quorum, (bytes, bytes32));
        if (proof != MockProofs.quorum(digests, signers)) revert FalseQuorum();
        uint64[] memory weights = weightsOf(epoch);
        for (uint256 i = 0; i < weights.length; ++i) {
            if (i / 8 < signers.length && uint8(signers[i / 8]) & (0x80 >> (i % 8)) != 0) weight += weights[i];
        }
    }

    function signerOf(bytes32 digest, bytes calldata proof) external view returns (uint256 table, uint256 index) {
        (bytes memory key,) = abi.decode(proof, (bytes, bytes32));
        (table, index) = (_tableOf[keccak256(key)], _indexOf[keccak256(key)]);
        if (index == 0) revert UnknownKey();
        --index;
        if (keccak256(proof) != keccak256(MockProofs.single(digest, key))) revert FalseSingle();
    }

    function publish(uint256 epoch, bytes calldata weights) external {
        if (_weights[epoch].length != 0) revert PublishedTwice();
        _weights[epoch] = weights;
    }

    function weightsOf(uint256 epoch) public view returns (uint64[] memory weights) {
        bytes memory packed = _weights[epoch];
        weights = new uint64[](packed.length / 8);
        for (uint256 i = 0; i < weights.length; ++i) {
            uint256 word;
            assembly {
                word := mload(add(add(packed, 0x20), mul(i, 8)))
            }
            weights[i] = uint64(word >> 192);
        }
    }

    function pin(uint256 slot, uint256 from) external {
        pinned[slot] = from;
    }
}

/// @notice A verifier that believes the quorum's bitmap and weight. So the gas of a submission is the network's own
/// part.
contract Unverified is MockVerifier {
    constructor(address network_) MockVerifier(network_) {}

    function verify(bytes32[] calldata, uint256, uint256, bytes calldata quorum)
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

    function verify(bytes32[] calldata, uint256, uint256, bytes calldata quorum)
        external
        pure
        returns (bytes memory signers, uint256 weight)
    {
        return (quorum[32:], uint256(bytes32(quorum)));
    }

    function carry(bytes calldata, uint256[] calldata) external {}

    fallback(bytes calldata input) external returns (bytes memory output) {
        bool done;
        (done, output) = address(pages).call(input);
        require(done, "the verifier reverted");
    }
}

/// @notice A network's verifier over the toy curve: real but for the curve.
contract ToyNetworkVerifier is Verifier, ToyKeys {
    constructor(address network_) Quorums(1) Verifier(network_) {}
}

/// @notice A verifier that believes all signatures and keeps no key: it counts the keys of its tables, notes which were
/// carried, and keeps the weights of the last epoch. So thousands of epochs take seconds.
contract CountingVerifier {
    error CarriedTwice(uint256 index);

    address public immutable network;
    uint256 public running;
    mapping(uint256 table => uint256) public count;
    mapping(uint256 place => bool) private _carried;
    bytes private _weights;

    constructor(address network_) {
        network = network_;
    }

    function admit(address, bytes calldata, bytes calldata) external returns (uint256 index) {
        index = count[running]++;
        if (count[running + 1] == 0) return index;
        ++count[running + 1];
        _carried[running << 32 | index] = true;
    }

    function carry(bytes calldata indices, uint256[] calldata) external {
        for (uint256 i = 0; i < indices.length; i += 4) {
            uint256 index = uint32(bytes4(indices[i:]));
            if (_carried[running << 32 | index]) revert CarriedTwice(index);
            _carried[running << 32 | index] = true;
        }
        count[running + 1] += indices.length / 4;
    }

    function renew() external {
        ++running;
    }

    function publish(uint256, bytes calldata weights) external {
        require(weights.length == 8 * count[running], "a weight for each key");
        _weights = weights;
    }

    function lastWeights() external view returns (bytes memory) {
        return _weights;
    }
}

/// @notice A real verifier that believes all signatures, with keys as long as those in G2 of BN254.
contract WideVerifier is Verifier {
    constructor(address network_) Quorums(1) Verifier(network_) {}

    function _programBytes() internal pure override returns (uint256) {
        return 0;
    }

    function _program() internal pure override returns (bytes memory) {
        return "";
    }

    function _openKeys(uint256 nonce, uint256 table) internal view override returns (uint256) {
        return _openHeader(nonce, table);
    }

    function _keyBytes() internal pure override returns (uint256) {
        return 128;
    }

    function _signatureBytes() internal pure override returns (uint256) {
        return 64;
    }

    function _begin(uint256, bytes calldata) internal pure override returns (uint256, uint256) {}

    function _accumulate(uint256, uint256, bool) internal pure override {}

    function _accumulatePaged(uint256, uint256, uint256, uint256, uint256, uint256) internal pure override {}

    function _finish(uint256, uint256, bytes calldata) internal pure override returns (uint256) {}

    function _check(bytes32[] memory, uint256, bytes calldata) internal pure override {}
}

library MockProofs {
    function possession(address operator, bytes memory key) internal pure returns (bytes32) {
        return keccak256(abi.encode("possession", operator, key));
    }

    function quorum(bytes32[] memory digests, bytes memory signers) internal pure returns (bytes32) {
        return keccak256(abi.encode("quorum", digests, signers));
    }

    /// @notice The key, and its signature.
    function single(bytes32 digest, bytes memory key) internal pure returns (bytes memory) {
        return abi.encode(key, keccak256(abi.encode("single", digest, key)));
    }
}
