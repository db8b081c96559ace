"""Chooses the receivers of events: the operator's webhook, and the workflow engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.bootstrap.senders import webhook_keys
from holdfast.service.operations.events import EventDelivery
from holdfast.service.workflow.events import engine_events

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.delivery.webhook import Webhook
    from holdfast.service.operations.events import EventReceiver
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.pool import ConnectionPools

SETTING = "HOLDFAST_EVENTS_URL"


def event_deliveries(
    settings: Settings, store: Store, pools: ConnectionPools, clock: Clock
) -> tuple[EventDelivery, ...]:
    """Return a delivery for each receiver that the settings name. Raises SettingError."""
    receivers: dict[str, EventReceiver | None] = {
        "webhook": event_webhook(settings, pools),
        "engine": engine_events(os.environ, pools.of("events_engine")),
    }
    return tuple(
        EventDelivery(name, receiver, store, clock) for name, receiver in receivers.items() if receiver is not None
    )


def event_webhook(settings: Settings, pools: ConnectionPools) -> Webhook | None:
    """Return the webhook that HOLDFAST_EVENTS_URL names; None without one. Raises SettingError."""
    if settings.events_url is None:
        return None
    # Its import of the HTTP exchange is not needed by a service without webhooks.
    from holdfast.service.delivery.webhook import webhook_of

    keys = webhook_keys(settings)
    return named_setting(SETTING, webhook_of, SETTING, settings.events_url, keys, pools.of("events"))
