"""`worker`: a pod that runs ranks, for one launcher after the other.

A launcher that is lost, or whose attempt failed, may come again: this pod then waits for it, and
what it ran is ended. When nobody comes it leaves with 0, since whatever else it ended with would
have it started again, on an instance that costs money.
"""

from typing import Mapping, Optional

from .adapters import load_adapter
from .errors import DONE, FAILED, Ending, EntrypointError, JobOver
from .failure import write_failure
from .host import Host
from .job import Job, read_job
from .launcher import choose_launcher
from .machine import Machine
from .meeting import Meeting
from .network import check_interface
from .paths import MlPaths
from .pod import Pod, own_variables, passport, read_pod, resources_of
from .pod_ranks import PodRanks
from .post import Post
from .processes import adopt_orphans
from .record import write_record
from .say import say
from .signals import StopSignals
from .timing import Timing, read_timing
from .worker import Worker


def worker(environ: Mapping[str, str], paths: MlPaths) -> int:
    """Serve until the job is over, SIGTERM, or nobody comes; return the container's exit code."""
    stop = StopSignals()
    adopt_orphans()
    pod = read_pod(environ)
    place = _Place(pod, own_variables(environ), stop)
    try:
        job = place.read_job(paths)
    except EntrypointError as error:
        say(str(error))
        write_failure(paths.failure, str(error))
        place.tell_failure(str(error))
        return FAILED
    say(
        f"{job.algorithm} ({job.distribution}): {pod.name} runs {job.processes_per_host} "
        f"process(es) for its launcher; {job.gpus_per_host} GPU(s) here; data {job.data}, log "
        f"{job.log}"
    )
    while True:
        ending = place.attempt(job)
        why_leave = _why_leave(ending, stop, pod)
        if why_leave is not None:
            say(why_leave)
            return DONE
        if ending is not None:
            say(f"{ending.reason.splitlines()[0]}: waits for another launcher")


def _why_leave(ending: Optional[Ending], stop: StopSignals, pod: Pod) -> Optional[str]:
    if stop.count:
        return "leaves: stopped by SIGTERM"
    if ending is None:
        return f"leaves: no launcher came in {pod.wait_s} s"
    return "leaves: the job is completed" if ending.code == DONE else None


class _Place:
    """Where this pod's attempts take place, one after the other."""

    def __init__(self, pod: Pod, environ: Mapping[str, str], stop: StopSignals) -> None:
        self._pod = pod
        self._environ = environ
        self._timing: Timing = read_timing(environ)
        self._stop = stop

    def read_job(self, paths: MlPaths) -> Job:
        """Return the job as far as this pod is told of it; the launcher knows the other hosts.

        Raises:
            EntrypointError: It cannot take part.
        """
        job = read_job(self._environ, paths, resources_of(self._pod, [self._pod.name]))
        check_interface(job.network_interface, place="MASK_RCNN_INTERFACE")
        load_adapter(job.algorithm)
        return job

    def attempt(self, job: Job) -> Optional[Ending]:
        """Take part in one attempt; None: no launcher came."""
        host = Host(job, load_adapter(job.algorithm), self._environ)
        try:
            meeting = self._meet(host, {"passport": passport(job), "pod": self._pod.uid})
            if meeting is None:
                return None
            return self._take_part(host, meeting)
        except JobOver as over:
            return over.ending
        finally:
            host.close()

    def tell_failure(self, reason: str) -> None:
        """Tell the launcher that this pod cannot take part."""
        machine = Machine(self._pod.name, self._environ)
        try:
            self._meet(machine, {"passport": {}, "failed": reason})
        except JobOver:
            # It has heard it.
            return
        finally:
            machine.close()

    def _meet(self, machine: Machine, introduction: Mapping[str, object]) -> Optional[Meeting]:
        post = Post(machine, self._pod)
        hello = {"kind": "hello", "host": self._pod.name, **introduction}
        try:
            return post.meet(hello, self._timing, self._stop, self._pod.wait_s)
        finally:
            # One call at a time.
            post.close()

    def _take_part(self, host: Host, meeting: Meeting) -> Ending:
        told = meeting.welcome
        hosts = [str(name) for name in told["hosts"]]
        host.job = job = host.job._replace(hosts=hosts, launcher=str(told["head"]))
        if told.get("records"):
            # It describes what computes, which the launcher does not.
            write_record(job, self._environ, describes=host.adapter.reports)
        if job.distribution == "elastic":
            return PodRanks(host, meeting, self._timing, self._stop).run()
        launcher = choose_launcher(job.distribution)
        return Worker(host, launcher, self._timing, self._stop, lambda: meeting).run()
