// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Three owners, of whom two must agree to each call
/// @notice A small one, to show how a settlement is governed. Use an audited one where something is at stake.
contract TwoOfThree {
    /// @notice Whether an account is an owner.
    mapping(address account => bool) public isOwner;
    /// @notice Who asked for a call first; zero if nobody waits for a second owner.
    mapping(bytes32 call => address) public askedBy;

    error NotOwner(address sender);
    error AskedAlready(address owner);
    error CallFailed(bytes answer);

    /// @param owners The owners, all different, which is not checked.
    constructor(address[3] memory owners) {
        for (uint256 i = 0; i < 3; i++) {
            isOwner[owners[i]] = true;
        }
    }

    /// @notice Asks for a call. The second owner who asks for the same call makes it.
    /// @param target The contract to call.
    /// @param data What to call it with.
    function ask(address target, bytes calldata data) external {
        require(isOwner[msg.sender], NotOwner(msg.sender));
        bytes32 call = keccak256(abi.encode(target, data));
        if (askedBy[call] == address(0)) {
            askedBy[call] = msg.sender;
            return;
        }
        require(askedBy[call] != msg.sender, AskedAlready(msg.sender));
        askedBy[call] = address(0);
        (bool done, bytes memory answer) = target.call(data);
        require(done, CallFailed(answer));
    }
}
