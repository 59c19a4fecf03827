"""Whether all that the settings name is in one region, and in its partition and account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacks.settings.arns import account_of, partition_of, partition_of_region, region_of
from stacks.settings.bucket import BucketSettings
from stacks.settings.general import GeneralSettings
from stacks.settings.network import NetworkSettings
from stacks.settings.notebook import NotebookSettings
from stacks.settings.notifications import NotificationSettings


@dataclass(frozen=True)
class Place:
    """A region, and the setting that says so."""

    setting: str
    """As in a message: `aws_region = us-west-2`."""
    region: str


def problems_of_places(
    general: GeneralSettings,
    network: NetworkSettings,
    bucket: BucketSettings,
    notebook: NotebookSettings,
    notifications: NotificationSettings,
) -> Iterator[str]:
    """Yield what is elsewhere, naming the keys, the values and what to do."""
    yield from _zones_in_region(general, network)
    place = _place_of(general, network)
    for key, arn, what, advice in _regional(bucket, notebook, notifications):
        if place is None:
            place = Place(f"{key} = {arn}", region_of(arn))
        elif region_of(arn) != place.region:
            yield f"{key} = {arn} is {what} another region than {place.setting}: {advice}"
    yield from _problems_of_boundary(general, place)


def _zones_in_region(general: GeneralSettings, network: NetworkSettings) -> Iterator[str]:
    region = general.aws_region
    for zone in network.zone_names or ():
        if region and zone[:-1] != region:
            yield (
                f"the zone {zone} is not in aws_region {region}: name zones of that region, or "
                "leave aws_region out"
            )


def _place_of(general: GeneralSettings, network: NetworkSettings) -> Place | None:
    """Return where the stacks will be, as far as the settings say."""
    if general.aws_region:
        return Place(f"aws_region = {general.aws_region}", general.aws_region)
    if network.zone_names:
        key = "private_subnets" if network.vpc_id else "availability_zones"
        region = network.zone_names[0][:-1]
        return Place(f"{key}, which is in {region}", region)
    return None


def _regional(
    bucket: BucketSettings, notebook: NotebookSettings, notifications: NotificationSettings
) -> Iterator[tuple[str, str, str, str]]:
    """Yield key, ARN, and what to say of one that is elsewhere: what it is, and what to do."""
    of_key = (
        "a key of",
        "a key encrypts only in its own region, so name one there, or set aws_region to it",
    )
    of_secret = ("of", "make the secret there too, and name that one")
    for key, arn, advice in (
        ("encryption_key_arn", bucket.storage_key_arn, of_key),
        ("bucket_encryption_key_arn", bucket.encryption_key_arn, of_key),
        ("notebook_git_secret_arn", notebook.git_secret_arn, of_secret),
        ("notify_webhook_secret_arn", notifications.webhook_secret_arn, of_secret),
    ):
        if arn:
            yield key, arn, *advice


def _problems_of_boundary(general: GeneralSettings, place: Place | None) -> Iterator[str]:
    arn = general.permissions_boundary
    if arn is None:
        return
    if place and partition_of(arn) != partition_of_region(place.region):
        yield (
            f"permissions_boundary = {arn} is of the partition {partition_of(arn)}, and "
            f"{place.setting} of {partition_of_region(place.region)}: name a policy there"
        )
    if general.aws_account and account_of(arn) not in (general.aws_account, "aws"):
        yield (
            f"permissions_boundary = {arn} is of another account than aws_account = "
            f"{general.aws_account}: a boundary is a policy of the same account, or AWS's own"
        )
