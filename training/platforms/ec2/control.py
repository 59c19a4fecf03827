"""Looks after the cluster's jobs for `python -m training.jobs`; see `training.jobs.control`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from training.cli import log as console
from training.errors import AwsError, UsageError
from training.instances import known_instance
from training.job import is_job_name
from training.job_options import read_outputs
from training.jobs.info import JobInfo
from training.outputs import ClusterOutputs, StorageOutputs
from training.platforms.common.ending import conclude
from training.platforms.common.patience import Patience, Timer
from training.platforms.ec2.answer import HeadAway
from training.platforms.ec2.cloudwatch import show_from_cloudwatch
from training.platforms.ec2.commands import LIST
from training.platforms.ec2.follow import follow as follow_job
from training.platforms.ec2.head import Head, connect, head_of
from training.platforms.ec2.output import Output
from training.platforms.ec2.state import JobState, read_state
from training.platforms.ec2.where import where_is
from training.prices.price_list import EC2_ON_DEMAND
from training.prices.usage import NotKnown, Usage

ATTEMPTS = 3
"""Of each request of a command that does not wait for a job: an endpoint that is down is told."""


def control(outputs_file: Path | None) -> ClusterJobs:
    """Return what looks after the jobs of the cluster that the stacks made.

    Raises:
        UsageError: There is no such stack, or the file cannot be read.
        AwsError: CloudFormation refused, or cannot be reached.
    """
    outputs = read_outputs((ClusterOutputs, StorageOutputs), outputs_file)
    return ClusterJobs(outputs.read(ClusterOutputs), outputs.read(StorageOutputs))


class ClusterJobs:
    """The jobs of one cluster."""

    def __init__(self, cluster: ClusterOutputs, storage: StorageOutputs) -> None:
        self._cluster = cluster
        self._efs_id = storage.efs_id

    def jobs(self, *, limit: int) -> list[JobInfo]:
        """Return the cluster's jobs, newest first."""
        answer = self._head().ask("list", {"limit": limit})
        found = answer.get("jobs")
        if not isinstance(found, list):
            raise AwsError("the head node's answer to list has no jobs: it is of another version")
        if left_out := answer.get("left_out"):
            console.print(f"The head node's answer has no room for {left_out} older jobs.")
        return [self._info(read_state(each)) for each in found[:limit]]

    def status(self, name: str) -> JobInfo:
        """Return how a job is doing."""
        return self._info(self._state(name))

    def show(self, name: str, line: Callable[[str], None]) -> None:
        """Show the lines that a job has written by now; CloudWatch's where no head is there."""
        _named(name)
        output = Output(self._head(), name, line)
        try:
            output.look(is_last=True)
        except HeadAway as error:
            # From CloudWatch they would all come, and some of them twice.
            if output.has_begun:
                raise
            console.print(f"{error}. Its lines from CloudWatch Logs, as far as they got there:")
            patience = Patience(
                connect(self._cluster),
                reconnect=lambda: connect(self._cluster),
                tell=console.print,
                timer=Timer(),
                attempts=ATTEMPTS,
            )
            group = self._cluster.log_group_name
            if not show_from_cloudwatch(patience, group=group, job_name=name, show=line):
                raise AwsError(
                    f"{name}: neither the head node nor CloudWatch Logs ({group}) has lines of it"
                ) from error

    def follow(self, name: str, line: Callable[[str], None]) -> None:
        """Show a job's lines until it has ended, whatever is down meanwhile."""
        _named(name)
        follow_job(head_of(self._cluster, attempts=None), name, line)

    def conclude(self, name: str) -> None:
        """Say how a job has ended."""
        conclude(self._state(name), last_lines=())

    def stop(self, name: str) -> JobInfo:
        """Ask a job to end: its processes get time for a checkpoint."""
        return self._info(read_state(self._head().ask("stop", _named(name))))

    def _state(self, name: str) -> JobState:
        return read_state(self._head().ask("status", _named(name)))

    def _head(self) -> Head:
        return head_of(self._cluster, attempts=ATTEMPTS)

    def _info(self, state: JobState) -> JobInfo:
        log = self._on_efs(state.run)
        return JobInfo(
            name=state.name,
            status=state.status,
            detail=_detail(state),
            message=state.reason,
            machines=self._machines(state),
            created=state.created,
            ended=state.ended,
            billing=None,
            usage=self._usage(state, datetime.now(UTC)),
            model=f"{log}/model.pt" if state.status == "completed" else None,
            log=log,
        )

    def _machines(self, state: JobState) -> str:
        workers = f"workers {self._cluster.worker_instance_type}"
        return f"{state.hosts} host(s), {workers}" if state.hosts else workers

    def _usage(self, state: JobState, now: datetime) -> tuple[Usage, ...] | NotKnown:
        """Return the nodes that train: those of the last round, from the start of the first one."""
        if state.started is None:
            return ()
        if not state.hosts:
            return NotKnown("the head node does not tell its hosts")
        head, worker = self._cluster.head_instance_type, self._cluster.worker_instance_type
        # A head without GPUs only conducts.
        heads = 1 if known_instance(head) else 0
        seconds = max(0.0, ((state.ended or now) - state.started).total_seconds())
        return tuple(
            Usage(
                service=EC2_ON_DEMAND,
                region=where_is(self._cluster).region,
                instance_type=instance_type,
                count=count,
                seconds=seconds,
            )
            for instance_type, count in ((worker, state.hosts - heads), (head, heads))
            if count > 0
        )

    def _on_efs(self, path: str) -> str:
        """Return a path of the nodes as this program names places: <file system>:<path>."""
        mount = self._cluster.efs_mount.rstrip("/")
        return f"{self._efs_id}:{path.removeprefix(mount)}" if path.startswith(mount) else path


def _named(name: str) -> dict[str, str]:
    if not is_job_name(name):
        raise UsageError(
            f"{name!r}: no job has such a name: 1 to 63 letters, digits and -, neither first nor "
            f"last a -. Those of the cluster: {LIST}"
        )
    return {"name": name}


def _detail(state: JobState) -> str:
    said: Sequence[str] = (
        "no step yet" if state.step is None else f"step {state.step:,}",
        *([f"restarts: {state.restarts}"] if state.restarts else []),
    )
    return ", ".join(said)
