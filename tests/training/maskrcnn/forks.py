"""Ranks forked from a process that has imported everything: most of a rank's start is imports."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
from horovod.runner.gloo_run import create_run_env_vars, create_slot_env_vars
from horovod.runner.http.http_server import RendezvousServer

HERE = "127.0.0.1"
ALIVE = -1000
"""In place of the exit code of a rank that has to be killed."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["training.maskrcnn.trainer", "torch.utils.tensorboard"])

RANK = """
import os, runpy, sys
os.environ.update({environ!r})
sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(":"))
sys.stdout = sys.stderr = open({output!r}, "a")
sys.argv = {argv!r}
if {is_file!r}:
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def fork_rank(
    program: str | Path, arguments: Sequence[str], output: Path, **environ: str
) -> BaseProcess:
    """Start a rank.

    Args:
        program: A file, or a module's name.
        arguments: Of its command line.
        output: File to which all is added that it prints.
        environ: Variables besides those of the test's process.
    """
    code = RANK.format(
        environ=environ,
        output=str(output),
        argv=[str(program), *arguments],
        is_file=isinstance(program, Path),
    )
    rank = FORKS.Process(target=exec, args=(code, {}))
    rank.start()
    return rank


def run_ranks(
    program: str | Path,
    arguments: Sequence[str],
    folder: Path,
    variables: Sequence[Mapping[str, str]],
) -> list[tuple[int, str]]:
    """Run a rank for each set of variables; return each one's exit code and what it printed."""
    outputs = [folder / f"rank-{rank}.output" for rank in range(len(variables))]
    ranks = [
        fork_rank(program, arguments, output, **each)
        for output, each in zip(outputs, variables, strict=True)
    ]
    for rank in ranks:
        rank.join(timeout=120)
    codes = [ALIVE if rank.exitcode is None else rank.exitcode for rank in ranks]
    for rank in ranks:
        rank.kill()
    return list(zip(codes, [output.read_text("utf-8") for output in outputs], strict=True))


def variables_of_torch(size: int) -> list[dict[str, str]]:
    """Return what torch.distributed reads, for each rank."""
    with socket.socket() as listener:
        listener.bind((HERE, 0))
        port = listener.getsockname()[1]
    return [
        {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": HERE,
            "MASTER_PORT": str(port),
        }
        for rank in range(size)
    ]


@contextmanager
def variables_of_horovod(size: int) -> Iterator[list[dict[str, str]]]:
    """Give what ranks of Horovod read, and where they meet, as horovodrun does."""
    slots = get_host_assignments(parse_hosts(f"localhost:{size}"), size)
    meeting = RendezvousServer()
    port = meeting.start()
    meeting.init(slots)
    alike = {key: str(value) for key, value in create_run_env_vars(HERE, ["lo"], port).items()}
    try:
        yield [alike | create_slot_env_vars(slot) for slot in slots]
    finally:
        meeting.stop()
