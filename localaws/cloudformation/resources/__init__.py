"""The resource types of the stacks here. To add one, write its class and list its module."""

from __future__ import annotations

from localaws.cloudformation.resource import Resource
from localaws.cloudformation.resources import (
    api_destination,
    auto_scaling_group,
    bucket,
    build_project,
    document,
    elastic_file_system,
    event_rule,
    flow_log,
    gateways,
    instance_profile,
    keys,
    kubernetes_access,
    kubernetes_cluster,
    kubernetes_nodes,
    launch_template,
    log_group,
    lustre,
    managed_policy,
    metadata,
    network,
    notebook,
    parameter,
    placement_group,
    queue,
    repository,
    roles,
    routes,
    secret,
    security_groups,
    topic,
    vpc_endpoint,
    wait_condition_handle,
)

_MODULES = (
    api_destination,
    auto_scaling_group,
    bucket,
    build_project,
    document,
    elastic_file_system,
    event_rule,
    flow_log,
    gateways,
    instance_profile,
    keys,
    kubernetes_access,
    kubernetes_cluster,
    kubernetes_nodes,
    launch_template,
    log_group,
    lustre,
    managed_policy,
    metadata,
    network,
    notebook,
    parameter,
    placement_group,
    queue,
    repository,
    roles,
    routes,
    secret,
    security_groups,
    topic,
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
