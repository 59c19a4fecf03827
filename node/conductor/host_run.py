"""`host-run`: one host's part in one round of a job, on that host.

The conductor starts it over SSH, on its own machine directly, and holds its stdin: the order
comes there, then `stop` (save and leave) or `kill`. When stdin ends, the conductor or its machine
is gone, and nobody would ever end what runs here: it is stopped too.
"""

from __future__ import annotations

import hashlib
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import Any

from node.errors import NodeError

from . import engine, places
from .contract import read_failure, variables, write_contract
from .host_side import Preparation, Printer
from .local_data import bring_data
from .order import Order, read_order
from .orphans import end_orphans, kill_marked

GRACE_S = 120
"""From the request to stop until everything is killed: the entry point needs 100 s at most."""
LEAVE_S = 60
"""AWS takes this host: so long the ranks of an elastic job have to be let go by the others."""

STOP, KILL, LEAVE = "stop", "kill", "leave"


def host_run() -> int:
    """Run one order to its end; return the container's exit code."""
    printer = Printer()
    wishes: queue.Queue[str] = queue.Queue()
    # Only this: a handler may interrupt the main thread anywhere.
    signal.signal(signal.SIGTERM, lambda _number, _frame: wishes.put(LEAVE))
    # Unbuffered: the thread that waits in it would stop Python from leaving.
    told = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
    try:
        order = read_order(told.readline())
    except NodeError as error:
        printer.event("failed", reason=str(error))
        return 1
    preparation = Preparation(printer)
    listener = threading.Thread(target=_listen, args=(told, wishes, preparation.abort), daemon=True)
    listener.start()
    with _registered(order):
        try:
            command, environment, root = _prepare(order, printer)
        except (NodeError, OSError) as error:
            printer.event("failed", reason=str(error))
            return 1
        preparation.end()
        printer.event("starting")
        code = _run(order, command, environment, wishes, printer)
        printer.event("ended", code=code, failure=read_failure(root))
        shutil.rmtree(root, ignore_errors=True)
    return code


def host_leave() -> dict[str, Any]:
    """Let the parts of jobs here go, since AWS takes this host."""
    left = []
    for path in places.RUN.glob("host-run-*.pid"):
        try:
            pid = int(path.read_text(encoding="ascii"))
            os.kill(pid, signal.SIGTERM)
        except (OSError, ValueError):
            continue
        left.append(pid)
    return {"leaving": len(left)}


@contextmanager
def _registered(order: Order) -> Iterator[None]:
    """Have a file that tells which process has a part of a job here."""
    places.RUN.mkdir(parents=True, exist_ok=True)
    path = places.RUN / f"host-run-{order.job}-{order.address}-{order.command}.pid"
    path.write_text(str(os.getpid()), encoding="ascii")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _listen(told: RawIOBase, wishes: queue.Queue[str], abort: Callable[[], None]) -> None:
    for line in told:
        word = line.decode("ascii", "replace").strip()
        if word in (STOP, KILL):
            abort()
            wishes.put(word)
    abort()
    wishes.put(STOP)


def _prepare(order: Order, printer: Printer) -> tuple[list[str], dict[str, str], Path]:
    """Bring what the container needs; return its command, its variables and its /opt/ml."""
    for mark in end_orphans(order.address, but=order.mark):
        printer.say(f"ended what was left of {mark}")
    if "s3" in order.data:
        bring_data(order.data["s3"], Path(order.data["path"]), printer.say)
    root = places.LOCAL / "jobs" / f"{order.job}-{order.address}-{order.command}"
    write_contract(root, order)
    given = variables(order)
    if order.image is None:
        return _bare(order, given, root)
    for name in engine.containers_of(order.address):
        engine.remove(name)
    engine.pull(order.image)
    mounts = [
        f"{root}:/opt/ml",
        f"{order.data['path']}:{order.data['path']}:ro",
        f"{order.log}:{order.log}",
        *(f"{folder}:{folder}:ro" for folder in order.shared),
    ]
    command = engine.run_command(
        container_name(order),
        order.image,
        [order.command],
        mark=order.mark,
        variables=sorted(given),
        mounts=mounts,
    )
    return command, {**os.environ, **given}, root


def _bare(
    order: Order, given: dict[str, str], root: Path
) -> tuple[list[str], dict[str, str], Path]:
    """Return the same without a container."""
    programs = places.HOME / "venv" / "bin"
    system = os.environ.get("PATH", os.defpath)
    environment = {
        "HOME": os.environ.get("HOME", "/root"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(places.HOME / "src"),
        **given,
        "PATH": f"{programs}{os.pathsep}{system}",
        "MASK_RCNN_ML_ROOT": str(root),
    }
    command = [str(programs / "python"), str(places.HOME / "entrypoint"), order.command]
    return command, environment, root


def container_name(order: Order) -> str:
    digest = hashlib.sha256(order.mark.encode()).hexdigest()[:8]
    return f"mask-rcnn-{order.job}-{order.command}-{digest}"


def _run(
    order: Order,
    command: list[str],
    environment: dict[str, str],
    wishes: queue.Queue[str],
    printer: Printer,
) -> int:
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    relay = threading.Thread(target=_relay, args=(process, printer.line), daemon=True)
    relay.start()
    try:
        _wait(order, process, wishes, printer)
    finally:
        _end(order, process)
    relay.join(5)
    return process.wait()


def _wait(
    order: Order,
    process: subprocess.Popen[bytes],
    wishes: queue.Queue[str],
    printer: Printer,
) -> None:
    """Wait for the container's end, doing what is wished meanwhile."""
    stop_at: float | None = None
    kill_at: float | None = None
    while process.poll() is None:
        try:
            wish = wishes.get(timeout=0.2)
        except queue.Empty:
            wish = ""
        now = time.monotonic()
        if wish == KILL or (kill_at is not None and now > kill_at):
            printer.say("killed: it had not ended in time" if wish != KILL else "killed")
            return
        if wish == STOP:
            stop_at = now
        elif wish == LEAVE:
            # The others of an elastic job go on, and let these ranks go first.
            wait_s = LEAVE_S if order.command == "host" else 0
            printer.say(f"AWS takes this host: it leaves within {wait_s} s")
            stop_at = stop_at or now + wait_s
        if stop_at is not None and now >= stop_at and kill_at is None:
            process.send_signal(signal.SIGTERM)
            kill_at = now + GRACE_S


def _end(order: Order, process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind, whatever became of the process that was started here."""
    if order.image is not None:
        with suppress(OSError, NodeError):
            engine.remove(container_name(order))
    if process.poll() is None:
        process.kill()
    kill_marked(order.mark)
    if order.elastic is not None and order.image is None:
        _remove_socket(Path(order.elastic["sockets"]), order.address)


def _remove_socket(folder: Path, address: str) -> None:
    """Take away what a container would have taken with it."""
    with suppress(OSError):
        (folder / address).unlink(missing_ok=True)
        folder.rmdir()


def _relay(process: subprocess.Popen[bytes], write: Callable[[bytes], None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        write(line if line.endswith(b"\n") else line + b"\n")
