"""What SageMaker takes, and the user should know of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker.planning import body, make_job
from training.platforms.sagemaker import advice


def codes(**options: Any) -> list[str]:
    return [found.code for found in advice.find(make_job(**options).spec, body(**options))]


@pytest.mark.parametrize(
    ("kind", "processes", "warned"),
    [
        ("p4d.24xlarge", 2, True),
        ("p4d.24xlarge", 7, True),
        ("p4d.24xlarge", 8, False),
        ("p4d.24xlarge", None, False),
        ("g5.xlarge", 1, False),
        ("local", 2, False),
    ],
)
def test_gpus_that_would_do_nothing_are_warned_of(
    kind: str, processes: int | None, warned: bool
) -> None:
    options = {"instances__type": kind, "instances__processes_per_instance": processes}
    assert codes(data_source="s3", **options) == (["gpus-idle"] if warned else [])


def test_the_number_of_idle_gpus_is_told() -> None:
    options: dict[str, Any] = {
        "instances__type": "p4d.24xlarge",
        "instances__processes_per_instance": 2,
    }
    [found] = advice.find(make_job(**options).spec, body(**options))
    assert found.severity == "warning"
    assert "each ml.p4d.24xlarge has 8 GPUs, and 6 of them would do nothing" in found.message


@pytest.mark.parametrize(("kind", "told"), [("local", True), ("g5.xlarge", False)])
def test_containers_here_are_no_spot_capacity(kind: str, told: bool) -> None:
    found = codes(data_source="s3", instances__type=kind, spot__enabled=True)
    assert found == (["spot-without-instances"] if told else [])
