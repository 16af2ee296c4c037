// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254Hashes} from "../../src/curves/Bn254Hashes.sol";
import {Bn254} from "../../src/libraries/Bn254.sol";
import {HashToBn254} from "../../src/libraries/HashToBn254.sol";

/// @notice The functions under proof, as external functions whose outcome can be compared.
contract Bn254Steps {
    function hash(bytes32 digest, uint8 counter, uint256 y) external pure returns (uint256, uint256) {
        Bn254.G1 memory point = HashToBn254.hash(digest, counter, y);
        return (point.x, point.y);
    }

    function sum(bytes32[] memory digests, bytes calldata hints) external view returns (uint256 x, uint256 y) {
        uint256 to;
        assembly {
            to := mload(0x40)
            mstore(0x40, add(to, 0x80))
        }
        Bn254Hashes.sum(digests, hints, to);
        assembly {
            x := mload(to)
            y := mload(add(to, 0x20))
        }
    }

    function negate(uint256 x, uint256 y) external pure returns (uint256, uint256) {
        Bn254.G1 memory point = Bn254.negate(Bn254.G1(x, y));
        return (point.x, point.y);
    }
}

/// @notice halmos proves each `check` for every input.
contract Bn254Symbolic {
    uint256 private constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

    Bn254Steps private immutable steps = new Bn254Steps();

    /// @notice The plain twin: which hints are accepted, and which point they give.
    function plain(bytes32 digest, uint8 counter, uint256 y) private pure returns (bool accepted, uint256 x) {
        bytes32 tag = keccak256("quorate.bn254.g1.try-and-increment");
        x = uint256(keccak256(abi.encode(tag, digest, uint256(counter)))) & (2 ** 254 - 1);
        uint256 right = addmod(mulmod(mulmod(x, x, P), x, P), 3, P);
        accepted = x < P && y < P && y % 2 == 0 && mulmod(y, y, P) == right;
    }

    /// @notice `HashToBn254.hash` accepts exactly the hints that the plain twin accepts, and gives its point.
    function check_hash_is_the_plain_twin(bytes32 digest, uint8 counter, uint256 y) external view {
        (bool accepted, uint256 x) = plain(digest, counter, y);
        try steps.hash(digest, counter, y) returns (uint256 x_, uint256 y_) {
            assert(accepted && x_ == x && y_ == y);
        } catch {
            assert(!accepted);
        }
    }

    /// @notice `Bn254Hashes.sum`, in assembly, does for one digest what `HashToBn254.hash` does.
    function check_sum_of_one_is_the_plain_twin(bytes32 digest, uint8 counter, uint256 y) external view {
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        (bool accepted, uint256 x) = plain(digest, counter, y);
        try steps.sum(digests, abi.encodePacked(counter, y)) returns (uint256 x_, uint256 y_) {
            assert(accepted && x_ == x && y_ == y);
        } catch {
            assert(!accepted);
        }
    }

    /// @notice `Bn254.negate` reverts unless y is below P. Otherwise both y add up to 0 modulo P, and the result is
    /// below P.
    function check_negate(uint256 x, uint256 y) external view {
        try steps.negate(x, y) returns (uint256 x_, uint256 y_) {
            assert(x_ == x && y < P && y_ < P);
            assert(y + y_ == (y == 0 ? 0 : P));
        } catch {
            assert(y >= P);
        }
    }
}
