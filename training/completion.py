"""`python -m training.completion bash`: what a shell needs to complete our command lines.

The words are worked out once, when the script is made: Tab must not wait for an interpreter. The
names of jobs are read by the shell itself, from this machine's record, as they are then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, get_args

import typer

from training import algorithms, platforms
from training.cli import Format, new_app, run
from training.job import JOB_NAME, DataSource
from training.jobs import control, everywhere
from training.jobs.record import RECORD
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
    *) return 1 ;;
  esac
}
# The jobs that were launched from here, newest first; those of one platform where the line has it.
_mask_rcnn_jobs() {
  local states="${XDG_STATE_HOME-}" platform=" ${COMP_WORDS[*]} " found=' ' name
  [[ $states == /* ]] || states="${HOME-}/.local/state"
  case "$platform" in
    *' --platform'[=\\ ]*)
      platform="${platform##* --platform}"
      platform="${platform#"${platform%%%%[a-z0-9]*}"}"
      platform="${platform%%%%[!a-z0-9]*}" ;;
    *) platform='[a-z0-9]+' ;;
  esac
  states="$states/%(record)s"
  [ -f "$states" ] || return 0
  # Only what a name is made of: the shell expands the words that it is given.
  for name in $(command tail -n %(most)s "$states" 2>/dev/null | LC_ALL=C command sed -nE \\
    's/^\\{"name": "(%(name)s)", "platform": "'"$platform"'", .*\\}$/\\1/p'); do
    found=" $name${found/ $name / }"
  done
  echo "$found"
}
_mask_rcnn_complete() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" key words each
  local IFS=$' \\t\\n'
  COMPREPLY=()
  [ "${COMP_WORDS[1]}" = -m ] && [ "$COMP_CWORD" -ge 2 ] || return 0
  if [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=( $(compgen -W '%(apps)s' -- "$word") )
    return 0
  fi
  # To bash, `--option=word` is three words.
  [ "$word" = = ] && word=
  [ "$before" = = ] && before="${COMP_WORDS[COMP_CWORD-2]}"
  key="${COMP_WORDS[2]}"
  for each in "${COMP_WORDS[@]:3:$((COMP_CWORD-3))}"; do
    _mask_rcnn_words "$key $each" >/dev/null && key="$key $each"
  done
  # Where nothing is found, the shell completes files.
  if words="$(_mask_rcnn_words "$key $before=")"; then :
  elif [[ $word != -* ]] && words="$(_mask_rcnn_words "$key +")"; then :
  else words="$(_mask_rcnn_words "$key")"
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
  # The newest job first. Not for files, which nobody else would sort; zsh has no compopt.
  [ "${#COMPREPLY[@]}" -eq 0 ] || compopt -o nosort 2>/dev/null || return 0
}
complete -o default -F _mask_rcnn_complete python python3
"""

_MOST_JOBS = 200
"""How many of the newest launches are looked through at each Tab."""

_JOBS = "_mask_rcnn_jobs"

_JOBS_OF_A_PLATFORM = f'[[ "${{COMP_WORDS[*]}}" != *--platform* ]] || {_JOBS}'
"""`report` takes a folder, and a name only with --platform."""


class Shell(StrEnum):
    """For which the script is."""

    BASH = "bash"
    ZSH = "zsh"


_CHOICES: Mapping[str, Sequence[str]] = {
    "--format": [each.value for each in Format],
    "--platform": platforms.NAMES,
    "--algorithm": algorithms.NAMES,
    "--data-source": get_args(DataSource),
    "shell": [each.value for each in Shell],
}
"""What options and arguments take that take only some words."""

_ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"


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
    said = {key: command for name in APPS for key, command in _said(name)}
    cases = "\n".join(f"    '{key}') {command} ;;" for key, command in said.items())
    return _SCRIPT % {
        "cases": cases,
        "apps": " ".join(APPS),
        "record": RECORD,
        "most": _MOST_JOBS,
        "name": JOB_NAME,
    }


def _said(name: str) -> Iterator[tuple[str, str]]:
    module = import_module(name)
    found = import_module(f"{name}.__main__") if hasattr(module, "__path__") else module
    yield from _of(name, command_line(found.app))


def _of(key: str, command: Any) -> Iterator[tuple[str, str]]:
    """Yield what says the words after a command, after its options with a value, and its arguments.

    Their keys are `KEY`, `KEY OPTION=` and `KEY +`; nothing to say leaves it to the shell's files.
    """
    below: Mapping[str, Any] = getattr(command, "commands", {})
    options = [name for each in command.params for name in _names(each)]
    yield key, _echo([*below, *options, "--help"])
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield f"{key} +", _argument(key, parameter)
        elif not (parameter.is_flag or parameter.count):
            for name in _names(parameter):
                yield f"{key} {name}=", _value(key, name)
    for name, one in below.items():
        yield from _of(f"{key} {name}", one)


def _argument(key: str, parameter: Any) -> str:
    if key == "training.jobs report":
        return _JOBS_OF_A_PLATFORM
    if key.startswith("training.jobs ") and "NAME" in (parameter.metavar or ""):
        return _JOBS
    return _echo(_CHOICES.get(parameter.name, ()))


def _value(key: str, option: str) -> str:
    if option == "--name" and key in {"training.launch", "training.preflight"}:
        return _JOBS
    return _echo(_choices(key, option))


def _echo(words: Sequence[str]) -> str:
    return f"echo '{' '.join(words)}'" if words else ""


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
