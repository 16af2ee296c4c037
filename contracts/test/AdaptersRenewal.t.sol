// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {AdaptersToyFixture} from "./AdaptersFixture.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice Tests how a stake registrar renews the key table.
contract AdaptersRenewalTest is AdaptersToyFixture {
    /// What a plain registrar would keep of each operator.
    mapping(uint256 i => uint256 weight) private _weightOf;
    mapping(uint256 i => bool) private _seated;
    /// The secrets of the running table's keys, by index.
    uint256[] private _table;
    /// Those of the next table.
    uint256[] private _carried;
    /// The operator whose key has a secret.
    mapping(uint256 secret => uint256 i) private _ownerOf;

    function _joinWith(uint256 i, uint256 weight) private {
        _join(i, weight);
        (_weightOf[i], _seated[i]) = (weight, true);
        _table.push(_made);
        _ownerOf[_made] = i;
    }

    function _rotateKey(uint256 i) private {
        _rotate(i);
        _table.push(_made);
        _ownerOf[_made] = i;
    }

    function _resign(uint256 i) private {
        vm.prank(_operator(i));
        _registrar.resign();
        _seated[i] = false;
    }

    /// @dev Carries the live keys among the next indices, and keeps which they are.
    function _carry(uint256 count) private {
        uint256[] memory nonces = _page();
        uint256 first = _registrar.runningEpoch().walked;
        for (uint256 i = first; i < first + count && i < _table.length; i++) {
            uint256 owner = _ownerOf[_table[i]];
            if (_seated[owner] && _secretOf[_operator(owner)] == _table[i]) _carried.push(_table[i]);
        }
        _registrar.carry(count, nonces);
        assertEq(_registrar.runningEpoch().carried, _carried.length, "carried");
    }

    /// @dev Makes a page of all keys of the running table.
    function _page() private returns (uint256[] memory nonces) {
        bytes memory tail;
        for (uint256 i = 0; i < _table.length; i++) {
            tail = abi.encodePacked(tail, _keyBytes(_table[i]));
        }
        nonces = new uint256[](0);
        _settlement.compact(0, _table.length, nonces, tail);
        nonces = new uint256[](1);
        nonces[0] = _settlement.extent().pages;
    }

    /// @dev Begins the next epoch and enters it. If it renews the table, reads the new one.
    function _next(uint256 operators) private {
        uint256 table = _registrar.runningEpoch().table;
        _beginEpoch();
        _enter();
        assertEq(_registrar.runningEpoch().table, _head.table(), "table");
        assertEq(_registrar.runningEpoch().keys, _settlement.extent().keys, "keys");
        if (_head.table() != table) {
            _table = _carried;
            delete _carried;
        }
        _check(operators);
    }

    /// @dev Every seated operator weighs its stake at the index of its live key, and nothing else weighs anything. They
    /// settle a result together.
    function _check(uint256 operators) private {
        uint256[] memory weights = _weights();
        assertEq(weights.length, _head.members(), "members");
        uint256[] memory secrets = new uint256[](weights.length);
        (uint256 total, uint256 seats) = (0, 0);
        for (uint256 i = 0; i < operators; i++) {
            if (!_seated[i]) continue;
            seats++;
            uint256 secret = _secretOf[_operator(i)];
            uint256 index = 0;
            while (_table[index] != secret) index++;
            assertEq(_registrar.seatOf(_operator(i)).place, index + 1, "place");
            assertEq(weights[index], _weightOf[i], "weight");
            assertEq(_registrar.operatorAt(_head.table(), index), _operator(i), "operator");
            total += _weightOf[i];
            secrets[index] = secret;
        }
        assertEq(_total(weights), total, "total");
        assertEq(_registrar.operators(), seats, "seats");
        if (total == 0) return;
        (bool done, bytes memory answer) = _settleBy(secrets);
        assertEq(answer, "", "refused");
        assertTrue(done, "refused");
    }

    /// @notice Eight operators, who rotated once, are carried in steps. Meanwhile one registers, a carried one rotates, a
    /// carried one leaves and one that is not carried yet leaves.
    function test_carriedWhileOthersComeAndGo() public {
        for (uint256 i = 0; i < 8; i++) {
            _joinWith(i, 100 + i);
        }
        _next(8);
        for (uint256 i = 0; i < 8; i++) {
            _rotateKey(i);
        }
        _carry(12);
        assertEq(_registrar.runningEpoch().carried, 4, "carried");
        _joinWith(8, 200);
        _resign(1);
        _resign(7);
        _next(9);
        assertEq(_registrar.runningEpoch().table, 0, "not all are carried, so the table stays");
        _rotateKey(0);
        _carry(100);
        _next(9);
        Running memory running = _running();
        assertEq(running.table, 1, "renewed");
        // 0 and 1 are dead; then 2, 3, 4, 5, 6, 8, and the new key of 0.
        assertEq(running.keys, 9, "keys");
        assertEq(_weights()[0] + _weights()[1], 0, "keys that died after they were carried");
        assertEq(_weights()[8], 100, "the new key of operator 0");
        // The next table goes on: registrations and rotations, and one more renewal.
        _joinWith(1, 50);
        _rotateKey(2);
        _next(9);
        for (uint256 i = 0; i < 9; i++) {
            if (_seated[i] && i != 2) _rotateKey(i);
        }
        _carry(100);
        _next(9);
        assertEq(_running().table, 2, "renewed again");
        assertEq(_running().keys, 8, "keys");
    }

    struct Running {
        uint256 table;
        uint256 keys;
    }

    function _running() private view returns (Running memory) {
        return Running(_registrar.runningEpoch().table, _registrar.runningEpoch().keys);
    }

    function test_trap_carryWhileMostKeysAreLive() public {
        for (uint256 i = 0; i < 4; i++) {
            _joinWith(i, 100);
        }
        _next(4);
        for (uint256 i = 0; i < 3; i++) {
            _rotateKey(i);
        }
        uint256[] memory nonces = _page();
        _refuse(
            STRANGER,
            abi.encodeCall(_registrar.carry, (4, nonces)),
            abi.encodeWithSelector(StakeRegistrar.TooFewDeadKeys.selector, 7, 4)
        );
        _rotateKey(3);
        vm.prank(STRANGER);
        _registrar.carry(4, nonces);
    }

    /// @notice A key that is registered after the last one was carried would be lost. So the table is not renewed.
    function test_trap_aRegistrationAfterAllWereCarried() public {
        for (uint256 i = 0; i < 3; i++) {
            _joinWith(i, 100);
        }
        _next(3);
        for (uint256 i = 0; i < 3; i++) {
            _rotateKey(i);
        }
        _carry(6);
        _joinWith(3, 100);
        _next(4);
        assertEq(_running().table, 0, "not renewed");
        vm.warp(_registrar.runningEpoch().due);
        _registrar.weigh(1);
        // The weighing is of the running table, though all keys are carried before it ends.
        _carry(6);
        _next(4);
        assertEq(_running().table, 0, "not renewed");
        _next(4);
        assertEq(_running().table, 1, "renewed");
    }

    /// @notice A weighing of the next table that is forgotten leaves nothing behind.
    function test_trap_aForgottenWeighingOfTheNextTable() public {
        for (uint256 i = 0; i < 3; i++) {
            _joinWith(i, 100 + i);
        }
        _next(3);
        for (uint256 i = 0; i < 3; i++) {
            _rotateKey(i);
        }
        _carry(6);
        vm.warp(_registrar.runningEpoch().due);
        _registrar.weigh(3);
        assertEq(_registrar.lastWeighing().table, 1, "of the next table");
        vm.warp(block.timestamp + 2 hours);
        _joinWith(3, 100);
        _resign(0);
        _next(4);
        assertEq(_running().table, 0, "not renewed");
        assertEq(_running().keys, 7, "keys");
    }

    /// @notice If all keys are dead, the next table is empty, and everybody may come back with any key.
    function test_anEmptyTable() public {
        _joinWith(0, 100);
        _next(1);
        _resign(0);
        _carry(1);
        _next(1);
        assertEq(_running().table, 1, "renewed");
        assertEq(_running().keys, 0, "keys");
        (bytes memory key, bytes memory proof) = _keyOf(_operator(0), 1);
        vm.prank(_operator(0));
        _registrar.register(key, proof);
        (_seated[0], _secretOf[_operator(0)]) = (true, 1);
        _table.push(1);
        _next(1);
    }

    /// @notice Operators come, rotate, go, gain and lose stake at random for 60 epochs. The table is renewed whenever it
    /// may. After each `beginEpoch` everybody weighs what it should.
    /// forge-config: default.fuzz.runs = 12
    function testFuzz_simulation(uint256 seed) public {
        uint256 operators = 9;
        uint256 most = 0;
        for (uint256 epoch = 0; epoch < 60; epoch++) {
            for (uint256 i = 0; i < operators; i++) {
                seed = uint256(keccak256(abi.encode(seed)));
                uint256 what = seed % 8;
                if (!_seated[i]) {
                    if (what < 4) _joinWith(i, 10 + seed % 1_000);
                } else if (what < 3) {
                    if (_weightOf[i] >= 10) _rotateKey(i);
                } else if (what == 3) {
                    _resign(i);
                } else if (what == 4) {
                    _weightOf[i] = seed % 2 == 0 ? seed % 1_000 : 0;
                    _registrar.set(_operator(i), _weightOf[i] * UNIT);
                }
            }
            StakeRegistrar.Running memory running = _registrar.runningEpoch();
            if (running.keys != 0 && (running.walked != 0 || 2 * _registrar.operators() <= running.keys)) {
                // Sometimes only a part is carried, and the renewal goes on in the next epoch.
                _carry(seed % 5 == 0 ? running.keys / 2 : running.keys);
            }
            _next(operators);
            if (_running().keys > most) most = _running().keys;
        }
        assertTrue(_running().table > 5, "renewed often");
        assertTrue(most < 60, "the table stays small");
    }
}
