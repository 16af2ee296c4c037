// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {RestakedTaskNetwork} from "../RestakedTaskNetwork.sol";
import {IBaseSlasher, INetworkMiddlewareService, ISlasher, IVault, IVetoSlasher} from "./ISymbiotic.sol";
import {Reads} from "./Reads.sol";
import {StakeSource} from "./StakeSource.sol";
import {SymbioticStake} from "./SymbioticStake.sol";

/// @title The stake of a task network's operators in Symbiotic's vaults
/// @notice `SymbioticStake` says what an operator's stake is. It counts for an epoch as it was in the last second before
/// it. The Symbiotic network makes this contract its middleware, which slashes.
///
/// **What is slashed.** Each vault pays a share of the most that it can still be made to answer for: of the stake in one
/// of the seconds that counted for the epochs whose conflicts can be reported. Symbiotic slashes for no second before the
/// last one that it slashed for. So a share of any other second's stake could be avoided: an operator would have itself
/// slashed for a second in which it had little.
///
/// **A vault with a veto slasher** gets a request. Once the time for a veto is over, anyone calls `execute`. Execute the
/// requests for an operator in their order: a request for an earlier second is lost once a later one was executed.
/// Requests that wait do not lower each other.
///
/// Symbiotic sends what is slashed to the vault's burner.
///
/// **Choose vaults** whose burner no operator controls, and whose collateral calls nobody in a transfer, as tokens of ERC-777
/// do. A vault refuses to be slashed while it pays somebody out. Whoever is called then could report an operator's conflict:
/// this vault would refuse, another one would take a little, and the conflict would have been paid for. NOT checked: either.
contract SymbioticSource is StakeSource, SymbioticStake {
    /// @dev The denominator of shares.
    uint256 private constant WHOLE = 10_000;
    /// @notice Seconds in which a request can be executed at least, once the time for a veto is over.
    uint48 public constant EXECUTION_TIME = 1 days;

    /// @notice The service where networks name who slashes for them.
    INetworkMiddlewareService public immutable middlewareService;

    /// @notice A vault with a veto slasher was asked to slash.
    /// @param vault The vault.
    /// @param operator The operator.
    /// @param index The number of the request in the vault's slasher, which `execute` takes.
    /// @param amount What was asked for, in units of the vault's collateral.
    event SlashRequested(address indexed vault, address indexed operator, uint256 index, uint256 amount);

    /// @param taskNetwork The task network, which must name this contract's address as its source.
    /// @param readGas The gas that one read of the protocol may take.
    /// @param symbiotic Where Symbiotic's contracts are.
    /// @param middlewares The service where networks name who slashes for them. All slashers must name it.
    /// @param network_ Symbiotic's network, which must be registered.
    /// @param identifier The identifier of the subnetwork.
    /// @param vaults_ The vaults (`SymbioticStake`), with epochs of at least the network's `withdrawalDelay`, and with a veto
    /// slasher of at least the time for a veto and `EXECUTION_TIME` more. Their number is bounded by the gas of a report in
    /// which every read and slashing takes all that it may.
    constructor(
        RestakedTaskNetwork taskNetwork,
        uint32 readGas,
        Symbiotic memory symbiotic,
        INetworkMiddlewareService middlewares,
        address network_,
        uint96 identifier,
        Vault[] memory vaults_
    )
        StakeSource(taskNetwork, readGas)
        SymbioticStake(symbiotic, network_, identifier, vaults_, taskNetwork.withdrawalDelay())
    {
        middlewareService = middlewares;
        // For each vault: where its slasher is, of which kind, and the stake in each second.
        uint256 gas = SLASH_GAS + (_mostReportable() + 2) * readGas;
        require(vaults_.length * gas <= MOST_GAS, BadParameter("vaults"));
        for (uint256 i = 0; i < vaults_.length; i++) {
            _checkSlasher(vaults_[i].vault);
        }
    }

    /// @notice Executes a request to slash whose time for a veto is over. Anyone may call it. Reverts if the slasher does.
    /// @param place The place of the vault in `vaults`.
    /// @param index The number of the request, from `SlashRequested`.
    /// @return What was slashed, in units of the vault's collateral.
    function execute(uint256 place, uint256 index) external returns (uint256) {
        return IVetoSlasher(_vaults[place].vault.slasher()).executeSlash(index, "");
    }

    /// @inheritdoc StakeSource
    function _maySlash() internal view override returns (bool) {
        bytes memory call = abi.encodeCall(INetworkMiddlewareService.middleware, (network));
        (, uint256 middleware) = Reads.word(address(middlewareService), call, readGas);
        return middleware == uint160(address(this));
    }

    /// @inheritdoc StakeSource
    function _slash(address operator, uint256 share) internal override returns (uint256 taken) {
        uint256 count = _vaults.length;
        for (uint256 i = 0; i < count; i++) {
            Vault memory entry = _vaults[i];
            uint256 amount = _slashIn(entry.vault, operator, share);
            taken = Math.saturatingAdd(taken, _valueOf(amount, entry.multiplier));
        }
    }

    /// @dev Slashes in one vault, or asks for it.
    function _slashIn(IVault vault, address operator, uint256 share) private returns (uint256 amount) {
        (, uint256 word) = Reads.word(address(vault), abi.encodeCall(IVault.slasher, ()), readGas);
        address slasher = address(uint160(word));
        (uint256 most, uint48 captured) = _most(slasher, operator);
        amount = Math.mulDiv(most, share, WHOLE);
        if (amount == 0) return 0;
        bool vetoable = Reads.isTrue(slasher, abi.encodeCall(IBaseSlasher.TYPE, ()), readGas);
        bool done;
        (done, word) = _order(slasher, vetoable, operator, amount, captured);
        if (!done) {
            emit NotSlashed(address(vault), operator);
            return 0;
        }
        if (vetoable) {
            emit SlashRequested(address(vault), operator, word, amount);
            return amount;
        }
        // No more than was asked for, whatever the slasher says.
        amount = Math.min(word, amount);
        emit StakeSlashed(address(vault), operator, amount);
    }

    /// @dev Has a slasher slash, or asks it to.
    /// @return done Whether it did not refuse.
    /// @return word What it answers: what was slashed, or the number of the request.
    function _order(address slasher, bool vetoable, address operator, uint256 amount, uint48 captured)
        private
        returns (bool done, uint256 word)
    {
        bytes memory call = vetoable
            ? abi.encodeCall(IVetoSlasher.requestSlash, (subnetwork, operator, amount, captured, ""))
            : abi.encodeCall(ISlasher.slash, (subnetwork, operator, amount, captured, ""));
        (done, word) = Reads.change(slasher, call, SLASH_GAS, 1);
        assembly ("memory-safe") {
            word := mload(word)
        }
    }

    /// @dev The most that a vault can be slashed for an operator in one of the seconds that count, and the first such second.
    function _most(address slasher, address operator) private view returns (uint256 amount, uint48 captured) {
        (uint256 second, uint256 step) = _reportable();
        for (; second < block.timestamp; second += step) {
            bytes memory call = abi.encodeCall(IBaseSlasher.slashableStake, (subnetwork, operator, uint48(second), ""));
            (, uint256 slashable) = Reads.word(slasher, call, readGas);
            if (slashable > amount) (amount, captured) = (slashable, uint48(second));
        }
    }

    /// @dev Reverts unless this contract can slash in a vault for long enough. The constructor calls it for each vault.
    function _checkSlasher(IVault vault) private view {
        // slither-disable-start calls-loop
        address slasher = vault.slasher();
        address service = IBaseSlasher(slasher).NETWORK_MIDDLEWARE_SERVICE();
        require(service == address(middlewareService), BadParameter("middlewareService"));
        uint64 kind = IBaseSlasher(slasher).TYPE();
        require(kind < 2, BadParameter("slasher"));
        if (kind == 0) return;
        uint256 least = taskNetwork.withdrawalDelay() + IVetoSlasher(slasher).vetoDuration() + EXECUTION_TIME;
        require(vault.epochDuration() >= least, BadParameter("epochDuration"));
        // slither-disable-end calls-loop
    }
}
