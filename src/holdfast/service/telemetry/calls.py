"""Counts, times and traces all calls to providers and other servers."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.service.telemetry import metrics, tracing
from holdfast.service.telemetry.metric_rows import LABEL_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

OK = "ok"
OUTCOMES = (OK, "unreachable", "timeout", "refused", "nonsense", "error", "cancelled")


@contextmanager
def calling(provider: str, *, cancelled: str = "cancelled") -> Iterator[None]:
    """Count, time and trace one call to a provider. A failed call's outcome is the exception's `kind`, if it has one.

    Args:
        provider: a provider in the table of metrics.
        cancelled: the outcome for a call whose task is cancelled.
    """
    assert provider in LABEL_VALUES["provider"], provider
    outcome, began = OK, time.perf_counter()
    with tracing.inner(f"call {provider}", {"holdfast.provider": provider}, calls_out=True) as span:
        try:
            yield
        except BaseException as error:
            outcome = cancelled if isinstance(error, asyncio.CancelledError) else _outcome_of(error)
            span.fail(outcome)
            raise
        finally:
            metrics.PROVIDER_SECONDS.observe(time.perf_counter() - began, provider)
            metrics.PROVIDER_CALLS.add(provider, outcome)


def _outcome_of(error: BaseException) -> str:
    kind = "timeout" if isinstance(error, TimeoutError) else getattr(error, "kind", "error")
    return kind if kind in OUTCOMES else "error"
