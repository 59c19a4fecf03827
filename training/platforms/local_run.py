"""The run itself of a job on this machine: copy, check, start, follow, keep.

Apart from `training.platforms.local`, so that a plan imports none of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training import supervise
from training.cli import log as console
from training.cli import show_error
from training.errors import (
    AwsError,
    Interrupted,
    JobCheckpointed,
    JobFailed,
    PreflightError,
    TrainingError,
    UsageError,
)
from training.job import Job
from training.layout import LogChannel, TrainChannel
from training.platforms.api import Plan
from training.platforms.copied_data import COPY_JOBS, bucket_and_key, copy_data
from training.platforms.local import LocalRequest, check_data
from training.preflight.finding import error_lines
from training.ranklog import RankLogs

GRACE_S = 30
"""Seconds that ranks have to write a checkpoint after SIGTERM."""
LOST_RANK_S = 15
"""Seconds that the others have to leave when a rank is gone."""


def run(job: Job, plan: Plan, request: LocalRequest) -> None:
    """Run a job to its end.

    Raises:
        PreflightError: The data cannot be trained on; nothing was started.
        JobFailed: A process failed; the message has its last lines.
        JobCheckpointed: The job was stopped and saved a checkpoint.
        AwsError: S3 refused a copy.
    """
    log = LogChannel(request.log)
    _bring_data(job, request)
    with _own(log, request):
        _write_job(job, plan, request, log)
        try:
            _train(request, log)
        except TrainingError:
            _try_report(log, TrainChannel(request.data))
            raise
        _write_report(log, TrainChannel(request.data))
        _keep_model(log, request)


def _bring_data(job: Job, request: LocalRequest) -> None:
    """Copy the data here where it lies on S3, and check it before anything starts."""
    if request.data_copied_from is None:
        return
    copy_data(request.data_copied_from, request.data)
    if lines := error_lines(check_data(job, request.data)):
        raise PreflightError("\n".join(["the data cannot be trained on:", *lines]))


@contextmanager
def _own(log: LogChannel, request: LocalRequest) -> Iterator[None]:
    """Make the log folder, and hold it: two launches never write to one.

    The lock goes with this process, however it ends.
    """
    try:
        log.root.mkdir(parents=True, exist_ok=request.resume)
        handle = os.open(log.root / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    except FileExistsError as error:
        raise UsageError(f"{log.root} is there already: another launch has just made it") from error
    except OSError as error:
        raise UsageError(f"{log.root}: cannot be written to ({error.strerror})") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UsageError(f"{log.root} is in use: the job in it is still running") from error
    finally:
        os.close(handle)


def _write_job(job: Job, plan: Plan, request: LocalRequest, log: LogChannel) -> None:
    from training.report.environment import describe_environment

    record = {
        "job_name": plan.job_name,
        "platform": plan.platform,
        "algorithm": plan.algorithm,
        "spec": job.spec.model_dump(mode="json"),
        "request": request.to_json(),
        "world_size": request.world_size,
        "command": ["python", "-m", "training.launch", *_arguments_of_another_run(sys.argv[1:])],
        **describe_environment(),
    }
    _write_json(log.job, record)
    _write_json(log.hyperparameters, dict(request.hyperparameters))
    # How an earlier attempt ended says nothing about this one.
    log.outcome.unlink(missing_ok=True)


def _arguments_of_another_run(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without what ties them to this run: its name, and going on with it."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--name":
            next(words, None)
        elif word != "--resume" and not word.startswith("--name="):
            kept.append(word)
    return kept


def _write_json(path: Path, document: Any) -> None:
    aside = path.with_name(path.name + ".tmp")
    aside.write_text(json.dumps(document, indent=2), encoding="utf-8")
    aside.replace(path)


def _train(request: LocalRequest, log: LogChannel) -> None:
    """Start the processes, follow them, and say how they ended."""
    is_elastic = request.max_world_size is not None
    logs = RankLogs(log, request.max_world_size or request.world_size, console.out)
    try:
        ended = supervise.run(
            request.argv,
            env=_environment(request),
            cwd=request.working_directory,
            limits=supervise.Limits(
                run_s=request.max_run_s,
                grace_s=GRACE_S,
                lost_rank_s=None if is_elastic else LOST_RANK_S,
            ),
            is_worker=lambda argv: tuple(argv) == request.process_argv,
            workers=request.world_size,
            on_line=logs.write,
        )
    finally:
        logs.close()
    _judge(ended, _outcome(log), logs, run_name=log.root.name.removeprefix("log-"))


def _environment(request: LocalRequest) -> dict[str, str]:
    """Return the variables of the processes.

    They need no access to AWS, so they get none. `horovodrun` writes the names into a shell's
    command line as they are, so that only plain names may pass.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if _PLAIN_NAME.match(name) and not name.startswith("AWS_")
    }
    return inherited | dict(request.env) | {"MASK_RCNN_LAUNCHER_PID": str(os.getpid())}


_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")


def _outcome(log: LogChannel) -> dict[str, Any]:
    try:
        outcome = json.loads(log.outcome.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return outcome if isinstance(outcome, dict) else {}


def _judge(ended: supervise.Run, outcome: dict[str, Any], logs: RankLogs, *, run_name: str) -> None:
    """Raise unless all processes and the trainer itself say that the job is complete.

    Args:
        run_name: What `--resume --name` takes.
    """
    status = outcome.get("status")
    if ended.returncode == 0 and status == "completed":
        return
    if status == "checkpointed":
        raise JobCheckpointed(
            f"by {(ended.stopped or supervise.Stop.SIGNAL).value}, with a checkpoint at "
            f"step {outcome.get('step')}; run the same command with --resume --name {run_name} to "
            "go on"
        )
    if ended.stopped in {supervise.Stop.SIGNAL, supervise.Stop.TIME_LIMIT}:
        raise Interrupted(f"by {ended.stopped.value}, before there was a new checkpoint")
    rank, cause = _first_failure(ended, logs)
    if status == "failed":
        cause = f"{cause}: {outcome.get('message')}"
    lines = [f"the job failed: {cause}"]
    if last := logs.last(rank):
        lines.append(f"Last lines of {'the launcher' if rank is None else f'rank {rank}'}:")
    raise JobFailed("\n".join([*lines, *(f"  {line}" for line in last)]))


_GLOO_FAILURE = re.compile(r"Process name: (\d+)\s+Exit code: (-?\d+)")
_MPI_SIGNAL = re.compile(r"process rank (\d+) with PID .* exited on signal (\d+)")
_MPI_EXIT = re.compile(r"Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+)")


def _first_failure(ended: supervise.Run, logs: RankLogs) -> tuple[int | None, str]:
    """Return the rank that failed first, where the output tells, and what happened to it."""
    text = "\n".join(logs.last(None))
    if match := _GLOO_FAILURE.search(text) or _MPI_EXIT.search(text):
        return int(match[1]), f"rank {match[1]} {_exit_text(int(match[2]))}"
    if match := _MPI_SIGNAL.search(text):
        return int(match[1]), f"rank {match[1]} {_exit_text(-int(match[2]))}"
    if ended.stopped is not None:
        return None, f"it was stopped because of {ended.stopped.value}"
    return None, f"horovodrun {_exit_text(ended.returncode)}"


def _exit_text(code: int) -> str:
    number = -code if code < 0 else code - 128
    if number > 0 and number in set(signal.Signals):
        return f"was killed by {signal.Signals(number).name}"
    return f"ended with exit code {code}"


def _try_report(log: LogChannel, train: TrainChannel) -> None:
    """Write the report of a job that failed; its own cause is what the user is to see."""
    try:
        _write_report(log, train)
    except TrainingError as error:
        show_error(error)


def _write_report(log: LogChannel, train: TrainChannel) -> None:
    from training.report import write_report

    console.print(f"report: {write_report(log, train)}", markup=False)


def _keep_model(log: LogChannel, request: LocalRequest) -> None:
    """Copy the model to S3; S3 compares what it got with the checksum that is sent along."""
    from training.aws.errors import translated
    from training.data.aws import make_s3_client

    try:
        with translated():
            make_s3_client(connections=COPY_JOBS).upload_file(
                str(log.model),
                *bucket_and_key(request.model_copied_to),
                ExtraArgs={"ChecksumAlgorithm": "SHA256"},
            )
    except AwsError as error:
        raise AwsError(
            f"trained, and the model is in {log.model}, but not on S3: {error}"
        ) from error
    console.print(f"model: {request.model_copied_to}", markup=False)
