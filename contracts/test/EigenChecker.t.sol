// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {EigenChecker, EigenDeployment} from "./baselines/EigenChecker.sol";
import {History, StakeHistory, TransparentProxy} from "./baselines/EigenRegistries.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Test, vm} from "./Test.sol";
import {Bn254} from "../src/libraries/Bn254.sol";

/// @notice Tests the baseline that stands for EigenLayer: it settles what it should, refuses the rest, and reads as many
/// slots as it says.
contract EigenCheckerTest is Test, Bn254G2Signing {
    uint256 private constant OPERATORS = 6;
    bytes32 private constant RESULT = bytes32(uint256(0xa0));
    bytes private constant QUORUM = hex"00";

    EigenChecker private _bare;
    EigenChecker private _proxied;

    function setUp() public {
        vm.roll(100);
        _bare = _deployed(false);
        _proxied = _deployed(true);
        vm.roll(101);
    }

    function _deployed(bool proxies) private returns (EigenChecker checker) {
        checker = new EigenDeployment(proxies).checker();
        for (uint256 i = 0; i < OPERATORS; i++) {
            checker.register(_key(i), 100);
        }
    }

    function _key(uint256 i) private view returns (Bn254.G1 memory) {
        return Bn254.mul(Bn254.generator(), i + 1);
    }

    /// @dev As the contract hashes: x counts up from the digest until x³ + 3 has a root, which is its power (p + 1)/4.
    function _hash(bytes32 digest) private view returns (Bn254.G1 memory point) {
        for (point.x = uint256(digest) % Bn254.P;; point.x = addmod(point.x, 1, Bn254.P)) {
            uint256 right = addmod(mulmod(mulmod(point.x, point.x, Bn254.P), point.x, Bn254.P), 3, Bn254.P);
            (bool done, bytes memory y) = address(5)
                .staticcall(abi.encode(uint256(32), uint256(32), uint256(32), right, (Bn254.P + 1) / 4, Bn254.P));
            require(done);
            point.y = abi.decode(y, (uint256));
            if (Bn254.isOnCurve(point)) return point;
        }
    }

    /// @dev What settles if all but the first `absent` operators sign.
    function _params(EigenChecker checker, uint256 absent) private view returns (EigenChecker.Params memory params) {
        uint256 secrets = 0;
        Bn254.G1 memory all;
        for (uint256 i = 0; i < OPERATORS; i++) {
            all = Bn254.add(all, _key(i));
            if (i >= absent) secrets += i + 1;
        }
        params.nonSigners = new Bn254.G1[](absent);
        for (uint256 i = 0; i < absent; i++) {
            Bn254.G1 memory key = _key(i);
            uint256 place = i;
            for (; place != 0 && _id(params.nonSigners[place - 1]) > _id(key); place--) {
                params.nonSigners[place] = params.nonSigners[place - 1];
            }
            params.nonSigners[place] = key;
        }
        (params.bitmapIndices, params.stakeIndices) = (new uint32[](absent), new uint32[][](1));
        params.stakeIndices[0] = new uint32[](absent);
        (params.quorumKeyIndices, params.totalIndices) = (new uint32[](1), new uint32[](1));
        params.quorumKeys = new Bn254.G1[](1);
        params.quorumKeys[0] = all;
        params.signersKey = abi.decode(keyInG2(secrets), (Bn254.G2));
        params.signature = Bn254.mul(_hash(checker.resultDigest(checker.nonce(), RESULT)), secrets);
    }

    function _id(Bn254.G1 memory key) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(key)));
    }

    function _gas(EigenChecker checker, EigenChecker.Params memory params) private returns (uint256) {
        checker.settle(RESULT, QUORUM, 100, params);
        return vm.lastCallGas().gasTotalUsed;
    }

    function test_settles() public {
        EigenChecker[2] memory both = [_bare, _proxied];
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 absent = 0; absent < 4; absent++) {
                EigenChecker.Params memory params = _params(both[i], absent);
                (EigenChecker.Totals memory totals,) =
                    both[i].checkSignatures(both[i].resultDigest(absent + 1, RESULT), QUORUM, 100, params);
                assertEq(totals.all[0], 100 * OPERATORS, "all stake");
                assertEq(totals.signed[0], 100 * (OPERATORS - absent), "the stake that signed");
                both[i].settle(RESULT, QUORUM, 100, params);
                assertEq(both[i].nonce(), absent + 2, "the nonce");
            }
        }
    }

    /// @notice The gas of an operator who did not sign: four cold slots, 64 bytes of key and two indices of calldata, an
    /// addition, and code. EigenLayer's own tests say 16,930, with other settings and through proxies.
    function test_gas() public {
        // From one state, so that the digest, and with it the search for its point, is the same.
        EigenChecker.Params memory none = _params(_bare, 0);
        EigenChecker.Params memory four = _params(_bare, 4);
        uint256 start = vm.snapshotState();
        uint256 least = _gas(_bare, none);
        vm.revertToState(start);
        uint256 each = (_gas(_bare, four) - least) / 4;
        assertTrue(each > 4 * 2_100 + 64 * 16 + 150, "four cold slots at least");
        assertTrue(each < 16_930, "not more than EigenLayer measured");
    }

    function test_trap_signersWhoAreNotNamedAbsent() public {
        EigenChecker.Params memory params = _params(_bare, 2);
        EigenChecker.Params memory fewer = _params(_bare, 1);
        (fewer.signature, fewer.signersKey) = (params.signature, params.signersKey);
        vm.expectRevert(EigenChecker.FalseSignature.selector);
        _bare.settle(RESULT, QUORUM, 100, fewer);
    }

    function test_trap_anotherResultUnderTheSignature() public {
        EigenChecker.Params memory params = _params(_bare, 0);
        vm.expectRevert(EigenChecker.FalseSignature.selector);
        _bare.settle(bytes32(uint256(1)), QUORUM, 100, params);
    }

    /// @notice The key in G2 must have the secret of the key in G1. Otherwise anyone would sign with a key of their own.
    function test_trap_aForeignKeyInG2() public {
        EigenChecker.Params memory params = _params(_bare, 0);
        params.signersKey = abi.decode(keyInG2(99), (Bn254.G2));
        params.signature = Bn254.mul(_hash(_bare.resultDigest(1, RESULT)), 99);
        vm.expectRevert(EigenChecker.FalseSignature.selector);
        _bare.settle(RESULT, QUORUM, 100, params);
    }

    function test_trap_aForeignKeyOfTheQuorum() public {
        EigenChecker.Params memory params = _params(_bare, 0);
        params.quorumKeys[0] = _key(7);
        vm.expectRevert(EigenChecker.NotTheQuorumsKey.selector);
        _bare.settle(RESULT, QUORUM, 100, params);
    }

    function test_trap_anOperatorWhoIsNamedTwice() public {
        EigenChecker.Params memory params = _params(_bare, 2);
        params.nonSigners[1] = params.nonSigners[0];
        vm.expectRevert(EigenChecker.NotAscending.selector);
        _bare.settle(RESULT, QUORUM, 100, params);
    }

    /// @notice After an operator joined, the old entries count in the old block, and the new ones do not.
    function test_trap_anEntryOfAnotherBlock() public {
        EigenChecker.Params memory params = _params(_bare, 1);
        _bare.register(_key(OPERATORS), 100);
        vm.roll(102);
        params.totalIndices[0] = 1;
        vm.expectRevert(abi.encodeWithSelector(History.NotYet.selector, 101, 100));
        _bare.settle(RESULT, QUORUM, 100, params);
        params.totalIndices[0] = 0;
        vm.expectRevert(abi.encodeWithSelector(History.NoLonger.selector, 101, 101));
        _bare.settle(RESULT, QUORUM, 101, params);
        vm.expectRevert(EigenChecker.BlockToCome.selector);
        _bare.settle(RESULT, QUORUM, 102, params);
        _bare.settle(RESULT, QUORUM, 100, params);
    }

    function test_trap_aQuorumThatDoesNotExist() public {
        EigenChecker.Params memory params = _params(_bare, 0);
        vm.expectRevert(EigenChecker.NoSuchQuorum.selector);
        _bare.settle(RESULT, hex"01", 100, params);
    }

    function test_trap_tooLittleStake() public {
        _bare.register(Bn254.mul(Bn254.generator(), 50), 1_000_000);
        vm.roll(102);
        EigenChecker.Params memory params = _params(_bare, 0);
        params.nonSigners = new Bn254.G1[](1);
        params.nonSigners[0] = Bn254.mul(Bn254.generator(), 50);
        (params.bitmapIndices, params.stakeIndices[0]) = (new uint32[](1), new uint32[](1));
        (params.quorumKeyIndices[0], params.totalIndices[0]) = (1, 1);
        params.quorumKeys[0] = Bn254.add(params.quorumKeys[0], params.nonSigners[0]);
        vm.expectRevert(EigenChecker.TooLittleStake.selector);
        _bare.settle(RESULT, QUORUM, 101, params);
    }

    /// @notice A proxy does not forward its administrator's calls.
    function test_trap_theAdministratorOfAProxy() public {
        StakeHistory stakes = _proxied.stakes();
        assertEq(stakes.totalAt(0, 100, 0), 100 * OPERATORS, "all stake");
        vm.prank(address(0xad));
        vm.expectRevert(TransparentProxy.AdministratorCalls.selector);
        stakes.totalAt(0, 100, 0);
    }
}
