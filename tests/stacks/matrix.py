"""The kinds of settings that the tests put every template through."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.nag import Violation
from stacks.settings.notifications import STACK as NOTIFICATION_STACK
from training.outputs import CONTRACTS

STACKS = tuple(contract.STACK for contract in CONTRACTS)
"""Those that are always there."""

OPTIONAL_STACKS = (NOTIFICATION_STACK,)

ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"

EXISTING_VPC = {
    "vpc_id": "vpc-0123456789abcdef0",
    "private_subnets": "subnet-0123456789abcdef1:us-west-2a:rtb-0123456789abcdef1,"
    "subnet-0123456789abcdef2:us-west-2b:rtb-0123456789abcdef2,"
    "subnet-0123456789abcdef3:us-west-2c:rtb-0123456789abcdef1",
}
EXISTING_EFS = {"efs_id": "fs-0123456789abcdef1"}
MOUNTED_EFS = {
    **EXISTING_EFS,
    "efs_mount_targets": "existing",
    "efs_security_group_id": "sg-0123456789abcdef1",
}
EXISTING_FSX = {
    "fsx_id": "fs-0123456789abcdef2",
    "fsx_mount_name": "abcdef12",
    "fsx_security_group_id": "sg-0123456789abcdef2",
}
EXISTING_BUCKET = {"bucket_name": "data-of-others", "bucket_prefix": "ml-platform"}

MATRIX: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    # Where: partitions, regions, an account.
    "virginia": {"aws_region": "us-east-1"},
    "oregon-of-an-account": {"aws_account": ACCOUNT, "aws_region": "us-west-2"},
    "frankfurt": {
        "aws_region": "eu-central-1",
        "availability_zones": "eu-central-1a,eu-central-1b,eu-central-1c",
    },
    "tokyo": {"aws_region": "ap-northeast-1", "fsx_deployment": "PERSISTENT_1"},
    "beijing": {
        "aws_region": "cn-north-1",
        "fsx_deployment": "PERSISTENT_1",
        "fsx_lustre_version": "2.12",
        # It has no P4d.
        "cluster_worker_instance_type": "p3.16xlarge",
        "eks_gpu_instance_type": "p3.16xlarge",
    },
    "govcloud": {"aws_region": "us-gov-west-1", "fsx_deployment": "SCRATCH_2"},
    # A new VPC.
    "old-addresses": {"vpc_cidr": "172.30.0.0/25"},
    "no-nat": {"nat_gateways": "0"},
    "two-zones": {"zone_count": "2"},
    "six-zones": {"zone_count": "6", "nat_gateways": "6"},
    "room-for-a-cluster": {
        "planned_instance_type": "ml.p4d.24xlarge",
        "planned_instance_count": "64",
    },
    "no-internet": {"internet_access": "false"},
    "endpoints": {"interface_endpoints": "all", "interface_endpoint_zones": "3"},
    # A VPC of others.
    "existing-vpc": EXISTING_VPC,
    "existing-vpc-with-all": {
        **EXISTING_VPC,
        "public_subnets": "subnet-0123456789abcdef4:us-west-2a",
        "training_security_group_id": "sg-0123456789abcdef0",
        "s3_endpoint": "existing",
        "flow_logs": "existing",
    },
    "existing-vpc-no-internet": {
        **EXISTING_VPC,
        "internet_access": "false",
        "notebook_wheels": "wheels",
    },
    # EFS.
    "existing-efs": EXISTING_EFS,
    "mounted-efs": MOUNTED_EFS,
    "provisioned-efs": {
        "efs_throughput_mode": "provisioned",
        "efs_provisioned_mibps": "100",
        "efs_infrequent_access_days": "none",
        "efs_backups": "false",
        "efs_root_access": "iam",
        "datasync": "true",
    },
    "bursting-efs": {"efs_throughput_mode": "bursting", "efs_infrequent_access_days": "7"},
    # FSx for Lustre.
    "scratch": {"fsx_deployment": "SCRATCH_2", "fsx_capacity_gib": "2400"},
    "import-path": {"fsx_deployment": "SCRATCH_2", "fsx_bucket_link": "import_path"},
    "no-fsx": {"fsx": "none"},
    "existing-fsx": EXISTING_FSX,
    "unlinked-fsx": {"fsx_bucket_link": "none"},
    "efa": {
        "fsx_efa": "true",
        "fsx_throughput_mbps_per_tib": "1000",
        "fsx_capacity_gib": "4800",
        "fsx_metadata_iops": "12000",
    },
    # The bucket.
    "existing-bucket": {**EXISTING_BUCKET, "bucket_encryption_key_arn": KEY},
    "own-key": {
        "aws_region": "us-west-2",
        "encryption_key_arn": KEY,
        "bucket_access_logs": "none",
        "bucket_prefix": "mask-rcnn/sagemaker",
        "datasync": "true",
    },
    "logs-elsewhere": {"bucket_access_logs": "logs-of-others"},
    # The notebook.
    "notebook-with-git": {
        "notebook_name": "vision",
        "notebook_git_repository": "https://git.example.org/vision/notebooks.git",
        "notebook_git_branch": "main",
        "notebook_git_secret_arn": f"arn:aws:secretsmanager:us-west-2:{ACCOUNT}:secret:git-AbCdEf",
        "notebook_idle_minutes": "0",
    },
    "rooted-notebook": {
        "notebook_root_access": "true",
        "notebook_volume_gib": "500",
        "notebook_instance_type": "ml.c5.9xlarge",
        "notebook_zone": "2",
    },
    # The registry.
    "no-builder": {"registry_builder": "none"},
    "pulled-by-others": {"registry_pull_accounts": f"210987654321,{ACCOUNT}"},
    # The cluster.
    "cluster-with-ssh": {
        "cluster_ssh_location": "203.0.113.0/24,2001:db8::/32",
        "cluster_key_name": "mine",
        "cluster_runs_in": "environment",
        "cluster_environment": "/opt/trainer",
        "efs_root_access": "iam",
    },
    "cluster-of-spot": {
        "cluster_worker_instance_type": "p3.16xlarge",
        "cluster_spot": "true",
        "cluster_workers": "2",
        "cluster_ssh_location": "0.0.0.0/0",
        "cluster_allow_open_ssh": "true",
        "fsx": "none",
    },
    "cluster-in-a-block": {
        "cluster_worker_instance_type": "p6-b300.48xlarge",
        "cluster_capacity_reservation_id": "cr-0123456789abcdef0",
        "cluster_capacity_block": "true",
        "cluster_max_workers": "64",
        "cluster_efa": "require",
    },
    "cluster-whose-head-trains": {
        "cluster_name": "vision",
        "cluster_head_instance_type": "p5.48xlarge",
        "cluster_worker_instance_type": "p5.48xlarge",
        "cluster_ami": "ami-0123456789abcdef0",
        "cluster_root_device": "/dev/xvda",
        "cluster_zone": "2",
        "cluster_volume_gib": "500",
        "cluster_setup_minutes": "57",
        "cluster_log_retention_days": "30",
    },
    "cluster-without-efa": {"cluster_efa": "none", "cluster_placement_group": "none"},
    # The Kubernetes cluster.
    "kubernetes-of-an-office": {
        "eks_api_cidrs": "203.0.113.0/24,198.51.100.7/32",
        "eks_admin_arns": f"arn:aws:iam::{ACCOUNT}:role/Admin,arn:aws:iam::{ACCOUNT}:user/jo",
        "eks_version": "1.36",
        "eks_system_instance_type": "m5.large",
        "eks_system_nodes": "3",
        "efs_root_access": "iam",
    },
    "kubernetes-of-spot": {
        "eks_gpu_instance_type": "p3.16xlarge",
        "eks_spot": "true",
        "eks_api_cidrs": "0.0.0.0/0",
        "eks_allow_open_api": "true",
        "fsx": "none",
    },
    "kubernetes-in-a-block": {
        "eks_name": "vision",
        "eks_gpu_instance_type": "p6-b300.48xlarge",
        "eks_capacity_reservation_id": "cr-0123456789abcdef0",
        "eks_capacity_block": "true",
        "eks_max_nodes": "64",
        "eks_zone": "2",
        "eks_node_release": "1.35.6-20260714",
        "eks_addon_versions": "vpc-cni=v1.20.4-eksbuild.1",
        "eks_volume_gib": "500",
        "eks_log_retention_days": "30",
    },
    "kubernetes-without-efa": {"eks_efa": "none", "eks_placement_group": "none"},
    # Whom jobs are told to.
    "notified": {
        "notify_emails": "jo@example.org,vision@example.org",
        "notify_webhook_secret_arn": "arn:aws:secretsmanager:us-west-2:"
        f"{ACCOUNT}:secret:hook-AbCdEf",
        "notify_states": "started,completed,failed,stopped",
    },
    # Every stack.
    "governed": {
        "aws_account": ACCOUNT,
        "aws_region": "us-west-2",
        "project": "segmentation",
        "permissions_boundary": f"arn:aws:iam::{ACCOUNT}:policy/boundary",
        "role_path": "/training/",
        "tags": "Team=Vision,CostCenter=42",
        "termination_protection": "true",
    },
    "nothing-new": {
        **EXISTING_VPC,
        **MOUNTED_EFS,
        **EXISTING_FSX,
        **EXISTING_BUCKET,
        "training_security_group_id": "sg-0123456789abcdef0",
        "s3_endpoint": "existing",
        "flow_logs": "existing",
        "efs_security_group_rules": "existing",
        "fsx_security_group_rules": "existing",
    },
    "everything-set": {
        "vpc_cidr": "10.8.0.0/20",
        "public_subnet_cidrs": "10.8.0.0/28",
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

EVERY_RESOURCE = (
    "default",
    "beijing",
    "six-zones",
    "no-internet",
    "existing-vpc",
    "mounted-efs",
    "provisioned-efs",
    "efa",
    "import-path",
    "own-key",
    "notebook-with-git",
    "rooted-notebook",
    "pulled-by-others",
    "cluster-with-ssh",
    "cluster-of-spot",
    "cluster-in-a-block",
    "kubernetes-of-an-office",
    "kubernetes-of-spot",
    "kubernetes-in-a-block",
    "notified",
    "nothing-new",
)
"""Rows that together have every kind of resource: linters take a second for each template."""

CHECKED_BY_CDK = "default"
"""The row that goes through CDK's own template checks too, off in app.py: they take seconds."""

USUAL_REGION = "us-west-2"
"""Where a row without a region is thought to be deployed."""

Template = dict[str, Any]


@dataclass(frozen=True)
class Synth:
    """What one synth left: stack name to template, and what the checks found."""

    templates: Mapping[str, Template]
    violations: tuple[Violation, ...]
    assembly: Path
    """The folder of CDK's own files."""


Synthesize = Callable[[str], Synth]
"""Of a row of the matrix; the `synth` fixture."""


def region(row: str) -> str:
    """Return where a row's templates are deployed."""
    return str(MATRIX[row].get("aws_region", USUAL_REGION))


def read_templates(assembly: Path) -> dict[str, Template]:
    """Return stack name to template, of all that are there."""
    return {
        stack: read_template(assembly, stack)
        for stack in (*STACKS, *OPTIONAL_STACKS)
        if stack in STACKS or (assembly / f"{stack}.template.json").exists()
    }


def read_template(assembly: Path, stack: str) -> Template:
    template: Template = json.loads((assembly / f"{stack}.template.json").read_text("utf-8"))
    return template


def construct_paths(assembly: Path, stack: str) -> dict[str, str]:
    """Return logical id to the path of the construct, as cdk-nag names it."""
    metadata = json.loads((assembly / f"{stack}.metadata.json").read_text("utf-8"))
    return {
        entry["data"]: path.removeprefix("/")
        for path, entries in metadata.items()
        for entry in entries
        if entry["type"] == "aws:cdk:logicalId"
    }


def resources(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    """Return logical id to resource, of one type."""
    return {
        logical_id: resource
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }


def properties(template: Template, resource_type: str) -> list[dict[str, Any]]:
    return [each.get("Properties", {}) for each in resources(template, resource_type).values()]


def all_resources(synth: Synth) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `Stack/LogicalId` and resource, of every stack."""
    for stack, template in synth.templates.items():
        for logical_id, resource in template["Resources"].items():
            yield f"{stack}/{logical_id}", resource


def environment_of_nobody() -> dict[str, str]:
    """Return this environment without account, region, credentials and pytest."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("AWS_", "CDK_", "PYTEST_"))
    }
