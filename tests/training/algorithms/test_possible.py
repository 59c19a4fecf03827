"""Hyperparameters that what joins the processes cannot do are refused on every platform."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker import planning
from training.algorithms import NAMES, Distribution, load
from training.algorithms.possible import check_possible
from training.errors import UsageError
from training.maskrcnn.hyperparameters import Hyperparameters

BF16 = Hyperparameters.model_validate({"gradient_compression": "bf16"})
HIERARCHY = Hyperparameters.model_validate({"horovod_hierarchical_allreduce": True})


@pytest.mark.parametrize("distribution", ["mpi", "elastic"])
def test_horovod_adds_up_no_bf16(distribution: Distribution) -> None:
    with pytest.raises(UsageError) as refused:
        check_possible("horovod", BF16, distribution=distribution, gpus=8)
    assert str(refused.value) == (
        "hyperparameters.gradient_compression: 'bf16': Horovod cannot add up bf16; choose fp16 or "
        "none"
    )


@pytest.mark.parametrize("distribution", ["torchrun", "smddp"])
def test_what_asks_no_horovod_takes_it(distribution: Distribution) -> None:
    check_possible("horovod", BF16, distribution=distribution, gpus=8)


def test_hierarchy_needs_gpus() -> None:
    check_possible("horovod", HIERARCHY, distribution="mpi", gpus=8)
    with pytest.raises(UsageError, match="horovod_hierarchical_allreduce: True: needs a Horovod"):
        check_possible("horovod", HIERARCHY, distribution="mpi", gpus=0)


@pytest.mark.parametrize("algorithm", [name for name in NAMES if name != "horovod"])
def test_the_others_have_nothing_that_cannot_be(algorithm: str) -> None:
    check_possible(algorithm, load(algorithm).HYPERPARAMETERS(), distribution="mpi", gpus=0)


@pytest.mark.parametrize(
    ("overrides", "is_refused"),
    [
        ({}, True),
        ({"sagemaker__distribution": "mpi"}, True),
        ({"sagemaker__distribution": "torchrun"}, False),
        ({"instances__type": "local"}, True),
    ],
)
def test_the_sagemaker_plan_refuses_what_would_fail_an_hour_later(
    overrides: dict[str, Any], is_refused: bool
) -> None:
    given = {"hyperparameters": {"gradient_compression": "bf16"}, **overrides}
    if is_refused:
        with pytest.raises(UsageError, match="Horovod cannot add up bf16"):
            planning.body(**given)
    else:
        assert planning.body(**given)["HyperParameters"]["gradient_compression"] == "bf16"
