// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Test dollars
/// @notice For local chains only: anyone can mint any amount. The deploy tool refuses it elsewhere.
contract DevUSDC is ERC20 {
    constructor() ERC20("USD Coin (development)", "USDC") {}

    /// @notice Creates tokens for any address.
    /// @param to The address that receives them.
    /// @param amount Millionths of a dollar.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice Digits after the point, as USDC has them.
    /// @return digits Six.
    function decimals() public pure override returns (uint8 digits) {
        return 6;
    }
}
