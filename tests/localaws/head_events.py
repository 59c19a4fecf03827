"""A head's events through the rules that were deployed: AWS's command line is the real one."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from node.conductor.places import RunFolder
from node.conductor.state import write_state
from node.conductor.telling import Telling
from tests.conftest import LocalAws
from tests.stacks.constructs.own_events import HEAD, written

QUEUE = "told"


def told_by_a_head(
    aws: LocalAws, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """Have a head tell of a job that starts and fails; return what a webhook would be sent.

    moto brings events to queues, and neither to topics nor, without internet, to webhooks: so the
    webhook's place is taken by a queue, which is sent what the deployed rule makes for the webhook.
    """
    queue_url = _take_the_place_of_targets(aws)
    _tell(aws, folder, monkeypatch)
    messages = aws.client("sqs").receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10)
    aws.client("sqs").delete_queue(QueueUrl=queue_url)
    found: list[dict[str, Any]] = [json.loads(each["Body"]) for each in messages["Messages"]]
    return found


def _take_the_place_of_targets(aws: LocalAws) -> str:
    events, sqs = aws.client("events"), aws.client("sqs")
    queue_url = str(sqs.create_queue(QueueName=QUEUE)["QueueUrl"])
    attributes = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])
    for rule in events.list_rules()["Rules"]:
        targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        [webhook] = [each for each in targets if each["Id"] == "Webhook"]
        events.remove_targets(Rule=rule["Name"], Ids=[each["Id"] for each in targets])
        queue = {
            "Id": "Queue",
            "Arn": attributes["Attributes"]["QueueArn"],
            "InputTransformer": webhook["InputTransformer"],
        }
        events.put_targets(Rule=rule["Name"], Targets=[queue])
    return queue_url


def _tell(aws: LocalAws, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    # The command line of here is slower to start than a head's.
    monkeypatch.setattr("node.conductor.job_event.TIMEOUT_S", 60)
    config = replace(HEAD, region=aws.env["AWS_REGION"])
    assert config.events is not None
    run = RunFolder(folder / "log-1")
    run.conductor.mkdir(parents=True)
    said: list[str] = []
    start = written("running")
    telling = Telling(config, config.events, run=run, created=start.created, say=said.append)
    for state in (start, written("failed", 'rank 1 said "no"')):
        write_state(run, state)
        telling.notice(state)
    telling.finish()
    assert said == []
