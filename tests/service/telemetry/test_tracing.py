"""A real service sends traces to a collector; OpenTelemetry's standard environment variables turn this on."""

import asyncio
import threading

import pytest
from tests.support.http_servers import Handler, http_server
from tests.support.otlp_collector import attributes, collecting
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.upstreams import rpc_results, upstream

from holdfast.service.telemetry import trace_settings, tracing
from holdfast.service.telemetry.otlp import OtlpBackend
from holdfast.service.telemetry.trace_settings import traces_address, traces_configured
from holdfast.settings.rows import SettingError

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
PERSON, ADDRESS = "somebody@example.com", "192.0.2.77"
QUICKLY = {"OTEL_BSP_SCHEDULE_DELAY": "100"}


@pytest.fixture
def collector():
    with collecting() as running:
        yield running


def test_requests_commits_and_provider_calls_are_spans_of_one_trace(serve, collector):
    server = serve(
        **QUICKLY, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_RESOURCE_ATTRIBUTES="region=north",
        OTEL_EXPORTER_OTLP_HEADERS="x-key=collectors-own", mail_url="smtp://127.0.0.1:9",
    )  # fmt: skip
    with server.client() as client:
        given = {"traceparent": TRACEPARENT, "X-Request-Id": "find-me", "X-Forwarded-For": ADDRESS}
        body = {"identifier": PERSON, "channel": "email"}
        assert client.post("/api/verify/send", json=body, headers=given).status_code == 502
        server.session(client, "somebody", ADDRESS)
        client.get("/secret-path", headers={"traceparent": "00-nonsense"})
    assert server.stop() == 0

    (request,) = collector.named("POST /api/verify/send")
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    assert attributes(request) == {
        "http.request.method": "POST", "http.route": "/api/verify/send", "url.path": "/api/verify/send", "url.scheme": "http",
        "http.response.status_code": 502,
        "holdfast.request_id": "find-me", "error.type": "502",
    }  # fmt: skip
    (call,) = collector.named("call mail")
    assert call.parent_span_id == request.span_id and call.trace_id == request.trace_id
    assert attributes(call) == {"holdfast.provider": "mail", "error.type": "unreachable"}
    commits = collector.named("store commit")
    assert request.span_id in {commit.parent_span_id for commit in commits}
    (session,) = collector.named("POST /api/sessions")
    assert session.trace_id != request.trace_id and session.parent_span_id == b""
    assert session.span_id in {commit.parent_span_id for commit in commits}
    (lost,) = collector.named("other unknown")
    assert attributes(lost)["http.route"] == "unknown" and lost.parent_span_id == b""
    assert all(not span.events for span in collector.spans)
    assert collector.resources[0]["service.name"] == "holdfast" and collector.resources[0]["region"] == "north"
    assert collector.headers[0]["x-key"] == "collectors-own"
    sent = b"".join(collector.bodies)
    for secret in (PERSON, "somebody", ADDRESS, "secret-path", "collectors-own"):
        assert secret.encode() not in sent, secret


async def test_calls_to_upstreams_carry_the_trace_and_strangers_start_none(serve, collector):
    async with upstream() as chain:
        chain.answer = rpc_results({"eth_getBalance": "0x1"})
        for proxies, trusted in (("127.0.0.1,::1", True), ("none", False)):
            chain.requests.clear()
            server = serve(
                **QUICKLY, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, rpc_url=chain.url, trusted_proxies=proxies
            )
            question = f"/api/balance?account=0x{'11' * 20}&token=ETH&chainId=84532"
            headers = {"traceparent": TRACEPARENT, "tracestate": "vendor=1"}
            with server.client(headers=headers) as client:
                assert (await asyncio.to_thread(client.get, question)).status_code == 200
            server.stop()
            asked = next(headers for _, _, headers, _ in chain.requests if "traceparent" in headers)
            _, trace, span, _ = asked["traceparent"].split("-")
            assert (trace == TRACE) is trusted and ("tracestate" in asked) is trusted
            request = collector.named("GET /api/balance")[-1]
            call = collector.named("call chain")[-1]
            assert call.span_id.hex() == span and call.parent_span_id == request.span_id
            assert request.parent_span_id.hex() == (PARENT if trusted else "")


def test_a_collector_that_does_not_answer_delays_nothing(serve):
    asked, released = threading.Event(), threading.Event()

    class Hanging(Handler):
        def do_POST(self):  # noqa: N802 - the base class's name
            asked.set()
            released.wait(PATIENCE_S)
            self.send_error(400)

    with http_server(Hanging) as port:
        address = f"http://operator:collectors-password@127.0.0.1:{port}"
        otel = {**QUICKLY, "OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_TIMEOUT": str(PATIENCE_S)}
        server = serve(access_log="on", log_level="warning", **otel)
        with server.client() as client:
            assert client.get("/api/contracts").status_code == 200
            assert asked.wait(PATIENCE_S)
            assert [client.get("/api/contracts").status_code for _ in range(50)] == [200] * 50, "while it is asked"
        released.set()
        assert becomes_true(lambda: "traces lost" in server.log.read_text()), server.log.read_text()
    assert server.stop() == 0
    text = server.log.read_text()
    assert text.count("traces lost") == 1
    assert not [word for word in ("collectors-password", "answered", "Traceback") if word in text]


def test_a_batch_is_linked_to_every_request_in_it(collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    tracing.install(OtlpBackend())
    try:
        backend = tracing.backend()
        requests = []
        for number in range(3):
            with backend.request(f"request {number}", {}, {}):
                requests.append(tracing.present())
        with tracing.batch("commit", [*requests, None], {"holdfast.batch_size": 4}):
            pass
        with tracing.batch("untraced", [None], {}):
            pass
        backend.close(PATIENCE_S)
    finally:
        tracing.install(None)
    (commit,) = collector.named("commit")
    of = {span.name: span.span_id for span in collector.spans}
    assert commit.parent_span_id == of["request 0"]
    assert [link.span_id for link in commit.links] == [of["request 1"], of["request 2"]]
    assert not collector.named("untraced")


BASE = "http://collector.example:4318"


@pytest.mark.parametrize(("given", "on"), [
    ({}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE + "/"}, True),
    *(({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_EXPORTER_OTLP_HEADERS": text}, True)
      for text in ("", "x-key=a%20b", "Authorization=Bearer k=,x=1", " a = b , ")),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": BASE + "/v1/traces", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_SDK_DISABLED": "true"}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "none"}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
])  # fmt: skip
def test_a_named_collector_turns_traces_on(given, on):
    assert traces_configured(given) is on
    if on:
        assert traces_address(given) == BASE + "/v1/traces", "the general address is a base, the special one is whole"


@pytest.mark.parametrize(("given", "named"), [
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
    *(({"OTEL_EXPORTER_OTLP_ENDPOINT": url}, "OTEL_EXPORTER_OTLP_ENDPOINT")
      for url in ("collector.example:4317", "http://collector.example:99999", "http://[::1")),
    *(({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, name: headers}, name)
      for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
      for headers in ("hunter2", "Authorization: Bearer hunter2", 'x-key="hunter2"', "a=b,hunter2")),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_at_the_start(given, named):
    with pytest.raises(SettingError, match=f"^{named}: ") as refused:
        traces_configured(given)
    assert "hunter2" not in str(refused.value)


def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    monkeypatch.setattr(trace_settings, "find_spec", lambda _name: None)
    with pytest.raises(SettingError, match=r"pip install .opentelemetry-"):
        traces_configured({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE})
