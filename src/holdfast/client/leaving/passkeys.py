"""A passkey that owns an account and is all that the person has: no vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.account.second_keys import key_of_passkey, used_passkeys
from holdfast.client.flows.failures import OperationFailed, chain_errors
from holdfast.client.leaving.account import is_owner_of, require_chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.chain.rpc import RpcClient
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.passkeys import Authenticator


async def owner_passkey(chain: RpcClient, chain_id: int, account: str, sources: Sequence[Authenticator]) -> SecondKey:
    """Use a passkey once, and return it as the owner of the account that it is.

    Its signature shows two keys, and the node says which is an owner. If it lies, signing raises WebAuthnError.

    Raises OtherChain, OperationFailed, NetworkError, WebAuthnError.
    """
    with chain_errors():
        await require_chain(chain, chain_id)
        if not await chain.get_code(account):
            raise OperationFailed(f"the account {account} does not exist on this chain")
        for signer, assertions in used_passkeys(sources):
            if await is_owner_of(chain, account, signer):
                return key_of_passkey(signer, assertions)
    raise OperationFailed(
        f"no passkey of {sources[0].rp_id} on this security key is an owner of the account {account} on this chain: "
        "use another one, or name another site (--service)"
    )
