"""The tables as a whole: how many rows there are, and which findings no row shows."""

from __future__ import annotations

from collections import Counter

from tests.conftest import ROOT
from tests.training.preflight.situations import of_stacks, on_ec2, on_eks, on_sagemaker
from training.preflight.job import registry as of_jobs
from training.preflight.job.report import CODES_OF_PLANS
from training.preflight.stacks import registry as of_settings

JOBS = (on_sagemaker, on_ec2, on_eks)
TABLES = (*JOBS, of_stacks)


def test_there_are_sixty_broken_situations_and_twenty_sound_ones() -> None:
    assert sum(len(table.SITUATIONS) for table in TABLES) >= 60
    assert sum(len(table.SOUND) for table in TABLES) >= 20


def test_each_has_a_name_of_its_own() -> None:
    rows = [row for table in TABLES for row in (*table.SITUATIONS, *table.SOUND)]
    assert [name for name, times in Counter(row.name for row in rows).items() if times > 1] == []


def test_every_finding_about_a_job_is_shown_by_a_situation() -> None:
    shown = {code for table in JOBS for row in table.SITUATIONS for code, _, _ in row.finds}
    assert of_jobs.known_codes() | CODES_OF_PLANS == shown | set(NOT_SHOWN_OF_JOBS)
    assert shown & set(NOT_SHOWN_OF_JOBS) == set()


def test_every_finding_about_settings_is_shown_by_a_situation() -> None:
    shown = {code for row in of_stacks.SITUATIONS for code, _, _ in row.finds}
    assert of_settings.known_codes() == shown | set(NOT_SHOWN_OF_SETTINGS)
    assert shown & set(NOT_SHOWN_OF_SETTINGS) == set()


_LOCAL = "of platform local, which needs no account: tests/training/test_launch.py"
_HERE = "of containers on this machine: tests/training/preflight/job/test_here.py"
_TIME = "of a service that does not answer: tests/training/preflight/test_side_by_side.py"

NOT_SHOWN_OF_JOBS = {
    **dict.fromkeys(
        (
            *("data-channel-missing", "file-system-not-mounted", "horovod-missing"),
            *("host-discovery-missing", "interface-missing", "log-not-writable", "mpi-missing"),
        ),
        _LOCAL,
    ),
    **dict.fromkeys(("container-engine-missing", "spot-without-instances"), _HERE),
    **dict.fromkeys(("check-not-answered", "check-timed-out"), _TIME),
    **dict.fromkeys(
        ("environment-without-algorithm", "workers-without-gpu"),
        "of clusters with other nodes: tests/training/platforms/ec2/test_advice.py",
    ),
    "job-already-there": "of a launch that is repeated: preflight/job/test_places.py",
    "account-not-asked": "a remark of a dry run that asks nobody",
    "kubectl-other-version": "of the version of kubectl here: job/eks/test_inside.py",
}
"""Code to the reason why no situation shows it."""


def _told_by(test: str, *codes: str) -> dict[str, str]:
    """Return codes that settings alone bring about, or a rare state of one thing.

    Args:
        test: What shows them, with AWS in this process.
        codes: Which.
    """
    return dict.fromkeys(codes, f"tests/training/preflight/stacks/{test}.py")


NOT_SHOWN_OF_SETTINGS = {
    **dict.fromkeys(("check-not-answered", "check-not-permitted", "check-timed-out"), _TIME),
    **_told_by("test_account", "launcher-in-another-region", "settings-unfit-for-region"),
    **_told_by("test_survey", "region-not-enabled"),
    **_told_by("test_boundary", "boundary-missing", "boundary-of-another-account"),
    **_told_by(
        "test_bucket",
        *("bucket-in-another-region", "bucket-key-differs", "bucket-link-not-permitted"),
        *(
            "bucket-not-encrypted-with-kms",
            "bucket-of-another-account",
            "bucket-policy-denies-link",
        ),
    ),
    **_told_by(
        "test_cluster_ami",
        *("cluster-ami-driver-unknown", "cluster-ami-driver-unsuited", "cluster-ami-missing"),
        *("cluster-ami-not-available", "cluster-ami-of-other-architecture"),
        *("cluster-ami-parameter-missing", "cluster-ami-root-device-differs"),
        *("cluster-ami-too-large", "cluster-ami-without-driver"),
    ),
    **_told_by(
        "test_cluster_access", "cluster-endpoint-missing", "cluster-placement-of-several-types"
    ),
    **_told_by(
        "test_cluster_nodes",
        "cluster-quota-below-most-workers",
        *("cluster-quota-in-use", "cluster-quota-too-small", "cluster-type-not-in-zone"),
    ),
    **_told_by(
        "test_cluster_reservation",
        *("cluster-reservation-in-other-zone", "cluster-reservation-missing"),
        *("cluster-reservation-not-active", "cluster-reservation-of-other-kind"),
        *("cluster-reservation-of-other-type", "cluster-reservation-too-small"),
    ),
    **_told_by(
        "test_efs",
        *("efs-in-one-zone", "efs-not-available", "efs-not-encrypted"),
        *("efs-policy-squashes-root", "efs-security-group-missing", "efs-security-group-unused"),
    ),
    **_told_by(
        "test_lustre",
        *("fsx-mount-name-differs", "fsx-not-available", "fsx-not-lustre"),
        *("fsx-security-group-missing", "fsx-security-group-unused"),
    ),
    **_told_by("test_fsx_roles", "fsx-roles-not-permitted"),
    **_told_by(
        "test_interface_endpoints",
        *("endpoint-service-missing", "endpoint-service-not-in-zone"),
        *("interface-endpoint-exists", "interface-endpoint-is-our-own"),
        "interface-endpoint-missing",
    ),
    **_told_by(
        "test_instance_types",
        *("instance-type-not-in-fsx-zone", "instance-type-not-in-region"),
        *("instance-type-not-in-some-zones", "instance-type-not-in-zones"),
    ),
    **_told_by("test_keys", "key-in-another-region", "key-missing", "key-not-symmetric"),
    **_told_by(
        "test_kubernetes_control_plane",
        *("kubernetes-api-open", "kubernetes-name-taken", "kubernetes-version-lower"),
        *("kubernetes-version-skipped", "kubernetes-version-unknown"),
        *("kubernetes-version-unsupported", "kubernetes-without-admins"),
        "kubernetes-zone-unsupported",
    ),
    **_told_by(
        "test_deployed_settings",
        *("ends-gpu-nodes", "leaves-data-behind", "notebook-needs-new-name", "replaces-cluster"),
        *("replaces-file-system", "replaces-kubernetes", "replaces-kubernetes-nodes"),
        *("replaces-nodes", "replaces-notebook", "replaces-subnets", "replaces-vpc"),
    ),
    **_told_by("test_named_own", "named-is-our-own"),
    **_told_by("test_notebook_type", "notebook-quota-is-zero", "notebook-type-without-quota"),
    **_told_by("test_notebook_region", "notebooks-not-in-region"),
    **_told_by("test_wheels", "notebook-wheels-missing"),
    **_told_by("test_protection", "protection-dropped"),
    **_told_by("test_routes", "route-table-missing", "subnet-has-internet", "subnet-is-not-public"),
    **_told_by("test_s3_endpoint", "s3-endpoint-is-our-own"),
    **_told_by(
        "test_secret",
        *("git-secret-deleted", "git-secret-in-another-region", "git-secret-missing"),
        *("git-secret-not-read", "git-secret-without-keys"),
    ),
    **_told_by("test_stack_states", "stack-made-again", "stack-protected"),
    **_told_by("test_subnets", "subnet-missing"),
    **_told_by(
        "test_training_group",
        *("training-group-in-another-vpc", "training-group-without-efa"),
        "training-group-without-https",
    ),
    **_told_by("test_vpc", "vpc-of-dedicated-tenancy"),
    **_told_by(
        "test_zones",
        *("zone-unavailable", "zone-unknown", "zones-too-few", "zones-without-default-subnet"),
    ),
}
"""Code to the test that shows it, where no situation does."""


def test_what_no_situation_shows_has_a_test_of_its_own() -> None:
    for code, where in NOT_SHOWN_OF_SETTINGS.items():
        file = where.rpartition(": ")[2]
        assert code in (ROOT / file).read_text(encoding="utf-8"), (code, file)
