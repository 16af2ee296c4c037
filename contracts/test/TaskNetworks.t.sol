// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {QuorumBytes} from "../src/QuorumBytes.sol";
import {Ring} from "../src/Ring.sol";
import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {NetworkFixture} from "./NetworkFixture.sol";
import {Bls12381G2Signing, Bn254G1Signing, Bn254G2Signing, Signing} from "./Signing.sol";
import {MockToken} from "./mocks/MockTokens.sol";
import {Bls12381G2Sums} from "../src/curves/Bls12381G2Keys.sol";
import {Bn254G1Keys} from "../src/curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "../src/curves/Bn254G2Keys.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {Quorums} from "../src/Quorums.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Verifier} from "../src/Verifier.sol";
import {Weights} from "../src/Weights.sol";
import {VerifierBls12381G2, VerifierBn254G1, VerifierBn254G2} from "../src/Verifiers.sol";

/// @notice The network with real keys, signatures and pages. Only the token is a mock. Operator i stakes 20 + i units,
/// so all twelve weigh 306, and a quorum must weigh more than 204.
abstract contract TaskNetworksTest is NetworkFixture, Signing {
    uint256 internal constant N = 12;
    uint256 internal constant PAGED = 10;
    uint256 internal constant ALL = (1 << N) - 1;
    uint256 internal constant NONE = Members.NONE;

    Verifier internal _verifier;
    /// The secrets, by index.
    uint256[] internal _secrets;
    bytes[] internal _keys;
    uint256[] internal _keyPages;
    uint256 private _paged;
    mapping(uint256 epoch => uint256[]) internal _weightPages;
    uint256[] private _noPages;
    string internal _record;

    function _newVerifier(address network) internal virtual returns (Verifier);

    /// @notice The curve's name in the gas snapshots.
    function _name() internal pure virtual returns (string memory);

    /// @notice The error for a false signature.
    function _falseSignature() internal pure virtual returns (bytes4);

    /// @notice The error for keys that add up to the identity.
    function _identity() internal pure virtual returns (bytes4);

    function setUp() public virtual {
        _deploy(N);
        fund(1_000e18);
    }

    function _deploy(uint256 operators) internal {
        token = new MockToken();
        _verifier = _newVerifier(nextAddress(1));
        ITaskNetwork.Parameters memory p = parameters();
        p.verifier = _verifier;
        p.maximumOperators = 60;
        network = new TaskNetwork(p);
        delete _secrets;
        delete _keys;
        vm.warp(GENESIS);
        for (uint256 i = 0; i < operators; ++i) {
            _join(i, _fresh(), (20 + i) * UNIT);
        }
        bytes memory tail;
        for (uint256 i = 0; i < operators - 2; ++i) {
            tail = abi.encodePacked(tail, _keys[i]);
        }
        _verifier.compact(0, operators - 2, _noPages, tail);
        _paged = operators - 2;
        _keyPages = [_verifier.extent().pages];
        _snapshot();
    }

    // The operators' calls.

    function _fresh() internal view returns (uint256 secret) {
        return uint256(keccak256(abi.encode("secret", _secrets.length))) % order();
    }

    function _possession(uint256 i, uint256 secret) internal view returns (bytes memory key, bytes memory proof) {
        key = keyOf(secret);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _verifier.possessionDigest(operator(i), key);
        proof = proofBy(secret, digests);
    }

    function _join(uint256 i, uint256 secret, uint256 stake) internal returns (uint256 index) {
        (bytes memory key, bytes memory proof) = _possession(i, secret);
        approve(operator(i), stake);
        vm.prank(operator(i));
        index = network.register(key, proof, stake);
        _keep(secret, key);
    }

    function _rotate(uint256 i) internal returns (uint256 index) {
        uint256 secret = _fresh();
        (bytes memory key, bytes memory proof) = _possession(i, secret);
        vm.prank(operator(i));
        index = network.rotateKey(key, proof);
        _keep(secret, key);
    }

    function _keep(uint256 secret, bytes memory key) private {
        _secrets.push(secret);
        _keys.push(key);
    }

    /// @notice The proof in a report that the key at an index of the first table signed a task.
    function _single(ITaskNetwork.Task memory task, uint256 epoch, uint256 index) internal view returns (bytes memory) {
        return abi.encodePacked(_keys[index], proofBy(_secrets[index], digestsOf(one(task), epoch)));
    }

    function _report(bytes32 id, uint256 index) internal returns (uint256 bounty) {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict(id);
        bytes memory first = _single(a, 0, index);
        bytes memory second = _single(b, 0, index);
        vm.prank(REPORTER);
        bounty = network.reportConflict(attested(0, a, first), attested(0, b, second));
        _snapshotGas();
    }

    // The aggregators' calls.

    function _snapshot() internal {
        uint256 epoch = network.snapshot();
        _snapshotGas();
        _weightPages[epoch] = [_verifier.extent().pages];
    }

    function _secretOf(uint256 mask) internal view returns (uint256 sum) {
        for (uint256 i = 0; i < _secrets.length; ++i) {
            if (mask >> i & 1 == 1) sum = addmod(sum, _secrets[i], order());
        }
    }

    function _weightOf(uint256 mask, uint256 epoch) internal view returns (uint256 sum) {
        uint64[] memory weights = _verifier.weightsOf(epoch);
        for (uint256 i = 0; i < weights.length; ++i) {
            if (mask >> i & 1 == 1) sum += weights[i];
        }
    }

    function _pack(Members.Base memory base, uint256 store, uint256 epoch, bytes memory signers, bytes memory proof)
        internal
        view
        returns (bytes memory)
    {
        bool same = keccak256(base.signers) == keccak256(signers);
        Members.Passed memory passed;
        for (uint256 i = _paged; i < _keys.length; ++i) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) continue;
            ++passed.keys;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys[i]);
        }
        return Members.pack(
            base,
            store,
            same ? _noPages : _keyPages,
            // In epoch 0 no base was weighed.
            same && base.epoch == epoch && epoch != 0 ? _noPages : _weightPages[epoch],
            passed,
            signers,
            abi.encodePacked(hintOf(base, signers, _keys), proof)
        );
    }

    function _quorum(
        Members.Base memory base,
        uint256 store,
        ITaskNetwork.Task[] memory tasks,
        uint256 epoch,
        uint256 mask
    ) internal view returns (bytes memory) {
        return _pack(base, store, epoch, bitmap(mask), proofBy(_secretOf(mask), digestsOf(tasks, epoch)));
    }

    function _submit(
        Members.Base memory base,
        uint256 store,
        ITaskNetwork.Task[] memory tasks,
        uint256 epoch,
        uint256 mask
    ) internal returns (Members.Base memory result) {
        bytes memory quorum = _quorum(base, store, tasks, epoch, mask);
        network.submitTasks(epoch, tasks, quorum);
        _snapshotGas();
        for (uint256 i = 0; i < tasks.length; ++i) {
            assertTrue(network.isSettledAs(epoch, tasks[i]), "settled");
        }
        result =
            Members.Base(store, uint32(epoch), uint96(_weightOf(mask, epoch)), keyOf(_secretOf(mask)), bitmap(mask));
        if (store != NONE) {
            assertEq(_verifier.commitmentAt(store), keccak256(Members.preimage(result)), "the base that was stored");
        }
    }

    function _tasks(uint256 epoch, uint256 count, bytes32 seed)
        internal
        view
        returns (ITaskNetwork.Task[] memory tasks)
    {
        tasks = new ITaskNetwork.Task[](count);
        for (uint256 i = 0; i < count; ++i) {
            tasks[i] = taskFor(epoch, keccak256(abi.encode(seed, i)));
        }
    }

    function _refuse(ITaskNetwork.Task[] memory tasks, uint256 epoch, bytes memory quorum, bytes memory why) internal {
        vm.expectRevert(why);
        network.submitTasks(epoch, tasks, quorum);
    }

    function _snapshotGas() private {
        if (bytes(_record).length == 0) return;
        vm.snapshotGasLastCall("TaskNetwork", string.concat(_name(), ": ", _record));
        _record = "";
    }

    // The life of a network.

    /// Does everything in the order of a real network's life, and counts the tokens at the end.
    function test_a_life() external {
        Members.Base memory full = _submit(Members.empty(), 2, _tasks(0, 1, "full"), 0, ALL);
        vm.prank(ADMIN);
        network.pin(1, 2);
        full.slot = 1;
        Members.Base memory base = _submit(full, Members.NEWEST, _tasks(0, 1, "less 3"), 0, ALL ^ 1 << 3);
        _submit(base, NONE, _tasks(0, 3, "the same"), 0, ALL ^ 1 << 3);
        // One member comes and two leave, one of whose keys is in no page. Then a quorum without one member starts from
        // the pinned base.
        base = _submit(base, Members.NEWEST, _tasks(0, 2, "less 2 and 11"), 0, ALL ^ 1 << 2 ^ 1 << 11);
        _submit(full, NONE, _tasks(0, 1, "less 3 again"), 0, ALL ^ 1 << 3);

        // A rejected task costs its performer a twentieth.
        ITaskNetwork.Task[] memory bad = _tasks(0, 1, "bad");
        bad[0].approved = false;
        address performer = network.ownerOfKey(0, bad[0].performer);
        uint256 stake = network.stakeOf(performer);
        base = _submit(base, Members.NEWEST, bad, 0, ALL ^ 1 << 2 ^ 1 << 11);
        assertEq(network.stakeOf(performer), stake - stake / 20, "penalised");

        // A key that is replaced in the next epoch still signs in the last one. After that another member has its
        // weight.
        enter(1);
        assertEq(_rotate(5), N, "index of the new key");
        base = _submit(base, Members.NEWEST, _tasks(0, 1, "old key, old epoch"), 0, ALL);
        _snapshot();
        assertEq(_verifier.weightsOf(1)[5], 0, "old key");
        assertTrue(_verifier.weightsOf(1)[N] >= 23, "new key");
        base = _submit(base, Members.NEWEST, _tasks(1, 1, "new key"), 1, ALL ^ 1 << 5 ^ 1 << N);
        base = _submit(base, 3, _tasks(1, 1, "old base, weighed anew"), 1, ALL ^ 1 << N);
        assertEq(base.weight, network.snapshotOf(1).total, "the old key weighs nothing");
        base = _submit(full, NONE, _tasks(1, 1, "from the pinned base"), 1, ALL ^ 1 << 4 ^ 1 << 5 ^ 1 << N);

        // Three operators signed two results of one id, one of them with a key that was replaced.
        stake = network.stakeOf(operator(3));
        uint256 bounty = _report("twice", 3);
        assertEq(network.stakeOf(operator(3)), stake - stake / 5, "slashed");
        assertEq(bounty, stake / 50, "bounty");
        _report("twice", 5);
        _report("twice", 11);
        assertTrue(network.isSlashed(operator(5), "twice"), "the owner of the old key");

        _claimAll();

        vm.prank(operator(0));
        network.deregister();
        (uint256 pending, uint256 payableAt) = network.pendingOf(operator(0));
        vm.warp(payableAt - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.WithdrawalNotDue.selector, payableAt));
        vm.prank(operator(0));
        network.withdraw();
        vm.warp(payableAt);
        uint256 balance = token.balanceOf(operator(0));
        vm.prank(operator(0));
        network.withdraw();
        assertEq(token.balanceOf(operator(0)), balance + pending, "withdrawn");
        assertEq(token.balanceOf(address(network)), liabilities(N), "conserved");
    }

    /// @dev All records and performances of epoch 0 of the life are tallied in two steps, and everybody claims.
    function _claimAll() private {
        uint256[3] memory quorums = [ALL, ALL ^ 1 << 3, ALL ^ 1 << 2 ^ 1 << 11];
        uint256[3] memory tasks = [uint256(2), 5, 3];
        uint256[N] memory fair;
        enter(2);
        bytes[] memory signers = new bytes[](2);
        for (uint256 j = 0; j < quorums.length; ++j) {
            assertEq(network.recordOf(0, bitmap(quorums[j])).amount, tasks[j] * ATTESTERS, "a record");
            if (j != 0) signers[j - 1] = bitmap(quorums[j]);
            for (uint256 i = 0; i < N; ++i) {
                if (quorums[j] >> i & 1 == 1) fair[i] += tasks[j] * ATTESTERS * (20 + i) / _weightOf(quorums[j], 0);
            }
        }
        ITaskNetwork.Task[] memory performed = _tasks(0, 3, "the same");
        for (uint256 k = 0; k < performed.length; ++k) {
            fair[performed[k].performer] += PERFORMER;
        }
        tallyMask(0, quorums[0]);
        tally(0, performed, signers);
        for (uint256 i = 0; i < N; ++i) {
            uint256 balance = token.balanceOf(operator(i));
            assertEq(claim(0, i), fair[i], "by weight");
            assertEq(token.balanceOf(operator(i)), balance + fair[i], "to the owner of the key");
        }
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, performed[0].id));
        network.tally(0, performed, _noSigners, packed(_earned[0]));
    }

    /// The weights that elect are those in the pages: the stakes, in units.
    function test_election_by_real_weights() external view {
        bytes32 beacon = network.snapshotOf(0).beacon;
        for (uint256 t = 0; t < 40; ++t) {
            uint256 point = uint256(keccak256(abi.encode(beacon, bytes32(t)))) % 306;
            uint256 expected = 0;
            for (uint256 sum = 20; point >= sum; sum += 20 + expected) {
                ++expected;
            }
            assertEq(network.performerOf(0, bytes32(t)), expected, "who holds the point");
        }
    }

    /// An operator who registers after the snapshot may sign in the epoch, without weight and without a share.
    function test_a_young_key_weighs_nothing() external {
        uint256 index = _join(N, _fresh(), 1_000 * UNIT);
        uint256 mask = ALL ^ 1 << N;
        Members.Base memory base = _submit(Members.empty(), 2, _tasks(0, 1, "young"), 0, mask);
        assertEq(base.weight, 306, "without it");
        uint256 few = 1 << N ^ 0xff;
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "few");
        bytes memory why =
            abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 20 + 21 + 22 + 23 + 24 + 25 + 26 + 27, 204);
        _refuse(tasks, 0, _quorum(Members.empty(), NONE, tasks, 0, few), why);
        enter(2);
        tallyMask(0, mask);
        assertEq(_earned[0].length, index, "the young key has no share");
        assertEq(claim(0, 0), uint256(ATTESTERS) * 20 / 306, "the others share it");
    }

    // Traps.

    function test_trap_false_signature() external {
        ITaskNetwork.Task[] memory tasks = _tasks(0, 2, "false");
        bytes32[] memory digests = digestsOf(tasks, 0);
        // The signature lacks a signer, and then has one too many.
        bytes memory quorum = _pack(Members.empty(), NONE, 0, bitmap(ALL), proofBy(_secretOf(ALL ^ 1), digests));
        _refuse(tasks, 0, quorum, abi.encodeWithSelector(_falseSignature()));
        quorum = _pack(Members.empty(), NONE, 0, bitmap(ALL ^ 1), proofBy(_secretOf(ALL), digests));
        _refuse(tasks, 0, quorum, abi.encodeWithSelector(_falseSignature()));
        // The result is not the one that was signed.
        quorum = _quorum(Members.empty(), NONE, tasks, 0, ALL);
        tasks[1].result = "forged";
        vm.expectRevert();
        network.submitTasks(0, tasks, quorum);
        assertTrue(!network.isSettled(tasks[0].id), "nothing settled");
        tasks = _tasks(0, 2, "false");
        network.submitTasks(0, tasks, quorum);
    }

    function test_trap_replay() external {
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "replay");
        bytes32[] memory digests = digestsOf(tasks, 0);
        bytes memory quorum = _quorum(Members.empty(), NONE, tasks, 0, ALL);
        uint256 state = vm.snapshotState();
        network.submitTasks(0, tasks, quorum);
        _refuse(tasks, 0, quorum, abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, tasks[0].id));
        // If the tasks had not settled, the signature would be false in another epoch and on another chain.
        vm.revertToState(state);
        enter(1);
        _snapshot();
        bytes memory later = _pack(Members.empty(), NONE, 1, bitmap(ALL), proofBy(_secretOf(ALL), digests));
        vm.expectRevert();
        network.submitTasks(1, tasks, later);
        later = _pack(Members.empty(), NONE, 1, bitmap(ALL), proofBy(_secretOf(ALL), digestsOf(tasks, 1)));
        network.submitTasks(1, tasks, later);
        vm.revertToState(state);
        vm.chainId(424242);
        vm.expectRevert();
        network.submitTasks(0, tasks, quorum);
    }

    function test_trap_quorum_too_light() external {
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "light");
        // The members that are missing weigh 31 + 30 + 21 + 20. The others weigh exactly two thirds.
        uint256 mask = ALL ^ 1 << 11 ^ 1 << 10 ^ 1 << 1 ^ 1;
        bytes memory why = abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 204, 204);
        _refuse(tasks, 0, _quorum(Members.empty(), 2, tasks, 0, mask), why);
        assertEq(_verifier.commitmentAt(2), bytes32(0), "nothing stored");
        _submit(Members.empty(), 2, tasks, 0, ALL ^ 1 << 11 ^ 1 << 10 ^ 1 << 2);
    }

    function test_trap_empty_quorum_and_longer_bitmap() external {
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "bitmap");
        bytes memory proof = proofBy(_secretOf(ALL), digestsOf(tasks, 0));
        bytes memory quorum =
            Members.pack(Members.empty(), NONE, _keyPages, _weightPages[0], "", abi.encodePacked(proof, proof));
        _refuse(tasks, 0, quorum, abi.encodeWithSelector(QuorumBytes.EmptyQuorum.selector));
        quorum = _pack(Members.empty(), NONE, 0, abi.encodePacked(bitmap(ALL), hex"00"), proof);
        _refuse(tasks, 0, quorum, abi.encodeWithSelector(QuorumBytes.BitmapNotShortest.selector));
    }

    /// The keys a and -a add up to the identity, under which everyone can sign.
    function test_trap_cancelling_keys() external {
        uint256 secret = _fresh();
        _join(N, secret, 3_000 * UNIT);
        _join(N + 1, order() - secret, 3_000 * UNIT);
        enter(1);
        _snapshot();
        ITaskNetwork.Task[] memory tasks = _tasks(1, 1, "cancel");
        bytes memory quorum = _pack(Members.empty(), NONE, 1, bitmap(3 << N), proofBy(1, digestsOf(tasks, 1)));
        _refuse(tasks, 1, quorum, abi.encodeWithSelector(_identity()));
    }

    /// The keys are a, b and a + b, so the sum meets the key that is added to it.
    function test_trap_colluding_keys() external {
        (uint256 a, uint256 b) = (_fresh(), 12345);
        _join(N, a, 3_000 * UNIT);
        _join(N + 1, b, 3_000 * UNIT);
        _join(N + 2, addmod(a, b, order()), 100 * UNIT);
        enter(1);
        _snapshot();
        Members.Base memory base = _submit(Members.empty(), 2, _tasks(1, 1, "two"), 1, 3 << N);
        _submit(base, NONE, _tasks(1, 1, "and their sum"), 1, 7 << N);
        base = _submit(Members.empty(), 2, _tasks(1, 1, "all three"), 1, 7 << N);
        _submit(base, NONE, _tasks(1, 1, "and back"), 1, 3 << N);
    }

    /// A rogue key is computed from another member's key, and nobody holds its secret.
    function test_trap_rogue_key() external {
        bytes memory key = keyOf(addmod(order() - _secrets[0], 5, order()));
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _verifier.possessionDigest(operator(N), key);
        approve(operator(N), LEAST);
        bytes memory proof = proofBy(5, digests);
        vm.expectRevert(_falseSignature());
        vm.prank(operator(N));
        network.register(key, proof, LEAST);
    }

    /// Nobody can use a registration that was copied from the mempool, and a key can be registered once.
    function test_trap_copied_registration() external {
        uint256 secret = _fresh();
        (bytes memory key, bytes memory proof) = _possession(N, secret);
        approve(operator(N + 1), LEAST);
        vm.expectRevert();
        vm.prank(operator(N + 1));
        network.register(key, proof, LEAST);
        _join(N, secret, LEAST);
        (, proof) = _possession(N + 1, secret);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeyTaken.selector, key));
        vm.prank(operator(N + 1));
        network.register(key, proof, LEAST);
    }

    /// The key of the empty quorum is refused, and so are bytes that are no key.
    function test_trap_keys_that_are_refused() external {
        approve(operator(N), LEAST);
        vm.expectRevert(Quorums.IdentityKey.selector);
        vm.prank(operator(N));
        network.register(new bytes(_keys[0].length), "", LEAST);
        vm.expectRevert(abi.encodeWithSelector(Quorums.KeyLength.selector, _keys[0].length - 1, _keys[0].length));
        vm.prank(operator(N));
        network.register(new bytes(_keys[0].length - 1), "", LEAST);
    }

    /// Whoever stores bases cannot replace the pinned one.
    function test_trap_cache_refilled_by_anyone() external {
        Members.Base memory full = _submit(Members.empty(), 2, _tasks(0, 1, "full"), 0, ALL);
        vm.prank(ADMIN);
        network.pin(1, 2);
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "over it");
        bytes memory why = abi.encodeWithSelector(Ring.SlotPinned.selector, 1);
        _refuse(tasks, 0, _quorum(full, 1, tasks, 0, ALL ^ 1), why);
        _submit(full, 2, tasks, 0, ALL ^ 1);
        full.slot = 1;
        _submit(full, NONE, _tasks(0, 1, "from it"), 0, ALL);
    }

    /// A base with another weight, or with the weight of another epoch, is refused.
    function test_trap_a_base_that_is_not_committed() external {
        Members.Base memory base = _submit(Members.empty(), 2, _tasks(0, 1, "base"), 0, ALL ^ 1);
        enter(1);
        _snapshot();
        ITaskNetwork.Task[] memory tasks = _tasks(1, 1, "next");
        bytes memory why = abi.encodeWithSelector(Ring.NotThisBase.selector, 2);
        base.epoch = 1;
        _refuse(tasks, 1, _quorum(base, NONE, tasks, 1, ALL), why);
        (base.epoch, base.weight) = (0, base.weight + 1);
        _refuse(tasks, 1, _quorum(base, NONE, tasks, 1, ALL), why);
    }

    /// Weights of one epoch do not count in another.
    function test_trap_pages_of_another_epoch() external {
        enter(1);
        _snapshot();
        ITaskNetwork.Task[] memory tasks = _tasks(1, 1, "pages");
        _weightPages[1] = _weightPages[0];
        bytes memory why = abi.encodeWithSelector(Weights.NoWeight.selector, 1, 0);
        _refuse(tasks, 1, _quorum(Members.empty(), NONE, tasks, 1, ALL), why);
    }

    /// Only the verifier's network may call what writes.
    function test_trap_strangers_at_the_verifier() external {
        bytes memory why = abi.encodeWithSelector(Verifier.NotNetwork.selector, address(this));
        (bytes memory key, bytes memory proof) = _possession(N, _fresh());
        vm.expectRevert(why);
        _verifier.admit(operator(N), key, proof);
        vm.expectRevert(why);
        _verifier.publish(7, new bytes(8 * N));
        vm.expectRevert(why);
        _verifier.carry(hex"00000000", _keyPages);
        vm.expectRevert(why);
        _verifier.renew();
        vm.expectRevert(why);
        _verifier.pin(1, 2);
        ITaskNetwork.Task[] memory tasks = _tasks(0, 1, "stranger");
        bytes32[] memory digests = digestsOf(tasks, 0);
        bytes memory quorum = _quorum(Members.empty(), 2, tasks, 0, ALL);
        vm.expectRevert(why);
        _verifier.verify(digests, 0, 0, quorum);
    }

    function test_trap_false_evidence() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("framed");
        bytes memory first = _single(a, 0, 4);
        bytes memory second = _single(b, 0, 5);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
        // The key that is passed is another one, or nobody's.
        second = abi.encodePacked(_keys[5], proofBy(_secrets[4], digestsOf(one(b), 0)));
        vm.expectRevert(_falseSignature());
        network.reportConflict(attested(0, a, first), attested(0, b, second));
        second = abi.encodePacked(keyOf(77), proofBy(77, digestsOf(one(b), 0)));
        vm.expectRevert(KeyTable.UnknownKey.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
        assertTrue(!network.isSlashed(operator(4), "framed"), "no mark");
        second = _single(b, 0, 4);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
    }

    function test_pin_of_nothing_and_beyond() external {
        _submit(Members.empty(), 2, _tasks(0, 1, "full"), 0, ALL);
        vm.startPrank(ADMIN);
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 9));
        network.pin(1, 9);
        // In a verifier, slot 0 belongs to the ring like any other slot. No slot above the pinned ones can be pinned.
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        network.pin(0, 2);
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        network.pin(2, 2);
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 0));
        network.pin(1, 0);
        network.pin(1, 2);
        vm.stopPrank();
        assertEq(_verifier.commitmentAt(1), _verifier.commitmentAt(2), "pinned");
    }

    /// Whole transactions with cold storage, 50 operators, a full pool, and 48 keys in a page.
    function test_gas() external {
        _record = "snapshot, 50 operators";
        _deploy(50);
        fund(10_000e18);
        // In epoch 0 no base was weighed.
        enter(1);
        _snapshot();
        uint256 all = (1 << 50) - 1;
        Members.Base memory base = _submit(Members.empty(), 2, _tasks(1, 1, "full"), 1, all);
        base = _submit(base, 2, _tasks(1, 1, "base"), 1, all ^ 1);
        _record = "1 task, the same quorum";
        _submit(base, NONE, _tasks(1, 1, "same"), 1, all ^ 1);
        _record = "10 tasks, the same quorum";
        _submit(base, NONE, _tasks(1, 10, "ten"), 1, all ^ 1);
        _record = "1 task, 1 changed";
        _submit(base, NONE, _tasks(1, 1, "change"), 1, all ^ 3);
        _record = "1 task, 1 changed, quorum seen in the epoch";
        _submit(base, NONE, _tasks(1, 1, "change again"), 1, all ^ 3);
        _record = "1 task, 1 changed, stored in its base's slot";
        base = _submit(base, 2, _tasks(1, 1, "store"), 1, all ^ 3);
        _record = "1 task, 5 changed";
        _submit(base, NONE, _tasks(1, 1, "five"), 1, all ^ 0x7f);
        _record = "report a conflict";
        _report("twice", 4);
        (bytes memory key, bytes memory proof) = _possession(50, _fresh());
        approve(operator(50), LEAST);
        vm.prank(operator(50));
        network.register(key, proof, LEAST);
        vm.snapshotGasLastCall("TaskNetwork", string.concat(_name(), ": register"));
    }
}

contract TaskNetworkBn254G2Test is TaskNetworksTest, Bn254G2Signing {
    function _newVerifier(address network) internal override returns (Verifier) {
        return new VerifierBn254G2(network, 1);
    }

    function _name() internal pure override returns (string memory) {
        return "BN254 G2";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bn254G2Keys.FalseSignature.selector;
    }

    function _identity() internal pure override returns (bytes4) {
        return Bn254G2.BadInverse.selector;
    }
}

contract TaskNetworkBn254G1Test is TaskNetworksTest, Bn254G1Signing {
    function _newVerifier(address network) internal override returns (Verifier) {
        return new VerifierBn254G1(network, 1);
    }

    function _name() internal pure override returns (string memory) {
        return "BN254 G1";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bn254G1Keys.FalseSignature.selector;
    }

    function _identity() internal pure override returns (bytes4) {
        return Bn254G1Keys.SumIsIdentity.selector;
    }
}

contract TaskNetworkBls12381G2Test is TaskNetworksTest, Bls12381G2Signing {
    function _newVerifier(address network) internal override returns (Verifier) {
        return new VerifierBls12381G2(network, 1);
    }

    function _name() internal pure override returns (string memory) {
        return "BLS12-381 G2";
    }

    function _falseSignature() internal pure override returns (bytes4) {
        return Bls12381G2Sums.FalseSignature.selector;
    }

    function _identity() internal pure override returns (bytes4) {
        return Bls12381G2Sums.SumIsIdentity.selector;
    }
}

/// @notice Weights are read back as they were published, however many there are.
contract VerifierWeightsTest is Test {
    function test_weights_of_several_pages() external {
        Verifier verifier = new VerifierBn254G1(address(this), 1);
        assertEq(verifier.weightsOf(0).length, 0, "none");
        // Numbers around one page of 2,048 weights, and around two.
        uint256[7] memory counts = [uint256(1), 2, 2047, 2048, 2049, 4096, 4097];
        for (uint256 epoch = 0; epoch < counts.length; ++epoch) {
            uint64[] memory weights = new uint64[](counts[epoch]);
            for (uint256 i = 0; i < weights.length; ++i) {
                weights[i] = uint64(uint256(keccak256(abi.encode(epoch, i))));
            }
            verifier.publish(epoch, Members.packWeights(weights));
        }
        for (uint256 epoch = 0; epoch < counts.length; ++epoch) {
            uint64[] memory weights = verifier.weightsOf(epoch);
            assertEq(weights.length, counts[epoch], "length");
            for (uint256 i = 0; i < weights.length; ++i) {
                assertEq(weights[i], uint64(uint256(keccak256(abi.encode(epoch, i)))), "weight");
            }
        }
        assertEq(verifier.weightsOf(counts.length).length, 0, "none yet");
    }

    function test_an_epoch_is_weighed_once_and_in_order() external {
        Verifier verifier = new VerifierBn254G1(address(this), 1);
        verifier.publish(3, new bytes(40));
        for (uint256 epoch = 2; epoch <= 3; ++epoch) {
            vm.expectRevert(abi.encodeWithSelector(Verifier.EpochHasWeights.selector, epoch));
            verifier.publish(epoch, new bytes(48));
        }
        assertEq(verifier.weightsOf(3).length, 5, "as published");
    }
}
