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
/// **Nobody can hold a number.** Who has a true quorum for numbers that somebody else's posting took displaces it
/// (`displace`).
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
        require(results.length != 0, NothingToSettle());
        require(block.timestamp <= deadline, DeadlinePassed(deadline));
        _checkState(_hash(head, newest));
        _checkDeposit();
        Moment when = Moments.current();
        bytes32 id = _id(_contentOf(head, deadline, results, evidence), when);
        _checkFree(place);
        _postings[place.slot] = _word(id, Status.Posted);
        head = head.advance(results.length);
        state = _hash(head, newest);
        emit Posted(head, newest, deadline, results, evidence, msg.sender, place.slot, when);
    }

    /// @inheritdoc IOptimisticSettlement
    function demand(Posting calldata posting) external payable {
        bytes32 id = _idOf(posting);
        require(_stands(posting, id, address(0), Moment.wrap(0)) == Status.Posted, NotThisPosting(posting.slot));
        Moment when = Moments.current();
        _postings[posting.slot] = _word(_demandHash(id, msg.sender, when), Status.Demanded);
        _openDemand(posting.poster);
        emit Demanded(id, msg.sender, when);
    }

    /// @inheritdoc IOptimisticSettlement
    function prove(
        Posting calldata posting,
        Demand calldata demand_,
        bytes32[] calldata results,
        bytes calldata quorum,
        Head head,
        bytes32 newest
    ) external {
        bytes32 id = _idOf(posting);
        Status status = _stands(posting, id, demand_.challenger, demand_.when);
        if (status == Status.Demanded) {
            require(!_answerOver(demand_.when), AnswerOver());
            _closeDemand(posting.poster, msg.sender);
        } else {
            require(status == Status.Posted, NotThisPosting(posting.slot));
        }
        _checkResults(posting, results);
        _postings[posting.slot] = _word(id, Status.Settled);
        Parts memory parts = _openOf(posting.head, quorum, head, newest);
        bytes32 order = _order(posting.head.epoch(), posting.head.nonce(), posting.deadline, NONE, results);
        bytes32 evidence = _completeOf(posting.head, parts);
        require(evidence == posting.evidence, NotThisEvidence());
        _checkOrder(order, _keyOf(parts.result), _proofOf(parts));
        emit Proven(id, msg.sender);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function drop(Posting calldata posting, Demand calldata demand_) external {
        bytes32 id = _idOf(posting);
        Status status = _stands(posting, id, demand_.challenger, demand_.when);
        require(status == Status.Demanded, NotThisPosting(posting.slot));
        require(_answerOver(demand_.when), AnswerRuns());
        _postings[posting.slot] = _word(id, Status.Dropped);
        _closeDemand(posting.poster, demand_.challenger);
        emit Dropped(id, demand_.challenger, _fine(posting.poster, demand_.challenger));
    }

    /// @inheritdoc IOptimisticSettlement
    function displace(
        Posting calldata posting,
        Demand calldata demand_,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata quorum,
        Head head,
        bytes32 newest
    ) external {
        bytes32 id = _idOf(posting);
        uint256 paid = _takeNumbers(posting, id, demand_, results);
        Parts memory parts = _openOf(posting.head, quorum, head, newest);
        Posting memory by = _replace(posting, deadline, results, parts);
        emit Displaced(id, by, results, paid);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function finish(Posting calldata posting, bytes32[] calldata results) external {
        bytes32 id = _idOf(posting);
        Status status = _look(posting, id, address(0), Moment.wrap(0));
        require(status != Status.Posted, NotFinal());
        require(status == Status.Final, NotThisPosting(posting.slot));
        _checkResults(posting, results);
        _postings[posting.slot] = _word(id, Status.Settled);
        emit Finished(id);
        _settled(posting.head.nonce(), results);
    }

    /// @inheritdoc IOptimisticSettlement
    function statusOf(Posting calldata posting, Demand calldata demand_) external view returns (Status) {
        return _look(posting, _idOf(posting), demand_.challenger, demand_.when);
    }

    /// @inheritdoc IOptimisticSettlement
    function isSettledAs(Posting calldata posting, bytes32[] calldata results) external view returns (bool) {
        Status status = _look(posting, _idOf(posting), address(0), Moment.wrap(0));
        return (status == Status.Final || status == Status.Settled) && _hashOfAll(results) == posting.results;
    }

    /// @inheritdoc IOptimisticSettlement
    function postingAt(uint256 slot) external view returns (bytes32) {
        return _postings[slot];
    }

    /// @dev The status that a call finds, which must not be final.
    function _stands(Posting calldata posting, bytes32 id, address challenger, Moment demandedAt)
        private
        view
        returns (Status status)
    {
        status = _look(posting, id, challenger, demandedAt);
        require(status != Status.Final, WindowOver());
    }

    /// @dev The status of a posting.
    function _look(Posting calldata posting, bytes32 id, address challenger, Moment demandedAt)
        private
        view
        returns (Status status)
    {
        require(posting.slot < _slots, NoSuchSlot(posting.slot));
        bytes32 word = _postings[posting.slot];
        // The lowest byte is a status that this contract wrote.
        status = Status(uint8(uint256(word)));
        bytes32 hash = status == Status.Demanded ? _demandHash(id, challenger, demandedAt) : id;
        if (word != _word(hash, status)) return Status.Unknown;
        if (status == Status.Posted && _windowOver(posting.when)) return Status.Final;
    }

    /// @dev Reverts unless a slot may be written.
    function _checkFree(Place calldata place) private view {
        uint256 slot = place.slot;
        require(slot < _slots, NoSuchSlot(slot));
        bytes32 word = _postings[slot];
        Status status = Status(uint8(uint256(word)));
        if (status == Status.Unknown || status == Status.Settled) return;
        bool free = status == Status.Dropped || (status == Status.Posted && !_mustFinish());
        free = free && word == _word(_id(place.content, place.when), status) && _windowOver(place.when);
        require(free, SlotTaken(slot));
    }

    /// @dev Decides whether results may displace a posting, and settles the accounts.
    /// @return paid What the poster lost.
    function _takeNumbers(Posting calldata posting, bytes32 id, Demand calldata demand_, bytes32[] calldata results)
        private
        returns (uint256 paid)
    {
        Status status = _stands(posting, id, demand_.challenger, demand_.when);
        require(results.length != 0, NothingToSettle());
        require(results.length <= posting.count, TooManyResults(results.length, posting.count));
        bool fined = _hashOfAll(results) != posting.results;
        if (status == Status.Demanded) {
            fined = fined || _answerOver(demand_.when);
            _closeDemand(posting.poster, demand_.challenger);
        } else if (status == Status.Dropped) {
            // The poster paid when the posting was dropped.
            fined = false;
            require(!_windowOver(posting.when), WindowOver());
        } else {
            require(status == Status.Posted, NotThisPosting(posting.slot));
        }
        if (fined) paid = _fine(posting.poster, msg.sender);
    }

    /// @dev Puts a posting that is proven into the slot of another one, and checks its proof.
    /// @return by The posting that is there now.
    function _replace(Posting calldata posting, uint64 deadline, bytes32[] calldata results, Parts memory parts)
        private
        returns (Posting memory by)
    {
        require(deadline >= posting.when.time(), DeadlineBeforePosting(deadline));
        Head then = posting.head;
        by = Posting(
            then,
            deadline,
            _hashOfAll(results),
            results.length,
            _completeOf(then, parts),
            msg.sender,
            Moments.current(),
            posting.slot
        );
        bytes32 order = _order(then.epoch(), then.nonce(), deadline, _storeSlot(parts), results);
        _checkOrder(order, _keyOf(parts.result), _proofOf(parts));
        bytes32 content = keccak256(abi.encode(then, deadline, by.results, by.count, by.evidence, msg.sender));
        _postings[by.slot] = _word(_id(content, by.when), Status.Settled);
    }

    /// @dev Opens the quorum that proves results of a posting. The base must be in the ring of the posting's table; or in slot 0,
    /// as the present state says, if that table is still the present one.
    /// @param then The posting's head.
    /// @param quorum The quorum.
    /// @param head The present head.
    /// @param newest The present newest base.
    function _openOf(Head then, bytes calldata quorum, Head head, bytes32 newest)
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
    function _completeOf(Head then, Parts memory parts) private view returns (bytes32 evidence) {
        _require(then, parts);
        _complete(parts);
        bytes calldata proof = _proofOf(parts);
        bytes calldata signers = _signersOf(parts);
        uint256 length = _signatureBytes();
        require(proof.length >= length, NotThisEvidence());
        // Assembly, because it saves two copies.
        assembly ("memory-safe") {
            let to := mload(0x40)
            calldatacopy(to, signers.offset, signers.length)
            calldatacopy(add(to, signers.length), proof.offset, length)
            evidence := keccak256(to, add(signers.length, length))
        }
    }

    /// @dev Reverts unless these are the posting's results.
    function _checkResults(Posting calldata posting, bytes32[] calldata results) private pure {
        require(_hashOfAll(results) == posting.results, NotTheseResults());
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

    /// @dev The id of a posting, whose content is the first six words of the struct.
    function _idOf(Posting calldata posting) private pure returns (bytes32) {
        bytes32 content;
        assembly ("memory-safe") {
            let to := mload(0x40)
            calldatacopy(to, posting, 0xc0)
            content := keccak256(to, 0xc0)
        }
        return _id(content, posting.when);
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
    function _demandHash(bytes32 id, address challenger, Moment when) private pure returns (bytes32) {
        return keccak256(abi.encode(id, challenger, when));
    }

    /// @dev The word of a slot: a hash whose lowest byte is a status. 248 bits of the hash are left, so two postings with
    /// one word cost about 2^124 tries.
    function _word(bytes32 hash, Status status) private pure returns (bytes32) {
        return hash & ~bytes32(uint256(0xff)) | bytes32(uint256(uint8(status)));
    }
}
