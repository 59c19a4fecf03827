"""What does not go together across groups of settings."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.settings.address_room import problems_of_room
from stacks.settings.bucket import BucketSettings
from stacks.settings.cluster import ClusterSettings
from stacks.settings.cluster_rules import problems_of_cluster_place
from stacks.settings.efs import EfsSettings
from stacks.settings.fsx import FsxSettings
from stacks.settings.fsx_regions import problems_of_region
from stacks.settings.general import GeneralSettings
from stacks.settings.kubernetes import KubernetesSettings
from stacks.settings.kubernetes_rules import problems_of_admins, problems_of_kubernetes_place
from stacks.settings.network import NetworkSettings
from stacks.settings.notebook import NotebookSettings
from stacks.settings.notifications import NotificationSettings
from stacks.settings.places import problems_of_places


def problems(
    *,
    general: GeneralSettings,
    network: NetworkSettings,
    bucket: BucketSettings,
    efs: EfsSettings,
    fsx: FsxSettings,
    notebook: NotebookSettings,
    cluster: ClusterSettings,
    kubernetes: KubernetesSettings,
    notifications: NotificationSettings,
) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    yield from problems_of_places(general, network, bucket, notebook, notifications)
    yield from _file_systems_are_two(efs, fsx)
    yield from _fsx_zone_is_there(network, fsx)
    yield from problems_of_room(network, fsx)
    yield from _fsx_is_offered(general, fsx)
    yield from _notebook_zone_is_there(network, notebook)
    yield from _notebook_may_read_its_packages(bucket, notebook)
    yield from _notebook_reaches_git(network, notebook)
    yield from problems_of_cluster_place(cluster, network, zone_of_cluster(cluster, fsx))
    yield from problems_of_admins(kubernetes, general)
    yield from problems_of_kubernetes_place(
        kubernetes, network, zone_of_kubernetes(kubernetes, fsx)
    )


def zone_of_cluster(cluster: ClusterSettings, fsx: FsxSettings) -> int:
    """Return the number of the cluster's private subnet: near FSx, which is in one zone."""
    return cluster.zone or (fsx.zone if fsx.is_wanted else 1)


def zone_of_kubernetes(kubernetes: KubernetesSettings, fsx: FsxSettings) -> int:
    """Return the number of the private subnet of EKS's GPU nodes: near FSx, too."""
    return kubernetes.zone or (fsx.zone if fsx.is_wanted else 1)


def _file_systems_are_two(efs: EfsSettings, fsx: FsxSettings) -> Iterator[str]:
    if efs.file_system_id and fsx.is_wanted and efs.file_system_id == fsx.file_system_id:
        yield (
            f"efs_id and fsx_id are both {fsx.file_system_id}, which is a file system of one kind: "
            "leave the wrong one out"
        )


def _fsx_zone_is_there(network: NetworkSettings, fsx: FsxSettings) -> Iterator[str]:
    if fsx.is_wanted and fsx.zone > network.number_of_zones:
        yield (
            f"fsx_zone = {fsx.zone}, but there are {network.number_of_zones} private subnets: "
            f"take 1 to {network.number_of_zones}"
        )


def _fsx_is_offered(general: GeneralSettings, fsx: FsxSettings) -> Iterator[str]:
    if general.aws_region and fsx.is_new:
        yield from problems_of_region(
            general.aws_region,
            deployment=fsx.deployment,
            lustre_version=fsx.lustre_version,
            throughput_mbps_per_tib=fsx.effective_throughput_mbps_per_tib,
            efa=fsx.efa,
        )


def _notebook_zone_is_there(network: NetworkSettings, notebook: NotebookSettings) -> Iterator[str]:
    if notebook.zone and notebook.zone > network.number_of_zones:
        yield (
            f"notebook_zone = {notebook.zone}, but there are {network.number_of_zones} private "
            f"subnets: take 1 to {network.number_of_zones}"
        )


def _notebook_may_read_its_packages(
    bucket: BucketSettings, notebook: NotebookSettings
) -> Iterator[str]:
    folder, prefix = notebook.wheels, bucket.prefix
    if folder and prefix and not folder.startswith(f"{prefix}/"):
        yield (
            f"notebook_wheels = {folder} is not below bucket_prefix = {prefix}, which is all of "
            f"the bucket that the notebook may read: take {prefix}/{folder}"
        )


def _notebook_reaches_git(network: NetworkSettings, notebook: NotebookSettings) -> Iterator[str]:
    if notebook.git_repository and not network.internet_access and not network.vpc_id:
        yield (
            f"notebook_git_repository = {notebook.git_repository} cannot be reached with "
            "internet_access = false: leave it out, set internet_access to true, or name a VPC "
            "with a way to it (vpc_id)"
        )
