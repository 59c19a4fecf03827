"""The kinds of settings that the tests put every template through."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.nag import Violation

STACKS = ("NetworkStack", "StorageStack", "RegistryStack")

MATRIX: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "old-addresses": {"vpc_cidr": "172.30.0.0/25"},
    "no-nat": {"nat_gateways": "0"},
    "scratch": {"fsx_deployment": "SCRATCH_2", "fsx_capacity_gib": "2400"},
    "import-path": {"fsx_deployment": "SCRATCH_2", "fsx_bucket_link": "import_path"},
    "everything-set": {
        "vpc_cidr": "10.8.0.0/20",
        "public_subnet_cidr": "10.8.0.0/28",
        "private_subnet_cidrs": ["10.8.4.0/22", "10.8.8.0/22", "10.8.12.0/22"],
        "availability_zones": "us-west-2a,us-west-2b,us-west-2d",
        "flow_log_retention_days": "30",
        "fsx_throughput_mbps_per_tib": "500",
        "fsx_compression": "NONE",
        "fsx_data_path": "/coco/linked",
        "fsx_zone": "3",
        "fsx_removal": "retain",
    },
}

CHECKED_BY_CDK = "default"
"""The row that goes through CDK's own template checks too, off in app.py: they take seconds."""

Template = dict[str, Any]


@dataclass(frozen=True)
class Synth:
    """What one synth left: stack name to template, and what the checks found."""

    templates: Mapping[str, Template]
    violations: tuple[Violation, ...]


Synthesize = Callable[[str], Synth]
"""Of a row of the matrix; the `synth` fixture."""


def read_template(assembly: Path, stack: str) -> Template:
    template: Template = json.loads((assembly / f"{stack}.template.json").read_text("utf-8"))
    return template


def resources(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    """Return logical id to resource, of one type."""
    return {
        logical_id: resource
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }


def properties(template: Template, resource_type: str) -> list[dict[str, Any]]:
    return [each.get("Properties", {}) for each in resources(template, resource_type).values()]


def environment_of_nobody() -> dict[str, str]:
    """Return this environment without account, region, credentials and pytest."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("AWS_", "CDK_", "PYTEST_"))
    }
