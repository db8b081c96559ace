"""THE goals: what must be how many times as good as what."""

from __future__ import annotations

from dataclasses import dataclass

RATE = "per_second"
CPU = "cpu_us"


@dataclass(frozen=True, slots=True)
class Goal:
    """`subject` must do `route` at least `times` as well as `against`, judged by this field of the samples.

    Reads are bound by the CPU, so CPU time per request decides, which neighbours on the machine disturb least;
    registrations are bound by the disk, so their rate decides. The other figure stands beside it in every table.
    """

    route: str
    subject: str
    against: str
    times: float
    judged_by: str = CPU


SERVICE = "holdfast/builtin"  # what `holdfast serve` runs unless told otherwise

GOALS = (
    Goal("contracts", "holdfast/granian", "ceiling/granian", 0.85),
    Goal("contracts", "holdfast/uvicorn", "ceiling/uvicorn", 0.85),
    Goal("check", "holdfast/granian", "ceiling/granian", 0.65),
    Goal("check", "holdfast/uvicorn", "ceiling/uvicorn", 0.55),
    Goal("check", SERVICE, "fastify", 1.5),
    Goal("check", SERVICE, "fastapi", 15),
    Goal("lookup", "holdfast/granian", "ceiling/granian", 0.65),
    Goal("lookup", "holdfast/uvicorn", "ceiling/uvicorn", 0.55),
    Goal("lookup", SERVICE, "fastify", 1.5),
    Goal("lookup", SERVICE, "fastapi", 15),
    Goal("register", SERVICE, "fastify", 2, RATE),
    Goal("register", SERVICE, "fastapi", 30, RATE),
)

COLD_START_S = 0.5
LOOKUP_CPU_TIMES = 2.5
