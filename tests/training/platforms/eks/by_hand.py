"""Jobs that the commands of docs/eks.md make without `training.launch`."""

from __future__ import annotations

from typing import Any

import yaml

from tests.kubernetes_server import KubernetesServer
from training.kubernetes.helm import template
from training.platforms.eks.charts import FOLDER
from training.platforms.eks.connection import Connection

CHART = FOLDER / "maskrcnn"
VALUES: dict[str, Any] = {
    "maskrcnn": {"image": "registry/image:1", "gpu_instance_type": "p3.16xlarge", "nodes": 3}
}


def installed(connection: Connection, name: str, *, namespace: str) -> None:
    """Run `helm install NAME charts/maskrcnn` as somebody whose namespace is another."""
    connection.helm_in(namespace).install(name, CHART, VALUES)


def applied(cluster: KubernetesServer, name: str) -> None:
    """Run `helm template NAME charts/maskrcnn | kubectl apply -f -`."""
    made = template(name, CHART, VALUES, namespace="kubeflow")
    for each in yaml.load_all(made, yaml.CSafeLoader):
        if each:
            cluster.put(each)
