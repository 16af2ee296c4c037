// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {OperatorSet} from "../../src/adapters/IEigenLayer.sol";

// Contracts of restaking protocols, as far as the adapters call them. They do not inherit the interfaces, because some
// of their faults are not those of a view function. The tests compare the selectors with literals.

/// @notice What a contract does instead of answering.
enum Fault {
    None,
    Reverts,
    BurnsGas,
    ReturnsTooMuch,
    ReturnsTooLittle,
    ReturnsNonsense,
    Reenters
}

/// @notice Contracts that misbehave for some operators.
abstract contract Misbehaving {
    mapping(address operator => Fault) private _faults;
    address private _victim;
    bytes private _reentry;
    uint256 private _waste;

    error NotAnswering();

    /// @notice Sets what the contract does when it is asked for an operator.
    function misbehave(address operator, Fault fault) external {
        _faults[operator] = fault;
    }

    /// @notice Sets what it calls in order to reenter.
    function aim(address victim, bytes calldata reentry) external {
        (_victim, _reentry) = (victim, reentry);
    }

    function _misbehave(address operator) internal {
        Fault fault = _faults[operator];
        if (fault == Fault.None) return;
        require(fault != Fault.Reverts, NotAnswering());
        if (fault == Fault.Reenters) {
            // A write burns the gas of a static call. So some is kept, to answer honestly afterwards.
            (bool done,) = _victim.call{gas: 100_000}(_reentry);
            require(!done, NotAnswering());
            return;
        }
        assembly {
            switch fault
            // Burns all gas.
            case 2 { invalid() }
            // An answer of 100 kB, whose length would cost a careless caller its gas.
            case 3 { return(0, 100000) }
            case 4 { return(0, 31) }
            case 5 {
                mstore(0, not(0))
                mstore(0x20, not(0))
                mstore(0x40, not(0))
                mstore(0x60, not(0))
                mstore(0x80, not(0))
                mstore(0xa0, not(0))
                return(0, 0xc0)
            }
        }
    }
}

/// @notice EigenLayer's AllocationManager. Slashable shares are set by the test.
contract MockAllocationManager is Misbehaving {
    uint32 public constant DEALLOCATION_DELAY = 100_800;

    struct Member {
        bool registered;
        /// The last block in which a former member can be slashed.
        uint256 slashableUntil;
        /// The block in which a deallocation of everything takes effect; 0 if there is none.
        uint256 deallocatedAt;
    }

    bytes private _answer;
    mapping(bytes32 set => mapping(address operator => Member)) private _members;
    mapping(bytes32 set => mapping(address operator => mapping(address strategy => uint256))) private _shares;

    function join(OperatorSet memory set, address operator) external {
        _members[_key(set)][operator].registered = true;
    }

    function quit(OperatorSet memory set, address operator) external {
        _members[_key(set)][operator].registered = false;
        _members[_key(set)][operator].slashableUntil = block.number + DEALLOCATION_DELAY;
    }

    function deallocate(OperatorSet memory set, address operator) external {
        _members[_key(set)][operator].deallocatedAt = block.number + DEALLOCATION_DELAY;
    }

    function setShares(OperatorSet memory set, address operator, address strategy, uint256 shares) external {
        _shares[_key(set)][operator][strategy] = shares;
    }

    function isMemberOfOperatorSet(address operator, OperatorSet memory set) external view returns (bool) {
        return _members[_key(set)][operator].registered;
    }

    /// @notice Sets the bytes of all answers.
    function answerWith(bytes calldata answer) external {
        _answer = answer;
    }

    /// @dev Not a view function, so that it can misbehave.
    function getMinimumSlashableStake(
        OperatorSet memory set,
        address[] memory operators,
        address[] memory strategies,
        uint32 futureBlock
    ) external returns (uint256[][] memory stakes) {
        require(futureBlock > block.number, "not a future block");
        bytes memory answer = _answer;
        if (answer.length != 0) {
            assembly {
                return(add(answer, 0x20), mload(answer))
            }
        }
        stakes = new uint256[][](operators.length);
        for (uint256 i = 0; i < operators.length; i++) {
            _misbehave(operators[i]);
            stakes[i] = new uint256[](strategies.length);
            Member memory member = _members[_key(set)][operators[i]];
            bool gone = member.deallocatedAt != 0 && member.deallocatedAt <= futureBlock;
            if (gone || (!member.registered && block.number > member.slashableUntil)) continue;
            for (uint256 j = 0; j < strategies.length; j++) {
                stakes[i][j] = _shares[_key(set)][operators[i]][strategies[j]];
            }
        }
    }

    function _key(OperatorSet memory set) private pure returns (bytes32) {
        return keccak256(abi.encode(set));
    }
}

/// @notice Symbiotic's registries, for any kind of entity.
contract MockRegistry {
    mapping(address account => bool) public isEntity;

    function add(address account) external {
        isEntity[account] = true;
    }
}

/// @notice Symbiotic's service for opting in, with what was true when.
contract MockOptIns {
    struct Checkpoint {
        uint256 time;
        bool optedIn;
    }

    mapping(address who => mapping(address where => Checkpoint[])) private _checkpoints;

    function set(address who, address where, bool optedIn) external {
        _checkpoints[who][where].push(Checkpoint(block.timestamp, optedIn));
    }

    function isOptedIn(address who, address where) external view returns (bool) {
        return isOptedInAt(who, where, block.timestamp);
    }

    function isOptedInAt(address who, address where, uint256 time) public view returns (bool optedIn) {
        Checkpoint[] storage checkpoints = _checkpoints[who][where];
        for (uint256 i = 0; i < checkpoints.length && checkpoints[i].time <= time; i++) {
            optedIn = checkpoints[i].optedIn;
        }
    }
}

/// @notice A vault of Symbiotic, of version 1.
contract MockVault {
    address public delegator;
    address public slasher;
    uint48 public epochDuration;

    constructor(address delegator_, address slasher_, uint48 epochDuration_) {
        (delegator, slasher, epochDuration) = (delegator_, slasher_, epochDuration_);
    }

    function migrate(address delegator_) external {
        delegator = delegator_;
    }
}

/// @notice A delegator of Symbiotic, which keeps the history of stakes.
contract MockDelegator is Misbehaving {
    struct Checkpoint {
        uint256 time;
        uint256 stake;
    }

    MockOptIns private immutable _optIns;
    mapping(bytes32 subnetwork => mapping(address operator => Checkpoint[])) private _checkpoints;

    constructor(MockOptIns optIns) {
        _optIns = optIns;
    }

    function set(bytes32 subnetwork, address operator, uint256 stake) external {
        _checkpoints[subnetwork][operator].push(Checkpoint(block.timestamp, stake));
    }

    /// @dev Not a view function, so that it can misbehave.
    function stakeAt(bytes32 subnetwork, address operator, uint48 timestamp, bytes memory hints)
        external
        returns (uint256 stake)
    {
        require(hints.length == 0 && timestamp < block.timestamp, "hints, or a time that is not over");
        _misbehave(operator);
        if (!_optIns.isOptedInAt(operator, address(uint160(uint256(subnetwork) >> 96)), timestamp)) return 0;
        Checkpoint[] storage checkpoints = _checkpoints[subnetwork][operator];
        for (uint256 i = 0; i < checkpoints.length && checkpoints[i].time <= timestamp; i++) {
            stake = checkpoints[i].stake;
        }
    }
}
