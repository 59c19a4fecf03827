"""Loads the images' adapters as the entry point does, which has docker/ on its path."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.conftest import ROOT

DOCKER = ROOT / "docker"
FOLDERS = ("tensorpack", "aws-samples", "tf2-smddp")
GOLDEN = Path(__file__).with_name("golden")

if str(DOCKER) not in sys.path:
    sys.path.insert(0, str(DOCKER))


def adapter(folder: str) -> Any:
    spec = importlib.util.spec_from_file_location(
        f"adapter_{folder.replace('-', '_')}", DOCKER / folder / "adapter.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def job(
    folder: str,
    *,
    data: Path | str = "/opt/ml/input/data/train",
    log: Path | str = "/opt/ml/input/data/log",
    hyperparameters: dict[str, str] | None = None,
    hosts: int = 4,
    processes_per_host: int = 8,
) -> Any:
    from entrypoint.job import Job

    return Job(
        algorithm=folder,
        distribution="smddp" if folder == "tf2-smddp" else "mpi",
        hyperparameters=hyperparameters or {},
        data=str(data),
        log=str(log),
        hosts=[f"algo-{number + 1}" for number in range(hosts)],
        current_host="algo-1",
        processes_per_host=processes_per_host,
        network_interface="eth0",
        gpus_per_host=processes_per_host,
        instance_type="ml.p3.16xlarge",
    )


def touch_checkpoint(folder: Path, name: str) -> None:
    """Make the files that TensorFlow's Saver writes."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending in (".index", ".data-00000-of-00001"):
        (folder / f"{name}{ending}").touch()


def give_backbone(data: Path) -> None:
    """Make the weights that tf2-smddp begins with."""
    touch_checkpoint(data / "pretrained-models" / "resnet-nhwc-2018-02-07", "model.ckpt-112603")


def golden_cases(folder: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((GOLDEN / f"{folder}.json").read_text())["cases"]
    return cases


def all_golden_cases() -> list[tuple[str, dict[str, Any]]]:
    return [(folder, case) for folder in FOLDERS for case in golden_cases(folder)]
