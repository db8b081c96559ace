"""The performance goals: the factor by which one subject must outperform another."""

from __future__ import annotations

from dataclasses import dataclass

RATE = "per_second"
CPU = "cpu_us"
JUDGED_BY = {CPU: "CPU a request", RATE: "answers a second"}


@dataclass(frozen=True, slots=True)
class Goal:
    """`subject` must do `route` at least `times` times as well as `against`, measured by this field of the samples.

    A goal uses CPU time per request if the processor is the limit, because other programs disturb that figure least.
    Registrations are limited by the disk, so there is also a goal for their rate.
    """

    route: str
    subject: str
    against: str
    times: float
    judged_by: str = CPU


SERVICE = "holdfast/granian"  # the default of `holdfast serve`
MIXED = "mixed"

GOALS = (
    Goal(MIXED, SERVICE, "fastify", 1.2),
    Goal("contracts", SERVICE, "fastify", 1.8),
    Goal("check", SERVICE, "fastify", 1.5),
    Goal("lookup", SERVICE, "fastify", 1.3),
    Goal("register", SERVICE, "fastify", 1.3),
    Goal("register", SERVICE, "fastify", 2, RATE),
    Goal("contracts", SERVICE, "ceiling/granian", 0.85),
    Goal("contracts", "holdfast/uvicorn", "ceiling/uvicorn", 0.85),
    Goal("check", SERVICE, "ceiling/granian", 0.65),
    Goal("check", "holdfast/uvicorn", "ceiling/uvicorn", 0.55),
    Goal("lookup", SERVICE, "ceiling/granian", 0.65),
    Goal("lookup", "holdfast/uvicorn", "ceiling/uvicorn", 0.55),
    Goal("check", SERVICE, "fastapi", 15),
    Goal("lookup", SERVICE, "fastapi", 15),
    Goal("register", SERVICE, "fastapi", 30, RATE),
    Goal("register", "postgresql", "embedded", 1, RATE),
    Goal("check", "postgresql", "embedded", 0.5, RATE),
    Goal("lookup", "postgresql", "embedded", 0.5, RATE),
)

COLD_START_S = 0.5
PAGE_USABLE_MS = 300.0  # until the first screen's button can be pressed
ENCLAVE_WARM_MS = 150.0  # boot(), the module in the browser's cache
PAYMENT_S = 1.5  # from show() to the result, without the person's own time, on a chain with a block each second
METRICS_CPU_TIMES = 1.03  # CPU time of a request with metrics, relative to one without
LOOKUP_CPU_TIMES = 2.5  # CPU time of a look-up in the largest database, relative to the smallest
GROWN_P50_TIMES = 1.5  # and for the p50 of a response
STEADY_LOOKUP_P99_MS = 5.0  # for look-ups at a steady 200 per second, on either store
MIX_OVER_PARTS = 1.25  # CPU time of the mix, relative to the weighted sum of its parts
DISK_OF_PEER = 1.0  # bytes per identifier, relative to the Fastify peer's
READING_OF_NGINX = 1 / 3  # the share of nginx's rate for the same files that the service must reach
MEMORY_GROWTH = 1.1  # the highest memory, relative to that when half of the vaults are written
