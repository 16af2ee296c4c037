// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Verifier} from "../src/Verifier.sol";
import {VerifierBls12381G2, VerifierBls12381G2Nu, VerifierBn254G1, VerifierBn254G2} from "../src/Verifiers.sol";
import {Environment} from "./Environment.sol";
import {TestToken} from "./TestToken.sol";
import {vm} from "./Vm.sol";

/// @title Deploys a verifier and its network, and a test token if none is named
/// @notice Without `CURVE` the keys are those that `quorate-node` and `quorate-signer` work with. All settings come from environment variables, in the units of `ITaskNetwork.Parameters`. README.md lists
/// them. forge prints the addresses that `run` returns.
contract Deploy {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice `CURVE` names no curve of the verifiers.
    /// @param curve What it names.
    error UnknownCurve(string curve);
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
        network = _network(_parameters(token, verifier, deployer));
        vm.stopBroadcast();
        if (address(network) != expected) revert AnotherAddress(address(network), expected);
    }

    /// @dev Deploys the network as the next contract.
    function _network(ITaskNetwork.Parameters memory parameters) internal virtual returns (TaskNetwork) {
        return new TaskNetwork(parameters);
    }

    /// @dev Deploys the verifier that `CURVE` names.
    function _verifier(address network) private returns (Verifier) {
        string memory curve = vm.envOr("CURVE", string("bls12381-g2"));
        uint256 pinned = vm.envOr("PINNED_SLOTS", uint256(1));
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
        p.genesis = uint64(Environment.number("GENESIS", block.timestamp, 0, type(uint64).max));
        p.epochLength = uint64(Environment.number("EPOCH_LENGTH", 1 days, 0, type(uint64).max));
        p.slashingWindow = uint64(Environment.number("SLASHING_WINDOW", 7 days, 0, type(uint64).max));
        uint256 leastDelay = uint256(p.slashingWindow) + 2 * uint256(p.epochLength);
        p.withdrawalDelay = uint64(Environment.number("WITHDRAWAL_DELAY", leastDelay, 0, type(uint64).max));
        p.unit = uint128(Environment.number("UNIT", 1e18, 0, type(uint128).max));
        p.minimumStake = uint128(Environment.number("MINIMUM_STAKE", 100 * uint256(p.unit), 0, type(uint128).max));
        p.maximumOperators = uint32(Environment.number("MAXIMUM_OPERATORS", 100, 0, type(uint32).max));
        p.quorumNumerator = uint32(Environment.number("QUORUM_NUMERATOR", 2, 0, type(uint32).max));
        p.quorumDenominator = uint32(Environment.number("QUORUM_DENOMINATOR", 3, 0, type(uint32).max));
        p.performerReward = uint128(Environment.number("PERFORMER_REWARD", p.unit, 0, type(uint128).max));
        p.attesterReward = uint128(Environment.number("ATTESTER_REWARD", p.unit, 0, type(uint128).max));
        p.penaltyShare = uint16(Environment.number("PENALTY_SHARE", 100, 0, type(uint16).max));
        p.slashShare = uint16(Environment.number("SLASH_SHARE", 5_000, 0, type(uint16).max));
        p.bountyShare = uint16(Environment.number("BOUNTY_SHARE", 500, 0, type(uint16).max));
    }
}
