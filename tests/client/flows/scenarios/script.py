"""What a scenario's enclave and servers answer, and the effects that a client has on them."""

import asyncio
from contextvars import ContextVar
from types import SimpleNamespace

from holdfast.client.http.refusals import RequestRefused, refusal_class
from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.client.storage.name_records import Failed, ServersFailed
from holdfast.content.errors import ContentError
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError, WebAuthnError

# Of the flow that is running: a flow that was killed keeps its own, so that it has no further effects.
SCRIPT = ContextVar("SCRIPT")


class Killed(Exception):
    """The host was killed after the effect at which its scenario says so."""


class Script:
    """Records the effects of one event, and answers them as the scenario says."""

    def __init__(self, answers=None, stop_after=None):
        self.effects = []
        self.left = {name: list(it) if isinstance(it, list) else it for name, it in (answers or {}).items()}
        self._stop_after, self._stopped = stop_after, asyncio.Event()

    def scripted(self, effect):
        """Return the scripted answer to an effect, None for the usual one. A list is used up from its beginning."""
        answer = self.left.get(effect)
        if isinstance(answer, list):
            return answer.pop(0) if answer else None
        return answer

    async def perform(self, effect):
        """Record an effect. If the host is to be killed after it, never return."""
        if len(self.effects) == self._stop_after:
            await asyncio.Event().wait()
        self.effects.append(effect)
        if len(self.effects) == self._stop_after:
            self._stopped.set()
            await asyncio.Event().wait()

    async def run(self, work):
        """Run a flow. Raises Killed once the effect is reached after which the host is killed.

        A killed flow is left as it is: nothing of it runs any more, as after the end of a process.
        """
        SCRIPT.set(self)
        task, stopped = asyncio.ensure_future(work()), asyncio.ensure_future(self._stopped.wait())
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            _LEFT.append(task)
            raise Killed
        stopped.cancel()
        return task.result()


_LEFT = []


class Player:
    """Plays the events of one scenario. `script` is that of the present event."""

    script: Script

    async def outcomes(self, scenario):
        """Return what each event led to; an event whose host is killed is followed by the same one after a new start."""
        found = []
        kill_at, number = scenario.get("kill", (None, None))
        for at, event in enumerate(scenario["events"]):
            again = event
            if at == kill_at:
                found.append(await self.turn(event, number))
                self.start_anew()
                again = {**event, "do": event.get("after_kill", event.get("do")), "answers": self.script.left}
            found.append(await self.turn(again))
        return found

    async def turn(self, event, stop_after=None):
        """Return what one event led to: its effects, the state that is stored after it, its result and its error."""
        raise NotImplementedError

    def start_anew(self):
        """Forget what a client has only in memory."""

    async def answer(self, effect, detail="", then=lambda: None, begun=""):
        """Return the scripted answer to an effect; `then` is what it changes at the server. Raises the scripted error.

        `begun` is how the effect's name begins where it differs from the one in the script.
        """
        answer = self.script.scripted(effect)
        if reached(answer):
            then()
        await self.script.perform((begun or effect) + detail)
        if (error := error_of(answer)) is not None:
            raise error
        return answer


def reached(answer):
    """Return whether the server did what a request with this scripted answer asked for."""
    return answer != "unsent" and not (isinstance(answer, dict) and "refused" in answer)


def error_of(answer):
    """Return the error for which a scripted answer stands, or None for a response."""
    if answer in ("lost", "unsent"):
        return NetworkError("no answer")
    if answer == "conflict":
        return SnapshotConflict("other")
    if isinstance(answer, dict) and "refused" in answer:
        code, status = answer["refused"]
        return refusal_class(code, status)(code, status, details=answer.get("details"))
    if answer == "cancelled":
        return WebAuthnError("cancelled", is_cancelled=True)
    if answer == "locked":
        return ClientStateError("the vault is locked")
    if isinstance(answer, dict) and "storage" in answer:
        return StorageError(answer["storage"])
    if isinstance(answer, dict) and "each gateway" in answer:
        errors = enumerate(map(error_of, answer["each gateway"]))
        return ServersFailed(
            "no gateway returns the block", [Failed(SimpleNamespace(host=str(at)), it) for at, it in errors if it]
        )
    if isinstance(answer, dict) and "content" in answer:
        return _content_error(answer["content"])
    return None


def _content_error(code):
    error = ContentError(code, "the bytes are not the expected ones")
    storage_error = StorageError(str(error))
    storage_error.__cause__ = error
    return storage_error


def misuse(event):
    """Return the errors for arguments that are not allowed, if the event expects one."""
    return (ValueError,) if event.get("expect", {}).get("error") == "misuse" else ()


def told(error):
    """Return an error as scenarios write it: its name, and its code if it has one; and its message."""
    if error is None:
        return {"error": None}
    if isinstance(error, Killed):
        return {"error": "killed"}
    if isinstance(error, ValueError):
        return {"error": "misuse", "message": str(error)}
    kinds = (RequestRefused, ServersFailed, ClientStateError, NetworkError)
    documented = (it.__name__ for it in kinds if isinstance(error, it))
    name = next(documented, type(error).__name__)
    code = getattr(error, "code", None)
    return {"error": f"{name} {code}" if isinstance(code, str) and code else name, "message": _without_reasons(error)}


def _without_reasons(error):
    """Return an error's message without decoded reverts, which the JavaScript client does not decode."""
    message = str(error)
    for cause in (error, error.__cause__):
        if reason := getattr(cause, "reason", None):
            message = message.replace(f": {reason}", "")
    return message
