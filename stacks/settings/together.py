"""What does not go together across groups of settings."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.settings.address_room import problems_of_room
from stacks.settings.bucket import BucketSettings, region_of_key
from stacks.settings.fsx import FsxSettings
from stacks.settings.fsx_regions import problems_of_region
from stacks.settings.general import GeneralSettings
from stacks.settings.network import NetworkSettings
from stacks.settings.notebook import NotebookSettings


def problems(
    *,
    general: GeneralSettings,
    network: NetworkSettings,
    bucket: BucketSettings,
    fsx: FsxSettings,
    notebook: NotebookSettings,
) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    yield from _zones_in_region(general, network)
    yield from _fsx_zone_is_there(network, fsx)
    yield from problems_of_room(network, fsx)
    yield from _fsx_is_offered(general, fsx)
    yield from _keys_are_in_region(general, bucket)
    yield from _notebook_zone_is_there(network, notebook)
    yield from _notebook_gets_its_packages(network, bucket, notebook)
    yield from _notebook_reaches_git(general, network, notebook)


def _zones_in_region(general: GeneralSettings, network: NetworkSettings) -> Iterator[str]:
    region = general.aws_region
    for zone in network.zone_names or ():
        if region and zone[:-1] != region:
            yield (
                f"the zone {zone} is not in aws_region {region}: name zones of that region, or "
                "leave aws_region out"
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


def _keys_are_in_region(general: GeneralSettings, bucket: BucketSettings) -> Iterator[str]:
    region = general.aws_region
    keys = {
        "encryption_key_arn": bucket.storage_key_arn,
        "bucket_encryption_key_arn": bucket.encryption_key_arn,
    }
    for name, arn in keys.items():
        if region and arn and region_of_key(arn) != region:
            yield (
                f"{name} = {arn} is a key of another region than aws_region = {region}: a key "
                "encrypts only in its own region, so name one there, or set aws_region to it"
            )


def _notebook_zone_is_there(network: NetworkSettings, notebook: NotebookSettings) -> Iterator[str]:
    if notebook.zone and notebook.zone > network.number_of_zones:
        yield (
            f"notebook_zone = {notebook.zone}, but there are {network.number_of_zones} private "
            f"subnets: take 1 to {network.number_of_zones}"
        )


def _notebook_gets_its_packages(
    network: NetworkSettings, bucket: BucketSettings, notebook: NotebookSettings
) -> Iterator[str]:
    folder, prefix = notebook.wheels, bucket.prefix
    if not network.internet_access and not folder:
        yield (
            "internet_access = false, so the notebook cannot get its Python packages from PyPI: "
            "name a folder of the bucket with notebook_wheels, such as "
            f"{prefix + '/' if prefix else ''}notebook/wheels, and fill it as docs/guide.md says"
        )
    if folder and prefix and not folder.startswith(f"{prefix}/"):
        yield (
            f"notebook_wheels = {folder} is not below bucket_prefix = {prefix}, which is all of "
            f"the bucket that the notebook may read: take {prefix}/{folder}"
        )


def _notebook_reaches_git(
    general: GeneralSettings, network: NetworkSettings, notebook: NotebookSettings
) -> Iterator[str]:
    if notebook.git_repository and not network.internet_access and not network.vpc_id:
        yield (
            f"notebook_git_repository = {notebook.git_repository} cannot be reached with "
            "internet_access = false: leave it out, set internet_access to true, or name a VPC "
            "with a way to it (vpc_id)"
        )
    region, secret = general.aws_region, notebook.git_secret_arn
    if region and secret and secret.split(":")[3] != region:
        yield (
            f"notebook_git_secret_arn = {secret} is of another region than aws_region = {region}: "
            "make the secret there too, and name that one"
        )
