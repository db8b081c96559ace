"""Mails to the addresses of a DID: when the service is asked for a recovery, and when one starts on the chain.

Also notes recoveries that were finished there, for the audit and for events.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import msgspec

from holdfast.chain.errors import RpcError, chain_words
from holdfast.rules import abi
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.port import Notice
from holdfast.service.store.recoveries import FinishedRecovery, StartedRecovery
from holdfast.service.telemetry.calls import calling
from holdfast.service.upstreams.proxy import UpstreamError
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.mail.port import Mailer
    from holdfast.service.operations.guarding import RecoveryChain
    from holdfast.service.store.recoveries import Mail, Recoveries
    from holdfast.service.upstreams.indexer import Indexer

T = TypeVar("T")
_log = logging.getLogger("holdfast.recoveries")
SEND_EVERY_S = 20.0
_LEASE_S = 300.0  # after which a mail is tried again at the earliest; longer than any provider takes
_AT_ONCE, _ROUNDS = 4, 12  # few at once, because codes go through the same connections
_TRIED_FOR_S = 2 * 86400.0  # after `until`
_PAGES, _ROWS = 10, 200
_LOOK_BACK = 50_000  # blocks that are looked through after a start: more than a day on Base
_OVERLAP = 64  # blocks that are looked through again, because a reorganisation may change them


class _Event(msgspec.Struct):
    account_address: str


class _Page(msgspec.Struct):
    events: list[_Event]
    next_cursor: str | None = None


class _Stats(msgspec.Struct):
    last_block_number: int


@dataclass(slots=True)
class RecoveryMails:
    """Notes and sends the mails. The indexer only says where to look; what is written comes from the chain."""

    store: Recoveries
    mailer: Mailer
    indexer: Indexer | None
    chain: RecoveryChain
    chain_id: int
    clock: Clock
    _since: int | None = field(default=None)

    async def run(self) -> dict[str, int]:
        """Look for recoveries that started or ended, then send what waits; return how many mails were noted, sent."""
        noted = await self._watch() if self.indexer is not None else 0
        return {"noted": noted, "sent": await self._send(), "removed": await self.store.expire(self.clock())}

    async def _watch(self) -> int:
        try:
            last = max(0, (await self._read("/api/stats", "", _Stats)).last_block_number)
            since = max(0, last - _LOOK_BACK) if self._since is None else min(self._since, last)
            noted = sum([await self._note(account) for account in await self._accounts("RecoveryStarted", since)])
            for account in await self._accounts("RecoveryFinished", since):
                await self._note_finished(account)
        except (UpstreamError, RpcError, abi.MalformedAnswer, ValueError, RecursionError) as error:
            _log.warning("recoveries not looked for", extra={"why": _why(error)})
            return 0
        self._since = max(0, last - _OVERLAP)
        return noted

    async def _accounts(self, kind: str, since: int) -> list[bytes]:
        """Return the accounts of which the indexer shows this kind of event, each once."""
        found: dict[bytes, None] = {}
        cursor = ""
        for _ in range(_PAGES):
            page = await self._read("/api/events", f"kind={kind}&from_block={since}&limit={_ROWS}{cursor}", _Page)
            found |= dict.fromkeys(bytes.fromhex(event.account_address[2:]) for event in page.events[:_ROWS])
            if page.next_cursor is None or not page.next_cursor.isalnum():
                break
            cursor = f"&cursor={page.next_cursor}"
        return [account for account in found if len(account) == 20]  # noqa: PLR2004 - an address

    async def _read(self, path: str, query: str, kind: type[T]) -> T:
        assert self.indexer is not None
        answer = await self.indexer.get(path, query, {})
        if answer.status != 200:  # noqa: PLR2004 - HTTP
            raise UpstreamError(f"the indexer answers with status {answer.status}")
        return msgspec.json.decode(answer.body, type=kind)

    async def _note(self, account: bytes) -> int:
        """Note the mails about an account's recovery if the chain says that one is under way."""
        pending = await self.chain.pending(account)
        if pending is None:
            return 0
        (until, nonce), address = pending, checksum_address(account)
        did = await self._did_of(account)
        if did is None:
            return 0
        started = StartedRecovery(chain_id=self.chain_id, account=address, nonce=nonce, did=did, until=float(until))
        return await self.store.note_started(started, self.clock())

    async def _note_finished(self, account: bytes) -> None:
        """Note that an account was recovered if the chain says so."""
        generation, did = await self.chain.finished(account), await self._did_of(account)
        if generation and did is not None:
            address = checksum_address(account)
            finished = FinishedRecovery(chain_id=self.chain_id, account=address, generation=generation, did=did)
            await self.store.note_finished(finished, self.clock())

    async def _did_of(self, account: bytes) -> str | None:
        """Return the account's DID. The chain has its hash alone, so those who state the account here are compared."""
        state = await self.chain.state(account)
        key = did_of_key(int.from_bytes(state.pub_key_x), int.from_bytes(state.pub_key_y))
        named = await self.store.dids_of(checksum_address(account))
        return next((did for did in (key, *named) if did_hash(did) == state.did), None)

    async def _send(self) -> int:
        """Send what waits, until a round fails as a whole: a provider that hangs takes one round of each run."""
        count = 0
        for _ in range(_ROUNDS):
            mails = await self.store.take_mails(self.clock(), _LEASE_S, _AT_ONCE)
            sent = sum(await asyncio.gather(*map(self._sent, mails)))
            count += sent
            if not sent:
                break
        return count

    async def _sent(self, mail: Mail) -> int:
        """Send a mail; return 0 if it waits for another try.

        A mail that may have been sent, or after which the service was killed, goes out again, ever more rarely: one too
        many, with the same Message-ID, is better than none.
        """
        notice, done = Notice(mail.name, mail.kind, mail.account, mail.until, mail.request), True
        try:
            with calling("mail"):
                await self.mailer.send_notice(mail.recipient, notice)
        except DeliveryError as error:
            _log.warning("mail about a recovery not sent", extra={"kind": error.kind, "why": str(error)})
            done = self.clock() > mail.until + _TRIED_FOR_S
            if not done and not error.perhaps_sent:
                await self.store.retry_mail(mail, self.clock() + _LEASE_S)
        if done:
            await self.store.sent(mail, self.clock())
        return int(done)


def _why(error: Exception) -> str:
    """Return for the log why the indexer or the chain could not be asked."""
    if isinstance(error, RpcError):
        return chain_words(error)
    return str(error) if isinstance(error, UpstreamError) else "an answer has not the documented form"
