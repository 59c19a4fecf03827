from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
COCO = ROOT / "tests" / "data" / "coco"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.data", "pack", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_set_is_packed_and_compared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(COCO, out, "--format", "json", "--shard-mib", "1")
    assert done.returncode == 0, done.stderr
    train, val = json.loads(done.stdout)
    assert (train["split"], train["pictures"], train["shards"]) == ("train2017", 11, 2)
    assert (val["split"], val["pictures"], val["written_shards"]) == ("val2017", 2, 1)
    done = run(COCO, out, "--verify", "--shard-mib", "1")
    assert done.returncode == 0
    assert "every byte of 13 pictures is as in the source" in done.stdout
    shard = out / "shards" / "val2017" / "val2017-00000.tar"
    shard.write_bytes(shard.read_bytes()[:-10])
    done = run(COCO, out, "--verify", "--shard-mib", "1", "--format", "json")
    assert done.returncode == 3
    assert {found["path"] for found in json.loads(done.stdout)} == {str(shard)}
    done = run(COCO, out, "--shard-mib", "1")
    assert done.returncode == 2
    assert "val2017-00000.tar: is missing, or of another size" in done.stderr


def test_tfrecords_of_all_splits_lie_in_one_folder(tmp_path: Path) -> None:
    assert run(COCO, tmp_path / "out", "--as", "tfrecord", "--split", "val2017").returncode == 0
    shutil.rmtree(tmp_path / "out" / "index")
    assert [path.name for path in sorted((tmp_path / "out").glob("*.tfrecord"))] == [
        "val2017-00000-of-00001.tfrecord"
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nowhere", "out"), 2, "there is no such folder"),
        ((COCO, "file"), 2, "Not a directory; name a folder that can be written to"),
        ((COCO, "out", "--verify"), 2, "no webdataset shards of train2017 are packed there"),
        ((COCO, "out", "--split", "test"), 2, "has no split test"),
        ((COCO, "out", "--shard-mib", "0"), 2, "greater than or equal to 1"),
    ],
)
def test_a_wrong_word_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str | Path, ...], code: int, message: str
) -> None:
    (tmp_path / "file").write_text("")
    places = [tmp_path / str(argument) for argument in arguments[:2]]
    done = run(*places, *arguments[2:])
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
