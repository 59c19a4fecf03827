"""The log folder of a job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training.layout import LogChannel
from training.preflight.log_folder import find


def codes(log: Path, hyperparameters: dict[str, object], *, resume: bool) -> list[str]:
    found = find(LogChannel(log), hyperparameters, defaults={}, resume=resume)
    return [finding.code for finding in found]


def test_a_new_folder_is_fine(tmp_path: Path) -> None:
    assert codes(tmp_path / "a" / "b", {}, resume=False) == []


def test_a_folder_that_is_there_belongs_to_another_job(tmp_path: Path) -> None:
    (finding,) = find(LogChannel(tmp_path), {}, defaults={}, resume=False)
    assert finding.code == "log-exists"
    assert str(tmp_path) in finding.message
    assert "--resume" in finding.message


def test_a_folder_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert codes(tmp_path / "file" / "log", {}, resume=False) == ["log-not-writable"]


def test_a_folder_below_one_that_is_read_only_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    assert codes(tmp_path / "log", {}, resume=False) == ["log-not-writable"]


def test_there_is_nothing_to_go_on_with_under_a_name_that_never_ran(tmp_path: Path) -> None:
    assert codes(tmp_path / "log", {}, resume=True) == ["resume-nothing"]


def test_going_on_with_the_same_hyperparameters_is_fine(tmp_path: Path) -> None:
    (tmp_path / "hyperparameters.json").write_text(json.dumps({"seed": 1}))
    assert codes(tmp_path, {"seed": 1}, resume=True) == []


def test_going_on_with_other_hyperparameters_names_each(tmp_path: Path) -> None:
    (tmp_path / "hyperparameters.json").write_text(json.dumps({"seed": 1, "old": 2, "same": 3}))
    (finding,) = find(
        LogChannel(tmp_path), {"seed": 5, "new": 4, "same": 3}, defaults={}, resume=True
    )
    assert finding.code == "resume-changes-hyperparameters"
    assert "new None to 4, old 2 to None, seed 1 to 5" in finding.message


def test_a_hyperparameter_that_came_later_had_its_default(tmp_path: Path) -> None:
    (tmp_path / "hyperparameters.json").write_text(json.dumps({"seed": 1}))
    log = LogChannel(tmp_path)
    same = find(log, {"seed": 1, "new": 2}, defaults={"seed": 0, "new": 2}, resume=True)
    assert list(same) == []
    (finding,) = find(log, {"seed": 1, "new": 3}, defaults={"seed": 0, "new": 2}, resume=True)
    assert "(new 2 to 3)" in finding.message


@pytest.mark.parametrize("text", ["{", "[]", "null", "5", '"x"', "[" * 10000])
def test_a_broken_record_of_the_hyperparameters_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "hyperparameters.json").write_text(text)
    assert codes(tmp_path, {}, resume=True) == ["log-unreadable"]


def test_a_job_that_was_killed_before_it_began_goes_on(tmp_path: Path) -> None:
    assert codes(tmp_path, {"seed": 1}, resume=True) == []
