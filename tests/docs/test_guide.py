"""What the guide says to type works as typed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

NEEDED = [
    *("app.py", "cdk.json", "stacks", "training", "localaws", "jobs"),
    *(".venv", "node_modules"),
]

_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def bash_blocks(document: str) -> list[str]:
    return _BLOCK.findall((PROJECT / "docs" / document).read_text(encoding="utf-8"))


@pytest.fixture
def copy_of_project(tmp_path: Path) -> Path:
    """A folder with the project's files, so that what the guide makes is not made in it."""
    for name in NEEDED:
        assert (PROJECT / name).exists(), f"{name} is missing: run make setup"
        (tmp_path / name).symlink_to(PROJECT / name)
    return tmp_path


@pytest.mark.slow
def test_the_guide_runs_from_deploy_to_report(copy_of_project: Path) -> None:
    (script,) = bash_blocks("guide.md")
    # The usual port may be taken by a local AWS of the user's own.
    script = script.replace("localaws start", "localaws start --port 0")
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))
    }
    programs = [copy_of_project / ".venv/bin", copy_of_project / "node_modules/.bin"]
    environ["PATH"] = ":".join([*map(str, programs), environ["PATH"]])
    stop = "python -m localaws stop --discard || true"
    done = subprocess.run(
        ["bash", "-c", f"trap '{stop}' EXIT\nset -ex\n{script}"],
        cwd=copy_of_project,
        env=environ,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    for name in ("first", "second"):
        assert "model: s3://" in done.stderr
        assert f"/{name}/model.pt" in done.stderr
    assert "<html" in (copy_of_project / "runs/log-first/report.html").read_text()
    # The CDK CLI prints outputs to stderr, and to stdout where CI is set.
    assert "StorageStack.BucketName" in done.stdout + done.stderr
