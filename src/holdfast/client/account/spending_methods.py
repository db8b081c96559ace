"""The client's methods for spending permissions of an account, and for an app that spends by one."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from holdfast.chain import account_calls, account_reads
from holdfast.chain.errors import RpcError
from holdfast.chain.signers import key_id
from holdfast.client.account.methods import AccountMethods
from holdfast.client.account.spending import (
    SPEND_COMMAND,
    Allowed,
    SpendingTerms,
    permission_of,
    policy_of,
    spending_in,
    spending_of_row,
    token_of,
)
from holdfast.client.flows.accounts import address_in
from holdfast.client.flows.failures import PaymentRefused, chain_errors
from holdfast.client.types import DelegationOptions
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.chain.account_reads import Granted
    from holdfast.client.account.spender import Spender
    from holdfast.client.account.spending import Spending
    from holdfast.client.flows.operations import SmartAccount


class SpendingMethods(AccountMethods):
    """Methods that write permission and delegation together."""

    def _spender(self, spending: Spending) -> Spender:
        """Return the account from which the vault's key spends."""
        raise NotImplementedError

    async def allow_spending(
        self, terms: SpendingTerms, *, on_progress: Callable[[str], object] | None = None
    ) -> Allowed:
        """Let an app's key spend within a limit that the account enforces, and delegate it to the app's DID.

        The delegation's token, for the app, is returned only once the permission is on the chain. If the permission
        fails to get there, the delegation is revoked.

        Raises:
            ValueError: the app's DID is not a `did:new`, or an address is malformed.
            OperationFailed: the chain refused the permission.
        """
        account = await self._opened()
        address, chain_id = account.key.address, account.contracts.chain_id
        permission = permission_of(terms, await _start(account), secrets.randbits(64))
        policy = {"policy": policy_of(address, chain_id, permission)}
        given = DelegationOptions(to=terms.to, command=SPEND_COMMAND, expiration=terms.until or None, caveats=policy)
        made = await self.vault.mint_delegation(given)
        try:
            await self._operated(account, account_calls.grant_permission(address, permission), on_progress)
        except BaseException:
            await self._undelegate([made.cid])
            raise
        return Allowed(permission, made.container, made.cid)

    async def allow_alone(
        self, terms: Sequence[tuple[str, int, int]], *, on_progress: Callable[[str], object] | None = None
    ) -> None:
        """Let the vault's own key pay alone up to these sums where two owners must sign; earlier sums end.

        Args:
            terms: an ERC-20 address or "native", an amount in its smallest unit, and seconds of a period (0: in all).
            on_progress: called with a word for each step.

        Raises:
            OperationFailed: the chain refused it.
        """
        account = await self._opened()
        own, start = key_id(account.key.signer), await _start(account)
        for granted in await self.account_permissions():
            if granted.permission.key_id == own:
                await self.revoke_account_permission(granted.permission.id, on_progress=on_progress)
        for token, amount, period in terms:
            of = SpendingTerms(to=f"did:new:{to_hex(own)}", token=token, allowance=amount, period=period)
            permission = permission_of(of, start, secrets.randbits(64))
            await self.grant_account_permission(permission, on_progress=on_progress)

    async def end_spending(
        self, permission_id: bytes, *, on_progress: Callable[[str], object] | None = None
    ) -> str | None:
        """Revoke a permission on this chain, and first its delegation in this vault.

        Returns the operation's hash; None if the chain has no such permission any more.
        """
        listed = await self.vault.exec("resource:delegations action:list")
        rows = [row for row in listed.result or [] if row["revoked_at"] is None]
        named = [(row["cid"], spending_of_row(row)) for row in rows]
        await self._undelegate(cid for cid, found in named if found and found.permission_id == permission_id)
        account, chain = await self._chain()
        with chain_errors():
            granted = await account_reads.permissions_of(chain, account.key.address, permission_id)
        if not granted:
            return None
        return await self.revoke_account_permission(permission_id, on_progress=on_progress)

    async def spend(
        self, container: str, to: str, amount: int, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Transfer from the account that a delegation names, as the app that holds it; return the operation's hash.

        No device of the person takes part. The service's sponsor must pay for the gas.

        Args:
            container: the delegation to this vault's DID, as `allow_spending` returned it to the person.
            to: the receiver's address.
            amount: in the token's smallest unit.
            on_progress: called with a word for each step.

        Raises:
            ValueError: `to` is not an address, or the amount is negative.
            PaymentRefused: the delegation does not allow it, the account has no such permission, or too little is left.
            OperationFailed: the chain refused it.
        """
        payee = address_in(to, "to")
        if not 0 <= amount < 1 << 256:
            raise ValueError("amount: a whole number in the token's smallest unit")
        spending = await self._spending_of(container)
        account = self._spender(spending)
        await account.open()
        if account.contracts.chain_id != spending.chain_id:
            raise ValueError(f"chainId: this service's chain is {account.contracts.chain_id}, not {spending.chain_id}")
        with chain_errors():
            found = await account_reads.permissions_of(
                await account.known_chain(), spending.account, spending.permission_id
            )
        permission = _usable(found, amount).permission
        arguments = {"account": spending.account, "chainId": spending.chain_id, "permission": to_hex(permission.id)}
        await self._allowed(container, arguments | {"token": token_of(permission), "to": payee, "amount": amount})
        return await self._operated(
            account, account_calls.spend(spending.account, permission, payee, amount), on_progress
        )

    async def _spending_of(self, container: str) -> Spending:
        """Return the permission that a delegation to this vault names. Raises PaymentRefused."""
        claims = await self._allowed(container, None)
        spending = spending_in(claims["policy"] or [])
        if spending is None:
            raise PaymentRefused("the delegation names no permission of an account", "delegation")
        return spending

    async def _allowed(self, container: str, arguments: dict[str, object] | None) -> dict[str, Any]:
        demand = {} if arguments is None else {"command": SPEND_COMMAND, "args": arguments}
        question = {"token": container, "audience": (await self.vault.status()).did, **demand}
        answer = await self.vault.exec("resource:delegations action:verify", question)
        if not answer.success or not isinstance(answer.result, dict):
            code = answer.error or "delegation"
            raise PaymentRefused(f"the delegation does not allow this payment ({code})", code)
        return answer.result

    async def _undelegate(self, cids: Iterable[str]) -> None:
        for cid in cids:
            await self.vault.exec("resource:delegations action:revoke", {"cid": cid})


async def _start(account: SmartAccount) -> int:
    """Return from when a permission holds that is granted now (Unix time).

    If the chain's clock is behind this device's, it is the newest block's time: the account refuses payments before.
    """
    now, chain = int(time.time()), await account.chain()
    if chain is None:
        return now
    try:
        return min(now, await chain.block_time())
    except RpcError:
        return now


def _usable(found: list[Granted], amount: int) -> Granted:
    """Return the permission. Raises PaymentRefused if it is not granted, or less than the amount is left."""
    if not found:
        raise PaymentRefused("the account has not granted this permission, or it was revoked", "permission")
    if amount > found[0].left:
        raise PaymentRefused(f"{found[0].left} of the permission are left in this period", "permission")
    return found[0]
