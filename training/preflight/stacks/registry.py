"""Which checks apply to given settings, and all that there are."""

from __future__ import annotations

from collections.abc import Iterator

from training.outputs import CONTRACTS
from training.preflight.check import Check
from training.preflight.side_by_side import CODES
from training.preflight.stacks import of_cluster, of_kubernetes, of_network, of_storage
from training.preflight.stacks.account import (
    AccountIsTheOneNamed,
    LauncherLooksThere,
    RegionIsEnabled,
    SettingsSuitRegion,
)
from training.preflight.stacks.bootstrap import AccountIsBootstrapped
from training.preflight.stacks.boundary import BoundaryIsThere
from training.preflight.stacks.deployed_settings import SettingsStay
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.named_own import NothingOfOursIsNamed
from training.preflight.stacks.notebook_region import RegionHasNotebooks
from training.preflight.stacks.notebook_type import NotebookTypeIsAllowed
from training.preflight.stacks.protection import ProtectionStays
from training.preflight.stacks.secret import GitSecretIsThere
from training.preflight.stacks.stack_states import StacksCanBeDeployed
from training.preflight.stacks.wheels import WheelsAreThere

ALL: tuple[type[Check], ...] = (
    AccountIsTheOneNamed,
    RegionIsEnabled,
    LauncherLooksThere,
    SettingsSuitRegion,
    AccountIsBootstrapped,
    StacksCanBeDeployed,
    SettingsStay,
    ProtectionStays,
    NothingOfOursIsNamed,
    BoundaryIsThere,
    *of_network.ALL,
    *of_storage.ALL,
    RegionHasNotebooks,
    NotebookTypeIsAllowed,
    GitSecretIsThere,
    WheelsAreThere,
    *of_cluster.ALL,
    *of_kubernetes.ALL,
)

STACK_NAMES = [contract.STACK for contract in CONTRACTS]


def known_codes() -> set[str]:
    """Return the codes of all findings that there can be."""
    return {code for check in ALL for code in check.codes} | CODES.keys()


def checks(deployment: Deployment) -> Iterator[Check]:
    """Yield the checks that apply to a deployment."""
    yield from _of_place(deployment)
    yield from _of_deployed_stacks(deployment)
    yield from of_network.checks(deployment)
    yield from of_storage.checks(deployment)
    yield from _of_notebook(deployment)
    yield from of_cluster.checks(deployment)
    yield from of_kubernetes.checks(deployment)


def _of_place(deployment: Deployment) -> Iterator[Check]:
    place, general = deployment.place, deployment.settings.general
    yield LauncherLooksThere(region=place.region, environment_region=place.environment_region)
    yield SettingsSuitRegion(context=deployment.context, region=place.region)
    yield AccountIsBootstrapped(
        ssm=place.clients.ssm,
        account=place.identity.account,
        region=place.region,
        qualifier=place.qualifier,
    )
    if general.permissions_boundary:
        yield BoundaryIsThere(
            iam=place.clients.iam,
            arn=general.permissions_boundary,
            account=place.identity.account,
        )


def _of_deployed_stacks(deployment: Deployment) -> Iterator[Check]:
    cloudformation, settings = deployment.place.clients.cloudformation, deployment.settings
    yield StacksCanBeDeployed(cloudformation=cloudformation, names=STACK_NAMES)
    yield SettingsStay(
        cloudformation=cloudformation,
        ec2=deployment.place.clients.ec2,
        settings=settings,
        given=deployment.context.keys(),
    )
    if not settings.general.termination_protection:
        yield ProtectionStays(cloudformation=cloudformation, names=STACK_NAMES)
    named = deployment.named
    if named:
        yield NothingOfOursIsNamed(
            stacks=[deployment.own(name) for name in STACK_NAMES], named=named
        )


def _of_notebook(deployment: Deployment) -> Iterator[Check]:
    place, notebook = deployment.place, deployment.settings.notebook
    yield RegionHasNotebooks(region=place.region)
    yield NotebookTypeIsAllowed(
        service_quotas=place.clients.service_quotas,
        region=place.region,
        instance_type=notebook.instance_type,
    )
    if notebook.git_secret_arn:
        yield GitSecretIsThere(
            secrets=place.clients.secrets, arn=notebook.git_secret_arn, region=place.region
        )
    wheels = deployment.settings.notebook_wheels
    if wheels:
        yield WheelsAreThere(
            s3=place.clients.s3,
            cloudformation=place.clients.cloudformation,
            bucket=deployment.settings.bucket.name,
            folder=wheels,
        )
