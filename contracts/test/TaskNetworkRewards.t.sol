// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkRewardsTest is NetworkRig {
    function setUp() public override {
        super.setUp();
        join(0, 50e18);
        join(1, 30e18);
        join(2, 17e18);
        network.snapshot();
    }

    function test_fund_fills_the_pool() external {
        fund(100e18);
        _pool(100e18, 0);
        vm.expectRevert(ITaskNetwork.ZeroAmount.selector);
        network.fund(0);
    }

    function test_settlement_sets_both_rewards_aside() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        _pool(100e18 - PERFORMER - ATTESTERS, PERFORMER + ATTESTERS);
        ITaskNetwork.Record memory record = network.recordOf(0, bitmap(7));
        assertEq(record.amount, ATTESTERS, "amount");
        assertEq(record.weight, 97, "weight");
    }

    function test_a_task_the_pool_cannot_pay_settles_unrewarded() external {
        fund(2 * (PERFORMER + ATTESTERS) - 1);
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](3);
        for (uint256 i = 0; i < 3; ++i) {
            tasks[i] = taskFor(0, bytes32(i));
        }
        network.submitTasks(0, tasks, quorumOf(tasks, 0, 7));
        _pool(PERFORMER + ATTESTERS - 1, PERFORMER + ATTESTERS);
        assertTrue(network.isSettled(bytes32(uint256(2))), "settled all the same");
        enter(2);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, bytes32(uint256(1))));
        network.tally(0, one(tasks[1]), _noSigners, _noAmounts);
        tally(0, one(tasks[0]), _noSigners);
    }

    function test_tallies_wait_until_the_epoch_can_settle_nothing_more() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        vm.warp(GENESIS + 2 * EPOCH - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.EpochOpen.selector, 0));
        network.tally(0, _noTasks, masks(7), _noAmounts);
        vm.warp(GENESIS + 2 * EPOCH);
        tallyMask(0, 7);
        claim(0, 0);
    }

    function test_signers_share_a_record_by_weight_and_the_pool_takes_the_dust() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        submit(taskFor(0, "two"), 0, 7);
        enter(2);
        tallyMask(0, 7);
        uint256 amount = 2 * uint256(ATTESTERS);
        uint256 sum = 0;
        uint256[3] memory weights = [uint256(50), 30, 17];
        for (uint256 i = 0; i < 3; ++i) {
            uint256 paid = claim(0, i);
            assertEq(paid, amount * weights[i] / 97, "by weight, rounded down");
            assertEq(token.balanceOf(operator(i)), paid, "to the owner of the key");
            assertEq(network.paidOf(0, i), paid, "noted");
            sum += paid;
        }
        assertTrue(sum < amount && amount - sum < 3, "less than one unit for each signer is left");
        _pool(100e18 - sum - 2 * uint256(PERFORMER), 2 * uint256(PERFORMER));
        assertEq(network.recordOf(0, bitmap(7)).amount, 0, "the record is consumed");
    }

    function test_several_records_in_one_tally_and_one_claim() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        submit(taskFor(0, "two"), 0, 3);
        submit(taskFor(0, "three"), 0, 5);
        enter(2);
        bytes[] memory signers = new bytes[](3);
        (signers[0], signers[1], signers[2]) = (bitmap(7), bitmap(3), bitmap(5));
        tally(0, _noTasks, signers);
        uint256 expected = uint256(ATTESTERS) * 50 / 97 + uint256(ATTESTERS) * 50 / 80 + uint256(ATTESTERS) * 50 / 67;
        assertEq(claim(0, 0), expected, "sum");
    }

    /// A claim's proof has one hash for each bit of the number of keys, whatever the number of quorums.
    function test_finding_a_claim_costs_the_same_for_one_quorum_and_for_twenty() external {
        fund(1_000e18);
        enter(1);
        for (uint256 i = 3; i < 20; ++i) {
            join(i, 20e18);
        }
        network.snapshot();
        uint256 all = (1 << 20) - 1;
        submit(taskFor(1, "one"), 1, all);
        enter(2);
        network.snapshot();
        for (uint256 i = 0; i < 20; ++i) {
            submit(taskFor(2, bytes32(i)), 2, all ^ (1 << i));
        }
        enter(4);
        tallyMask(1, all);
        bytes[] memory signers = new bytes[](20);
        for (uint256 i = 0; i < 20; ++i) {
            signers[i] = bitmap(all ^ (1 << i));
        }
        tally(2, _noTasks, signers);
        // The balance to which the claims are paid exists, so both cost the same to pay.
        token.mint(operator(7), 1);
        ITaskNetwork.Share[] memory one_ = shareOf(1, 7);
        ITaskNetwork.Share[] memory twenty = shareOf(2, 7);
        network.claim(operator(7), one_);
        uint256 first = vm.snapshotGasLastCall("TaskNetwork", "claim an epoch of 1 quorum, 20 operators");
        network.claim(operator(7), twenty);
        uint256 second = vm.snapshotGasLastCall("TaskNetwork", "claim an epoch of 20 quorums, 20 operators");
        assertTrue(first < second + 300 && second < first + 300, "the same, but for zero bytes in calldata");
    }

    function test_a_share_is_claimed_once() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        enter(2);
        tallyMask(0, 7);
        claim(0, 0);
        ITaskNetwork.Share[] memory again = shareOf(0, 0);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyClaimed.selector, 0, 0));
        network.claim(operator(0), again);
        ITaskNetwork.Share[] memory twice = new ITaskNetwork.Share[](2);
        (twice[0], twice[1]) = (shareOf(0, 1)[0], shareOf(0, 1)[0]);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyClaimed.selector, 0, 1));
        network.claim(operator(1), twice);
    }

    function test_claims_of_several_epochs_are_paid_together() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        enter(1);
        network.snapshot();
        submit(taskFor(1, "two"), 1, 7);
        enter(3);
        tallyMask(0, 7);
        tallyMask(1, 7);
        ITaskNetwork.Share[] memory shares = new ITaskNetwork.Share[](2);
        (shares[0], shares[1]) = (shareOf(0, 0)[0], shareOf(1, 0)[0]);
        assertEq(network.claim(operator(0), shares), 2 * (uint256(ATTESTERS) * 50 / 97), "both");
    }

    /// Another amount, another index, another epoch, the wrong proof, or an epoch that nobody tallied.
    function test_who_did_not_earn_claims_nothing() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 3);
        enter(1);
        network.snapshot();
        submit(taskFor(1, "task 1"), 1, 7);
        enter(3);
        tallyMask(0, 3);
        ITaskNetwork.Share[] memory shares = shareOf(0, 0);
        // The share is another operator's.
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotEarned.selector, 0, 0));
        network.claim(operator(1), shares);
        shares[0].index = 1;
        _refuseClaim(0, 1, shares);
        shares[0].index = 9;
        _refuseClaim(0, 9, shares);
        // Nobody's share is nobody's.
        shares[0].index = 1 << 32;
        _refuseClaim(0, 1 << 32, shares);
        shares = shareOf(0, 0);
        shares[0].amount += 1;
        _refuseClaim(0, 0, shares);
        shares = shareOf(0, 0);
        shares[0].epoch = 1;
        _refuseClaim(1, 0, shares);
        shares = shareOf(0, 0);
        shares[0].proof[0] ^= bytes32(uint256(1));
        _refuseClaim(0, 0, shares);
        // Member 2 did not sign. Its leaf holds zero, which is nothing to claim.
        shares = shareOf(0, 2);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyClaimed.selector, 0, 2));
        network.claim(operator(2), shares);
        // An empty proof, and the root in place of a leaf.
        shares[0].proof = new bytes32[](0);
        _refuseClaim(0, 2, shares);
        shares[0].epoch = 5;
        _refuseClaim(5, 2, shares);
    }

    function test_a_record_is_tallied_once() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        enter(2);
        bytes32 record = keccak256(abi.encode(uint256(0), keccak256(bitmap(7))));
        bytes[] memory twice = new bytes[](2);
        (twice[0], twice[1]) = (bitmap(7), bitmap(7));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownRecord.selector, record));
        network.tally(0, _noTasks, twice, _noAmounts);
        tallyMask(0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownRecord.selector, record));
        network.tally(0, _noTasks, masks(7), packed(_earned[0]));
    }

    function test_a_record_of_one_epoch_is_not_one_of_another() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        enter(1);
        network.snapshot();
        enter(3);
        bytes32 record = keccak256(abi.encode(uint256(1), keccak256(bitmap(7))));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownRecord.selector, record));
        network.tally(1, _noTasks, masks(7), _noAmounts);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 0x1000));
        network.performerOf(0x1000, "id");
        enter(0x2000);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 0x1000));
        network.tally(0x1000, _noTasks, masks(7), _noAmounts);
    }

    function test_a_tally_of_nothing_reverts() external {
        enter(2);
        vm.expectRevert(ITaskNetwork.NothingToTally.selector);
        network.tally(0, _noTasks, _noSigners, _noAmounts);
    }

    /// The amounts before must be those of the last tally, or a tally could undo another one.
    function test_a_further_tally_builds_on_the_last_one() external {
        fund(100e18);
        for (uint256 i = 0; i < 3; ++i) {
            submit(taskFor(0, bytes32(i)), 0, 7 ^ (i == 2 ? 0 : 4 >> i));
        }
        enter(2);
        tallyMask(0, 3);
        uint256[] memory first = _earned[0];
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotTheLastTally.selector, 0));
        network.tally(0, _noTasks, masks(7), _noAmounts);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotTheLastTally.selector, 0));
        network.tally(0, _noTasks, masks(7), new bytes(48));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotTheLastTally.selector, 0));
        network.tally(0, _noTasks, masks(7), new bytes(32));
        tallyMask(0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotTheLastTally.selector, 0));
        network.tally(0, _noTasks, masks(5), packed(first));
        tallyMask(0, 5);
        uint256 expected = uint256(ATTESTERS) * 50 / 80 + uint256(ATTESTERS) * 50 / 97 + uint256(ATTESTERS) * 50 / 67;
        assertEq(claim(0, 0), expected, "all three");
    }

    /// Somebody tallies one record at a time, and signers claim in between. The rest is tallied all the same, and the
    /// next claim pays what the sum grew by.
    function test_finding_a_hostile_tally_of_a_part_locks_out_nothing() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        submit(taskFor(0, "two"), 0, 3);
        submit(taskFor(0, "three"), 0, 5);
        enter(2);
        tallyMask(0, 3);
        uint256 first = claim(0, 0);
        assertEq(first, uint256(ATTESTERS) * 50 / 80, "of one record");
        bytes[] memory rest = new bytes[](2);
        (rest[0], rest[1]) = (bitmap(5), bitmap(7));
        enter(40);
        tally(0, _noTasks, rest);
        assertEq(claim(0, 0), uint256(ATTESTERS) * 50 / 97 + uint256(ATTESTERS) * 50 / 67, "of the others");
        assertEq(claim(0, 2), uint256(ATTESTERS) * 17 / 97 + uint256(ATTESTERS) * 17 / 67, "who waited");
    }

    function test_one_who_left_claims_still() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        vm.prank(operator(0));
        network.deregister();
        enter(20);
        vm.prank(operator(0));
        network.withdraw();
        tallyMask(0, 7);
        assertEq(claim(0, 0), uint256(ATTESTERS) * 50 / 97, "share");
    }

    /// Keys that were registered after the snapshot sign without weight, and get nothing, however far the bitmap goes.
    function test_young_signers_get_nothing() external {
        fund(100e18);
        uint256 mask = 7;
        for (uint256 i = 3; i < 16; ++i) {
            mask |= 1 << join(i, 1_000e18);
        }
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, mask);
        network.submitTasks(0, tasks, quorum);
        enter(2);
        tallyMask(0, mask);
        assertEq(_earned[0].length, 3, "an amount for each weight");
        assertEq(claim(0, 0), uint256(ATTESTERS) * 50 / 97, "the others share it");
    }

    function test_the_elected_performer_is_paid_once() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 7);
        enter(2);
        tally(0, one(task), _noSigners);
        assertEq(_earned[0][task.performer], PERFORMER, "earned");
        claim(0, task.performer);
        assertEq(token.balanceOf(operator(task.performer)), PERFORMER, "paid");
        assertTrue(network.isSettledAs(0, task), "settled still");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, one(task), _noSigners, packed(_earned[0]));
        ITaskNetwork.Task[] memory twice = new ITaskNetwork.Task[](2);
        (twice[0], twice[1]) = (task, task);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, twice, _noSigners, packed(_earned[0]));
    }

    function test_a_settled_task_is_settled_once_more_by_nobody() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, task.id));
        network.submitTasks(0, one(task), "");
    }

    function test_a_performer_not_elected_is_not_paid() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        task.performer = (task.performer + 1) % 3;
        submit(task, 0, 7);
        enter(2);
        tally(0, one(task), _noSigners);
        assertEq(_earned[0][task.performer], 0, "not paid");
        _pool(100e18 - ATTESTERS, ATTESTERS);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, one(task), _noSigners, packed(_earned[0]));
    }

    function test_another_task_than_settled_earns_nothing() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 7);
        enter(1);
        network.snapshot();
        enter(3);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(1, one(task), _noSigners, _noAmounts);
        task.performer = (task.performer + 1) % 3;
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, one(task), _noSigners, _noAmounts);
        task.id = "never settled";
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, one(task), _noSigners, _noAmounts);
    }

    /// Whatever the quorums, the number of tallies and the order of claims: all claims and what the pool gets back are
    /// what was set aside. Each sum is that of a plain twin.
    function test_shares_and_dust_are_what_was_set_aside(uint256 seed) external {
        uint256 count = 9;
        fund(1_000e18);
        enter(1);
        uint256[9] memory weights;
        for (uint256 i = 0; i < count; ++i) {
            weights[i] = i < 3 ? [uint256(50), 30, 17][i] : bound(uint256(keccak256(abi.encode(seed, i))), 10, 13);
            if (i >= 3) join(i, weights[i] * UNIT);
        }
        network.snapshot();
        uint256 total = network.snapshotOf(1).total;
        uint256[9] memory twin;
        uint256 tasks = 0;
        for (uint256 k = 0; k < 12; ++k) {
            uint256 mask = uint256(keccak256(abi.encode(seed, "mask", k))) % 512 | 3;
            uint256 weight = 0;
            for (uint256 i = 0; i < count; ++i) {
                if (mask >> i & 1 == 1) weight += weights[i];
            }
            if (3 * weight <= 2 * total || network.recordOf(1, bitmap(mask)).weight != 0) continue;
            submit(taskFor(1, bytes32(k)), 1, mask);
            ++tasks;
            for (uint256 i = 0; i < count; ++i) {
                if (mask >> i & 1 == 1) twin[i] += uint256(ATTESTERS) * weights[i] / weight;
            }
        }
        if (tasks == 0) return;
        enter(3);
        (uint256 free, uint256 owed) = network.pool();
        for (uint256 k = 0; k < 12; ++k) {
            uint256 mask = uint256(keccak256(abi.encode(seed, "mask", k))) % 512 | 3;
            if (network.recordOf(1, bitmap(mask)).weight != 0) tallyMask(1, mask);
            if (k == seed % 12 && _earned[1].length != 0 && _earned[1][0] != 0) claim(1, 0);
        }
        uint256 sum = 0;
        for (uint256 i = 0; i < count; ++i) {
            assertEq(_earned[1][i], twin[i], "the twin's");
            if (_earned[1][i] > network.paidOf(1, i)) claim(1, i);
            assertEq(token.balanceOf(operator(i)), twin[i], "paid");
            sum += twin[i];
        }
        (uint256 freeAfter, uint256 owedAfter) = network.pool();
        assertEq(owedAfter, tasks * PERFORMER, "nothing is owed to signers");
        assertEq(freeAfter - free, owed - owedAfter - sum, "the pool gets the dust");
        assertEq(sum + (freeAfter - free), tasks * ATTESTERS, "exactly");
    }

    bytes private _noAmounts;

    function _refuseClaim(uint256 epoch, uint256 index, ITaskNetwork.Share[] memory shares) private {
        address owner = ownerIn(epoch, index);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotEarned.selector, epoch, index));
        network.claim(owner, shares);
    }

    function _pool(uint256 free, uint256 owed) private view {
        (uint256 isFree, uint256 isOwed) = network.pool();
        assertEq(isFree, free, "free");
        assertEq(isOwed, owed, "owed");
    }
}
