"""Draws docs/architecture.svg from the templates: `python docs/draw_architecture.py`.

The templates say what there is and what refers to what; the tables below say what of it is worth
a picture, and how it is called. Graphviz, as an npm package, lays it out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from architecture_look import (  # noqa: E402
    BELONGS,
    COLOURS,
    DATA,
    ENCRYPTS,
    HEADER,
    OUT,
    OUTPUTS,
    RULE,
    Line,
    legend,
)
from architecture_model import Model, Resource  # noqa: E402

from app import build_app  # noqa: E402
from training.outputs import CONTRACTS  # noqa: E402

PICTURE = Path(__file__).with_name("architecture.svg")

SHOWN: Mapping[str, str] = {
    "AWS::EC2::InternetGateway": "internet gateway",
    "AWS::EC2::Subnet": "{name}",
    "AWS::EC2::NatGateway": "NAT gateway",
    "AWS::EC2::VPCEndpoint": "{service} endpoint",
    "AWS::EC2::SecurityGroup": "security group:\\n{description}",
    "AWS::Logs::LogGroup": "{log}",
    "AWS::S3::Bucket": "S3: {name}",
    "AWS::EFS::FileSystem": "EFS",
    "AWS::FSx::FileSystem": "FSx for Lustre",
    "AWS::KMS::Key": "KMS key",
    "AWS::IAM::Role": "{role}",
    "AWS::ECR::Repository": "ECR repositories",
    "AWS::SageMaker::NotebookInstance": "SageMaker notebook",
    "AWS::SageMaker::CodeRepository": "Git repository",
    "AWS::AutoScaling::AutoScalingGroup": "{group}",
    "AWS::EKS::Cluster": "EKS control plane",
    "AWS::EKS::Nodegroup": "{group}",
    "AWS::SSM::Document": "SSM document:\\nrequests",
    "AWS::SecretsManager::Secret": "secret: SSH keys",
}
"""Resource type to the text in its box."""

ROLES: Mapping[str, str] = {
    "Access": "notebook role",
    "Addons": "roles of add-ons",
    "Autoscaler": "autoscaler role",
    "ControlPlane": "control-plane role",
    "FlowLogs": "flow-log role",
    "Head": "head role",
    "Jobs": "role of jobs",
    "Nodes": "node role",
    "Training": "training role",
    "Worker": "worker role",
}
"""The construct that a role is in, to what the role is called."""

GROUPS: Mapping[str, str] = {
    "GpuGroup": "GPU nodes",
    "HeadGroup": "head node",
    "SystemGroup": "system nodes",
    "WorkerGroup": "worker nodes",
}
"""The construct that a group of nodes is in, to what it is called."""

LOGS: Mapping[str, str] = {
    "Builder": "build logs",
    "ControlPlane": "log of the\\ncontrol plane",
    "FlowLogs": "flow logs",
    "Secrets": "logs of nodes and jobs",
}
"""The construct that a log group is in, to what it is called."""

ARROWS: Mapping[tuple[str, str], Line] = {
    ("AWS::EC2::NatGateway", "SubnetId"): BELONGS,
    ("AWS::EFS::MountTarget", "SubnetId"): BELONGS,
    ("AWS::EFS::MountTarget", "SecurityGroups"): BELONGS,
    ("AWS::FSx::FileSystem", "SubnetIds"): BELONGS,
    ("AWS::FSx::FileSystem", "SecurityGroupIds"): BELONGS,
    ("AWS::FSx::DataRepositoryAssociation", "DataRepositoryPath"): DATA,
    ("AWS::S3::Bucket", "LoggingConfiguration"): DATA,
    ("AWS::SageMaker::NotebookInstance", "RoleArn"): BELONGS,
    ("AWS::SageMaker::NotebookInstance", "SubnetId"): BELONGS,
    ("AWS::SageMaker::NotebookInstance", "SecurityGroupIds"): BELONGS,
    ("AWS::SageMaker::NotebookInstance", "DefaultCodeRepository"): DATA,
    ("AWS::SageMaker::NotebookInstanceLifecycleConfig", "OnStart"): DATA,
    ("AWS::AutoScaling::AutoScalingGroup", "VPCZoneIdentifier"): BELONGS,
    ("AWS::EKS::Cluster", "RoleArn"): BELONGS,
    ("AWS::EKS::Nodegroup", "ClusterName"): BELONGS,
    ("AWS::EKS::Nodegroup", "NodeRole"): BELONGS,
    ("AWS::EKS::Nodegroup", "Subnets"): BELONGS,
    ("AWS::EC2::LaunchTemplate", "LaunchTemplateData"): DATA,
    ("AWS::IAM::ManagedPolicy", "PolicyDocument"): DATA,
    ("AWS::EC2::FlowLog", "LogGroupName"): DATA,
}
"""Resource type and property to what its reference means."""

ENCRYPTED_BY: Mapping[str, str] = {
    "AWS::EFS::FileSystem": "KmsKeyId",
    "AWS::EKS::Cluster": "EncryptionConfig",
    "AWS::FSx::FileSystem": "KmsKeyId",
    "AWS::S3::Bucket": "BucketEncryption",
    "AWS::Logs::LogGroup": "KmsKeyId",
    "AWS::ECR::Repository": "EncryptionConfiguration",
    "AWS::SageMaker::NotebookInstance": "KmsKeyId",
    "AWS::SecretsManager::Secret": "KmsKeyId",
}
"""Resource type to the property that names its key."""

THROUGH: Mapping[str, str] = {
    "AWS::EFS::MountTarget": "FileSystemId",
    "AWS::FSx::DataRepositoryAssociation": "FileSystemId",
    "AWS::IAM::ManagedPolicy": "Roles",
    "AWS::EC2::FlowLog": "DeliverLogsPermissionArn",
}
"""A type that is drawn as an arrow only, to the property that says from where."""

REACHED: Mapping[str, tuple[str, ...]] = {
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": (
        "AWS::EFS::FileSystem",
        "AWS::FSx::FileSystem",
    ),
    "AWS::EC2::LaunchTemplate": (
        "AWS::EC2::SecurityGroup",
        "AWS::EFS::FileSystem",
        "AWS::FSx::FileSystem",
    ),
    "AWS::IAM::ManagedPolicy": (
        "AWS::AutoScaling::AutoScalingGroup",
        "AWS::ECR::Repository",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SecretsManager::Secret",
    ),
}
"""What of all that such a type refers to is worth an arrow."""

READ = frozenset(contract.STACK for contract in CONTRACTS)
"""Stacks whose outputs the launcher reads."""

JOBS = "training jobs"
LAUNCHER = "launcher"


@dataclass(frozen=True)
class Arrow:
    """One reference that is drawn."""

    tail: str
    head: str
    line: Line
    label: str = ""


def box_of(resource: Resource) -> str:
    """Return the name of its box; resources with the same text share one."""
    text = SHOWN[resource.type].format(
        name=resource.name,
        role=ROLES.get(resource.path.split("/")[2], "role"),
        group=GROUPS.get(resource.path.split("/")[2], "nodes"),
        log=LOGS.get(resource.path.split("/")[2], "logs"),
        service=_service(resource.properties.get("ServiceName", "")),
        description="\\n".join(wrap(resource.properties.get("GroupDescription", ""), 15)),
    )
    return f"{resource.stack}: {text}"


def draw() -> str:
    """Return the picture in Graphviz's language."""
    with tempfile.TemporaryDirectory() as folder:
        build_app(outdir=folder).synth()
        model = Model(Path(folder))
    lines = [
        *HEADER,
        *_boxes(model),
        *_of_jobs(),
        *_joined([*_references(model), *_rules(model), *_ways_out(model), *_uses(model)]),
        *legend(bottom="RegistryStack: KMS key"),
        "}",
    ]
    return "\n".join(lines)


def _boxes(model: Model) -> Iterator[str]:
    counts: dict[str, dict[str, int]] = {}
    colours: dict[str, str] = {}
    for resource in model.resources.values():
        if resource.type in SHOWN:
            box = box_of(resource)
            boxes = counts.setdefault(resource.stack, {})
            boxes[box] = boxes.get(box, 0) + 1
            colours[box] = COLOURS[resource.type.split("::")[1]]
    for stack, boxes in counts.items():
        outputs = f"  {OUTPUTS}" if stack in READ else ""
        yield (
            f'subgraph "cluster_{stack}" {{ label=<<B>{stack}</B>{outputs}>; '
            'style="filled,rounded"; color="#999999"; fillcolor="#f7f7f7"; fontsize=16; margin=10;'
        )
        for box, count in boxes.items():
            text = box.removeprefix(f"{stack}: ") + (f" \u00d7 {count}" if count > 1 else "")
            yield f'"{box}" [label="{text}", fillcolor="{colours[box]}"];'
        yield "}"


def _joined(arrows: Iterable[Arrow]) -> Iterator[str]:
    """Draw one arrow for all between two boxes, and a double one where both ways are alike."""
    labels: dict[tuple[str, str, Line], list[str]] = {}
    for arrow in arrows:
        here = labels.setdefault((arrow.tail, arrow.head, arrow.line), [])
        if arrow.label and arrow.label not in here:
            here.append(arrow.label)
    for (tail, head, line), texts in labels.items():
        both = tail != head and labels.get((head, tail, line)) == texts
        if both and tail > head:
            continue
        direction = "dir=both, " if both else "dir=back, " if line.upward else ""
        ends = (head, tail) if line.upward else (tail, head)
        label = f'label="{", ".join(texts)}", ' if texts else ""
        yield f'"{ends[0]}" -> "{ends[1]}" [{direction}{label}{line.attributes}];'


def _references(model: Model) -> Iterator[Arrow]:
    for resource in model.resources.values():
        origin = _origin(model, resource)
        if origin.type not in SHOWN:
            continue
        for (type_, property_), line in ARROWS.items():
            if resource.type == type_:
                for target in model.targets(resource.stack, resource.properties.get(property_)):
                    if target.type in REACHED.get(resource.type, SHOWN):
                        yield Arrow(box_of(origin), box_of(target), line)
        if resource.type in ENCRYPTED_BY:
            value = resource.properties.get(ENCRYPTED_BY[resource.type])
            for key in model.targets(resource.stack, value):
                yield Arrow(box_of(key), box_of(resource), ENCRYPTS)


def _origin(model: Model, resource: Resource) -> Resource:
    """Return where the arrows of a resource begin that has no box of its own."""
    if resource.type == "AWS::SageMaker::NotebookInstanceLifecycleConfig":
        return next(
            each
            for each in model.resources.values()
            if each.type == "AWS::SageMaker::NotebookInstance"
            and resource in model.targets(each.stack, each.properties["LifecycleConfigName"])
        )
    if resource.type == "AWS::EC2::LaunchTemplate":
        return next(
            each
            for each in model.resources.values()
            if each.type in ("AWS::AutoScaling::AutoScalingGroup", "AWS::EKS::Nodegroup")
            and resource in model.targets(each.stack, each.properties["LaunchTemplate"])
        )
    if resource.type in THROUGH:
        owner = resource.properties[THROUGH[resource.type]]
        return next(model.targets(resource.stack, owner), resource)
    return resource


def _rules(model: Model) -> Iterator[Arrow]:
    for rule in model.resources.values():
        if rule.type != "AWS::EC2::SecurityGroupIngress":
            continue
        sources = model.targets(rule.stack, rule.properties.get("SourceSecurityGroupId"))
        groups = model.targets(rule.stack, rule.properties["GroupId"])
        for source, group in zip(sources, groups, strict=False):
            low, high = rule.properties.get("FromPort"), rule.properties.get("ToPort")
            ports = "all" if low is None else str(low) if low == high else f"{low}\u2013{high}"
            # Members of one group reach each other by the same ports, or all: the loop says enough.
            label = "" if source == group else ports
            yield Arrow(box_of(source), box_of(group), RULE, label)


def _ways_out(model: Model) -> Iterator[Arrow]:
    """Yield where the routes of each subnet lead, and from the internet gateway out."""
    for resource in model.resources.values():
        if resource.type == "AWS::EC2::Route":
            tables = model.targets(resource.stack, resource.properties["RouteTableId"])
            ways = [resource.properties.get(key) for key in ("NatGatewayId", "GatewayId")]
            ends = list(model.targets(resource.stack, ways))
        elif resource.type == "AWS::EC2::VPCEndpoint":
            tables = model.targets(resource.stack, resource.properties.get("RouteTableIds"))
            ends = [resource]
        else:
            continue
        for table in tables:
            for subnet in _subnets_of(model, table):
                yield from (Arrow(box_of(subnet), box_of(end), OUT) for end in ends)


def _subnets_of(model: Model, table: Resource) -> Iterator[Resource]:
    for resource in model.resources.values():
        if resource.type == "AWS::EC2::SubnetRouteTableAssociation" and table in model.targets(
            resource.stack, resource.properties["RouteTableId"]
        ):
            yield from model.targets(resource.stack, resource.properties["SubnetId"])


def _of_jobs() -> Iterator[str]:
    yield (
        f'"{JOBS}" [label="training jobs\\nof SageMaker", fillcolor="{COLOURS["SageMaker"]}", '
        'style="filled,rounded,dashed"];'
    )
    yield (
        f'"{LAUNCHER}" [label=<{OUTPUTS}<BR/>python -m training.launch>, fillcolor="#ffffff", '
        'style="filled,bold"];'
    )
    yield '"internet" [shape=ellipse, fillcolor="#ffffff"];'


def _uses(model: Model) -> Iterator[Arrow]:
    """Yield what a job is given: it is in no template, the outputs name what it gets."""
    group, role, shared, fast = (
        box_of(found)
        for found in (
            _output(model, "NetworkStack", "TrainingSecurityGroupId"),
            _output(model, "StorageStack", "TrainingRoleArn"),
            _output(model, "StorageStack", "EfsId"),
            _output(model, "StorageStack", "FsxId"),
        )
    )
    yield Arrow(LAUNCHER, JOBS, BELONGS, "starts")
    yield Arrow(JOBS, role, BELONGS)
    yield Arrow(JOBS, group, BELONGS)
    yield Arrow(JOBS, shared, DATA)
    yield Arrow(JOBS, fast, DATA)
    for resource in model.resources.values():
        if resource.type == "AWS::EC2::InternetGateway":
            yield Arrow(box_of(resource), "internet", OUT)


def _output(model: Model, stack: str, name: str) -> Resource:
    return next(model.targets(stack, model.outputs(stack)[name]["Value"]))


def _service(name: Any) -> str:
    text = json.dumps(name).strip('"}]').rsplit(".", 1)[-1].rsplit('"', 1)[-1]
    return text.upper() if len(text) <= 3 else text


def render(graph: str) -> str:
    """Return the picture as SVG."""
    script = (
        "import {instance} from '@viz-js/viz';"
        "import {readFileSync} from 'node:fs';"
        "const viz = await instance();"
        "process.stdout.write(viz.renderString(readFileSync(0, 'utf-8'), {format: 'svg'}));"
    )
    done = subprocess.run(
        [shutil.which("node") or "node", "--input-type=module", "-e", script],
        cwd=PROJECT,
        input=graph,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    PICTURE.write_text(render(draw()), encoding="utf-8")
