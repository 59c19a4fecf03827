"""The resources of the templates, and what refers to what: for draw_architecture.py."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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

    def outputs(self, stack: str) -> Mapping[str, Any]:
        outputs: Mapping[str, Any] = self._templates[stack]["Outputs"]
        return outputs

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


def _paths(assembly: Path) -> Iterator[tuple[str, str]]:
    """Yield logical id and construct path of every resource."""
    for file in assembly.glob("*.metadata.json"):
        for path, entries in json.loads(file.read_text("utf-8")).items():
            for entry in entries:
                if entry["type"] == "aws:cdk:logicalId":
                    yield entry["data"], path
