"""THE route table: path, methods, handlers. CORS, HEAD, 405 and the OpenAPI page follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.allowlists import WORKFLOW_METHODS
from holdfast.service.web import accounts, dids, files, health, proxies, sessions, verification, workflow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response

    Handler = Callable[[Service, Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One path and what answers on it."""

    path: str
    handlers: dict[str, Handler]
    any_other: Handler | None = None  # answers the methods that are not listed, but not OPTIONS

    def handler_of(self, method: str) -> Handler | None:
        """What answers a method; None where the application does."""
        return self.handlers.get(method) or (None if method == "OPTIONS" else self.any_other)

    @property
    def allowed(self) -> str:
        """The Allow header's value."""
        return ", ".join([*self.handlers, "OPTIONS"])


def _get(path: str, handler: Handler) -> Route:
    return Route(path, {"GET": handler, "HEAD": handler})


def _post(path: str, handler: Handler) -> Route:
    return Route(path, {"POST": handler})


ROUTES: tuple[Route, ...] = (
    _get("/enclave.wasm", files.enclave),
    _get("/api/contracts", accounts.contracts),
    _post("/api/bundler", proxies.bundler),
    _get("/api/status", accounts.status),
    _get("/api/accounts/predict", accounts.predict),
    _get("/api/accounts/state", accounts.state),
    _get("/api/balance", accounts.balance),
    _get("/api/sessions/status", sessions.session_counters),
    _get("/api/dids/lookup", dids.look_up_did),
    _get("/api/aliases/check", dids.check_alias),
    _post("/api/sessions", sessions.open_session),
    _get("/api/sessions/check", sessions.check_session),
    _post("/api/verify/send", verification.send_code),
    _post("/api/verify/check", verification.check_code),
    _get("/api/verify/status", verification.verification_status),
    _post("/api/dids", dids.register_did),
    _get("/pay", files.pay),
    _get("/pay/sw.js", files.pay_worker),
    _get("/pay/confirm", files.pay_confirm),
    _get("/pay/confirm.js", files.pay_confirm_script),
    _get("/pay/confirm.css", files.pay_confirm_style),
    _get("/pay/icon.svg", files.pay_icon),
    _get("/pay/manifest.json", files.pay_manifest),
    _get("/pay/payment-method.json", files.pay_method),
    _get("/.well-known/payment-method-manifest", files.well_known_payment_method),
    Route("/api/workflow", dict.fromkeys(WORKFLOW_METHODS, workflow.workflow), any_other=workflow.workflow),
    _get("/healthz", health.alive),
    _get("/readyz", health.ready),
    _get("/openapi.json", files.openapi),
    _get("/docs", files.docs),
)
PREFIX_ROUTES: tuple[Route, ...] = (_get("/api/indexer/", proxies.indexer),)
