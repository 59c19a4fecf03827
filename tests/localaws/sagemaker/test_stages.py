"""Which stages a training job of the local AWS goes through."""

from __future__ import annotations

import pytest
from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker.stages import Course, Stage

PATHS = {
    "Completed": "Starting Downloading Training Uploading Completed",
    "Failed": "Starting Downloading Training Failed",
    "CapacityError": "Starting Failed",
    "MaxRuntimeExceeded": "Starting Downloading Training Stopping MaxRuntimeExceeded",
    "Interrupted": "Starting Downloading Training Interrupted Starting Downloading Training "
    "Uploading Completed",
}


@pytest.mark.parametrize("ending", PATHS)
def test_each_ending_has_its_path(ending: str) -> None:
    stages = Course(ending, 3.0).stages()
    assert [stage.status for stage in stages] == PATHS[ending].split()
    assert [stage.start_s for stage in stages[1:]] == [stage.end_s for stage in stages[:-1]]
    assert [stage.is_end for stage in stages] == [False] * (len(stages) - 1) + [True]


def test_tags_choose_how_it_ends_and_how_long_it_takes() -> None:
    tags = {"localaws:ending": "Failed", "localaws:seconds": "7.5"}
    assert Course.of(tags) == Course("Failed", 7.5)
    assert Course.of({"Project": "mask-rcnn"}) == Course("Completed", 3.0)


@pytest.mark.parametrize("tags", [{"localaws:ending": "Well"}, {"localaws:seconds": "some"}])
def test_a_tag_that_is_not_understood_is_refused(tags: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=next(iter(tags))):
        Course.of(tags)


def test_a_stop_cuts_the_stage_that_it_meets() -> None:
    assert Course("Completed", 100.0).stages(stopped_s=10.0)[2:] == [
        Stage("Training", 2.0, 10.0),
        Stage("Stopping", 10.0, 11.0),
        Stage("Stopped", 11.0, None),
    ]


def test_a_stop_after_the_end_changes_nothing() -> None:
    assert Course("Completed", 1.0).stages(stopped_s=50.0) == Course("Completed", 1.0).stages()
