"""`elastic`: the head of a training job whose hosts come and go (Horovod elastic).

It runs horovodrun, which starts ranks on the hosts that the list has, over SSH to what `host`
serves there. A rank that is lost does not end the job: how it ended is what horovodrun and the
trainer both say.
"""

import os
import sys
import time
from typing import Mapping, Optional

from .adapters import load_adapter
from .elastic_settings import ElasticHead, read_elastic_head
from .errors import DONE, FAILED, STOPPED, STOPPED_WITH_CHECKPOINT, Ending, EntrypointError
from .failure import failure_text, write_failure
from .horovodrun import (
    HorovodrunFiles,
    horovodrun_command,
    horovodrun_environment,
    settled_variables,
)
from .host import Host
from .host_list import FileOfHosts, HostList
from .job import Job, describe, read_job
from .launcher import STARTER, find_program
from .network import check_interface
from .output import LAUNCHER, JobOutput
from .paths import MlPaths
from .processes import adopt_orphans, exit_text
from .record import write_hyperparameters, write_model_files, write_record, write_report
from .say import say
from .signals import StopSignals
from .tagged_output import TaggedOutput
from .timing import Timing, read_timing

_NAME = "horovodrun"


def elastic(environ: Mapping[str, str], paths: MlPaths) -> int:
    """Run the job to its end and return the container's exit code."""
    stop = StopSignals()
    adopt_orphans()
    job = read_job(environ, paths)
    settings = read_elastic_head(paths.elastic)
    check_interface(job.network_interface)
    adapter = load_adapter(job.algorithm)
    say(describe(job))
    most = settings.most_processes
    try:
        write_hyperparameters(job)
        write_record(job, environ, describes=adapter.reports, world_size=most)
    except OSError as error:
        raise EntrypointError(f"{job.log}: cannot be written to ({error.strerror})")
    host = Host(job, adapter, environ)
    try:
        hosts = FileOfHosts(settings.hosts, settings.address)
        ending = ElasticRun(host, settings, environ, stop, hosts).run()
    finally:
        host.close()
    if ending.is_failure:
        write_failure(paths.failure, ending.reason)
    say(f"exit code {ending.code}: {ending.reason}")
    return ending.code


class ElasticRun:
    """A run of horovodrun.

    Args:
        host: This host.
        settings: What it is told.
        environ: The container's variables.
        stop: Requests to stop that this host got.
        hosts: Which hosts may be used.
    """

    def __init__(
        self,
        host: Host,
        settings: ElasticHead,
        environ: Mapping[str, str],
        stop: StopSignals,
        hosts: HostList,
    ) -> None:
        self._host = host
        self._job: Job = host.job
        self._settings = settings
        self._environ = environ
        self._stop = stop
        self._timing: Timing = read_timing(environ)
        self._hosts = hosts
        self._kill_at: Optional[float] = None

    def run(self) -> Ending:
        """Start horovodrun, follow it to its end, and say how the job ended."""
        interface = self._prepare()
        settings, adapter = self._settings, self._host.adapter
        files = HorovodrunFiles(self._host.folder, settings.identity, find_program("ssh"))
        self._update(files)
        argv = horovodrun_command(
            settings, find_program(_NAME), files.discovery, interface, STARTER
        )
        output = JobOutput(self._job.log, settings.most_processes, sys.stdout.buffer, say)
        tagged = TaggedOutput(output.write)
        say(f"starts {settings.least_processes} to {settings.most_processes} rank(s): {argv[1:]}")
        environment = horovodrun_environment(self._environ, settings, files.programs)
        self._host.launch(_NAME, argv, tagged.take, environment)
        code = self._follow(files)
        self._host.kill()
        tagged.close()
        ending = self._ending(code, output)
        output.close()
        if adapter.reports:
            write_report(self._job)
        return ending

    def _prepare(self) -> str:
        """Serve the ranks of this host, where it takes part; return its interface."""
        job, settings, adapter = self._job, self._settings, self._host.adapter
        interface = job.network_interface
        if interface is None:
            raise EntrypointError(
                "resourceconfig.json: network_interface_name: is not there; without it Horovod "
                "may pick an interface that reaches no other host"
            )
        adapter.prepare(job)
        if settings.takes_part:
            os.makedirs(settings.sockets, mode=0o700, exist_ok=True)
            path = os.path.join(settings.sockets, settings.address)
            self._host.serve_printing_ranks(path, settled_variables(interface))
        return interface

    def _follow(self, files: HorovodrunFiles) -> int:
        """Keep the list of hosts up to date until horovodrun ends; return its exit code."""
        while True:
            event = self._host.next_event()
            if event is not None and event["kind"] == "process_ended" and event["name"] == _NAME:
                return int(event["code"])
            if event is not None:
                self._hosts.take(event)
            self._update(files)
            if self._stop.count and self._kill_at is None:
                say("SIGTERM: the ranks are to save and stop, all after the same step")
                self._host.terminate_ranks()
                self._hosts.stop()
                self._kill_at = time.monotonic() + self._timing.grace_s
            is_over = self._kill_at is not None and time.monotonic() > self._kill_at
            if is_over or self._stop.count > 1:
                return -9

    def _update(self, files: HorovodrunFiles) -> None:
        listed = self._hosts.newest()
        if listed is not None:
            files.update(listed)
            say(f"hosts: {', '.join(listed.lines) or 'none'}")

    def _ending(self, code: int, output: JobOutput) -> Ending:
        outcome = self._host.adapter.outcome(self._job)
        status = outcome.get("status")
        if code == DONE and status == "completed":
            try:
                write_model_files(self._job, self._host.adapter.model_files(self._job))
            except EntrypointError as error:
                return Ending(FAILED, str(error))
            return Ending(DONE, "completed")
        if status == "checkpointed":
            return Ending(
                STOPPED_WITH_CHECKPOINT,
                f"stopped with a checkpoint at step {outcome.get('step')}; the same job, started "
                "again, goes on from there",
            )
        if self._stop.count:
            return Ending(
                STOPPED,
                f"stopped: {_NAME} {exit_text(code)}; started again, the job goes on from the "
                "last checkpoint that it has, if any",
            )
        cause = f": {outcome.get('message')}" if status == "failed" else ""
        said = "" if status else "; the trainer left no word of its end"
        reason = f"{_NAME} {exit_text(code)}{said}{cause}"
        return Ending(FAILED, failure_text(reason, _NAME, output.last(LAUNCHER)))
