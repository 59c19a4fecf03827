from __future__ import annotations

import base64
import os
import ssl
import stat
import subprocess
from pathlib import Path

import boto3
import pytest
import yaml
from moto import mock_aws

from tests.training.platforms.eks.planning import outputs
from training.errors import UsageError
from training.kubernetes.access import cluster_access, kubeconfig_of, region_of
from training.kubernetes.tools import environment, kubectl
from training.outputs import KubernetesOutputs


def _cluster(**changed: str) -> KubernetesOutputs:
    return outputs(**changed).read(KubernetesOutputs)


@pytest.fixture
def no_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@pytest.mark.usefixtures("no_kubeconfig")
def test_the_kubeconfig_is_the_users_alone_holds_no_secret_and_goes() -> None:
    with mock_aws():
        boto3.client("eks", region_name="us-west-2").create_cluster(
            name="mask-rcnn",
            roleArn="arn:aws:iam::123456789012:role/c",
            resourcesVpcConfig={"subnetIds": ["subnet-1", "subnet-2"]},
        )
        with cluster_access(_cluster()) as file:
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            text = file.read_text(encoding="utf-8")
            found = yaml.safe_load(text)
    assert not file.exists()
    assert "very-secret" not in text
    assert "token" not in found["users"][0]["user"]
    assert found["users"][0]["user"]["exec"]["args"][-2:] == ["mask-rcnn", "us-west-2"]
    assert found["clusters"][0]["cluster"]["server"].startswith("https://")


@pytest.mark.usefixtures("no_kubeconfig")
def test_a_cluster_that_is_gone_is_told_with_how_to_make_it() -> None:
    with (
        mock_aws(),
        pytest.raises(UsageError, match="EKS has no cluster mask-rcnn in us-west-2"),
        cluster_access(_cluster()),
    ):
        pass


def test_the_users_own_kubeconfig_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for file in (own, other):
        file.write_text("clusters: [{name: mine}]")
    monkeypatch.setenv("KUBECONFIG", str(own))
    with cluster_access(_cluster()) as file:
        assert file == own
    with cluster_access(_cluster(), other) as file:
        assert file == other


@pytest.mark.parametrize(("value", "said"), [("/a:/b", "name one file"), ("/gone", "no such file")])
def test_a_kubeconfig_that_is_no_file_is_refused(
    value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", value)
    with pytest.raises(UsageError, match=said), cluster_access(_cluster()):
        pass


def test_an_option_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="there is no such file"),
        cluster_access(_cluster(), tmp_path / "gone"),
    ):
        pass


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [", "is no kubeconfig: not YAML"),
        (b"\xff\x00", "is no kubeconfig: not YAML"),
        (b"", "it names no cluster"),
        (b"{}", "it names no cluster"),
        (b'{"KubernetesStack": {}}', "it names no cluster"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_refused(
    content: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "outputs.json"
    file.write_bytes(content)
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(UsageError, match=f"KUBECONFIG: {file}: .*{said}"):
        cluster_access(_cluster()).__enter__()


def test_an_output_that_is_no_arn_is_refused() -> None:
    with pytest.raises(UsageError, match="expected an ARN"):
        region_of(_cluster(ClusterArn="mask-rcnn"))


@pytest.mark.usefixtures("no_kubeconfig")
def test_kubectl_takes_the_kubeconfig_and_asks_for_the_token(tmp_path: Path) -> None:
    certificate = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    authority = Path(certificate).read_bytes().split(b"-----END CERTIFICATE-----")[0]
    pem = authority[authority.index(b"-----BEGIN") :] + b"-----END CERTIFICATE-----\n"
    made = kubeconfig_of(
        name="mask-rcnn",
        region="us-west-2",
        endpoint="https://127.0.0.1:1",
        authority=base64.b64encode(pem).decode(),
        namespace="kubeflow",
    )
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(made))
    done = subprocess.run(
        [kubectl(), "--kubeconfig", file, "get", "pods", "-v=8"],
        capture_output=True,
        text=True,
        env=environment(os.environ),
        check=False,
    )
    assert done.returncode == 1
    assert "127.0.0.1:1 was refused" in done.stderr
    assert "getting credentials" not in done.stderr
    assert "very-secret" not in done.stderr
