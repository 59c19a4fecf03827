"""Adapters for tests whose ranks are small programs: what matters is how they end."""

from __future__ import annotations

_ADAPTER = """
import os, sys

STOPS_WITH_CHECKPOINT = True

RANK = {program!r}

def prepare(job):
    pass

def command(job):
    return [sys.executable, "-u", "-c", RANK]

def environment(job):
    return {{"LOG": job.log, "HOSTS": ",".join(job.hosts)}}

def model_files(job):
    return [os.path.join(job.log, "model.bin")]
"""

_RANK = """
import os, signal, sys, time
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
host = os.uname().nodename
stop = os.path.join(os.environ["LOG"], "stop")
signal.signal(signal.SIGTERM, lambda *_: open(stop, "w").close())
print(f"rank {rank} runs on {host}")
"""

_END = """
if rank == 0:
    open(os.path.join(os.environ["LOG"], "model.bin"), "w").write("weights")
"""

_WAIT = """
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    # All see it, as ranks of a trainer agree on it.
    if os.path.exists(stop):
        print(f"rank {rank} saves")
        # The other host's SIGTERM may come a little later; Python itself ends with the default.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(75)
    time.sleep(0.05)
"""


def adapter(program: str) -> str:
    """Return an adapter whose ranks run a program with `rank` and `host`; it leaves a model."""
    return _ADAPTER.format(program=_RANK + program + _END)


def waiting_adapter() -> str:
    """Return an adapter whose ranks wait to be stopped, and save then."""
    return adapter(_WAIT)


def careless_adapter() -> str:
    """Return an adapter whose ranks wait, and do nothing about SIGTERM."""
    return adapter("signal.signal(signal.SIGTERM, signal.SIG_DFL)\ntime.sleep(60)")
