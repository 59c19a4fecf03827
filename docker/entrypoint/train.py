"""`train`: this host's part of a training job."""

import sys
from typing import Callable, Mapping

from .adapters import Adapter, load_adapter
from .crew import Approach
from .door import Arrival, Door
from .errors import FAILED, Ending, EntrypointError
from .event_copies import VARIABLE as TENSORBOARD
from .event_copies import EventCopies
from .failure import failure_text, write_failure
from .gathering import Gathering, passport, turn_away
from .head import Head
from .host import Host
from .job import Job, describe, read_job
from .keeping import keep_all
from .launcher import choose_launcher
from .meeting import Meeting, meet_head, report_failure
from .network import check_interface
from .output import JobOutput
from .paths import MlPaths
from .processes import adopt_orphans
from .record import leaves_results, write_hyperparameters, write_record
from .resources import read_resources
from .say import say
from .signals import StopSignals
from .timing import Timing, read_timing
from .worker import Worker


def train(environ: Mapping[str, str], paths: MlPaths) -> int:
    """Run to the end of the job.

    Returns:
        The container's exit code, the same on every host.
    """
    stop = StopSignals()
    adopt_orphans()
    try:
        job = read_job(environ, paths)
        if job.distribution == "elastic":
            raise EntrypointError(
                "MASK_RCNN_DISTRIBUTION: elastic: is for the commands `elastic` and `host`, on "
                "platform ec2, and `launcher` and `worker`, on platform eks; `train` takes mpi, "
                "torchrun or smddp"
            )
        check_interface(job.network_interface)
        adapter = load_adapter(job.algorithm)
        _write_files(job, environ, adapter)
    except EntrypointError as error:
        return _give_up(environ, paths, str(error))
    say(describe(job))
    host = Host(job, adapter, environ)
    try:
        ending = _take_part(host, environ, paths, stop)
    finally:
        host.close()
    if ending.is_failure:
        write_failure(paths.failure, ending.reason)
    say(f"exit code {ending.code}: {ending.reason}")
    return ending.code


def _write_files(job: Job, environ: Mapping[str, str], adapter: Adapter) -> None:
    try:
        write_hyperparameters(job)
        if job.is_head:
            write_record(job, environ, describes=adapter.reports)
    except OSError as error:
        raise EntrypointError(f"MASK_RCNN_LOG: {job.log}: cannot be written to ({error.strerror})")


def _take_part(host: Host, environ: Mapping[str, str], paths: MlPaths, stop: StopSignals) -> Ending:
    job, adapter = host.job, host.adapter
    timing = read_timing(environ)
    launcher = choose_launcher(job.distribution)
    if not job.is_head:
        return Worker(host, launcher, timing, stop, lambda: _meet(job, timing, stop)).run()
    output = JobOutput(
        job.log,
        job.world_size,
        sys.stdout.buffer,
        lambda why: host.tell({"kind": "failed", "reason": why}),
    )
    events = EventCopies(job.log, environ.get(TENSORBOARD))

    def keep(ending: Ending) -> Ending:
        events.finish()
        return keep_all(ending, job, adapter, paths if leaves_results(environ) else None)

    def open_door(
        on_arrival: Callable[[Arrival], None], on_misfit: Callable[[str, str], None]
    ) -> Door:
        return Gathering(job.workers, passport(job), on_arrival, on_misfit, say)

    return Head(
        host=host,
        launcher=launcher,
        approach=Approach(open_door),
        output=output,
        timing=timing,
        stop=stop,
        keep=keep,
    ).run()


def _meet(job: Job, timing: Timing, stop: StopSignals) -> Meeting:
    hello = {"kind": "hello", "host": job.current_host, "passport": passport(job)}
    return meet_head(job.head, hello, timing, lambda: stop.count > 0)


def _give_up(environ: Mapping[str, str], paths: MlPaths, reason: str) -> int:
    """End before there was a job, and let the other hosts know: they would wait."""
    say(reason)
    write_failure(paths.failure, failure_text(reason, "", []))
    try:
        resources = read_resources(paths.resources)
    except EntrypointError:
        return FAILED
    host, (head, *workers) = resources.current_host, resources.hosts
    if host != head:
        report_failure(head, {"kind": "hello", "host": host, "passport": {}, "failed": reason})
    elif workers:
        ending = Ending(FAILED, f"host {head}: {reason}")
        turn_away(workers, ending, read_timing(environ).farewell_s, say)
    return FAILED
