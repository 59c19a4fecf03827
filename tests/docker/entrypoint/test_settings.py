"""The variables of a job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.paths import MlPaths
from entrypoint.settings import Settings, read_settings


def variables(folder: Path, **changes: str) -> dict[str, str]:
    (folder / "train").mkdir(exist_ok=True)
    (folder / "train" / "picture.jpg").touch()
    return {
        "MASK_RCNN_ALGORITHM": "horovod",
        "MASK_RCNN_DISTRIBUTION": "mpi",
        "MASK_RCNN_PROCESSES_PER_HOST": "8",
        "MASK_RCNN_DATA": str(folder / "train"),
        "MASK_RCNN_LOG": str(folder / "log"),
        **changes,
    }


def test_all_variables_are_read_and_the_log_folder_is_made(tmp_path: Path) -> None:
    settings = read_settings(variables(tmp_path), MlPaths(str(tmp_path)))
    train, log = str(tmp_path / "train"), str(tmp_path / "log")
    assert settings == Settings("horovod", "mpi", 8, train, log)
    assert list((tmp_path / "log").iterdir()) == []


@pytest.mark.parametrize("name", sorted(variables(Path("/tmp"))))
def test_a_missing_variable_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(EntrypointError, match=f"^{name}: is not set"):
        read_settings(variables(tmp_path, **{name: ""}), MlPaths(str(tmp_path)))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MASK_RCNN_DISTRIBUTION", "pvm", "'pvm' is not one of mpi, torchrun, smddp"),
        ("MASK_RCNN_PROCESSES_PER_HOST", "0", "'0'; expected a number from 1 to 64"),
        ("MASK_RCNN_PROCESSES_PER_HOST", "8; rm", "'8; rm'; expected a number from 1 to 64"),
        ("MASK_RCNN_DATA", "/nowhere", "/nowhere: is no folder; the job's channels are log, train"),
        ("MASK_RCNN_LOG", "/proc/log", "/proc/log: cannot be written to"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    paths = MlPaths(str(tmp_path))
    Path(paths.channels).parent.mkdir(parents=True)
    Path(paths.channels).write_text(json.dumps({"train": {}, "log": {}}))
    with pytest.raises(EntrypointError) as caught:
        read_settings(variables(tmp_path, **{name: value}), paths)
    assert str(caught.value).startswith(f"{name}: {words}")


def test_an_empty_channel_is_an_error(tmp_path: Path) -> None:
    environ = variables(tmp_path)
    (tmp_path / "train" / "picture.jpg").unlink()
    with pytest.raises(EntrypointError, match=r"train: is empty; the job's channels are train"):
        read_settings(environ, MlPaths(str(tmp_path)))
