"""The demo's command line: refuse early, run the steps, tell the results."""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from demo.local_aws import LocalAws
from demo.place import Place
from demo.results import describe, find_log, read_learned
from demo.story import CDK, Story, demo_jobs
from toolchain import machine
from toolchain.errors import Interrupted as Stopped
from toolchain.errors import SetupError
from toolchain.processes import process_tree
from toolchain.steps import in_words, run_steps
from training.cli import new_app, result
from training.errors import Interrupted, JobFailed, UsageError

app = new_app("The whole of it on local AWS: deploy, stage, train, evaluate, report.")


@app.command()
def demo(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of local AWS; 0 takes a free one.")
    ] = 0,
) -> None:
    """Deploy the stacks to a local AWS, stage data, train on it, and say where the reports are."""
    started = time.monotonic()
    place = Place()
    check_machine(place)
    story = Story(place, LocalAws(place, port), demo_jobs(place))
    with only_one(place):
        try:
            with process_tree():
                shutil.rmtree(place.log("any").parent, ignore_errors=True)
                run_steps(list(story.steps()))
        except SetupError as error:
            raise JobFailed(str(error)) from error
        except Stopped as error:
            raise Interrupted("stopped; run it again to go on") from error
    tell(story, time.monotonic() - started)


def check_machine(place: Place) -> None:
    """Refuse before anything is started.

    Raises:
        UsageError: The disk is too full, or what the set-up installs is not there.
    """
    complaints = machine.check_disk([place.root], machine.RUN_BYTES)
    if not CDK.exists():
        complaints.append(f"{CDK}: not there. Run: make setup")
    if complaints:
        raise UsageError("\n".join(complaints))


@contextmanager
def only_one(place: Place) -> Iterator[None]:
    """Hold the demo's folder.

    Raises:
        UsageError: Another demo runs in it, or it cannot be written.
    """
    try:
        place.root.mkdir(parents=True, exist_ok=True)
        place.result("any").parent.mkdir(exist_ok=True)
        file = place.lock.open("a")
    except OSError as error:
        raise UsageError(f"{place.root}: cannot be written ({error.strerror})") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"{place.root}: another demo runs in it; wait, or stop it") from error
        yield


def tell(story: Story, seconds: float) -> None:
    """Print what was learned and where the reports are."""
    for job in story.jobs:
        log = find_log(story.place.result(job.name))
        result.print(f"{job.title}: {describe(read_learned(log))}", markup=False)
        result.print(f"  report: {story.place.report(job.name)}", markup=False)
    result.print(f"done in {in_words(seconds)}")
