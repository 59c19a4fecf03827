"""kubectl's and helm's answers, remembered as long as the cluster stays as it is.

Each takes a tenth of a second of Go; most situations break nothing in the cluster itself.
"""

from __future__ import annotations

import json
import os
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from tests.kubernetes_server import KubernetesServer
from training.kubernetes import client, helm


def remember(patch: pytest.MonkeyPatch, cluster: KubernetesServer) -> None:
    """Let the same command be run once for each state of the cluster."""
    answers: dict[Any, Any] = {}

    def run(argv: Any, **options: Any) -> Any:
        state = (_content(cluster), tuple(cluster.refusals), os.environ.get("KUBECONFIG"))
        key = (tuple(argv), options.get("input"), state)
        # Both ask for `check=False`, which is said again here.
        del options["check"]
        if key not in answers:
            answers[key] = subprocess.run(argv, check=False, **options)
        return answers[key]

    names = ("DEVNULL", "PIPE", "Popen", "TimeoutExpired")
    others = {name: getattr(subprocess, name) for name in names}
    for module in (client, helm):
        patch.setattr(module, "subprocess", SimpleNamespace(run=run, **others))


def _content(cluster: KubernetesServer) -> str:
    """Return all objects as a text; what differs each time one is made is left out."""
    objects = [
        {**found, "metadata": {k: v for k, v in found["metadata"].items() if k in _KEPT}}
        for places in cluster.store.objects.values()
        for found in places.values()
    ]
    return "\n".join(sorted(json.dumps(each, sort_keys=True) for each in objects))


_KEPT = ("name", "namespace", "labels", "annotations")
