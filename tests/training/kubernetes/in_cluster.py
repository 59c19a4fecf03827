"""A cluster for tests of the commands: outputs, a manifest like MPI Operator's, and a command."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kubernetes_server import MPIJOB, KubernetesServer
from tests.training.platforms.eks.planning import outputs
from training.cli import run
from training.kubernetes import operator
from training.kubernetes.__main__ import app

MANIFEST = "\n---\n".join(
    yaml.safe_dump(each)
    for each in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mpi-operator"}},
        MPIJOB,
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "mpi-operator", "namespace": "mpi-operator"},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "mpi-operator", "namespace": "mpi-operator"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "mpi-operator"}},
                "template": {
                    "metadata": {"labels": {"app": "mpi-operator"}},
                    "spec": {
                        "containers": [{"name": "mpi-operator", "image": "mpi-operator:0.8.0"}],
                        "serviceAccountName": "mpi-operator",
                    },
                },
            },
        },
    )
)
"""Of the same kinds of objects as the authors', which is not part of this project."""


@dataclass
class InCluster:
    """Runs `python -m training.kubernetes` against a server for tests."""

    server: KubernetesServer
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    said: str = ""
    """What the last command printed to stderr."""

    def run(self, *words: str) -> tuple[int, str]:
        """Return a command's exit code and what it printed to stdout."""
        file = self.folder / "outputs.json"
        if not file.exists():
            self.tell(outputs().stacks)
        place = ("--kubeconfig", str(self.server.kubeconfig)) if words[0] != "images" else ()
        argv = ["training.kubernetes", *words, "--outputs-file", str(file), *place]
        self.monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as left:
            run(app)
        printed = self.capsys.readouterr()
        self.said = printed.err
        return int(left.value.code or 0), printed.out

    def tell(self, stacks: Any) -> None:
        """Write the stacks' outputs."""
        (self.folder / "outputs.json").write_text(json.dumps(stacks), encoding="utf-8")

    def install(self, *words: str) -> int:
        """Install with the manifest above."""
        return self.install_text(*words)[0]

    def install_text(self, *words: str) -> tuple[int, str]:
        file = self.folder / "mpi-operator.yaml"
        file.write_text(MANIFEST, encoding="utf-8")
        digest = hashlib.sha256(MANIFEST.encode()).hexdigest()
        self.monkeypatch.setattr(operator, "SHA256", digest)
        return self.run("install", "--mpi-operator-manifest", str(file), *words)
