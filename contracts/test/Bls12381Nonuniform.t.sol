// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Sums} from "../src/curves/Bls12381G2Keys.sol";
import {Bls12381G2NuKeys} from "../src/curves/Bls12381G2NuKeys.sol";
import {Bls12381} from "../src/libraries/Bls12381.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2, SettlementBls12381G2Nu} from "../src/Settlements.sol";
import {Verifier} from "../src/Verifier.sol";
import {VerifierBls12381G2Nu} from "../src/Verifiers.sol";
import {CostlierPrecompilesTest} from "./CostlierPrecompiles.t.sol";
import {Members} from "./Members.sol";
import {CurveCaller} from "./mocks/CurveCaller.sol";
import {SettlementBls12381G2Test} from "./Settlements.t.sol";
import {Bls12381G2NuSigning} from "./Signing.sol";
import {vm} from "./Test.sol";
import {TaskNetworksTest} from "./TaskNetworks.t.sol";

/// @notice All tests of the settlement with keys in G2 of BLS12-381, with the nonuniform hash.
contract SettlementBls12381G2NuTest is SettlementBls12381G2Test {
    function _new() internal virtual override returns (Settlement) {
        return new SettlementBls12381G2Nu(address(this), 1, 4);
    }

    function _group() internal pure virtual override returns (string memory) {
        return "SettlementBls12381G2Nu";
    }

    function _hashOf(bytes32 digest) internal view override returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.encodeToG1(digest, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_"));
    }

    /// @dev The sum of the quorum's signatures over one digest under the other suite.
    function _otherProof(bytes32 digest, bytes memory signers) private view returns (bytes memory) {
        return _proofOf(super._hashOf(digest), signers);
    }

    /// @notice The quorum signs the right digest, under the suite of the contract with the uniform hash.
    function test_trap_signaturesOfTheUniformSuite() public {
        bytes memory signers = _most(0, false);
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests = _digests(Members.NONE, results);
        bytes memory quorum = _pack(Members.empty(), Members.NONE, signers, _otherProof(digests[0], signers));
        vm.expectRevert(Bls12381G2Sums.FalseSignature.selector);
        _send(Members.empty(), results, quorum);
        // Under the right suite it settles.
        _send(Members.empty(), results, _pack(Members.empty(), Members.NONE, signers, _proof(digests, signers)));
    }

    /// @notice The reverse: the contract with the uniform hash is given a proof of the nonuniform one.
    function test_trap_signaturesOfTheNonuniformSuite() public {
        Settlement uniform = new SettlementBls12381G2(address(this), 1, 4);
        bytes memory alone = _one(0);
        bytes memory key = _key(alone);
        bytes32 digest = uniform.possessionDigest(address(this), key);
        bytes memory proof = _proof(Members.only(digest), alone);
        vm.expectRevert(Bls12381G2Sums.FalseSignature.selector);
        uniform.register(address(this), key, proof);
        uniform.register(address(this), key, _otherProof(digest, alone));
    }

    /// @notice A proof of possession under the uniform suite does not register a key.
    function test_trap_possessionUnderTheUniformSuite() public {
        Settlement fresh = _new();
        bytes memory alone = _one(0);
        bytes memory key = _key(alone);
        bytes32 digest = fresh.possessionDigest(address(this), key);
        bytes memory proof = _otherProof(digest, alone);
        vm.expectRevert(Bls12381G2Sums.FalseSignature.selector);
        fresh.register(address(this), key, proof);
        fresh.register(address(this), key, _proof(Members.only(digest), alone));
    }
}

contract TaskNetworkBls12381G2NuTest is TaskNetworksTest, Bls12381G2NuSigning {
    function _newVerifier(address network) internal override returns (Verifier) {
        return new VerifierBls12381G2Nu(network, 1);
    }

    function _name() internal pure override returns (string memory) {
        return "BLS12-381 G2, nonuniform";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bls12381G2Sums.FalseSignature.selector;
    }

    function _identity() internal pure override returns (bytes4) {
        return Bls12381G2Sums.SumIsIdentity.selector;
    }
}

contract Bls12381G2NuCaller is CurveCaller, Bls12381G2NuKeys {}

contract CostlierPrecompilesBls12381G2NuTest is CostlierPrecompilesTest, Bls12381G2NuSigning {
    function newCaller() internal override returns (CurveCaller) {
        return new Bls12381G2NuCaller();
    }

    function hint(bytes[4] memory) internal pure override returns (bytes memory) {}
}
