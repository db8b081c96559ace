// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

contract Nft is ERC721("NFT", "NFT") {
    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

/// @notice Anyone can send an account such an NFT, and no one can move it.
contract StuckNft is Nft {
    error Stuck();

    function _update(address to, uint256 id, address by) internal override returns (address from) {
        from = super._update(to, id, by);
        if (from != address(0)) revert Stuck();
    }
}

contract Pieces is ERC1155("") {
    function mint(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }
}
