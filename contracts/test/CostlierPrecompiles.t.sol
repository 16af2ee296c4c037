// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {Bls12381G2Caller, Bn254G1Caller, Bn254G2Caller, CurveCaller} from "./mocks/CurveCaller.sol";
import {Meter} from "./mocks/Meter.sol";
import {Bls12381G2Signing, Bn254G1Signing, Bn254G2Signing, Signing} from "./Signing.sol";
import {Test} from "./Test.sol";

/// @notice The cheat codes that only this test uses.
interface Recorder {
    struct Chain {
        uint256 forkId;
        uint256 chainId;
    }

    struct Access {
        Chain chain;
        uint8 kind;
        address account;
        address accessor;
        bool initialized;
        uint256 oldBalance;
        uint256 newBalance;
        bytes deployedCode;
        uint256 value;
        bytes data;
    }

    function startStateDiffRecording() external;
    function stopAndReturnStateDiff() external returns (Access[] memory);
    function mockFunction(address callee, address target, bytes calldata data) external;
}

/// @notice What the precompiles answered to the inputs of a recorded call.
contract Answers {
    mapping(address precompile => mapping(bytes32 inputHash => bytes)) private _answers;

    function record(address precompile, bytes calldata input) external {
        (bool ok, bytes memory answer) = precompile.staticcall(input);
        require(ok && answer.length != 0, "the precompile answers");
        _answers[precompile][keccak256(input)] = answer;
    }

    function answerTo(address precompile, bytes calldata input) external view returns (bytes memory answer) {
        answer = _answers[precompile][keccak256(input)];
        require(answer.length != 0, "recorded");
    }
}

/// @notice Stands in for a precompile: burns `price` gas, and gives the answer that the precompile gave.
contract Costlier {
    Answers private immutable _answers;
    uint256 private immutable _price;

    constructor(Answers answers, uint256 price) {
        (_answers, _price) = (answers, price);
    }

    fallback(bytes calldata input) external returns (bytes memory answer) {
        uint256 start = gasleft();
        answer = _answers.answerTo(address(this), input);
        while (start - gasleft() < _price) {}
    }
}

/// @notice Precompiles that cost more than in Osaka do not stop the contracts, as long as a transaction can pay.
/// @dev forge cannot change prices, and puts no code at a precompile's address. So a first run records what the contract
/// asks the precompiles, and the second run is answered by contracts that burn a multiple of the price. Only calls with
/// a recorded input are answered, so the second run fails if it asks anything else.
abstract contract CostlierPrecompilesTest is Test, Signing {
    Recorder private constant RECORDER = Recorder(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    /// @dev Secrets of the keys: to begin with, from storage, added from a page and subtracted from it.
    uint256 private constant A = 1_001;
    uint256 private constant B = 2_002;
    uint256 private constant C = 3_003;
    uint256 private constant D = 4_004;

    CurveCaller private _caller;
    bytes private _call;
    Meter private _meter;

    function newCaller() internal virtual returns (CurveCaller);

    /// @notice The hint for the sum of the keys.
    function hint(bytes[4] memory keys) internal view virtual returns (bytes memory);

    function setUp() public {
        _meter = new Meter();
        _caller = newCaller();
        bytes[4] memory keys = [keyOf(A), keyOf(B), keyOf(C), keyOf(D)];
        address page = _caller.makePage(abi.encodePacked(keys[2], keys[3]));
        bytes32[] memory digests = new bytes32[](2);
        (digests[0], digests[1]) = (keccak256("first"), keccak256("second"));
        bytes memory proof = abi.encodePacked(hint(keys), proofBy(A + B + C - D, digests));
        _call = abi.encodeCall(CurveCaller.prove, (keys[0], keys[1], page, digests, proof));
    }

    /// @dev The price of a call by EIP-1108 and EIP-2537, with two pairs in a pairing.
    function price(uint160 precompile) private pure returns (uint256) {
        if (precompile == 0x02) return 120;
        if (precompile == 0x06) return 150;
        if (precompile == 0x07) return 6_000;
        if (precompile == 0x08) return 113_000;
        if (precompile == 0x0b) return 375;
        if (precompile == 0x0d) return 600;
        if (precompile == 0x0f) return 102_900;
        if (precompile == 0x10) return 5_500;
        revert("no price");
    }

    function test_precompiles_that_cost_more_do_not_stop_the_contract() public {
        RECORDER.startStateDiffRecording();
        (bool ok, bytes memory answer, uint256 usual) = _meter.measure(address(_caller), _call, 1_000_000);
        Recorder.Access[] memory accesses = RECORDER.stopAndReturnStateDiff();
        assertEq(answer, "", "proves at today's prices");
        assertTrue(ok, "proves at today's prices");

        Answers answers = new Answers();
        for (uint256 times = 3; times <= 100; times *= 5) {
            uint256 calls;
            uint256 more;
            for (uint256 i = 0; i < accesses.length; ++i) {
                address precompile = accesses[i].account;
                if (uint160(precompile) == 0 || uint160(precompile) > 0x11) continue;
                if (times == 3) answers.record(precompile, accesses[i].data);
                uint256 costs = times * price(uint160(precompile));
                // Below this, finding the answer costs more.
                if (costs < 20_000) costs = 20_000;
                Costlier costlier = new Costlier(answers, costs);
                RECORDER.mockFunction(precompile, address(costlier), accesses[i].data);
                (calls, more) = (calls + 1, more + costs - price(uint160(precompile)));
            }
            assertTrue(calls >= 2, "calls of precompiles");
            uint256 burnt;
            (ok, answer, burnt) = _meter.measure(address(_caller), _call, 16_000_000);
            assertEq(answer, "", "proves at higher prices");
            assertTrue(ok, "proves at higher prices");
            assertTrue(burnt > usual + more && burnt < usual + more + 10_000 * calls, "the prices were paid");
        }
    }
}

contract CostlierPrecompilesBn254G1Test is CostlierPrecompilesTest, Bn254G1Signing {
    function newCaller() internal override returns (CurveCaller) {
        return new Bn254G1Caller();
    }

    function hint(bytes[4] memory) internal pure override returns (bytes memory) {}
}

contract CostlierPrecompilesBn254G2Test is CostlierPrecompilesTest, Bn254G2Signing {
    function newCaller() internal override returns (CurveCaller) {
        return new Bn254G2Caller();
    }

    /// @notice The byte 0 and 1/Z, for a sum in Jacobian coordinates.
    function hint(bytes[4] memory keys) internal view override returns (bytes memory) {
        Bn254G2.Accumulator memory sum = Bn254G2.load(abi.decode(keys[0], (Bn254.G2)));
        for (uint256 i = 1; i < 4; ++i) {
            Bn254G2.accumulate(sum, pointerTo(abi.decode(keys[i], (Bn254.G2))), i == 3);
        }
        (uint256 im, uint256 re) = Bn254G2.inverseOfZ(sum);
        return abi.encodePacked(uint8(0), im, re);
    }
}

contract CostlierPrecompilesBls12381G2Test is CostlierPrecompilesTest, Bls12381G2Signing {
    function newCaller() internal override returns (CurveCaller) {
        return new Bls12381G2Caller();
    }

    function hint(bytes[4] memory) internal pure override returns (bytes memory) {}
}
