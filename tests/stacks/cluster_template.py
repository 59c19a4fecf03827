"""Reads ClusterStack's template."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from tests.stacks.matrix import Synth, resources

STACK = "ClusterStack"

Node = Literal["Head", "Worker"]


def group(synth: Synth, node: Node) -> tuple[str, dict[str, Any]]:
    """Return the logical id and the resource of a group."""
    [found] = [
        (logical_id, resource)
        for logical_id, resource in resources(
            synth.templates[STACK], "AWS::AutoScaling::AutoScalingGroup"
        ).items()
        if logical_id.startswith(node)
    ]
    return found


def launch(synth: Synth, node: Node) -> dict[str, Any]:
    """Return what the launch template of a group says."""
    template = synth.templates[STACK]
    _, resource = group(synth, node)
    logical_id = resource["Properties"]["LaunchTemplate"]["LaunchTemplateId"]["Ref"]
    data: dict[str, Any] = template["Resources"][logical_id]["Properties"]["LaunchTemplateData"]
    return data


def user_data(synth: Synth, node: Node, *, put_in: str = "<value>") -> str:
    """Return the script, with a text where CloudFormation puts values in."""
    return filled(launch(synth, node)["UserData"]["Fn::Base64"], put_in)


def filled(value: Any, put_in: str) -> str:
    if isinstance(value, dict) and "Fn::Join" in value:
        delimiter, parts = value["Fn::Join"]
        return str(delimiter).join(filled(part, put_in) for part in parts)
    return value if isinstance(value, str) else put_in


def node_json(synth: Synth, node: Node) -> dict[str, Any]:
    """Return what the node is told."""
    [text] = re.findall(r"^readonly NODE_JSON='(.*?)'$", user_data(synth, node), re.M | re.S)
    told: dict[str, Any] = json.loads(text)
    return told
