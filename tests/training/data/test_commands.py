from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.training.data.conftest import S3
from tests.training.data.test_places import STORAGE
from training.layout import TrainChannel

PROJECT = Path(__file__).resolve().parents[3]
SAMPLE = PROJECT / "tests" / "data" / "coco"


def start(*arguments: str, environ: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "training.data", *arguments],
        env={**os.environ, **environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str, environ: Mapping[str, str] = {}) -> tuple[int, str, str]:
    process = start(*arguments, environ=environ)
    stdout, stderr = process.communicate(timeout=120)
    return process.returncode, stdout, stderr


class Deployed:
    """Local S3 and file systems with the outputs of a StorageStack."""

    def __init__(self, s3: S3, root: Path) -> None:
        self.mount = root / "mounts" / STORAGE["EfsId"]
        self.mount.mkdir(parents=True)
        self.bucket = s3.bucket
        self.environ = {**s3.environ, "MASK_RCNN_MOUNTS": str(root / "mounts")}
        self._outputs_file = root / "outputs.json"
        outputs = {"StorageStack": {**STORAGE, "BucketName": s3.bucket}}
        self._outputs_file.write_text(json.dumps(outputs))

    def stage(self, *arguments: str) -> subprocess.Popen[str]:
        file = ("--outputs-file", str(self._outputs_file))
        return start("stage", *arguments, *file, environ=self.environ)

    def run_stage(self, *arguments: str) -> tuple[int, str, str]:
        process = self.stage(*arguments)
        stdout, stderr = process.communicate(timeout=120)
        return process.returncode, stdout, stderr


@pytest.fixture
def deployed(s3: S3, tmp_path: Path) -> Deployed:
    return Deployed(s3, tmp_path)


def test_the_sample_is_staged_to_s3_and_efs_and_verifies(deployed: Deployed) -> None:
    code, stdout, _ = deployed.run_stage(str(SAMPLE), "--to", "s3", "--format", "json")
    summary: dict[str, Any] = json.loads(stdout)
    assert code == 0
    assert summary["files"] == summary["copied_files"] == 16
    code, stdout, _ = deployed.run_stage("--to", "efs")
    assert code == 0
    assert "16 files, 2.1 MB, verified; 16 copied now, 0 were there" in stdout
    staged = deployed.mount / "mask-rcnn/sagemaker/input/train"
    there = f"s3://{deployed.bucket}/mask-rcnn/sagemaker/input/train"
    code, stdout, stderr = run("verify", there, str(staged), environ=deployed.environ)
    assert (code, stdout, stderr) == (0, "no difference in 16 files\n", "")


def test_a_folder_is_not_staged_into_itself(deployed: Deployed) -> None:
    (deployed.mount / "picture.jpg").write_bytes(b"1")
    code, _, stderr = deployed.run_stage(str(deployed.mount), "--to", "efs", "--path", "below")
    assert code == 2
    assert "one is in the other" in stderr
    assert not (deployed.mount / "below").exists()


def test_verify_names_each_difference_and_exits_with_3(tmp_path: Path) -> None:
    for side, content in (("a", "1"), ("b", "2")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "[red]x.jpg").write_text(content)
    code, stdout, stderr = run("verify", str(tmp_path / "a"), str(tmp_path / "b"))
    assert code == 3
    assert stdout.startswith(f"content: '[red]x.jpg' in {tmp_path / 'b'}: SHA-256 d4735e3a")
    assert "1 difference(s)" in stderr
    code, stdout, _ = run("verify", str(tmp_path / "a"), str(tmp_path / "b"), "--format", "json")
    assert code == 3
    assert [item["kind"] for item in json.loads(stdout)] == ["content"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent", "--to", "s3"], "absent: there is no such folder"),
        (["--to", "s3"], "name what to copy"),
        (["x", "--from", "efs", "--to", "s3"], "not both"),
        ([str(SAMPLE), "--to", "efs", "--path", "../../x"], "has a part . or .."),
        ([str(SAMPLE), "--to", "fsx"], "is not mounted on this machine"),
        ([str(SAMPLE), "--to", "moon"], "moon"),
        ([str(SAMPLE), "--to", "s3", "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_usage_is_one_error_with_exit_code_2(
    arguments: list[str], says: str, deployed: Deployed
) -> None:
    code, stdout, stderr = deployed.run_stage(*arguments)
    assert (code, stdout) == (2, "")
    assert says in stderr
    assert "Traceback" not in stderr


def test_an_s3_that_does_not_answer_is_exit_code_4(tmp_path: Path, s3: S3) -> None:
    environ = {**s3.environ, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    code, stdout, stderr = run("verify", "s3://bucket/x", str(tmp_path), environ=environ)
    assert (code, stdout) == (4, "")
    assert "127.0.0.1:9" in stderr
    assert "Traceback" not in stderr


def test_check_prints_the_report_and_exits_with_3(tmp_path: Path) -> None:
    channel = TrainChannel(tmp_path)
    channel.annotations("train2017").parent.mkdir()
    channel.annotations("train2017").write_text("[]")
    code, stdout, stderr = run("check", str(tmp_path), "--format", "json")
    assert code == 3
    report = json.loads(stdout)
    assert [item["code"] for item in report["findings"]] == ["annotations-not-coco"]
    assert (report["set"], report["errors"]) == (str(tmp_path), 1)
    assert "1 kind(s) of error" in stderr


def test_check_of_the_sample_finds_nothing() -> None:
    code, stdout, stderr = run("check", str(SAMPLE))
    assert (code, stderr) == (0, "")
    assert stdout.endswith("\nno findings\n")
    assert "  1 person                 18         12          3          3" in stdout


def test_check_fixes_a_damaged_set_and_shows_it(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "set")
    broken = tmp_path / "set/train2017/000000006818.jpg"
    broken.write_bytes(broken.read_bytes()[:-3000])
    page, out = tmp_path / "health.html", tmp_path / "clean"
    code, stdout, stderr = run("check", str(tmp_path / "set"), "--html", str(page))
    assert code == 3
    assert "error: image-broken: 1 pictures that cannot be decoded to their end" in stdout
    assert "cannot be decoded" in page.read_text()
    code, stdout, _ = run("check", str(tmp_path / "set"), "--fix", str(out), "--format", "json")
    assert code == 0
    done = json.loads(stdout)["fix"]["done"]
    assert [(one["action"], one["subject"], one["count"]) for one in done] == [
        ("dropped", "annotation", 1),
        ("dropped", "picture", 1),
    ]
    code, stdout, _ = run("check", str(out))
    assert (code, stdout.endswith("\nno findings\n")) == (0, True)
    code, _, stderr = run("check", str(tmp_path / "set"), "--fix", str(out))
    assert code == 2
    assert f"--fix {out}: holds something" in stderr


def test_subset_writes_a_set_that_stage_and_check_take(deployed: Deployed, tmp_path: Path) -> None:
    out = tmp_path / "small"
    wanted = ("--classes", "person, toilet", "--images", "2", "--renumber")
    code, stdout, _ = run("subset", str(SAMPLE), str(out), *wanted)
    assert code == 0
    assert stdout.splitlines()[0].startswith(f"{out}: train2017: 2 of 11 pictures, ")
    assert run("check", str(out))[0] == 0
    code, stdout, _ = deployed.run_stage(str(out), "--to", "efs", "--format", "json")
    assert (code, json.loads(stdout)["files"]) == (0, 7)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "{empty}"], "holds no data set in COCO's format"),
        (["check", str(SAMPLE), "--boxes-as-masks"], "go with --fix OUT"),
        (["check", str(SAMPLE), "--html", "{empty}/no/x.html"], "in a folder that is there"),
        (["subset", str(SAMPLE), "{empty}/out"], "say which pictures"),
        (["subset", str(SAMPLE), "{empty}/out", "--area", "tiny"], "must be small, medium or"),
        (["subset", str(SAMPLE), "{empty}/out", "--include", "absent"], "cannot be read"),
        (["subset", str(SAMPLE), "{empty}/out", "--classes", ","], "names nothing"),
    ],
)
def test_wrong_usage_of_check_and_subset_is_one_error(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    code, _, stderr = run(*(text.format(empty=tmp_path) for text in arguments))
    assert code == 2
    assert says in stderr
    assert "Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []


def test_shapes_says_what_it_made_and_that_it_is_there(tmp_path: Path) -> None:
    wanted = ("shapes", "--out", str(tmp_path / "set"), "--train", "3", "--val", "2")
    code, stdout, _ = run(*wanted, "--format", "json")
    assert (code, json.loads(stdout)["made"]) == (0, True)
    code, stdout, _ = run(*wanted)
    assert (code, stdout) == (
        0,
        f"{tmp_path / 'set'}: there already, 3 pictures to train and 2 to validate\n",
    )


def copy_with_kills(
    deployed: Deployed, source: Path, arguments: list[str], count: Any, kills: list[int]
) -> None:
    """Start the copy again and again; end it by SIGKILL when so many files have arrived."""
    for files in kills:
        process = deployed.stage(*arguments)
        while process.poll() is None and count() < files:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, _, stderr = deployed.run_stage(*arguments)
    assert code == 0, stderr


def check_kills(deployed: Deployed, s3: S3, tmp_path: Path, kills: int) -> None:
    source = tmp_path / "source"
    (source / "train").mkdir(parents=True)
    generator = random.Random(kills)
    contents = {f"{number:03d}": generator.randbytes(4000) for number in range(150)}
    for name, content in contents.items():
        (source / "train" / name).write_bytes(content)
    # At the last one all has been downloaded, and is checked and given its name.
    points = [*sorted(generator.sample(range(1, 150), kills - 1)), 150]
    there = deployed.mount / "x"

    def in_s3() -> int:
        return int(s3.client.list_objects_v2(Bucket=s3.bucket, Prefix="x/train/")["KeyCount"])

    def on_efs() -> int:
        for path in (there / "train").glob("*"):
            assert path.read_bytes() == contents[path.name]
        return sum(path.name in contents for path in there.rglob("*"))

    copy_with_kills(deployed, source, [str(source), "--to", "s3", "--path", "x"], in_s3, points)
    copy_with_kills(deployed, source, ["--to", "efs", "--path", "x"], on_efs, points)
    for side in (f"s3://{s3.bucket}/x", str(there)):
        assert run("verify", str(source), side, environ=deployed.environ)[0] == 0
    assert not (there / ".partial").exists()


def test_a_copy_that_is_killed_goes_on_and_no_half_file_has_a_final_name(
    deployed: Deployed, s3: S3, tmp_path: Path
) -> None:
    check_kills(deployed, s3, tmp_path, kills=2)


@pytest.mark.soak
def test_a_copy_survives_twenty_kills(deployed: Deployed, s3: S3, tmp_path: Path) -> None:
    check_kills(deployed, s3, tmp_path, kills=20)


def test_ctrl_c_ends_a_copy_with_one_line_and_the_next_one_goes_on(
    deployed: Deployed, s3: S3, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(150):
        (source / str(number)).write_bytes(b"x" * number)
    process = deployed.stage(str(source), "--to", "s3", "--path", "x")
    while s3.client.list_objects_v2(Bucket=s3.bucket, Prefix="x/")["KeyCount"] < 10:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    code, stdout, _ = deployed.run_stage(str(source), "--to", "s3", "--path", "x")
    assert code == 0
    assert "now, 0 were there" not in stdout


@pytest.mark.parametrize(
    "arguments", [["verify", "", ""], ["check", ""], ["fetch", "s3://bucket/x", ""]]
)
def test_an_empty_argument_is_not_taken_for_the_folder_that_this_runs_in(
    arguments: list[str],
) -> None:
    code, stdout, stderr = run(*arguments)
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: an argument is empty.")


def test_a_page_that_finds_no_room_leaves_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("before")
    command = f"ulimit -f 8; exec {sys.executable} -m training.data check {SAMPLE} --html {page}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, page.read_text()) == (2, "before")
    assert f"--html {page}: cannot be written (File too large)" in done.stderr
    assert list(tmp_path.iterdir()) == [page]


def test_a_cleaned_copy_is_offered_only_of_what_can_be_cleaned(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("no JSON")
    code, _, stderr = run("check", str(tmp_path / "x.json"))
    assert (code, stderr) == (3, f"error: {tmp_path / 'x.json'}: 1 kind(s) of error in this set\n")
