"""What FSx for Lustre does not offer together, and what goes with a new or an existing one only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from stacks.settings.fsx_regions import Deployment

if TYPE_CHECKING:
    from stacks.settings.fsx import FsxSettings

# What each deployment type offers with SSD storage:
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
THROUGHPUTS_MBPS_PER_TIB: Mapping[Deployment, tuple[int, ...]] = {
    "PERSISTENT_2": (125, 250, 500, 1000),
    "PERSISTENT_1": (50, 100, 200),
    "SCRATCH_2": (),
}
"""For each TiB of capacity; the first is the default. Scratch has 200, and no choice."""

EFA_STEP_GIB = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""Capacity comes in multiples of it where EFA is on, by throughput.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html
"""

Event = Literal["NEW", "CHANGED", "DELETED"]
EVENTS: tuple[Event, ...] = ("NEW", "CHANGED", "DELETED")
"""In the order in which ImportPath can take them in: the first, the first two, or all."""

ONLY_FOR_AN_EXISTING_ONE = ("mount_name", "security_group_id", "security_group_rules")
ONLY_FOR_A_NEW_ONE = (
    "deployment",
    "lustre_version",
    "capacity_gib",
    "throughput_mbps_per_tib",
    "metadata_iops",
    "compression",
    "efa",
    "bucket_link",
    "import_events",
    "export_events",
    "removal",
)


def problems_of_fsx(settings: FsxSettings) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    if not settings.is_wanted:
        return
    if settings.file_system_id is not None:
        yield from _problems_of_an_existing_one(settings)
        return
    for name in settings.given(ONLY_FOR_AN_EXISTING_ONE):
        yield (
            f"fsx_{name} is for an existing file system: name it with fsx_id, or leave "
            f"fsx_{name} out"
        )
    yield from _problems_of_throughput(settings)
    yield from _problems_of_link(settings)
    yield from _problems_of_metadata(settings)
    yield from _problems_of_efa(settings)


def _problems_of_an_existing_one(settings: FsxSettings) -> Iterator[str]:
    for name in settings.given(ONLY_FOR_A_NEW_ONE):
        yield (
            f"fsx_{name} is for a new file system, but fsx_id = {settings.file_system_id} names "
            f"an existing one, which stays as it is: leave fsx_{name} or fsx_id out"
        )
    found_where = {
        "mount_name": "aws fsx describe-file-systems shows it",
        "security_group_id": "of the file system's network interfaces",
    }
    for name, where in found_where.items():
        if getattr(settings, name) is None:
            yield f"fsx_id = {settings.file_system_id} wants fsx_{name} too ({where})"


def _problems_of_throughput(settings: FsxSettings) -> Iterator[str]:
    throughput = settings.throughput_mbps_per_tib
    offered = THROUGHPUTS_MBPS_PER_TIB[settings.deployment]
    if throughput is None or throughput in offered:
        return
    if not offered:
        yield (
            f"fsx_throughput_mbps_per_tib = {throughput} does not go with fsx_deployment = "
            f"{settings.deployment}, whose throughput is fixed at 200: leave it out"
        )
    else:
        yield (
            f"fsx_throughput_mbps_per_tib = {throughput}: allowed for {settings.deployment} are "
            + ", ".join(map(str, offered))
        )


def _problems_of_link(settings: FsxSettings) -> Iterator[str]:
    link = settings.bucket_link
    if link == "import_path" and settings.deployment == "PERSISTENT_2":
        yield (
            "fsx_bucket_link = import_path does not go with fsx_deployment = PERSISTENT_2: "
            "take fsx_bucket_link = association, or fsx_deployment = SCRATCH_2"
        )
    if link == "import_path" and settings.import_events != EVENTS[: len(settings.import_events)]:
        yield (
            f"fsx_import_events = {','.join(settings.import_events)} does not go with "
            "fsx_bucket_link = import_path: take none, NEW, or NEW,CHANGED, or all three"
        )
    if link == "import_path" and settings.given(["data_path"]):
        yield (
            f"fsx_data_path = {settings.data_path} does not go with fsx_bucket_link = "
            "import_path, which mirrors the bucket from the root on: leave it out"
        )
    unused: Mapping[str, tuple[str, ...]] = {
        "association": (),
        "import_path": ("export_events",),
        "none": ("import_events", "export_events"),
    }
    for name in settings.given(unused[link]):
        yield (
            f"fsx_{name} does not go with fsx_bucket_link = {link}: leave it out, or take "
            "fsx_bucket_link = association"
        )


def _problems_of_metadata(settings: FsxSettings) -> Iterator[str]:
    wants = "fsx_efa = true" if settings.efa else f"fsx_metadata_iops = {settings.metadata_iops}"
    if (settings.efa or settings.metadata_iops is not None) and settings.lustre_version != "2.15":
        yield (
            f"{wants} does not go with fsx_lustre_version = {settings.lustre_version}: leave "
            "fsx_lustre_version out"
        )
    if settings.metadata_iops is not None and settings.deployment != "PERSISTENT_2":
        yield (
            f"fsx_metadata_iops = {settings.metadata_iops} does not go with fsx_deployment = "
            f"{settings.deployment}: leave it out, or take fsx_deployment = PERSISTENT_2"
        )


def _problems_of_efa(settings: FsxSettings) -> Iterator[str]:
    if not settings.efa:
        return
    if settings.deployment != "PERSISTENT_2":
        yield (
            f"fsx_efa = true does not go with fsx_deployment = {settings.deployment}: leave it "
            "out, or take fsx_deployment = PERSISTENT_2"
        )
        return
    throughput = settings.effective_throughput_mbps_per_tib
    step = EFA_STEP_GIB[throughput or 0]
    if settings.capacity_gib % step:
        steps = ", ".join(f"{gib} at {mbps}" for mbps, gib in EFA_STEP_GIB.items())
        yield (
            f"fsx_capacity_gib = {settings.capacity_gib} does not go with fsx_efa = true at "
            f"fsx_throughput_mbps_per_tib = {throughput}: take a multiple of {step} "
            f"(the steps are {steps})"
        )
