"""Looks after the EKS cluster's jobs for `python -m training.jobs`; see `training.jobs.control`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from training.errors import AwsError
from training.job_options import read_outputs
from training.jobs.info import JobInfo
from training.outputs import KubernetesOutputs, StorageOutputs
from training.platforms.common.ending import conclude
from training.platforms.eks.connection import connected
from training.platforms.eks.follow import follow as follow_job
from training.platforms.eks.launcher_log import LauncherLog
from training.platforms.eks.looking import all_jobs, observe, require
from training.platforms.eks.places import EFS_MOUNT, FSX_MOUNT
from training.platforms.eks.state import JobState
from training.platforms.eks.stopping import stop as stop_job
from training.platforms.eks.where import where_is
from training.prices.price_list import EC2_ON_DEMAND
from training.prices.usage import NotKnown, Usage


def control(outputs_file: Path | None) -> EksJobs:
    """Return what looks after the jobs of the cluster that the stacks made.

    Raises:
        UsageError: There is no such stack, or the file cannot be read.
        AwsError: CloudFormation refused, or cannot be reached.
    """
    outputs = read_outputs((KubernetesOutputs, StorageOutputs), outputs_file)
    return EksJobs(outputs.read(KubernetesOutputs), outputs.read(StorageOutputs))


class EksJobs:
    """The jobs of one cluster, in its namespace."""

    def __init__(self, cluster: KubernetesOutputs, storage: StorageOutputs) -> None:
        self._cluster = cluster
        self._storage = storage

    def jobs(self, *, limit: int) -> list[JobInfo]:
        """Return the cluster's jobs, newest first, and those of which a record is left."""
        with connected(self._cluster) as connection:
            found = all_jobs(connection, limit=limit, now=datetime.now(UTC))
        return [self._info(state) for state in found]

    def status(self, name: str) -> JobInfo:
        """Return how a job is doing."""
        with connected(self._cluster) as connection:
            return self._info(require(connection, name, now=datetime.now(UTC)))

    def show(self, name: str, line: Callable[[str], None]) -> None:
        """Show the lines that a job's launchers have written by now."""
        with connected(self._cluster) as connection:
            state = require(connection, name, now=datetime.now(UTC))
            observed = observe(connection, name)
            launchers = observed.launchers if observed is not None else []
            begun = [pod for pod in launchers if pod.phase != "Pending"]
            if not begun:
                raise AwsError(self._no_lines(state))
            for pod in begun:
                LauncherLog(connection.kubernetes, pod.name, line).read(follow=False)

    def follow(self, name: str, line: Callable[[str], None]) -> None:
        """Show a job's lines until it has ended, whatever is down meanwhile."""
        with connected(self._cluster) as connection:
            require(connection, name, now=datetime.now(UTC))
            follow_job(connection, name, line)

    def conclude(self, name: str) -> None:
        """Say how a job has ended."""
        with connected(self._cluster) as connection:
            conclude(require(connection, name, now=datetime.now(UTC)), last_lines=())

    def stop(self, name: str) -> JobInfo:
        """End a job: its ranks get time for a checkpoint; then what is left of it is removed."""
        with connected(self._cluster) as connection:
            return self._info(stop_job(connection, name))

    def _no_lines(self, state: JobState) -> str:
        log = self._placed(state.log)
        if state.has_ended and log:
            return (
                f"{state.name}: its pods are gone, and their lines with them. All of them are in "
                f"{log}/launcher.log and rank-N.log; python -m training.kubernetes attach opens a "
                "shell beside them"
            )
        return f"{state.name}: no line yet: {state.status} ({state.message or 'no reason is told'})"

    def _info(self, state: JobState) -> JobInfo:
        log = self._placed(state.log)
        return JobInfo(
            name=state.name,
            status=state.status,
            detail=state.detail,
            message=state.message,
            machines=self._machines(state),
            created=state.created,
            ended=state.ended,
            billing=None,
            usage=self._usage(state, datetime.now(UTC)),
            model=f"{log}/model.pt" if log and state.status == "completed" else None,
            log=log,
        )

    def _usage(self, state: JobState, now: datetime) -> tuple[Usage, ...] | NotKnown:
        if not state.has_mpijob:
            return NotKnown("when it ran went with its pods; the report in its log folder has that")
        if state.started is None:
            return ()
        return (
            Usage(
                service=EC2_ON_DEMAND,
                region=where_is(self._cluster).region,
                instance_type=self._type(state),
                count=state.workers,
                seconds=max(0.0, ((state.ended or now) - state.started).total_seconds()),
            ),
        )

    def _machines(self, state: JobState) -> str:
        kind = self._type(state)
        return f"{state.workers} x {kind}" if state.workers else kind

    def _type(self, state: JobState) -> str:
        """Return the type of a job's nodes; those of the cluster may have been changed since."""
        return state.instance_type or self._cluster.gpu_instance_type

    def _placed(self, path: str | None) -> str | None:
        """Return a path of the pods as this program names places: <file system>:<path>."""
        if path is None:
            return None
        if path.startswith(f"{EFS_MOUNT}/"):
            return f"{self._storage.efs_id}:{path.removeprefix(EFS_MOUNT)}"
        if path.startswith(f"{FSX_MOUNT}/") and self._storage.fsx_id:
            mounted = path.removeprefix(FSX_MOUNT)
            return f"{self._storage.fsx_id}:/{self._storage.fsx_mount_name}{mounted}"
        return path
