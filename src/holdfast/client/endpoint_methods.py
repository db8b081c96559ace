"""One method for each endpoint of the service.

Written by `tools/endpoint_methods.py` from the declarations in `holdfast/wire/endpoints.py`; not edited by hand.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.http.endpoint_calls import EndpointCaller, as_bytes, as_found, as_json, as_text, as_type
from holdfast.client.types import service
from holdfast.wire import endpoints, models, requests


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

    async def registration_counters(self) -> service.RegistrationCounters:
        """Registration counters: GET /api/sessions/status."""
        return await self._call(endpoints.REGISTRATION_COUNTERS, as_type(service.RegistrationCounters))

    async def lookup_did(self, credential_id: str) -> service.DidRecord | None:
        """The DID that a credential leads to: GET /api/dids/lookup.

        Raises:
            InvalidRequest
        """
        return await self._call(
            endpoints.LOOK_UP_DID, as_found(service.DidRecord), requests.LookUpDid(credential_id=credential_id)
        )

    async def check_alias(self, alias: str) -> service.AliasAvailability:
        """Whether an alias is free: GET /api/aliases/check.

        Raises:
            InvalidRequest
        """
        return await self._call(
            endpoints.CHECK_ALIAS, as_type(service.AliasAvailability), requests.CheckAlias(alias=alias)
        )

    async def create_session(self, identifier: str, channel: str, did: str) -> service.SessionCreated:
        """Open a registration session: POST /api/sessions.

        Raises:
            InvalidRequest
            IdentifierReserved
            IdentifierTaken
            IpLimitReached
            IdempotencyKeyInUse
            IdempotencyKeyReused
            RateLimited
        """
        return await self._call(
            endpoints.OPEN_SESSION,
            as_type(service.SessionCreated),
            requests.OpenSession(identifier=identifier, channel=channel, did=did),
        )

    async def check_session(self, identifier: str, channel: str = "handle") -> service.Availability:
        """Whether an identifier is free: GET /api/sessions/check.

        Raises:
            InvalidRequest
        """
        return await self._call(
            endpoints.CHECK_SESSION,
            as_type(service.Availability),
            requests.CheckSession(identifier=identifier, channel=channel),
        )

    async def send_code(self, identifier: str, channel: str) -> service.CodeSent:
        """Send a one-time code: POST /api/verify/send.

        Raises:
            InvalidRequest
            RateLimited
            SmsSendFailed
            EmailSendFailed
            IdempotencyKeyInUse
            IdempotencyKeyReused
        """
        return await self._call(
            endpoints.SEND_CODE, as_type(service.CodeSent), requests.SendCode(identifier=identifier, channel=channel)
        )

    async def check_code(self, identifier: str, channel: str, code: str) -> service.CodeCheck:
        """Check a one-time code: POST /api/verify/check.

        Raises:
            InvalidRequest
            RateLimited
            SmsCheckFailed
            IdempotencyKeyInUse
            IdempotencyKeyReused
        """
        return await self._call(
            endpoints.CHECK_CODE,
            as_type(service.CodeCheck),
            requests.CheckCode(identifier=identifier, channel=channel, code=code),
        )

    async def verification_status(self, identifier: str, channel: str) -> service.VerificationStatus:
        """Whether an identifier was verified: GET /api/verify/status.

        Raises:
            InvalidRequest
        """
        return await self._call(
            endpoints.VERIFICATION_STATUS,
            as_type(service.VerificationStatus),
            requests.ReadVerification(identifier=identifier, channel=channel),
        )

    async def healthz(self) -> Any:
        """The process answers: GET /healthz."""
        return await self._call(endpoints.HEALTH, as_json)

    async def readyz(self) -> Any:
        """The store reads and writes: GET /readyz."""
        return await self._call(endpoints.READINESS, as_json)

    async def openapi(self) -> Any:
        """This document: GET /openapi.json."""
        return await self._call(endpoints.OPENAPI, as_json)

    async def docs(self) -> str:
        """This document as a page: GET /docs."""
        return await self._call(endpoints.DOCS, as_text)

    async def payment_address(self) -> str:
        """The payment method's own address: GET /pay."""
        return await self._call(endpoints.PAY, as_text)

    async def payment_worker(self) -> str:
        """The payment service worker: GET /pay/sw.js."""
        return await self._call(endpoints.PAY_WORKER, as_text)

    async def payment_page(self) -> str:
        """The payment confirmation page: GET /pay/confirm."""
        return await self._call(endpoints.PAY_CONFIRM, as_text)

    async def payment_script(self) -> str:
        """The confirmation page's script: GET /pay/confirm.js."""
        return await self._call(endpoints.PAY_CONFIRM_SCRIPT, as_text)

    async def payment_style(self) -> str:
        """The confirmation page's style: GET /pay/confirm.css."""
        return await self._call(endpoints.PAY_CONFIRM_STYLE, as_text)

    async def payment_icon(self) -> str:
        """The payment handler's icon: GET /pay/icon.svg."""
        return await self._call(endpoints.PAY_ICON, as_text)

    async def payment_manifest(self) -> Any:
        """The payment handler's manifest: GET /pay/manifest.json."""
        return await self._call(endpoints.PAY_MANIFEST, as_json)

    async def payment_method(self) -> Any:
        """The payment method manifest: GET /pay/payment-method.json."""
        return await self._call(endpoints.PAY_METHOD, as_json)

    async def start_page(self) -> str:
        """The start page, where people register: GET /."""
        return await self._call(endpoints.START_PAGE, as_text)

    async def vault_page(self) -> str:
        """The page of a person's vault: GET /vault."""
        return await self._call(endpoints.VAULT_PAGE, as_text)

    async def connect_page(self) -> str:
        """The page on which a person answers another origin's app: GET /connect."""
        return await self._call(endpoints.CONNECT_PAGE, as_text)

    async def pages_style(self) -> str:
        """The pages' style: GET /pages.css."""
        return await self._call(endpoints.PAGES_STYLE, as_text)

    async def pages_theme(self) -> str:
        """The operator's colour for the pages: GET /theme.css."""
        return await self._call(endpoints.PAGES_THEME, as_text)

    async def pages_logo(self) -> bytes:
        """The pages' logo: GET /logo."""
        return await self._call(endpoints.PAGES_LOGO, as_bytes)

    async def client_file(self, path: str) -> str:
        """A module of the JavaScript client: GET /client/{path}.

        Raises:
            NotFound
        """
        return await self._call(endpoints.CLIENT_FILE, as_text, path={"path": path})

    async def related_origins(self) -> models.RelatedOrigins:
        """Origins that may use this service's passkeys: GET /.well-known/webauthn."""
        return await self._call(endpoints.RELATED_ORIGINS, as_type(models.RelatedOrigins))

    async def workflow(self) -> Any:
        """The workflow engine inspects: GET /api/workflow.

        Raises:
            WorkflowNotConfigured
        """
        return await self._call(endpoints.WORKFLOW, as_json)
