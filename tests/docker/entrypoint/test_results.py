"""What a job leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from entrypoint.adapters import CHECKPOINTS
from entrypoint.errors import EntrypointError
from entrypoint.results import keep_model, keep_results


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_everything_but_model_checkpoints_and_hidden_files_is_kept(tmp_path: Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "data"
    results = ["rank-0.log", "events/events.out.tfevents.1", "deep/checkpoints/x", "report.html"]
    fill(log, *results, "model.pt", ".lock", ".hidden/x", "checkpoints/step-1.pt", "model-12.index")
    os.mkfifo(log / "pipe")
    (log / "broken").symlink_to("nowhere")
    keep_results(str(log), str(kept), [str(log / "model.pt")], CHECKPOINTS)
    assert names(kept) == set(results)
    assert (kept / "rank-0.log").read_text() == "rank-0.log"


def test_the_models_files_lie_side_by_side(tmp_path: Path) -> None:
    fill(tmp_path / "log", "a/model.pt", "b/config.json")
    files = [str(tmp_path / "log/a/model.pt"), str(tmp_path / "log/b/config.json")]
    keep_model(files, str(tmp_path / "model"))
    assert names(tmp_path / "model") == {"model.pt", "config.json"}


def test_a_job_without_a_model_has_not_done_its_work(tmp_path: Path) -> None:
    with pytest.raises(EntrypointError, match="left no model"):
        keep_model([], str(tmp_path))


def test_a_full_disk_is_named_with_what_is_free(tmp_path: Path) -> None:
    fill(tmp_path, "model.pt")
    (tmp_path / "model").mkdir()
    # Linux's device that is always full.
    (tmp_path / "model" / "model.pt").symlink_to("/dev/full")
    with pytest.raises(EntrypointError) as caught:
        keep_model([str(tmp_path / "model.pt")], str(tmp_path / "model"))
    words = "cannot be copied to .*/model/model.pt: No space left on device; .* has [0-9]+ MiB free"
    assert caught.match(words)
