"""Which settings of FSx for Lustre are accepted, and how a mistake is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings import Settings
from stacks.settings.fsx import FsxSettings
from stacks.settings.fsx_regions import DEPLOYMENTS, MISSING
from stacks.settings.fsx_rules import EFA_STEP_GIB, THROUGHPUTS_MBPS_PER_TIB
from training.errors import UsageError

FSX = "fs-0123456789abcdef0"
EXISTING = {
    "fsx_id": FSX,
    "fsx_mount_name": "abcdefgh",
    "fsx_security_group_id": "sg-0123456789abcdef0",
}
SOURCE = "(https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html)"

SOURCE_FOR_CHINA = "(https://docs.amazonaws.cn/en_us/fsx/latest/LustreGuide/using-fsx-lustre.html)"


def read(**context: Any) -> FsxSettings:
    return Settings.from_context(context).fsx


def test_by_default_a_persistent_file_system_follows_the_bucket_both_ways() -> None:
    settings = read()
    assert (settings.deployment, settings.capacity_gib) == ("PERSISTENT_2", 1200)
    assert settings.bucket_link == "association"
    assert settings.import_events == settings.export_events == ("NEW", "CHANGED", "DELETED")
    assert settings.removal == "destroy"


@pytest.mark.parametrize(
    ("deployment", "throughput"), [("PERSISTENT_2", 125), ("PERSISTENT_1", 50), ("SCRATCH_2", None)]
)
def test_the_slowest_throughput_is_taken_where_none_is_given(
    deployment: str, throughput: int | None
) -> None:
    assert read(fsx_deployment=deployment).effective_throughput_mbps_per_tib == throughput


@pytest.mark.parametrize(
    ("context", "prefix", "path"),
    [
        ({}, None, "/data"),
        ({}, "ml-platform", "/data"),
        ({"fsx_data_path": "/"}, None, "/"),
        ({"fsx_bucket_link": "none"}, None, "/"),
        ({"fsx_bucket_link": "none", "fsx_data_path": "/scratch"}, None, "/scratch"),
        (EXISTING, "ml-platform", "/"),
        ({**EXISTING, "fsx_data_path": "/ml"}, None, "/ml"),
        ({"fsx_deployment": "SCRATCH_2", "fsx_bucket_link": "import_path"}, None, "/"),
        (
            {"fsx_deployment": "SCRATCH_2", "fsx_bucket_link": "import_path"},
            "mask-rcnn/sagemaker",
            "/mask-rcnn/sagemaker",
        ),
    ],
)
def test_jobs_look_where_the_bucket_is_mirrored(
    context: dict[str, str], prefix: str | None, path: str
) -> None:
    assert read(**context).effective_data_path(prefix) == path


@pytest.mark.parametrize(
    ("text", "events"),
    [("none", ()), ("", ()), ("NEW", ("NEW",)), ("DELETED,NEW", ("NEW", "DELETED"))],
)
def test_events_are_a_list_in_any_order(text: str, events: tuple[str, ...]) -> None:
    assert read(fsx_import_events=text).import_events == events
    assert read(fsx_export_events=text).export_events == events


def test_without_fsx_the_other_keys_wait_until_it_is_wanted_again() -> None:
    settings = read(fsx="none", fsx_deployment="SCRATCH_2", fsx_zone="6", fsx_efa="true")
    assert not settings.is_wanted
    with pytest.raises(UsageError, match="fsx_efa = true does not go with"):
        read(fsx_deployment="SCRATCH_2", fsx_efa="true")


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"fsx": "maybe"}, "context key fsx = 'maybe': allowed is create or none"),
        (
            {"fsx_capacity_gib": "1300"},
            "context key fsx_capacity_gib = '1300': FSx for Lustre does not offer it; allowed is "
            "1200 or a multiple of 2400",
        ),
        (
            {"fsx_deployment": "scratch"},
            "context key fsx_deployment = 'scratch': allowed is PERSISTENT_2, PERSISTENT_1 or "
            "SCRATCH_2",
        ),
        (
            {"fsx_data_path": "data"},
            "context key fsx_data_path = 'data': allowed is an absolute folder such as /data, or "
            "/ for all of it; at most 1024 characters",
        ),
        (
            {"fsx_zone": "4"},
            "context: fsx_zone = 4, but there are 3 private subnets: take 1 to 3",
        ),
        (
            {"fsx_throughput_mbps_per_tib": "200"},
            "context: fsx_throughput_mbps_per_tib = 200: allowed for PERSISTENT_2 are 125, 250, "
            "500, 1000",
        ),
        (
            {"fsx_deployment": "PERSISTENT_1", "fsx_throughput_mbps_per_tib": "125"},
            "context: fsx_throughput_mbps_per_tib = 125: allowed for PERSISTENT_1 are 50, 100, 200",
        ),
        (
            {"fsx_deployment": "SCRATCH_2", "fsx_throughput_mbps_per_tib": "250"},
            "context: fsx_throughput_mbps_per_tib = 250 does not go with fsx_deployment = "
            "SCRATCH_2, whose throughput is fixed at 200: leave it out",
        ),
        (
            {"fsx_bucket_link": "import_path"},
            "context: fsx_bucket_link = import_path does not go with fsx_deployment = "
            "PERSISTENT_2: take fsx_bucket_link = association, or fsx_deployment = SCRATCH_2",
        ),
        (
            {
                "fsx_deployment": "SCRATCH_2",
                "fsx_bucket_link": "import_path",
                "fsx_import_events": "DELETED",
            },
            "context: fsx_import_events = DELETED does not go with fsx_bucket_link = import_path: "
            "take none, NEW, or NEW,CHANGED, or all three",
        ),
        (
            {
                "fsx_deployment": "SCRATCH_2",
                "fsx_bucket_link": "import_path",
                "fsx_export_events": "NEW",
            },
            "context: fsx_export_events does not go with fsx_bucket_link = import_path: leave it "
            "out, or take fsx_bucket_link = association",
        ),
        (
            {
                "fsx_deployment": "SCRATCH_2",
                "fsx_bucket_link": "import_path",
                "fsx_data_path": "/data",
            },
            "context: fsx_data_path = /data does not go with fsx_bucket_link = import_path, which "
            "mirrors the bucket from the root on: leave it out",
        ),
        (
            {"fsx_bucket_link": "none", "fsx_import_events": "NEW"},
            "context: fsx_import_events does not go with fsx_bucket_link = none: leave it out, or "
            "take fsx_bucket_link = association",
        ),
        (
            {"fsx_metadata_iops": "5000"},
            "context key fsx_metadata_iops = '5000': FSx for Lustre does not offer it; allowed is "
            "1500, 3000, 6000, or a multiple of 12000 up to 192000, for PERSISTENT_2",
        ),
        (
            {"fsx_deployment": "PERSISTENT_1", "fsx_metadata_iops": "6000"},
            "context: fsx_metadata_iops = 6000 does not go with fsx_deployment = PERSISTENT_1: "
            "leave it out, or take fsx_deployment = PERSISTENT_2",
        ),
        (
            {"fsx_efa": "true"},
            "context: fsx_capacity_gib = 1200 does not go with fsx_efa = true at "
            "fsx_throughput_mbps_per_tib = 125: take a multiple of 38400 (the steps are 38400 at "
            "125, 19200 at 250, 9600 at 500, 4800 at 1000)",
        ),
        (
            {"fsx_efa": "true", "fsx_deployment": "SCRATCH_2"},
            "context: fsx_efa = true does not go with fsx_deployment = SCRATCH_2: leave it out, "
            "or take fsx_deployment = PERSISTENT_2",
        ),
        (
            {"fsx_mount_name": "abcdefgh"},
            "context: fsx_mount_name is for an existing file system: name it with fsx_id, or "
            "leave fsx_mount_name out",
        ),
        (
            {"fsx_id": FSX},
            f"context: fsx_id = {FSX} wants fsx_mount_name too (aws fsx describe-file-systems "
            "shows it)",
        ),
        (
            {"fsx_id": FSX, "fsx_mount_name": "abcdefgh"},
            f"context: fsx_id = {FSX} wants fsx_security_group_id too (of the file system's "
            "network interfaces)",
        ),
        (
            {**EXISTING, "fsx_removal": "retain"},
            f"context: fsx_removal is for a new file system, but fsx_id = {FSX} names an existing "
            "one, which stays as it is: leave fsx_removal or fsx_id out",
        ),
        (
            {"aws_region": "us-gov-west-1"},
            "context: fsx_deployment = PERSISTENT_2 is not offered in us-gov-west-1: take "
            f"PERSISTENT_1 or SCRATCH_2, or fsx = none {SOURCE}",
        ),
        (
            {
                "aws_region": "cn-north-1",
                "fsx_deployment": "SCRATCH_2",
                "fsx_lustre_version": "2.12",
            },
            "context: fsx_deployment = SCRATCH_2 is not offered in cn-north-1: take PERSISTENT_1, "
            f"or fsx = none {SOURCE_FOR_CHINA}",
        ),
        (
            {"aws_region": "cn-north-1"},
            "context: fsx_deployment = PERSISTENT_2 and fsx_lustre_version = 2.15 are not offered "
            "in cn-north-1: for fsx_deployment take PERSISTENT_1, or fsx = none; for "
            f"fsx_lustre_version take 2.12 {SOURCE_FOR_CHINA}",
        ),
        (
            {"aws_region": "cn-northwest-1", "fsx_deployment": "PERSISTENT_1"},
            "context: fsx_lustre_version = 2.15 is not offered in cn-northwest-1: take 2.12 "
            f"{SOURCE_FOR_CHINA}",
        ),
        (
            {"fsx_lustre_version": "2.12", "fsx_metadata_iops": "6000"},
            "context: fsx_metadata_iops = 6000 does not go with fsx_lustre_version = 2.12: leave "
            "fsx_lustre_version out",
        ),
        (
            {"aws_region": "ca-west-1", "fsx_throughput_mbps_per_tib": "500"},
            "context: fsx_throughput_mbps_per_tib = 500 is not offered in ca-west-1: take 125 or "
            f"250 {SOURCE}",
        ),
        (
            {
                "aws_region": "ca-west-1",
                "fsx_efa": "true",
                "fsx_throughput_mbps_per_tib": "1000",
                "fsx_capacity_gib": "4800",
            },
            "context: fsx_throughput_mbps_per_tib = 1000 and fsx_efa = true are not offered in "
            "ca-west-1: for fsx_throughput_mbps_per_tib take 125 or 250; for fsx_efa leave it out "
            f"{SOURCE}",
        ),
        (
            {"aws_region": "ca-west-1", "fsx_efa": "true", "fsx_capacity_gib": "38400"},
            f"context: fsx_efa = true is not offered in ca-west-1: leave it out {SOURCE}",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(context: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert str(error.value) == message


@given(
    tier=st.sampled_from(sorted(EFA_STEP_GIB)), steps=st.integers(1, 50), extra=st.integers(0, 3)
)
def test_efa_wants_whole_steps_of_its_tier(tier: int, steps: int, extra: int) -> None:
    gib = EFA_STEP_GIB[tier] * steps + 2400 * extra
    context = {
        "fsx_efa": "true",
        "fsx_throughput_mbps_per_tib": str(tier),
        "fsx_capacity_gib": str(gib),
    }
    if gib % EFA_STEP_GIB[tier] == 0:
        assert read(**context).capacity_gib == gib
    else:
        with pytest.raises(UsageError, match=f"take a multiple of {EFA_STEP_GIB[tier]} "):
            read(**context)


def test_a_region_that_the_list_does_not_know_is_not_refused() -> None:
    for deployment in DEPLOYMENTS:
        assert read(aws_region="xx-nowhere-9", fsx_deployment=deployment).deployment == deployment


def test_every_region_of_the_list_offers_something_and_every_type_is_offered_somewhere() -> None:
    regions = set.union(*(set(missing) for missing in MISSING.values()))
    assert [r for r in regions if all(r in MISSING[each] for each in DEPLOYMENTS)] == []
    assert set(MISSING) == set(DEPLOYMENTS) == set(THROUGHPUTS_MBPS_PER_TIB)
