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
/// that fails, a price that rose. So what a demand was made for never becomes final without a proof.
///
/// **A posting stays provable.** For the epoch, the table, the digest and the signers of a posting the signature is one
/// point, so whoever proves it may start from any base, and pass keys in any way. Pages never vanish, and the numbers of a
/// table's keys never change. Two things go: a key in calldata is found in its table until it was carried four times, and
/// weights in calldata have their hash until those of the epoch after the next one are prepared. Whoever posts for a
/// quorum that needs them copies them into pages first (`compact`, `publish`).
///
/// **Nobody can hold a number.** Whoever has a true quorum for numbers that somebody else's posting took proves it, and
/// that displaces the posting.
///
/// **What is paid.** The bond of a demand goes to whoever proves; the penalty of a posting that is shown to be false, to
/// half, to whoever showed it. A posting that is proven costs its poster nothing. A poster whose posting is true loses a
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
        _checkSome(results);
        _need(block.timestamp <= deadline, uint32(DeadlinePassed.selector), deadline);
        _checkState(_hash(head, newest));
        _checkDeposit();
        uint256 slot = place.slot;
        _checkFree(slot, place.content, place.when);
        Moment when = Moments.current();
        bytes32 content = _contentOf(head, deadline, results, evidence);
        _postings[slot] = _word(_id(content, when), POSTED);
        head = head.advance(results.length);
        state = _hash(head, newest);
        emit Posted(head, newest, deadline, results, evidence, msg.sender, slot, when);
    }

    /// @inheritdoc IOptimisticSettlement
    function demand(Posting memory posting) external payable {
        (uint256 status, bytes32 id) = _find(posting, address(0), Moment.wrap(0));
        _needStatus(status == POSTED, posting);
        Moment when = Moments.current();
        _postings[posting.slot] = _word(_demandHash(id, msg.sender, when), DEMANDED);
        _openDemand(posting.poster);
        emit Demanded(id, msg.sender, when);
    }

    /// @inheritdoc IOptimisticSettlement
    function prove(
        Posting memory posting,
        Demand memory demand_,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata quorum,
        Head head,
        bytes32 newest
    ) external {
        Parts memory parts = _openThen(posting.head, quorum, head, newest);
        _prove(posting, demand_, deadline, results, parts);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function drop(Posting memory posting, Demand memory demand_) external {
        (uint256 status, bytes32 id) = _find(posting, demand_.challenger, demand_.when);
        _needStatus(status == DEMANDED, posting);
        _need(_answerOver(demand_.when), uint32(AnswerRuns.selector), posting.slot);
        _postings[posting.slot] = _word(id, DROPPED);
        _closeDemand(posting.poster, demand_.challenger);
        emit Dropped(id, demand_.challenger, _fine(posting.poster, demand_.challenger));
    }

    /// @inheritdoc IOptimisticSettlement
    function finish(Posting memory posting, bytes32[] calldata results) external {
        (uint256 status, bytes32 id) = _find(posting, address(0), Moment.wrap(0));
        _need(status != POSTED, uint32(NotFinal.selector), posting.slot);
        _needStatus(status == FINAL, posting);
        _need(_hashOfAll(results) == posting.results, uint32(NotTheseResults.selector), posting.slot);
        _postings[posting.slot] = _word(id, SETTLED);
        emit Finished(id);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function statusOf(Posting memory posting, Demand memory demand_) external view returns (Status) {
        (uint256 status,) = _find(posting, demand_.challenger, demand_.when);
        return Status(status);
    }

    /// @inheritdoc IOptimisticSettlement
    function isSettledAs(Posting memory posting, bytes32[] calldata results) external view returns (bool) {
        (uint256 status,) = _find(posting, address(0), Moment.wrap(0));
        return (status == FINAL || status == SETTLED) && _hashOfAll(results) == posting.results;
    }

    /// @inheritdoc IOptimisticSettlement
    function postingAt(uint256 slot) external view returns (bytes32) {
        return _wordAt(slot);
    }

    /// @dev Reverts unless a slot may be written.
    function _checkFree(uint256 slot, bytes32 content, Moment when) private view {
        bytes32 word = _wordAt(slot);
        uint256 status = _statusIn(word);
        if (status == 0 || status == SETTLED) return;
        bool free = status == DROPPED || (status == POSTED && !_mustFinish());
        free = free && word == _word(_id(content, when), status) && _windowOver(when);
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
        _needStatus(status == POSTED || status == DEMANDED || status == DROPPED, posting);
        bool over = status == DROPPED && _windowOver(posting.when);
        _need(!over, uint32(WindowOver.selector), posting.slot);
        _checkSome(results);
        _need(results.length <= posting.count, uint32(TooManyResults.selector), results.length);
        _need(deadline >= posting.when.time(), uint32(DeadlineBeforePosting.selector), deadline);
        Posting memory by = _by(posting, deadline, results, parts);
        // Whether a demand waited too long, and whether what is proven is exactly the posting.
        bool late = status == DEMANDED && _answerOver(demand_.when);
        bool same = by.results == posting.results;
        bool exact = same && !late && status != DROPPED && by.evidence == posting.evidence
            && deadline == posting.deadline && _storeSlot(parts) == NONE;
        if (status == DEMANDED) _closeDemand(posting.poster, exact ? msg.sender : demand_.challenger);
        if (exact) {
            _postings[posting.slot] = _word(id, SETTLED);
            emit Proven(id, msg.sender);
        } else {
            uint256 paid = status != DROPPED && (late || !same) ? _fine(posting.poster, msg.sender) : 0;
            _postings[posting.slot] = _word(_id(_contentIn(by), by.when), SETTLED);
            emit Displaced(id, by, results, paid);
        }
    }

    /// @dev Checks the proof of results for the numbers of a posting.
    /// @return by What is proven, as a posting of the caller's that is made now.
    function _by(Posting memory posting, uint64 deadline, bytes32[] calldata results, Parts memory parts)
        private
        view
        returns (Posting memory by)
    {
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

    /// @dev Reverts if there are no results.
    function _checkSome(bytes32[] calldata results) private pure {
        require(results.length != 0, NothingToSettle());
    }

    /// @dev The word in a slot.
    function _wordAt(uint256 slot) private view returns (bytes32) {
        _need(slot < _slots, uint32(NoSuchSlot.selector), slot);
        return _postings[slot];
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

    /// @dev The content of what the caller posts. Assembly, because every posting runs this.
    function _contentOf(Head head, uint64 deadline, bytes32[] calldata results, bytes calldata evidence)
        private
        view
        returns (bytes32 content)
    {
        bytes32 hash = _hashOfAll(results);
        assembly ("memory-safe") {
            let to := mload(0x40)
            calldatacopy(to, evidence.offset, evidence.length)
            let signed := keccak256(to, evidence.length)
            mstore(to, head)
            mstore(add(to, 0x20), deadline)
            mstore(add(to, 0x40), hash)
            mstore(add(to, 0x60), results.length)
            mstore(add(to, 0x80), signed)
            mstore(add(to, 0xa0), caller())
            content := keccak256(to, 0xc0)
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
    function _word(bytes32 hash, uint256 status) private pure returns (bytes32) {
        return bytes32(uint256(hash) >> 8 << 8 | status);
    }

    /// @dev The status in a word; 0 in an empty one.
    function _statusIn(bytes32 word) private pure returns (uint256) {
        return uint8(uint256(word));
    }
}
