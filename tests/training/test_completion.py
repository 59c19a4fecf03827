"""What Tab finds, asked of a real bash and a real zsh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from training.completion import APPS, script
from training.jobs.record import RECORD, Record, Recorded

PROJECT = Path(__file__).resolve().parents[2]

# As the shell calls the function: the words of the line, and the one that the cursor is in.
CALL = """
call() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
  _mask_rcnn_complete
  printf '%s\\n' "${COMPREPLY[@]}"
}
"""

# The options under which its own function `compgen` calls ours.
ZSH_CALL = CALL.replace(
    "{", "{\nemulate -L sh; setopt kshglob noshglob braceexpand nokshautoload", 1
)

SHELLS = {
    "bash": ["bash", "-c", f'source "$1"; shift; {CALL} call "$@"'],
    "zsh": ["zsh", "-f", "-c", f'source "$1"; shift; {ZSH_CALL} call "$@"'],
}

NO_RECORD = Path("/no-such-place")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "script"
    # Bash has no `autoload`, and `zsh -f` no `complete`.
    start = '[ -z "${ZSH_VERSION-}" ] || { autoload -Uz compinit bashcompinit; '
    path.write_text(f"{start}compinit -D -u; bashcompinit; }}\n{script()}", encoding="utf-8")
    return path


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def found(
    file: Path, *words: str, shell: str = "bash", states: Path = NO_RECORD, **variables: str
) -> list[str]:
    ended = subprocess.run(
        [*SHELLS[shell], shell, str(file), *words],
        capture_output=True, text=True, check=True,
        env={**os.environ, "XDG_STATE_HOME": str(states), **variables},
    )  # fmt: skip
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
        (("-m", "training.completion", ""), ["bash", "zsh"]),
        # As bash cuts `--platform=l`.
        (("-m", "training.launch", "--platform", "=", "l"), ["local"]),
        (("-m", "training.launch", "--platform", "="), ["local", "sagemaker", "ec2", "eks"]),
        # What is no word of ours: bash then completes files.
        (("-m", "training.launch", "jobs/"), []),
        (("-m", "training.launch", ""), []),
        (("-m", "training.launch", "--outputs-file", ""), []),
        (("-m", "training.jobs", "compare", ""), []),
        (("-m", "training.jobs", "report", ""), []),
        (("-m", "http.s"), []),
        (("script.p",), []),
        (("-c", "x"), []),
    ],
)
def test_tab_finds_what_the_commands_take(
    file: Path, shell: str, words: tuple[str, ...], expected: list[str]
) -> None:
    said = found(file, "python", *words, shell=shell)
    # What begins with the word, zsh looks out by itself.
    assert (said if shell == "bash" else [each for each in said if each in expected]) == expected


JOBS = ("-m", "training.jobs")


@pytest.fixture
def states(tmp_path: Path) -> Path:
    """The folder of a record of four launches, the newest last."""
    record = Record.of({"XDG_STATE_HOME": str(tmp_path)})
    for number, (name, platform) in enumerate(
        [("job-a", "sagemaker"), ("other", "eks"), ("job-b", "ec2"), ("job-a", "ec2")]
    ):
        launched = f"2026-05-0{number + 1}T00:00:00+00:00"
        record.add(
            Recorded(
                name=name, platform=platform, region="eu-west-1", account=None, created=launched,
                log=None,
            )
        )  # fmt: skip
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((*JOBS, "status", ""), ["job-a", "job-b", "other"]),
        ((*JOBS, "logs", "--follow", ""), ["job-a", "job-b", "other"]),
        ((*JOBS, "stop", ""), ["job-a", "job-b", "other"]),
        ((*JOBS, "cost", "job-a", ""), ["job-a", "job-b", "other"]),
        ((*JOBS, "status", "--platform", "ec2", ""), ["job-a", "job-b"]),
        ((*JOBS, "status", "--platform=eks", ""), ["other"]),
        ((*JOBS, "status", "--platform", "=", "eks", ""), ["other"]),
        ((*JOBS, "report", "--platform", "sagemaker", ""), ["job-a"]),
        (("-m", "training.launch", "--resume", "--name", ""), ["job-a", "job-b", "other"]),
        ((*JOBS, "status", "--platform", "$(touch x)", ""), []),
        ((*JOBS, "status", "--platform", ".*", ""), []),
    ],
)  # fmt: skip
def test_tab_finds_jobs_of_the_record_newest_first(
    file: Path, states: Path, shell: str, words: tuple[str, ...], expected: list[str]
) -> None:
    assert found(file, "python", *words, shell=shell, states=states) == expected


def test_tab_finds_jobs_that_begin_so(file: Path, states: Path) -> None:
    assert found(file, "python", *JOBS, "status", "j", states=states) == ["job-a", "job-b"]
    assert found(file, "python", *JOBS, "status", "--w", states=states) == ["--watch"]


def test_only_names_are_taken_from_the_record(file: Path, states: Path, shell: str) -> None:
    evil = states / "evil"
    lines = (
        f'{{"name": "$(touch {evil})", "platform": "ec2", "region": null}}',
        f'{{"name": "`touch {evil}`", "platform": "ec2", "region": null}}',
        '{"name": "a b", "platform": "ec2", "region": null}',
        '{"name": "*", "platform": "ec2", "region": null}',
        '{"name": "-rf", "platform": "ec2", "region": null}',
        '{"name": "torn", "platform": "ec2", "reg',
        '["name"]',
        "\x00\x7f\ufffd",
    )
    with (states / RECORD).open("ab") as file_:
        file_.write("\n".join(lines).encode() + b"\xff\xfe\n")
    words = ("python", *JOBS, "stop", "")
    assert found(file, *words, shell=shell, states=states) == ["job-a", "job-b", "other"]
    assert not evil.exists()


def test_a_record_that_is_not_there_or_no_file_gives_nothing(file: Path, tmp_path: Path) -> None:
    (tmp_path / RECORD).mkdir(parents=True)
    words = ("python", *JOBS, "stop", "")
    assert found(file, *words, states=tmp_path) == []
    assert found(file, *words, states=tmp_path / "none") == []


def test_a_relative_folder_of_states_is_not_taken_as_by_the_record(
    file: Path, states: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".local").mkdir(parents=True)
    (home / ".local" / "state").symlink_to(states)
    said = found(file, "python", *JOBS, "stop", "", states=Path("x"), HOME=str(home))
    assert said == ["job-a", "job-b", "other"]


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
    subprocess.run([shell, "-n"], input=made.stdout, text=True, check=True)
