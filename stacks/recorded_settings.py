"""Writes into each template which settings it was made with, for the checks before a deploy."""

from __future__ import annotations

from aws_cdk import App, Stack

from stacks.settings import Settings
from stacks.settings.recorded import GROUPS, RECORD, place_of, record_of
from training.outputs import ClusterOutputs, NotebookOutputs, StorageOutputs

IN_THE_VPC = (StorageOutputs.STACK, NotebookOutputs.STACK, ClusterOutputs.STACK)

PLACE = "Network"
"""The key in the Metadata of the stacks that are in NetworkStack's VPC."""


def record_settings(app: App, settings: Settings) -> None:
    """Record the settings that differ from the defaults in the Metadata of every stack.

    An empty record says that there were none; a template without one is older than records.

    Stacks in the VPC also say which it is. Their references to it are the same text whatever it
    is, and the CDK CLI leaves a stack alone whose template is the same text: without this, they
    would stay in the old VPC when NetworkStack makes another.
    """
    for stack in app.node.children:
        if isinstance(stack, Stack) and stack.stack_name in GROUPS:
            metadata: dict[str, object] = {RECORD: record_of(settings, stack.stack_name)}
            if stack.stack_name in IN_THE_VPC:
                metadata[PLACE] = place_of(settings)
            stack.template_options.metadata = metadata
