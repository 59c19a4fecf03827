"""CloudFormation's API over stacks that roll back.

moto makes, changes and deletes stacks while the request is answered, and so does this; what a
client polls is there when its first poll arrives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from moto.cloudformation import urls
from moto.cloudformation.exceptions import (
    AlreadyExistsException,
    CloudFormationError,
    ValidationError,
)
from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Stack
from moto.cloudformation.utils import generate_stack_id

from localaws.cloudformation import models
from localaws.cloudformation.background import carry_out
from localaws.cloudformation.deployment import (
    Deployment,
    ResourceFailed,
    delete_all,
    explain,
    order_of,
)
from localaws.cloudformation.drift import DriftDetections
from localaws.cloudformation.exports import ExportInUse, publish, refuse_if_used
from localaws.cloudformation.signals import SIGNALS, Signal
from localaws.cloudformation.stack import LocalStack
from localaws.cloudformation.template import check_types, creation_order

_one_at_a_time = threading.RLock()
"""Deploying two stacks at once would read exports while they are written."""


_FIXED = ("ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS")
"""A stack in one of these was never made, and can only be deleted."""


_SIGNALLED = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS")
"""While a stack is in one of these, its instances may signal."""


class ChangeSetNotFound(CloudFormationError):
    """The CDK CLI looks for this code before it makes a change set."""

    code = "ChangeSetNotFound"


class StackBackend(CloudFormationBackend):
    """The stacks of one region."""

    stacks: dict[str, Any]

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.drift = DriftDetections()

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def create_stack(
        self,
        name: str,
        template: str,
        parameters: dict[str, Any],
        notification_arns: list[str] | None = None,
        tags: dict[str, str] | None = None,
        role_arn: str | None = None,
        enable_termination_protection: bool | None = False,
        timeout_in_mins: int | None = None,
        stack_policy_body: str | None = None,
    ) -> Stack:
        with _one_at_a_time:
            if any(stack.name == name for stack in self.stacks.values()):
                raise AlreadyExistsException(f"Stack [{name}] already exists")
            self._check(template)
            stack = LocalStack(
                stack_id=generate_stack_id(name, self.region_name, self.account_id),
                name=name,
                template={},
                parameters=parameters,
                account_id=self.account_id,
                region_name=self.region_name,
                notification_arns=notification_arns,
                tags=tags,
                role_arn=role_arn,
                cross_stack_resources=self.exports,
                enable_termination_protection=enable_termination_protection,
                timeout_in_mins=timeout_in_mins,
                stack_policy_body=stack_policy_body,
            )
            self._use(stack, template, parameters)
            self.stacks[stack.stack_id] = stack
            self._make(stack)
            return stack

    def _carry_out(self, stack: LocalStack, work: Callable[[], None]) -> None:
        def locked() -> None:
            with _one_at_a_time:
                work()

        def failed(error: Exception) -> None:
            doing = stack.status.removesuffix("_IN_PROGRESS")
            stack.set_status(f"{doing}_FAILED", explain(error))

        carry_out(locked, failed)

    def signal(self, stack_name: str, logical_id: str, unique_id: str, signal: Signal) -> None:
        """Take what an instance says about its set-up.

        Without the lock: the operation that waits for it has it.

        Raises:
            ValidationError: Nothing waits for it.
        """
        stack = self.get_stack(stack_name)
        if stack.status not in _SIGNALLED:
            raise ValidationError(
                message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be "
                "signaled."
            )
        if logical_id not in stack.template_dict["Resources"]:
            raise ValidationError(
                message=f"Resource {logical_id} does not exist for stack {stack.stack_id}"
            )
        SIGNALS.send((stack.stack_id, logical_id), unique_id, signal)

    def _made(self) -> list[LocalStack]:
        """Return the stacks, without the empty ones of change sets."""
        return [stack for stack in self.stacks.values() if isinstance(stack, LocalStack)]

    def _make(self, stack: LocalStack) -> None:
        stack.set_status("CREATE_IN_PROGRESS", "User Initiated")
        self._carry_out(stack, lambda: self._create(stack))

    def _create(self, stack: LocalStack) -> None:
        deployment = Deployment(stack)
        try:
            deployment.run()
            publish(stack, self.exports, self._made())
        except ResourceFailed as error:
            stack.set_status("ROLLBACK_IN_PROGRESS", f"{error}. Rollback requested by user.")
            whole = deployment.roll_back()
            stack.set_status("ROLLBACK_COMPLETE" if whole else "ROLLBACK_FAILED", str(error))
            return
        stack.set_status("CREATE_COMPLETE")

    def update_stack(
        self,
        name: str,
        template: str,
        role_arn: str | None,
        parameters: list[dict[str, Any]],
        tags: dict[str, str] | None,
    ) -> Stack:
        with _one_at_a_time:
            stack = self.get_stack(name)
            values = self._resolve_update_parameters(stack, parameters)
            self._change(stack, template, values, tags)
            stack.role_arn = role_arn
            return stack

    def _change(
        self, stack: Any, template: str, parameters: dict[str, str], tags: dict[str, str] | None
    ) -> None:
        if stack.status in _FIXED or stack.status.endswith("_FAILED"):
            raise ValidationError(
                message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated."
            )
        new_tags = stack.tags if tags is None else tags
        is_same = stack.has_template(template) and stack.has_parameters(parameters)
        if is_same and stack.tags == new_tags:
            raise ValidationError(message="No updates are to be performed.")
        self._check(template)
        take_back = stack.remember()
        self._use(stack, template, parameters)
        stack.tags = new_tags
        stack.set_status("UPDATE_IN_PROGRESS", "User Initiated")
        self._carry_out(stack, lambda: self._update(stack, take_back))

    def _update(self, stack: LocalStack, take_back: Callable[[], None]) -> None:
        deployment = Deployment(stack)
        try:
            deployment.run()
            publish(stack, self.exports, self._made())
        except ResourceFailed as error:
            stack.set_status("UPDATE_ROLLBACK_IN_PROGRESS", str(error))
            whole = deployment.roll_back()
            take_back()
            stack.set_status(
                "UPDATE_ROLLBACK_COMPLETE" if whole else "UPDATE_ROLLBACK_FAILED", str(error)
            )
            return
        stack.set_status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        deployment.clean_up()
        stack.set_status("UPDATE_COMPLETE")

    def protect(self, name_or_stack_id: str, is_protected: bool) -> Stack:
        """Refuse the deletion of a stack from now on, or no longer."""
        with _one_at_a_time:
            stack = self.get_stack(name_or_stack_id)
            stack.enable_termination_protection = is_protected
            return stack

    def delete_stack(self, name_or_stack_id: str) -> None:
        with _one_at_a_time:
            for stack in list(self.stacks.values()):
                if name_or_stack_id not in (stack.name, stack.stack_id):
                    continue
                if isinstance(stack, LocalStack):
                    self._unmake(stack)
                else:
                    self._forget_empty(stack)

    def _unmake(self, stack: LocalStack) -> None:
        if stack.enable_termination_protection:
            raise ValidationError(
                message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection is "
                "enabled"
            )
        try:
            for export in stack.exports:
                refuse_if_used(export.name, "deleted", self._made())
        except ExportInUse as error:
            raise ValidationError(message=str(error)) from error
        stack.set_status("DELETE_IN_PROGRESS", "User Initiated")
        self._carry_out(stack, lambda: self._delete(stack))

    def _delete(self, stack: LocalStack) -> None:
        resources = order_of(stack)
        failed = delete_all(stack, [each for each in resources if not each.is_retained])
        for deployed in resources:
            if deployed not in failed:
                stack.forget(deployed.logical_id)
        if failed:
            names = ", ".join(each.logical_id for each in failed)
            stack.set_status(
                "DELETE_FAILED", f"The following resource(s) failed to delete: [{names}]."
            )
            return
        for export in stack.exports:
            self.exports.pop(export.name, None)
        stack.set_status("DELETE_COMPLETE")
        self.deleted_stacks[stack.stack_id] = self.stacks.pop(stack.stack_id)
        self._forget_change_sets(stack)

    def _forget_empty(self, stack: Stack) -> None:
        """Forget a stack that a change set made and nobody executed."""
        del self.stacks[stack.stack_id]
        self._forget_change_sets(stack)

    def _forget_change_sets(self, stack: Stack) -> None:
        # The CDK CLI calls all of them by one name, and would find those of an earlier stack.
        for change_set_id, change_set in list(self.change_sets.items()):
            if change_set.stack_id == stack.stack_id:
                del self.change_sets[change_set_id]

    def detect_drift(self, name_or_stack_id: str) -> str:
        """Compare a stack with what the services show; return the id of the outcome."""
        with _one_at_a_time:
            stack = self.get_stack(name_or_stack_id)
            if not isinstance(stack, LocalStack):
                raise ValidationError(message=f"Stack [{stack.name}] has not been made yet")
            return self.drift.detect(stack)

    def create_change_set(
        self,
        stack_name: str,
        change_set_name: str,
        template: str,
        parameters: dict[str, str],
        description: str,
        change_set_type: str,
        notification_arns: list[str] | None = None,
        tags: dict[str, str] | None = None,
        role_arn: str | None = None,
    ) -> tuple[str, str]:
        # First: moto would leave an empty stack behind, and a second one of the same name.
        self._check(template)
        if change_set_type == "CREATE":
            self._make_way(stack_name)
        change_set_id, stack_id = super().create_change_set(
            stack_name,
            change_set_name,
            template,
            parameters,
            description,
            change_set_type,
            notification_arns,
            tags,
            role_arn,
        )
        if tags is not None and tags != self.stacks[stack_id].tags:
            # moto takes them for no change.
            change_set = self.change_sets[change_set_id]
            change_set.status, change_set.execution_status = "CREATE_COMPLETE", "AVAILABLE"
            change_set.status_reason = None
        return change_set_id, stack_id

    def _make_way(self, name: str) -> None:
        """Forget the empty stack of this name, if an earlier change set left one."""
        for stack in [stack for stack in self.stacks.values() if stack.name == name]:
            if isinstance(stack, LocalStack):
                raise ValidationError(
                    message=f"Stack [{name}] already exists and cannot be created again with the "
                    "change set"
                )
            self._forget_empty(stack)

    def execute_change_set(self, change_set_name: str, stack_name: str | None = None) -> None:
        with _one_at_a_time:
            change_set = self.find_change_set(change_set_name, stack_name)
            template, parameters = change_set.template, change_set.parameters
            if change_set.change_set_type == "CREATE":
                self._check(template)
                stack = self._new_stack(change_set.stack)
                self._use(stack, template, parameters)
                self.stacks[stack.stack_id] = stack
                self._make(stack)
            else:
                self._change(change_set.stack, template, parameters, change_set.tags)
            change_set.execution_status = "EXECUTE_COMPLETE"

    def _new_stack(self, reviewed: Stack) -> LocalStack:
        """Return a stack in the place of the empty one that moto makes for a change set."""
        return LocalStack(
            stack_id=reviewed.stack_id,
            name=reviewed.name,
            template={},
            parameters={},
            account_id=self.account_id,
            region_name=self.region_name,
            notification_arns=reviewed.notification_arns,
            tags=reviewed.tags,
            role_arn=reviewed.role_arn,
            cross_stack_resources=self.exports,
            # The CDK CLI sets it between the change set and its execution.
            enable_termination_protection=reviewed.enable_termination_protection,
        )

    def find_change_set(self, name: str, stack_name: str | None) -> ChangeSet:
        """Return a change set by its id, or by its name and its stack's name or id.

        Raises:
            ChangeSetNotFound: There is none.
        """
        for change_set_id, change_set in self.change_sets.items():
            if name == change_set_id or (
                name == change_set.change_set_name
                and stack_name in (None, change_set.stack_name, change_set.stack_id)
            ):
                return change_set
        raise ChangeSetNotFound(f"ChangeSet [{name}] does not exist")

    @staticmethod
    def _check(template: str) -> None:
        parsed = LocalStack.parse_template(template)
        check_types(parsed, models.is_known)
        creation_order(parsed)

    @staticmethod
    def _use(stack: LocalStack, template: str, parameters: dict[str, str]) -> None:
        """Take up a template, or refuse it for what moto fails to say about its parameters."""
        try:
            stack.use(template, parameters)
        except ValidationError:
            raise
        except (AttributeError, KeyError) as error:
            raise ValidationError(
                message=f"Template format error: {explain(error)}. Where a parameter comes from "
                "SSM, as CDK's BootstrapVersion does, it must be there first: cdk bootstrap"
            ) from error
