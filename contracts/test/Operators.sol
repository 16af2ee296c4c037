// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";

/// @dev The file of the operators, as `Vectors.read` has it.
string constant OPERATOR_KEYS = "11_bn254_keys/eigenlayer_operator_keys_a.json";

/// @notice The operators of `11_bn254_keys`, with their secrets. They are public test keys of EigenLayer's middleware.
contract Operators {
    uint256[] private _secrets;
    Bn254.G2[] private _keys;

    constructor() {
        string memory json = Vectors.read(OPERATOR_KEYS);
        for (uint256 i = 0; i < 64; i++) {
            string memory place = string.concat(".cases[", vm.toString(i), "]");
            _secrets.push(Vectors.number(json, string.concat(place, ".sk")));
            _keys.push(
                Bn254.G2(
                    Vectors.number(json, string.concat(place, ".g2_x[0]")),
                    Vectors.number(json, string.concat(place, ".g2_x[1]")),
                    Vectors.number(json, string.concat(place, ".g2_y[0]")),
                    Vectors.number(json, string.concat(place, ".g2_y[1]"))
                )
            );
        }
    }

    function secretOf(bytes memory signers) external view returns (uint256 secret) {
        for (uint256 i = 0; i < _secrets.length; i++) {
            if (Members.contains(signers, i)) secret = addmod(secret, _secrets[i], Bn254.R);
        }
    }

    /// @notice The key of a quorum, computed from the key of a base: keys are added and subtracted in the order of the
    /// contract. Also 1/Z of the sum.
    function sumInG2(bytes memory baseKey, bytes memory base, bytes memory signers)
        external
        view
        returns (bytes memory key, uint256 inverseIm, uint256 inverseRe)
    {
        Bn254.G2 memory start;
        if (baseKey.length != 0) start = abi.decode(baseKey, (Bn254.G2));
        Bn254G2.Accumulator memory sum = Bn254G2.load(start);
        for (uint256 i = 0; i < _keys.length; i++) {
            bool added = Members.contains(signers, i);
            if (added == Members.contains(base, i)) continue;
            Bn254.G2 memory one = _keys[i];
            uint256 pointer;
            assembly {
                pointer := one
            }
            Bn254G2.accumulate(sum, pointer, !added);
        }
        (inverseIm, inverseRe) = Bn254G2.inverseOfZ(sum);
        key = abi.encode(Bn254G2.normalize(sum));
    }

    /// @notice The slopes of the additions of `sumInG2`, in order: each between the affine sum so far and the next key.
    function slopesInG2(bytes memory baseKey, bytes memory base, bytes memory signers)
        external
        view
        returns (bytes memory slopes)
    {
        Bn254.G2 memory sum;
        if (baseKey.length != 0) sum = abi.decode(baseKey, (Bn254.G2));
        for (uint256 i = 0; i < _keys.length; i++) {
            bool added = Members.contains(signers, i);
            if (added == Members.contains(base, i)) continue;
            Bn254.G2 memory key = added ? _keys[i] : PlainBn254G2.negate(_keys[i]);
            if (!Bn254.isInfinity(sum)) {
                PlainBn254G2.Fp2 memory slope = PlainBn254G2.slope(sum, key);
                slopes = abi.encodePacked(slopes, slope.im, slope.re);
            }
            sum = PlainBn254G2.add(sum, key);
        }
    }
}
