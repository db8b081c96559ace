"""Payments from the vault's smart account: how they are made, allowed by a delegation, and noted for other devices."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.chain import calls
from holdfast.chain.account_calls import NOBODY, spend
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.errors import NoReceipt
from holdfast.chain.two_keys import Transfer
from holdfast.client.callbacks import answered
from holdfast.client.flows.accounts import ADDRESS, address_in
from holdfast.client.flows.amounts import COIN, COIN_DECIMALS, amount_text
from holdfast.client.flows.chains import explorer_of
from holdfast.client.flows.failures import AccountNotFunded, GasTooDear, OperationFailed, PaymentRefused
from holdfast.client.flows.payee import Payee, check_elsewhere, payee_of
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.snapshots.payment_notes import PaymentNote, settled_note, time_text
from holdfast.client.storage.notes import read_note
from holdfast.client.types import NATIVE, PaymentParams, PaymentResult
from holdfast.rules.chains import CHAINS, operation_page
from holdfast.wire.encoding import to_hex
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.storage.notes import MemoryNotes
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.wire.models import ServedChain

PAY_COMMAND = "/accounts/pay"
_AMOUNT = re.compile(r"[0-9]{1,78}")
_MAX_AMOUNT = 2**256 - 1
_OF_DELEGATION, _USED = "delegation", "used"
_USDC, _USDC_DECIMALS = "USDC", 6


def checked(params: PaymentParams) -> int:
    """Return the amount. Raises ValueError for parameters that are not a payment."""
    if not _AMOUNT.fullmatch(params.amount) or not 0 < int(params.amount) <= _MAX_AMOUNT:
        raise ValueError("amount: a positive whole number in the token's smallest unit")
    if params.token != NATIVE and not ADDRESS.fullmatch(params.token):
        raise ValueError('token: an ERC-20 address, or "native"')
    if params.token != NATIVE:
        address_in(params.token, "token")
    return int(params.amount)


@dataclass
class Payments:
    """Makes payments from one vault's smart account through one service.

    `notes` count the token's smallest units spent under each delegation, and the invocations that were used.
    """

    client: AsyncServiceClient
    vault: AsyncVault
    account: SmartAccount
    notes: VaultStore | MemoryNotes
    note: Callable[[PaymentNote], Awaitable[None]]
    spender: Callable[[str, bytes], SmartAccount] | None = None

    async def pay(
        self, params: PaymentParams, on_progress: Callable[[str], object] | None = None, called: str | None = None
    ) -> PaymentResult:
        """See Client.pay."""
        amount, account = checked(params), self.account
        await account.open()
        there = await account.other_chain(params.chain_id)
        payee = await payee_of(self.client, params.to, account)  # DIDs are on the main chain
        if there is not None:
            # Also for the address of a DID that a person has agreed to.
            did = called if called and called.startswith("did:") else payee.did
            await check_elsewhere(self.client, Payee(payee.address, did), there.chain_id, account.contracts)
        account.move(there)
        await self.authorise(params, payee, amount)
        account, call, call_data = await self._way(account, params, payee.address, amount)
        operation = await _prepared(account, params, amount, call)
        if operation.call_data != call_data:
            raise OperationFailed("the operation's bytes are not the payment that was asked for: nothing was signed")
        await answered(on_progress, "prepared")
        signed = await account.signed(operation)
        await answered(on_progress, "signed")
        note = payment_note(params, payee.address, to_hex(account.hash(operation)), called, there)
        await self.note(note)
        sent = await account.send(signed)
        await answered(on_progress, "sent")
        try:
            await account.wait(sent)
        except OperationFailed as error:
            if not isinstance(error.__cause__, NoReceipt):
                await self.note(settled_note(note, succeeded=False))
            raise
        await self.note(settled_note(note, succeeded=True))
        await answered(on_progress, "confirmed")
        return PaymentResult(
            tx_hash=to_hex(sent),  # as documented, the same as `userOpHash`
            user_op_hash=to_hex(sent),
            chain=params.chain_id,
            token=params.token,
            explorer_url=operation_page(await explorer_of(self.client, params.chain_id), to_hex(sent)),
        )

    async def _way(
        self, account: SmartAccount, params: PaymentParams, payee: str, amount: int
    ) -> tuple[SmartAccount, calls.Call, bytes]:
        """Return the account that pays, its call and the call data.

        Where two owners must sign, it pays by a permission of the vault's key that covers the payment.
        """
        call = (payee, amount, b"") if params.token == NATIVE else calls.transfer(params.token, payee, amount)
        if self.spender is None:
            return account, call, calls.execute(call)
        token = NOBODY if params.token == NATIVE else params.token
        way = await account.way(Transfer(payee, amount, token))
        if way.permission is None:
            return account, call, calls.execute(call)
        permission, address = way.permission.permission, account.key.address
        spender = self.spender(address, permission.id)
        await spender.open()
        spender.move(await spender.other_chain(params.chain_id))
        call = spend(address, permission, payee, amount)
        return spender, call, call[2]  # the entry point calls `spend` itself

    async def authorise(self, params: PaymentParams, payee: Payee, amount: int) -> None:
        """Check the UCAN's delegations and limits. Without a UCAN, the owner of the unlocked vault is paying."""
        if params.ucan is None:
            return
        token = NATIVE if params.token == NATIVE else address_in(params.token, "token")
        args = {"to": payee.address, "amount": amount, "token": token, "chainId": params.chain_id}
        for _ in range(OPERATIONS.budget_attempts):
            if await self._charged(params.ucan, args, token.lower()):
                return
        raise PaymentRefused(
            "other payments under the same delegation were made at the same time; try again", _OF_DELEGATION
        )

    async def _charged(self, ucan: str, args: dict[str, Any], token: str) -> bool:
        """Count the payment towards the UCAN's delegations. Return False if another one was counted in the meantime.

        It is counted before it is sent, so the sums may include one that was never sent, but never omit one that was.
        They are those of canonical CIDs, which a UCAN keeps if its ECDSA signature is changed to its other valid form.
        """
        claims = await self._verified({"token": ucan})
        question: dict[str, Any] = {"token": ucan, "command": PAY_COMMAND, "args": args}
        once = claims["cid"] if claims["kind"] == "invocation" else None
        if once is not None:
            if self.notes.note(_entry(once, _USED)) is not None:
                raise PaymentRefused("the invocation has been used before", _OF_DELEGATION)
            # The audience of an invocation must be this vault. An invocation contains a `total`, because it could not
            # be minted without one, but that value is not trusted.
            question |= {"audience": (await self.vault.status()).did}
            question["args"] = args | {name: value for name, value in claims["args"].items() if name == "total"}
        entries = {cid: _entry(cid, token) for cid in claims["path"] if cid != once}
        spent = {cid: read_note(self.notes, entry, int) or 0 for cid, entry in entries.items()}
        totals = {cid: {"total": before + args["amount"]} for cid, before in spent.items()}
        await self._verified(question | {"added_args": totals})
        changes: dict[str, tuple[str | None, str | None]] = {} if once is None else {_entry(once, _USED): (None, "1")}
        for cid, before in spent.items():
            changes[entries[cid]] = (str(before) if before else None, str(totals[cid]["total"]))
        return self.notes.replace_notes(changes)

    async def _verified(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the UCAN's claims, verified, also against the vault's own revocations. Raises PaymentRefused."""
        did = (await self.vault.status()).did
        answer = await self.vault.exec("resource:delegations action:verify", {**question, "subject": did})
        if not answer.success or not isinstance(answer.result, dict):
            raise PaymentRefused(
                f"the delegation does not allow this payment ({answer.error})", answer.error or _OF_DELEGATION
            )
        return answer.result


async def _prepared(account: SmartAccount, params: PaymentParams, amount: int, call: calls.Call) -> UserOperation:
    """Return the operation. Raises AccountNotFunded if it was refused and the account has less than the amount."""
    try:
        return await account.prepared(call)
    except OperationFailed as refused:
        if refused.earlier or isinstance(refused, AccountNotFunded | GasTooDear | SecondKeyMissing):
            raise
        balance, address = await account.balance(params.token), account.key.address
        if balance is None or balance >= amount:
            raise
        message = f"the account {address} has {balance} of the {amount} that are to be paid ({refused})"
        raise AccountNotFunded(message, address, balance, amount, params.token) from refused


def payment_note(
    params: PaymentParams, payee: str, user_op_hash: str, called: str | None, there: ServedChain | None = None
) -> PaymentNote:
    """Return the note about a payment to the address `payee`, which has been signed and is about to be sent.

    `called`: the payee as the person knows it; None: as in `params`. `there`: the chain, if it is not the main chain.
    """
    symbol, decimals = _unit(params, there.usdc if there else None)
    return PaymentNote(
        hash=user_op_hash.lower(),
        to=called or params.to,
        address=payee,
        amount=amount_text(int(params.amount), decimals),
        symbol=symbol if there is None else f"{symbol} on {_name_of(there)}",
        time=time_text(datetime.now(UTC)),
        state="sent",
        label=params.label,
    )


def _entry(cid: str, token: str) -> str:
    return f"spent:{cid}:{token}"


def _name_of(chain: ServedChain) -> str:
    known = CHAINS.get(chain.chain_id) or chain
    return f"{known.name} (test money)" if known.test_money else known.name


def _unit(params: PaymentParams, usdc: str | None) -> tuple[str, int]:
    """Return the token's symbol and decimals; for an unknown token its address and 0."""
    if params.token == NATIVE:
        return COIN, COIN_DECIMALS
    chain, token = CHAINS.get(params.chain_id), params.token.lower()
    known = {each.lower() for each in (ADDRESSES["DevUSDC"], usdc, chain and chain.usdc) if each}
    return (_USDC, _USDC_DECIMALS) if token in known else (params.token, 0)
