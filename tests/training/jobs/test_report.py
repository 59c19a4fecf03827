import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "data" / "coco"


def report(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.jobs", "report", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "log-trial"
    folder.mkdir()
    predictions = {"split": "val2017", "step": 3, "detections": []}
    (folder / "predictions.json").write_text(json.dumps(predictions), encoding="utf-8")
    return folder


def test_report_prints_where_the_page_is(log_dir: Path):
    done = report(str(log_dir))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(log_dir / "report.html")
    assert "The data set is not at hand" in (log_dir / "report.html").read_text(encoding="utf-8")


def test_report_takes_the_data_set_from_the_job(log_dir: Path):
    job = {"request": {"data": str(DATA)}}
    (log_dir / "job.json").write_text(json.dumps(job), encoding="utf-8")
    answer = json.loads(report(str(log_dir), "--format", "json").stdout)
    assert answer["report"] == str(log_dir / "report.html")
    assert (log_dir / "report.html").read_text(encoding="utf-8").count("<img") == 4


def test_report_takes_the_data_set_that_is_named(log_dir: Path):
    assert report(str(log_dir), "--data", str(DATA)).returncode == 0
    assert (log_dir / "report.html").read_text(encoding="utf-8").count("<img") == 4


def test_wrong_folders_are_wrong_usage(log_dir: Path, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, said in (
        ([str(tmp_path / "none")], "no such folder"),
        ([str(empty)], "not a job's log channel"),
        ([str(log_dir), "--data", str(tmp_path / "none")], "--data"),
    ):
        done = report(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert said in done.stderr
    assert list(empty.iterdir()) == []
