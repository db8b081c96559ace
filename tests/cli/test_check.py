"""`holdfast check`: what it looks at, what it says to do, and its exit code."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from tests.service.conftest import free_port

from holdfast.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .conftest import Answer

KEY = "0123456789abcdef" * 2


class _Upstream(BaseHTTPRequestHandler):
    """A chain endpoint, a bundler and an indexer in one, with a clock that can be set."""

    def do_GET(self) -> None:
        self._answer(b"{}")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(b'{"jsonrpc":"2.0","id":1,"result":"0x14a34"}')

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string(timestamp) if self.server.on_time else "Thu, 01 Jan 2015 00:00:00 GMT"  # type: ignore[attr-defined]

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    server.on_time = True  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _findings(answer: Answer) -> dict[str, dict[str, str]]:
    return {finding["subject"]: finding for finding in answer.value}


def _all_well(upstream: Any) -> dict[str, str]:
    url = f"http://127.0.0.1:{upstream.server_address[1]}"
    return {"rpc_url": url, "bundler_url": url, "indexer_url": url, "ATTESTATION_SIGNING_KEY": KEY}


def test_all_well_exits_0(holdfast: Callable[..., Answer], upstream: Any) -> None:
    answer = holdfast("check", "--json", **_all_well(upstream))
    found = _findings(answer)
    assert answer.code == Exit.OK, answer.out
    assert {name for name, finding in found.items() if finding["state"] != "ok"} == {
        "e-mail",
        "SMS",
    }  # the outbox: a note
    assert found["chain"]["found"] == "answers, chain 84532"
    assert set(found) >= {
        "signing key",
        "data",
        "holdfast.db",
        "disk",
        "database",
        "public URL",
        "clock",
        "enclave",
        "workflow",
    }
    assert all(set(finding) == {"subject", "state", "found", "fix"} for finding in answer.value)


def test_a_fault_exits_1_with_a_line_that_says_what_to_do(holdfast: Callable[..., Answer]) -> None:
    answer = holdfast("check", rpc_url="http://127.0.0.1:9/hunter2")
    assert answer.code == Exit.FAILED
    lines = answer.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL chain"))
    assert lines[at + 1].strip() == "-> set HOLDFAST_RPC_URL to an endpoint that answers"
    assert "hunter2" not in answer.out + answer.err


def test_every_fault_has_a_fix(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data").chmod(0o755)
    answer = holdfast(
        "check",
        "--json",
        rpc_url=f"http://{nobody}",
        bundler_url=f"http://{nobody}/hunter2",
        indexer_url=f"http://{nobody}/hunter2",
        mail_url=f"smtp://ann:hunter2@{nobody}",
        sms_url=f"twilio://AC1:hunter2@VA1?base_url=http://{nobody}",
        enclave_url=f"file://{tmp_path}/none",
        public_url="http://vault.example.org",
    )
    assert answer.code == Exit.FAILED
    found = _findings(answer)
    for subject in ("chain", "bundler", "indexer", "e-mail", "SMS", "enclave", "public URL", "data"):
        assert found[subject]["state"] == "fault", found[subject]
        assert found[subject]["fix"]
    assert found["signing key"]["state"] == "note"
    assert "hunter2" not in answer.out + answer.err


def test_a_clock_that_is_off_is_a_fault(holdfast: Callable[..., Answer], upstream: Any) -> None:
    upstream.on_time = False
    clock = _findings(holdfast("check", "--json", **_all_well(upstream)))["clock"]
    assert clock["state"] == "fault"
    assert clock["fix"] == "set it by NTP"


def test_an_indexer_in_this_process_that_breaks_is_a_fault_and_no_crash(
    holdfast: Callable[..., Answer], tmp_path: Path, upstream: Any
) -> None:
    (tmp_path / "broken_indexer.py").write_text(
        "async def app(scope, receive, send):\n    raise RuntimeError('hunter2')\n"
    )
    settings = _all_well(upstream) | {"indexer_app": "broken_indexer:app", "PYTHONPATH": str(tmp_path)}
    answer = holdfast("check", "--json", **settings)
    assert answer.code == Exit.FAILED
    assert _findings(answer)["indexer"]["fix"] == "check HOLDFAST_INDEXER_APP"
    assert "hunter2" not in answer.out


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("mail_url", "smtp://"),
        ("sms_url", "twilio://x"),
        ("indexer_app", "no.such:app"),
        ("reserved_file", "/no/such/file"),
    ],
)
def test_a_setting_whose_provider_refuses_it_exits_3(holdfast: Callable[..., Answer], setting: str, value: str) -> None:
    answer = holdfast("check", "--json", **{setting: value})
    assert answer.code == Exit.CONFIGURATION
    assert f"HOLDFAST_{setting.upper()}" in answer.error["error"]
