"""`python -m training.preflight --stacks` where AWS does not answer, or something else does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.training.pretender import JUNK, environ, pretending


def preflight(endpoint: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.preflight", "--stacks", *arguments],
        cwd=ROOT,
        env={**os.environ, **environ(endpoint), "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_captive_portal_ends_it_with_4_and_one_line(tmp_path: Path) -> None:
    with pretending(JUNK["a page"]) as pretender:
        answer = preflight(pretender.endpoint, tmp_path)
    assert answer.returncode == 4
    assert answer.stderr.startswith(
        f"error: {pretender.endpoint} (us-east-1): GetCallerIdentity was answered"
    )
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_the_first_question_has_the_time_limit_too(tmp_path: Path) -> None:
    with pretending(None) as pretender:
        answer = preflight(pretender.endpoint, tmp_path, "--time-limit-s", "1")
    assert answer.returncode == 4
    assert answer.stderr.startswith(
        f"error: {pretender.endpoint} (us-east-1): did not say within 1 s whose"
    )
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


@pytest.mark.parametrize("suppressed", [False, True])
def test_a_gate_does_not_pass_where_nothing_was_checked(tmp_path: Path, suppressed: bool) -> None:
    left_out = ("--suppress", "check-timed-out") if suppressed else ()
    with pretending(None, but_who=True) as pretender:
        answer = preflight(
            pretender.endpoint, tmp_path, "--time-limit-s", "1", "--format", "json", *left_out
        )
    assert answer.returncode == 4
    assert answer.stderr.startswith("error: no check could be made: AWS ")
    assert answer.stderr.count("\n") == 1
    codes = {finding["code"] for finding in json.loads(answer.stdout)["findings"]}
    # That nobody is named needs no answer of AWS's.
    codes.remove("kubernetes-without-admins")
    assert codes == (set() if suppressed else {"check-timed-out"})


def test_junk_for_single_checks_is_a_warning_of_each(tmp_path: Path) -> None:
    with pretending(JUNK["an empty object"], but_who=True) as pretender:
        answer = preflight(pretender.endpoint, tmp_path, "--only", "bootstrap-missing")
    assert answer.returncode == 4
    assert "warning: check-not-answered: " in answer.stdout
    assert "GetParameter was answered (HTTP 200, application/json), but not" in answer.stdout
    assert "Traceback" not in answer.stderr
