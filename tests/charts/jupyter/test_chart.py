"""What the test charts render: who may come in, what is secret, and what is refused."""

from __future__ import annotations

import base64
import copy
import json
import subprocess
from typing import Any

import kubernetes_validate
import pytest

from stacks.settings.kubernetes_versions import DEFAULT_VERSION
from tests.charts.jupyter.asking import HASHES, VALUES
from tests.charts.rendering import CHARTS, Document, documents, only, render, run

JUPYTER_CHARTS = ("maskrcnn-jupyter", "maskrcnn-optimized-jupyter")

MATRIX: dict[str, dict[str, Any]] = {
    "least": {},
    "EFS": {"global": {"shared_fs": "efs", "shared_pvc": "own-claim"}},
    "data elsewhere": {"global": {"shared_fs": "efs", "data_fs": "fsx", "data_dir": "coco"}},
    "several sources": {"global": {"source_cidr": "198.51.100.0/24, 203.0.113.7/32"}},
    "a list of sources": {"global": {"source_cidr": ["198.51.100.0/24", "203.0.113.7/32"]}},
    "open": {"global": {"source_cidr": "0.0.0.0/0", "allow_open_cidr": True}},
    "GPU": {"jupyter": {"gpu_instance_type": "g5.xlarge", "cpu": "2200m", "memory": "8Gi"}},
    "Secrets of ones own": {
        "htpasswd": "",
        "htpasswd_secret": "passwords",
        "jupyter": {"token_secret": "token"},
        "tls": {"secret": "certificate"},
    },
    "names that YAML reads as others": {
        "global": {"name": "null", "shared_pvc": "123"},
        "htpasswd": "",
        "htpasswd_secret": "1e3",
        "jupyter": {"token_secret": "true"},
        "tls": {"secret": "0x1f"},
    },
    "names of ones own": {"hosts": ["jupyter.example.com"], "global": {"name": "look"}},
    "internal": {"load_balancer": {"scheme": "internal"}},
    "an old hash": {"htpasswd": HASHES["apr1"], "allowLegacyHash": True},
}


def values(*changes: dict[str, Any]) -> dict[str, Any]:
    """Return the least values with changes, section by section."""
    given = copy.deepcopy(VALUES)
    for change in changes:
        for key, value in change.items():
            given[key] = {**given.get(key, {}), **value} if isinstance(value, dict) else value
    return given


def pod(objects: list[Document]) -> Document:
    found: Document = only("Deployment", objects)["spec"]["template"]["spec"]
    return found


def containers(objects: list[Document]) -> list[Document]:
    return [*pod(objects)["initContainers"], *pod(objects)["containers"]]


@pytest.mark.parametrize("name", MATRIX)
def test_the_objects_are_valid_and_a_careful_namespace_takes_them(name: str) -> None:
    objects = render("maskrcnn-jupyter", values(MATRIX[name]))
    for each in objects:
        kubernetes_validate.validate(each, DEFAULT_VERSION, strict=True)
        assert each["metadata"]["namespace"] == "kubeflow"
    spec = pod(objects)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in containers(objects):
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= set(container["resources"]["limits"])
        assert not container["image"].endswith(":latest")


@pytest.mark.parametrize("chart", JUPYTER_CHARTS)
def test_both_charts_are_one_under_two_names(chart: str) -> None:
    objects = render(chart, VALUES)
    assert only("Service", objects)["metadata"]["name"] == chart
    assert only("Deployment", objects)["metadata"]["name"] == chart
    names = [container["name"] for container in pod(objects)["containers"]]
    assert names == ["jupyter", "tensorboard", "proxy"]
    # Nothing is written down twice.
    for part in ("templates", "values.yaml", "values.schema.json"):
        assert (CHARTS / chart / part).resolve() == CHARTS / "maskrcnn-jupyter" / part


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("least", ["203.0.113.7/32"]),
        ("several sources", ["198.51.100.0/24", "203.0.113.7/32"]),
        ("a list of sources", ["198.51.100.0/24", "203.0.113.7/32"]),
        ("open", ["0.0.0.0/0"]),
    ],
)
def test_load_balancer_network_and_proxy_let_the_same_networks_in(
    name: str, sources: list[str]
) -> None:
    objects = render("maskrcnn-jupyter", values(MATRIX[name]))
    service = only("Service", objects)["spec"]
    assert service["type"] == "LoadBalancer"
    assert service["loadBalancerSourceRanges"] == sources
    # Else whoever connects would have a node's address, and be let in by none of them.
    assert service["externalTrafficPolicy"] == "Local"
    assert [port["port"] for port in service["ports"]] == [443, 6443]
    [rule] = only("NetworkPolicy", objects)["spec"]["ingress"]
    assert [each["ipBlock"]["cidr"] for each in rule["from"]] == sources
    assert [port["port"] for port in rule["ports"]] == [8443, 6443]
    assert only("NetworkPolicy", objects)["spec"]["egress"] == []
    proxy = only("ConfigMap", objects)["data"]["nginx.conf"]
    allowed = [line.strip() for line in proxy.splitlines() if line.strip().startswith("allow ")]
    assert allowed == [f"allow {each};" for each in ["127.0.0.1", *sources]] * 2
    assert proxy.count("deny all;") == 2


def test_a_list_of_networks_can_be_typed() -> None:
    several = "global.source_cidr={198.51.100.0/24,203.0.113.7/32}"

    service = only("Service", render("maskrcnn-jupyter", VALUES, several))["spec"]

    assert service["loadBalancerSourceRanges"] == ["198.51.100.0/24", "203.0.113.7/32"]


def test_a_network_load_balancer_is_asked_for() -> None:
    prefix = "service.beta.kubernetes.io/aws-load-balancer-"
    for name, internal in (("least", None), ("internal", "true")):
        service = only("Service", render("maskrcnn-jupyter", values(MATRIX[name])))
        annotations = service["metadata"]["annotations"]
        assert annotations[f"{prefix}type"] == "nlb"
        assert annotations.get(f"{prefix}internal") == internal
        scheme = "internal" if internal else "internet-facing"
        assert annotations[f"{prefix}scheme"] == scheme


def test_what_is_secret_is_in_secrets_alone() -> None:
    token = "t" * 40
    objects = render("maskrcnn-jupyter", values({"jupyter": {"token": token}}))
    certificate = base64.b64decode(secret(objects, "-tls")["tls.key"]).decode()
    assert certificate.startswith("-----BEGIN RSA PRIVATE KEY-----")
    others = json.dumps([each for each in objects if each["kind"] != "Secret"])
    key = certificate.splitlines()[1]
    for text in (token, HASHES["bcrypt"], key):
        assert text not in others
        assert base64.b64encode(text.encode()).decode() not in others
    assert base64.b64decode(secret(objects, "-token")["token"]).decode() == token
    lines = base64.b64decode(secret(objects, "-htpasswd")["htpasswd"]).decode()
    assert lines == f"tensorboard:{HASHES['bcrypt']}\n"


def test_file_systems_are_mounted_read_only_where_the_job_has_them() -> None:
    objects = render("maskrcnn-jupyter", values(MATRIX["data elsewhere"]))
    claims = {
        each["name"]: each["persistentVolumeClaim"]
        for each in pod(objects)["volumes"]
        if "persistentVolumeClaim" in each
    }
    assert claims == {
        "efs": {"claimName": "mask-rcnn-efs", "readOnly": True},
        "fsx": {"claimName": "mask-rcnn-fsx", "readOnly": True},
    }
    jupyter = pod(objects)["containers"][0]
    told = {each["name"]: each["value"] for each in jupyter["env"]}
    assert told["MASK_RCNN_LOG"] == "/efs/maskrcnn-2026-11-29-01-02-03"
    assert told["MASK_RCNN_DATA"] == "/fsx/coco"
    least = pod(render("maskrcnn-jupyter", VALUES))["containers"][0]["env"]
    assert {"name": "MASK_RCNN_DATA", "value": "/fsx/data/mask-rcnn/sagemaker/input/train"} in least


def test_without_a_gpu_it_runs_on_a_system_node() -> None:
    spec = pod(render("maskrcnn-jupyter", VALUES))
    assert spec["nodeSelector"] == {"mask-rcnn/node": "system"}
    assert "tolerations" not in spec
    spec = pod(render("maskrcnn-jupyter", values(MATRIX["GPU"])))
    assert spec["nodeSelector"] == {"node.kubernetes.io/instance-type": "g5.xlarge"}
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1


def test_the_notes_say_where_it_is_and_warn_of_old_hashes() -> None:
    said = notes(values())
    assert "kubectl get service maskrcnn-jupyter -n kubeflow" in said
    assert "kubectl get secret maskrcnn-jupyter-token -n kubeflow" in said
    assert "helm uninstall look -n default" in said
    assert "WARNING" not in said
    assert "WARNING: allowLegacyHash is true" in notes(values(MATRIX["an old hash"]))
    assert "WARNING: global.allow_open_cidr is true" in notes(values(MATRIX["open"]))


def notes(given: dict[str, Any]) -> str:
    done = run(["install", "look", "charts/maskrcnn-jupyter", "--dry-run=client"], given)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:\n")[2]


def test_the_certificate_is_for_the_names_and_for_port_forwarding() -> None:
    objects = render("maskrcnn-jupyter", values(MATRIX["names of ones own"]))
    certificate = base64.b64decode(secret(objects, "-tls")["tls.crt"])
    said = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "subjectAltName", "-checkend", str(360 * 86400)],
        input=certificate,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in ("DNS:jupyter.example.com", "DNS:localhost", "DNS:look.kubeflow.svc", "127.0.0.1"):
        assert name in said


def test_the_command_of_the_old_tutorial_takes_the_values_that_it_names() -> None:
    # aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow at 1bbe76e19d70,
    # tutorials/maskrcnn-blog/README.md: the values were written into values.yaml.
    for chart in JUPYTER_CHARTS:
        words = ["install", "--debug", chart, f"./charts/{chart}/", "--dry-run=client"]
        done = run(words, {key: VALUES[key] for key in ("htpasswd", "global")})
        assert done.returncode == 0, done.stderr
        objects = documents(done.stdout.partition("MANIFEST:\n")[2].partition("\nNOTES:")[0])
        assert only("Service", objects)["metadata"]["name"] == chart


def secret(objects: list[Document], suffix: str) -> dict[str, str]:
    """Return the data of a Secret."""
    [found] = [
        each
        for each in objects
        if each["kind"] == "Secret" and each["metadata"]["name"].endswith(suffix)
    ]
    data: dict[str, str] = found["data"]
    return data
