"""The entry point can use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docker.adapters.loading import DOCKER, FOLDERS, give_backbone, job

from entrypoint.adapters import load_adapter  # isort: skip  (docker/ is on the path by now)
from entrypoint.errors import EntrypointError  # isort: skip


def image(folder: str, home: Path) -> Path:
    """Lay out what an image has beside the entry point."""
    (home / "adapter.py").write_bytes((DOCKER / folder / "adapter.py").read_bytes())
    (home / "algorithm").write_text(f"{folder}\n")
    return home


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_entry_point_loads_and_asks_them(folder: str, tmp_path: Path) -> None:
    give_backbone(tmp_path)
    adapter = load_adapter(folder, str(image(folder, tmp_path)))
    given = job(folder, data=tmp_path, log=tmp_path / "log")
    command = adapter.command(given)
    assert all(isinstance(word, str) for word in command)
    assert "python3" in command
    assert all(isinstance(value, str) for value in adapter.environment(given).values())
    assert adapter.model_files(given) == []
    assert not adapter.stops_with_checkpoint


def test_what_a_user_can_mend_ends_the_job_as_its_message_alone(tmp_path: Path) -> None:
    adapter = load_adapter("tensorpack", str(image("tensorpack", tmp_path)))
    with pytest.raises(EntrypointError) as caught:
        adapter.command(job("tensorpack", hyperparameters={"resnet_arch": "vgg"}))
    assert str(caught.value) == (
        "hyperparameter resnet_arch: 'vgg': expected resnet101 or resnet50"
    )


def test_attempts_are_left_out_of_the_results(tmp_path: Path) -> None:
    from entrypoint.results import keep_results

    log, out = tmp_path / "log", tmp_path / "out"
    attempt = log / "checkpoints" / "attempt-1"
    attempt.mkdir(parents=True)
    (attempt / "model-5.index").touch()
    (log / "rank-0.log").touch()
    adapter = load_adapter("tensorpack", str(image("tensorpack", tmp_path)))
    keep_results(str(log), str(out), [], adapter.checkpoints)
    assert [path.name for path in out.rglob("*")] == ["rank-0.log"]
