"""Tells of each value of a job where it comes from: a default, the file, or the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from training import platforms
from training.config_keys import PREFIX

if TYPE_CHECKING:
    from training.job_options import JobOptions

DEFAULT = "default"
_HYPERPARAMETERS = "hyperparameters"
_GROUPS = ("instances", "channels", "limits", "spot", *platforms.NAMES)
"""Keys of the spec whose values have keys that it knows."""


@dataclass(frozen=True)
class Explained:
    """One value of a job."""

    key: str
    """Dotted, as `--set` takes it."""
    value: Any
    """As JSON has it; None of the spec's own: the plan chooses."""
    source: str
    """`default`, the file as it was named, or the option."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def explain_job(options: JobOptions) -> list[Explained]:
    """Return all values of the job that the options lead to, in the reference's order.

    Options of platforms where it does not run are left out.

    Raises:
        UsageError: The job is wrong.
    """
    from training.job import read_document

    job = options.read()
    document = read_document(options.job_file) if options.job_file is not None else {}
    sources = dict.fromkeys(_keys(document), str(options.job_file))
    sources |= {key: option for key, (_, option) in options.overrides().items()}
    spec = job.spec.model_dump(mode="json", exclude={_HYPERPARAMETERS})
    values = [
        Explained(key, value, _source(key, sources))
        for key, value in _values(spec)
        if key.partition(".")[0] not in platforms.NAMES or key.startswith(f"{job.spec.platform}.")
    ]
    defaults = type(job.hyperparameters)().model_dump(mode="json")
    for name, value in job.hyperparameters.model_dump(mode="json").items():
        key = f"{_HYPERPARAMETERS}.{name}"
        source = _source(key, sources)
        if source == DEFAULT and value != defaults.get(name):
            # TensorPack's name of it.
            source = _source(f"{_HYPERPARAMETERS}.{PREFIX}", sources)
        values.append(Explained(key, value, source))
    return values


def show_explanation(explained: list[Explained], console: Console) -> None:
    """Print a line each, `key: value  # from where`, what was said by somebody in bold."""
    width = max(len(each.key) for each in explained) + 1
    for each in explained:
        line = Text(f"{f'{each.key}:':<{width}} {json.dumps(each.value, ensure_ascii=False)}")
        if each.source != DEFAULT:
            line.stylize("bold")
        console.print(line.append(f"  # {each.source}", "dim not bold"), soft_wrap=True)


def _values(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values, those of a group one by one."""
    for name, value in spec.items():
        if name in _GROUPS:
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _keys(document: Mapping[Any, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of all maps in a document, outer ones first."""
    for name, value in document.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{name}.")


def _source(key: str, sources: Mapping[str, str]) -> str:
    """Return who set a key or something in it; the command line counts more than the file."""
    inner = (f"{key}.", key) if key.endswith(PREFIX) else (f"{key}.",)
    said = [who for place, who in sources.items() if place == key or place.startswith(inner)]
    options = [who for who in said if who.startswith("--")]
    return (options or said or [DEFAULT])[-1]
