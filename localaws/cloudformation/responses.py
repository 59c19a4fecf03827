"""CloudFormation's operations, with the template addresses that the CDK CLI sends here."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import ChangeSet
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, EmptyResult
from moto.s3.exceptions import S3ClientError
from moto.s3.models import s3_backends

from localaws.cloudformation.backend import ChangeSetNotFound, StackBackend


class StackResponse(CloudFormationResponse):
    """moto's, which finds a template by S3's host names only, and a change set by its name only.

    The CDK CLI calls the change sets of all stacks by one name.
    """

    @property
    def _stacks(self) -> StackBackend:
        return cast(StackBackend, self.cloudformation_backend)

    def _change_set(self) -> ChangeSet:
        name, stack_name = self._get_param("ChangeSetName"), self._get_param("StackName")
        return self._stacks.find_change_set(name, stack_name)

    def describe_change_set(self) -> ActionResult:
        return ActionResult(self._change_set())

    def delete_change_set(self) -> ActionResult:
        # No error where there is none: `cdk diff` deletes before it makes one.
        with suppress(ChangeSetNotFound):
            del self._stacks.change_sets[self._change_set().change_set_id]
        return EmptyResult()

    def update_stack(self) -> ActionResult:
        """Change a stack; moto takes tags that differ for no change, and cannot clear them."""
        parameters = self._get_param("Parameters", [])
        tags = self._get_param("Tags")
        stack = self._stacks.update_stack(
            name=self._get_param("StackName"),
            template=self._template(),
            role_arn=self._get_param("RoleARN"),
            parameters=parameters,
            tags=None if tags is None else {tag["Key"]: tag["Value"] for tag in tags},
        )
        return ActionResult({"StackId": stack.stack_id})

    def _template(self) -> str:
        """Return the template of a request: the stack's own, one in S3, or the one sent along."""
        if self._get_bool_param("UsePreviousTemplate", False):
            return str(self._stacks.get_stack(self._get_param("StackName")).template)
        body: str | None = self._get_param("TemplateBody")
        return body or self._get_stack_from_s3_url(self._get_param("TemplateURL"))

    def get_template_summary(self) -> ActionResult:
        """Summarize a template; moto does not make text of its metadata, as CloudFormation does."""
        summary = cast(dict[str, Any], super().get_template_summary().result)
        if "Metadata" in summary:
            summary = {**summary, "Metadata": json.dumps(summary["Metadata"])}
        return ActionResult(summary)

    def update_termination_protection(self) -> ActionResult:
        is_protected = self._get_bool_param("EnableTerminationProtection", False)
        stack = self._stacks.protect(self._get_param("StackName"), is_protected)
        return ActionResult({"StackId": stack.stack_id})

    def signal_resource(self) -> ActionResult:
        self._stacks.signal(
            self._get_param("StackName"),
            self._get_param("LogicalResourceId"),
            self._get_param("UniqueId"),
            self._get_param("Status"),
        )
        return EmptyResult()

    def detect_stack_drift(self) -> ActionResult:
        detection_id = self._stacks.detect_drift(self._get_param("StackName"))
        return ActionResult({"StackDriftDetectionId": detection_id})

    def describe_stack_drift_detection_status(self) -> ActionResult:
        detection_id = self._get_param("StackDriftDetectionId")
        return ActionResult(self._stacks.drift.outcome(detection_id))

    def describe_stack_resource_drifts(self) -> ActionResult:
        stack = self._stacks.get_stack(self._get_param("StackName"))
        wanted = self._get_param("StackResourceDriftStatusFilters", [])
        found = [
            each
            for each in getattr(stack, "drifts", [])
            if not wanted or each["StackResourceDriftStatus"] in wanted
        ]
        return ActionResult({"StackResourceDrifts": found})

    def _get_stack_from_s3_url(self, template_url: str) -> str:
        address = urlsplit(template_url)
        host, path = address.hostname or "", unquote(address.path).lstrip("/")
        # The CLI puts the endpoint, an address, in the place of S3's host name.
        if host in ("127.0.0.1", "localhost") or host.startswith(("s3.", "s3-")):
            bucket, _, key = path.partition("/")
        else:
            bucket, key = host.split(".", maxsplit=1)[0], path
        try:
            template = s3_backends[self.current_account][self.partition].get_object(bucket, key)
        except (S3ClientError, ServiceException) as error:
            raise ValidationError(message=f"S3 error: {template_url}: {error}") from error
        if template is None:
            raise ValidationError(message=f"S3 error: {template_url}: no such object")
        return template.value.decode()
