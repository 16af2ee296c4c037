// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {Signing} from "./Signing.sol";
import {TableRegistrar, ToySettlement} from "./mocks/TableRegistrar.sol";
import {Head} from "../src/Head.sol";
import {Settlement} from "../src/Settlement.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice What tests of stake registrars share: parameters, and a plain computation of what an epoch needs.
abstract contract AdaptersFixture is Test {
    uint48 internal constant LENGTH = 1 days;
    uint48 internal constant GENESIS = 1_000_000;
    uint256 internal constant UNIT = 1e15;
    uint32 internal constant READ_GAS = 300_000;

    StakeRegistrar internal _base;

    function _parameters() internal pure returns (StakeRegistrar.Parameters memory) {
        return StakeRegistrar.Parameters({
            genesis: GENESIS,
            epochLength: LENGTH,
            unit: UNIT,
            leastWeight: 10,
            mostOperators: 1_000,
            numerator: 2,
            denominator: 3,
            readGas: READ_GAS
        });
    }

    /// @dev The address of what this contract creates after `others` other contracts.
    function _later(uint256 others) internal view returns (address) {
        return vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + others);
    }

    /// @dev The weights of the last weighing, one by one.
    function _weights() internal view returns (uint256[] memory weights) {
        return _unpack(_base.weights());
    }

    function _unpack(bytes memory packed) internal pure returns (uint256[] memory weights) {
        weights = new uint256[](packed.length / 8);
        for (uint256 i = 0; i < weights.length; i++) {
            for (uint256 j = 0; j < 8; j++) {
                weights[i] = weights[i] << 8 | uint8(packed[8 * i + j]);
            }
        }
    }

    function _total(uint256[] memory weights) internal pure returns (uint256 total) {
        for (uint256 i = 0; i < weights.length; i++) {
            total += weights[i];
        }
    }

    /// @dev What a quorum needs: more than two thirds.
    function _required(uint256[] memory weights) internal pure returns (uint256) {
        return _total(weights) * 2 / 3 + 1;
    }

    /// @dev The weight at which the sum from the lightest on reaches what is required, and how many members that takes.
    /// Sorts by insertion.
    function _threshold(uint256[] memory unsorted) internal pure returns (uint64 threshold, uint256 enough) {
        uint256[] memory weights = abi.decode(abi.encode(unsorted), (uint256[]));
        for (uint256 i = 1; i < weights.length; i++) {
            uint256 weight = weights[i];
            uint256 j = i;
            for (; j > 0 && weights[j - 1] > weight; j--) {
                weights[j] = weights[j - 1];
            }
            weights[j] = weight;
        }
        (uint256 sum, uint256 required) = (0, _required(unsorted));
        for (uint256 i = 0; i < weights.length; i++) {
            sum += weights[i];
            if (sum >= required) return (uint64(weights[i]), i + 1);
        }
        return (1, type(uint24).max);
    }

    /// @dev Weighs everybody and begins the epoch that is due next.
    function _beginEpoch() internal {
        uint256 due = _base.runningEpoch().due;
        if (block.timestamp < due) vm.warp(due);
        _base.weigh(type(uint256).max);
        (uint64 threshold,) = _threshold(_weights());
        _base.beginEpoch(threshold);
    }
}

/// @notice Settles by quorums of a real curve, with the members' keys and weights in calldata.
abstract contract AdaptersCurveFixture is AdaptersFixture, Signing {
    Settlement internal _settlement;
    Head internal _head;
    bytes[] internal _keys;

    function _operator(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function _secret(uint256 i) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode("secret", i))) % order();
    }

    function _register(uint256 i) internal {
        bytes memory key = keyOf(_secret(i));
        bytes memory proof = proofBy(_secret(i), Members.only(_settlement.possessionDigest(_operator(i), key)));
        vm.prank(_operator(i));
        _base.register(key, proof);
        _keys.push(key);
    }

    function _enter() internal {
        _settlement.enter(_head, 0);
        _head = _head.enter(_settlement.terms());
    }

    /// @dev Settles a result by the members of a mask, from the empty quorum.
    /// @param weighed Whether the quorum passes weights.
    function _settleBy(uint256 mask, bool weighed) internal returns (bool done, bytes memory answer) {
        bool[] memory members = new bool[](_keys.length);
        Members.Passed memory passed;
        uint256 secret;
        for (uint256 i = 0; i < _keys.length; i++) {
            if (mask >> i & 1 == 0) continue;
            members[i] = true;
            secret = addmod(secret, _secret(i), order());
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys[i]);
        }
        uint256[] memory parts = new uint256[](weighed ? 1 : 0);
        if (weighed) {
            passed.weightBytes = _base.weights();
            parts[0] = 1 << 31 | passed.weightBytes.length;
        }
        bytes memory quorum = _quorum(Members.bitmap(members), secret, parts, passed);
        bytes32[] memory results = Members.only(keccak256("result"));
        (done, answer) = address(_settlement)
            .call(abi.encodeCall(_settlement.settleAll, (_head, 0, uint64(block.timestamp), results, quorum)));
        if (done) _head = _head.advance(1);
    }

    function _quorum(bytes memory signers, uint256 secret, uint256[] memory parts, Members.Passed memory passed)
        private
        view
        returns (bytes memory)
    {
        bytes32[] memory results = Members.only(keccak256("result"));
        bytes32 digest = _settlement.resultsDigest(_head.epoch(), _head.nonce(), block.timestamp, Members.NONE, results);
        Members.Base memory base = Members.empty();
        bytes memory proof = abi.encodePacked(hintOf(base, signers, _keys), proofBy(secret, Members.only(digest)));
        return Members.pack(base, Members.NONE, new uint256[](0), parts, passed, signers, proof);
    }

    function _settles(uint256 mask, bool weighed) internal {
        (bool done, bytes memory answer) = _settleBy(mask, weighed);
        assertEq(answer, "", "refused");
        assertTrue(done, "refused");
    }

    function _refuses(uint256 mask, bool weighed, bytes memory why) internal {
        (bool done, bytes memory answer) = _settleBy(mask, weighed);
        assertTrue(!done, "not refused");
        assertEq(answer, why, "why");
    }
}

/// @notice A registrar with stakes from a table, over the toy curve.
abstract contract AdaptersToyFixture is AdaptersFixture {
    address internal constant STRANGER = address(0xbad);

    ToySettlement internal _settlement;
    TableRegistrar internal _registrar;
    Head internal _head;
    /// How many keys were made. The first one has the secret 1, the next one 2, and so on.
    uint256 internal _made;
    /// The secret of each operator's last key.
    mapping(address operator => uint256) internal _secretOf;

    function setUp() public virtual {
        vm.warp(GENESIS - 1);
        _settlement = new ToySettlement(_later(1));
        _registrar = new TableRegistrar(_settlement, _parameters());
        _base = _registrar;
    }

    function _operator(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function _newKey(address operator) internal returns (bytes memory key, bytes memory proof) {
        return _keyOf(operator, ++_made);
    }

    function _keyOf(address operator, uint256 secret) internal view returns (bytes memory key, bytes memory proof) {
        key = _keyBytes(secret);
        proof = _settlement.signature(Members.only(_settlement.possessionDigest(operator, key)), secret);
    }

    function _keyBytes(uint256 secret) internal pure returns (bytes memory) {
        return abi.encode(secret, ~secret);
    }

    function _register(uint256 i) internal {
        (bytes memory key, bytes memory proof) = _newKey(_operator(i));
        vm.prank(_operator(i));
        _registrar.register(key, proof);
        _secretOf[_operator(i)] = _made;
    }

    function _rotate(uint256 i) internal {
        (bytes memory key, bytes memory proof) = _newKey(_operator(i));
        vm.prank(_operator(i));
        _registrar.rotate(key, proof);
        _secretOf[_operator(i)] = _made;
    }

    function _join(uint256 i, uint256 weight) internal {
        _registrar.set(_operator(i), weight * UNIT);
        _register(i);
    }

    function _joinAll(uint256 count) internal {
        for (uint256 i = 0; i < count; i++) {
            _join(i, 100 + i);
        }
    }

    function _enter() internal {
        _settlement.enter(_head, 0);
        _head = _head.enter(_settlement.terms());
    }

    function _refuse(address sender, bytes memory data, bytes memory why) internal {
        vm.prank(sender);
        (bool done, bytes memory answer) = address(_registrar).call(data);
        assertTrue(!done, "not refused");
        assertEq(answer, why, "why");
    }

    function _refuseKey(uint256 i, bytes4 call, bytes memory why) internal {
        (bytes memory key, bytes memory proof) = _newKey(_operator(i));
        _refuse(_operator(i), abi.encodeWithSelector(call, key, proof), why);
    }

    /// @dev Settles a result by keys of the running table, from the empty quorum and with the keys in calldata.
    /// @param secrets The secret of the key of each index, or 0 for a member who does not sign.
    function _settleBy(uint256[] memory secrets) internal returns (bool done, bytes memory answer) {
        (Members.Passed memory passed, bytes memory signers, uint256 secret) = _gather(secrets);
        uint256[] memory parts = new uint256[](1);
        parts[0] = 1 << 31 | passed.weightBytes.length;
        bytes32[] memory results = Members.only(keccak256("result"));
        uint64 deadline = uint64(block.timestamp);
        bytes32 digest = _settlement.resultsDigest(_head.epoch(), _head.nonce(), deadline, Members.NONE, results);
        bytes memory proof = _settlement.signature(Members.only(digest), secret);
        bytes memory quorum =
            Members.pack(Members.empty(), Members.NONE, new uint256[](0), parts, passed, signers, proof);
        (done, answer) =
            address(_settlement).call(abi.encodeCall(_settlement.settleAll, (_head, 0, deadline, results, quorum)));
        if (done) _head = _head.advance(1);
    }

    /// @dev What a quorum of these secrets passes, its bitmap, and the sum of the secrets.
    function _gather(uint256[] memory secrets)
        private
        view
        returns (Members.Passed memory passed, bytes memory signers, uint256 secret)
    {
        bool[] memory members = new bool[](secrets.length);
        for (uint256 i = 0; i < secrets.length; i++) {
            if (secrets[i] == 0) continue;
            members[i] = true;
            secret += secrets[i];
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keyBytes(secrets[i]));
        }
        passed.weightBytes = _registrar.weights();
        signers = Members.bitmap(members);
    }

    /// @dev The first secrets, which are those of the indices of the first table.
    function _firstSecrets(uint256 count) internal pure returns (uint256[] memory secrets) {
        secrets = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            secrets[i] = i + 1;
        }
    }
}
