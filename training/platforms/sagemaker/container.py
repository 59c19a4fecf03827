"""What the instances run: the image with the metrics in its lines, and the hyperparameters."""

from __future__ import annotations

from typing import Any

from training import algorithms
from training.errors import UsageError
from training.hyperparameter_text import to_texts
from training.job import Job
from training.platforms.sagemaker.channels import input_mode

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html, and the
# lengths of HyperParameterKey and HyperParameterValue in the service model of botocore 1.44.8. The
# text of the same page says 256 for a value, from before the model was changed to 2500.
MAX_HYPERPARAMETERS = 100
MAX_KEY_LENGTH = 256
MAX_VALUE_LENGTH = 2500


def algorithm_specification(job: Job, *, image: str) -> dict[str, Any]:
    """Return AlgorithmSpecification."""
    metrics = algorithms.load(job.spec.algorithm).METRICS
    return {
        "TrainingImage": image,
        "TrainingInputMode": input_mode(job),
        "MetricDefinitions": [{"Name": each.name, "Regex": each.regex} for each in metrics],
    }


def hyperparameters(job: Job) -> dict[str, str]:
    """Return HyperParameters: all of them, as text.

    Raises:
        UsageError: There are more, or longer ones, than SageMaker takes.
    """
    texts = to_texts(job.hyperparameters)
    if len(texts) > MAX_HYPERPARAMETERS:
        raise UsageError(
            f"hyperparameters: {len(texts)} of them, with those at their defaults; SageMaker takes "
            f"at most {MAX_HYPERPARAMETERS}"
        )
    for name, text in texts.items():
        if len(name) > MAX_KEY_LENGTH:
            raise UsageError(
                f"hyperparameters.{name[:40]}…: a name of {len(name)} characters; SageMaker takes "
                f"at most {MAX_KEY_LENGTH}"
            )
        if len(text) > MAX_VALUE_LENGTH:
            raise UsageError(
                f"hyperparameters.{name}: {text[:40]}…: {len(text)} characters as text; SageMaker "
                f"takes at most {MAX_VALUE_LENGTH}"
            )
    return texts
