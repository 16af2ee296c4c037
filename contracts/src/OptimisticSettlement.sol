// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Deposits} from "./Deposits.sol";
import {Head} from "./Head.sol";
import {IOptimisticSettlement} from "./interfaces/IOptimisticSettlement.sol";
import {Moment, Moments} from "./Moment.sol";
import {Settlement} from "./Settlement.sol";

/// @title A settlement to which results may also be posted without a proof
/// @notice `settle` and `settleAll` work as ever. `post` takes the next numbers too, and costs a third: it checks no
/// signature. `IOptimisticSettlement` says what a posting is, and docs/optimistic.md when this is safe.
///
/// **A demand is answered by a proof.** The proof is the check of an instant settlement, against the head that the posting
/// names. If it cannot be made, for whatever reason, the posting is dropped: a proof that runs out of gas, a precompile
/// that fails, a price that rose, a receiver that reverts (`ForwardedResults`). So what a demand was made for never
/// becomes final without a proof.
///
/// **A posting stays provable.** For the epoch, the table, the digest and the signers of a posting the signature is one
/// point, so whoever proves it may start from any base, and pass keys in any way. Pages never vanish, and the numbers of a
/// table's keys never change. Two things go: a key in calldata is found in its table until it was carried four times, and
/// weights in calldata have their hash until those of the epoch after the next one are prepared. Whoever posts for a
/// quorum that needs them copies them into pages first (`compact`, `publish`).
///
/// **A true quorum displaces.** Whoever has a true quorum for numbers that somebody else's posting took proves it, and that
/// displaces the posting if the posting has at least as many results. A quorum that signed more results in one order does
/// not settle any more, and signs those behind the posting anew.
///
/// **What is paid.** The bond of a demand goes to whoever proves; the penalty of a posting that is shown to be false, to
/// half, to whoever showed it. A posting that is proven in time costs its poster nothing. A poster of a true one loses a
/// penalty if nobody answers a demand in time, or if the quorum signed other results for the same number, too; such a
/// quorum could have settled those at once.
///
/// A contract that keeps or forwards results says so in `_mustFinish`. There, a final posting is given to the consumer
/// by `finish`, and its slot is not written before. Postings are finished and proven in any order, so a consumer gets
/// results in any order of their numbers, and some numbers never come.
///
/// NOT checked when something is posted: anything about the signers and the signature.
abstract contract OptimisticSettlement is Settlement, Deposits {
    /// @dev The words of the slots, as `IOptimisticSettlement` explains them. After its first posting a word is never zero
    /// again, since a word that changes costs less than a new one.
    bytes32[1 << 16] private _postings;

    // The values of `Status` that a word holds.
    uint256 private constant POSTED = uint256(Status.Posted);
    uint256 private constant DEMANDED = uint256(Status.Demanded);
    uint256 private constant FINAL = uint256(Status.Final);
    uint256 private constant SETTLED = uint256(Status.Settled);
    uint256 private constant DROPPED = uint256(Status.Dropped);

    /// @dev Whether a final posting has to be finished before its slot is written again: true if `_settled` does
    /// something.
    function _mustFinish() internal pure virtual returns (bool);

    /// @inheritdoc IOptimisticSettlement
    function post(
        Head head,
        bytes32 newest,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata evidence,
        Place calldata place
    ) external {
        _need(results.length != 0, uint32(AnotherCount.selector), 0);
        _need(block.timestamp <= deadline, uint32(DeadlinePassed.selector), deadline);
        _checkState(_hash(head, newest));
        _checkDeposit();
        uint256 slot = place.slot;
        _checkFree(slot, place.content, place.when);
        _write(slot, _logPosted(head, newest, deadline, results, evidence, slot), POSTED);
        state = _hash(head.advance(results.length), newest);
    }

    /// @inheritdoc IOptimisticSettlement
    function demand(Posting calldata posting_) external payable {
        (Posting memory posting, uint256 status, bytes32 id) = _look(posting_);
        _needStatus(status == POSTED, posting);
        Moment when = Moments.current();
        _write(posting.slot, _demandHash(id, msg.sender, when), DEMANDED);
        _openDemand(posting.poster);
        _log(Demanded.selector, id, uint160(msg.sender), Moment.unwrap(when));
    }

    /// @inheritdoc IOptimisticSettlement
    function prove(
        Posting calldata posting_,
        Demand calldata demand_,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata quorum,
        Head head,
        bytes32 newest
    ) external {
        Posting memory posting = _load(posting_);
        Parts memory parts = _openThen(posting.head, quorum, head, newest);
        _prove(posting, _load(demand_), deadline, results, parts);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function drop(Posting calldata posting_, Demand calldata demand_) external {
        (Posting memory posting, address challenger, Moment when) = (_load(posting_), demand_.challenger, demand_.when);
        (uint256 status, bytes32 id) = _find(posting, challenger, when);
        _needStatus(status == DEMANDED, posting);
        _need(_answerOver(when), uint32(AnswerRuns.selector), posting.slot);
        _write(posting.slot, id, DROPPED);
        address poster = posting.poster;
        _closeDemand(poster, challenger);
        _log(Dropped.selector, id, uint160(challenger), _fine(poster, challenger));
    }

    /// @inheritdoc IOptimisticSettlement
    function finish(Posting calldata posting_, bytes32[] calldata results) external {
        (Posting memory posting, uint256 status, bytes32 id) = _look(posting_);
        _needStatus(status == FINAL, posting);
        _need(_areOf(posting, results), uint32(NotTheseResults.selector), posting.slot);
        _write(posting.slot, id, SETTLED);
        emit Finished(id);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function statusOf(Posting calldata posting, Demand calldata demand_) external view returns (Status) {
        (uint256 status,) = _find(_load(posting), demand_.challenger, demand_.when);
        _return(status);
    }

    /// @inheritdoc IOptimisticSettlement
    function isSettledAs(Posting calldata posting_, bytes32[] calldata results) external view returns (bool) {
        (Posting memory posting, uint256 status,) = _look(posting_);
        return (status == FINAL || status == SETTLED) && _areOf(posting, results);
    }

    /// @dev Reverts unless a slot may be written. Where results are not kept, consumers read the slot, so it holds what
    /// counts for three windows: a proof may come two windows after the posting, and then one is left to read in.
    function _checkFree(uint256 slot, bytes32 content, Moment when) private view {
        bytes32 word = _wordAt(slot);
        uint256 status = _statusIn(word);
        bool kept = _mustFinish();
        if (status == 0 || (status == SETTLED && kept)) return;
        bool free = status == DROPPED || (status != DEMANDED && !kept);
        free =
            free && word == _word(_id(content, when), status) && _windowsOver(when, kept || status == DROPPED ? 1 : 3);
        _need(free, uint32(SlotTaken.selector), slot);
    }

    /// @dev What `prove` does between opening the quorum and giving the results to the consumer.
    function _prove(
        Posting memory posting,
        Demand memory demand_,
        uint64 deadline,
        bytes32[] calldata results,
        Parts memory parts
    ) private {
        (uint256 status, bytes32 id) = _find(posting, demand_.challenger, demand_.when);
        _needStatus(
            status == POSTED || status == DEMANDED || (status == DROPPED && !_windowOver(posting.when)), posting
        );
        Posting memory by = _by(posting, deadline, results, parts);
        // The poster answers for other results, and for a demand that waited too long.
        bool fined = by.results != posting.results || (status == DEMANDED && _answerOver(demand_.when));
        if (
            !fined && status != DROPPED && by.evidence == posting.evidence && deadline == posting.deadline
                && _storeSlot(parts) == NONE
        ) {
            // The prover gets the bond, and otherwise the challenger does.
            demand_.challenger = msg.sender;
            _log(Proven.selector, id, uint160(msg.sender), 0);
        } else {
            // When the posting was dropped, the poster paid.
            fined = fined && status != DROPPED;
            _logDisplaced(id, by, results, fined ? _fine(posting.poster, msg.sender) : 0);
            id = _id(_contentIn(by), by.when);
        }
        _write(by.slot, id, SETTLED);
        if (status == DEMANDED) _closeDemand(posting.poster, demand_.challenger);
    }

    /// @dev Checks the proof of results for the numbers of a posting.
    /// @return by What is proven, as a posting of the caller's that is made now.
    function _by(Posting memory posting, uint64 deadline, bytes32[] calldata results, Parts memory parts)
        private
        view
        returns (Posting memory by)
    {
        // Unchecked: without results the difference is larger than any number.
        unchecked {
            _need(results.length - 1 < posting.count, uint32(AnotherCount.selector), results.length);
        }
        _need(deadline >= posting.when.time(), uint32(DeadlineBeforePosting.selector), deadline);
        Head then = posting.head;
        bytes32 evidence = _completeThen(then, parts);
        bytes32 order = _order(then.epoch(), then.nonce(), deadline, _storeSlot(parts), results);
        _checkOrder(order, _keyOf(parts.result), _proofOf(parts));
        (by.head, by.deadline, by.results, by.count) = (then, deadline, _hashOfAll(results), results.length);
        (by.evidence, by.poster, by.when, by.slot) = (evidence, msg.sender, Moments.current(), posting.slot);
    }

    /// @dev Opens the quorum that proves results of a posting. Its base must be in the ring of the posting's table; or in
    /// slot 0, as the present state says, if that table is still the present one.
    /// @param then The posting's head.
    /// @param quorum The quorum.
    /// @param head The present head.
    /// @param newest The present newest base.
    function _openThen(Head then, bytes calldata quorum, Head head, bytes32 newest)
        private
        view
        returns (Parts memory parts)
    {
        bytes32 base;
        (parts, base) = _open(quorum);
        parts.table = then.table();
        if (_baseSlot(parts) != NEWEST) {
            _checkBase(parts, base);
        } else {
            _checkState(_hash(head, newest));
            if (base != newest || head.table() != parts.table) _notThisBase(NEWEST);
        }
    }

    /// @dev Checks the quorum's weight, and computes its key.
    /// @return evidence The hash of its signers and of its signature.
    function _completeThen(Head then, Parts memory parts) private view returns (bytes32 evidence) {
        _require(then, parts);
        _complete(parts);
        bytes calldata proof = _proofOf(parts);
        bytes calldata signers = _signersOf(parts);
        uint256 length = _signatureBytes();
        _need(proof.length >= length, uint32(NoSignature.selector), proof.length);
        // Assembly, because it saves two copies.
        assembly ("memory-safe") {
            let to := mload(0x40)
            calldatacopy(to, signers.offset, signers.length)
            calldatacopy(add(to, signers.length), proof.offset, length)
            evidence := keccak256(to, add(signers.length, length))
        }
    }

    /// @dev Loads a posting for which nobody demanded a proof, and finds its status and its id.
    function _look(Posting calldata from) private view returns (Posting memory posting, uint256 status, bytes32 id) {
        posting = _load(from);
        (status, id) = _find(posting, address(0), Moment.wrap(0));
    }

    /// @dev The status of a posting, which may be `Unknown`, and its id.
    function _find(Posting memory posting, address challenger, Moment demandedAt)
        private
        view
        returns (uint256 status, bytes32 id)
    {
        bytes32 word = _wordAt(posting.slot);
        status = _statusIn(word);
        id = _id(_contentIn(posting), posting.when);
        bytes32 hash = status == DEMANDED ? _demandHash(id, challenger, demandedAt) : id;
        if (word != _word(hash, status)) status = 0;
        if (status == POSTED && _windowOver(posting.when)) status = FINAL;
    }

    /// @dev Reverts unless the status of a posting is right for a call.
    function _needStatus(bool right, Posting memory posting) private pure {
        _need(right, uint32(NotThisPosting.selector), posting.slot);
    }

    /// @dev The word in a slot.
    function _wordAt(uint256 slot) private view returns (bytes32 word) {
        _need(slot < _slots(), uint32(NoSuchSlot.selector), slot);
        assembly ("memory-safe") {
            word := sload(add(_postings.slot, slot))
        }
    }

    /// @dev Whether these are the results of a posting.
    function _areOf(Posting memory posting, bytes32[] calldata results) private pure returns (bool) {
        return _hashOfAll(results) == posting.results;
    }

    /// @dev Writes the word of a slot. Assembly, because the contract has little room for code.
    /// @param slot The slot, which `_wordAt` has read.
    function _write(uint256 slot, bytes32 hash, uint256 status) private {
        bytes32 word = _word(hash, status);
        assembly ("memory-safe") {
            sstore(add(_postings.slot, slot), word)
        }
    }

    /// @dev keccak256 of results, 32 bytes each.
    function _hashOfAll(bytes32[] calldata results) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            let to := mload(0x40)
            let length := shl(5, results.length)
            calldatacopy(to, results.offset, length)
            hash := keccak256(to, length)
        }
    }

    /// @dev Emits `Posted`, and makes the id of what the caller posts now. Assembly, because every posting runs this: the
    /// results and the evidence are copied once, and hashed where they lie.
    /// @return id The id.
    function _logPosted(
        Head head,
        bytes32 newest,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata evidence,
        uint256 slot
    ) private returns (bytes32 id) {
        (Head next, Moment when, bytes32 topic) = (head.advance(results.length), Moments.current(), Posted.selector);
        assembly ("memory-safe") {
            let to := mload(0x40)
            let first := add(to, 0xb2)
            let second := add(first, shl(5, results.length))
            let end := add(second, evidence.length)
            // Each word is written over the zeros behind the number before it.
            mstore(to, 0x20)
            mstore(add(to, 0x20), sub(sub(end, to), 0x40))
            mstore(add(to, 0x40), next)
            mstore(add(to, 0x60), newest)
            mstore(add(to, 0x80), shl(128, when))
            mstore(add(to, 0x90), shl(192, deadline))
            mstore(add(to, 0x98), shl(96, caller()))
            mstore(add(to, 0xac), shl(240, slot))
            mstore(add(to, 0xae), shl(224, results.length))
            calldatacopy(first, results.offset, sub(second, first))
            calldatacopy(second, evidence.offset, evidence.length)
            // Zeros behind the evidence, which fills the last word in part.
            mstore(end, 0)
            log1(to, and(add(sub(end, to), 0x1f), not(0x1f)), topic)
            mstore(end, head)
            mstore(add(end, 0x20), deadline)
            mstore(add(end, 0x40), keccak256(first, sub(second, first)))
            mstore(add(end, 0x60), results.length)
            mstore(add(end, 0x80), keccak256(second, evidence.length))
            mstore(add(end, 0xa0), caller())
            mstore(0x00, keccak256(end, 0xc0))
            mstore(0x20, when)
            id := keccak256(0x00, 0x40)
        }
    }

    /// @dev Emits `Displaced`. Assembly, because the contract has little room for code.
    function _logDisplaced(bytes32 id, Posting memory by, bytes32[] calldata results, uint256 paid) private {
        bytes32 topic = Displaced.selector;
        assembly ("memory-safe") {
            let to := mload(0x40)
            let size := shl(5, results.length)
            mcopy(to, by, 0x100)
            mstore(add(to, 0x100), 0x140)
            mstore(add(to, 0x120), paid)
            mstore(add(to, 0x140), results.length)
            calldatacopy(add(to, 0x160), results.offset, size)
            log2(to, add(0x160, size), topic, id)
        }
    }

    /// @dev Copies a posting to memory. Assembly, because the contract has little room for code. NOT checked: that unused
    /// bits are zero. The words are hashed as they are, so a posting with other bits is another one.
    function _load(Posting calldata from) private pure returns (Posting memory posting) {
        assembly ("memory-safe") {
            calldatacopy(posting, from, 0x100)
        }
    }

    /// @dev Copies a demand to memory, as `_load` does a posting.
    function _load(Demand calldata from) private pure returns (Demand memory demand_) {
        assembly ("memory-safe") {
            calldatacopy(demand_, from, 0x40)
        }
    }

    /// @dev The content of a posting: the first six words of the struct.
    function _contentIn(Posting memory posting) private pure returns (bytes32 content) {
        assembly ("memory-safe") {
            content := keccak256(posting, 0xc0)
        }
    }

    /// @dev keccak256(content ‖ when).
    function _id(bytes32 content, Moment when) private pure returns (bytes32 id) {
        assembly ("memory-safe") {
            mstore(0x00, content)
            mstore(0x20, when)
            id := keccak256(0x00, 0x40)
        }
    }

    /// @dev keccak256(id ‖ challenger ‖ when). It hashes three words and an id hashes two, so neither passes for the other.
    function _demandHash(bytes32 id, address challenger, Moment when) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            let to := mload(0x40)
            mstore(to, id)
            mstore(add(to, 0x20), challenger)
            mstore(add(to, 0x40), when)
            hash := keccak256(to, 0x60)
        }
    }

    /// @dev The word of a slot: a hash whose lowest byte is a status. 248 bits of the hash are left, so two postings with
    /// one word cost about 2^124 tries.
    function _word(bytes32 hash, uint256 status) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            mstore(0x00, hash)
            mstore8(0x1f, status)
            word := mload(0x00)
        }
    }

    /// @dev The status in a word; 0 in an empty one.
    function _statusIn(bytes32 word) private pure returns (uint256) {
        return uint8(uint256(word));
    }
}
