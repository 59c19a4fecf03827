"""Writes the files that a training container finds below /opt/ml, as SageMaker does there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .interface import interface_of
from .order import Order


def write_contract(root: Path, order: Order) -> None:
    """Write the files below a folder of this host, anew.

    Raises:
        NodeError: No interface here has the host's address.
    """
    documents: dict[str, Any] = {
        "resourceconfig": {
            "current_host": order.address,
            "hosts": order.hosts,
            "network_interface_name": order.network_interface or interface_of(order.address),
            "current_instance_type": order.instance_type,
        },
        "hyperparameters": dict(order.hyperparameters),
        "inputdataconfig": {"train": {"TrainingInputMode": "File"}},
    }
    if order.elastic is not None:
        documents["elastic"] = dict(order.elastic)
    write_documents(root, documents)


def write_documents(root: Path, documents: Mapping[str, Any]) -> None:
    """Make the folders below a folder of this host anew, and write the files of `input/config`."""
    shutil.rmtree(root, ignore_errors=True)
    config = root / "input" / "config"
    for folder in (config, root / "model", root / "output" / "data"):
        folder.mkdir(parents=True)
    for name, document in documents.items():
        path = config / f"{name}.json"
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        path.chmod(0o600)


def variables(order: Order) -> dict[str, str]:
    """Return the variables that the entry point reads, and the user's own."""
    return {
        **order.environment,
        "MASK_RCNN_ALGORITHM": order.algorithm,
        "MASK_RCNN_DISTRIBUTION": order.distribution,
        "MASK_RCNN_PROCESSES_PER_HOST": str(order.processes_per_host),
        "MASK_RCNN_DATA": order.data["path"],
        "MASK_RCNN_LOG": order.log,
        "MASK_RCNN_PLATFORM": "ec2",
        "MASK_RCNN_MARK": order.mark,
        "TRAINING_JOB_NAME": order.job,
    }


def read_failure(root: Path) -> str | None:
    """Return why the container says it failed."""
    try:
        return (root / "output" / "failure").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
