"""AWS::Events::Rule."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only

_AS_THEY_ARE = ("Description", "EventBusName", "RoleArn", "ScheduleExpression", "State")


class EventRule(Resource):
    """A rule of EventBridge with its targets."""

    TYPE = "AWS::Events::Rule"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 64

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = _put(aws, name, properties, Tags=properties.get("Tags", []))
        return cls(name, Arn=arn)

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._put_targets(aws, properties)

    def _put_targets(self, aws: Aws, properties: Properties) -> None:
        if properties.get("Targets"):
            aws.client("events").put_targets(
                Rule=self.physical_resource_id,
                Targets=[_target(each) for each in properties["Targets"]],
            )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        events, name = aws.client("events"), self.physical_resource_id
        arn = _put(aws, name, new)
        kept = {each["Id"] for each in new.get("Targets", [])}
        gone = [each["Id"] for each in old.get("Targets", []) if each["Id"] not in kept]
        if gone:
            events.remove_targets(Rule=name, Ids=gone)
        self._put_targets(aws, new)
        # PutRule leaves the tags of a rule that is there alone.
        left, wanted = tags.difference(old, new)
        if left:
            events.untag_resource(ResourceARN=arn, TagKeys=left)
        if wanted:
            events.tag_resource(ResourceARN=arn, Tags=wanted)

    def read(self, aws: Aws) -> Properties | None:
        events, name = aws.client("events"), self.physical_resource_id
        shown = events.describe_rule(Name=name)
        return {
            **only(shown, _AS_THEY_ARE),
            "EventPattern": json.loads(shown.get("EventPattern", "null")),
            "Targets": events.list_targets_by_rule(Rule=name)["Targets"],
            "Tags": events.list_tags_for_resource(ResourceARN=shown["Arn"])["Tags"],
        }

    def delete(self, aws: Aws) -> None:
        events, name = aws.client("events"), self.physical_resource_id
        targets = events.list_targets_by_rule(Rule=name)["Targets"]
        if targets:
            events.remove_targets(Rule=name, Ids=[each["Id"] for each in targets])
        events.delete_rule(Name=name)


def _put(aws: Aws, name: str, properties: Properties, **more: Any) -> str:
    """Make or change a rule, and return its ARN."""
    pattern = properties.get("EventPattern")
    if pattern is not None:
        more["EventPattern"] = json.dumps(pattern)
    arn: str = aws.client("events").put_rule(Name=name, **only(properties, _AS_THEY_ARE), **more)[
        "RuleArn"
    ]
    return arn


def _target(given: Properties) -> Properties:
    """Return a target as the API takes it: numbers come as texts."""
    if "RetryPolicy" not in given:
        return given
    return {
        **given,
        "RetryPolicy": {name: int(value) for name, value in given["RetryPolicy"].items()},
    }
