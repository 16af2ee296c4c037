// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Ring} from "../src/Ring.sol";
import {ToyRig} from "./mocks/ToyRig.sol";

/// @notice Keys, pages and bases of two tables that are in use at once, with a verifier that is real but for the curve.
contract TaskNetworkTablesTest is ToyRig {
    uint256 private constant DUE = 244;

    function parameters() internal view override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        p.maximumOperators = 4;
    }

    /// Operators 0 to 2 have seats in epoch 1, which uses table 0, and the table is due.
    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < 3; ++i) {
            join(i, (20 + i) * UNIT);
        }
        enter(1);
        snapshot();
        _makeDue();
    }

    /// Somebody without a seat joins and leaves until the table is due.
    function _makeDue() private {
        while (keyCount() < DUE) {
            join(3, LEAST);
            depart(3);
        }
    }

    function _all() private pure returns (address[] memory operators) {
        operators = new address[](3);
        (operators[0], operators[1], operators[2]) = (operator(2), operator(0), operator(1));
    }

    function _table() private view returns (uint256 table) {
        (table,,) = network.keyTable();
    }

    /// The tables of two epochs settle while keys are carried to a third one. All keys are passed in calldata, and each
    /// has a place in three tables.
    function test_trap_three_tables_at_once() external {
        assertEq(carry(_all()), 3, "to table 1");
        settle(1, "table 0, carried to table 1");
        enter(2);
        snapshot();
        assertEq(_table(), 1, "renewed");
        settle(1, "table 0, running: 1");
        settle(2, "table 1");
        _makeDue();
        assertEq(carry(_all()), 3, "to table 2");
        settle(1, "table 0, carried to 2");
        settle(2, "table 1, carried to 2");
        enter(3);
        snapshot();
        assertEq(_table(), 2, "renewed again");
        settle(2, "table 1, running: 2");
        settle(3, "table 2");
    }

    /// A base of one table, and a page of one table, serve in the epochs of this table alone.
    function test_trap_bases_and_pages_of_the_other_table() external {
        carry(_all());
        // The page of table 1 that was made of the carried keys, and one of table 0.
        uint256[] memory newPages = new uint256[](1);
        newPages[0] = verifier.extent().pages;
        verifier.compact(0, 3, noPages, abi.encodePacked(keyOf(1), keyOf(2), keyOf(3)));
        uint256[] memory oldPages = new uint256[](1);
        oldPages[0] = verifier.extent().pages;
        Members.Base memory base = _store(1, oldPages, "old base");
        enter(2);
        snapshot();
        // The old base serves in the old epoch, also after the renewal.
        ITaskNetwork.Task[] memory tasks = one(taskFor(1, "from the old base"));
        network.submitTasks(1, tasks, quorumOf(base, Members.NONE, noPages, tasks, 1, base.signers));
        tasks = one(taskFor(2, "new"));
        _refuse(2, tasks, base, noPages, abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        bytes memory why = abi.encodeWithSelector(CodePages.NoSuchPage.selector, oldPages[0]);
        _refuse(2, tasks, Members.empty(), oldPages, why);
        Members.Base memory later = _store(2, newPages, "new base");
        // Both tables have a slot 2.
        tasks = one(taskFor(1, "from the old base again"));
        network.submitTasks(1, tasks, quorumOf(base, Members.NONE, noPages, tasks, 1, base.signers));
        why = abi.encodeWithSelector(CodePages.NoSuchPage.selector, newPages[0]);
        tasks = one(taskFor(1, "old"));
        _refuse(1, tasks, Members.empty(), newPages, why);
        _refuse(1, tasks, later, noPages, abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        // What is pinned belongs to the running table.
        vm.prank(ADMIN);
        network.pin(1, 2);
        assertEq(verifier.commitmentAt(1 << 16 | 1), Members.commitment(later), "pinned in table 1");
        assertEq(verifier.commitmentAt(1), 0, "nothing pinned in table 0");
    }

    function _store(uint256 epoch, uint256[] memory pages, bytes32 id) private returns (Members.Base memory base) {
        bytes memory signers = signersOf(epoch);
        ITaskNetwork.Task[] memory tasks = one(taskFor(epoch, id));
        network.submitTasks(epoch, tasks, quorumOf(Members.empty(), 2, pages, tasks, epoch, signers));
        uint96 weight = uint96(network.snapshotOf(epoch).total);
        return Members.Base(2, uint32(epoch), weight, keyOf(keyOfAll(epoch, signers)), signers);
    }

    function _refuse(
        uint256 epoch,
        ITaskNetwork.Task[] memory tasks,
        Members.Base memory base,
        uint256[] memory pages,
        bytes memory why
    ) private {
        bytes memory quorum = quorumOf(base, Members.NONE, pages, tasks, epoch, signersOf(epoch));
        vm.expectRevert(why);
        network.submitTasks(epoch, tasks, quorum);
    }

    /// A key has one owner for good. If it could be registered again in a later table, a new owner would answer for what the
    /// old one signed.
    function test_trap_a_key_that_comes_back() external {
        carry(_all());
        enter(2);
        snapshot();
        // Key 1 was carried, and key 4 was not. Key 5,000 comes while keys are carried.
        _makeDue();
        carry(0);
        secrets = 4_999;
        join(3, LEAST);
        depart(3);
        uint256[3] memory old = [uint256(1), 4, 5_000];
        for (uint256 i = 0; i < 3; ++i) {
            for (uint256 who = 3; who < 5; ++who) {
                approve(operator(who), LEAST);
                bytes memory key = keyOf(old[i]);
                bytes memory proof = _possession(operator(who), old[i]);
                vm.expectRevert(abi.encodeWithSelector(KeyTable.KeyTaken.selector, key));
                vm.prank(operator(who));
                network.register(key, proof, LEAST);
            }
        }
    }

    /// The newest table that holds a key names its owner, be it the next one, the running one, or an old one.
    function test_where_the_signer_of_a_digest_is() external {
        _expectSigner(3, 0, 2);
        carry(_all());
        _expectSigner(3, 1, 0);
        _expectSigner(4, 0, 3);
        enter(2);
        snapshot();
        _expectSigner(3, 1, 0);
        _expectSigner(4, 0, 3);
        bytes memory proof = abi.encodePacked(keyOf(3), verifier.signature(Members.only("digest"), 4));
        vm.expectRevert();
        verifier.signerOf("digest", proof);
        proof = abi.encodePacked(keyOf(9_999), verifier.signature(Members.only("digest"), 9_999));
        vm.expectRevert(KeyTable.UnknownKey.selector);
        verifier.signerOf("digest", proof);
        vm.expectRevert();
        verifier.signerOf("digest", hex"00");
    }

    function _expectSigner(uint256 secret, uint256 table, uint256 index) private view {
        bytes memory proof = abi.encodePacked(keyOf(secret), verifier.signature(Members.only("digest"), secret));
        (uint256 isTable, uint256 isIndex) = verifier.signerOf("digest", proof);
        assertTrue(isTable == table && isIndex == index, "where");
    }

    function test_trap_a_conflict_over_a_renewal_with_real_tables() external {
        carry(_all());
        enter(2);
        snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        ITaskNetwork.Attestation memory first = attestation(1, a, secretOf[operator(2)]);
        ITaskNetwork.Attestation memory second = attestation(2, b, secretOf[operator(2)]);
        network.reportConflict(first, second);
        assertTrue(network.isSlashed(operator(2), "id"), "slashed");
    }

    /// The keys to carry lie in no page. Anyone makes one, from the log. A page without the key carries nothing.
    function test_anyone_makes_the_pages_to_carry_from() external {
        address[] memory operators = _all();
        vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 2));
        network.carry(operators, noPages);
        vm.startPrank(address(0xbad));
        verifier.compact(0, 2, noPages, abi.encodePacked(keyOf(1), keyOf(2)));
        uint256[] memory pages = new uint256[](1);
        pages[0] = verifier.extent().pages;
        vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 2));
        network.carry(operators, pages);
        operators[0] = operators[1];
        assertEq(network.carry(operators, pages), 2, "those in the page");
        vm.stopPrank();
        assertEq(network.ownerOfKey(1, 0), operator(0), "operator 0");
        assertEq(network.ownerOfKey(1, 1), operator(1), "operator 1");
    }
}
