"""What is said of a job, filled in as EventBridge does it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.events.utils import EventTemplateParser

from stacks.constructs.job_message import FOR_PEOPLE, FOR_PROGRAMS, paths_of
from tests.stacks.constructs.sagemaker_events import COMPLETED, FAILED, event_of


def filled(template: str, event: dict[str, Any]) -> str:
    """Fill a template's lines in one by one, as each is JSON by itself."""
    given: Any = {**event, "ingestion-time": event["time"]}
    lines = [
        EventTemplateParser.parse(line, paths_of(template), given) for line in template.split("\n")
    ]
    return "\n".join(map(str, lines))


def test_people_read_job_state_place_and_how_to_look_at_it() -> None:
    assert filled(FOR_PEOPLE.plain, event_of(COMPLETED)) == (
        "Training job mask-rcnn-s3-1: Completed (Completed)\n"
        "Region us-west-2, account 123456789012, 2026-07-14T12:26:13Z\n"
        "To look at it: python -m training.jobs status mask-rcnn-s3-1"
    )


def test_people_read_why_a_job_failed() -> None:
    lines = filled(FOR_PEOPLE.with_reason, event_of(FAILED)).splitlines()
    assert lines[0] == "Training job mask-rcnn-s3-1: Failed (Failed)"
    assert lines[2] == "Reason: AlgorithmError: exit code 1"


def test_programs_get_an_object_with_a_text_that_chats_show() -> None:
    event: Any = {**event_of(FAILED), "ingestion-time": "2026-07-14T12:26:14Z"}
    template = FOR_PROGRAMS.with_reason
    body = EventTemplateParser.parse(template, paths_of(template), event)
    assert body == {
        "text": "Training job mask-rcnn-s3-1: Failed (Failed). Region us-west-2, account "
        "123456789012, 2026-07-14T12:26:13Z. python -m training.jobs status mask-rcnn-s3-1",
        "job": "mask-rcnn-s3-1",
        "status": "Failed",
        "secondary_status": "Failed",
        "region": "us-west-2",
        "account": "123456789012",
        "time": "2026-07-14T12:26:13Z",
    }


@pytest.mark.parametrize("template", [FOR_PROGRAMS.plain, FOR_PROGRAMS.with_reason])
def test_what_programs_get_has_no_free_text_that_could_break_it(template: str) -> None:
    assert "<reason>" not in template
    assert json.loads(template)["job"] == "<job>"


def test_a_template_reads_only_what_the_event_has() -> None:
    assert "reason" not in paths_of(FOR_PEOPLE.plain)
    assert paths_of(FOR_PEOPLE.with_reason)["reason"] == "$.detail.FailureReason"


def test_each_line_of_a_text_is_between_quotes_of_its_own() -> None:
    for line in FOR_PEOPLE.with_reason.split("\n"):
        assert line.startswith('"')
        assert line.endswith('"')
        assert line.count('"') == 2
