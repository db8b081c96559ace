"""Sends events to the workflow engine, where they can start the operator's own functions (Inngest's event API)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.delivery.http_exchange import exchange, refusal
from holdfast.service.settings.values import engine_unsigned
from holdfast.service.workflow.engine import DEV_SERVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import aiohttp

HOSTED = "https://inn.gs"
_DEV_KEY = "NO_EVENT_KEY_SET"  # as in the SDK: a development server takes any key
_ACCEPTED = 200


@dataclass(frozen=True, slots=True, repr=False)
class EngineEvents:
    """The engine's event API. The class has no repr, so that logs cannot contain the key in its address."""

    url: str
    http: Callable[[], aiohttp.ClientSession]

    async def send(self, kind: str, data: Mapping[str, object], message_id: str, at: float) -> None:
        """Send one event; the engine drops those with an `id` that it has seen. Raises DeliveryError."""
        event = {"id": message_id, "name": f"holdfast/{kind}", "data": data, "ts": int(at * 1000)}
        status, _ = await exchange(self.http, "POST", self.url, repeatable=True, headers={}, json=event)
        if status != _ACCEPTED:
            raise refusal(status)


def engine_events(environment: Mapping[str, str], http: Callable[[], aiohttp.ClientSession]) -> EngineEvents | None:
    """Return the engine's event API; None unless the environment has an event key or a development server."""
    unsigned = engine_unsigned(environment)
    key = environment.get("INNGEST_EVENT_KEY") or (_DEV_KEY if unsigned else None)
    return None if key is None else EngineEvents(f"{_address(environment, unsigned=unsigned)}/e/{key}", http)


def _address(environment: Mapping[str, str], *, unsigned: bool) -> str:
    development = environment.get("INNGEST_DEV", "")
    if development.startswith(("http://", "https://")):
        return development.rstrip("/")
    given = environment.get("INNGEST_EVENT_API_BASE_URL") or environment.get("INNGEST_BASE_URL")
    return (given or (DEV_SERVER if unsigned else HOSTED)).rstrip("/")
