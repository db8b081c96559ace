// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice Records its calls, or reverts with an error that has parameters.
contract Target {
    error Refused(uint256 code);

    address public caller;
    uint256 public value;
    uint256 public calls;

    function record() external payable {
        caller = msg.sender;
        value = msg.value;
        calls++;
    }

    function refuse(uint256 code) external payable {
        revert Refused(code);
    }

    function refuseSilently() external payable {
        revert();
    }
}

/// @notice Returns fixed bytes for every call, or reverts with them.
contract Saying {
    bytes private data;
    bool private reverting;

    constructor(bytes memory data_, bool reverting_) {
        data = data_;
        reverting = reverting_;
    }

    fallback() external {
        bytes memory said = data;
        bool failing = reverting;
        assembly {
            if failing { revert(add(said, 0x20), mload(said)) }
            return(add(said, 0x20), mload(said))
        }
    }
}

/// @notice Returns a quarter of a megabyte for every call.
contract Flooding {
    fallback() external {
        assembly {
            return(0, 0x40000)
        }
    }
}

/// @notice Consumes all the gas it gets.
contract Looping {
    fallback() external {
        while (true) {}
    }
}

/// @notice Executes an invalid instruction, which consumes all gas at once.
contract Dying {
    fallback() external {
        assembly {
            invalid()
        }
    }
}
