"""user_operations/{v07,v08,v09}.json: user operations, and their hashes from the real entry points."""

from __future__ import annotations

import asyncio
import random
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import aiohttp
from eth_abi.abi import encode

from holdfast.chain.entry_points import V07, V08, V09, EntryPoint
from holdfast.chain.errors import RpcError
from holdfast.chain.packed_operations import PackedUserOperation, pack
from holdfast.chain.transports import AiohttpTransport
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import keccak256
from holdfast.world.accounts import unlock
from holdfast.world.anvil import CHAIN_ID, ChainOptions, LocalChain, start_chain
from holdfast.world.deployment import deploy_entry_points
from holdfast.world.processes import Supervisor
from holdfast.world.tools import find_tools

FILES = {"v07": V07, "v08": V08, "v09": V09}
SEED = 4337
STRUCT = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"
SELECTOR = keccak256(f"getUserOpHash({STRUCT})".encode())[:4]
FACTORIES = ("no factory", "factory", "factory without data")
PAYMASTERS = ("no paymaster", "paymaster", "paymaster without data")
SUFFIX_MAGIC = bytes.fromhex("22e325a297439656")
# For each case, the paymaster data before the suffix's length and magic, and the stated length.
SUFFIXES = {
    "a signature of 65 bytes": (b"\x0a" * 12 + b"\x0b" * 65, 65),
    "a signature of one byte": (b"\x0a" * 12 + b"\x0b", 1),
    "a signature and nothing before": (b"\x0b" * 65, 65),
    "a signature of 300 bytes": (b"\x0a" * 300 + b"\x0b" * 300, 300),
    "a signature that contains the magic": (SUFFIX_MAGIC * 4, 16),
    "a signature of no bytes": (b"\x0a" * 12, 0),
    "a length and the magic alone": (b"", 0),
}
NUMBERS = ("ordinary numbers", "zeros", "greatest numbers")


def operations() -> list[tuple[str, UserOperation]]:
    """Return 24 named operations, the same in every run: the first 24 of the 27 combinations from three tables."""
    chance = random.Random(SEED)
    kinds = list(product(FACTORIES, PAYMASTERS, NUMBERS))[:24]
    return [(", ".join(kind), _operation(chance, *kind)) for kind in kinds]


def with_suffixes() -> list[tuple[str, UserOperation]]:
    """Return operations with a suffix in the paymaster data, which EntryPoint 0.9 does not hash."""
    chance = random.Random(SEED + 1)
    ends = {name: data + length.to_bytes(2) + SUFFIX_MAGIC for name, (data, length) in SUFFIXES.items()}
    ends |= {"the magic without a length": SUFFIX_MAGIC, "another magic": bytes(65) + b"\x00\x41" + SUFFIX_MAGIC[::-1]}
    operation = _operation(chance, FACTORIES[0], PAYMASTERS[1], NUMBERS[0])
    return [(f"paymaster data ends in {name}", replace(operation, paymaster_data=end)) for name, end in ends.items()]


def refused() -> list[tuple[str, UserOperation]]:
    """Return operations whose suffix length exceeds that of the data, for which only EntryPoint 0.9 reverts."""
    operation = with_suffixes()[0][1]
    ends = {
        "one byte more than the data": bytes(9) + (10).to_bytes(2),
        "the longest signature": bytes(65) + b"\xff\xff",
        "no data": (1).to_bytes(2),
    }
    return [
        (f"the signature's length is {name}", replace(operation, paymaster_data=end + SUFFIX_MAGIC))
        for name, end in ends.items()
    ]


def never_signed() -> list[tuple[str, UserOperation]]:
    """Return operations that hide who pays: EntryPoint 0.7 charges the account, later versions revert when they run."""
    operation = replace(operations()[3][1], paymaster=bytes(20))
    return [
        ("the paymaster is the zero address", operation),
        ("the paymaster is the zero address, without data", replace(operation, paymaster_data=b"")),
    ]


def _operation(chance: random.Random, factory: str, paymaster: str, numbers: str) -> UserOperation:
    def number(bits: int, ordinary: int) -> int:
        greatest: int = 2**bits - 1
        return {"zeros": 0, "greatest numbers": greatest}.get(numbers, chance.randrange(ordinary))

    optional: dict[str, Any] = {}
    if factory != "no factory":
        data = b"" if "without" in factory else chance.randbytes(100)
        optional |= {"factory": chance.randbytes(20), "factory_data": data}
    if paymaster != "no paymaster":
        optional |= {
            "paymaster": chance.randbytes(20),
            "paymaster_verification_gas_limit": number(128, 10**6),
            "paymaster_post_op_gas_limit": number(128, 10**6),
            "paymaster_data": b"" if "without" in paymaster else chance.randbytes(77),
        }
    return UserOperation(
        sender=chance.randbytes(20),
        nonce=number(256, 2**70),
        call_data=chance.randbytes(chance.choice((0, 4, 68, 333))),
        call_gas_limit=number(128, 10**6),
        verification_gas_limit=number(128, 10**6),
        pre_verification_gas=number(256, 10**6),
        max_fee_per_gas=number(128, 10**10),
        max_priority_fee_per_gas=number(128, 10**10),
        signature=chance.randbytes(64),
        **optional,
    )


def call_data(packed: PackedUserOperation) -> bytes:
    """Return the call data for getUserOpHash, encoded by eth-abi, which is independent of the code under test."""
    fields = (
        to_hex(packed.sender),
        packed.nonce,
        packed.init_code,
        packed.call_data,
        packed.account_gas_limits,
        packed.pre_verification_gas,
        packed.gas_fees,
        packed.paymaster_and_data,
        packed.signature,
    )
    return SELECTOR + encode([STRUCT], [fields])


async def ask(chain: LocalChain, entry_point: EntryPoint) -> dict[str, Any]:
    """Return the contents of one vector file."""
    named = operations() + with_suffixes()
    answers = [chain.rpc.eth_call(entry_point.address, call_data(pack(operation))) for _, operation in named]
    hashes = await asyncio.gather(*answers)
    return {
        "claim": f"getUserOpHash of the published EntryPoint {entry_point.version}, asked on a local chain",
        "entryPoint": entry_point.address,
        "chainId": CHAIN_ID,
        "vectors": [
            {"name": name, "userOp": operation.to_rpc(), "userOpHash": to_hex(answer)}
            for (name, operation), answer in zip(named, hashes, strict=True)
        ],
        "refused": [
            {"name": name, "userOp": operation.to_rpc()}
            for name, operation in refused()
            if await _reverts(chain, entry_point, operation)
        ],
        "neverSigned": [{"name": name, "userOp": operation.to_rpc()} for name, operation in never_signed()],
    }


async def _reverts(chain: LocalChain, entry_point: EntryPoint, operation: UserOperation) -> bool:
    try:
        await chain.rpc.eth_call(entry_point.address, call_data(pack(operation)))
    except RpcError as error:
        return error.data is not None
    return False


def contents() -> dict[str, Any]:
    """Return each file's contents, with hashes from a new chain, by its path without the suffix."""
    return {f"user_operations/{name}": content for name, content in asyncio.run(_ask_all()).items()}


async def _ask_all() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as logs:
        async with aiohttp.ClientSession() as session, Supervisor(Path(logs)) as supervisor:
            tools = await find_tools(print)
            chain = await start_chain(supervisor, tools, AiohttpTransport(session), ChainOptions())
            accounts = await unlock(chain.rpc, chain.rpc_url)
            await deploy_entry_points(chain, tools, accounts.tester.address)
            return {name: await ask(chain, entry_point) for name, entry_point in FILES.items()}
