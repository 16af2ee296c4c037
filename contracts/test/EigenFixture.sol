// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {EigenChecker} from "./baselines/EigenChecker.sol";
import {EigenCoordinator, EigenKeys, EigenStakes} from "./baselines/EigenMiddleware.sol";
import {BitmapHistory, KeyHistory, StakeHistory, TransparentProxy} from "./baselines/EigenRegistries.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Test, vm} from "./Test.sol";
import {EigenSignatureChecker} from "../src/adapters/EigenSignatureChecker.sol";
import {EigenSignatureLens} from "../src/adapters/EigenSignatureLens.sol";
import {OperatorSnapshots} from "../src/adapters/OperatorSnapshots.sol";
import {IBLSSignatureChecker} from "../src/interfaces/IBLSSignatureChecker.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {HashToBn254Counting} from "../src/libraries/HashToBn254Counting.sol";

/// @notice A service with EigenLayer's registries, its operators, and both checkers. The operator with secret i has the place
/// i - 1.
abstract contract EigenFixture is Test, Bn254G2Signing {
    bytes32 internal constant MESSAGE = keccak256("a message");

    EigenCoordinator internal _coordinator;
    EigenChecker internal _theirs;
    EigenSignatureChecker internal _checker;
    EigenSignatureLens internal _lens;
    Bn254.G1[] internal _keys;
    bytes32[] internal _ids;

    function _deploy(bool proxies, bool named, uint256 quorums) internal {
        EigenStakes stakes = new EigenStakes();
        EigenKeys keys = new EigenKeys();
        if (proxies) {
            stakes = EigenStakes(address(new TransparentProxy(address(stakes))));
            keys = EigenKeys(address(new TransparentProxy(address(keys))));
        }
        _coordinator = new EigenCoordinator(stakes, keys);
        if (proxies) _coordinator = EigenCoordinator(address(new TransparentProxy(address(_coordinator))));
        for (uint256 i = 0; i < quorums; i++) {
            _coordinator.createQuorum();
        }
        _theirs = new EigenChecker(
            BitmapHistory(address(_coordinator)), StakeHistory(address(stakes)), KeyHistory(address(keys))
        );
        _checker = new EigenSignatureChecker(address(_coordinator), named);
        _lens = new EigenSignatureLens();
    }

    /// @dev Registers the next operator.
    function _join(bytes memory quorums, uint96 stake) internal {
        Bn254.G1 memory key = Bn254.mul(Bn254.generator(), _keys.length + 1);
        _keys.push(key);
        _ids.push(keccak256(abi.encode(key)));
        _coordinator.register(key, quorums, _stakes(quorums.length, stake));
    }

    function _stakes(uint256 quorums, uint96 stake) internal pure returns (uint96[] memory stakes) {
        stakes = new uint96[](quorums);
        for (uint256 i = 0; i < quorums; i++) {
            stakes[i] = stake + uint96(i);
        }
    }

    function _take(uint256 inBlock, bytes memory quorums) internal returns (uint256) {
        (OperatorSnapshots.Quorum[] memory all, bytes memory operators) =
            _lens.takeArguments(_checker, uint32(inBlock), quorums, _keys);
        return _checker.take(uint32(inBlock), all, operators);
    }

    function _one(uint256 value) internal pure returns (uint256[] memory one) {
        one = new uint256[](1);
        one[0] = value;
    }

    /// @dev The quorums of an operator in a block; 0 if it was never there.
    function _membersAt(uint256 i, uint256 inBlock) internal view returns (uint192) {
        bytes32[] memory one = new bytes32[](1);
        one[0] = _ids[i];
        try _coordinator.getQuorumBitmapIndicesAtBlockNumber(uint32(inBlock), one) returns (uint32[] memory index) {
            return _coordinator.getQuorumBitmapAtBlockNumberByIndex(_ids[i], uint32(inBlock), index[0]);
        } catch {
            return 0;
        }
    }

    /// @dev In how many of the quorums an operator is in a block.
    function _common(uint256 i, uint256 inBlock, bytes memory quorums) internal view returns (uint256 common) {
        uint192 members = _membersAt(i, inBlock);
        for (uint256 q = 0; q < quorums.length; q++) {
            common += (members >> uint8(quorums[q])) & 1;
        }
    }

    /// @dev The absent operators: those of the set, as bits, who are in one of the quorums. By rising ids.
    function _absent(uint256 inBlock, bytes memory quorums, uint256 set)
        internal
        view
        returns (uint256[] memory absent)
    {
        absent = new uint256[](_keys.length);
        uint256 count = 0;
        for (uint256 i = 0; i < _keys.length; i++) {
            if ((set >> i) & 1 == 0 || _common(i, inBlock, quorums) == 0) continue;
            uint256 place = count++;
            for (; place != 0 && _ids[absent[place - 1]] > _ids[i]; place--) {
                absent[place] = absent[place - 1];
            }
            absent[place] = i;
        }
        assembly {
            mstore(absent, count)
        }
    }

    /// @dev The signature and the key of those who are not absent.
    function _signed(bytes32 message, uint256 inBlock, bytes memory quorums, uint256 set)
        internal
        view
        returns (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma)
    {
        uint256 secrets = 0;
        for (uint256 i = 0; i < _keys.length; i++) {
            if ((set >> i) & 1 == 0) secrets += (i + 1) * _common(i, inBlock, quorums);
        }
        return (_g2(secrets), _times(message, secrets));
    }

    function _g2(uint256 secret) internal view returns (IBLSSignatureChecker.G2Point memory) {
        if (secret == 0) return IBLSSignatureChecker.G2Point([uint256(0), 0], [uint256(0), 0]);
        return abi.decode(keyInG2(secret), (IBLSSignatureChecker.G2Point));
    }

    function _times(bytes32 message, uint256 secret) internal view returns (IBLSSignatureChecker.G1Point memory) {
        (uint256 x, uint256 y) = HashToBn254Counting.search(message);
        Bn254.G1 memory point = Bn254.mul(Bn254.G1(x, y), secret);
        return IBLSSignatureChecker.G1Point(point.x, point.y);
    }

    /// @dev What their encoder makes.
    function _encodedAsTheirs(bytes32 message, uint256 inBlock, bytes memory quorums, uint256 set)
        internal
        view
        returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory params)
    {
        uint256[] memory absent = _absent(inBlock, quorums, set);
        params.nonSignerPubkeys = new IBLSSignatureChecker.G1Point[](absent.length);
        bytes32[] memory ids = new bytes32[](absent.length);
        for (uint256 j = 0; j < absent.length; j++) {
            Bn254.G1 memory key = _keys[absent[j]];
            params.nonSignerPubkeys[j] = IBLSSignatureChecker.G1Point(key.x, key.y);
            ids[j] = _ids[absent[j]];
        }
        params.nonSignerQuorumBitmapIndices = _coordinator.getQuorumBitmapIndicesAtBlockNumber(uint32(inBlock), ids);
        params.quorumApkIndices = _coordinator.blsApkRegistry().getApkIndicesAtBlockNumber(quorums, inBlock);
        params.totalStakeIndices =
            _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(uint32(inBlock), quorums);
        params.quorumApks = new IBLSSignatureChecker.G1Point[](quorums.length);
        params.nonSignerStakeIndices = new uint32[][](quorums.length);
        for (uint256 q = 0; q < quorums.length; q++) {
            params.quorumApks[q] = _quorumKey(inBlock, uint8(quorums[q]));
            params.nonSignerStakeIndices[q] = _stakeIndices(inBlock, uint8(quorums[q]), absent);
        }
        (params.apkG2, params.sigma) = _signed(message, inBlock, quorums, set);
    }

    function _quorumKey(uint256 inBlock, uint8 quorum) internal view returns (IBLSSignatureChecker.G1Point memory) {
        uint256 secrets = 0;
        for (uint256 i = 0; i < _keys.length; i++) {
            secrets += (i + 1) * ((_membersAt(i, inBlock) >> quorum) & 1);
        }
        Bn254.G1 memory key = Bn254.mul(Bn254.generator(), secrets);
        return IBLSSignatureChecker.G1Point(key.x, key.y);
    }

    function _stakeIndices(uint256 inBlock, uint8 quorum, uint256[] memory absent)
        private
        view
        returns (uint32[] memory indices)
    {
        indices = new uint32[](absent.length);
        uint256 count = 0;
        for (uint256 j = 0; j < absent.length; j++) {
            if ((_membersAt(absent[j], inBlock) >> quorum) & 1 == 0) continue;
            indices[count++] =
                _coordinator.stakeRegistry().getStakeUpdateIndexAtBlockNumber(_ids[absent[j]], quorum, uint32(inBlock));
        }
        assembly {
            mstore(indices, count)
        }
    }

    /// @dev What the lens makes.
    function _encoded(bytes32 message, uint256 page, bool live, uint256 inBlock, bytes memory quorums, uint256 set)
        internal
        view
        returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory params)
    {
        uint256[] memory absent = _absent(inBlock, quorums, set);
        bytes32[] memory ids = new bytes32[](absent.length);
        for (uint256 j = 0; j < absent.length; j++) {
            ids[j] = _ids[absent[j]];
        }
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(message, inBlock, quorums, set);
        return _lens.paramsOf(_checker, message, _one(page), live, ids, apkG2, sigma);
    }

    /// @dev Calls a checker, in a transaction of its own.
    function _check(
        address checker,
        bytes32 message,
        bytes memory quorums,
        uint256 inBlock,
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params
    ) internal returns (bool done, bytes memory answer) {
        // Their struct has another selector in `EigenChecker`, where a point of G2 is not two arrays, and the same encoding.
        bytes4 selector = checker == address(_theirs)
            ? EigenChecker.checkSignatures.selector
            : IBLSSignatureChecker.checkSignatures.selector;
        return
            checker.call{gas: 20_000_000}(abi.encodeWithSelector(selector, message, quorums, uint32(inBlock), params));
    }
}
