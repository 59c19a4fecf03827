"""What a cluster tells of its jobs, as it arrives on the event bus of local AWS."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from stacks.constructs.own_job_events import DETAIL_TYPE, SOURCE
from tests.conftest import LocalAws


@dataclass
class Told:
    """A queue behind a rule for the head's events."""

    aws: LocalAws
    url: str
    _received: list[dict[str, str]] = field(default_factory=list)

    def of(self, job: str) -> list[str]:
        """Return what was told of a job until now, in order."""
        client = self.aws.client("sqs")
        while messages := client.receive_message(QueueUrl=self.url).get("Messages"):
            for message in messages:
                self._received.append(json.loads(message["Body"])["detail"])
                client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return [detail["status"] for detail in self._received if detail["job"] == job]


def listen(aws: LocalAws) -> Told:
    """Have the events brought to a queue: moto brings none to the topic of NotificationStack."""
    sqs, events = aws.client("sqs"), aws.client("events")
    url = str(sqs.create_queue(QueueName="told")["QueueUrl"])
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    pattern = {"source": [SOURCE], "detail-type": [DETAIL_TYPE]}
    events.put_rule(Name="told", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="told", Targets=[{"Id": "Queue", "Arn": attributes["QueueArn"]}])
    return Told(aws, url)
