"""deploy/compose.yaml is a valid Compose file, and an installation with the files that it mounts works."""

import contextlib
import json
import os
import re
import runpy
import sys

import httpx2
import pytest
import yaml
from tests.support.clean_tree import ROOT, run
from tests.support.http_servers import Handler, http_server
from tests.support.serving import free_port
from tests.support.topology import start_nginx

from holdfast.service.serve import STOP_WITHIN_S
from holdfast.service.settings.values import read_settings

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
NODES = ("node1", "node2")
TARGETS = json.loads((DEPLOY / "prometheus" / "targets.json").read_text())[0]["targets"]
PROGRAMS = runpy.run_path(str(ROOT / "tools" / "programs.py"))
MISSING = PROGRAMS["missing"](PROGRAMS["SITE"])
needs_programs = pytest.mark.skipif(
    bool(MISSING), reason=f"{', '.join(MISSING)} missing: python3 tools/programs.py fetches Debian's"
)


def test_the_compose_file_keeps_the_specification_and_everything_mounted_exists():
    schema = ("--builtin-schema", "vendor.compose-spec")
    run(sys.executable, "-m", "check_jsonschema", *schema, DEPLOY / "compose.yaml", cwd=ROOT)
    assert SERVICES.keys() == {*NODES, "migrate", "postgres", "proxy", "prometheus", "grafana"}
    mounted = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert all((DEPLOY / source).exists() for source in mounted - COMPOSE["volumes"].keys()), mounted


def test_nothing_but_the_proxy_listens_beyond_this_machine():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published.keys() == {"proxy", "prometheus", "grafana"}
    ports = [port for of_service in published.values() for port in of_service]
    assert all(port.startswith(("127.0.0.1:", "${HOLDFAST_LISTEN:-127.0.0.1:")) for port in ports)


def test_no_secret_has_a_default_and_the_message_says_what_to_do():
    text, page = (DEPLOY / "compose.yaml").read_text(), (ROOT / "docs/deploy.md").read_text()
    secrets = dict(re.findall(r"\$\{(\w*(?:PASSWORD|KEY)\w*):(\?[^}]*|[^?][^}]*)\}", text))
    assert secrets.keys() == {"HOLDFAST_DATABASE_PASSWORD", "ATTESTATION_SIGNING_KEY", "GRAFANA_PASSWORD"}
    for name, message in secrets.items():
        assert message.startswith("?") and "deploy/.env" in message, name
        assert f'# echo "{name}=$(openssl rand -hex ' in page, name


@pytest.mark.parametrize("name", [*NODES, "migrate"])
def test_nodes_have_no_rights_and_settings_that_are_read(name):
    node = SERVICES[name]
    assert (node["read_only"], node["cap_drop"]) == (True, ["ALL"])
    assert int(node["stop_grace_period"].rstrip("s")) > STOP_WITHIN_S
    # `${NAME:-default}` becomes its default, `${NAME:?…}` a value.
    given = {key: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", re.sub(r"\$\{\w+:\?[^}]*\}", "ab" * 32, value))
             for key, value in node["environment"].items()}  # fmt: skip
    settings = read_settings(given)
    assert settings.database_url.startswith("postgresql://holdfast:")
    assert {int(target.partition(":")[2]) for target in TARGETS} == {settings.admin_port}
    assert given["HOLDFAST_TRUSTED_PROXIES"] == SERVICES["proxy"]["networks"]["inside"]["ipv4_address"]


def test_the_proxy_and_prometheus_know_the_nodes():
    proxy = (DEPLOY / "nginx" / "holdfast.conf").read_text()
    known = {target.partition(":")[0] for target in TARGETS}
    assert set(re.findall(r"server (\w+):8787", proxy)) == known == set(NODES)


@needs_programs
@pytest.mark.parametrize("words", ["check config prometheus.yml", "test rules alerts.test.yml"])
def test_prometheus_accepts_its_configuration_and_each_alert_fires_when_it_should(words):
    run(PROGRAMS["program"]("promtool"), *words.split(), cwd=DEPLOY / "prometheus")


class Ok(Handler):
    def do_GET(self):  # noqa: N802 - the base class's name
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@needs_programs
def test_a_node_that_is_back_is_tried_when_the_other_has_gone(tmp_path):
    """The proxy skips a node for 2 s after a failure, and in these 2 s another node may be stopped."""
    tmp_path.chmod(0o755)
    first, second = free_port(), free_port()
    with contextlib.ExitStack() as stack:
        with http_server(Ok, second):
            url = start_nginx(stack, PROGRAMS["program"]("nginx"), tmp_path, [first, second])
            assert {httpx2.get(url).status_code for _ in range(2)} == {200}, "the first node fails at least once"
        with http_server(Ok, first):
            assert httpx2.get(url).status_code == 200
        assert httpx2.get(url).status_code == 502, "no node is there"


@pytest.mark.soak  # starts six programs; tests/faults kills nodes in the gate
@needs_programs
def test_a_site_of_the_same_parts_serves_through_the_death_of_a_node():
    said = run(sys.executable, ROOT / "tools" / "topology.py", cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert "registrations while a node is dead: each answered 200" in said
    assert "Prometheus sees 1 up and 1 down" in said
