"""The checks of file systems, bucket and keys: which apply to given settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from training.preflight.check import Check
from training.preflight.efs_policy import EfsPolicyAdmitsJobs
from training.preflight.stacks import quota, usage
from training.preflight.stacks.bucket import BucketIsFit, LogBucketIsThere
from training.preflight.stacks.bucket_link import BucketCanBeLinked
from training.preflight.stacks.deployment import STORAGE, Deployment
from training.preflight.stacks.efs import EfsIsFit, MountTargetsAreAsSaid
from training.preflight.stacks.efs_access import MountTargetsAdmitJobs
from training.preflight.stacks.fsx_roles import FsxRolesCanBeMade
from training.preflight.stacks.keys import KeyAdmitsFsx, KeyIsFit
from training.preflight.stacks.lustre import LustreAdmitsJobs, LustreIsFit

ALL: tuple[type[Check], ...] = (
    EfsIsFit,
    MountTargetsAreAsSaid,
    EfsPolicyAdmitsJobs,
    MountTargetsAdmitJobs,
    FsxRolesCanBeMade,
    LustreIsFit,
    LustreAdmitsJobs,
    BucketIsFit,
    LogBucketIsThere,
    BucketCanBeLinked,
    KeyIsFit,
    KeyAdmitsFsx,
)


def checks(deployment: Deployment) -> Iterator[Check]:
    """Yield those that apply."""
    settings = deployment.settings
    if settings.efs.file_system_id:
        yield from _of_existing_efs(deployment, settings.efs.file_system_id)
    if settings.fsx.is_new:
        yield from _of_new_fsx(deployment)
    elif settings.fsx.is_wanted and settings.fsx.file_system_id:
        yield from _of_existing_fsx(deployment, settings.fsx.file_system_id)
    if settings.bucket.name:
        yield from _of_existing_bucket(deployment, settings.bucket.name)
    else:
        yield from _of_new_bucket(deployment)
    yield from _of_keys(deployment)


def _of_existing_efs(deployment: Deployment, file_system_id: str) -> Iterator[Check]:
    settings, place = deployment.settings, deployment.place
    efs = place.clients.efs
    yield EfsIsFit(efs=efs, region=place.region, file_system_id=file_system_id)
    yield MountTargetsAreAsSaid(
        efs=efs,
        cloudformation=place.clients.cloudformation,
        vpc=deployment.jobs_vpc,
        file_system_id=file_system_id,
        zones=settings.network.zone_names,
        are_to_be_made=settings.efs.mount_targets == "create",
    )
    yield EfsPolicyAdmitsJobs(
        efs=efs,
        file_system_id=file_system_id,
        key="efs_id",
        alternative="take another file system",
    )
    if settings.efs.security_group_id:
        yield MountTargetsAdmitJobs(
            ec2=place.clients.ec2,
            efs=efs,
            file_system_id=file_system_id,
            group_id=settings.efs.security_group_id,
            jobs=deployment.jobs if settings.efs.security_group_rules == "existing" else None,
        )


def _of_new_fsx(deployment: Deployment) -> Iterator[Check]:
    fsx = deployment.settings.fsx
    yield FsxRolesCanBeMade(deployer=deployment.deployer, is_linked=deployment.links_bucket)
    yield deployment.quota(
        quota.LUSTRE_CAPACITY[fsx.deployment],
        wanted=fsx.capacity_gib,
        count_used=partial(
            usage.lustre_capacity_gib,
            deployment.place.clients.fsx,
            deployment.own(STORAGE),
            fsx.deployment,
        ),
        key="fsx_capacity_gib",
        alternative="Take less (fsx_capacity_gib), another fsx_deployment, or none (fsx=none)",
    )


def _of_existing_fsx(deployment: Deployment, file_system_id: str) -> Iterator[Check]:
    settings, place = deployment.settings, deployment.place
    fsx, zones = settings.fsx, settings.network.zone_names
    # Settings see to it that these come with the id.
    assert fsx.mount_name
    assert fsx.security_group_id
    yield LustreIsFit(
        ec2=place.clients.ec2,
        fsx=place.clients.fsx,
        vpc=deployment.jobs_vpc,
        region=place.region,
        file_system_id=file_system_id,
        mount_name=fsx.mount_name,
        zone=zones[fsx.zone - 1] if zones else None,
    )
    yield LustreAdmitsJobs(
        ec2=place.clients.ec2,
        fsx=place.clients.fsx,
        file_system_id=file_system_id,
        group_id=fsx.security_group_id,
        jobs=deployment.jobs if fsx.security_group_rules == "existing" else None,
    )


def _of_existing_bucket(deployment: Deployment, name: str) -> Iterator[Check]:
    place, bucket = deployment.place, deployment.settings.bucket
    yield BucketIsFit(
        s3=place.clients.s3,
        bucket=name,
        account=place.identity.account,
        region=place.region,
        key_arn=bucket.encryption_key_arn,
    )
    if deployment.links_bucket:
        yield BucketCanBeLinked(
            s3=place.clients.s3,
            deployer=deployment.deployer,
            bucket=name,
            prefix=bucket.prefix,
        )


def _of_new_bucket(deployment: Deployment) -> Iterator[Check]:
    place, logs = deployment.place, deployment.settings.bucket.access_logs
    if logs not in ("create", "none"):
        yield LogBucketIsThere(
            s3=place.clients.s3,
            bucket=logs,
            account=place.identity.account,
            region=place.region,
        )


def _of_keys(deployment: Deployment) -> Iterator[Check]:
    place, bucket = deployment.place, deployment.settings.bucket
    for setting, arn, encrypts_bucket in (
        ("encryption_key_arn", bucket.storage_key_arn, bucket.name is None),
        ("bucket_encryption_key_arn", bucket.encryption_key_arn, True),
    ):
        if arn is None:
            continue
        yield KeyIsFit(kms=place.clients.kms, setting=setting, arn=arn, region=place.region)
        if encrypts_bucket and deployment.links_bucket:
            yield KeyAdmitsFsx(
                kms=place.clients.kms,
                setting=setting,
                arn=arn,
                region=place.region,
                account=place.identity.account,
            )
