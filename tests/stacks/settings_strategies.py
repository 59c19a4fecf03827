"""Draws settings: any value of any key, and combinations that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from stacks.endpoint_services import BY_NAME
from stacks.settings import Settings
from stacks.settings.log_retention import RETENTION_DAYS
from tests.stacks.matrix import (
    ACCOUNT,
    EXISTING_BUCKET,
    EXISTING_EFS,
    EXISTING_FSX,
    EXISTING_VPC,
    KEY,
    MATRIX,
    MOUNTED_EFS,
)
from training.instances import INSTANCES

Context = dict[str, Any]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
"""What cdk.json can hold for a key."""

any_setting = st.tuples(st.sampled_from(sorted(Settings.allowed())), json_values)


def _sensible_values() -> dict[str, list[Any]]:
    """Return key to the values that the matrix and this module know, right on their own."""
    values: dict[str, list[Any]] = {key: [""] for key in Settings.allowed()}
    for row in MATRIX.values():
        for key, value in row.items():
            values[key].append(value)
    return values


any_combination = st.lists(
    st.sampled_from(
        [(key, value) for key, values in _sensible_values().items() for value in values]
    ),
    max_size=6,
).map(dict)
"""Values that are right on their own, and may contradict each other."""


def some(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Context]:
    """Draw some of the keys, with values as `-c` gives them."""
    return st.fixed_dictionaries({}, optional=keys).map(
        lambda drawn: {key: text(value) for key, value in drawn.items()}
    )


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def fixed(*choices: Mapping[str, Any]) -> st.SearchStrategy[Context]:
    return st.sampled_from(choices).map(dict)


def merged(*parts: st.SearchStrategy[Context]) -> st.SearchStrategy[Context]:
    return st.tuples(*parts).map(lambda drawn: {k: v for part in drawn for k, v in part.items()})


folders = st.from_regex(r"[a-z][a-z0-9-]{0,8}(/[a-z][a-z0-9-]{0,8})?", fullmatch=True)

general = some(
    project=st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}", fullmatch=True),
    tags=st.dictionaries(
        st.from_regex(r"[A-Z][A-Za-z]{1,8}x", fullmatch=True), folders, max_size=3
    ).map(lambda tags: ",".join(f"{name}={value}" for name, value in tags.items())),
    termination_protection=st.booleans(),
    permissions_boundary=st.just(f"arn:aws:iam::{ACCOUNT}:policy/boundary"),
    role_path=st.sampled_from(["/", "/training/", "/a/b/"]),
)

endpoints = some(
    interface_endpoints=st.sampled_from(["none", "needed", "all"])
    | st.lists(st.sampled_from(sorted(BY_NAME)), min_size=1, unique=True).map(",".join),
    interface_endpoint_zones=st.integers(1, 2),
)

new_vpc = merged(
    some(
        vpc_cidr=st.sampled_from(["10.0.0.0/16", "10.20.0.0/18", "192.168.4.0/22"]),
        zone_count=st.integers(2, 6),
        nat_gateways=st.integers(0, 2),
        flow_log_retention_days=st.sampled_from(RETENTION_DAYS),
    ),
    endpoints,
)
closed_vpc = merged(
    some(zone_count=st.integers(2, 6), vpc_cidr=st.just("10.0.0.0/16")),
    fixed({"internet_access": "false", "notebook_wheels": "wheels"}),
)
existing_vpc = merged(
    fixed(EXISTING_VPC),
    some(
        training_security_group_id=st.just("sg-0123456789abcdef0"),
        s3_endpoint=st.sampled_from(["create", "existing"]),
        flow_logs=st.sampled_from(["create", "existing"]),
    ),
    endpoints,
)

efs = st.one_of(
    some(
        efs_throughput_mode=st.sampled_from(["elastic", "bursting"]),
        efs_infrequent_access_days=st.sampled_from(["none", 1, 30, 365]),
        efs_backups=st.booleans(),
        efs_root_access=st.sampled_from(["anyone", "iam"]),
    ),
    fixed(EXISTING_EFS, MOUNTED_EFS),
)

association = some(
    fsx_capacity_gib=st.integers(1, 40).map(lambda steps: steps * 2400) | st.just(1200),
    fsx_compression=st.sampled_from(["LZ4", "NONE"]),
    fsx_data_path=folders.map(lambda folder: f"/{folder}"),
    fsx_zone=st.integers(1, 2),
    fsx_removal=st.sampled_from(["destroy", "retain"]),
    fsx_import_events=st.sampled_from(["none", "NEW", "NEW,DELETED"]),
    fsx_export_events=st.sampled_from(["none", "CHANGED", "NEW,CHANGED,DELETED"]),
)
fsx = st.one_of(
    merged(association, some(fsx_throughput_mbps_per_tib=st.sampled_from([125, 250, 500, 1000]))),
    merged(association, fixed({"fsx_deployment": "SCRATCH_2"})),
    fixed(
        EXISTING_FSX,
        {"fsx": "none"},
        {"fsx_deployment": "PERSISTENT_1", "fsx_bucket_link": "import_path"},
        {"fsx_bucket_link": "none"},
    ),
)

bucket = st.one_of(
    some(
        bucket_prefix=folders,
        bucket_access_logs=st.sampled_from(["create", "none", "logs-of-others"]),
        bucket_old_version_days=st.integers(1, 400),
        bucket_incomplete_upload_days=st.integers(1, 30),
        encryption_key_arn=st.just(KEY),
    ),
    fixed(EXISTING_BUCKET, {**EXISTING_BUCKET, "bucket_encryption_key_arn": KEY}),
)

notebook = merged(
    some(
        notebook_name=st.from_regex(r"[a-z][a-z0-9]{0,20}", fullmatch=True),
        notebook_instance_type=st.sampled_from(["ml.t3.medium", "ml.m5.2xlarge", "ml.c5.xlarge"]),
        notebook_volume_gib=st.integers(200, 500),
        notebook_root_access=st.booleans(),
        notebook_idle_minutes=st.sampled_from([0, 10, 600]),
        notebook_zone=st.integers(1, 2),
        notebook_wheels=folders,
    ),
    fixed({}, {"notebook_git_repository": "https://git.example.org/a/b.git"}),
)

notifications = merged(
    fixed({"notify_emails": "jo@example.org"}),
    some(notify_states=st.sampled_from(["", "failed", "started,completed"])),
)

registry = some(
    registry_pull_accounts=st.sampled_from(["", ACCOUNT, f"{ACCOUNT},210987654321"]),
    registry_kept_images=st.integers(1, 1000),
    registry_untagged_days=st.integers(1, 365),
)

cluster = st.one_of(
    merged(
        some(
            cluster_name=st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,62}", fullmatch=True),
            cluster_head_instance_type=st.sampled_from(["m6i.xlarge", "g5.12xlarge", "p3.2xlarge"]),
            cluster_workers=st.integers(0, 4),
            cluster_max_workers=st.integers(1, 20),
            cluster_zone=st.integers(1, 2),
            cluster_efa=st.sampled_from(["auto", "none"]),
            cluster_spot=st.booleans(),
            cluster_key_name=st.sampled_from(["", "a key of mine"]),
            cluster_ami=st.sampled_from(["", "ami-0123456789abcdef0"]),
            cluster_runs_in=st.sampled_from(["image", "environment"]),
            cluster_volume_gib=st.integers(100, 2000),
            cluster_setup_minutes=st.integers(5, 57),
        ),
        some(
            cluster_worker_instance_type=st.sampled_from(
                [instance.name for instance in INSTANCES if instance.architecture == "x86_64"]
            )
            | st.sampled_from(["c7i.large", "t3.large", "m7i-flex.xlarge"]),
        ),
    ),
    some(
        cluster_ssh_location=st.lists(
            st.integers(8, 32).map(lambda prefix: f"203.0.0.0/{max(prefix, 8)}"), max_size=3
        ).map(",".join),
        cluster_worker_instance_type=st.sampled_from(["p4d.24xlarge", "g5.xlarge"]),
    ),
    merged(
        fixed({"cluster_capacity_reservation_id": "cr-0123456789abcdef0"}),
        some(
            cluster_capacity_block=st.booleans(),
            cluster_worker_instance_type=st.sampled_from(["p5.48xlarge", "p6-b200.48xlarge"]),
        ),
    ),
)

matching = merged(
    general,
    registry,
    bucket,
    efs,
    fsx,
    notebook,
    cluster,
    st.one_of(fixed({}), notifications),
    st.one_of(new_vpc, closed_vpc, existing_vpc),
)
"""Settings that go together, but for a few that contradict each other across the parts."""
