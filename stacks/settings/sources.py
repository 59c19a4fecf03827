"""Where the context of the CDK app comes from: cdk.json, and what the CDK CLI hands over.

CDK reads both by itself, and ends what it cannot read in an exception of Node's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacks.settings.text import printable, shortened, shown
from training.errors import UsageError

CONTEXT_VARIABLE = "CDK_CONTEXT_JSON"
"""cdk.json's context and that of `-c`, from the CLI to the app."""

OVERFLOW_VARIABLE = "CONTEXT_OVERFLOW_LOCATION_ENV"
"""A file with the rest of it, where it is too long for a variable."""

OUTDIR_VARIABLE = "CDK_OUTDIR"

STRENGTHS_KEY = "@aws-cdk/core:defaultCrossStackReferences"
STRENGTHS = ("weak", "both", "strong")
"""https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/README.md#reference-strength"""

_OF_JSII = "$jsii."
"""Keys that begin so are jsii's: it would make objects of its own of them."""


def context_of_cdk_json(path: Path) -> dict[str, Any]:
    """Return the context of cdk.json: feature flags of CDK, and settings of this app.

    Raises:
        UsageError: It cannot be read, is no JSON object or has no context.
    """
    content = _json_object(_text_of(path), path.name)
    if not isinstance(content.get("context"), dict):
        raise UsageError(
            f'{path.name} has no "context" object, in which the flags are with which these stacks '
            "are made: put it back (git checkout cdk.json), then add your settings to it"
        )
    return _checked(content["context"])


def context_of_cli(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the context that the CDK CLI hands over.

    Raises:
        UsageError: It is no JSON object.
    """
    context: dict[str, Any] = {}
    overflow = environ.get(OVERFLOW_VARIABLE)
    if overflow:
        context.update(_json_object(_text_of(Path(overflow)), OVERFLOW_VARIABLE))
    if environ.get(CONTEXT_VARIABLE):
        context.update(_json_object(environ[CONTEXT_VARIABLE], CONTEXT_VARIABLE))
    return _checked(context)


def make_outdir(environ: Mapping[str, str]) -> None:
    """Make the folder in which the CDK CLI wants the templates, if it wants one.

    Raises:
        UsageError: It cannot be made or written to.
    """
    outdir = environ.get(OUTDIR_VARIABLE)
    if not outdir:
        return
    try:
        Path(outdir).mkdir(parents=True, exist_ok=True)
        probe = Path(outdir, ".writable")
        probe.touch()
        probe.unlink()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the templates cannot be written to {OUTDIR_VARIABLE} = {shown(outdir)} "
            f"({_reason(error)}): name another folder (cdk --output FOLDER)"
        ) from error


def _text_of(path: Path) -> str:
    try:
        # As the CLI, which leaves a byte order mark out.
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{printable(str(path))} cannot be read ({_reason(error)})") from error


def _json_object(text: str, source: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{source} is no valid JSON ({shortened(printable(str(error)))}): correct it there"
        ) from error
    if not isinstance(content, dict):
        raise UsageError(
            f"{source} = {shown(content)} is no JSON object: what is wanted is "
            '{"key": value, ...}'
        )
    return content


def _checked(context: dict[str, Any]) -> dict[str, Any]:
    for key, value in context.items():
        if _has_key_of_jsii(value):
            raise UsageError(
                f"context key {shortened(printable(key))} = {shown(value)} holds a name that "
                f"begins with {_OF_JSII}, which CDK keeps for itself: give a plain value"
            )
    strength = context.get(STRENGTHS_KEY)
    if strength is not None and strength not in STRENGTHS:
        raise UsageError(
            f"context key {STRENGTHS_KEY} = {shown(strength)}: allowed is weak, both or strong"
        )
    return context


def _has_key_of_jsii(value: object) -> bool:
    if isinstance(value, dict):
        return any(
            name.startswith(_OF_JSII) or _has_key_of_jsii(item) for name, item in value.items()
        )
    return isinstance(value, list) and any(map(_has_key_of_jsii, value))


def _reason(error: OSError | ValueError) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    return shortened(printable(said or str(error)))
