// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {OperatorSet, SlashingParams} from "../../src/adapters/IEigenLayer.sol";

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
            // An answer of 100 kB that begins with a zero. Its length would cost a careless caller its gas.
            case 3 {
                mstore(0, 0)
                return(0, 100000)
            }
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
    mapping(bytes32 set => address) private _slashers;
    mapping(bytes32 set => address[]) private _strategies;
    mapping(bytes32 set => mapping(address strategy => bool)) private _added;
    mapping(address strategy => bool) private _removed;
    uint256 private _slashings;
    bool private _paused;

    /// @notice Names who may slash a set.
    function setSlasher(OperatorSet memory set, address slasher) external {
        _slashers[_key(set)] = slasher;
    }

    function getSlasher(OperatorSet memory set) external view returns (address) {
        return _slashers[_key(set)];
    }

    /// @notice Takes a strategy out of all sets, so that nobody can slash it.
    function removeStrategy(address strategy) external {
        _removed[strategy] = true;
    }

    /// @notice Stops slashing, as EigenLayer's pauser can.
    function pauseSlashing(bool paused) external {
        _paused = paused;
    }

    function slashOperator(address avs, SlashingParams calldata params)
        external
        returns (uint256 slashId, uint256[] memory shares)
    {
        bytes32 set = _key(OperatorSet(avs, params.operatorSetId));
        Member memory member = _members[set][params.operator];
        require(!_paused, "paused");
        require(member.registered || block.number <= member.slashableUntil, "OperatorNotSlashable");
        require(msg.sender == _slashers[set], "InvalidCaller");
        require(params.strategies.length == params.wadsToSlash.length, "InputArrayLengthMismatch");
        _misbehave(params.operator);
        slashId = ++_slashings;
        shares = new uint256[](params.strategies.length);
        for (uint256 i = 0; i < shares.length; i++) {
            address strategy = params.strategies[i];
            require(i == 0 || strategy > params.strategies[i - 1], "StrategiesMustBeInAscendingOrder");
            require(params.wadsToSlash[i] != 0 && params.wadsToSlash[i] <= 1e18, "InvalidWadToSlash");
            require(!_removed[strategy], "StrategyNotInOperatorSet");
            uint256 held = _shares[set][params.operator][strategy];
            shares[i] = held * params.wadsToSlash[i] / 1e18;
            _shares[set][params.operator][strategy] = held - shares[i];
        }
    }

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

    /// @notice Sets an operator's shares. The first time for a strategy, it adds the strategy to the set.
    function setShares(OperatorSet memory set, address operator, address strategy, uint256 shares) external {
        bytes32 key = _key(set);
        _shares[key][operator][strategy] = shares;
        if (_added[key][strategy]) return;
        _added[key][strategy] = true;
        _strategies[key].push(strategy);
    }

    function getStrategiesInOperatorSet(OperatorSet memory set) external view returns (address[] memory strategies) {
        address[] storage added = _strategies[_key(set)];
        strategies = new address[](added.length);
        uint256 count = 0;
        for (uint256 i = 0; i < added.length; i++) {
            if (!_removed[added[i]]) strategies[count++] = added[i];
        }
        assembly ("memory-safe") {
            mstore(strategies, count)
        }
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
    address public burner = address(0xb0);

    constructor(address delegator_, address slasher_, uint48 epochDuration_) {
        (delegator, slasher, epochDuration) = (delegator_, slasher_, epochDuration_);
    }

    function setBurner(address burner_) external {
        burner = burner_;
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

    uint64 public immutable TYPE;
    MockOptIns private immutable _optIns;
    mapping(bytes32 subnetwork => mapping(address operator => Checkpoint[])) private _checkpoints;

    constructor(MockOptIns optIns, uint64 kind) {
        (_optIns, TYPE) = (optIns, kind);
    }

    function set(bytes32 subnetwork, address operator, uint256 stake) public {
        _checkpoints[subnetwork][operator].push(Checkpoint(block.timestamp, stake));
    }

    /// @notice Takes from the newest stake, as a slashing does.
    function cut(bytes32 subnetwork, address operator, uint256 amount) external {
        Checkpoint[] storage checkpoints = _checkpoints[subnetwork][operator];
        uint256 stake = checkpoints[checkpoints.length - 1].stake;
        set(subnetwork, operator, stake < amount ? 0 : stake - amount);
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

/// @notice Symbiotic's service where networks name who slashes for them.
contract MockMiddlewares {
    mapping(address network => address) public middleware;

    function set(address network, address who) external {
        middleware[network] = who;
    }
}

/// @notice A slasher of Symbiotic: of kind 0, or of kind 1 with a resolver.
contract MockSlasher is Misbehaving {
    struct Request {
        bytes32 subnetwork;
        address operator;
        uint256 amount;
        uint48 captured;
        uint256 vetoDeadline;
        bool completed;
    }

    struct Slashed {
        uint256 time;
        uint256 amount;
    }

    uint64 public immutable TYPE;
    uint48 public immutable vetoDuration;
    address public immutable NETWORK_MIDDLEWARE_SERVICE;
    MockVault private _vault;
    Request[] public requests;
    mapping(address operator => uint48) public latestSlashedCaptureTimestamp;
    mapping(address operator => Slashed[]) private _slashed;

    constructor(address middlewares, uint64 kind, uint48 vetoDuration_) {
        (NETWORK_MIDDLEWARE_SERVICE, TYPE, vetoDuration) = (middlewares, kind, vetoDuration_);
    }

    function setVault(MockVault vault) external {
        _vault = vault;
    }

    function slashableStake(bytes32 subnetwork, address operator, uint48 captured, bytes memory hints)
        public
        returns (uint256)
    {
        require(hints.length == 0, "hints");
        bool late = captured < block.timestamp - _vault.epochDuration() || captured >= block.timestamp;
        if (late || captured < latestSlashedCaptureTimestamp[operator]) return 0;
        uint256 stake = MockDelegator(_vault.delegator()).stakeAt(subnetwork, operator, captured, "");
        uint256 since = 0;
        for (uint256 i = 0; i < _slashed[operator].length; i++) {
            if (_slashed[operator][i].time > captured) since += _slashed[operator][i].amount;
        }
        return stake < since ? 0 : stake - since;
    }

    function slash(bytes32 subnetwork, address operator, uint256 amount, uint48 captured, bytes calldata hints)
        external
        returns (uint256)
    {
        require(TYPE == 0 && hints.length == 0, "not a slasher of kind 0");
        _authorise(subnetwork);
        _misbehave(operator);
        return _slash(subnetwork, operator, amount, captured);
    }

    function requestSlash(bytes32 subnetwork, address operator, uint256 amount, uint48 captured, bytes calldata hints)
        external
        returns (uint256 index)
    {
        require(TYPE == 1 && hints.length == 0, "not a slasher of kind 1");
        _authorise(subnetwork);
        _misbehave(operator);
        require(captured >= block.timestamp + vetoDuration - _vault.epochDuration(), "InvalidCaptureTimestamp");
        uint256 most = slashableStake(subnetwork, operator, captured, "");
        if (amount > most) amount = most;
        require(amount != 0, "InsufficientSlash");
        index = requests.length;
        Request storage request = requests.push();
        (request.subnetwork, request.operator, request.amount) = (subnetwork, operator, amount);
        (request.captured, request.vetoDeadline) = (captured, block.timestamp + vetoDuration);
    }

    function veto(uint256 index) external {
        requests[index].completed = true;
    }

    function executeSlash(uint256 index, bytes calldata) external returns (uint256) {
        Request storage request = requests[index];
        _authorise(request.subnetwork);
        require(request.vetoDeadline <= block.timestamp, "VetoPeriodNotEnded");
        require(block.timestamp - request.captured <= _vault.epochDuration(), "SlashPeriodEnded");
        require(!request.completed, "SlashRequestCompleted");
        request.completed = true;
        return _slash(request.subnetwork, request.operator, request.amount, request.captured);
    }

    function _slash(bytes32 subnetwork, address operator, uint256 amount, uint48 captured) private returns (uint256) {
        uint256 most = slashableStake(subnetwork, operator, captured, "");
        if (amount > most) amount = most;
        require(amount != 0, "InsufficientSlash");
        if (captured > latestSlashedCaptureTimestamp[operator]) latestSlashedCaptureTimestamp[operator] = captured;
        _slashed[operator].push(Slashed(block.timestamp, amount));
        MockDelegator(_vault.delegator()).cut(subnetwork, operator, amount);
        return amount;
    }

    function _authorise(bytes32 subnetwork) private view {
        address network = address(uint160(uint256(subnetwork) >> 96));
        require(MockMiddlewares(NETWORK_MIDDLEWARE_SERVICE).middleware(network) == msg.sender, "NotNetworkMiddleware");
    }
}
