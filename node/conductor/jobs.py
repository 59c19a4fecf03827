"""The index of the cluster's jobs: which there are, and whose turn it is."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from node.config import NodeConfig

from . import places
from .places import RunFolder
from .refusal import Refused
from .request import NAME, Request, parse
from .state import ACTIVE, STAGING, State, read_object, read_state


def enter(config: NodeConfig, name: str, run: str, created: str) -> bool:
    """Enter a job; False where its name is there already. Of two heads only one can."""
    folder = places.index(config)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f".{name}.{os.getpid()}"
    aside.write_text(json.dumps({"run": run, "created": created}) + "\n", encoding="utf-8")
    try:
        # A link is made or not, whole or not at all, over NFS too.
        os.link(aside, folder / f"{name}.json")
    except FileExistsError:
        return False
    finally:
        aside.unlink()
    return True


def leave(config: NodeConfig, name: str) -> None:
    """Take out a job that could not be started."""
    with suppress(FileNotFoundError):
        (places.index(config) / f"{name}.json").unlink()


def find(config: NodeConfig, name: Any) -> tuple[RunFolder, State]:
    """Return a job.

    Raises:
        Refused: There is none of this name.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Refused("usage", f"name: {name!r}; expected 1 to 63 letters, digits and -")
    found = _read(places.index(config) / f"{name}.json")
    if found is None:
        raise Refused("not-found", f"there is no job {name!r} on cluster {config.cluster}")
    return found


def all_jobs(config: NodeConfig) -> list[tuple[RunFolder, State]]:
    """Return all jobs, oldest first."""
    found = [_read(path) for path in places.index(config).glob("*.json")]
    jobs = [each for each in found if each is not None]
    return sorted(jobs, key=lambda job: (job[1].created, job[1].name))


def unfinished(config: NodeConfig) -> list[State]:
    """Return the jobs that run or wait, in the order of their turns."""
    states = [state for _, state in all_jobs(config) if not state.is_final]
    # One that has begun keeps its turn.
    return sorted(states, key=lambda state: state.state == "queued")


def line(config: NodeConfig) -> list[State]:
    """Return those that run or wait one after the other, since each takes all nodes.

    A copy of data takes none of them, and runs beside whatever runs.
    """
    return [state for state in unfinished(config) if state.algorithm != STAGING]


def running_job(config: NodeConfig) -> dict[str, Any] | None:
    """Return the job that has the nodes now."""
    for _, state in all_jobs(config):
        if state.state in ACTIVE and state.algorithm != STAGING:
            return {
                "name": state.name,
                "state": state.state,
                "run": state.run,
                "algorithm": state.algorithm,
            }
    return None


def read_request(run: RunFolder) -> Request:
    """Raises: Refused: It cannot be read."""
    return parse(read_object(run.request))


def _read(entry: Path) -> tuple[RunFolder, State] | None:
    run = read_object(entry).get("run")
    if not isinstance(run, str):
        return None
    folder = RunFolder(Path(run))
    state = read_state(folder)
    return None if state is None else (folder, state)
