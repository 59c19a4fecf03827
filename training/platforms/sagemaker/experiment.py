"""The experiment that a job belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.platforms.api import StepBefore

if TYPE_CHECKING:
    from training.aws.sagemaker import SageMaker


@dataclass(frozen=True, kw_only=True)
class ExperimentStep(StepBefore):
    """CreateTrainingJob names an existing experiment only, so that it is made first."""


def experiment_config(name: str | None, *, job_name: str) -> dict[str, Any]:
    """Return ExperimentConfig where an experiment is wanted; SageMaker makes a trial in it.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ExperimentConfig.html
    """
    if name is None:
        return {}
    return {
        "ExperimentConfig": {"ExperimentName": name, "TrialComponentDisplayName": job_name},
    }


def plan_experiment(name: str | None, *, project: str) -> tuple[ExperimentStep, ...]:
    """Return the step that makes the experiment where it is not there yet."""
    if name is None:
        return ()
    from training.outputs import PROJECT_TAG

    return (
        ExperimentStep(
            what=f"make the SageMaker experiment {name}, unless it is there",
            request={
                "ExperimentName": name,
                "Tags": [{"Key": PROJECT_TAG, "Value": project}],
            },
        ),
    )


def make_experiment(sagemaker: SageMaker, step: ExperimentStep) -> None:
    """Make the experiment, unless it is there.

    Raises:
        AwsError: It could not be made.
    """
    from training.aws.errors import AwsRefused

    assert step.request is not None
    try:
        sagemaker.create_experiment(step.request)
    except AwsRefused as error:
        # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateExperiment.html says
        # only that names are unique; SageMaker's own SDK knows the refusal by these words:
        # https://github.com/aws/sagemaker-python-sdk/blob/2d47c0e74cf41507a638f244156d2d5b2a7b751f/src/sagemaker/experiments/experiment.py
        if error.code != "ValidationException" or "already exists" not in str(error):
            raise
