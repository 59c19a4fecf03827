"""What the entry point writes into the log folder; the report and `training.jobs` read it."""

import json
import os
import subprocess
import sys
from typing import Any, Dict, Mapping, Optional, Sequence

from .errors import DONE, STOPPED, STOPPED_WITH_CHECKPOINT, Ending, EntrypointError
from .job import Job
from .json_file import write_object
from .say import say

_DESCRIBE = (
    "import json; from training.report.environment import describe_environment; "
    "print(json.dumps(describe_environment()))"
)
_REPORT = (
    "import sys; from pathlib import Path; from training.layout import LogChannel, TrainChannel; "
    "from training.report import write_report; "
    "write_report(LogChannel(Path(sys.argv[1])), TrainChannel(Path(sys.argv[2])))"
)
"""Not `python -m training.jobs report`, which the image leaves out: it can talk to AWS."""

_STATUSES = {DONE: "completed", STOPPED: "stopped", STOPPED_WITH_CHECKPOINT: "checkpointed"}

_DESCRIBE_S = 120
_REPORT_S = 600


def write_hyperparameters(job: Job) -> None:
    """Write `hyperparameters.json`, on every host: with data on S3 each has a folder of its own."""
    write_object(os.path.join(job.log, "hyperparameters.json"), dict(job.hyperparameters))


def write_record(
    job: Job,
    environ: Mapping[str, str],
    *,
    describes: bool,
    world_size: Optional[int] = None,
) -> None:
    """Write `job.json`.

    Args:
        job: The job.
        environ: The container's variables.
        describes: Whether the image has the package that describes the machine and its versions.
        world_size: How many ranks there may be, where their number changes.
    """
    record: Dict[str, Any] = {
        "job_name": environ.get("TRAINING_JOB_NAME") or os.path.basename(job.log.rstrip("/")),
        "platform": environ.get("MASK_RCNN_PLATFORM") or "sagemaker",
        "algorithm": job.algorithm,
        "request": {
            "data": job.data,
            "log": job.log,
            "hosts": job.hosts,
            "instance_type": job.instance_type,
            "processes_per_host": job.processes_per_host,
            "distribution": job.distribution,
        },
        "world_size": world_size or job.world_size,
        **(_describe() if describes else {}),
    }
    write_object(os.path.join(job.log, "job.json"), record)


def write_outcome(job: Job, ending: Optional[Ending]) -> None:
    """Write `outcome.json` for a trainer that writes none; a full disk changes nothing else.

    Args:
        job: The job.
        ending: How it ended; None where it begins: what an earlier start of it left is removed.
    """
    path = os.path.join(job.log, "outcome.json")
    try:
        if ending is not None:
            status = _STATUSES.get(ending.code, "failed")
            write_object(path, {"status": status, "message": ending.reason})
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        say(f"{path}: cannot be written ({error.strerror})")


def leaves_results(environ: Mapping[str, str]) -> bool:
    """Return whether results have to leave the container: on the others the log folder stays."""
    return environ.get("MASK_RCNN_PLATFORM") not in ("ec2", "eks")


def write_model_files(job: Job, models: Sequence[str]) -> None:
    """Write `model-files.json`, for whoever copies the model on (node/conductor/results.py).

    Raises:
        EntrypointError: There are none, or the log folder takes no more.
    """
    if not models:
        raise EntrypointError("the job trained to its end, but left no model")
    path = os.path.join(job.log, "model-files.json")
    try:
        write_object(path, {"files": [os.path.relpath(model, job.log) for model in models]})
    except OSError as error:
        raise EntrypointError(f"{path}: cannot be written ({error.strerror})")


def write_report(job: Job) -> None:
    """Write report.html; that it cannot be written is said, and changes nothing else."""
    try:
        subprocess.check_output(
            [sys.executable, "-c", _REPORT, job.log, job.data],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=_REPORT_S,
        )
    except subprocess.CalledProcessError as error:
        lines = error.output.decode("utf-8", "replace").strip().splitlines()
        say(f"no report: {lines[-1] if lines else error}")
    except (OSError, subprocess.SubprocessError) as error:
        say(f"no report: {error}")


def _describe() -> Dict[str, Any]:
    """Return the machine and the versions of what computes, as the report shows them."""
    try:
        said = subprocess.check_output(
            [sys.executable, "-c", _DESCRIBE],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_DESCRIBE_S,
        )
        return dict(json.loads(said.decode("utf-8")))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        say(f"job.json has no versions: {error}")
        return {}
