"""Writes the tables of docs/reference.md, and the job spec's schema, from the code:
`python docs/make_reference.py`.

Text between `<!-- table: NAME -->` and `<!-- end -->` is replaced; the rest is left alone.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stacks.settings import Settings
from training import algorithms
from training.algorithms.pairings import PAIRINGS, Pairing, right_instances
from training.errors import ExitCode
from training.field_docs import field_docs
from training.job import JobSpec
from training.job_schema import SCHEMA, job_schema
from training.outputs import CONTRACTS, output_key
from training.preflight.check import Check
from training.preflight.job.registry import ALL as JOB_CHECKS
from training.preflight.stacks.registry import ALL as STACK_CHECKS

REFERENCE = Path(__file__).with_name("reference.md")
SCHEMA_FILE = Path(__file__).resolve().parent.parent / "jobs" / SCHEMA

_MARKED = re.compile(r"(<!-- table: (?P<name>\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

_EXIT_CODES = {
    ExitCode.DONE: "done",
    ExitCode.JOB_FAILED: "the job failed",
    ExitCode.USAGE: "wrong usage or job spec; nothing was started",
    ExitCode.PREFLIGHT: "a check found an error; nothing was started",
    ExitCode.AWS: "AWS, or the EKS cluster, refused a request or could not be reached",
    ExitCode.CHECKPOINTED: "stopped with a checkpoint (a signal, a time limit): run it again",
    ExitCode.INTERRUPTED: "interrupted before there was anything to go on from",
}


def exit_codes() -> Iterator[str]:
    yield from _rows(["code", "meaning"], [[str(int(c)), text] for c, text in _EXIT_CODES.items()])


def job_spec() -> Iterator[str]:
    yield from _rows(["key", "default", "meaning"], list(_fields(JobSpec)))


def pairings() -> Iterator[str]:
    rows = [
        [
            f"`{row.algorithm}`",
            f"`{row.distribution}`",
            ", ".join(f"`{platform}`" for platform in row.platforms),
            _instances(row),
            _one_line(row.software),
        ]
        for row in PAIRINGS
    ]
    yield from _rows(
        ["algorithm", "distribution", "platforms", "instance types", "image holds"], rows
    )


def _instances(row: Pairing) -> str:
    """Return the types where there are few, else their families."""
    names = list(right_instances(row, "ec2"))
    if len(names) > 4:
        names = [f"{family}.*" for family in dict.fromkeys(n.partition(".")[0] for n in names)]
    return ", ".join(f"`{name}`" for name in names)


def hyperparameters() -> Iterator[str]:
    yield from _of_algorithm("horovod")


def hyperparameters_tensorpack() -> Iterator[str]:
    yield from _of_algorithm("tensorpack")


def hyperparameters_aws_samples() -> Iterator[str]:
    yield from _of_algorithm("aws-samples")


def hyperparameters_tf2_smddp() -> Iterator[str]:
    yield from _of_algorithm("tf2-smddp")


def _of_algorithm(name: str) -> Iterator[str]:
    model = algorithms.load(name).HYPERPARAMETERS
    yield from _rows(["key", "default", "meaning"], list(_fields(model)))


def settings() -> Iterator[str]:
    for group in Settings.groups().values():
        yield f"\n**{_one_line((group.__doc__ or '').rstrip('.'))}**\n"
        about = field_docs(group)
        rows = [
            [
                f"`{field.alias or name}`",
                _default(field) if field.default not in (None, (), {}) else "none",
                _one_line(field.description or ""),
                _one_line(about.get(name, "")),
            ]
            for name, field in group.model_fields.items()
        ]
        yield from _rows(["context key", "default", "allowed", "what it does"], rows)


def stack_checks() -> Iterator[str]:
    yield from _checks(STACK_CHECKS)


def job_checks() -> Iterator[str]:
    yield from _checks(JOB_CHECKS)


def _checks(kinds: Sequence[type[Check]]) -> Iterator[str]:
    rows = [
        [
            _one_line((check.__doc__ or "").split("\n\n")[0]),
            ", ".join(f"`{code}` ({severity})" for code, severity in check.codes.items()),
            ", ".join(f"`{action}`" for action in sorted(check.actions)) or "none",
        ]
        for check in kinds
    ]
    yield from _rows(["what is checked", "findings", "IAM actions"], rows)


def outputs() -> Iterator[str]:
    from dataclasses import fields

    rows = [
        [contract.STACK, f"`{output_key(field.name)}`", f"`{field.name}`"]
        for contract in CONTRACTS
        for field in fields(contract)
    ]
    yield from _rows(["stack", "output", "field"], rows)


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    table.__name__: table
    for table in (
        exit_codes,
        job_spec,
        pairings,
        hyperparameters,
        hyperparameters_tensorpack,
        hyperparameters_aws_samples,
        hyperparameters_tf2_smddp,
        settings,
        stack_checks,
        job_checks,
        outputs,
    )
}


def render(text: str) -> str:
    """Return the reference with every marked table made anew."""
    return _MARKED.sub(lambda m: m[1] + "\n".join(TABLES[m["name"]]()) + "\n" + m[3], text)


def schema_text() -> str:
    return json.dumps(job_schema(), indent=1, ensure_ascii=False) + "\n"


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[list[str]]:
    about = field_docs(model)
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and get_origin(inner) is None and issubclass(inner, BaseModel):
            yield from _fields(inner, f"{prefix}{name}.")
        else:
            yield [f"`{prefix}{name}`", _default(field), _one_line(about.get(name, ""))]


def _default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True)
    return f"`{value}`" if not isinstance(value, tuple) else f"`{list(value)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _rows(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    for row in [head, ["---"] * len(head), *rows]:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    REFERENCE.write_text(render(REFERENCE.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
