"""`submit`, `stop` and `resume`: what changes the line of jobs."""

from __future__ import annotations

import fcntl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Union

from node import json_file
from node.config import NodeConfig

from . import jobs, places
from .answers import fitting
from .places import RunFolder
from .refusal import Refused
from .request import Request, parse
from .staging_request import KIND, StagingRequest, parse_staging
from .state import State, now, read_object, write_state
from .telling import untold

_UNIT_S = 60

Entered = Union[Request, StagingRequest]


def submit(config: NodeConfig, given: dict[str, Any]) -> dict[str, Any]:
    """Put a job in line and start its conductor; return its status.

    Raises:
        Refused: busy, usage or not-found; nothing was changed. failed: it cannot be started.
    """
    request: Entered
    if given.get("kind") == KIND:
        request = parse_staging(given)
        _check_place(config, request)
    else:
        request = parse(given)
        _check_place(config, request)
        _check_data(request)
    with _line(config):
        state = _enter(config, request)
    return fitting(state.answer())


def stop(config: NodeConfig, given: dict[str, Any]) -> dict[str, Any]:
    """Ask a job to stop; return its status. One that has ended stays as it is."""
    run, state = jobs.find(config, given.get("name"))
    if not state.is_final:
        json_file.write(run.stop, {"asked": now()})
        # Where its conductor is not there, nobody would act on it.
        _start_unit(state.name)
        # What the state's file says a moment later, once the conductor has seen it.
        return fitting({**state.answer(), "state": "stopping", "reason": "asked to stop"})
    return fitting(state.answer())


def resume(config: NodeConfig) -> dict[str, Any]:
    """Have every job that is not finished conducted here: the head is new, or was started again.

    One whose end was not told is conducted that far.
    """
    resumed, problems = [], []
    for state in (*jobs.unfinished(config), *untold(config)):
        try:
            _start_unit(state.name)
        except Refused as refused:
            problems.append(str(refused))
            continue
        resumed.append(state.name)
    if problems:
        started = f"; started: {', '.join(resumed)}" if resumed else ""
        raise Refused("failed", "; ".join(problems) + started)
    return {"resumed": resumed}


def _enter(config: NodeConfig, request: Entered) -> State:
    """Enter a request, or find that it is here already."""
    entry = read_object(places.index(config) / f"{request.name}.json")
    run = RunFolder(Path(request.log))
    if entry:
        same = read_object(run.request).get("fingerprint") == request.fingerprint
        known = _known(config, request.name)
        if known is not None and same and entry.get("run") == request.log:
            # It came twice: the first answer was lost.
            return known
        if known is not None:
            _check_resumable(request, known, str(entry.get("run")))
    elif request.resume:
        if not run.root.is_dir():
            raise Refused(
                "not-found", f"--resume: there is no job {request.name}, and no folder {run.root}"
            )
    elif run.root.is_dir() and any(run.root.iterdir()):
        raise Refused("usage", f"{run.root}: holds something already: give the job another name")
    _check_line(config, request)
    created = now()
    state = State(name=request.name, algorithm=request.algorithm, run=request.log, created=created)
    if not entry and not jobs.enter(config, request.name, request.log, created):
        raise Refused("busy", f"job {request.name} is being submitted to another head just now")
    _write(run, request, state)
    try:
        _start_unit(request.name)
    except Refused:
        if not entry:
            jobs.leave(config, request.name)
        raise
    return state


def _known(config: NodeConfig, name: str) -> State | None:
    try:
        return jobs.find(config, name)[1]
    except Refused:
        # Entered, and nothing more: the head died in between.
        return None


def _check_resumable(request: Entered, known: State, run: str) -> None:
    if not request.resume:
        raise Refused(
            "usage",
            f"there is a job {request.name} already ({known.state}): give another name, or "
            "--resume to go on with it",
        )
    if not known.is_final:
        raise Refused("busy", f"job {request.name} is not over: it is {known.state}")
    if run != request.log:
        raise Refused("usage", f"job {request.name} has its folder in {run}, not {request.log}")


def _check_line(config: NodeConfig, request: Entered) -> None:
    ahead = [state for state in jobs.line(config) if state.name != request.name]
    if ahead and not request.queue:
        raise Refused(
            "busy",
            f"job {ahead[0].name} is {ahead[0].state} on cluster {config.cluster}, which runs one "
            "job at a time: wait for it, stop it, or submit with ec2.queue: true",
        )


def _check_place(config: NodeConfig, request: Entered) -> None:
    """Check that the run folder is on EFS: whatever happens to a node, it stays."""
    if not request.log.startswith(f"{config.efs.mount}/"):
        raise Refused("usage", f"request: log: {request.log}; expected {config.efs.mount}/...")
    if config.runs_in == "environment" and request.image is not None:
        raise Refused(
            "usage",
            "request: image: this cluster runs jobs in a virtual environment: null, or deploy with "
            "-c cluster_runs_in=image",
        )
    if config.runs_in == "image" and request.image is None:
        raise Refused(
            "usage",
            "request: image: null: this cluster has no virtual environment: give an image, or "
            "deploy with -c cluster_runs_in=environment",
        )


def _check_data(request: Request) -> None:
    """Check that there is data on a shared file system, before workers come that cost."""
    path = request.data["path"]
    if "s3" not in request.data and not Path(path).is_dir():
        raise Refused("usage", f"the job's data: {path} is no folder: has it been staged there?")


def _write(run: RunFolder, request: Entered, state: State) -> None:
    run.conductor.mkdir(parents=True, exist_ok=True)
    for path in (run.stop, run.lease):
        path.unlink(missing_ok=True)
    # The user's variables may hold what is not for everybody.
    json_file.write(run.request, request.to_json(), mode=0o600)
    write_state(run, state)


@contextmanager
def _line(config: NodeConfig) -> Iterator[None]:
    """Hold the line: of two that are submitted at a time one is first."""
    places.RUN.mkdir(parents=True, exist_ok=True)
    with (places.RUN / f"line-{config.cluster}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start_unit(name: str) -> None:
    """Start a job's conductor. It is not enabled: after a boot the set-up resumes, once EFS is
    mounted."""
    unit = f"mask-rcnn-job@{name}.service"
    try:
        done = subprocess.run(
            ["systemctl", "--no-block", "start", unit],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_UNIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused("failed", f"{unit}: cannot be started: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Refused("failed", f"{unit}: cannot be started: {said[-500:]}")
