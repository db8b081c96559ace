"""NFTs on the local chain: the contracts of contracts/test/utils/Tokens.sol, compiled once."""

from __future__ import annotations

import json
import subprocess
from functools import cache

from tests.support.chain_service import ChainService
from tests.support.fresh_chain import CONTRACTS

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER
from holdfast.chain.contracts.create2 import create2_address
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256
from holdfast.world.tools import find_node

_SOURCE = "test/utils/Tokens.sol"


@cache
def _code() -> dict[str, bytes]:
    """Return the init code by the contract's name."""
    done = subprocess.run(
        [find_node(), "compile.mjs", _SOURCE], cwd=CONTRACTS, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)["contracts"][_SOURCE]
    return {name: from_hex("0x" + each["evm"]["bytecode"]["object"]) for name, each in found.items()}


def deployed(chain: ChainService, name: str) -> str:
    """Deploy Nft, StuckNft or Pieces, unless the chain has it, and return its address."""
    address = create2_address(DETERMINISTIC_DEPLOYER, bytes(32), keccak256(_code()[name]))
    if chain.rpc("eth_getCode", address, "latest") == "0x":
        chain.send(DETERMINISTIC_DEPLOYER, bytes(32) + _code()[name])
    return address


def mint(chain: ChainService, name: str, to: str, number: int) -> str:
    contract = deployed(chain, name)
    chain.send(contract, call_data("mint(address,uint256)", to, number))
    return contract


def mint_pieces(chain: ChainService, to: str, pieces: dict[int, int]) -> str:
    contract = deployed(chain, "Pieces")
    data = call_data("mint(address,uint256[],uint256[])", to, list(pieces), list(pieces.values()))
    chain.send(contract, data)
    return contract


def owner_of(chain: ChainService, contract: str, number: int) -> int:
    return int.from_bytes(chain.call(contract, "ownerOf(uint256)", number))


def pieces_of(chain: ChainService, contract: str, owner: str, number: int) -> int:
    return int.from_bytes(chain.call(contract, "balanceOf(address,uint256)", owner, number))
