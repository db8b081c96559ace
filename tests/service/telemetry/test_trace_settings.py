"""Which of OpenTelemetry's standard environment variables turn tracing on."""

import pytest

from holdfast.service.telemetry import trace_settings
from holdfast.service.telemetry.trace_settings import traces_address, traces_configured
from holdfast.settings.rows import SettingError

BASE = "http://collector.example:4318"


@pytest.mark.parametrize(("given", "on"), [
    ({}, False),
    ({"OTEL_SERVICE_NAME": "vault"}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE}, True),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": BASE + "/v1/traces"}, True),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_SDK_DISABLED": "true"}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "none"}, False),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_TRACES_EXPORTER": "otlp"}, True),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
])  # fmt: skip
def test_a_named_collector_turns_traces_on(given, on):
    assert traces_configured(given) is on


@pytest.mark.parametrize(("given", "named"), [
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector.example:4317"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_at_the_start(given, named):
    with pytest.raises(SettingError, match=f"^{named}: "):
        traces_configured(given)


def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    monkeypatch.setattr(trace_settings, "find_spec", lambda _name: None)
    with pytest.raises(SettingError, match=r"pip install .opentelemetry-"):
        traces_configured({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE})


def test_the_general_address_is_a_base_and_the_special_one_is_whole():
    assert traces_address({"OTEL_EXPORTER_OTLP_ENDPOINT": BASE + "/"}) == BASE + "/v1/traces"
    assert (
        traces_address({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": BASE, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}) == BASE
    )
