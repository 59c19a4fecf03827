"""Which operations of AWS the code calls, read from its text.

Names are enough: boto3's methods are named after operations (`list_objects_v2`), code that asks for
a client says for which service, and what is called by its name is a text (`get_paginator("...")`).
A method of something else with such a name asks for a permission too many, which a test then shows.
test_calls.py compares with what real commands send.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import botocore.session
from botocore import xform_name
from botocore.exceptions import UnknownServiceError

from tests.stacks.permissions.modules import files_of
from tests.stacks.permissions.thin_clients import used_calls

CLIENT_MAKERS = ("boto", "client", "new_client")

Operation = tuple[str, str]
"""Service and operation, as botocore names them: `("s3", "ListObjectsV2")`."""

# https://boto3.amazonaws.com/v1/documentation/api/latest/guide/s3-uploading-files.html
_UPLOAD = (
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CreateMultipartUpload",
    "PutObject",
    "UploadPart",
)
S3_TRANSFERS: Mapping[str, tuple[str, ...]] = {
    "upload_file": _UPLOAD,
    "upload_fileobj": _UPLOAD,
    "download_file": ("GetObject", "HeadObject"),
    "download_fileobj": ("GetObject", "HeadObject"),
}
"""Methods of boto3's S3 client that are several operations."""

# https://docs.aws.amazon.com/cli/latest/reference/s3/sync.html
S3_COMMANDS: Mapping[str, tuple[str, ...]] = {"sync": ("GetObject", "ListObjectsV2")}
"""Commands `aws s3 ...` from the bucket to a folder."""


@cache
def operations_of(service: str) -> Mapping[str, str]:
    """Return method to operation, waiters among the methods."""
    session = botocore.session.get_session()
    model = session.get_service_model(service)
    methods = {xform_name(name): name for name in model.operation_names}
    try:
        waiters = session.get_waiter_model(service)
    except UnknownServiceError:  # It has none.
        return methods
    return methods | {
        xform_name(name): waiters.get_waiter(name).operation for name in waiters.waiter_names
    }


@cache
def operations_of_the_notebook() -> frozenset[Operation]:
    """Return what the commands call that are for the notebook."""
    return frozenset(operations_in_python(files_of()))


def operations_in_python(files: Iterable[Path]) -> set[Operation]:
    """Return what modules call."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(files)}
    calls = used_calls(trees)
    services = {each for nodes in calls.values() for node in nodes for each in _asked_for(node)}
    return {
        found
        for path, nodes in calls.items()
        for told in [_told(path, trees[path])]
        for node in nodes
        for found in _operations(node, services, told)
    }


def _told(path: Path, tree: ast.Module) -> set[str]:
    """Return the services that a module says it is about, for names that several have.

    A thin client in a folder `aws` is named after its service; types of clients are imported from
    `mypy_boto3_<service>`.
    """
    own = {path.stem} if path.parent.name == "aws" else set()
    typed = {
        node.module.removeprefix(_TYPES)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_TYPES)
    }
    return {name.replace("_", "-") for name in own | typed}


_TYPES = "mypy_boto3_"


def _asked_for(call: ast.Call) -> Iterator[str]:
    """Yield the service that a call makes a client of."""
    if _name(call) in CLIENT_MAKERS:
        for argument in call.args:
            if isinstance(argument, ast.Constant) and argument.value in _services():
                yield str(argument.value)


@cache
def _services() -> frozenset[str]:
    return frozenset(botocore.session.get_session().get_available_services())


def _operations(call: ast.Call, services: set[str], told: set[str]) -> Iterator[Operation]:
    names = [str(each.value) for each in call.args if isinstance(each, ast.Constant)]
    if isinstance(call.func, ast.Attribute) and _may_be_of_client(call.func.attr, call):
        names.append(call.func.attr)
    for name in names:
        if "s3" in services:
            yield from (("s3", operation) for operation in S3_TRANSFERS.get(name, ()))
        owners = sorted(service for service in services if name in operations_of(service))
        if len(owners) > 1:
            owners = [service for service in owners if service in told] or owners
        assert len(owners) < 2, f"{name} is an operation of {owners}: tell them apart here"
        for service in owners:
            yield service, operations_of(service)[name]


def _may_be_of_client(name: str, call: ast.Call) -> bool:
    """Return whether a call may be that of a boto3 client, whose operations take names only."""
    return not call.args or name in S3_TRANSFERS


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


_COMMAND = re.compile(r"""\baws["', ]+(?P<service>[a-z0-9-]+)["', ]+(?P<command>[a-z-]+)\b""")


def operations_in_scripts(folder: Path) -> set[Operation]:
    """Return what the AWS CLI is told to call by the files of a folder."""
    found: set[Operation] = set()
    for path in sorted(folder.iterdir()):
        for match in _COMMAND.finditer(path.read_text() if path.is_file() else ""):
            service, command = match["service"], match["command"]
            if service == "s3":
                found |= {("s3", operation) for operation in S3_COMMANDS[command]}
            else:
                service = {"s3api": "s3"}.get(service, service)
                found.add((service, operations_of(service)[command.replace("-", "_")]))
    return found
