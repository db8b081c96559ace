"""The boot status of the vault's subsystems, and its changes as events."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.client.callbacks import answered
from holdfast.client.types import BootEvent, BootStatus, Subsystem, SubsystemStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUBSYSTEMS: tuple[Subsystem, ...] = ("enclave", "helia", "libp2p")
_MOVES: dict[SubsystemStatus | None, frozenset[SubsystemStatus]] = {
    None: frozenset({"booting"}),
    "booting": frozenset({"ready", "failed"}),
    "ready": frozenset({"booting", "failed"}),  # started again, or failed later
    "failed": frozenset({"booting"}),
}


class BootLog:
    """The boot events so far, each of which is also passed to a listener. Thread-safe."""

    def __init__(self, on_event: Callable[[BootEvent], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._events: list[BootEvent] = []
        self._now: dict[str, SubsystemStatus] = {}
        self._on_event = on_event

    @property
    def status(self) -> BootStatus:
        """The current status."""
        up = {name: self._now.get(name) == "ready" for name in SUBSYSTEMS}
        return BootStatus(**up, ready=all(up.values()))

    @property
    def events(self) -> tuple[BootEvent, ...]:
        """The events so far, in order."""
        with self._lock:
            return tuple(self._events)

    def emit(self, subsystem: Subsystem, status: SubsystemStatus, error: str | None = None) -> None:
        """Record a subsystem's change of status and call the listener.

        Raises ValueError for a transition that is not allowed.
        """
        event = BootEvent(type="boot-progress", subsystem=subsystem, status=status, error=error)
        with self._lock:
            if status not in _MOVES[self._now.get(subsystem)]:
                raise ValueError(f"{subsystem} cannot become {status} now")
            self._now[subsystem] = status
            self._events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def report(self, subsystem: Subsystem, error: str | None) -> None:
        """Record that a subsystem works (error None) or has failed, if that changes its status."""
        now = self._now.get(subsystem)
        if error is not None and now in {"booting", "ready"}:
            self.emit(subsystem, "failed", error)
        elif error is None and now == "failed":
            self.emit(subsystem, "booting")
            self.emit(subsystem, "ready")

    def started(self, subsystem: Subsystem) -> None:
        """Record that a subsystem has started, unless it has failed in the meantime or the vault was closed."""
        if self._now.get(subsystem) == "booting":
            self.emit(subsystem, "ready")

    def ended(self) -> None:
        """Record that the vault was closed, so that no subsystem is ready any more, although none has failed."""
        with self._lock:
            self._now.clear()

    def starting(self, subsystem: Subsystem, *, required: bool) -> Starting:
        """Return a context in which to start a subsystem.

        Exceptions in the context become events, and propagate only if `required`.
        """
        return Starting(self, subsystem, required=required)

    def __iter__(self) -> Iterator[BootEvent]:
        return iter(self.events)


class Starting:
    """A context in which one subsystem starts.

    With `async with`, the listener is called in the same thread as other callbacks.
    """

    def __init__(self, log: BootLog, subsystem: Subsystem, *, required: bool) -> None:
        self._log, self._subsystem, self._required = log, subsystem, required

    def __enter__(self) -> None:
        self._log.emit(self._subsystem, "booting")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if error is None:
            self._log.started(self._subsystem)
            return False
        self._log.report(self._subsystem, str(error) or type(error).__name__)
        return isinstance(error, Exception) and not self._required

    async def __aenter__(self) -> None:
        await answered(self.__enter__)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return bool(await answered(self.__exit__, kind, error, trace))
