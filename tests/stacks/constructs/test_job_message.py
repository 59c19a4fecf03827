"""What is said of a job, filled in as EventBridge does it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.events.utils import EventTemplateParser

from stacks.constructs.job_message import JobWords
from stacks.constructs.own_job_events import WORDS as OWN
from stacks.constructs.sagemaker_job_events import WORDS as SAGEMAKER
from tests.stacks.constructs.own_events import own_event_of
from tests.stacks.constructs.sagemaker_events import COMPLETED, FAILED, event_of

every_kind = pytest.mark.parametrize("words", [SAGEMAKER, OWN], ids=["sagemaker", "own"])
either = pytest.mark.parametrize("has_reason", [False, True])


def text_of(words: JobWords, event: dict[str, Any], *, has_reason: bool = False) -> str:
    """Fill a template's lines in one by one, as each is JSON by itself."""
    given: Any = {**event, "ingestion-time": event["time"]}
    template = words.template("people", has_reason=has_reason)
    lines = [
        EventTemplateParser.parse(line, words.paths_of(template), given)
        for line in template.split("\n")
    ]
    return "\n".join(map(str, lines))


def body_of(words: JobWords, event: dict[str, Any], *, has_reason: bool = False) -> Any:
    given: Any = {**event, "ingestion-time": event["time"]}
    template = words.template("programs", has_reason=has_reason)
    return EventTemplateParser.parse(template, words.paths_of(template), given)


def test_people_read_job_state_place_and_how_to_look_at_it() -> None:
    assert text_of(SAGEMAKER, event_of(COMPLETED)) == (
        "Training job mask-rcnn-s3-1: Completed (Completed)\n"
        "Region us-west-2, account 123456789012, 2026-07-14T12:26:13Z\n"
        "To look at it: python -m training.jobs status mask-rcnn-s3-1"
    )


def test_people_read_why_a_job_failed() -> None:
    lines = text_of(SAGEMAKER, event_of(FAILED), has_reason=True).splitlines()
    assert lines[0] == "Training job mask-rcnn-s3-1: Failed (Failed)"
    assert lines[2] == "Reason: AlgorithmError: exit code 1"


def test_people_read_on_which_platform_a_job_of_our_own_is() -> None:
    event = own_event_of("checkpointed", "stopped as asked, with a checkpoint at step 3")
    assert text_of(OWN, event, has_reason=True) == (
        "Training job mask-rcnn-efs-1 on ec2: stopped (checkpointed)\n"
        "Region us-west-2, account 123456789012, 2026-07-14T12:26:13Z\n"
        "Reason: stopped as asked, with a checkpoint at step 3\n"
        "To look at it: python -m training.jobs status mask-rcnn-efs-1 --platform ec2"
    )


def test_programs_get_an_object_with_a_text_that_chats_show() -> None:
    assert body_of(SAGEMAKER, event_of(FAILED), has_reason=True) == {
        "text": "Training job mask-rcnn-s3-1: Failed (Failed). Region us-west-2, account "
        "123456789012, 2026-07-14T12:26:13Z. python -m training.jobs status mask-rcnn-s3-1",
        "job": "mask-rcnn-s3-1",
        "platform": "sagemaker",
        "status": "Failed",
        "secondary_status": "Failed",
        "region": "us-west-2",
        "account": "123456789012",
        "time": "2026-07-14T12:26:13Z",
    }


def test_programs_get_the_reason_of_a_job_of_our_own() -> None:
    event = own_event_of("failed", 'rank 1 said "no"\nand \\ left')
    assert body_of(OWN, event, has_reason=True) == {
        "text": "Training job mask-rcnn-efs-1 on ec2: failed (failed). Reason: rank 1 said 'no' "
        "and / left. Region us-west-2, account 123456789012, 2026-07-14T12:26:13Z. "
        "python -m training.jobs status mask-rcnn-efs-1 --platform ec2",
        "job": "mask-rcnn-efs-1",
        "platform": "ec2",
        "status": "failed",
        "secondary_status": "failed",
        "reason": "rank 1 said 'no' and / left",
        "region": "us-west-2",
        "account": "123456789012",
        "time": "2026-07-14T12:26:13Z",
    }


@every_kind
def test_programs_find_the_same_fields_whatever_the_platform(words: JobWords) -> None:
    assert list(json.loads(words.template("programs", has_reason=False))) == [
        *("text", "job", "platform", "status", "secondary_status", "region", "account", "time")
    ]


@either
def test_programs_get_no_free_text_that_could_break_what_they_read(has_reason: bool) -> None:
    template = SAGEMAKER.template("programs", has_reason=has_reason)
    assert "<reason>" not in template
    assert json.loads(template)["job"] == "<job>"


@every_kind
def test_a_template_reads_only_what_the_event_has(words: JobWords) -> None:
    for audience in ("people", "programs"):
        plain = words.template(audience, has_reason=False)
        assert "reason" not in words.paths_of(plain)
    with_reason = words.template("people", has_reason=True)
    assert words.paths_of(with_reason)["reason"] == words.paths["reason"]


@every_kind
def test_each_line_of_a_text_is_between_quotes_of_its_own(words: JobWords) -> None:
    for line in words.template("people", has_reason=True).split("\n"):
        assert line.startswith('"')
        assert line.endswith('"')
        assert line.count('"') == 2
