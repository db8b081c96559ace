"""Chooses, among signed changes with the same sequence, those that a chain accepts.

Anyone can write forged changes of an account into a transaction's input. Only a chain can tell whose signatures are
valid, so the changes are simulated first on the chain to which they are submitted.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.chain.account_calls import SignedChanges
    from holdfast.chain.calls import Call
    from holdfast.chain.rpc import RpcClient

    Together = Callable[[Sequence[SignedChanges]], Call]


async def accepted(chain: RpcClient, candidates: Sequence[SignedChanges], together: Together) -> list[SignedChanges]:
    """Return one of the candidates for each sequence: the first that the chain accepts after those before it.

    Where there is only one, or the chain accepts none, the first is returned: the operation then says why.

    Args:
        chain: the chain to which the changes are submitted.
        candidates: in the order of their sequences, without gaps, from the first that the chain lacks.
        together: returns the call that applies several changes in their order.

    Raises RpcError if the chain does not answer.
    """
    chosen: list[SignedChanges] = []
    for _, group in groupby(candidates, key=lambda each: each.sequence):
        options = list(dict.fromkeys(group))
        chosen.append(options[0])
        for each in options if len(options) > 1 else []:
            if await _accepts(chain, together([*chosen[:-1], each])):
                chosen[-1] = each
                break
    return chosen


async def _accepts(chain: RpcClient, call: Call) -> bool:
    to, _, data = call  # its own caller: the account obeys itself, and an account that is to be created must not call
    try:
        await chain.call("eth_call", [{"from": to, "to": to, "data": to_hex(data)}, "latest"])
    except RpcError as error:
        if error.code is None:
            raise
        return False
    return True
