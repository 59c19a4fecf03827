"""The resource types of the stacks here. To add one, write its class and list its module."""

from __future__ import annotations

from localaws.cloudformation.resource import Resource
from localaws.cloudformation.resources import (
    bucket,
    build_project,
    elastic_file_system,
    flow_log,
    gateways,
    instance_profile,
    keys,
    log_group,
    lustre,
    managed_policy,
    metadata,
    network,
    notebook,
    parameter,
    repository,
    roles,
    routes,
    security_groups,
    vpc_endpoint,
    wait_condition_handle,
)

_MODULES = (
    bucket,
    build_project,
    elastic_file_system,
    flow_log,
    gateways,
    instance_profile,
    keys,
    log_group,
    lustre,
    managed_policy,
    metadata,
    network,
    notebook,
    parameter,
    repository,
    roles,
    routes,
    security_groups,
    vpc_endpoint,
    wait_condition_handle,
)


def by_type() -> dict[str, type[Resource]]:
    """Return CloudFormation type to class."""
    return {
        model.TYPE: model
        for module in _MODULES
        for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, Resource) and hasattr(model, "TYPE")
    }
