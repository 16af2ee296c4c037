// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {OPERATOR_KEYS, Operators} from "./Operators.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";
import {Bn254Hashes} from "../src/curves/Bn254Hashes.sol";
import {Bn254G1Keys} from "../src/curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "../src/curves/Bn254G2Keys.sol";
import {Bls12381G2Sums} from "../src/curves/Bls12381G2Keys.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {Bls12381} from "../src/libraries/Bls12381.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Head} from "../src/Head.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2, SettlementBn254G1, SettlementBn254G2} from "../src/Settlements.sol";

/// @notice Cheatcodes that replace a precompile.
interface Precompiles {
    function mockCallRevert(address callee, bytes calldata data, bytes calldata revertData) external;
    function clearMockedCalls() external;
}

/// @notice Tests settlements over a real curve, with keys and secrets of `11_bn254_keys`.
abstract contract SettlementsTest is Test {
    uint256 internal constant N = 50;

    Settlement internal _settlement;
    Operators internal _operators;
    string internal _record;
    Head internal _head;
    uint64 internal constant DEADLINE = 2 ** 32 - 1;
    Members.Base internal _newest;
    /// Whether quorums name pages of weights.
    bool internal _weighs;
    uint256[] private _none;
    uint256[] private _keyPages;
    uint256[] private _weightPages;
    bytes private _weights;
    /// Whether quorums pass weights, and do not name the page of them.
    bool internal _passes;

    function _new() internal virtual returns (Settlement);

    /// @notice The key of an operator, or the sum of several keys, in the format of the key table.
    function _key(bytes memory signers) internal view virtual returns (bytes memory);

    /// @notice The proof of a quorum, made with the sum of its secrets. The hint for the sum of keys comes from
    /// `_hint`.
    function _proof(bytes32[] memory digests, bytes memory signers) internal view virtual returns (bytes memory);

    function _hint(Members.Base memory base, bytes memory signers) internal view virtual returns (bytes memory);

    function setUp() public {
        // If the file is absent, all tests are skipped. The operators, who are another contract, cannot do that.
        Vectors.read(OPERATOR_KEYS);
        _operators = new Operators();
        _settlement = _new();
        for (uint256 i = 0; i < N; i++) {
            bytes memory alone = _one(i);
            bytes memory key = _key(alone);
            bytes32[] memory digests = Members.only(_settlement.possessionDigest(address(this), key));
            _settlement.register(address(this), key, _proof(digests, alone));
        }
        bytes memory tail;
        for (uint256 i = 0; i < N - 2; i++) {
            tail = abi.encodePacked(tail, _key(_one(i)));
        }
        _settlement.compact(0, N - 2, _none, tail);
        _keyPages.push(2);
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = 1_000_000;
        }
        _weights = Members.packWeights(weights);
        _begin(weights, uint88(N * 1_000_000 / 2), 1_000_000);
        _settlement.publish(0, _weights);
        _weightPages.push(3);
    }

    function _begin(uint64[] memory weights, uint88 required, uint64 threshold) private {
        _newest.slot = Members.NONE;
        _settlement.begin(threshold, Members.packWeights(weights), required, false);
        _settlement.enter(_head, 0);
        _head = _settlement.terms();
    }

    function _one(uint256 index) internal pure returns (bytes memory) {
        bool[] memory members = new bool[](index + 1);
        members[index] = true;
        return Members.bitmap(members);
    }

    /// @dev All members but the first `missing`. Without `tail`, also without the members from N - 2 on, whose keys are
    /// in no page.
    function _most(uint256 missing, bool tail) internal pure returns (bytes memory) {
        bool[] memory members = new bool[](N);
        for (uint256 i = missing; i < (tail ? N : N - 2); i++) {
            members[i] = true;
        }
        return Members.bitmap(members);
    }

    function _pack(Members.Base memory base, uint256 store, bytes memory signers, bytes memory proof)
        internal
        view
        returns (bytes memory)
    {
        bool same = Members.same(base.signers, signers);
        Members.Passed memory passed;
        for (uint256 i = N - 2; i < N; i++) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) continue;
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _key(_one(i)));
        }
        if (_weighs && _passes) passed.weightBytes = _weights;
        return Members.pack(
            base,
            store,
            same ? _none : _keyPages,
            same || !_weighs ? _none : _weightPages,
            passed,
            signers,
            abi.encodePacked(_hint(base, signers), proof)
        );
    }

    /// @notice Settles from a base, and keeps the head and the newest base.
    function _settle(Members.Base memory base, uint256 store, bytes memory signers, uint256 results)
        internal
        returns (Members.Base memory result)
    {
        bytes32[] memory all = new bytes32[](results);
        for (uint256 i = 0; i < results; i++) {
            all[i] = keccak256(abi.encode(signers, i));
        }
        bytes32[] memory digests = _digests(store, all);
        _send(base, all, _pack(base, store, signers, _proof(digests, signers)));
        if (bytes(_record).length != 0) vm.snapshotGasLastCall(_group(), _record);
        _head = _head.advance(results);
        bool weighed = _weighs && !Members.same(base.signers, signers);
        uint96 weight = weighed ? uint96(_count(signers) * 1_000_000) : 0;
        result = Members.Base(store, weighed ? 1 : 0, weight, _key(signers), signers);
        if (store == Members.NEWEST) _newest = result;
        assertEq(_settlement.state(), keccak256(abi.encode(_head, Members.commitment(_newest))), "the state");
    }

    function _digests(uint256 store, bytes32[] memory results) internal view returns (bytes32[] memory) {
        return Members.only(_settlement.resultsDigest(_head.epoch(), _head.nonce(), DEADLINE, store, results));
    }

    function _send(Members.Base memory base, bytes32[] memory results, bytes memory quorum) internal {
        if (base.slot == Members.NEWEST && results.length == 1) {
            _settlement.settle(_head, DEADLINE, results[0], quorum);
        } else {
            _settlement.settleAll(_head, Members.commitment(_newest), DEADLINE, results, quorum);
        }
    }

    function _count(bytes memory signers) internal pure returns (uint256 count) {
        for (uint256 i = 0; i < N; i++) {
            if (Members.contains(signers, i)) count++;
        }
    }

    function test_settles() public {
        Members.Base memory base = _settle(Members.empty(), 2, _most(0, true), 1);
        assertEq(_settlement.commitmentAt(2), keccak256(Members.preimage(base)), "the full set");
        base = _settle(base, 3, _most(3, false), 1);
        assertEq(_settlement.commitmentAt(3), keccak256(Members.preimage(base)), "a difference");
        base = _settle(base, Members.NEWEST, _most(3, false), 1);
        _settle(base, Members.NONE, _most(3, false), 2);
        assertEq(_head.nonce(), 5, "settled");
    }

    /// @notice Members leave and come, one by one and in runs, and either may be first or last.
    function test_differencesInEveryOrder() public {
        Members.Base memory base = _settle(Members.empty(), Members.NEWEST, _pattern(hex"5a5a5a5a5af0"), 1);
        bytes[7] memory others = [
            bytes(hex"a5a5a5a5a50f"),
            hex"ffffffffff",
            hex"0fffffffff",
            hex"f00000000080",
            hex"0123456789ab",
            hex"0123456789ac",
            hex"fedcba9876"
        ];
        for (uint256 i = 0; i < others.length; i++) {
            base = _settle(base, Members.NEWEST, _pattern(others[i]), 1);
        }
    }

    /// @notice Few members change, far apart in one page: some leave, some come, or both.
    function test_differencesFarApart() public {
        Members.Base memory full = _settle(Members.empty(), 2, _most(0, true), 1);
        bool[] memory members = new bool[](N);
        for (uint256 i = 0; i < N; i++) {
            members[i] = i != 0 && i != 40;
        }
        Members.Base memory less = _settle(full, Members.NEWEST, Members.bitmap(members), 1);
        _settle(less, 3, _most(0, true), 1);
        (members[0], members[45]) = (true, false);
        _settle(less, Members.NEWEST, Members.bitmap(members), 1);
    }

    /// @dev A bitmap that reaches the required weight, with these members and with those from 6 to 15, from 22 to 31
    /// and so on.
    function _pattern(bytes memory bits) private pure returns (bytes memory) {
        bool[] memory members = new bool[](N);
        for (uint256 i = 0; i < N; i++) {
            members[i] = Members.contains(bits, i) || i % 16 > 5;
        }
        return Members.bitmap(members);
    }

    /// @dev The quorum with the last member, whose key lies in no page.
    function _withLast(bytes memory signers) private pure returns (bytes memory) {
        bool[] memory members = new bool[](N);
        for (uint256 i = 0; i < N; i++) {
            members[i] = i == N - 1 || Members.contains(signers, i);
        }
        return Members.bitmap(members);
    }

    /// @notice Measures the gas of whole transactions with cold storage.
    function test_gas() public {
        Members.Base memory full = _settle(Members.empty(), 2, _most(0, true), 1);
        Members.Base memory base = _settle(full, Members.NEWEST, _most(1, false), 1);
        _record = "the same quorum";
        _settle(base, Members.NONE, _most(1, false), 1);
        _record = "the same quorum, two results";
        _settle(base, Members.NONE, _most(1, false), 2);
        _record = "the same quorum, ten results";
        _settle(base, Members.NONE, _most(1, false), 10);
        for (uint256 changed = 1; changed <= 16; changed *= 2) {
            _record = string.concat(vm.toString(changed), " changed");
            _settle(base, Members.NONE, _most(1 + changed, false), 1);
        }
        _record = "1 changed, from a slot of the ring";
        _settle(full, Members.NONE, _most(1, true), 1);
        _record = "1 changed, stored in a new slot";
        _settle(base, 3, _most(2, false), 1);
        _weighs = true;
        _record = "1 changed, weighed from a page";
        _settle(base, Members.NONE, _most(2, false), 1);
        _weightPages[0] = 1 << 31 | _weights.length;
        _passes = true;
        _record = "1 changed, weighed from calldata";
        _settle(base, Members.NONE, _most(2, false), 1);
        _weighs = false;
        _record = "2 changed, one key from calldata";
        _settle(base, Members.NONE, _withLast(_most(2, false)), 1);
        _record = "1 changed, stored as the newest";
        _settle(base, Members.NEWEST, _most(2, false), 1);
    }

    function _group() internal view virtual returns (string memory);

    /// @notice Tries a signature of another quorum, a signature over another result, and no signature.
    function test_falseSignatures() public {
        bytes memory signers = _most(0, false);
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests = _digests(Members.NONE, results);
        bytes memory proof = _proof(digests, _most(1, false));
        bytes memory quorum = _pack(Members.empty(), Members.NONE, signers, proof);
        vm.expectRevert(_falseSignature());
        _send(Members.empty(), results, quorum);
        proof = _proof(digests, signers);
        for (uint256 i = 0; i < _signatureBytes(); i++) {
            proof[i] = 0;
        }
        quorum = _pack(Members.empty(), Members.NONE, signers, proof);
        vm.expectRevert(_falseSignature());
        _send(Members.empty(), results, quorum);
        quorum = _pack(Members.empty(), Members.NONE, signers, _proof(digests, signers));
        results[0] = bytes32(uint256(1));
        vm.expectRevert();
        _send(Members.empty(), results, quorum);
        results[0] = 0;
        _send(Members.empty(), results, quorum);
    }

    /// @notice A chain whose precompile for sums of keys fails (for keys in G2 of BN254, whose sums need none, the
    /// pairing), and a proof that goes on behind its end.
    function test_trap_additionsThatFail() public {
        bytes memory signers = _most(0, false);
        bytes32[] memory results = new bytes32[](1);
        bytes memory proof = _proof(_digests(Members.NONE, results), signers);
        uint256 keyBytes = _key(signers).length;
        address precompile = address(keyBytes == 64 ? uint160(0x06) : keyBytes == 128 ? uint160(0x08) : uint160(0x0d));
        bytes memory quorum = _pack(Members.empty(), Members.NONE, signers, proof);
        Precompiles(address(vm)).mockCallRevert(precompile, "", "");
        vm.expectRevert();
        _send(Members.empty(), results, quorum);
        Precompiles(address(vm)).clearMockedCalls();
        vm.expectRevert();
        _send(Members.empty(), results, bytes.concat(quorum, hex"00"));
        _send(Members.empty(), results, quorum);
    }

    function _falseSignature() internal view virtual returns (bytes4);

    /// @notice The signature stands first in a proof.
    function _signatureBytes() internal pure virtual returns (uint256) {
        return 64;
    }

    function _hash(bytes32[] memory digests) internal view returns (bytes memory hints) {
        for (uint256 i = 0; i < digests.length; i++) {
            (uint8 counter, uint256 y) = HashToBn254.find(digests[i]);
            hints = abi.encodePacked(hints, counter, y);
        }
    }

    function sumOfHashes(bytes32[] memory digests, bytes calldata hints) external view returns (Bn254.G1 memory) {
        uint256[4] memory room;
        uint256 to;
        assembly {
            to := room
        }
        Bn254Hashes.sum(digests, hints, to);
        return Bn254.G1(room[0], room[1]);
    }

    function _signature(bytes32[] memory digests, bytes memory signers) internal view returns (bytes memory) {
        Bn254.G1 memory s = Bn254.mul(this.sumOfHashes(digests, _hash(digests)), _operators.secretOf(signers));
        return abi.encode(s);
    }

    function _keyInG2(bytes memory signers) internal view returns (Bn254.G2 memory key) {
        (bytes memory encoded,,) = _operators.sumInG2("", "", signers);
        return abi.decode(encoded, (Bn254.G2));
    }
}

contract SettlementBn254G2Test is SettlementsTest {
    /// Whether sums are made in Jacobian coordinates.
    bool private _jacobian;

    function _new() internal override returns (Settlement) {
        return new SettlementBn254G2(address(this), 1, 2);
    }

    function _group() internal pure override returns (string memory) {
        return "SettlementBn254G2";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bn254G2Keys.FalseSignature.selector;
    }

    function _key(bytes memory signers) internal view override returns (bytes memory) {
        return abi.encode(_keyInG2(signers));
    }

    function _hint(Members.Base memory base, bytes memory signers) internal view override returns (bytes memory) {
        if (Members.same(base.signers, signers)) return "";
        if (!_jacobian) return abi.encodePacked(uint8(1), _operators.slopesInG2(base.key, base.signers, signers));
        (, uint256 im, uint256 re) = _operators.sumInG2(base.key, base.signers, signers);
        return abi.encodePacked(uint8(0), im, re);
    }

    function _proof(bytes32[] memory digests, bytes memory signers) internal view override returns (bytes memory) {
        return abi.encodePacked(_signature(digests, signers), _hash(digests));
    }

    function test_wrongInverse() public {
        _jacobian = true;
        bytes memory signers = _most(0, false);
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests = _digests(Members.NONE, results);
        bytes memory quorum = _pack(Members.empty(), Members.NONE, signers, _proof(digests, signers));
        // Changes the last byte of 1/Z, which stands before the signature and the digest's hint.
        quorum[quorum.length - 64 - 33 - 1] ^= 0x01;
        vm.expectRevert(Bn254G2.BadInverse.selector);
        _send(Members.empty(), results, quorum);
    }
}

contract SettlementBn254G1Test is SettlementsTest {
    function _new() internal virtual override returns (Settlement) {
        return new SettlementBn254G1(address(this), 1, 8);
    }

    function _group() internal pure virtual override returns (string memory) {
        return "SettlementBn254G1";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bn254G1Keys.FalseSignature.selector;
    }

    function _key(bytes memory signers) internal view override returns (bytes memory) {
        return abi.encode(Bn254.mul(Bn254.generator(), _operators.secretOf(signers)));
    }

    function _hint(Members.Base memory, bytes memory) internal pure override returns (bytes memory) {
        return "";
    }

    function _proof(bytes32[] memory digests, bytes memory signers) internal view override returns (bytes memory) {
        return abi.encodePacked(_signature(digests, signers), abi.encode(_keyInG2(signers)), _hash(digests));
    }

    /// @notice The key in G2 is not that of the sum. If it passed, the aggregator could sign anything with a key of its
    /// own.
    function test_trap_foreignTwin() public {
        bytes memory signers = _most(0, false);
        bytes memory foreign = _most(1, false);
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests = _digests(Members.NONE, results);
        // The signature is true under the foreign key.
        bytes memory quorum = _pack(Members.empty(), Members.NONE, signers, _proof(digests, foreign));
        vm.expectRevert(Bn254G1Keys.FalseSignature.selector);
        _send(Members.empty(), results, quorum);
    }
}

/// @notice The operators of the other tests, with the same secrets on another curve.
contract SettlementBls12381G2Test is SettlementsTest {
    bytes private constant G2 =
        hex"024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb813e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b828010606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be";

    function _new() internal virtual override returns (Settlement) {
        return new SettlementBls12381G2(address(this), 1, 4);
    }

    function _group() internal pure virtual override returns (string memory) {
        return "SettlementBls12381G2";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bls12381G2Sums.FalseSignature.selector;
    }

    function _signatureBytes() internal pure virtual override returns (uint256) {
        return 96;
    }

    /// @dev Secrets of 248 bits.
    function _secret(bytes memory signers) private pure returns (uint256 secret) {
        for (uint256 i = 0; i < N; i++) {
            if (Members.contains(signers, i)) secret += uint256(keccak256(abi.encode(i))) >> 8;
        }
    }

    function _key(bytes memory signers) internal view override returns (bytes memory) {
        return BlsPoints.multiplyG2(G2, _secret(signers));
    }

    function _hint(Members.Base memory, bytes memory) internal pure override returns (bytes memory) {
        return "";
    }

    function _proof(bytes32[] memory digests, bytes memory signers) internal view override returns (bytes memory sum) {
        for (uint256 i = 0; i < digests.length; i++) {
            bytes memory one = _proofOf(_hashOf(digests[i]), signers);
            sum = i == 0 ? one : BlsPoints.addG1(sum, one);
        }
    }

    function _proofOf(bytes memory point, bytes memory signers) internal view returns (bytes memory) {
        return BlsPoints.multiplyG1(point, _secret(signers));
    }

    function _hashOf(bytes32 digest) internal view virtual returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.hashToG1(digest, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"));
    }
}
