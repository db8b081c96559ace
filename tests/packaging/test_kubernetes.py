"""The manifests in deploy/kubernetes are valid according to Kubernetes' schemas and contain what the service needs."""

import re

import kubernetes_validate
import pytest
import yaml
from tests.support.clean_tree import ROOT

from holdfast.service.mail.choice import _SMTP_SCHEMES
from holdfast.service.serve import STOP_WITHIN_S
from holdfast.service.settings.rows import ROWS
from holdfast.service.settings.values import read_settings

FOLDER = ROOT / "deploy" / "kubernetes"
FILES = ("settings.yaml", "migrate.yaml", "nodes.yaml", "network.yaml", "egress.yaml")
MANIFESTS = {
    (one["kind"], one["metadata"]["name"]): one
    for file in FILES
    for one in yaml.safe_load_all((FOLDER / file).read_text())
}
NODE = MANIFESTS["Deployment", "holdfast"]["spec"]
PODS = (("Deployment", "holdfast"), ("Job", "holdfast-migrate"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize("version", ["1.27", "1.37"])  # the older one supports everything used here
def test_kubernetes_schemas_accept_every_manifest(version):
    """All but those of the gateway, an extension of Kubernetes, whose schemas the package lacks: tests/peers has them."""
    for manifest in MANIFESTS.values():
        if not manifest["apiVersion"].startswith("gateway."):
            kubernetes_validate.validate(manifest, version, strict=True)


def test_kustomize_applies_all_but_the_migration():
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert kustomization["resources"] == ["settings.yaml", "nodes.yaml", "network.yaml"]
    images = {container(kind, name)["image"].split(":")[0] for kind, name in PODS}
    assert images == {kustomization["images"][0]["name"]}


def container(kind, name):
    return MANIFESTS[kind, name]["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(("kind", "name"), PODS)
def test_pods_have_no_rights(kind, name):
    pod = MANIFESTS[kind, name]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    user = pod["securityContext"]["runAsUser"]
    assert re.search(rf"^USER {user}:{pod['securityContext']['runAsGroup']}$", DOCKERFILE, re.MULTILINE)
    context = container(kind, name)["securityContext"]
    assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert {"requests", "limits"} <= container(kind, name)["resources"].keys()
    assert container(kind, name)["volumeMounts"] == [{"name": "data", "mountPath": "/data"}]


def test_nodes_go_one_at_a_time_and_probes_leave_time_for_the_database_and_restart_none_during_an_outage():
    assert NODE["replicas"] >= 2
    assert NODE["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert MANIFESTS["PodDisruptionBudget", "holdfast"]["spec"]["maxUnavailable"] == 1
    node = container("Deployment", "holdfast")
    startup = node["startupProbe"]
    waits = read_settings({}).database_wait
    assert startup["periodSeconds"] * startup["failureThreshold"] > waits
    assert node["livenessProbe"]["exec"]["command"] == ["holdfast", "ready", "--alive"]
    assert node["readinessProbe"]["exec"]["command"] == ["holdfast", "ready"]
    pause = int(re.findall(r"sleep\((\d+)\)", node["lifecycle"]["preStop"]["exec"]["command"][-1])[0])
    assert NODE["template"]["spec"]["terminationGracePeriodSeconds"] > STOP_WITHIN_S + pause


def test_labels_select_the_nodes_and_not_the_migration():
    labels = NODE["template"]["metadata"]["labels"]
    for kind, name in (("Service", "holdfast"), ("Service", "holdfast-metrics")):
        assert MANIFESTS[kind, name]["spec"]["selector"] == labels
    for selector in (NODE["selector"], MANIFESTS["PodDisruptionBudget", "holdfast"]["spec"]["selector"]):
        assert selector["matchLabels"] == labels
    migration = MANIFESTS["Job", "holdfast-migrate"]["spec"]["template"]["metadata"]["labels"]
    policy = MANIFESTS["NetworkPolicy", "holdfast"]["spec"]["podSelector"]["matchLabels"]
    assert migration != labels
    assert policy.items() <= migration.items() and policy.items() <= labels.items()


def test_ports_and_the_hosts_of_routes_agree():
    ports = {port["name"]: port["containerPort"] for port in container("Deployment", "holdfast")["ports"]}
    assert f"EXPOSE {ports['http']}" in DOCKERFILE
    settings = MANIFESTS["ConfigMap", "holdfast"]["data"]
    assert settings["HOLDFAST_ADMIN_PORT"] == str(ports["metrics"])
    admitted = [rule["ports"][0]["port"] for rule in MANIFESTS["NetworkPolicy", "holdfast"]["spec"]["ingress"]]
    assert admitted == [ports["http"], ports["metrics"]]
    [backend] = MANIFESTS["HTTPRoute", "holdfast"]["spec"]["rules"][0]["backendRefs"]
    service = MANIFESTS["Service", backend["name"]]["spec"]["ports"][0]
    assert (backend["port"], service["targetPort"]) == (service["port"], "http")
    listeners = {listener["name"]: listener for listener in MANIFESTS["Gateway", "holdfast"]["spec"]["listeners"]}
    for name in ("holdfast", "holdfast-redirect"):
        route = MANIFESTS["HTTPRoute", name]["spec"]
        [parent] = route["parentRefs"]
        assert parent["name"] == "holdfast"
        assert route["hostnames"] == [listeners[parent["sectionName"]]["hostname"]]
    [redirect] = MANIFESTS["HTTPRoute", "holdfast-redirect"]["spec"]["rules"]
    assert redirect["filters"][0]["requestRedirect"]["scheme"] == "https" and "backendRefs" not in redirect


def test_nodes_may_reach_every_provider():
    """What mail, SMS, chain and object storage use at public addresses; elsewhere an operator says what else."""
    common = MANIFESTS["NetworkPolicy", "holdfast"]["spec"]
    public = next(rule for rule in common["egress"] if "ipBlock" in rule["to"][0])
    assert {row["port"] for row in public["ports"]} == {443, *(port for _, port in _SMTP_SCHEMES.values())}
    more = MANIFESTS["NetworkPolicy", "holdfast-egress"]["spec"]
    assert more["podSelector"] == common["podSelector"] and more["policyTypes"] == ["Egress"]
    assert {port["port"] for rule in more["egress"] for port in rule["ports"]} >= {9000, 25, 8545}


def test_settings_are_known_and_secrets_are_in_the_secret():
    secret_names = {row.name for row in ROWS if row.secret} | {"ATTESTATION_SIGNING_KEY"}
    plain, secret = MANIFESTS["ConfigMap", "holdfast"]["data"], MANIFESTS["Secret", "holdfast"]["stringData"]
    assert not plain.keys() & secret_names
    assert secret.keys() <= secret_names
    read_settings({**plain, **secret})
    assert plain.keys() <= {row.name for row in ROWS}
