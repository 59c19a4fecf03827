"""`python -m training.completion bash`: what a shell needs to complete our command lines.

The words are worked out once, when the script is made: Tab must not wait for an interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, get_args

import typer

from training import algorithms, platforms
from training.cli import Format, new_app, run
from training.job import DataSource
from training.jobs import control, everywhere
from training.shared_options import command_line

APPS = (
    "training.launch",
    "training.preflight",
    "training.jobs",
    "training.data",
    "training.images",
    "training.prices",
    "training.kubernetes",
    "training.completion",
    "training.maskrcnn.train",
    "training.maskrcnn.predict",
    "training.maskrcnn.export",
    "training.maskrcnn.replay",
)

_SCRIPT = """\
# Completes `python -m training...` in bash: eval "$(python -m training.completion bash)"
_mask_rcnn_words() {
  case "$1" in
%(cases)s
  esac
}
_mask_rcnn_complete() {
  local word="${COMP_WORDS[COMP_CWORD]}" key words each
  COMPREPLY=()
  [ "${COMP_WORDS[1]}" = -m ] && [ "$COMP_CWORD" -ge 2 ] || return 0
  if [ "$COMP_CWORD" -eq 2 ]; then
    mapfile -t COMPREPLY < <(compgen -W '%(apps)s' -- "$word")
    return 0
  fi
  key="${COMP_WORDS[2]}"
  for each in "${COMP_WORDS[@]:3:COMP_CWORD-3}"; do
    [ -n "$(_mask_rcnn_words "$key $each")" ] && key="$key $each"
  done
  words="$(_mask_rcnn_words "$key ${COMP_WORDS[COMP_CWORD-1]}=")"
  [ -n "$words" ] || words="$(_mask_rcnn_words "$key")"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _mask_rcnn_complete python python3
"""

_CHOICES: Mapping[str, Sequence[str]] = {
    "--format": [each.value for each in Format],
    "--platform": platforms.NAMES,
    "--algorithm": algorithms.NAMES,
    "--data-source": get_args(DataSource),
}
"""What options take that take only some words."""

_ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"


class Shell(StrEnum):
    """For which the script is."""

    BASH = "bash"
    ZSH = "zsh"


app = new_app("Completion of these command lines by Tab.")


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="Whose script to print.")],
) -> None:
    """Print a script that completes `python -m training...`.

    For this shell: eval "$(python -m training.completion bash)". For each new one, that line in
    ~/.bashrc, or with zsh in ~/.zshrc. It knows the commands of today: after an update, anew.
    """
    start = _ZSH if shell is Shell.ZSH else ""
    typer.echo(start + script(), nl=False)


def script() -> str:
    """Return bash's script; zsh takes it with its own emulation of `complete`."""
    words = {key: found for name in APPS for key, found in _words(name)}
    cases = "\n".join(f"    '{key}') echo '{' '.join(found)}' ;;" for key, found in words.items())
    return _SCRIPT % {"cases": cases, "apps": " ".join(APPS)}


def _words(name: str) -> Iterator[tuple[str, Sequence[str]]]:
    module = import_module(name)
    found = import_module(f"{name}.__main__") if hasattr(module, "__path__") else module
    yield from _of(name, command_line(found.app))


def _of(key: str, command: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the words after a command, those after an option with choices (`KEY OPTION=`)."""
    below: Mapping[str, Any] = getattr(command, "commands", {})
    options = [name for each in command.params for name in _names(each)]
    yield key, [*below, *options, "--help"]
    for name in options:
        if choices := _choices(key, name):
            yield f"{key} {name}=", choices
    for name, one in below.items():
        yield from _of(f"{key} {name}", one)


def _choices(key: str, option: str) -> Sequence[str]:
    if key.startswith("training.jobs ") and option == "--platform":
        # Jobs here end with the command that runs them.
        takes_all = key.endswith((" list", " cost"))
        return (*control.NAMES, everywhere.ALL) if takes_all else control.NAMES
    return _CHOICES.get(option, ())


def _names(parameter: Any) -> list[str]:
    found = (*parameter.opts, *parameter.secondary_opts)
    return [name for name in found if name.startswith("--")]


if __name__ == "__main__":
    run(app)
