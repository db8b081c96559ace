"""The Gateway and its routes in deploy/kubernetes are valid according to the Gateway API's schemas."""

import copy
import json
import subprocess
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
NETWORK = HERE.parents[1] / "deploy" / "kubernetes" / "network.yaml"
MANIFESTS = [one for one in yaml.safe_load_all(NETWORK.read_text()) if one["apiVersion"].startswith("gateway.")]
pytestmark = pytest.mark.skipif(
    not (HERE / "node_modules" / "@kubernetes-models").is_dir(),
    reason="tests/peers/node_modules lacks the Gateway API's schemas: make setup installs them",
)


def test_the_gateway_apis_schemas_accept_every_manifest_and_refuse_what_is_wrong():
    assert sorted(one["kind"] for one in MANIFESTS) == ["Gateway", "HTTPRoute", "HTTPRoute"]
    gateway, unknown, route, mistyped, top = (
        copy.deepcopy(next(it for it in MANIFESTS if it["kind"] == kind))
        for kind in ("Gateway", "Gateway", "HTTPRoute", "HTTPRoute", "HTTPRoute")
    )
    del gateway["spec"]["listeners"]
    unknown["spec"]["listeners"][0]["tls"]["certificateReferences"] = []
    route["spec"]["rules"][0]["matches"] = [{"path": {"type": "Prefix", "value": "/"}}]
    mistyped["spec"]["rules"][0]["match"] = [{"path": {"type": "PathPrefix", "value": "/"}}]
    top["specs"] = {}
    command = ["node", HERE / "gateway_manifests.js"]
    asked = json.dumps([*MANIFESTS, gateway, unknown, route, mistyped, top])
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=400)
    *accepted, without, unknown, wrong, mistyped, top = json.loads(done.stdout)
    assert accepted == [""] * len(MANIFESTS)
    assert "listeners" in without and "path/type" in wrong
    assert unknown == "/spec/listeners/0/tls/certificateReferences is not a field"
    assert mistyped == "/spec/rules/0/match is not a field" and top == "/specs is not a field"
