"""The CDK app: every stack, from one settings object. `cdk synth` and `cdk deploy` run it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import stacks  # noqa: F401  It sets what jsii reads when aws_cdk is imported.

# isort: split

from aws_cdk import App

from stacks.acknowledgments import ACCEPTED, AcceptedFinding
from stacks.cluster import ClusterStack
from stacks.governance import govern, stack_options
from stacks.kubernetes import KubernetesStack
from stacks.nag import REPORT_ELSEWHERE, add_checks, refuse_violations
from stacks.network import NetworkStack
from stacks.notebook import NotebookStack
from stacks.notification import NotificationStack
from stacks.recorded_settings import record_settings
from stacks.registry import RegistryStack
from stacks.settings import Settings
from stacks.settings.notifications import STACK as NOTIFICATION_STACK
from stacks.settings.sources import context_of_cdk_json, context_of_cli, make_outdir
from stacks.storage import StorageStack
from training.errors import TrainingError

CDK_JSON = Path(__file__).with_name("cdk.json")


def build_app(
    context: Mapping[str, Any] | None = None,
    *,
    outdir: str | None = None,
    accepted: Sequence[AcceptedFinding] = ACCEPTED,
) -> App:
    """Return the app with all stacks.

    Args:
        context: Settings on top of those of cdk.json; what the CDK CLI hands over goes above both.
        outdir: Where the assembly goes; the CLI says so otherwise.
        accepted: Findings of cdk-nag that are kept.

    Raises:
        UsageError: A context key or value is wrong.
    """
    # The CLI hands over cdk.json's context too; read here, it holds for `python app.py` as well.
    above = {**context_of_cdk_json(CDK_JSON), **(context or {})}
    settings = Settings.from_context({**above, **context_of_cli(os.environ)})
    app = App(
        context=above,
        outdir=outdir,
        post_cli_context=REPORT_ELSEWHERE,
        # It takes twice the time of everything else here. The tests put templates through it,
        # and those of each kind of setting through cfn-lint.
        builtin_cloud_formation_validation=False,
    )
    for_every_stack = stack_options(settings.general)

    network = NetworkStack(app, "NetworkStack", settings=settings, **for_every_stack)
    storage = StorageStack(
        app,
        "StorageStack",
        settings=settings,
        vpc=network.vpc,
        training_security_group=network.training_security_group,
        **for_every_stack,
    )
    registry = RegistryStack(app, "RegistryStack", settings=settings, **for_every_stack)
    NotebookStack(
        app,
        "NotebookStack",
        settings=settings,
        vpc=network.vpc,
        security_group=network.training_security_group,
        storage=storage,
        registry=registry,
        **for_every_stack,
    )
    ClusterStack(
        app,
        "ClusterStack",
        settings=settings,
        vpc=network.vpc,
        public_subnets=network.public_subnets,
        security_group=network.training_security_group,
        storage=storage,
        **for_every_stack,
    )
    KubernetesStack(
        app,
        "KubernetesStack",
        settings=settings,
        vpc=network.vpc,
        security_group=network.training_security_group,
        storage=storage,
        **for_every_stack,
    )
    if settings.notifications.is_wanted:
        NotificationStack(
            app,
            NOTIFICATION_STACK,
            settings=settings,
            training_role=storage.training_role,
            **for_every_stack,
        )

    govern(app, settings.general)
    record_settings(app, settings)
    add_checks(app, accepted)
    return app


def main() -> int:
    """Synthesize; return the exit code."""
    try:
        make_outdir(os.environ)
        assembly = build_app().synth()
        refuse_violations(Path(assembly.directory))
    except TrainingError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
