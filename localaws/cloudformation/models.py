"""Makes, changes and deletes one resource, with a model of ours or, failing that, of moto's."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from moto.cloudformation import parsing

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.policies import Operation
from localaws.cloudformation.resource import (
    CannotUpdate,
    Properties,
    Resource,
    ResourceWithPolicies,
    changed,
)
from localaws.cloudformation.stack import Deployed, LocalStack


def is_known(resource_type: str) -> bool:
    """Return whether there is a model of a type.

    Custom resources have none: they are Lambda functions, which take a container engine.
    """
    return resource_type in parsing.get_model_map()


def create(stack: LocalStack, logical_id: str, resource_type: str, properties: Properties) -> Any:
    """Make a resource and return the model's object."""
    model = parsing.get_model_map()[resource_type]
    if issubclass(model, Resource):
        generated = parsing.generate_resource_name(resource_type, stack.name, logical_id)
        name = properties.get(model.NAME_PROPERTY, _shortened(generated, model.NAME_LIMIT))
        return _make(model, stack.aws, name, properties)
    return parsing.parse_and_create_resource(
        logical_id,
        {"Type": resource_type, "Properties": properties},
        stack.resource_map,
        account_id=stack.account_id,
        region_name=stack.region_name,
    )


def _make(model: type[Resource], aws: Aws, name: str, properties: Properties) -> Resource:
    made = model.create(aws, name, properties)
    try:
        made.complete(aws, properties)
    except Exception:
        # The reason of the first failure is the one to show.
        with suppress(Exception):
            made.delete(aws)
        raise
    return made


def _shortened(name: str, limit: int) -> str:
    """Cut a generated name before its random end, as CloudFormation does."""
    head, _, random_end = name.rpartition("-")
    return f"{head[: limit - len(random_end) - 1].rstrip('-')}-{random_end}"


def with_stack_tags(stack: LocalStack, resource_type: str, properties: Properties) -> Properties:
    """Return the properties with the stack's tags; the resource's own win."""
    model = parsing.get_model_map()[resource_type]
    if not stack.tags or not issubclass(model, Resource) or not model.TAGS:
        return properties
    own = properties.get(model.TAGS, [])
    keys = {tag["Key"] for tag in own}
    inherited = [
        {"Key": key, "Value": value, **model.STACK_TAG}
        for key, value in stack.tags.items()
        if key not in keys
    ]
    return {**properties, model.TAGS: [*own, *inherited]}


def wait_until_ready(stack: LocalStack, deployed: Deployed) -> None:
    """Wait for a new resource as its `CreationPolicy` says.

    Raises:
        PolicyFailed: It does not become ready.
    """
    if isinstance(deployed.resource, ResourceWithPolicies):
        policy = stack.resolve(deployed.definition.get("CreationPolicy", {}))
        operation = _operation(stack, deployed, "CREATE_IN_PROGRESS")
        deployed.resource.created(stack.aws, deployed.properties, policy, operation)


def may_stop_halfway(deployed: Deployed) -> bool:
    """Return whether a change that failed may have changed something."""
    return isinstance(deployed.resource, ResourceWithPolicies)


def _operation(stack: LocalStack, deployed: Deployed, status: str) -> Operation:
    def tell(reason: str) -> None:
        stack.add_resource_event(
            deployed.logical_id, deployed.type, status, deployed.physical_id, reason
        )

    operation = Operation((stack.stack_id, deployed.logical_id), tell)
    operation.begin()
    return operation


def update(
    stack: LocalStack, deployed: Deployed, properties: Properties, definition: Properties
) -> None:
    """Change a resource in place.

    Args:
        stack: Of the resource.
        deployed: The resource as it is.
        properties: Those that it is to have.
        definition: Its part of the template, with its `UpdatePolicy`.

    Raises:
        CannotUpdate: The model knows no way.
        PolicyFailed: What is new does not become ready.
    """
    if isinstance(deployed.resource, ResourceWithPolicies):
        policy = stack.resolve(definition.get("UpdatePolicy", {}))
        operation = _operation(stack, deployed, "UPDATE_IN_PROGRESS")
        deployed.resource.change(stack.aws, deployed.properties, properties, policy, operation)
        return
    if isinstance(deployed.resource, Resource):
        deployed.resource.update(stack.aws, deployed.properties, properties)
        return
    model = parsing.get_model_map()[deployed.type]
    if hasattr(model.update_from_cloudformation_json, "__isabstractmethod__"):
        raise CannotUpdate(", ".join(changed(deployed.properties, properties)))
    updated = parsing.parse_and_update_resource(
        deployed.logical_id,
        {"Type": deployed.type, "Properties": properties},
        stack.resource_map,
        account_id=stack.account_id,
        region_name=stack.region_name,
    )
    # Some of moto's models answer a change with a new object.
    deployed.resource = updated or deployed.resource


def delete(stack: LocalStack, deployed: Deployed) -> None:
    """Delete a resource."""
    if isinstance(deployed.resource, Resource):
        deployed.resource.delete(stack.aws)
        return
    stack.resource_map._delete_resource(
        deployed.resource, {"Type": deployed.type, "Properties": deployed.properties}
    )
