"""How the entry point starts the first-party trainer (training/maskrcnn/train.py)."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from entrypoint.job import Job

STOPS_WITH_CHECKPOINT = True
REPORTS = True
CHECKPOINTS = ("checkpoints",)

_ENGINE = {
    "mpi": ["--engine", "horovod"],
    "torchrun": ["--engine", "torch"],
    "smddp": ["--engine", "smddp"],
    "elastic": ["--engine", "horovod"],
}

_MASTER_PORT = "7777"
"""As below torchrun."""

_CPU_CYCLE_MS = "20"
"""As on platform `local`: Horovod's own 1 ms would take cores from the ranks."""


def prepare(job: "Job") -> None:
    """Remove how an earlier attempt ended: it says nothing about this one."""
    if job.is_head and os.path.exists(_outcome(job)):
        os.unlink(_outcome(job))


def command(job: "Job") -> List[str]:
    """Return the arguments of one rank. Hyperparameters stay in the file that the head wrote."""
    return [
        *(sys.executable, "-m", "training.maskrcnn.train"),
        *("--data", job.data, "--log-dir", job.log),
        *("--hyperparameters", os.path.join(job.log, "hyperparameters.json")),
        *_ENGINE[job.distribution],
        # A new job has a new folder; one that goes on finds its checkpoints there.
        *("--resume", "auto"),
    ]


def environment(job: "Job") -> Dict[str, str]:
    """Return the variables of a rank; each takes its share of the cores."""
    cores = len(os.sched_getaffinity(0))
    share = {"OMP_NUM_THREADS": str(max(1, cores // job.processes_per_host))}
    if job.distribution == "smddp":
        # Where ranks of torch.distributed meet; mpirun tells them the rest. Alone, a host needs no
        # name, and it may have none that resolves.
        head = job.head if len(job.hosts) > 1 else "127.0.0.1"
        return {**share, "MASTER_ADDR": head, "MASTER_PORT": _MASTER_PORT}
    return share if job.gpus_per_host else {**share, "HOROVOD_CYCLE_TIME": _CPU_CYCLE_MS}


def model_files(job: "Job") -> List[str]:
    path = os.path.join(job.log, "model.pt")
    return [path] if os.path.isfile(path) else []


def outcome(job: "Job") -> Optional[Dict[str, Any]]:
    """Return what the trainer says of its end (training/maskrcnn/outcome.py)."""
    try:
        with open(_outcome(job), encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _outcome(job: "Job") -> str:
    return os.path.join(job.log, "outcome.json")
