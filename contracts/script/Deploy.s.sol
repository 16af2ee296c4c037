// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Verifier} from "../src/Verifier.sol";
import {VerifierBls12381G2, VerifierBls12381G2Nu, VerifierBn254G1, VerifierBn254G2} from "../src/Verifiers.sol";
import {TestToken} from "./TestToken.sol";
import {vm} from "./Vm.sol";

/// @title Deploys a verifier and its network, and a test token if none is named
/// @notice All settings come from environment variables, in the units of `ITaskNetwork.Parameters`. README.md lists
/// them. forge prints the addresses that `run` returns.
contract Deploy {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice `CURVE` names no curve of the verifiers.
    /// @param curve What it names.
    error UnknownCurve(string curve);
    /// @notice A variable's value is larger than its parameter can hold.
    /// @param name The variable.
    /// @param value Its value.
    error TooLarge(string name, uint256 value);
    /// @notice The network has another address than the verifier was made for. Something else was sent from the same
    /// account.
    /// @param network The network's address.
    /// @param expected The address that the verifier was made for.
    error AnotherAddress(address network, address expected);

    /// @notice Deploys everything, in two transactions or three.
    /// @return token The token, new or named by `TOKEN`.
    /// @return verifier The verifier of the curve that `CURVE` names.
    /// @return network The network.
    function run() external returns (IERC20 token, Verifier verifier, TaskNetwork network) {
        vm.startBroadcast();
        // The deployer is the account whose key the command line gives.
        (, address deployer,) = vm.readCallers();
        token = IERC20(vm.envOr("TOKEN", address(0)));
        if (address(token) == address(0)) token = new TestToken(vm.envOr("TOKEN_SUPPLY", uint256(1_000_000_000e18)));
        // The verifier is the next contract that this account makes, and the network the one after it.
        address expected = vm.computeCreateAddress(deployer, vm.getNonce(deployer) + 1);
        verifier = _verifier(expected);
        network = new TaskNetwork(_parameters(token, verifier, deployer));
        vm.stopBroadcast();
        if (address(network) != expected) revert AnotherAddress(address(network), expected);
    }

    /// @dev Deploys the verifier that `CURVE` names.
    function _verifier(address network) private returns (Verifier) {
        string memory curve = vm.envOr("CURVE", string("bn254-g2"));
        uint256 pinned = vm.envOr("PINNED_SLOTS", uint256(4));
        bytes32 name = keccak256(bytes(curve));
        if (name == keccak256("bn254-g2")) return new VerifierBn254G2(network, pinned);
        if (name == keccak256("bn254-g1")) return new VerifierBn254G1(network, pinned);
        if (name == keccak256("bls12381-g2")) return new VerifierBls12381G2(network, pinned);
        if (name == keccak256("bls12381-g2-nu")) return new VerifierBls12381G2Nu(network, pinned);
        revert UnknownCurve(curve);
    }

    /// @dev The network's parameters, from the environment.
    function _parameters(IERC20 token, Verifier verifier, address deployer)
        private
        view
        returns (ITaskNetwork.Parameters memory p)
    {
        p.token = token;
        p.verifier = verifier;
        p.admin = vm.envOr("ADMIN", deployer);
        p.genesis = uint64(_env("GENESIS", block.timestamp, type(uint64).max));
        p.epochLength = uint64(_env("EPOCH_LENGTH", 1 days, type(uint64).max));
        p.slashingWindow = uint64(_env("SLASHING_WINDOW", 7 days, type(uint64).max));
        uint256 leastDelay = uint256(p.slashingWindow) + 2 * uint256(p.epochLength);
        p.withdrawalDelay = uint64(_env("WITHDRAWAL_DELAY", leastDelay, type(uint64).max));
        p.unit = uint128(_env("UNIT", 1e18, type(uint128).max));
        p.minimumStake = uint128(_env("MINIMUM_STAKE", 100 * uint256(p.unit), type(uint128).max));
        p.maximumOperators = uint32(_env("MAXIMUM_OPERATORS", 1_000, type(uint32).max));
        p.quorumNumerator = uint32(_env("QUORUM_NUMERATOR", 2, type(uint32).max));
        p.quorumDenominator = uint32(_env("QUORUM_DENOMINATOR", 3, type(uint32).max));
        p.performerReward = uint128(_env("PERFORMER_REWARD", p.unit, type(uint128).max));
        p.attesterReward = uint128(_env("ATTESTER_REWARD", p.unit, type(uint128).max));
        p.penaltyShare = uint16(_env("PENALTY_SHARE", 100, type(uint16).max));
        p.slashShare = uint16(_env("SLASH_SHARE", 5_000, type(uint16).max));
        p.bountyShare = uint16(_env("BOUNTY_SHARE", 500, type(uint16).max));
    }

    /// @dev The number in an environment variable, or `otherwise` if it is not set. Reverts if it is larger than
    /// `most`.
    function _env(string memory name, uint256 otherwise, uint256 most) private view returns (uint256 value) {
        value = vm.envOr(name, otherwise);
        if (value > most) revert TooLarge(name, value);
    }
}
