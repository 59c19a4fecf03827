"""What a running local AWS has: the answer to `localaws status`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.cloudformation.models import cloudformation_backends
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends

from localaws.file_systems import folder


def take_inventory() -> dict[str, Any]:
    """Return the file systems (`id`, `type`, `region`, `folder`) and stacks (`name`, ...)."""
    return {"file_systems": list(_file_systems()), "stacks": list(_stacks())}


def _file_systems() -> Iterator[dict[str, str]]:
    for kind, backends in (("efs", efs_backends), ("fsx", fsx_backends)):
        for _, region, backend in backends.iter_backends():
            ids = backend.file_systems_by_id if kind == "efs" else backend.file_systems  # type: ignore[attr-defined]
            for file_system_id in list(ids):
                yield {
                    "id": file_system_id,
                    "type": kind,
                    "region": region,
                    "folder": str(folder(file_system_id)),
                }


def _stacks() -> Iterator[dict[str, str]]:
    for _, region, backend in cloudformation_backends.iter_backends():
        for stack in list(backend.stacks.values()):  # type: ignore[attr-defined]
            yield {"name": stack.name, "status": stack.status, "region": region}
