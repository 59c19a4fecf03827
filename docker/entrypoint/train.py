"""`train`: this host's part of a training job."""

import sys
from typing import Mapping

from .adapters import Adapter, load_adapter
from .errors import DONE, FAILED, STOPPED_WITH_CHECKPOINT, Ending, EntrypointError
from .event_copies import VARIABLE as TENSORBOARD
from .event_copies import EventCopies
from .failure import failure_text, write_failure
from .gathering import turn_away
from .head import Head
from .host import Host
from .job import Job, describe, read_job
from .launcher import choose_launcher
from .meeting import report_failure
from .network import check_interface
from .output import JobOutput
from .paths import MlPaths
from .processes import adopt_orphans
from .record import write_hyperparameters, write_record, write_report
from .resources import read_resources
from .results import keep_model, keep_results
from .say import say
from .signals import StopSignals
from .timing import read_timing
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
    launcher = choose_launcher(job.distribution, adapter.smddp_launcher)
    if not job.is_head:
        return Worker(host, launcher, timing, stop).run()
    output = JobOutput(
        job.log,
        job.world_size,
        sys.stdout.buffer,
        lambda why: host.tell({"kind": "failed", "reason": why}),
    )
    events = EventCopies(job.log, environ.get(TENSORBOARD))

    def keep(ending: Ending) -> Ending:
        events.finish()
        return _keep(ending, job, adapter, paths)

    return Head(
        host=host, launcher=launcher, output=output, timing=timing, stop=stop, keep=keep
    ).run()


def _keep(ending: Ending, job: Job, adapter: Adapter, paths: MlPaths) -> Ending:
    """Keep what the job leaves. A job whose model is lost has failed; one that failed stays so."""
    if adapter.reports:
        write_report(job)
    try:
        models = adapter.model_files(job) if ending.code == DONE else []
        if ending.code == DONE:
            keep_model(models, paths.model)
        keep_results(job.log, paths.output_data, models, adapter.checkpoints)
    except EntrypointError as error:
        if ending.code in (DONE, STOPPED_WITH_CHECKPOINT):
            return Ending(FAILED, f"trained, but its results are not kept: {error}")
        say(str(error))
    return ending


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
