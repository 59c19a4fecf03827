"""Draws docs/architecture.svg from the templates: `python docs/draw_architecture.py`.

The templates say what there is and what refers to what; the tables below say what of it is worth
a picture, and how it is called. Graphviz, as an npm package, lays it out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from app import build_app
from training.outputs import CONTRACTS

PICTURE = Path(__file__).with_name("architecture.svg")

SHOWN: Mapping[str, str] = {
    "AWS::EC2::Subnet": "{name}",
    "AWS::EC2::NatGateway": "NAT gateway",
    "AWS::EC2::VPCEndpoint": "endpoint to {service}",
    "AWS::EC2::FlowLog": "flow logs",
    "AWS::EC2::SecurityGroup": "security group:\\n{description}",
    "AWS::S3::Bucket": "S3: {name}",
    "AWS::EFS::FileSystem": "EFS",
    "AWS::FSx::FileSystem": "FSx for Lustre",
    "AWS::KMS::Key": "KMS key",
    "AWS::IAM::Role": "role: {name}",
    "AWS::ECR::Repository": "ECR: {name}",
    "AWS::SageMaker::NotebookInstance": "SageMaker notebook",
    "AWS::SageMaker::CodeRepository": "Git repository",
}
"""Resource type to the text in its box."""

COLOURS: Mapping[str, str] = {
    "EC2": "#dbe9f6",
    "S3": "#e2f0d9",
    "EFS": "#e2f0d9",
    "FSx": "#e2f0d9",
    "KMS": "#f8e0e0",
    "IAM": "#f8e0e0",
    "ECR": "#fdebd0",
    "SageMaker": "#e8def8",
}
"""Service to the colour of its boxes."""

ARROWS: Mapping[tuple[str, str], str] = {
    ("AWS::EC2::NatGateway", "SubnetId"): "in",
    ("AWS::EFS::MountTarget", "SubnetId"): "mount target",
    ("AWS::FSx::FileSystem", "SubnetIds"): "in",
    ("AWS::FSx::DataRepositoryAssociation", "DataRepositoryPath"): "mirrors",
    ("AWS::S3::Bucket", "LoggingConfiguration"): "access log",
    ("AWS::SageMaker::NotebookInstance", "RoleArn"): "acts as",
    ("AWS::SageMaker::NotebookInstance", "SubnetId"): "in",
    ("AWS::SageMaker::NotebookInstance", "SecurityGroupIds"): "member of",
    ("AWS::SageMaker::NotebookInstance", "DefaultCodeRepository"): "clones",
}
"""Resource type and property to what its reference means."""

THROUGH: Mapping[str, str] = {
    "AWS::EFS::MountTarget": "FileSystemId",
    "AWS::FSx::DataRepositoryAssociation": "FileSystemId",
}
"""A type that is drawn as an arrow only, to the property that says from where."""


@dataclass(frozen=True)
class Resource:
    """One resource of one template."""

    stack: str
    logical_id: str
    type: str
    path: str
    properties: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The construct's own name: `PrivateSubnet1` is `private subnet`."""
        kind = self.type.rsplit("::", 1)[-1]
        parts = [part for part in self.path.split("/") if part not in ("Resource", kind)]
        return " ".join(re.findall(r"[A-Z][a-z]*\d*", parts[-1].rstrip("0123456789"))).lower()

    @property
    def box(self) -> str:
        """Resources with the same text share a box."""
        text = SHOWN[self.type].format(
            name=self.name,
            service=_service(self.properties.get("ServiceName", "")),
            description=self.properties.get("GroupDescription", ""),
        )
        return f"{self.stack}: {text}"


class Model:
    """All resources, and how to follow a reference, across stacks too."""

    def __init__(self, assembly: Path) -> None:
        self._templates = {
            file.name.removesuffix(".template.json"): json.loads(file.read_text("utf-8"))
            for file in sorted(assembly.glob("*.template.json"))
        }
        paths = dict(_paths(assembly))
        self.resources = {
            (stack, logical_id): Resource(
                stack,
                logical_id,
                resource["Type"],
                paths[logical_id],
                resource.get("Properties", {}),
            )
            for stack, template in self._templates.items()
            for logical_id, resource in template["Resources"].items()
        }

    def targets(self, stack: str, value: Any) -> Iterator[Resource]:
        """Yield the resources that a property's value refers to."""
        if isinstance(value, list):
            for item in value:
                yield from self.targets(stack, item)
        elif isinstance(value, Mapping):
            for function, argument in value.items():
                yield from self._of_function(stack, function, argument)

    def _of_function(self, stack: str, function: str, argument: Any) -> Iterator[Resource]:
        if function == "Ref":
            found = self.resources.get((stack, argument))
        elif function == "Fn::GetAtt":
            found = self.resources.get((stack, argument[0]))
        elif function == "Fn::GetStackOutput":
            producer = argument["StackName"]
            output = self._templates[producer]["Outputs"][argument["OutputName"]]
            yield from self.targets(producer, output["Value"])
            return
        else:
            yield from self.targets(stack, argument)
            return
        if found:
            yield found


def draw() -> str:
    """Return the picture in Graphviz's language."""
    with tempfile.TemporaryDirectory() as folder:
        build_app(outdir=folder).synth()
        model = Model(Path(folder))
    lines = [
        'digraph { rankdir=LR; fontname="Helvetica"; compound=true; nodesep=0.2; ranksep=0.9;',
        'node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=11];',
        'edge [fontname="Helvetica", fontsize=9, color="#555555", fontcolor="#333333"];',
        *_boxes(model),
        *_joined(_arrows(model)),
        *_contract(model),
        "}",
    ]
    return "\n".join(lines)


def _boxes(model: Model) -> Iterator[str]:
    counts: dict[str, dict[str, int]] = {}
    colours: dict[str, str] = {}
    for resource in model.resources.values():
        if resource.type in SHOWN:
            boxes = counts.setdefault(resource.stack, {})
            boxes[resource.box] = boxes.get(resource.box, 0) + 1
            colours[resource.box] = COLOURS[resource.type.split("::")[1]]
    for stack, boxes in counts.items():
        yield (
            f'subgraph "cluster_{stack}" {{ label="{stack}"; style="rounded"; color="#999999"; '
            "fontsize=14;"
        )
        for box, count in boxes.items():
            text = box.removeprefix(f"{stack}: ") + (f" × {count}" if count > 1 else "")
            yield f'"{box}" [label="{text}", fillcolor="{colours[box]}"];'
        yield "}"


@dataclass(frozen=True)
class Arrow:
    """One reference that is drawn."""

    tail: str
    head: str
    label: str
    style: str = ""


def _joined(arrows: Iterable[Arrow]) -> Iterator[str]:
    """Draw one arrow for all between two boxes, and a double one where both ways are alike."""
    labels: dict[tuple[str, str, str], list[str]] = {}
    for arrow in arrows:
        here = labels.setdefault((arrow.tail, arrow.head, arrow.style), [])
        if arrow.label not in here:
            here.append(arrow.label)
    for (tail, head, style), texts in sorted(labels.items()):
        both = tail != head and labels.get((head, tail, style)) == texts
        if both and tail > head:
            continue
        direction = "dir=both, " if both else ""
        yield f'"{tail}" -> "{head}" [{direction}label="{", ".join(texts)}", {style}];'


def _arrows(model: Model) -> Iterator[Arrow]:
    for resource in model.resources.values():
        if resource.type == "AWS::EC2::SecurityGroupIngress":
            yield from _rule(model, resource)
        origin = resource
        if resource.type in THROUGH:
            owner = resource.properties[THROUGH[resource.type]]
            origin = next(model.targets(resource.stack, owner), resource)
        if origin.type not in SHOWN:
            continue
        for (type_, property_), label in ARROWS.items():
            if resource.type == type_:
                for target in model.targets(resource.stack, resource.properties.get(property_)):
                    yield Arrow(origin.box, target.box, label)


def _rule(model: Model, rule: Resource) -> Iterator[Arrow]:
    properties = rule.properties
    sources = model.targets(rule.stack, properties.get("SourceSecurityGroupId"))
    groups = model.targets(rule.stack, properties["GroupId"])
    for source, group in zip(sources, groups, strict=False):
        low, high = properties.get("FromPort"), properties.get("ToPort")
        ports = "all ports" if low is None else str(low) if low == high else f"{low}–{high}"
        yield Arrow(source.box, group.box, ports, 'style=dashed, color="#aa3333"')


def _paths(assembly: Path) -> Iterator[tuple[str, str]]:
    """Yield logical id and construct path of every resource."""
    for file in assembly.glob("*.metadata.json"):
        for path, entries in json.loads(file.read_text("utf-8")).items():
            for entry in entries:
                if entry["type"] == "aws:cdk:logicalId":
                    yield entry["data"], path


def _contract(model: Model) -> Iterator[str]:
    yield (
        '"training" [label="training/\\npython -m training.launch\\nreads the outputs of each stack", shape=box, '
        'style="filled,bold", fillcolor="#ffffff"];'
    )
    for contract in CONTRACTS:
        first = next(
            (
                r.box
                for r in model.resources.values()
                if r.stack == contract.STACK and r.type in SHOWN
            ),
            None,
        )
        if first:
            yield (
                f'"{first}" -> "training" [ltail="cluster_{contract.STACK}", '
                'color="#3355aa", penwidth=2];'
            )


def _service(name: Any) -> str:
    text = json.dumps(name)
    return text.strip('"}]').rsplit(".", 1)[-1].rsplit('"', 1)[-1]


def render(graph: str) -> str:
    """Return the picture as SVG."""
    script = (
        "import {instance} from '@viz-js/viz';"
        "import {readFileSync} from 'node:fs';"
        "const viz = await instance();"
        "process.stdout.write(viz.renderString(readFileSync(0, 'utf-8'), {format: 'svg'}));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=PROJECT,
        input=graph,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    PICTURE.write_text(render(draw()), encoding="utf-8")
