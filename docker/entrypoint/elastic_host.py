"""`host`: lets the head of an elastic job start ranks here, until it is asked to stop.

It prints one line when it is ready, a JSON object: `kind` ready, `port`, `user` and `host_key` of
its SSH server, which lets in the head's key from the head's address alone.
"""

import json
import os
import sys
import time
from typing import Mapping, Optional

from .adapters import load_adapter
from .elastic_settings import ElasticHost, read_elastic_host
from .errors import DONE, STOPPED, EntrypointError
from .horovodrun import settled_variables
from .host import Host
from .job import describe, read_job
from .network import check_interface
from .paths import MlPaths
from .processes import adopt_orphans, exit_text, running_below
from .say import say
from .signals import StopSignals
from .sshd import Entrance, SshServer
from .timing import Timing, read_timing

_SSHD = "sshd"


def host(environ: Mapping[str, str], paths: MlPaths) -> int:
    """Serve until SIGTERM; return the container's exit code."""
    stop = StopSignals()
    adopt_orphans()
    settings = read_elastic_host(paths.elastic)
    job = read_job(environ, paths)
    interface = job.network_interface
    check_interface(interface)
    if interface is None:
        raise EntrypointError("resourceconfig.json: network_interface_name: is not there")
    # The head decides over what all hosts share.
    job = job._replace(hosts=[settings.head_address, *job.hosts])
    this = Host(job, load_adapter(job.algorithm), environ)
    try:
        os.makedirs(settings.sockets, mode=0o700, exist_ok=True)
        path = os.path.join(settings.sockets, settings.address)
        this.serve_printing_ranks(path, settled_variables(interface))
        server = _serve(this, settings)
        say(describe(job))
        return _follow(this, server, stop, read_timing(environ))
    finally:
        this.close()


def _serve(this: Host, settings: ElasticHost) -> SshServer:
    server = SshServer(
        this.folder,
        Entrance(settings.head_key, settings.head_address, settings.address),
        this.session_environment(),
    )
    this.watch(_SSHD, server.process)
    ready = {
        "kind": "ready",
        "port": server.port,
        "user": server.user,
        "host_key": server.host_key,
    }
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()
    return server


def _follow(this: Host, server: SshServer, stop: StopSignals, timing: Timing) -> int:
    leave_at: Optional[float] = None
    while True:
        event = this.next_event()
        if event is not None:
            if event["kind"] == "process_ended" and event["name"] == _SSHD:
                raise EntrypointError(f"its SSH server {exit_text(int(event['code']))}")
            if event["kind"] == "rank_ended":
                say(f"rank {event['rank']} {exit_text(int(event['code']))}")
            continue
        if stop.count and leave_at is None:
            say("SIGTERM: the ranks of this host are asked to save and stop")
            this.terminate_ranks()
            leave_at = time.monotonic() + timing.grace_s
        # The sessions too: they tell the head how the ranks ended.
        if leave_at is not None and not set(running_below()) - {server.process.pid}:
            return DONE
        if stop.count > 1 or (leave_at is not None and time.monotonic() > leave_at):
            return STOPPED
