"""Brings a stack from what it has to what its template says, or back."""

from __future__ import annotations

from collections.abc import Callable

from botocore.exceptions import ClientError

from localaws.cloudformation import models
from localaws.cloudformation.aws import is_gone
from localaws.cloudformation.resource import CannotUpdate, Properties
from localaws.cloudformation.schema import must_replace
from localaws.cloudformation.stack import Deployed, LocalStack
from localaws.cloudformation.template import creation_order


class ResourceFailed(Exception):
    """A resource could not be made, changed or deleted; the reason is in the stack's events."""


class Deployment:
    """One run over a stack's resources.

    What is new is made and what differs is changed, in the order of their references; what the
    template no longer has, and what was replaced, is deleted last. Until then, every step can be
    taken back.
    """

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack
        self._undo: list[Callable[[], None]] = []
        self._leftovers: list[Deployed] = []

    def run(self) -> None:
        """Make and change resources, and work out the outputs.

        Raises:
            ResourceFailed: What is wrong; `roll_back` takes back what was done.
        """
        wanted = self._wanted()
        for logical_id in wanted:
            self._bring(logical_id)
        removed = [
            self._stack.deployed[name] for name in self._stack.deployed if name not in wanted
        ]
        self._leftovers += [deployed for deployed in removed if not deployed.is_retained]
        for deployed in removed:
            self._stack.forget(deployed.logical_id)
            self._undo.append(lambda deployed=deployed: self._stack.put(deployed))  # type: ignore[misc]
        try:
            self._stack.resolve_outputs()
        except Exception as error:
            raise ResourceFailed(f"an output cannot be resolved: {explain(error)}") from error

    def clean_up(self) -> None:
        """Delete what is no longer needed; what cannot be deleted stays, as in AWS."""
        delete_all(self._stack, self._leftovers)

    def roll_back(self) -> bool:
        """Take back what was done, last step first; return whether all of it could be."""
        whole = True
        for step in reversed(self._undo):
            try:
                step()
            except ResourceFailed:
                whole = False
        return whole

    def _wanted(self) -> list[str]:
        template = self._stack.template_dict
        return [
            logical_id
            for logical_id in creation_order(template)
            if self._stack.has(template["Resources"][logical_id])
        ]

    def _bring(self, logical_id: str) -> None:
        definition = self._stack.template_dict["Resources"][logical_id]
        try:
            resolved = self._stack.resolve(definition.get("Properties", {}))
            properties = models.with_stack_tags(self._stack, definition["Type"], resolved)
        except Exception as error:
            raise self._failure(logical_id, definition["Type"], "CREATE_FAILED", error) from error
        old = self._stack.deployed.get(logical_id)
        if old is None:
            self._create(logical_id, properties)
        elif old.type != definition["Type"] or must_replace(old.type, old.properties, properties):
            self._replace(old, properties)
        elif old.properties != properties:
            self._update(old, properties)
        else:
            # Only how it is kept may differ, such as its deletion policy.
            self._stack.put(_changed(old, definition=definition))
            self._undo.append(lambda: self._stack.put(old))

    def _create(self, logical_id: str, properties: Properties) -> None:
        stack = self._stack
        definition = stack.template_dict["Resources"][logical_id]
        resource_type = definition["Type"]
        stack.add_resource_event(logical_id, resource_type, "CREATE_IN_PROGRESS")
        try:
            resource = models.create(stack, logical_id, resource_type, properties)
        except Exception as error:
            raise self._failure(logical_id, resource_type, "CREATE_FAILED", error) from error
        deployed = Deployed(logical_id, resource_type, resource, properties, definition)
        stack.put(deployed)
        self._undo.append(lambda: self._uncreate(deployed))
        try:
            models.wait_until_ready(stack, deployed)
        except Exception as error:
            raise self._failure(logical_id, resource_type, "CREATE_FAILED", error) from error
        stack.add_resource_event(logical_id, resource_type, "CREATE_COMPLETE", deployed.physical_id)

    def _uncreate(self, deployed: Deployed) -> None:
        # Not Retain, which leaves what a failed deployment has made: RetainExceptOnCreate keeps a
        # resource from the end of the deployment on that made it.
        if deployed.definition.get("DeletionPolicy") != "Retain":
            delete(self._stack, deployed)
        self._stack.forget(deployed.logical_id)

    def _replace(self, old: Deployed, properties: Properties) -> None:
        if name := _name_of_both(old, properties):
            # As AWS words it: the old one goes last, and keeps its name until then.
            error = ValueError(
                "CloudFormation cannot update a stack when a custom-named resource requires "
                f"replacing. Rename {name} and update the stack again."
            )
            raise self._failure(old.logical_id, old.type, "UPDATE_FAILED", error)
        # Taken back last: then the old one is in its place again.
        self._undo.append(lambda: self._stack.put(old))
        self._create(old.logical_id, properties)
        if not old.is_retained_on_replacement:
            self._leftovers.append(old)

    def _update(self, old: Deployed, properties: Properties) -> None:
        stack = self._stack
        definition = stack.template_dict["Resources"][old.logical_id]
        stack.add_resource_event(old.logical_id, old.type, "UPDATE_IN_PROGRESS", old.physical_id)
        new = _changed(old, properties=properties, definition=definition)
        try:
            models.update(stack, old, properties, definition)
        except Exception as error:
            if models.may_stop_halfway(old):
                self._undo.append(lambda: self._restore(new, old))
            raise self._failure(old.logical_id, old.type, "UPDATE_FAILED", error) from error
        stack.put(new)
        stack.add_resource_event(old.logical_id, old.type, "UPDATE_COMPLETE", old.physical_id)
        self._undo.append(lambda: self._restore(new, old))

    def _restore(self, new: Deployed, old: Deployed) -> None:
        try:
            models.update(self._stack, new, old.properties, old.definition)
        except Exception as error:
            raise self._failure(old.logical_id, old.type, "UPDATE_FAILED", error) from error
        self._stack.put(old)

    def _failure(
        self, logical_id: str, resource_type: str, status: str, error: Exception
    ) -> ResourceFailed:
        reason = explain(error)
        self._stack.add_resource_event(logical_id, resource_type, status, reason=reason)
        return ResourceFailed(f"{logical_id} ({resource_type}): {reason}")


def _name_of_both(old: Deployed, properties: Properties) -> str | None:
    """Return the name that a template gives to a resource and to what would replace it."""
    given = getattr(old.resource, "NAME_PROPERTY", "")
    name = old.properties.get(given)
    return name if name is not None and name == properties.get(given) else None


def _changed(
    old: Deployed,
    *,
    definition: dict[str, object],
    properties: Properties | None = None,
) -> Deployed:
    properties = old.properties if properties is None else properties
    return Deployed(old.logical_id, old.type, old.resource, properties, definition)


def delete_all(stack: LocalStack, resources: list[Deployed]) -> list[Deployed]:
    """Delete resources, users before what they use; return those that could not be deleted."""
    failed = []
    # Made in the order of their references, so deleted the other way round.
    for deployed in reversed(resources):
        try:
            delete(stack, deployed)
        except ResourceFailed:
            failed.append(deployed)
    return failed


def delete(stack: LocalStack, deployed: Deployed) -> None:
    """Delete one resource; one that is gone already is none.

    Raises:
        ResourceFailed: The service refuses; the reason is in the events.
    """
    logical_id, resource_type = deployed.logical_id, deployed.type
    stack.add_resource_event(logical_id, resource_type, "DELETE_IN_PROGRESS", deployed.physical_id)
    try:
        models.delete(stack, deployed)
    except Exception as error:
        if not is_gone(error):
            reason = explain(error)
            stack.add_resource_event(
                logical_id, resource_type, "DELETE_FAILED", deployed.physical_id, reason
            )
            raise ResourceFailed(f"{logical_id} ({resource_type}): {reason}") from error
    stack.add_resource_event(logical_id, resource_type, "DELETE_COMPLETE", deployed.physical_id)


def explain(error: Exception) -> str:
    """Return an error as CloudFormation words it in an event."""
    if isinstance(error, ClientError):
        found = error.response.get("Error", {})
        return f"{found.get('Message')} ({error.operation_name}: {found.get('Code')})"
    if isinstance(error, CannotUpdate):
        return (
            f"local AWS cannot change {error} of a resource in place. Delete the stack and deploy "
            "it again, or start anew: python -m localaws stop --discard"
        )
    if isinstance(error, KeyError):
        return f"{error} is missing or not known"
    return f"{error}" or type(error).__name__


def order_of(stack: LocalStack) -> list[Deployed]:
    """Return a stack's resources in the order in which they were, or could have been, made."""
    order = {name: index for index, name in enumerate(creation_order(stack.template_dict))}
    return sorted(stack.deployed.values(), key=lambda each: order.get(each.logical_id, -1))
