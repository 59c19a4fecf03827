"""The app's stacks on local AWS, brought there by CloudFormation's API alone.

The CDK CLI takes seconds for each command; what it does with a template, these lines do.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from app import build_app
from tests.conftest import LocalAws

TOOLKIT_PARAMETER = "/cdk-bootstrap/hnb659fds/version"
"""CDK's templates read it, so that none is deployed where `cdk bootstrap` never ran."""


def in_region(aws: LocalAws, region: str) -> LocalAws:
    """Return the same local AWS, seen from another region."""
    return dataclasses.replace(
        aws, env={**aws.env, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    )


class DeployedApp:
    """All stacks of the app in one region."""

    def __init__(self, aws: LocalAws, folder: Path) -> None:
        """Begin without a stack.

        Args:
            aws: Where to deploy.
            folder: For what is synthesized.
        """
        self.aws = aws
        self._folder = folder
        self._cloudformation = aws.client("cloudformation")
        self._stacks: list[str] = []
        aws.client("ssm").put_parameter(
            Name=TOOLKIT_PARAMETER, Value="30", Type="String", Overwrite=True
        )

    def deploy(self, context: Mapping[str, Any]) -> dict[str, str]:
        """Bring every stack to what the settings say.

        Returns:
            Stack name to `CREATE_COMPLETE`, `UPDATE_COMPLETE`, or `unchanged`.
        """
        assembly = self._assembly(context)
        artifacts = json.loads((assembly / "manifest.json").read_text("utf-8"))["artifacts"]
        # In the order in which the app made them, which is that of their references.
        stacks = {
            name: artifact["properties"]
            for name, artifact in artifacts.items()
            if artifact["type"] == "aws:cloudformation:stack"
        }
        self._stacks = list(stacks)
        return {name: self._bring(name, stack, assembly) for name, stack in stacks.items()}

    def _assembly(self, context: Mapping[str, Any]) -> Path:
        """Synthesize settings, once."""
        words = json.dumps(context, sort_keys=True).encode()
        assembly = self._folder / hashlib.sha256(words).hexdigest()[:16]
        if not assembly.exists():
            build_app(context, outdir=str(assembly)).synth()
        return assembly

    def _bring(self, name: str, stack: Mapping[str, Any], assembly: Path) -> str:
        request = {
            "StackName": name,
            "TemplateBody": (assembly / stack["templateFile"]).read_text("utf-8"),
            "Tags": [{"Key": key, "Value": value} for key, value in stack["tags"].items()],
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
        }
        is_protected = stack["terminationProtection"]
        if name not in self.stacks():
            self._cloudformation.create_stack(**request, EnableTerminationProtection=is_protected)
            return self._finished(name, [])
        before = self._events(name)
        self._cloudformation.update_termination_protection(
            StackName=name, EnableTerminationProtection=is_protected
        )
        try:
            self._cloudformation.update_stack(**request)
        except ClientError as error:
            if "No updates are to be performed" not in str(error):
                raise
            return "unchanged"
        return self._finished(name, before)

    def stacks(self) -> dict[str, str]:
        """Return the name of each stack of the region to its status."""
        stacks = self._cloudformation.describe_stacks()["Stacks"]
        return {stack["StackName"]: stack["StackStatus"] for stack in stacks}

    def _events(self, name: str) -> list[dict[str, Any]]:
        pages = self._cloudformation.get_paginator("describe_stack_events")
        return [each for page in pages.paginate(StackName=name) for each in page["StackEvents"]]

    def _finished(self, name: str, before: list[dict[str, Any]]) -> str:
        """Return a stack's status; fail with what its new events say where one is a failure."""
        stack = self._cloudformation.describe_stacks(StackName=name)["Stacks"][0]
        status = str(stack["StackStatus"])
        failed = [
            f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason')}"
            for each in self._events(name)
            if each not in before and each["ResourceStatus"].endswith("_FAILED")
        ]
        # A failure to delete what an update no longer needs leaves the status a good one.
        assert status in ("CREATE_COMPLETE", "UPDATE_COMPLETE"), (name, status, failed)
        assert not failed, (name, failed)
        return status

    def drift(self) -> dict[str, Any]:
        """Return `Stack.LogicalId` to what is not as the templates say."""
        drifted = {}
        for name in self._stacks:
            self._cloudformation.detect_stack_drift(StackName=name)
            found = self._cloudformation.describe_stack_resource_drifts(
                StackName=name, StackResourceDriftStatusFilters=["MODIFIED", "DELETED"]
            )
            for each in found["StackResourceDrifts"]:
                differences = each["PropertyDifferences"] or each["StackResourceDriftStatus"]
                drifted[f"{name}.{each['LogicalResourceId']}"] = differences
        return drifted

    def destroy(self, *, by_force: bool = False) -> None:
        """Delete every stack, users before what they use; by force, protected ones too."""
        there = self.stacks()
        for name in [name for name in reversed(self._stacks) if name in there]:
            if by_force:
                self._cloudformation.update_termination_protection(
                    StackName=name, EnableTerminationProtection=False
                )
            self._cloudformation.delete_stack(StackName=name)
