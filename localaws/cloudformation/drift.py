"""Drift: what the services show, beside what a stack's template says.

As in AWS, only what the template sets is compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from moto.cloudformation.exceptions import ValidationError
from moto.core.utils import utcnow

from localaws.cloudformation.aws import is_gone
from localaws.cloudformation.resource import NotReadable, Resource
from localaws.cloudformation.stack import Deployed, LocalStack

Status = Literal["IN_SYNC", "MODIFIED", "DELETED", "NOT_CHECKED"]


@dataclass(frozen=True)
class Difference:
    """One property that is not as the template has it."""

    path: str
    expected: Any
    actual: Any
    """None where the service shows nothing."""

    def to_dict(self) -> dict[str, str]:
        return {
            "PropertyPath": self.path,
            "ExpectedValue": _text(self.expected),
            "ActualValue": _text(self.actual),
            "DifferenceType": "REMOVE" if self.actual is None else "NOT_EQUAL",
        }


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[Difference]:
    """Yield what differs; of a map, only the keys that are expected."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            yield from differences(value, actual.get(name), f"{path}/{name}")
    elif _canonical(expected) != _canonical(actual):
        yield Difference(path, expected, actual)


def _canonical(value: Any) -> Any:
    """Return a value without what services leave open: the order of lists, how a number reads."""
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, list):
        return sorted((_canonical(item) for item in value), key=_text)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def check(stack: LocalStack, deployed: Deployed) -> dict[str, Any]:
    """Return a resource's drift as DescribeStackResourceDrifts shows it."""
    status, expected, actual = _compare(stack, deployed)
    found = [each.to_dict() for each in differences(expected, actual)]
    if status == "IN_SYNC" and found:
        status = "MODIFIED"
    return {
        "StackId": stack.stack_id,
        "LogicalResourceId": deployed.logical_id,
        "PhysicalResourceId": deployed.physical_id,
        "ResourceType": deployed.type,
        "ExpectedProperties": json.dumps(expected),
        "ActualProperties": json.dumps(actual, default=str),
        "PropertyDifferences": found,
        "StackResourceDriftStatus": status,
        "Timestamp": utcnow(),
    }


def _compare(
    stack: LocalStack, deployed: Deployed
) -> tuple[Status, dict[str, Any], dict[str, Any]]:
    """Return the status before a comparison, and the properties to compare."""
    if not isinstance(deployed.resource, Resource):
        return "NOT_CHECKED", {}, {}
    try:
        shown = deployed.resource.read(stack.aws)
    except NotReadable:
        return "NOT_CHECKED", {}, {}
    except Exception as error:
        if not is_gone(error):
            raise
        shown = None
    if shown is None:
        return "DELETED", {}, {}
    properties = deployed.properties
    return "IN_SYNC", {name: properties[name] for name in shown if name in properties}, shown


class DriftDetections:
    """The looks for drift, and what came out."""

    def __init__(self) -> None:
        self._outcomes: dict[str, dict[str, Any]] = {}

    def detect(self, stack: LocalStack) -> str:
        """Compare a stack's resources with what the services show; return the id of the outcome."""
        stack.drifts = [check(stack, deployed) for deployed in stack.deployed.values()]
        statuses = [each["StackResourceDriftStatus"] for each in stack.drifts]
        drifted = statuses.count("MODIFIED") + statuses.count("DELETED")
        in_sync = "IN_SYNC" if "IN_SYNC" in statuses else "NOT_CHECKED"
        detection_id = str(uuid4())
        self._outcomes[detection_id] = {
            "StackId": stack.stack_id,
            "StackDriftDetectionId": detection_id,
            "StackDriftStatus": "DRIFTED" if drifted else in_sync,
            "DetectionStatus": "DETECTION_COMPLETE",
            "DriftedStackResourceCount": drifted,
            "Timestamp": utcnow(),
        }
        return detection_id

    def outcome(self, detection_id: str) -> dict[str, Any]:
        """Return what came out.

        Raises:
            ValidationError: There was no look of this id.
        """
        if detection_id not in self._outcomes:
            raise ValidationError(message=f"Drift detection [{detection_id}] does not exist")
        return self._outcomes[detection_id]
