"""Mails to the addresses of a DID: when the service is asked for a recovery, and when one starts on the chain.

Also notes recoveries that were finished there, for the audit and for events.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain.errors import AnswerTooLarge, RpcError, chain_words
from holdfast.rules import abi
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.port import Notice
from holdfast.service.store.recoveries import FinishedRecovery, StartedRecovery
from holdfast.service.telemetry.calls import calling
from holdfast.service.upstreams.proxy import UpstreamError
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from holdfast.service.clock import Clock
    from holdfast.service.mail.port import Mailer
    from holdfast.service.operations.guarding import RecoveryChain
    from holdfast.service.operations.recovery_events import RecoveryEvents
    from holdfast.service.store.recoveries import Mail, Recoveries

    _Note = Callable[["WatchedChain", bytes], Awaitable[int]]

_log = logging.getLogger("holdfast.recoveries")
SEND_EVERY_S = 20.0
_LEASE_S = 300.0  # after which a mail is tried again at the earliest; longer than any provider takes
_AT_ONCE, _ROUNDS = 4, 12  # few at once, because codes go through the same connections
_TRIED_FOR_S = 2 * 86400.0  # after `until`
_ASKED_FOR_S, _MOST_AGAIN = 86400.0, 1000  # of accounts of which a chain refuses to say anything


class WatchedChain(NamedTuple):
    """A chain of the service, and where its events are looked for."""

    chain_id: int
    accounts: RecoveryChain
    events: RecoveryEvents


@dataclass(slots=True)
class RecoveryMails:
    """Notes and sends the mails. Events only say where to look; what is written comes from the chain.

    Guardians sign for every chain, so all are watched.

    Attributes:
        main: accounts on the main chain, whose registry names the DID of an account on each.
        watched: empty without an indexer.
    """

    store: Recoveries
    mailer: Mailer
    main: RecoveryChain
    watched: Sequence[WatchedChain]
    clock: Clock
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _since: dict[int, int] = field(default_factory=dict)
    _again: dict[tuple[int, str], dict[bytes, tuple[float, float]]] = field(default_factory=dict)

    async def run(self) -> dict[str, int]:
        """Look for recoveries that started or ended, and send what waits; return how many mails were noted, sent."""
        sent = await self._send()
        others = await asyncio.gather(*map(self._watch_and_send, self.watched))
        noted, sent_of_noted = (sum(counts) for counts in zip((0, 0), *others, strict=True))
        return {"noted": noted, "sent": sent + sent_of_noted, "removed": await self.store.expire(self.clock())}

    async def _watch_and_send(self, chain: WatchedChain) -> tuple[int, int]:
        """Send what was noted of a chain at once: another chain may hang."""
        noted = await self._watch(chain)
        return noted, await self._send() if noted else 0

    async def _watch(self, chain: WatchedChain) -> int:
        try:
            found = await chain.events.since(self._since.get(chain.chain_id))
            noted = await self._note_each(chain, found.started, self._note)
            await self._note_each(chain, found.finished, self._note_finished)
        except (UpstreamError, RpcError, abi.MalformedAnswer, ValueError, RecursionError) as error:
            _log.warning("recoveries not looked for", extra={"chain_id": chain.chain_id, "why": _why(error)})
            return 0
        self._since[chain.chain_id] = found.next_block
        return noted

    async def _note_each(self, chain: WatchedChain, accounts: Iterable[bytes], note: _Note) -> int:
        """Note what the chain says of accounts; return how many mails.

        An account of which it refuses to say anything is asked for again, ever more rarely, and the others meanwhile: a
        stranger's contract may revert or return too much.
        """
        noted, again, now = 0, self._again.setdefault((chain.chain_id, note.__name__), {}), self.clock()
        for account in dict.fromkeys([*accounts, *(it for it, (at, _) in again.items() if at <= now)]):
            try:
                noted += await note(chain, account)
            except RpcError as error:
                if error.code is None and not isinstance(error, AnswerTooLarge):
                    raise
                pause = 2 * again.pop(account, (now, SEND_EVERY_S / 2))[1]
                if pause < _ASKED_FOR_S and len(again) < _MOST_AGAIN:
                    again[account] = (now + pause, pause)
                else:
                    _log.warning("a recovery not looked at", extra={"chain_id": chain.chain_id, "why": _why(error)})
            else:
                again.pop(account, None)
        return noted

    async def _note(self, chain: WatchedChain, account: bytes) -> int:
        """Note the mails about an account's recovery if the chain says that one is under way."""
        did = await self._did_of(chain, account)
        pending = None if did is None else await chain.accounts.pending(account)
        if did is None or pending is None:
            return 0
        (until, nonce), address = pending, checksum_address(account)
        started = StartedRecovery(chain_id=chain.chain_id, account=address, nonce=nonce, did=did, until=float(until))
        return await self.store.note_started(started, self.clock())

    async def _note_finished(self, chain: WatchedChain, account: bytes) -> int:
        """Note that an account was recovered if the chain says so."""
        did = await self._did_of(chain, account)
        generation = 0 if did is None else await chain.accounts.finished(account)
        if did is None or not generation:
            return 0
        address = checksum_address(account)
        finished = FinishedRecovery(chain_id=chain.chain_id, account=address, generation=generation, did=did)
        return await self.store.note_finished(finished, self.clock())

    async def _did_of(self, chain: WatchedChain, account: bytes) -> str | None:
        """Return the account's DID. The chain has its hash alone, so those who state the account here are compared.

        On another chain than the main one, only stated accounts are asked for anything, because any contract can emit
        their events there, and would make the service call it.
        """
        named = await self.store.dids_of(checksum_address(account))
        if not named and chain.accounts is not self.main:
            return None
        state = await self.main.state(account)
        key = did_of_key(int.from_bytes(state.pub_key_x), int.from_bytes(state.pub_key_y))
        return next((did for did in (key, *named) if did_hash(did) == state.did), None)

    async def _send(self) -> int:
        """Send what waits, until a round fails as a whole: a provider that hangs takes one round."""
        count = 0
        async with self._turn:
            for _ in range(_ROUNDS):
                mails = await self.store.take_mails(self.clock(), _LEASE_S, _AT_ONCE)
                ends = await asyncio.gather(*map(self._sent, mails))
                count += ends.count("sent")
                if set(ends) <= {"failed"}:
                    break
        return count

    async def _sent(self, mail: Mail) -> str:
        """Send a mail; return "sent", or "refused" or "failed" if it waits for another try.

        "refused" is the recipient alone.

        A mail that may have been sent, or after which the service was killed, goes out again, ever more rarely: one too
        many, with the same Message-ID, is better than none.
        """
        notice, end = Notice(mail.name, mail.kind, mail.account, mail.until, mail.request), "sent"
        try:
            with calling("mail"):
                await self.mailer.send_notice(mail.recipient, notice)
        except DeliveryError as error:
            _log.warning("mail about a recovery not sent", extra={"kind": error.kind, "why": str(error)})
            end = "refused" if error.of_recipient else "failed"
            if self.clock() > mail.until + _TRIED_FOR_S:
                end = "sent"
            if end != "sent" and not error.perhaps_sent:
                await self.store.retry_mail(mail, self.clock() + _LEASE_S)
        if end == "sent":
            await self.store.sent(mail, self.clock())
        return end


def _why(error: Exception) -> str:
    """Return for the log why the indexer or the chain could not be asked."""
    if isinstance(error, RpcError):
        return chain_words(error)
    return str(error) if isinstance(error, UpstreamError) else "an answer has not the documented form"
