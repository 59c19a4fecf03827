"""Runs a copy somewhere else: plan, checks, start, follow, result."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from training.data.on import load
from training.data.on.answer import Answer
from training.data.on.elsewhere import Elsewhere, On
from training.data.on.errand import Errand, Task
from training.data.on.trip import Runner, Trip
from training.errors import PreflightError, UsageError
from training.images.tag import image_tag
from training.job_options import read_outputs
from training.outputs import NetworkOutputs, Outputs, RegistryOutputs, StorageOutputs
from training.stop_signals import terminated_as_interrupted

Tell = Callable[[str], None]

TIME_LIMIT_S = 30.0
"""Of each check; all run at once."""

_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{1,254}")


@dataclass(frozen=True)
class Planned:
    """A run that can be started."""

    runner: Runner
    errand: Errand
    outputs: Outputs
    trip: Trip


def plan(elsewhere: Elsewhere, task: Task) -> Planned:
    """Plan a run; nothing is started.

    Raises:
        UsageError: The place cannot do it.
        AwsError: The stacks' outputs cannot be read.
    """
    runner = load(elsewhere.on)
    if elsewhere.instance_type is not None and elsewhere.on is not On.SAGEMAKER:
        raise UsageError(
            f"--instance-type {elsewhere.instance_type}: is for --on sagemaker; {elsewhere.on} has "
            "its machines already"
        )
    contracts = dict.fromkeys((NetworkOutputs, StorageOutputs, RegistryOutputs, *runner.READS))
    outputs = read_outputs(tuple(contracts), elsewhere.outputs_file)
    errand = Errand(
        name=task.default_name(datetime.now(UTC)) if elsewhere.name is None else elsewhere.name,
        command=task.command,
        places=task.places,
        storage=outputs.read(StorageOutputs),
        image=_image(elsewhere, outputs),
        max_run_s=elsewhere.max_run_s,
        instance_type=elsewhere.instance_type,
    )
    return Planned(runner, errand, outputs, runner.plan(errand, outputs))


def run(planned: Planned, show: Tell, tell: Tell) -> Answer:
    """Start a run that was checked, and follow it to its end.

    Args:
        show: Takes each line of the run.
        tell: Takes what there is to say of it.

    Returns:
        What it said.

    Raises:
        TrainingError: It ended otherwise than well.
    """
    trip = planned.trip
    tell(f"{trip.where}. Cost: {trip.price()} ({'; '.join(trip.cost.assumptions)})")
    answer = Answer(show)
    try:
        with terminated_as_interrupted():
            planned.runner.send(trip, planned.outputs, answer.take)
    except PreflightError as error:
        # A comparison that found something: what it is, is its result.
        if answer.result is None:
            raise
        answer.error = error
    if answer.result is None:
        tell(f"{trip.name} ended well; what it did is in its log, which did not get here whole")
    return answer


def _image(elsewhere: Elsewhere, outputs: Outputs) -> str:
    if elsewhere.image is None:
        return f"{outputs.read(RegistryOutputs).horovod_repository_uri}:{image_tag('horovod')}"
    if not _IMAGE.fullmatch(elsewhere.image):
        raise UsageError(
            f"--image {elsewhere.image}: expected registry/repository:tag or @sha256:…, at most "
            "255 characters"
        )
    return elsewhere.image


def check(planned: Planned, tell: Tell) -> None:
    """Ask what can be asked before a run starts.

    Raises:
        PreflightError: A check found an error.
        AwsError: AWS cannot be reached, or the credentials are not accepted.
    """
    from training.aws.client import new_session
    from training.preflight.finding import error_lines
    from training.preflight.in_short import lines_of
    from training.preflight.job.whereabouts import find_whereabouts
    from training.preflight.side_by_side import run_checks

    session = new_session(region=planned.runner.region(planned.outputs))
    place = find_whereabouts(session, time_limit_s=TIME_LIMIT_S)
    checks = list(planned.runner.checks(planned.errand, planned.trip, place))
    found = run_checks(checks, time_limit_s=TIME_LIMIT_S).findings
    for line in lines_of(found):
        tell(line)
    if errors := error_lines(found):
        raise PreflightError("\n".join(["nothing was started:", *errors]))
