"""The notebook of the test charts: as a file, and run in a real kernel on a job's logs."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.notebooks.reading import PROJECT, cell_of, code_of, text_of

FILE = PROJECT / "docker/notebook/mask-rcnn-trained-model.ipynb"
COCO = PROJECT / "tests/data/coco"


@pytest.fixture
def notebook() -> Any:
    return nbformat.read(FILE, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]


def test_it_is_valid_as_jupyter_would_write_it_and_holds_no_results(notebook: Any) -> None:
    nbformat.validate(notebook)
    text = FILE.read_text()
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    assert text.isascii()
    for cell in notebook.cells:
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert list(code_of(notebook)) == ["choose", "logs", "metrics", "pictures"]
    # The kernel that an environment with ipykernel has of itself.
    assert notebook.metadata.kernelspec.name == "python3"


def test_nothing_in_it_reaches_a_shell_or_names_a_place(notebook: Any) -> None:
    for source in code_of(notebook).values():
        ast.parse(source)
        assert not re.findall(r"subprocess|os\.system|popen|get_ipython", source)
    everything = "\n".join([text_of(notebook), *code_of(notebook).values()])
    assert not re.findall(r"https?://|s3://|arn:|\d{12}", everything)


def test_its_places_are_the_variables_that_the_chart_sets(notebook: Any) -> None:
    asked = re.findall(r'environ\.get\("(\w+)"', cell_of(notebook, "choose").source)
    container = (PROJECT / "charts/maskrcnn-jupyter/templates/_containers.tpl").read_text()
    assert asked == ["MASK_RCNN_LOG", "MASK_RCNN_DATA"]
    for name in asked:
        assert f"{{name: {name}, value: " in container


@pytest.mark.slow
def test_it_shows_what_a_job_of_tensorpack_has_left(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = tmp_path / "maskrcnn-1/checkpoints/attempt-1"
    attempt.mkdir(parents=True)
    entry = {"epoch_num": 1, "global_step": 100, "total_cost": 1.0, "mAP(segm)/IoU=0.5:0.95": 0.25}
    (attempt / "stats.json").write_text(json.dumps([entry]))
    (attempt / "coco_val2017-outputs100.json").write_text("[]")
    for name, value in {
        "MASK_RCNN_LOG": tmp_path,
        "MASK_RCNN_DATA": COCO,
        "PYTHONPATH": PROJECT,
        "IPYTHONDIR": tmp_path / "ipython",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OMP_NUM_THREADS": "1",
    }.items():
        monkeypatch.setenv(name, os.fspath(value))

    NotebookClient(notebook, timeout=240, kernel_name="python3").execute()

    assert f"> {tmp_path}/maskrcnn-1: TensorPack" in cell_of(notebook, "logs").outputs[0].text
    [charts] = cell_of(notebook, "metrics").outputs
    assert charts.data["text/html"].startswith("<iframe srcdoc=")
    *said, shown = cell_of(notebook, "pictures").outputs
    assert "detections of step 100" in said[0].text
    assert shown.data["text/html"].count("<img ") == 2
