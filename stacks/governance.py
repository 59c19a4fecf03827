"""What holds for everything that the stacks make: place, tags, protection, bounds of roles."""

from __future__ import annotations

from typing import Any

from aws_cdk import App, Environment, Tags
from aws_cdk import aws_iam as iam

from stacks.settings.general import GeneralSettings
from training.outputs import PROJECT_TAG


def stack_options(settings: GeneralSettings) -> dict[str, Any]:
    """Return the options of every stack of the app."""
    return {
        "env": Environment(account=settings.aws_account, region=settings.aws_region),
        # CloudFormation gives these to every resource that takes tags, and to the stack itself.
        "tags": tags_of(settings),
        "termination_protection": settings.termination_protection,
    }


def govern(app: App, settings: GeneralSettings) -> None:
    """Tag and bound what the app holds; call it when every stack is there."""
    for name, value in tags_of(settings).items():
        # In the templates too: some resources get no tags of the stack, volumes for example.
        Tags.of(app).add(name, value)
    if settings.permissions_boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_arn(
            app, "PermissionsBoundary", settings.permissions_boundary
        )
        iam.PermissionsBoundary.of(app).apply(boundary)
    if settings.role_path != "/":
        _set_path(app, settings.role_path)


def tags_of(settings: GeneralSettings) -> dict[str, str]:
    """Return the tags of everything that the stacks make."""
    return {PROJECT_TAG: settings.project, **settings.tags}


def _set_path(app: App, path: str) -> None:
    for construct in app.node.find_all():
        if isinstance(construct, iam.CfnRole | iam.CfnManagedPolicy | iam.CfnInstanceProfile):
            construct.path = path
