// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {Bls12381G2NuSigning, Bn254G1Signing, Signing} from "./Signing.sol";
import {Bls12381, G2Sum} from "../src/libraries/Bls12381.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Head} from "../src/Head.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2Nu, SettlementBn254G1} from "../src/Settlements.sol";

/// @notice Gives keys an index without a proof of possession, because a thousand proofs take long.
interface IFill {
    function fill(bytes[] calldata keys) external;
}

contract FilledBn254G1 is SettlementBn254G1 {
    constructor() SettlementBn254G1(msg.sender, 1, 4) {}

    function fill(bytes[] calldata keys) external {
        for (uint256 i = 0; i < keys.length; i++) {
            _append(keys[i]);
        }
    }
}

contract FilledBls12381G2Nu is SettlementBls12381G2Nu {
    constructor() SettlementBls12381G2Nu(msg.sender, 1, 4) {}

    function fill(bytes[] calldata keys) external {
        for (uint256 i = 0; i < keys.length; i++) {
            _append(keys[i]);
        }
    }
}

/// @notice Measures quorums of up to 1,000 members, of whom a tenth changes from one to the next, spread evenly at random:
/// whole transactions, with cold storage, from the newest base. The secret of index i is i + 1.
abstract contract ManyMembersTest is Test, Signing {
    Settlement private _settlement;
    bytes[] private _keys;
    uint256[] private _none;
    uint256[] private _pages;
    Head private _head;
    Members.Base private _base;

    function _new() internal virtual returns (Settlement);

    function _group() internal pure virtual returns (string memory);

    /// @notice The sum of two keys.
    function _plus(bytes memory a, bytes memory b) internal view virtual returns (bytes memory);

    function _make(uint256 n) private {
        _settlement = _new();
        for (uint256 i = 0; i < n; i++) {
            _keys.push(i == 0 ? keyOf(1) : i == 1 ? keyOf(2) : _plus(_keys[i - 1], _keys[0]));
        }
        IFill(address(_settlement)).fill(_keys);
        uint256 most = _most();
        for (uint256 first = 0; first < n; first += most) {
            bytes memory tail;
            uint256 end = first + most < n ? first + most : n;
            for (uint256 i = first; i < end; i++) {
                tail = bytes.concat(tail, _keys[i]);
            }
            _settlement.compact(first, end - first, _none, tail);
            _pages.push(_settlement.extent().pages);
        }
        uint64[] memory weights = new uint64[](n);
        for (uint256 i = 0; i < n; i++) {
            weights[i] = 1;
        }
        _settlement.begin(1, Members.packWeights(weights), uint88(n / 4), false);
        _settlement.enter(_head, 0);
        _head = _settlement.terms();
        _base = Members.empty();
    }

    /// @dev The most keys in a page, as the contract says.
    function _most() private returns (uint256 most) {
        (bool done, bytes memory why) =
            address(_settlement).call(abi.encodeCall(KeyTable.compact, (0, 1000, _none, new bytes(0))));
        assertTrue(!done && bytes4(why) == KeyTable.KeysAPage.selector, "too many");
        assembly {
            most := mload(add(why, 0x44))
        }
    }

    function _settle(bool[] memory members, string memory name) private {
        bytes memory signers = Members.bitmap(members);
        uint256 secret;
        for (uint256 i = 0; i < members.length; i++) {
            if (members[i]) secret += i + 1;
        }
        bytes32[] memory results = new bytes32[](1);
        results[0] = keccak256(signers);
        bytes32[] memory digests = Members.only(
            _settlement.resultsDigest(_head.epoch(), _head.nonce(), type(uint32).max, Members.NEWEST, results)
        );
        uint256[] memory pages = Members.same(_base.signers, signers) ? _none : _pages;
        bytes memory quorum = Members.pack(_base, Members.NEWEST, pages, _none, signers, proofBy(secret, digests));
        if (_base.slot == Members.NEWEST) {
            _settlement.settle(_head, type(uint32).max, results[0], quorum);
            vm.snapshotGasLastCall(_group(), name);
        } else {
            _settlement.settleAll(_head, 0, type(uint32).max, results, quorum);
        }
        _head = _head.advance(1);
        _base = Members.Base(Members.NEWEST, 0, 0, keyOf(secret), signers);
        assertEq(_settlement.state(), keccak256(abi.encode(_head, Members.commitment(_base))), "the state");
    }

    /// @dev Half of the members signed, and a tenth of all changes.
    function _measure(uint256 n) private {
        _make(n);
        bool[] memory members = new bool[](n);
        uint256 random = n;
        for (uint256 i = 0; i < n; i++) {
            random = uint256(keccak256(abi.encode(random)));
            members[i] = random % 2 == 0;
        }
        members[n - 1] = true;
        _settle(members, "");
        for (uint256 left = n / 10; left != 0;) {
            random = uint256(keccak256(abi.encode(random)));
            uint256 i = random % (n - 1);
            // Bit 0 of a marked member's neighbour in storage would be another list, so the mark is a hash's own bit.
            if (!_changed[n][i]) {
                _changed[n][i] = true;
                members[i] = !members[i];
                left--;
            }
        }
        _settle(members, string.concat(vm.toString(n), " members, a tenth changed"));
    }

    mapping(uint256 => mapping(uint256 => bool)) private _changed;

    function test_gas10() public {
        _measure(10);
    }

    function test_gas100() public {
        _measure(100);
    }

    function test_gas200() public {
        _measure(200);
    }

    function test_gas1000() public {
        _measure(1000);
    }
}

contract ManyMembersBn254G1Test is ManyMembersTest, Bn254G1Signing {
    function _new() internal override returns (Settlement) {
        return new FilledBn254G1();
    }

    function _group() internal pure override returns (string memory) {
        return "ManyMembersBn254G1";
    }

    function _plus(bytes memory a, bytes memory b) internal view override returns (bytes memory) {
        return abi.encode(Bn254.add(abi.decode(a, (Bn254.G1)), abi.decode(b, (Bn254.G1))));
    }
}

contract ManyMembersBls12381G2NuTest is ManyMembersTest, Bls12381G2NuSigning {
    function _new() internal override returns (Settlement) {
        return new FilledBls12381G2Nu();
    }

    function _group() internal pure override returns (string memory) {
        return "ManyMembersBls12381G2Nu";
    }

    function _plus(bytes memory a, bytes memory b) internal view override returns (bytes memory) {
        G2Sum memory sum;
        Bls12381.loadG2(sum, _at(a));
        Bls12381.addG2(sum, _at(b));
        return Bls12381.packG2(Bls12381.pointG2(sum));
    }

    function _at(bytes memory data) private pure returns (uint256 pointer) {
        assembly {
            pointer := add(data, 0x20)
        }
    }
}
