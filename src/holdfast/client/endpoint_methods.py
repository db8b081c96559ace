"""One method for each endpoint of the service that programs call.

Written by `tools/endpoint_methods.py` from the declarations in `holdfast/wire/endpoints.py`; not edited by hand.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.http.endpoint_calls import EndpointCaller, as_bytes, as_found, as_json, as_type
from holdfast.client.types import service
from holdfast.wire import endpoints, requests


class EndpointMethods(EndpointCaller):
    """The endpoints whose declaration says all that a client needs."""

    async def enclave_wasm(self) -> bytes:
        """The enclave, a WebAssembly module: GET /enclave.wasm."""
        return await self._call(endpoints.ENCLAVE, as_bytes)

    async def contracts(self) -> service.ContractSet:
        """The default contract set: GET /api/contracts."""
        return await self._call(endpoints.CONTRACTS, as_type(service.ContractSet))

    async def status(self) -> service.Status:
        """Chain and database: GET /api/status."""
        return await self._call(endpoints.STATUS, as_type(service.Status))

    async def chains(self) -> service.ServedChains:
        """The chains that the service serves, with their endpoints: GET /api/chains."""
        return await self._call(endpoints.CHAINS, as_type(service.ServedChains))

    async def registration_counters(self) -> service.RegistrationCounters:
        """Registration counters: GET /api/sessions/status."""
        return await self._call(endpoints.REGISTRATION_COUNTERS, as_type(service.RegistrationCounters))

    async def lookup_did(self, credential_id: str) -> service.DidRecord | None:
        """The DID that a credential leads to: GET /api/dids/lookup.

        Raises:
            InvalidRequest: status 400
        """
        return await self._call(
            endpoints.LOOK_UP_DID, as_found(service.DidRecord), requests.LookUpDid(credential_id=credential_id)
        )

    async def check_alias(self, alias: str) -> service.AliasAvailability:
        """Whether an alias is free: GET /api/aliases/check.

        Raises:
            InvalidRequest: status 400
        """
        return await self._call(
            endpoints.CHECK_ALIAS, as_type(service.AliasAvailability), requests.CheckAlias(alias=alias)
        )

    async def create_session(self, identifier: str, channel: str, did: str) -> service.SessionCreated:
        """Open a registration session: POST /api/sessions.

        Raises:
            InvalidRequest: status 400
            IdentifierReserved: status 409
            IdentifierTaken: status 409
            RegistrationClosed: status 403
            InvitationRequired: status 403
            InvitationInvalid: status 403
            IpLimitReached: status 429
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
            RateLimited: status 429
        """
        return await self._call(
            endpoints.OPEN_SESSION,
            as_type(service.SessionCreated),
            requests.OpenSession(identifier=identifier, channel=channel, did=did),
        )

    async def check_session(self, identifier: str, channel: str = "handle") -> service.Availability:
        """Whether an identifier is free: GET /api/sessions/check.

        Raises:
            InvalidRequest: status 400
        """
        return await self._call(
            endpoints.CHECK_SESSION,
            as_type(service.Availability),
            requests.CheckSession(identifier=identifier, channel=channel),
        )

    async def send_code(self, identifier: str, channel: str) -> service.CodeSent:
        """Send a one-time code: POST /api/verify/send.

        Raises:
            InvalidRequest: status 400
            RateLimited: status 429
            SmsSendFailed: status 502
            EmailSendFailed: status 502
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
        """
        return await self._call(
            endpoints.SEND_CODE, as_type(service.CodeSent), requests.SendCode(identifier=identifier, channel=channel)
        )

    async def check_code(self, identifier: str, channel: str, code: str) -> service.CodeCheck:
        """Check a one-time code: POST /api/verify/check.

        Raises:
            InvalidRequest: status 400
            RateLimited: status 429
            SmsCheckFailed: status 502
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
        """
        return await self._call(
            endpoints.CHECK_CODE,
            as_type(service.CodeCheck),
            requests.CheckCode(identifier=identifier, channel=channel, code=code),
        )

    async def verification_status(self, identifier: str, channel: str) -> service.VerificationStatus:
        """Whether an identifier was verified: GET /api/verify/status.

        Raises:
            InvalidRequest: status 400
        """
        return await self._call(
            endpoints.VERIFICATION_STATUS,
            as_type(service.VerificationStatus),
            requests.ReadVerification(identifier=identifier, channel=channel),
        )

    async def recovery_terms(self) -> service.RecoveryTerms:
        """The service's key as a guardian of accounts, and when it signs: GET /api/recovery."""
        return await self._call(endpoints.RECOVERY_TERMS, as_type(service.RecoveryTerms))

    async def ask_recovery(
        self, identifier: str, channel: str, new_owners: list[str], account: str | None = None
    ) -> service.RecoveryCodeSent:
        """Ask the service to sign a recovery: it sends a code to an address of the DID: POST /api/recovery/send.

        Raises:
            InvalidRequest: status 400
            RecoveryNotPossible: status 409
            GuardianNotConfigured: status 503
            RateLimited: status 429
            SmsSendFailed: status 502
            EmailSendFailed: status 502
            ChainUnreachable: status 502
        """
        return await self._call(
            endpoints.ASK_RECOVERY,
            as_type(service.RecoveryCodeSent),
            requests.AskRecovery(identifier=identifier, channel=channel, new_owners=new_owners, account=account),
        )

    async def check_recovery(self, request: str, code: str) -> service.RecoveryCheck:
        """Check the code of a recovery; the waiting time then begins: POST /api/recovery/check.

        Raises:
            InvalidRequest: status 400
            GuardianNotConfigured: status 503
            RateLimited: status 429
        """
        return await self._call(
            endpoints.CHECK_RECOVERY, as_type(service.RecoveryCheck), requests.CheckRecovery(request=request, code=code)
        )

    async def sign_recovery(self, account: str, new_owners: list[str]) -> service.RecoverySigned:
        """The service's signature under a recovery, after the waiting time: POST /api/recovery/sign.

        Raises:
            InvalidRequest: status 400
            RecoveryNotFound: status 404
            RecoveryWaits: status 409
            RecoveryNotPossible: status 409
            GuardianNotConfigured: status 503
            RateLimited: status 429
            ChainUnreachable: status 502
        """
        return await self._call(
            endpoints.SIGN_RECOVERY,
            as_type(service.RecoverySigned),
            requests.SignRecovery(account=account, new_owners=new_owners),
        )

    async def stop_recovery(self, request: str) -> service.RecoveryStopped:
        """Stop the service's help with a recovery, by the request's number from the mail: POST /api/recovery/stop.

        Raises:
            InvalidRequest: status 400
            GuardianNotConfigured: status 503
            RateLimited: status 429
        """
        return await self._call(
            endpoints.STOP_RECOVERY, as_type(service.RecoveryStopped), requests.StopRecovery(request=request)
        )

    async def readyz(self) -> Any:
        """The store reads and writes: GET /readyz."""
        return await self._call(endpoints.READINESS, as_json)
