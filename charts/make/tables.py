"""The tables that the templates read: what needs Python to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.algorithms.aws_samples_hyperparameters import AwsSamplesHyperparameters
from training.algorithms.pairings import PAIRINGS, right_instances
from training.algorithms.reference_hyperparameters import ReferenceHyperparameters
from training.algorithms.tensorpack_hyperparameters import TensorPackHyperparameters
from training.instances import INSTANCES, Instance

from .hyperparameters import CHART_NAMES, names_of
from .variables import VARIABLES

ALGORITHMS = ("horovod", "tensorpack", "aws-samples")

HUGE_PAGES_MIB = 5120
"""What libfabric's EFA provider wants, as 2 MiB pages; EKS's accelerated images set them aside:
https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html"""

MEMORY_SHARE = 0.85
"""Of an instance's memory, what a worker asks for. The rest: firmware and kernel, kubelet's reserve
(255 MiB and 11 MiB a pod, 737 pods on a p4d.24xlarge), huge pages, and the pods of each node:
https://docs.aws.amazon.com/eks/latest/eksctl/node-resources.html"""

SHM_SHARE = 0.25
"""Of a worker's memory, what /dev/shm may fill: loaders' pictures and NCCL's buffers between
processes. It counts as memory of the pod."""

SMALL_VCPUS = 8
"""With so many vCPUs or fewer a worker leaves one to the node's own pods, else two."""


def tables(gone: Mapping[str, str]) -> dict[str, Any]:
    """Return them all.

    Args:
        gone: Paths of keys of the old charts that mean nothing now, and what to do instead.
    """
    return {
        "instances": {
            instance.name: _machine(instance)
            for instance in INSTANCES
            if any(instance.name in types_of(name) for name in ALGORITHMS)
        },
        "hyperparameters": {name: names_of(name) for name in ALGORITHMS},
        "variables": {name: list(each.variables) for name, each in VARIABLES.items()},
        "gone": dict(gone),
        "configuration": {
            "tensorpack": _configuration(TensorPackHyperparameters),
            "aws-samples": _configuration(AwsSamplesHyperparameters),
        },
    }


def types_of(algorithm: str) -> tuple[str, ...]:
    """Return the instance types that an algorithm's image runs on, on EKS."""
    rows = [row for row in PAIRINGS if row.algorithm == algorithm and "eks" in row.platforms]
    return tuple(dict.fromkeys(name for row in rows for name in right_instances(row, "eks")))


def _machine(instance: Instance) -> dict[str, Any]:
    """Return what a worker that has the instance for itself asks for. Memory is in MiB."""
    memory = int(instance.memory_gib * 1024 * MEMORY_SHARE)
    efa = instance.efa_interfaces or 0
    return {
        "gpus": instance.gpus,
        "vcpus": instance.vcpus,
        "memory_mib": int(instance.memory_gib * 1024),
        "cpu": instance.vcpus - (1 if instance.vcpus <= SMALL_VCPUS else 2),
        "memory": memory,
        "shm": int(memory * SHM_SHARE),
        "efa": efa,
        "hugepages": HUGE_PAGES_MIB if efa else 0,
    }


def _configuration(model: type[ReferenceHyperparameters]) -> dict[str, Any]:
    """Return what `extra_config` may set, and how the other keys are set instead."""
    chart = {name: key for key, name in CHART_NAMES.items()}
    assert not chart.keys() & model.model_fields.keys()
    return {
        "keys": sorted(model.KEYS),
        "instead": {key: _in_chart(text) for key, text in sorted(model.OWN_KEYS.items())},
    }


def _in_chart(text: str) -> str:
    """Put a hint about a job spec in a chart's words."""
    start = "use the hyperparameter "
    if text.startswith(start):
        name = text.removeprefix(start)
        return f"use maskrcnn.{CHART_NAMES.get(name, name)}"
    return text.replace("see channels.train of the job", "see maskrcnn.data_dir").replace(
        "see instances of the job", "see maskrcnn.nodes"
    )
