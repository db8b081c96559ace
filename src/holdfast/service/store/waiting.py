"""Opens a database whose server may still be starting, for example after a power failure."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.service")
TRY_EVERY_S = 1.0
SAY_EVERY_S = 10.0


def open_when_reachable(
    database: Database,
    within_s: float,
    chain: int,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    stopped: Callable[[], bool] = lambda: False,
) -> Store:
    """Return a database's store for a chain once it responds, within `within_s` seconds; log what is being waited for.

    A wrong password, a missing database or a schema that is too new is reported at once, because waiting cannot help.
    `stopped` tells whether the process has been told to stop; it is asked about once a second.

    Raises:
        SystemExit: the process has been told to stop.
        OtherChain: it belongs to another chain than `chain`.
        StoreUnavailable: the database did not respond in time, or refuses this client.
        SchemaTooNew: a newer release has migrated the database.
    """
    began, said = now(), -SAY_EVERY_S
    while True:
        try:
            store = database.open(chain)
        except StoreUnreachable as error:
            waited = now() - began
            if stopped():
                raise SystemExit(0) from None
            if waited >= within_s:
                raise
            if waited - said >= SAY_EVERY_S:
                said = waited
                _log.warning(
                    "%s does not answer (%s): the start waits up to %.0f s for it (HOLDFAST_DATABASE_WAIT); start it,"
                    " or correct HOLDFAST_DATABASE_URL",
                    database.location, error, within_s - waited,
                )  # fmt: skip
            sleep(min(TRY_EVERY_S, within_s - waited))
        else:
            if said >= 0:
                _log.warning("%s answers after %.0f s: the start goes on", database.location, now() - began)
            return store
