"""The service as a guardian of accounts: it signs a recovery after it has verified an address of the DID again."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain.account_messages import recovery_digest
from holdfast.chain.errors import RpcError
from holdfast.chain.signers import key_id
from holdfast.rules import abi
from holdfast.rules.identifiers import Channel
from holdfast.rules.one_time_codes import CodeFailure, judge_digests
from holdfast.rules.quotas import of_check
from holdfast.rules.recovery import REQUEST_BYTES, is_request, owners_text, recovery_code_digest
from holdfast.service.store.recoveries import NewRecovery
from holdfast.wire.abi import WORD, selector, word
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.errors import (
    GUARDIAN_NOT_CONFIGURED,
    INVALID_VERIFY_CHANNEL,
    RECOVERY_NOT_FOUND,
    RECOVERY_NOT_POSSIBLE,
    RECOVERY_WAITS,
    RPC_ERROR,
    Refused,
)
from holdfast.wire.keccak import checksum_address, did_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.abi import AccountSlots
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.recovery import GuardianKey
    from holdfast.service.operations.accounts import Accounts
    from holdfast.service.operations.verification import Verification
    from holdfast.service.store.recoveries import Recoveries

_SETTINGS, _KEY_STATE = selector("accountSettings()"), selector("keyState(bytes32)")
_PENDING = selector("pendingRecovery()")
_GENERATION_INDEX, _NONCE_INDEX = 1, 7
# Above an account's own numbers: a uint32, and a time at most 90 days ahead. A stranger's contract may say more.
_NONCES, _NO_DATE = 2**32, 253_402_300_800  # 10000-01-01


class Recoverable(NamedTuple):
    """What the chain says of an account: its DID's hash, the next recovery's number, the key that is a guardian."""

    did_hash: bytes
    nonce: int
    key: GuardianKey | None


@dataclass(frozen=True, slots=True)
class RecoveryChain:
    """Reads accounts for recoveries, without a cache. `registry`: address of the DID registry."""

    accounts: Accounts
    registry: str

    async def account_of(self, did: str) -> bytes:
        """Return the account that controls a DID. Raises Refused: RECOVERY_NOT_POSSIBLE without one, RPC_ERROR."""
        try:
            answer = await self.accounts.chain.client.eth_call(self.registry, abi.GET_DID + did_hash(did), at_least=0)
            controller = abi.decode_did(answer)[0] if answer else b""
        except (RpcError, abi.MalformedAnswer):
            raise Refused(RPC_ERROR) from None
        if not any(controller):
            raise Refused(RECOVERY_NOT_POSSIBLE)
        return controller

    async def recoverable(self, account: bytes, keys: Sequence[GuardianKey]) -> Recoverable:
        """Return what a recovery needs. Raises Refused: RECOVERY_NOT_POSSIBLE for no account, RPC_ERROR."""
        try:
            settings = await self._settings(account)
            state = await self.state(account)
            guarding = [key for key in keys if await self._is_guardian(account, key)]
        except (RpcError, abi.MalformedAnswer):
            raise Refused(RPC_ERROR) from None
        if settings is None or not state.is_active:
            raise Refused(RECOVERY_NOT_POSSIBLE)
        return Recoverable(state.did, settings[_NONCE_INDEX], guarding[0] if guarding else None)

    async def state(self, account: bytes) -> AccountSlots:
        """Return the account's DID and primary key. Raises RpcError or MalformedAnswer."""
        of = self.accounts
        question = abi.encode_account_state(account, from_hex(of.entry_point))
        return abi.decode_account_state(await of.chain.client.eth_call(of.helper, question, at_least=5 * WORD))

    async def pending(self, account: bytes) -> tuple[int, int] | None:
        """Return from when the running recovery can be finished, and its number; None if none is. Raises RpcError."""
        pending, settings = await self._read(account, _PENDING, 3), await self._settings(account)
        if pending is None or settings is None or not 0 < pending[0] < _NO_DATE or not settings[_NONCE_INDEX]:
            return None
        return pending[0], settings[_NONCE_INDEX] - 1

    async def finished(self, account: bytes) -> int:
        """Return how many recoveries of an account were finished. Raises RpcError."""
        settings = await self._settings(account)
        return 0 if settings is None else settings[_GENERATION_INDEX]

    async def _is_guardian(self, account: bytes, key: GuardianKey) -> bool:
        state = await self._read(account, _KEY_STATE + key_id(key.signer), 3)
        return state is not None and state[2] == 1

    async def _settings(self, account: bytes) -> list[int] | None:
        found = await self._read(account, _SETTINGS, 8)
        return found if found is not None and found[_NONCE_INDEX] < _NONCES else None

    async def _read(self, account: bytes, data: bytes, words: int) -> list[int] | None:
        answer = await self.accounts.chain.client.eth_call(to_hex(account), data, at_least=0)
        return [int.from_bytes(word(answer, n)) for n in range(words)] if len(answer) == words * WORD else None


@dataclass(frozen=True, slots=True)
class Guarding:
    """Signs recoveries as a guardian.

    Attributes:
        keys: the first is the one that people make a guardian; without one, the service does not act as a guardian.
        wait_s: from the entry of the code until the service signs.
    """

    store: Recoveries
    verification: Verification
    chain: RecoveryChain
    keys: tuple[GuardianKey, ...]
    wait_s: int

    def channels(self) -> list[Channel]:
        """Return the channels whose codes Holdfast makes; a provider's own could be used to register, too."""
        own = (Channel.EMAIL, Channel.SMS)
        return [channel for channel in own if self.keys and self.verification.makes_codes(channel)]

    async def ask(self, identifier: Identifier, account: bytes | None, owners: Sequence[bytes], ip: str) -> str:
        """Send a code for a recovery; return the request's number. By default the account is the one of the DID.

        Raises:
            Refused: RECOVERY_NOT_POSSIBLE if the identifier is not one of the account's DID, or the service is not its
                guardian; else as for any code.
        """
        if identifier.channel not in self.channels():
            raise Refused(INVALID_VERIFY_CHANNEL if self.keys else GUARDIAN_NOT_CONFIGURED)
        did = await self.store.holder(identifier)
        if did is None:
            raise Refused(RECOVERY_NOT_POSSIBLE)
        account = account or await self.chain.account_of(did)
        found = await self.chain.recoverable(account, self.keys)
        if found.key is None or found.did_hash != did_hash(did):
            raise Refused(RECOVERY_NOT_POSSIBLE)
        request, address = self.verification.entropy(REQUEST_BYTES).hex(), checksum_address(account)

        async def keep(code: str | None) -> None:
            assert code is not None, "the channels are those whose codes Holdfast makes"
            now = self.verification.clock()
            await self.store.keep(
                NewRecovery(
                    request=request,
                    identifier=identifier,
                    did=did,
                    account=address,
                    nonce=found.nonce,
                    owners=owners_text(owners),
                    digest=recovery_code_digest(self.verification.secrets.code_keys[0], request, code),
                    now=now,
                    expires_at=now + self.verification.lifetime_s(identifier),
                )
            )

        await self.verification.deliver(identifier, ip, keep)
        return request

    async def check(self, request: str, code: str, ip: str) -> tuple[str, float] | CodeFailure:
        """Return the account and from when the service signs, or why the code is refused.

        Raises Refused over a limit.
        """
        self._require()
        given, now = self.verification, self.verification.clock()
        if not is_request(request):
            return CodeFailure.NO_CODE
        quotas, most = of_check(ip, given.ceilings), given.limits.max_verify_attempts
        attempt = await self.store.count_attempt(request, quotas, now, most)
        digests = [recovery_code_digest(key, request, code.strip()) for key in given.secrets.code_keys]
        failure = judge_digests(attempt, digests, now, given.limits)
        if failure is not None:
            return failure
        ready_at = now + self.wait_s
        account = await self.store.confirm(request, now, ready_at)
        return CodeFailure.NO_CODE if account is None else (account, ready_at)

    async def stop(self, request: str) -> bool:
        """Stop a request; False without one."""
        self._require()
        return is_request(request) and await self.store.stop(request, self.verification.clock())

    async def sign(self, account: bytes, owners: Sequence[bytes]) -> tuple[int, bytes, bytes]:
        """Return the recovery's number, the service's signer and its signature.

        The digest is computed here, so that nothing else can be signed. The chain says the number: a request is worth
        nothing once another recovery was started or cancelled.

        Raises:
            Refused: RECOVERY_NOT_FOUND without a confirmed request, RECOVERY_WAITS before its time,
                RECOVERY_NOT_POSSIBLE if the account has another DID or the service is no longer its guardian.
        """
        self._require()
        found, now = await self.chain.recoverable(account, self.keys), self.verification.clock()
        if found.key is None:
            raise Refused(RECOVERY_NOT_POSSIBLE)
        address = checksum_address(account)
        signable = await self.store.signable(address, owners_text(owners), found.nonce, now)
        if signable is None:
            raise Refused(RECOVERY_NOT_FOUND)
        if signable.ready_at > now:
            raise Refused(RECOVERY_WAITS, retry_after_s=ceil(signable.ready_at - now))
        if did_hash(signable.did) != found.did_hash:
            raise Refused(RECOVERY_NOT_POSSIBLE)
        return found.nonce, found.key.signer, found.key.sign(recovery_digest(address, found.nonce, owners))

    def _require(self) -> None:
        if not self.keys:
            raise Refused(GUARDIAN_NOT_CONFIGURED)
