"""A stack of one test."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.conftest import LocalAws

Resources = dict[str, Any]

_number = itertools.count()


class Stack:
    """A stack with a name of its own, and what a test asks about it."""

    def __init__(self, aws: LocalAws) -> None:
        self.name = f"Deployment{next(_number)}"
        self.cloudformation = aws.client("cloudformation")

    def create(
        self, resources: Resources, *, arguments: dict[str, Any] | None = None, **more: Any
    ) -> dict[str, Any]:
        """Make it; `arguments` go to CreateStack, the others are parts of the template."""
        body = json.dumps({"Resources": resources, **more})
        self.cloudformation.create_stack(
            StackName=self.name, TemplateBody=body, **(arguments or {})
        )
        return self.describe()

    def update(
        self, resources: Resources, *, arguments: dict[str, Any] | None = None, **more: Any
    ) -> dict[str, Any]:
        body = json.dumps({"Resources": resources, **more})
        self.cloudformation.update_stack(
            StackName=self.name, TemplateBody=body, **(arguments or {})
        )
        return self.describe()

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self.cloudformation.describe_stacks(StackName=self.name)
        stack: dict[str, Any] = described["Stacks"][0]
        return stack

    def ids(self) -> dict[str, str]:
        resources = self.cloudformation.list_stack_resources(StackName=self.name)
        return {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for each in resources["StackResourceSummaries"]
        }

    def events(self, logical_id: str) -> list[str]:
        events = self.cloudformation.describe_stack_events(StackName=self.name)["StackEvents"]
        return [
            e["ResourceStatus"] for e in reversed(events) if e["LogicalResourceId"] == logical_id
        ]

    def delete(self) -> None:
        self.cloudformation.delete_stack(StackName=self.name)
