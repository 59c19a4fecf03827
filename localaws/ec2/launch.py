"""What a launch template says about an instance, as moto's `run_instances` takes it.

moto reads only a few of its settings: the machine image, key pair, security groups and volumes.
"""

from __future__ import annotations

import copy
from typing import Any

Data = dict[str, Any]
"""A launch template's `LaunchTemplateData`."""


def with_template(data: Data, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `run_instances` with what a template adds; they win over it."""
    placement = data.get("Placement") or {}
    from_template = {
        "instance_type": data.get("InstanceType"),
        "key_name": data.get("KeyName"),
        "placement": placement.get("AvailabilityZone"),
        "metadata_options": data.get("MetadataOptions"),
        "ebs_optimized": data.get("EbsOptimized"),
        "instance_market_options": (data.get("InstanceMarketOptions") or {}).get("MarketType"),
        "instance_initiated_shutdown_behavior": data.get("InstanceInitiatedShutdownBehavior"),
        "monitoring_state": _monitoring(data),
    }
    result = dict(arguments)
    if result.pop("is_instance_type_default", False):
        result["instance_type"] = None
    # moto's response passes "disabled" where a request says nothing.
    if result.get("monitoring_state") == "disabled":
        result["monitoring_state"] = None
    for name, value in from_template.items():
        if value and not result.get(name):
            result[name] = value
    result.setdefault("instance_type", None)
    result["instance_type"] = result["instance_type"] or "m1.small"
    result["monitoring_state"] = result.get("monitoring_state") or "disabled"
    result["is_instance_type_default"] = False
    result["nics"] = result.get("nics") or copy.deepcopy(data.get("NetworkInterfaces") or [])
    return result


def _monitoring(data: Data) -> str | None:
    return "enabled" if (data.get("Monitoring") or {}).get("Enabled") else None


def numbered(nics: list[Data], subnet_id: str | None, group_ids: list[str]) -> list[Data]:
    """Return network interfaces as moto can tell them apart.

    It knows one network card, and finds interfaces by their device index alone; machines with many
    EFA interfaces have one of each index on every card. Like EC2, delete all of them with the
    instance where nothing else is said.
    """
    specs = nics or [{"DeviceIndex": 0, "Groups": group_ids}]
    return [
        {
            "SubnetId": subnet_id,
            "DeleteOnTermination": True,
            **{name: value for name, value in nic.items() if value is not None},
            "DeviceIndex": number,
        }
        for number, nic in enumerate(specs)
    ]


def show(instance: Any, nics: list[Data]) -> None:
    """Give an instance's interfaces the indices and types that were asked for."""
    for number, nic in enumerate(nics):
        interface = instance.nics[number]
        interface.device_index = int(nic.get("DeviceIndex", number))
        interface.interface_type = nic.get("InterfaceType") or "interface"
