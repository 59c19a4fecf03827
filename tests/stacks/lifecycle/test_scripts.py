"""The scripts as texts: their form, their size, and how values get into them."""

from __future__ import annotations

import ast
import base64
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.constructs.notebook_scripts import LONGEST_CONTENT, ON_START, VALUES, render
from tests.stacks.lifecycle import instance

LIFECYCLE = ON_START.parent
TEXTS = sorted(path for path in LIFECYCLE.iterdir() if path.is_file())


def shellcheck(script: str) -> str:
    """Return what shellcheck finds, of whatever severity."""
    done = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), "--shell=bash", "-"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_lines_end_as_linux_wants_them(path: Path) -> None:
    """One carriage return makes bash fail, which SageMaker shows as a time-out (issue 86 of
    aws-samples/amazon-sagemaker-notebook-instance-lifecycle-config-samples)."""
    content = path.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")


def test_git_checks_every_text_out_with_such_lines() -> None:
    attributes = (LIFECYCLE.parents[1] / ".gitattributes").read_text()
    assert "* text=auto eol=lf\n" in attributes


def test_shellcheck_finds_nothing_in_the_script_that_sagemaker_gets() -> None:
    assert shellcheck(render(instance.VALUES)) == ""


@pytest.mark.parametrize("name", ["on-start.sh", "setup.sh"])
def test_shellcheck_finds_nothing_in_the_files(name: str) -> None:
    assert shellcheck((LIFECYCLE / name).read_text()) == ""


def test_the_script_fits_the_api_in_base64_with_the_longest_values() -> None:
    longest = replace(
        instance.VALUES,
        notebook_name="n" * 63,
        source_bucket="b" * 63,
        source_key="k" * 200,
        wheels="s3://" + "w" * (63 + 1 + 512),
    )
    assert len(base64.b64encode(render(longest).encode())) < LONGEST_CONTENT


def test_values_take_the_place_of_one_line() -> None:
    script = render(instance.VALUES)
    assert VALUES not in script
    assert "readonly EFS_DNS_NAME=fs-1.efs.eu-central-1.amazonaws.com\n" in script
    assert "readonly WHEELS=''\n" in script


anything = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))


@given(value=anything)
def test_no_value_is_ever_run(value: str) -> None:
    values = replace(instance.VALUES, wheels=value)
    script = render(values)
    begin = script.index("readonly NOTEBOOK_NAME")
    end = script.index("readonly USER_HOME")
    done = subprocess.run(
        ["/bin/bash", "-c", script[begin:end] + 'printf %s "$WHEELS"'],
        env={"PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == value
    assert done.stderr == b""


def test_the_idle_check_is_of_the_systems_python() -> None:
    """Amazon Linux 2023 comes with Python 3.9."""
    ast.parse((LIFECYCLE / "stop_when_idle.py").read_text(), feature_version=(3, 9))
