"""What helm does with a test chart in a cluster: what is kept, what it refuses when it looks."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.charts.jupyter.asking import HASHES, VALUES
from tests.charts.jupyter.test_chart import values
from tests.charts.rendering import CHARTS
from tests.kubernetes_server import KubernetesServer, cluster
from training.errors import UsageError
from training.kubernetes.helm import Helm

__all__ = ["cluster"]

CHART = CHARTS / "maskrcnn-jupyter"
RELEASE = "maskrcnn-jupyter"
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "mask-rcnn-fsx", "namespace": "kubeflow"},
    "spec": {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    },
}


@pytest.fixture
def helm(cluster: KubernetesServer) -> Helm:
    cluster.put(CLAIM)
    return Helm(cluster.kubeconfig, "kubeflow")


def put_secret(cluster: KubernetesServer, name: str, **data: str) -> None:
    cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": "kubeflow"},
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
        }
    )


def data(cluster: KubernetesServer, name: str) -> dict[str, str]:
    found = cluster.find("secrets", name)
    assert found is not None
    read: dict[str, str] = found["data"]
    return read


def test_token_and_certificate_are_kept_over_upgrades(
    cluster: KubernetesServer, helm: Helm
) -> None:
    helm.install(RELEASE, CHART, VALUES)
    token, certificate = data(cluster, f"{RELEASE}-token"), data(cluster, f"{RELEASE}-tls")
    assert len(base64.b64decode(token["token"])) == 48

    helm.upgrade(RELEASE, CHART, values({"global": {"log_dir": "another"}}))

    assert data(cluster, f"{RELEASE}-token") == token
    assert data(cluster, f"{RELEASE}-tls") == certificate
    deployment = cluster.find("deployments", RELEASE)
    assert deployment is not None
    # A new revision is a new pod, so that the proxy reads what has changed.
    assert deployment["spec"]["template"]["metadata"]["annotations"]["mask-rcnn/revision"] == "2"


def test_a_certificate_is_made_anew_for_other_names_and_before_its_end(
    cluster: KubernetesServer, helm: Helm
) -> None:
    helm.install(RELEASE, CHART, VALUES)
    first = data(cluster, f"{RELEASE}-tls")
    helm.upgrade(RELEASE, CHART, values({"hosts": ["jupyter.example.com"]}))
    second = data(cluster, f"{RELEASE}-tls")
    assert second["tls.crt"] != first["tls.crt"]
    found = cluster.find("secrets", f"{RELEASE}-tls")
    assert found is not None
    ends = int(found["metadata"]["annotations"]["mask-rcnn/ends"])
    found["metadata"]["annotations"]["mask-rcnn/ends"] = str(ends - 340 * 86400)
    cluster.put(found)

    helm.upgrade(RELEASE, CHART, values({"hosts": ["jupyter.example.com"]}))

    assert data(cluster, f"{RELEASE}-tls")["tls.crt"] != second["tls.crt"]
    renewed = cluster.find("secrets", f"{RELEASE}-tls")
    assert renewed is not None
    assert int(renewed["metadata"]["annotations"]["mask-rcnn/ends"]) >= ends


OWN: dict[str, Any] = {"htpasswd": "", "htpasswd_secret": "passwords"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (f"tensorboard:{HASHES['apr1']}\n", "guessed quickly, and refused"),
        (f"tensorboard:{HASHES['bcrypt']}\nother:{HASHES['plain']}\n", "guessed quickly"),
        ("tensorboard:right horse\n", "not a hash that is known here"),
        ("\n", "has no key htpasswd with lines of user:hash"),
        (f":{HASHES['bcrypt']}\n", "has a line without a user"),
        (f"ann:{HASHES['bcrypt']}\n{HASHES['bcrypt']}\n", "has a line without a user"),
    ],
)
def test_the_hashes_of_a_secret_are_looked_at(
    cluster: KubernetesServer, helm: Helm, lines: str, message: str
) -> None:
    put_secret(cluster, "passwords", htpasswd=lines)
    with pytest.raises(UsageError, match=f"htpasswd_secret: passwords.*{message}"):
        helm.install(RELEASE, CHART, values(OWN))
    assert cluster.find("deployments", RELEASE) is None


def test_a_secret_with_bcrypt_is_taken_as_it_is(cluster: KubernetesServer, helm: Helm) -> None:
    put_secret(cluster, "passwords", htpasswd=f"ann:{HASHES['bcrypt']}\nbob:{HASHES['bcrypt']}\n")
    helm.install(RELEASE, CHART, values(OWN))
    assert cluster.find("secrets", f"{RELEASE}-htpasswd") is None


def test_an_empty_token_which_would_open_jupyter_is_refused(
    cluster: KubernetesServer, helm: Helm
) -> None:
    put_secret(cluster, "token", token="")
    with pytest.raises(UsageError, match=r"jupyter\.token_secret: token: its key"):
        helm.install(RELEASE, CHART, values({"jupyter": {"token_secret": "token"}}))


PEM = {"tls.crt": "-----BEGIN CERTIFICATE-----\n", "tls.key": "-----BEGIN PRIVATE KEY-----\n"}

LACKING: dict[str, tuple[dict[str, Any], dict[str, str] | None, str]] = {
    "no password": (OWN, None, "htpasswd_secret: passwords: namespace kubeflow has no such Secret"),
    "no key": (OWN, {"auth": "a:b"}, "htpasswd_secret: passwords has no key htpasswd"),
    "no token": (
        {"jupyter": {"token_secret": "own"}},
        None,
        "jupyter.token_secret: own: namespace kubeflow has no such Secret",
    ),
    "no certificate": (
        {"tls": {"secret": "own"}},
        None,
        "tls.secret: own: namespace kubeflow has no such Secret",
    ),
    "half a certificate": (
        {"tls": {"secret": "own"}},
        {"tls.crt": PEM["tls.crt"]},
        "tls.secret: own: its key tls.key must hold a private key in PEM",
    ),
    "another certificate": (
        {"tls": {"secret": "own"}},
        {**PEM, "tls.crt": "x"},
        "tls.secret: own: its key tls.crt must hold a certificate in PEM",
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_secret_of_ones_own_that_lacks_something_is_refused(
    cluster: KubernetesServer, helm: Helm, name: str
) -> None:
    change, there, message = LACKING[name]
    if there is not None:
        put_secret(cluster, "passwords" if change is OWN else "own", **there)

    with pytest.raises(UsageError) as caught:
        helm.install(RELEASE, CHART, values(change))

    assert message in str(caught.value)
    assert cluster.find("deployments", RELEASE) is None


def test_whole_secrets_of_ones_own_are_taken(cluster: KubernetesServer, helm: Helm) -> None:
    put_secret(cluster, "certificate", **PEM)
    put_secret(cluster, "token", token="t" * 32 + "\n")
    own = {"tls": {"secret": "certificate"}, "jupyter": {"token_secret": "token"}}

    helm.install(RELEASE, CHART, values(own))

    assert cluster.names("secrets") >= {"certificate", "token", f"{RELEASE}-htpasswd"}
    assert cluster.find("secrets", f"{RELEASE}-tls") is None


def test_the_image_is_the_one_that_was_pushed(cluster: KubernetesServer, helm: Helm) -> None:
    with pytest.raises(UsageError, match="image: none was given, and none was pushed"):
        helm.install(RELEASE, CHART, values({"image": ""}))
    image = "registry/mask-rcnn/horovod@sha256:" + "0" * 64
    cluster.put(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "mask-rcnn-images", "namespace": "kubeflow"},
            "data": {"notebook": image},
        }
    )
    helm.install(RELEASE, CHART, values({"image": ""}))
    deployment = cluster.find("deployments", RELEASE)
    assert deployment is not None
    containers = deployment["spec"]["template"]["spec"]["containers"]
    assert {container["image"] for container in containers} == {image}
