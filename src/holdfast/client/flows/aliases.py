"""Asks the chain about an alias before a commitment to it is paid for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.did_calls import read_alias
from holdfast.chain.errors import ChainError
from holdfast.client.flows.failures import OperationFailed
from holdfast.wire.keccak import alias_hash

if TYPE_CHECKING:
    from holdfast.client.flows.operations import SmartAccount


async def require_free(account: SmartAccount, alias: str) -> None:
    """Raise OperationFailed if the chain says that a DID has this alias. `alias`: in the canonical form.

    The registry says so only after a commitment. Without an endpoint of the chain that answers, nothing is raised.
    """
    chain, taken = await account.chain(), None
    with suppress(ChainError):
        if chain is not None:
            data = call_data("getAlias(bytes32)", alias_hash(alias))
            taken, _, _ = read_alias(await chain.eth_call(account.contracts.did_registry, data))
    if taken is not None:
        raise OperationFailed(f"the alias {alias} is taken on the chain: choose another", "AliasTaken")
