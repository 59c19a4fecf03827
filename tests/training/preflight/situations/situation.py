"""Rows of the tables: a set-up, what is broken in it, and what is to be found before a launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import typer

from tests.training.preflight.situations.account import Told
from tests.training.preflight.situations.sound import Base
from training.errors import ExitCode

Found = tuple[str, str, str]
"""Code, severity and path; in the path, `{bucket}` stands for what `Base` calls so."""


def error(code: str, path: str) -> Found:
    return (code, "error", path)


def warning(code: str, path: str) -> Found:
    return (code, "warning", path)


def info(code: str, path: str) -> Found:
    return (code, "info", path)


@dataclass(frozen=True)
class Situation:
    """Something that is broken.

    Attributes:
        name: What, in words.
        command: Arguments of the command; `{bucket}` as in `Found`.
        breaks: Breaks it, and sees to it that it is repaired after the test.
        finds: All that is to be found.
    """

    name: str
    command: tuple[str, ...]
    breaks: Callable[[Base], object]
    finds: tuple[Found, ...]

    def arguments(self, base: Base) -> list[str]:
        return [each.format_map(vars(base)) for each in self.command]

    def expected(self, base: Base) -> list[Found]:
        return sorted((code, how, path.format_map(vars(base))) for code, how, path in self.finds)


@dataclass(frozen=True)
class Sound:
    """Something that is as it should be.

    Attributes:
        remarks: Codes of what may be said of it all the same, each with the reason.
    """

    name: str
    command: tuple[str, ...]
    makes: Callable[[Base], object] = lambda _: None
    remarks: tuple[tuple[str, str], ...] = ()

    def arguments(self, base: Base) -> list[str]:
        return [each.format_map(vars(base)) for each in self.command]


def found(told: Told) -> list[Found]:
    """Return what a command found, in order."""
    return sorted((each["code"], each["severity"], each["path"]) for each in told.findings)


def look(base: Base, situation: Situation, app: typer.Typer, *options: str) -> None:
    """Break something, and look whether a command finds that, and starts nothing."""
    situation.breaks(base)
    told = base.account.tell(app, *options, *situation.arguments(base))
    assert found(told) == situation.expected(base), told
    is_stopped = any(severity == "error" for _, severity, _ in situation.finds)
    assert told.exit_code == (ExitCode.PREFLIGHT if is_stopped else ExitCode.DONE)
    assert base.account.writes == set()


def look_at_sound(base: Base, sound: Sound, app: typer.Typer, *options: str) -> None:
    """Look whether a command leaves alone what is as it should be."""
    sound.makes(base)
    told = base.account.tell(app, *options, *sound.arguments(base))
    assert {code for code, _, _ in found(told)} == {code for code, _ in sound.remarks}, told
    assert told.exit_code == ExitCode.DONE
    assert base.account.writes == set()
