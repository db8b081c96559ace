"""The generator of the client's methods; a check compares what it writes."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from holdfast.client.http.endpoint_calls import as_json, call_of
from holdfast.wire import requests
from holdfast.wire.endpoints import Endpoint
from holdfast.wire.requests import CheckAlias

ROOT = Path(__file__).resolve().parents[2]


def test_path_parameters_are_arguments_wherever_they_are(monkeypatch):
    """Each generated method can be called, and puts its arguments into the right places in the path."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import endpoint_methods

    declared = Endpoint(
        name="pin_history", method="GET", path="/pins/{requestid}/history/{day}", summary="A day", input=CheckAlias
    )
    written = endpoint_methods.method("PIN_HISTORY", declared)
    assert "async def pin_history(self, requestid: str, day: str, alias: str) -> Any:" in written
    names = {
        "Any": Any, "endpoints": SimpleNamespace(PIN_HISTORY=declared), "requests": requests, "as_json": as_json
    }  # fmt: skip
    seen = []

    class Sender:
        def _call(self, *given, **more):
            return _kept(seen, call_of(*given, **more))

    names["Sender"] = Sender
    exec("class Written(Sender):" + written, names)
    asyncio.run(names["Written"]().pin_history("r/1", "monday", alias="ann"))
    assert [(call.path, call.query) for call in seen] == [("/pins/r%2F1/history/monday", {"alias": "ann"})]


async def _kept(seen, call):
    seen.append(call)
