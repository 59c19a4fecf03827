"""What one of our own stacks has made already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.cloudformation import CloudFormation


@dataclass(frozen=True)
class OwnResources:
    """The resources of a stack, by what CloudFormation says of it.

    Not by tags: CloudFormation does not put its own on resources of every type.
    """

    cloudformation: CloudFormation
    stack: str

    def ids(self) -> frozenset[str]:
        """Return their physical ids; none where there is no such stack."""
        return self.cloudformation.resource_ids(self.stack)

    def others(
        self, resources: Iterable[Mapping[str, Any]], id_field: str
    ) -> list[Mapping[str, Any]]:
        """Return those of some resources that the stack did not make.

        Args:
            resources: As a service describes them.
            id_field: Where each holds what CloudFormation calls its physical id.
        """
        own = self.ids()
        return [found for found in resources if found.get(id_field) not in own]
