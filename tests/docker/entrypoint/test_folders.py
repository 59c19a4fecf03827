"""The command of the preparation job."""

from __future__ import annotations

from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.folders import folders
from entrypoint.paths import MlPaths


@pytest.fixture
def paths(tmp_path: Path) -> MlPaths:
    paths = MlPaths(str(tmp_path))
    train = Path(paths.channel("root")) / "mask-rcnn/train"
    train.mkdir(parents=True)
    (train / "picture.jpg").touch()
    return paths


def root(paths: MlPaths) -> Path:
    return Path(paths.channel("root"))


def test_folders_are_looked_for_and_made(paths: MlPaths) -> None:
    assert folders(["--make", "/out/log-1", "out/log-2", "--need", "mask-rcnn/train"], paths) == 0
    assert (root(paths) / "out/log-1").is_dir()
    assert (root(paths) / "out/log-2").is_dir()
    # Empty and there already is fine.
    assert folders(["--make", "out/log-1"], paths) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--make", "new", "--need", "mask-rcnn/input/train"],
            "missing: mask-rcnn/input/train (mask-rcnn has train)",
        ),
        (["--need", "data", "--make", "new"], "missing: data (the file system has mask-rcnn)"),
        (["--make", "new", "mask-rcnn/train"], "not empty: mask-rcnn/train"),
        (["--make", "new", "../../escape"], "../../escape: leads out of the file system"),
    ],
)
def test_nothing_is_made_where_something_is_wrong(
    paths: MlPaths, arguments: list[str], words: str
) -> None:
    with pytest.raises(EntrypointError) as caught:
        folders(arguments, paths)
    assert str(caught.value) == words
    assert [path.name for path in root(paths).iterdir()] == ["mask-rcnn"]


def test_without_the_channel_the_job_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(EntrypointError, match="the job has no channel 'root'"):
        folders(["--make", "new"], MlPaths(str(tmp_path)))


def test_a_link_out_of_the_file_system_is_not_followed(paths: MlPaths, tmp_path: Path) -> None:
    (root(paths) / "link").symlink_to(tmp_path)
    with pytest.raises(EntrypointError, match="link/x: leads out of the file system"):
        folders(["--make", "link/x"], paths)
