"""What Tab finds, asked of a real bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from training.completion import APPS, script

PROJECT = Path(__file__).resolve().parents[2]

# As bash calls the function: the words of the line, and the one that the cursor is in.
CALL = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_mask_rcnn_complete
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "script"
    path.write_text(script(), encoding="utf-8")
    return path


def found(file: Path, *words: str) -> list[str]:
    asked = ["bash", "-c", CALL, "bash", str(file), *words]
    ended = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-m", "training.l"), ["training.launch"]),
        (("-m", "training.maskrcnn.p"), ["training.maskrcnn.predict"]),
        (("-m", "training.jobs", "co"), ["compare", "cost"]),
        (("-m", "training.jobs", "status", "--w"), ["--watch"]),
        (("-m", "training.jobs", "status", "NAME", "--w"), ["--watch"]),
        (("-m", "training.jobs", "status", "--platform", "e"), ["ec2", "eks"]),
        (("-m", "training.launch", "job.yaml", "--platform", "l"), ["local"]),
        (
            ("-m", "training.launch", "--algorithm", ""),
            ["horovod", "tensorpack", "aws-samples", "tf2-smddp"],
        ),
        (("-m", "training.launch", "--data-source", "s"), ["s3"]),
        (("-m", "training.launch", "--dry"), ["--dry-run"]),
        (("-m", "training.data", "stage", "--del"), ["--delete"]),
        # What is no word of ours: bash then completes files.
        (("-m", "training.launch", "jobs/"), []),
        (("-m", "http.s"), []),
        (("script.p",), []),
        (("-c", "x"), []),
    ],
)
def test_tab_finds_what_the_commands_take(
    file: Path, words: tuple[str, ...], expected: list[str]
) -> None:
    assert found(file, "python", *words) == expected


def test_every_command_line_of_the_package_is_known() -> None:
    own = {
        str(path.relative_to(PROJECT).with_suffix("")).replace("/", ".").removesuffix(".__main__")
        for path in (PROJECT / "training").rglob("*.py")
        if "\n    run(app)" in path.read_text(encoding="utf-8")
    }
    assert own == set(APPS)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_command_prints_a_script_that_the_shell_takes(shell: str) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "training.completion", shell],
        capture_output=True, text=True, check=True, cwd=PROJECT,
    )  # fmt: skip
    assert made.stdout.endswith("complete -o default -F _mask_rcnn_complete python python3\n")
    assert made.stdout.startswith("autoload") == (shell == "zsh")
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=made.stdout, text=True, check=True)
