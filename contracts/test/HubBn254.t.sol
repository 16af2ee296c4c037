// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {FalseSettlement, HubFixture, HubTest} from "./Hub.t.sol";
import {Members} from "./Members.sol";
import {Bn254G1Signing} from "./Signing.sol";
import {HubBn254G1Sums} from "../src/curves/HubBn254G1Sums.sol";
import {Hub} from "../src/Hub.sol";
import {HubBn254G1, HubSettlementBn254G1} from "../src/Hubs.sol";
import {HubSettlement} from "../src/HubSettlement.sol";
import {IHubSettlement} from "../src/interfaces/IHubSettlement.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";
import {Orders} from "../src/libraries/Orders.sol";

/// @notice A hub of settlements with keys in G1 of BN254.
contract HubBn254G1Test is HubTest, Bn254G1Signing {
    uint256 private constant LIMIT = 3_000_000;

    function _newHub() internal override returns (Hub) {
        return new HubBn254G1();
    }

    function _newSettlement(Hub hub) internal override returns (HubSettlement) {
        return new HubSettlementBn254G1(address(this), 1, 4, address(hub));
    }

    function _group() internal pure override returns (string memory) {
        return "HubBn254G1";
    }

    function _negated(bytes memory key) internal pure override returns (bytes memory) {
        return abi.encode(Bn254.negate(abi.decode(key, (Bn254.G1))));
    }

    function _wrongLength(uint256 length) internal pure override returns (bytes memory) {
        return abi.encodeWithSelector(HubBn254G1Sums.ProofLength.selector, length);
    }

    function _signatureBytes() internal pure override returns (uint256) {
        return 64;
    }

    function _offTheCurve() internal pure override returns (bytes memory) {
        return abi.encodeWithSelector(Bn254.AddFailed.selector);
    }

    /// @dev A proof with another key in G2.
    function _withKey(bytes memory proof, bytes memory key) private pure returns (bytes memory changed) {
        changed = bytes.concat(proof);
        for (uint256 i = 0; i < 128; i++) {
            changed[64 + i] = key[i];
        }
    }

    function _refuseWithin(Hub.Settling[] memory all, bytes4 expected) private {
        (bool done, bytes memory why) = address(_hub).call{gas: LIMIT}(abi.encodeCall(Hub.settle, (all)));
        assertTrue(!done, "not refused");
        assertEq(why, abi.encodeWithSelector(expected), "why");
    }

    /// @notice Another key in G2, with a signature by its secret: each claim would be right with pk2 alone.
    function test_trap_aKeyInG2ThatIsNotTheQuorums() public {
        for (uint256 i = 0; i < 3; i++) {
            Hub.Settling[] memory all = _three();
            Known storage known = _all[i];
            (,, bytes32[] memory results,) = _decoded(all[i].call);
            bytes32 digest = known.settlement
            .resultsDigest(known.head.epoch(), known.head.nonce(), DEADLINE, Members.NEWEST, results);
            all[i].proof = proofBy(99, Members.only(digest));
            _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
        }
    }

    /// @notice Two keys in G2 with the right sum: pk2₁ + pk2₂ = (a₁ + a₂)·G2. With one γ for all claims that would pass.
    function test_trap_keysInG2WithTheRightSum() public {
        Hub.Settling[] memory all = _three();
        (uint256 a, uint256 b) = (_secret(_all[0], hex"c0"), _secret(_all[1], hex"60"));
        all[0].proof = _resigned(0, all[0], a + 5);
        all[1].proof = _resigned(1, all[1], b - 5);
        _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
        all[0].proof = _resigned(0, all[0], a);
        all[1].proof = _resigned(1, all[1], b);
        assertEq(_hub.settle(all), 3, "the right keys");
    }

    function _resigned(uint256 i, Hub.Settling memory one, uint256 secret) private view returns (bytes memory) {
        (,, bytes32[] memory results,) = _decoded(one.call);
        Known storage known = _all[i];
        bytes32 digest =
            known.settlement.resultsDigest(known.head.epoch(), known.head.nonce(), DEADLINE, Members.NEWEST, results);
        return proofBy(secret, Members.only(digest));
    }

    /// @notice The forger passes a key in G2 of its own for another's settlement, computes all γ as the hub does, and
    /// corrects the sum by the signature of its own settlement. The sum of the signatures is hashed, so that changes all γ.
    /// The second time it computes them as a hub would that leaves out the sum.
    function test_trap_aSumThatIsCorrectedAfterwards() public {
        for (uint256 kind = 0; kind < 2; kind++) {
            Hub.Settling[] memory all = new Hub.Settling[](2);
            all[0] = _three()[0];
            FalseSettlement own = new FalseSettlement();
            own.prepare(abi.encode(bytes32(uint256(7)), keyOf(1)));
            bytes32 digest = Orders.digest(address(own), bytes32(uint256(7)));
            bytes memory call = abi.encodePacked(IHubSettlement.settleByHub.selector);
            all[1] = Hub.Settling(IHubSettlement(address(own)), call, proofBy(1, Members.only(digest)));
            all[0].proof = _resigned(0, all[0], 99);
            // With the signature by 99, what is missing is γ₁·(a₁ - 99).
            uint256 a = _secret(_all[0], hex"c0");
            uint256 gamma = uint256(keccak256(abi.encode(_seed(all, a, kind == 0), uint256(0)))) % Bn254.R;
            uint256 missing = mulmod(gamma, addmod(99, Bn254.R - a, Bn254.R), Bn254.R);
            Bn254.G1 memory signature = abi.decode(all[1].proof, (Bn254.G1));
            signature = Bn254.add(signature, Bn254.mul(Bn254.generator(), missing));
            all[1].proof = _withSignature(all[1].proof, abi.encode(signature));
            _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
        }
    }

    /// @dev What the hub hashes: all points of both claims.
    function _seed(Hub.Settling[] memory all, uint256 a, bool withSum) private view returns (bytes32) {
        Bn254.G1 memory sum = Bn254.add(abi.decode(all[0].proof, (Bn254.G1)), abi.decode(all[1].proof, (Bn254.G1)));
        (,, bytes32[] memory results,) = _decoded(all[0].call);
        Known storage known = _all[0];
        bytes32 first =
            known.settlement.resultsDigest(known.head.epoch(), known.head.nonce(), DEADLINE, Members.NEWEST, results);
        bytes32 second = Orders.digest(address(all[1].settlement), bytes32(uint256(7)));
        bytes memory pairs = bytes.concat(_hash(first), keyInG2(99), _hash(second), keyInG2(1));
        if (withSum) pairs = bytes.concat(abi.encode(sum, Bn254.negatedG2Generator()), pairs);
        bytes memory keys = bytes.concat(keyOf(a), keyOf(1));
        bytes32 tag = keccak256("quorate.bn254.hub.dual-keys");
        return keccak256(abi.encode(tag, uint256(2), keccak256(pairs), keccak256(keys)));
    }

    function _hash(bytes32 digest) private view returns (bytes memory) {
        (uint8 counter, uint256 y) = HashToBn254.find(digest);
        return abi.encode(HashToBn254.hash(digest, counter, y));
    }

    function test_trap_theIdentity() public {
        Hub.Settling[] memory all = _three();
        all[1].proof = _withKey(all[1].proof, new bytes(128));
        _refuse(all, abi.encodeWithSelector(Bn254.IdentityKey.selector));
        FalseSettlement other = new FalseSettlement();
        other.prepare(abi.encode(bytes32(uint256(1)), new bytes(64)));
        bytes32 digest = Orders.digest(address(other), bytes32(uint256(1)));
        bytes memory call = abi.encodePacked(IHubSettlement.settleByHub.selector);
        all[1] = Hub.Settling(IHubSettlement(address(other)), call, proofBy(1, Members.only(digest)));
        _refuse(all, abi.encodeWithSelector(Bn254.IdentityKey.selector));
    }

    /// @notice Points off the curve: in the settlement's key, in the key in G2; and one of the twist outside G2.
    function test_trap_malformedKeys() public {
        Hub.Settling[] memory all = _three();
        bytes memory right = all[1].proof;
        bytes memory key = keyInG2(3);
        key[127] ^= 0x01;
        all[1].proof = _withKey(right, key);
        _refuseWithin(all, Bn254.PairingFailed.selector);
        key = abi.encode(
            uint256(0),
            uint256(1),
            uint256(0x0d1271953ed9ea0836846e70a1934187998c7f790cb4d7511b7f8da82de048a4),
            uint256(0x2869111d5381f072f8e2728fdb825a51aadd70e52c9830e9ab4b871c0531f1bb)
        );
        all[1].proof = _withKey(right, key);
        _refuseWithin(all, Bn254.PairingFailed.selector);
        FalseSettlement other = new FalseSettlement();
        other.prepare(abi.encode(bytes32(uint256(1)), abi.encode(uint256(1), uint256(3))));
        bytes32 digest = Orders.digest(address(other), bytes32(uint256(1)));
        bytes memory call = abi.encodePacked(IHubSettlement.settleByHub.selector);
        all[1] = Hub.Settling(IHubSettlement(address(other)), call, proofBy(1, Members.only(digest)));
        _refuseWithin(all, Bn254.MulFailed.selector);
    }

    function test_trap_falseHints() public {
        Hub.Settling[] memory all = _three();
        all[2].proof[224] ^= 0x02;
        _refuseWithin(all, HashToBn254.NotOnCurve.selector);
    }
}

/// @notice Gas of settlements with 100 members each.
contract HubBn254G1GasTest is HubFixture, Bn254G1Signing {
    function _members() internal pure override returns (uint256) {
        return 100;
    }

    function _newHub() internal override returns (Hub) {
        return new HubBn254G1();
    }

    function _newSettlement(Hub hub) internal override returns (HubSettlement) {
        return new HubSettlementBn254G1(address(this), 1, 4, address(hub));
    }

    function test_gas_100() public {
        _hub = _newHub();
        while (_all.length < 10) _start(_newSettlement(_hub), 1);
        uint256 before = vm.snapshotState();
        _settleTen(false, "10 quorums of 100 by a hub");
        vm.revertToState(before);
        _settleTen(true, "10 quorums of 100 by a hub, a tenth is absent");
    }

    /// @dev Each quorum is its newest base, or differs from it in ten members.
    function _settleTen(bool absent, string memory name) private {
        Hub.Settling[] memory all = new Hub.Settling[](10);
        for (uint256 i = 0; i < 10; i++) {
            all[i] = _settling(i, _results(_all[i], 0), _allBut(absent ? i : 10));
        }
        assertEq(_hub.settle(all), 10, "settled");
        vm.snapshotGasLastCall("HubBn254G1", name);
        for (uint256 i = 0; i < 10; i++) {
            _advance(_all[i], _allBut(absent ? i : 10));
            _assertState(_all[i]);
        }
    }
}
