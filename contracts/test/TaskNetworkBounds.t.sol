// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Verifier} from "../src/Verifier.sol";
import {PagedVerifier, WideVerifier} from "./mocks/MockVerifier.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

/// @notice Networks as large as the constructor allows. Weights are published and read by a real verifier; keys and
/// signatures are believed.
contract TaskNetworkBoundsTest is NetworkRig {
    /// The most gas of a transaction (EIP-7825).
    uint256 private constant MOST = 1 << 24;
    /// The most operators that the constructor accepts.
    uint256 private constant OPERATORS = 1_136;
    /// The most bytes of a transaction that nodes keep in their mempools, but for what stands around the calldata.
    uint256 private constant MOST_CALLDATA = 131_072 - 512;

    PagedVerifier private _pages;

    function _deploy(uint256 operators) private {
        ITaskNetwork.Parameters memory p = parameters();
        p.maximumOperators = uint32(operators);
        _pages = new PagedVerifier(nextAddress(1));
        p.verifier = IVerifier(address(_pages));
        network = new TaskNetwork(p);
    }

    /// @dev As many operators as the network takes, and as many keys. The keys between were replaced.
    function _fill(uint256 operators) private {
        _deploy(operators);
        for (uint256 i = 0; i < operators; ++i) {
            if (i == operators - 1) _pages.skipTo(network.maximumKeys() - 1);
            _join(i, 20e18);
        }
        assertEq(network.operatorCount(), operators, "operators");
        assertEq(keyCount(), network.maximumKeys(), "keys");
    }

    function _join(uint256 i, uint256 stake) private {
        approve(operator(i), stake);
        vm.prank(operator(i));
        network.register("", "", stake);
    }

    function test_finding_the_largest_network_takes_its_snapshot_in_a_transaction() external {
        _fill(OPERATORS);
        network.snapshot{gas: MOST - 21_064}();
        uint256 gas = vm.snapshotGasLastCall("TaskNetwork", "snapshot, 1,136 operators, all keys");
        assertTrue(gas < MOST - MOST / 20, "with room to spare");
    }

    /// The snapshot that renews the table reads every seat twice. The next table then holds as many keys as it can: those
    /// of all seats, and all that came from the moment when the table was due until it was full.
    function test_the_largest_network_renews_its_table_in_a_transaction() external {
        _deploy(OPERATORS);
        for (uint256 i = 0; i < OPERATORS; ++i) {
            if (i == OPERATORS - 1) _pages.skipTo(3 * OPERATORS - 1);
            _join(i, 20e18);
        }
        _setCarried(3 * OPERATORS);
        assertEq(network.carry(_operators(OPERATORS), new uint256[](0)), OPERATORS, "carried");
        (,, uint256 carried) = network.keyTable();
        assertEq(carried, 4 * OPERATORS, "the longest next table");
        network.snapshot{gas: MOST - 21_064}();
        uint256 gas = vm.snapshotGasLastCall("TaskNetwork", "snapshot that renews the table, 1,136 operators");
        assertTrue(gas < MOST - MOST / 20, "with room to spare");
        (uint256 table, uint256 keys,) = network.keyTable();
        assertTrue(table == 1 && keys == 4 * OPERATORS, "renewed");
        // Where registrations stop, so a renewal always makes room for rotations.
        assertEq(keys, network.maximumKeys() - 2 * OPERATORS, "the next table is not full");
    }

    /// @dev Sets the number of keys in the next table, as if they had come while keys were carried. It is in the last 32
    /// bits of the roster's slot, behind 3 * OPERATORS keys.
    function _setCarried(uint256 keys) private {
        uint256 slot = 0;
        while (uint64(uint256(vm.load(address(network), bytes32(slot)))) != 3 * OPERATORS << 32) ++slot;
        bytes32 roster = vm.load(address(network), bytes32(slot));
        vm.store(address(network), bytes32(slot), roster | bytes32(keys));
    }

    function _operators(uint256 count) private pure returns (address[] memory operators) {
        operators = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            operators[i] = operator(i);
        }
    }

    /// A step carries as many keys as fit into a page. With keys in G2 of BN254 that is 191, read from a page and from
    /// small ones.
    function test_a_step_of_a_renewal_fits_into_a_transaction() external {
        ITaskNetwork.Parameters memory p = parameters();
        p.maximumOperators = 191;
        WideVerifier wide = new WideVerifier(nextAddress(1));
        p.verifier = wide;
        network = new TaskNetwork(p);
        bytes memory keys;
        for (uint256 i = 0; i < 3 * 191; ++i) {
            bytes memory key = abi.encode(i + 1, i, i, i);
            if (i < 191) approve(operator(i), 20e18);
            enter(i / 191);
            vm.prank(operator(i % 191));
            if (i < 191) network.register(key, "", 20e18);
            else network.rotateKey(key, "");
            if (i >= 382) keys = bytes.concat(keys, key);
        }
        wide.compact(382, 191, new uint256[](0), keys);
        uint256[] memory pages = new uint256[](1);
        pages[0] = wide.extent().pages;
        address[] memory operators = _operators(191);
        uint256 count = network.carry{gas: MOST - 21_064}(operators, pages);
        uint256 gas = vm.snapshotGasLastCall("TaskNetwork", "carry 191 keys in G2 of BN254");
        assertEq(count, 191, "all of them");
        assertTrue(gas < MOST - MOST / 20, "with room to spare");
        enter(3);
        network.snapshot();
        assertEq(keyCount(), 191, "renewed");
    }

    /// EIP-170 allows 24,576 bytes of code. A kilobyte of it stays free.
    function test_code_is_a_kilobyte_below_the_limit() external {
        _deploy(1);
        assertTrue(address(network).code.length <= 24_576 - 1_024, "length of the code");
    }

    function test_more_operators_are_refused() external {
        uint256[3] memory counts = [OPERATORS + 1, 2_112, type(uint32).max];
        for (uint256 i = 0; i < counts.length; ++i) {
            try this.deployOf(counts[i]) {
                revert NotTrue("accepted");
            } catch (bytes memory reason) {
                bytes memory why =
                    abi.encodeWithSelector(ITaskNetwork.ParameterInvalid.selector, bytes32("maximumOperators"));
                assertEq(reason, why, "refused");
            }
        }
    }

    function deployOf(uint256 operators) external {
        _deploy(operators);
    }

    function test_gas_at_1000_operators() external {
        _deploy(1_000);
        for (uint256 i = 0; i < 1_000; ++i) {
            _join(i, 20e18 + i * 1e15);
        }
        network.snapshot();
        vm.snapshotGasLastCall("TaskNetwork", "snapshot, 1,000 operators, 1,000 keys");
        fund(1_000e18);
        _submit(0, 1_000, 2);
        enter(2);
        _tally("1,000 operators", 1_000);
        _join(1_000, 40e18);
        vm.snapshotGasLastCall("TaskNetwork", "register by outbidding, 1,000 operators, without the proof");
        assertEq(network.stakeOf(operator(0)), 0, "outbid");
    }

    function test_gas_at_100_operators() external {
        _deploy(100);
        for (uint256 i = 0; i < 100; ++i) {
            _join(i, 20e18);
        }
        network.snapshot();
        vm.snapshotGasLastCall("TaskNetwork", "snapshot, 100 operators, 100 keys");
        fund(1_000e18);
        _submit(0, 100, 2);
        enter(2);
        _tally("100 operators", 100);
    }

    /// All weights of a full table are read in a call that any node answers.
    function test_gas_of_reads_at_the_bound() external {
        _fill(OPERATORS);
        network.snapshot();
        network.performerOf(0, "id");
        uint256 gas = vm.snapshotGasLastCall("TaskNetwork", "performerOf, 6,816 keys");
        assertTrue(gas < MOST / 4, "performerOf");
        Verifier pages = _pages.pages();
        pages.weightsOf(0);
        vm.snapshotGasLastCall("TaskNetwork", "weightsOf, 6,816 keys");
    }

    /// The largest network with a full table can still be tallied, in several steps, each in a transaction.
    function test_an_epoch_with_all_keys_is_tallied_in_a_transaction() external {
        _fill(OPERATORS);
        network.snapshot();
        fund(1_000e18);
        _submit(0, network.maximumKeys(), 2);
        enter(2);
        uint256 keys = network.maximumKeys();
        tally(0, one(taskFor(0, bytes32(uint256(1)))), _quorums(keys, 1));
        bytes[] memory rest = new bytes[](1);
        rest[0] = _quorums(keys, 2)[1];
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, bytes32(0)));
        network.tally{gas: MOST - 21_064}(0, tasks, rest, packed(_earned[0]));
        uint256 gas = vm.snapshotGasLastCall("TaskNetwork", "tally 1 quorum and 1 task, a further step, all keys");
        assertTrue(gas < MOST - MOST / 12, "with room to spare");
    }

    /// Anyone may tally a part of an epoch. The next tally passes an amount for each key of the table, and everybody can send
    /// it all the same: nodes refuse transactions of more than 131,072 bytes.
    function test_trap_a_further_tally_of_a_full_table_fits_no_mempool() external {
        _deploy(OPERATORS);
        uint256 keys = network.maximumKeys();
        ITaskNetwork.Task memory task;
        bytes memory call = abi.encodeCall(network.tally, (0, one(task), _quorums(keys, 1), new bytes(16 * keys)));
        assertTrue(call.length <= MOST_CALLDATA, "one task and one quorum");
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](60);
        call = abi.encodeCall(network.tally, (0, tasks, _quorums(keys, 12), new bytes(16 * keys)));
        assertTrue(call.length <= MOST_CALLDATA, "with room to spare");
    }

    /// No other call grows with the table beyond what nodes take: a page bounds a step of a renewal.
    function test_the_calldata_of_a_renewal_fits_into_the_mempool() external view {
        uint256 most = 24_566;
        uint256[] memory nonces = new uint256[](most / 64);
        Verifier verifier_ = Verifier(address(0));
        bytes memory call = abi.encodeCall(verifier_.compact, (0, most / 64, nonces, new bytes(most)));
        assertTrue(call.length <= MOST_CALLDATA, "compact");
        call = abi.encodeCall(network.carry, (_operators(most / 64), nonces));
        assertTrue(call.length <= MOST_CALLDATA, "carry");
        // A quorum names at most 255 keys in calldata, 255 pages of keys and of weights, and two bitmaps.
        uint256 quorum = 11 + 255 * (4 + 4 + 192) + 16 + 192 + 2 * (6 * OPERATORS / 8) + 1_024;
        call = abi.encodeCall(network.submitTasks, (0, new ITaskNetwork.Task[](100), new bytes(quorum)));
        assertTrue(call.length <= MOST_CALLDATA, "submitTasks");
    }

    /// @dev Measures tallies of two records and two tasks, and a claim.
    function _tally(string memory name, uint256 keys) private {
        bytes memory none = "";
        bytes[] memory quorums = _quorums(keys, 2);
        bytes[] memory first = _quorums(keys, 1);
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](2);
        (tasks[0], tasks[1]) = (taskFor(0, bytes32(0)), taskFor(0, bytes32(uint256(1))));
        uint256 state = vm.snapshotState();
        network.tally(0, _noTasks, quorums, none);
        vm.snapshotGasLastCall("TaskNetwork", string.concat("tally 2 quorums, ", name));
        vm.revertToState(state);
        state = vm.snapshotState();
        network.tally(0, tasks, quorums, none);
        vm.snapshotGasLastCall("TaskNetwork", string.concat("tally 2 quorums and 2 tasks, ", name));
        vm.revertToState(state);
        state = vm.snapshotState();
        network.tally(0, _noTasks, first, none);
        vm.snapshotGasLastCall("TaskNetwork", string.concat("tally 1 quorum, ", name));
        vm.revertToState(state);
        ITaskNetwork.Record memory record = network.recordOf(0, first[0]);
        uint64[] memory weights = _pages.pages().weightsOf(0);
        tally(0, _noTasks, first);
        for (uint256 i = 0; i < keys; ++i) {
            uint256 share = i == 0 ? 0 : uint256(record.amount) * weights[i] / record.weight;
            assertEq(_earned[0][i], share, "the share of the plain twin");
        }
        ITaskNetwork.Share[] memory shares = shareOf(0, 7);
        network.claim(operator(7), shares);
        vm.snapshotGasLastCall("TaskNetwork", string.concat("claim an epoch, ", name));
        first[0] = quorums[1];
        network.tally(0, _noTasks, first, packed(_earned[0]));
        vm.snapshotGasLastCall("TaskNetwork", string.concat("tally 1 quorum, a further step, ", name));
    }

    /// @dev Quorums that are different in the first members.
    function _quorums(uint256 keys, uint256 count) private pure returns (bytes[] memory signers) {
        signers = new bytes[](count);
        for (uint256 i = 0; i < count; ++i) {
            bytes memory bits = new bytes((keys + 7) / 8);
            for (uint256 k = 0; k < keys; ++k) {
                if (k != i) bits[k / 8] |= bytes1(uint8(0x80 >> (k % 8)));
            }
            signers[i] = bits;
        }
    }

    function _submit(uint256 epoch, uint256 keys, uint256 quorums) private {
        bytes[] memory signers = _quorums(keys, quorums);
        uint64[] memory weights = _pages.pages().weightsOf(epoch);
        for (uint256 i = 0; i < quorums; ++i) {
            uint256 weight = network.snapshotOf(epoch).total - weights[i];
            network.submitTasks(epoch, one(taskFor(epoch, bytes32(i))), abi.encodePacked(weight, signers[i]));
        }
    }
}
