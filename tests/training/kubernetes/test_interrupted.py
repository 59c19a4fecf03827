"""helm is stopped in the middle; a second one comes while the first works."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.kubernetes_server import KubernetesServer
from training.kubernetes.errors import HelmBusy
from training.kubernetes.helm import Helm

_UPGRADE = """
import sys
from pathlib import Path
from training.errors import TrainingError
from training.kubernetes.helm import Helm
try:
    Helm(Path(sys.argv[1]), "kubeflow").upgrade("mine", Path(sys.argv[2]), {}, wait_s=60)
except TrainingError as error:
    print(type(error).__name__, error.exit_code.value, error)
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart whose one part never gets ready."""
    folder = tmp_path / "chart"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (folder / "templates/part.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: part}\n"
        "spec: {containers: [{name: main, image: 'a.b/c:1'}]}\n"
    )
    return folder


def _started(cluster: KubernetesServer, chart: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _UPGRADE, str(cluster.kubeconfig), str(chart)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while "part" not in cluster.names("pods"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_upgrade_says_what_is_there_and_the_next_one_goes_on(
    cluster: KubernetesServer, chart: Path, number: signal.Signals
) -> None:
    with _started(cluster, chart) as process:
        process.send_signal(number)
        said = process.communicate(timeout=60)[0]
    assert said.startswith("Interrupted 130 helm upgrade was stopped: release mine in namespace")
    helm = Helm(cluster.kubeconfig, "kubeflow")
    release = helm.release("mine")
    assert release is not None
    assert release.status == "failed"
    assert "is failed (revision 1)" in said
    helm.upgrade("mine", chart, {})
    again = helm.release("mine")
    assert again is not None
    assert again.status == "deployed"


def test_a_second_upgrade_at_once_is_told_to_wait_and_a_killed_one_how_to_go_on(
    cluster: KubernetesServer, chart: Path
) -> None:
    helm = Helm(cluster.kubeconfig, "kubeflow")
    with _started(cluster, chart) as process:
        with pytest.raises(HelmBusy, match="another command works on release mine"):
            helm.upgrade("mine", chart, {})
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
