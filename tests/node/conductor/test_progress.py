from __future__ import annotations

import time
from pathlib import Path

import pytest

from node.conductor.interface import interface_of
from node.conductor.output import Output
from node.conductor.places import RunFolder
from node.conductor.progress import Progress, last_step
from node.errors import NodeError


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path)
    folder.conductor.mkdir()
    return folder


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("", None),
        ('{"step": 3}\n', 3),
        ('{"step": 3}\n{"step": 4', 3),
        ('{"step": 3}\nnot json\n[]\n', 3),
        ('{"step": "3"}\n', None),
        ("x" * 200_000 + '\n{"step": 9}\n', 9),
    ],
)
def test_the_last_step_is_that_of_the_last_whole_line(
    run: RunFolder, text: str, step: int | None
) -> None:
    run.metrics.write_text(text)
    assert last_step(run) == step


def test_files_show_progress_and_lines_do_not(run: RunFolder) -> None:
    output = Output(run.output)
    progress = Progress(run, output, by_files=True)
    progress.idle_s()
    time.sleep(0.2)
    output.line("one or more tensors were submitted by a subset of ranks")
    (run.root / "rank-0.log").write_text("the same")
    assert progress.idle_s() > 0.15
    run.metrics.write_text("{}\n")
    assert progress.idle_s() < 0.15
    time.sleep(0.2)
    (run.root / "checkpoints").mkdir()
    (run.root / "checkpoints" / "step-1.pt").touch()
    assert progress.idle_s() < 0.15


def test_of_other_algorithms_lines_show_progress_too(run: RunFolder) -> None:
    output = Output(run.output)
    progress = Progress(run, output, by_files=False)
    progress.idle_s()
    time.sleep(0.2)
    output.say("of the conductor's own")
    assert progress.idle_s() > 0.15
    output.line("step 1")
    assert progress.idle_s() < 0.15


def test_the_interface_is_the_one_with_the_address() -> None:
    assert interface_of("127.0.0.1") == "lo"
    with pytest.raises(NodeError, match=r"no network interface here has the address 192\.0\.2\.1"):
        interface_of("192.0.2.1")
