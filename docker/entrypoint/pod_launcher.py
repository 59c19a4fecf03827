"""`launcher`: the pod that starts a job's ranks in its workers and says how the job ended.

It runs no rank. Where a worker is lost, it waits for another and starts again from the last
checkpoint, in the same pod: MPI Operator's Job counts every pod that failed, and gives up sooner or
later.
"""

import sys
from typing import Callable, List, Mapping, Tuple

from .adapters import load_adapter
from .calls import Calls, Line
from .crew import Approach
from .door import Arrival, Door
from .elastic import ElasticRun
from .elastic_settings import ElasticHead
from .errors import FAILED, STOPPED, Ending, EntrypointError, StopAsked
from .failure import write_failure
from .head import Head
from .host import Host
from .job import Job, describe, read_job
from .keeping import keep_all
from .launcher import choose_launcher, find_program
from .losses import Losses
from .network import check_interface
from .output import JobOutput
from .paths import MlPaths
from .pod import (
    SOCKETS,
    JobKey,
    Listed,
    own_variables,
    passport,
    read_hostfile,
    read_pod,
    resources_of,
    take_key,
)
from .processes import adopt_orphans
from .record import write_hyperparameters
from .roster import Roster
from .say import say
from .signals import StopSignals
from .sshd import user_name
from .timing import read_timing


def launcher(environ: Mapping[str, str], paths: MlPaths) -> int:
    """Run the job to its end and return the container's exit code."""
    stop = StopSignals()
    adopt_orphans()
    attempts = _Attempts(environ, paths, stop)
    say(describe(attempts.job))
    ending = attempts.run()
    if ending.is_failure:
        write_failure(paths.failure, ending.reason)
    say(f"exit code {ending.code}: {ending.reason}")
    return ending.code


class _Attempts:
    """The attempts of one launcher. Raises: EntrypointError: It is told what cannot be."""

    def __init__(self, environ: Mapping[str, str], paths: MlPaths, stop: StopSignals) -> None:
        self._environ = own_variables(environ)
        self._stop = stop
        self._timing = read_timing(environ)
        self._pod = read_pod(environ)
        slots = environ.get("MASK_RCNN_PROCESSES_PER_HOST", "")
        self._workers: List[Listed] = read_hostfile(environ, slots)
        resources = resources_of(self._pod, [worker.host for worker in self._workers])
        job = read_job(self._environ, paths, resources, needs_data=False)
        self.job: Job = job._replace(launcher=self._pod.name)
        if job.distribution not in ("mpi", "elastic"):
            raise EntrypointError(
                f"MASK_RCNN_DISTRIBUTION: {job.distribution!r}; in pods it is mpi or elastic"
            )
        check_interface(job.network_interface, place="MASK_RCNN_INTERFACE")
        self._adapter = load_adapter(job.algorithm)
        self._losses = Losses(job.log, self._adapter.checkpoints)
        self._is_next_free = False
        try:
            write_hyperparameters(job)
        except OSError as error:
            raise EntrypointError(
                f"MASK_RCNN_LOG: {job.log}: cannot be written to ({error.strerror})"
            )

    def run(self) -> Ending:
        while True:
            host = Host(self.job, self._adapter, self._environ)
            try:
                ending, lost = self._run_once(host)
            finally:
                host.close()
            if not self._is_next_free:
                return ending
            say(
                f"{ending.reason.splitlines()[0]}; {', '.join(lost)} went away: waits for another "
                "and starts again from the last checkpoint"
            )

    def _run_once(self, host: Host) -> Tuple[Ending, Mapping[str, str]]:
        """Return how an attempt ended, and the pods that were lost in it."""
        key = take_key(self._pod, host.folder)
        line = Line(host, find_program("ssh"), key, user_name())

        def open_door(
            on_arrival: Callable[[Arrival], None], on_misfit: Callable[[str, str], None]
        ) -> Door:
            return Calls(
                line=line,
                workers=self._workers,
                passport=passport(self.job),
                timing=self._timing,
                refused=self._losses.pods,
                on_arrival=on_arrival,
                on_misfit=on_misfit,
            )

        approach = Approach(open_door, key.path, self._pod.wait_s, takes_another=True)
        if self.job.distribution == "elastic":
            return self._run_elastic(host, approach, key)
        return self._run_rigid(host, approach)

    def _run_rigid(self, host: Host, approach: Approach) -> Tuple[Ending, Mapping[str, str]]:
        output = JobOutput(
            self.job.log,
            self.job.world_size,
            sys.stdout.buffer,
            lambda why: host.tell({"kind": "failed", "reason": why}),
        )

        def keep(ending: Ending) -> Ending:
            self._judge(ending, head.lost)
            # What is started again is not over.
            return ending if self._is_next_free else keep_all(ending, self.job, self._adapter, None)

        head = Head(
            host=host,
            launcher=choose_launcher(self.job.distribution),
            approach=approach,
            output=output,
            timing=self._timing,
            stop=self._stop,
            keep=keep,
        )
        return head.run(), head.lost

    def _run_elastic(
        self, host: Host, approach: Approach, key: JobKey
    ) -> Tuple[Ending, Mapping[str, str]]:
        job = self.job
        least = min(self._pod.least_workers, len(job.hosts)) * job.processes_per_host
        settings = ElasticHead(
            address=job.head,
            hosts="",
            identity=key.path,
            sockets=SOCKETS,
            takes_part=False,
            least_processes=least,
            most_processes=job.world_size,
            wait_s=self._pod.wait_s,
        )
        roster = Roster(host, approach, least, self._timing)
        try:
            roster.wait(self._stop)
            ending = ElasticRun(host, settings, self._environ, self._stop, roster).run()
        except StopAsked:
            ending = Ending(STOPPED, "stopped by SIGTERM before the ranks had started")
        except (EntrypointError, OSError) as error:
            ending = Ending(FAILED, str(error))
        self._judge(ending, roster.lost)
        roster.dismiss(ending)
        return ending, roster.lost

    def _judge(self, ending: Ending, lost: Mapping[str, str]) -> None:
        is_stopped = self._stop.count > 0
        self._is_next_free = self._losses.is_next_free(ending, lost, is_stopped=is_stopped)
