"""Payments from the vault's smart account, and the limits under which a delegated key may make them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from holdfast.chain import calls
from holdfast.client.flows.accounts import ADDRESS
from holdfast.client.flows.faces import answered
from holdfast.client.flows.failures import PaymentRefused
from holdfast.client.flows.operations import hash_text
from holdfast.client.flows.payee import payee_of
from holdfast.client.types import NATIVE, PaymentParams, PaymentResult
from holdfast.rules.chains import operation_page
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.flows.faces import Face
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.flows.payee import Payee
    from holdfast.client.storage.vault_store import VaultStore

PAY_COMMAND = "/accounts/pay"
_AMOUNT = re.compile(r"[0-9]{1,78}")
_MAX_AMOUNT = 2**256 - 1
_USED = "used"


def checked(params: PaymentParams, chain_id: int) -> int:
    """The amount. Raises ValueError for parameters that cannot be a payment, or are for another chain."""
    if not _AMOUNT.fullmatch(params.amount) or not 0 < int(params.amount) <= _MAX_AMOUNT:
        raise ValueError("amount: a positive whole number in the token's smallest unit")
    if params.token != NATIVE and not ADDRESS.fullmatch(params.token):
        raise ValueError('token: an ERC-20 address, or "native"')
    if params.chain_id != chain_id:
        raise ValueError(f"chainId: this service pays on chain {chain_id}")
    return int(params.amount)


def payment_call(params: PaymentParams, payee: str, amount: int) -> calls.Call:
    """What the account is told to do."""
    return (payee, amount, b"") if params.token == NATIVE else calls.transfer(params.token, payee, amount)


def demand(params: PaymentParams, payee: Payee, amount: int, spent: int) -> dict[str, Any]:
    """The invocation's arguments that a delegation's policy judges; `total` is everything spent under it, and this."""
    return {
        "to": payee.address,
        "amount": amount,
        "token": NATIVE if params.token == NATIVE else checksum_address(from_hex(params.token)),
        "chainId": params.chain_id,
        "total": spent + amount,
    }


class Ledger:
    """What has been spent under each delegation and token, kept in the vault's store, else in memory."""

    def __init__(self, store: VaultStore | None) -> None:
        self._store = store
        self._memory: dict[str, str] = {}

    def spent(self, token_cid: str, token: str) -> int:
        """The sum in the token's smallest unit."""
        return int(self._text(_entry(token_cid, token)) or 0)

    def add(self, token_cid: str, token: str, amount: int, spent: int) -> bool:
        """Count a payment before it is sent, if the sum is still `spent`; whether it was.

        A crash after this may cost budget; nothing exceeds it.
        """
        name, total = _entry(token_cid, token), str(spent + amount)
        before = self._text(name)
        if int(before or 0) != spent:
            return False
        if self._store:
            return self._store.replace_note(name, before, total)
        self._memory[name] = total
        return True

    def _text(self, name: str) -> str | None:
        return self._store.note(name) if self._store else self._memory.get(name)


def _entry(token_cid: str, token: str) -> str:
    return f"spent:{token_cid}:{token}"


class Payments:
    """Payments of one vault through one service."""

    def __init__(self, client: Face, vault: Face, account: SmartAccount, ledger: Ledger) -> None:
        self._client, self._vault, self._account, self._ledger = client, vault, account, ledger

    async def pay(self, params: PaymentParams, on_progress: Callable[[str], Any] | None = None) -> PaymentResult:
        """See Client.pay."""
        await self._account.open()
        amount = checked(params, self._account.contracts.chain_id)
        payee = await payee_of(self._client, params.to)
        await self._authorise(params, payee, amount)
        await _tell(on_progress, "prepared")
        operation = await self._account.prepared(payment_call(params, payee.address, amount))
        signed = await self._account.signed(operation)
        await _tell(on_progress, "signed")
        sent = await self._account.send(signed)
        await _tell(on_progress, "sent")
        await self._account.wait(sent)
        await _tell(on_progress, "confirmed")
        return payment_result(params, hash_text(sent))

    async def _authorise(self, params: PaymentParams, payee: Payee, amount: int) -> None:
        """Nothing without a token: the owner of the open vault may pay. With one, its chain and limits decide."""
        if params.ucan is None:
            return
        token = params.token.lower()
        claims = await self._verified({"token": params.ucan})
        spent = self._ledger.spent(claims["cid"], token)
        args = demand(params, payee, amount, spent)
        if claims["kind"] == "invocation":
            # It is spent by being used once, and its arguments are its own: it cannot know a running total.
            args.pop("total")
        await self._verified({"token": params.ucan, "command": PAY_COMMAND, "args": args})
        if claims["kind"] == "invocation":
            self._refuse_replay(claims["cid"])
        if not self._ledger.add(claims["cid"], token, amount, spent):
            raise PaymentRefused("another payment under the same delegation came in between; try again")

    async def _verified(self, question: dict[str, Any]) -> dict[str, Any]:
        """The claims, by the enclave and with the vault's own revocations. Raises PaymentRefused."""
        did = (await self._vault.status()).did
        answer = await self._vault.exec("resource:delegations action:verify", {**question, "subject": did})
        if not answer.success or not isinstance(answer.result, dict):
            raise PaymentRefused(f"the delegation does not allow this payment ({answer.error})")
        return answer.result

    def _refuse_replay(self, cid: str) -> None:
        if not self._ledger.add(cid, _USED, 1, 0):
            raise PaymentRefused("the invocation has been used before")


def payment_result(params: PaymentParams, operation_hash: str) -> PaymentResult:
    """The result as documented: `txHash` equals `userOpHash`."""
    return PaymentResult(
        tx_hash=operation_hash,
        user_op_hash=operation_hash,
        chain=params.chain_id,
        token=params.token,
        explorer_url=operation_page(params.chain_id, operation_hash),
    )


async def _tell(on_progress: Callable[[str], Any] | None, step: str) -> None:
    if on_progress is not None:
        await answered(on_progress, step)
