"""What a change of settings does to stacks that are there: what is lost, left behind or refused.

CloudFormation replaces a resource where a property changes that its service cannot change; which
those are, each type's page says under "Update requires":
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from training.preflight.stacks import cluster_changes, kubernetes_changes
from training.preflight.stacks.consequence import Consequence, Rule, Value

if TYPE_CHECKING:
    from stacks.settings import Settings

EXPORT = (
    "Its files that are not in the bucket are lost with it: export them first (aws fsx "
    "create-data-repository-task --type EXPORT_TO_REPOSITORY)"
)
COPY_HOME = (
    "The disk of the old one, with all below /home/ec2-user/SageMaker, is deleted with it: copy "
    "what you need to the bucket or EFS first"
)
STAYS = "It is kept, but jobs and the notebook no longer see it: copy what you need"


def _of_subnet(settings: Settings, number: int) -> str | int:
    """Return what stands for a private subnet: its id, or its number in a VPC of ours."""
    named = settings.network.private_subnets
    return named[number - 1].subnet_id if number <= len(named) else number


def _import_path(settings: Settings) -> tuple[str | None, str | None] | None:
    if settings.fsx.bucket_link != "import_path":
        return None
    return settings.bucket.name or "new", settings.bucket.prefix


def _key_of_fsx(settings: Settings) -> str | None:
    # Scratch file systems take none.
    return None if settings.fsx.deployment == "SCRATCH_2" else settings.bucket.storage_key_arn


# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-fsx-filesystem.html
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-fsx-filesystem-lustreconfiguration.html
OF_NEW_FSX: tuple[tuple[tuple[str, ...], Value], ...] = (
    (("fsx_deployment",), lambda s: s.fsx.deployment),
    (("fsx_efa",), lambda s: s.fsx.efa),
    (("fsx_zone", "private_subnets"), lambda s: _of_subnet(s, s.fsx.zone)),
    (("fsx_bucket_link", "bucket_name", "bucket_prefix"), _import_path),
    (("encryption_key_arn",), _key_of_fsx),
)
"""Values that an FSx file system has for life, and the settings that they are made from."""

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpc.html
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-notebookinstance.html
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-efs-filesystem.html
RULES: tuple[Rule, ...] = (
    Rule(
        "replaces-vpc",
        ("vpc_id", "vpc_cidr"),
        lambda s: s.network.vpc_id or s.network.vpc_cidr,
        "Everything in the VPC would have to move: CloudFormation makes FSx, mount targets and "
        "notebook anew, or fails half-way where something still uses the old one. Destroy the "
        "stacks first (cdk destroy --all; bucket and EFS are kept), having exported what is only "
        "in FSx or on the notebook's disk",
    ),
    Rule(
        "leaves-data-behind",
        ("efs_id",),
        lambda s: s.efs.file_system_id or "new",
        f"Another EFS file system takes the place of the one there was. {STAYS}",
    ),
    Rule(
        "leaves-data-behind",
        ("bucket_name",),
        lambda s: s.bucket.name or "new",
        f"Another bucket takes the place of the one there was. {STAYS}",
    ),
    Rule(
        "leaves-data-behind",
        ("encryption_key_arn",),
        lambda s: (s.bucket.storage_key_arn or "new") if s.efs.file_system_id is None else None,
        "EFS never changes its key, so that a new, empty file system takes the place of the one "
        f"there was. {STAYS}. Objects of the bucket keep the old key: do not delete it",
    ),
    Rule(
        "replaces-notebook",
        ("notebook_name",),
        lambda s: s.notebook.name,
        f"A notebook instance cannot be renamed: a new one is made. {COPY_HOME}",
    ),
)

OF_NOTEBOOK: tuple[tuple[tuple[str, ...], Value], ...] = (
    (
        ("notebook_zone", "fsx_zone", "fsx", "private_subnets"),
        lambda s: _of_subnet(s, s.notebook_zone),
    ),
    (("training_security_group_id",), lambda s: s.network.training_security_group_id),
    (("encryption_key_arn",), lambda s: s.bucket.storage_key_arn),
)
"""Values that a notebook instance has for life, its name apart."""


# https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html
RISING: tuple[tuple[str, Value], ...] = (
    ("fsx_capacity_gib", lambda s: s.fsx.capacity_gib),
    ("fsx_metadata_iops", lambda s: s.fsx.metadata_iops or 0),
    ("fsx_lustre_version", lambda s: s.fsx.lustre_version),
)
"""Values of an FSx file system that never sink."""


def consequences(
    before: Settings, after: Settings, zones_of: Callable[[Settings], Sequence[str]]
) -> Iterator[Consequence]:
    """Yield what a deploy of other settings does to what the first have made.

    Args:
        before: Of the last deploy.
        after: Of the next one.
        zones_of: Names the zones of the private subnets of a VPC of ours.
    """
    for rule in (*RULES, *cluster_changes.RULES, *kubernetes_changes.RULES):
        old, new = rule.value(before), rule.value(after)
        if old != new and None not in (old, new):
            yield Consequence(rule.code, rule.keys, rule.message)
    yield from _of_subnets(before, after, zones_of)
    yield from _of_lustre(before, after)
    yield from _of_notebook(before, after)
    yield from _refused(before, after)


def _of_subnets(
    before: Settings, after: Settings, zones_of: Callable[[Settings], Sequence[str]]
) -> Iterator[Consequence]:
    """Yield whether private subnets that are there would have to move or go."""
    old, new = before.network, after.network
    keys = ("availability_zones", "zone_count", "private_subnet_cidrs")
    if old.vpc_id or new.vpc_id or old.vpc_cidr != new.vpc_cidr:
        return
    plans = [network.subnet_plan.private for network in (old, new)]
    names = [list(zones_of(settings)) for settings in (before, after)] if _names(old, new) else []
    if any(is_other(*pair) for pair in (plans, names) if pair):
        yield Consequence(
            "replaces-subnets",
            keys,
            "Private subnets that are in use would get other addresses or zones, or go: "
            "CloudFormation fails half-way, since AWS makes no second subnet of the same addresses "
            "and deletes none in use. Add zones behind those there are, or destroy the stacks "
            "first (cdk destroy --all; bucket and EFS are kept)",
        )


def _names(*networks: Any) -> bool:
    """Return whether the names of zones can differ: only where somebody gave them."""
    return len({network.availability_zones for network in networks}) > 1


def is_other(before: Sequence[object], after: Sequence[object]) -> bool:
    """Return whether something that was there is no longer there, in its place."""
    return list(after[: len(before)]) != list(before)


def _of_lustre(before: Settings, after: Settings) -> Iterator[Consequence]:
    if not before.fsx.is_new:
        return
    if not after.fsx.is_new:
        if before.fsx.removal == "retain":
            code, fate = "leaves-data-behind", STAYS
        else:
            code, fate = "deletes-file-system", EXPORT
        yield Consequence(
            code, ("fsx", "fsx_id"), f"StorageStack gives up the FSx file system it made. {fate}"
        )
        return
    keys = _reasons(OF_NEW_FSX, before, after)
    if keys and after.fsx.removal == "retain":
        yield Consequence(
            "leaves-data-behind", keys, f"A new FSx file system is made. The old: {STAYS}"
        )
    elif keys:
        yield Consequence(
            "replaces-file-system",
            keys,
            f"A new FSx file system is made, and the old one deleted. {EXPORT}",
        )


def _of_notebook(before: Settings, after: Settings) -> Iterator[Consequence]:
    keys = _reasons(OF_NOTEBOOK, before, after)
    moves = before.network.vpc_id != after.network.vpc_id
    if keys and not moves and before.notebook.name == after.notebook.name:
        yield Consequence(
            "notebook-needs-new-name",
            keys,
            "The notebook would have to be made anew, and CloudFormation makes no second one of "
            f"the same name: the deploy fails. Give it another (notebook_name). {COPY_HOME}",
        )


def _refused(before: Settings, after: Settings) -> Iterator[Consequence]:
    if after.notebook.volume_gib < before.notebook.volume_gib:
        yield Consequence(
            "change-refused-by-aws",
            ("notebook_volume_gib",),
            "A notebook's disk can only grow: the deploy fails. Take the old size, or a new "
            "notebook (notebook_name)",
        )
    if before.fsx.is_new and after.fsx.is_new:
        for key, value in RISING:
            if value(after) < value(before) and not _reasons(OF_NEW_FSX, before, after):
                yield Consequence(
                    "change-refused-by-aws",
                    (key,),
                    "FSx for Lustre only goes up in this: the deploy fails. Take the old value, or "
                    "have the file system made anew (fsx=none, deploy, then this)",
                )
    writes_logs = all(each.network.flow_logs == "create" for each in (before, after))
    if before.general.role_path != after.general.role_path and writes_logs:
        # FlowLogAlreadyExists in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
        yield Consequence(
            "change-refused-by-aws",
            ("role_path",),
            "The VPC's flow log gets another role, for which CloudFormation makes a new one before "
            "it deletes the old, and AWS takes no second one with the same destination: the deploy "
            "fails. Delete the flow log first (aws ec2 delete-flow-logs), or keep the path",
        )


def _reasons(
    values: Sequence[tuple[tuple[str, ...], Value]], before: Settings, after: Settings
) -> tuple[str, ...]:
    """Return the settings whose values differ."""
    differing = [keys for keys, value in values if value(before) != value(after)]
    return tuple(dict.fromkeys(key for keys in differing for key in keys))
