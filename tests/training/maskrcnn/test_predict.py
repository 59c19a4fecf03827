from __future__ import annotations

import contextlib
import errno
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from pycocotools.coco import COCO
from typer.testing import CliRunner, Result

from training.errors import JobFailed, UsageError
from training.layout import TrainChannel
from training.maskrcnn import files
from training.maskrcnn.model_file import load_model
from training.maskrcnn.predict import app

ROOT = Path(__file__).parents[3]


def invoke(model: Path, *arguments: Path | str) -> Result:
    return CliRunner().invoke(app, [str(model), *map(str, arguments)])


def detections(output: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((output / "predictions.json").read_text())
    return sorted(found, key=lambda one: (one["image_id"], -one["score"], one["bbox"]))


def test_with_annotations_it_finds_what_the_trainer_s_evaluation_found(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    annotations = shapes.annotations("val2017")
    for name in ("model", "checkpoint"):
        channel = one_rank.channel
        model = channel.model if name == "model" else channel.checkpoints / "step-00000012.pt"
        done = invoke(
            model,
            shapes.images("val2017"),
            *("--output", tmp_path / name, "--annotations", annotations),
            *("--score", "0", "--no-pictures", "--device", "cpu", "--format", "json"),
        )
        assert done.exit_code == 0, done.output
        summary = json.loads(done.stdout)
        evaluated = json.loads(one_rank.channel.predictions.read_text())["detections"]
        assert (summary["pictures"], summary["detections"]) == (4, len(evaluated))
        assert len(evaluated) >= 10
        key = lambda one: (one["image_id"], -one["score"], one["bbox"])  # noqa: E731
        assert detections(tmp_path / name) == sorted(evaluated, key=key)
        assert not (tmp_path / name / "pictures").exists()
    with contextlib.redirect_stdout(io.StringIO()):
        results = COCO(annotations).loadRes(str(tmp_path / "model" / "predictions.json"))
    assert len(results.getAnnIds()) == len(evaluated)


def test_pictures_are_drawn_and_both_files_together_are_a_data_set(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    folder = tmp_path / "photos"
    sources = sorted(shapes.images("val2017").iterdir())
    (folder / "sub").mkdir(parents=True)
    shutil.copy(sources[0], folder / "a.jpg")
    shutil.copy(sources[1], folder / "sub" / "a.jpg")
    Image.open(sources[2]).save(folder / "a.png")
    done = invoke(one_rank.channel.model, folder, "--output", tmp_path / "out", "--score", "0")
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "out" / "images.json").read_text())
    assert [(image["id"], image["file_name"], image["drawn"]) for image in document["images"]] == [
        (1, "a.jpg", "pictures/a.jpg"),
        (2, "a.png", "pictures/a-2.jpg"),
        (3, "sub/a.jpg", "pictures/sub/a.jpg"),
    ]
    for image in document["images"]:
        drawn = np.asarray(Image.open(tmp_path / "out" / image["drawn"])).astype(float)
        plain = Image.open(folder / image["file_name"]).convert("RGB")
        # Small ones are drawn larger.
        assert drawn.shape == (512, 512, 3)
        difference = np.abs(drawn - np.asarray(plain.resize((512, 512)), dtype=float))
        assert difference.max() > 60
    with contextlib.redirect_stdout(io.StringIO()):
        results = COCO(tmp_path / "out" / "images.json").loadRes(
            str(tmp_path / "out" / "predictions.json")
        )
    assert {category["name"] for category in results.loadCats(results.getCatIds())} == {
        "ellipse",
        "rectangle",
        "triangle",
        "star",
    }
    (first, *_) = results.loadAnns(results.getAnnIds(imgIds=[2]))
    assert results.annToMask(first).shape == (64, 64)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{folder / 'a.jpg'}: ")


def test_a_higher_score_leaves_out_the_weaker_ones(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    (picture, *_) = sorted(shapes.images("val2017").iterdir())
    invoke(one_rank.channel.model, picture, "--output", tmp_path / "all", "--score", "0")
    scores = [one["score"] for one in detections(tmp_path / "all")]
    limit = str(scores[1])
    invoke(one_rank.channel.model, picture, "--output", tmp_path / "best", "--score", limit)
    assert [one["score"] for one in detections(tmp_path / "best")] == scores[:2]


def test_a_bad_picture_is_named_the_others_are_done_and_the_end_is_1(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    folder = tmp_path / "photos"
    shutil.copytree(shapes.images("val2017"), folder)
    (first, *_) = sorted(folder.iterdir())
    first.write_bytes(first.read_bytes()[:300])
    done = invoke(one_rank.channel.model, folder, "--output", tmp_path / "out", "--format", "json")
    assert isinstance(done.exception, JobFailed)
    assert str(done.exception) == "1 of 4 pictures cannot be used"
    assert done.exception.exit_code == 1
    summary = json.loads(done.stdout)
    assert summary["pictures"] == 3
    ((file, reason),) = [(one["file"], one["reason"]) for one in summary["skipped"]]
    assert file == str(first)
    assert "truncated" in reason.lower()
    assert f"skipped {first}: " in done.stderr
    ids = [
        image["id"] for image in json.loads((tmp_path / "out/images.json").read_text())["images"]
    ]
    assert ids == [2, 3, 4]


def test_a_picture_that_the_annotations_do_not_have_or_have_otherwise_is_skipped(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    document = json.loads(shapes.annotations("val2017").read_text())
    document["images"][0]["width"] = 99
    del document["images"][1]
    annotations = tmp_path / "annotations.json"
    annotations.write_text(json.dumps(document))
    done = invoke(
        one_rank.channel.model,
        shapes.images("val2017"),
        *("--output", tmp_path / "out", "--annotations", annotations, "--no-pictures"),
    )
    assert str(done.exception) == "2 of 4 pictures cannot be used"
    assert "is 64 x 64, annotated as 99 x 64" in done.stderr
    assert f"{annotations} has no picture of this name" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["PHOTOS", "--output", "FILE"], "--output .*: cannot be written to"),
        (["PHOTOS", "--output", "FILE/below"], "--output .*: cannot be written to"),
        (["NONE", "--output", "OUT"], "no such file or folder"),
        (["PHOTOS", "--output", "OUT", "--device", "tpu"], "--device tpu: must be cpu, cuda or"),
        (["PHOTOS", "--output", "OUT", "--precision", "int8"], "--precision int8: must be one of"),
        (["PHOTOS", "--output", "OUT", "--annotations", "FILE"], "not in COCO's form"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    arguments: list[str], message: str, one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("[]")
    places = {
        "PHOTOS": str(shapes.images("val2017")),
        "FILE": str(tmp_path / "file"),
        "FILE/below": str(tmp_path / "file" / "below"),
        "NONE": str(tmp_path / "none"),
        "OUT": str(tmp_path / "out"),
    }
    done = invoke(one_rank.channel.model, *(places.get(one, one) for one in arguments))
    assert isinstance(done.exception, UsageError)
    assert done.exception.exit_code == 2
    with pytest.raises(UsageError, match=message):
        raise done.exception


def test_a_file_that_is_no_model_is_refused_in_one_line(
    shapes: TrainChannel, tmp_path: Path
) -> None:
    model = tmp_path / "model.pt"
    model.write_bytes(b"no model")
    done = invoke(model, shapes.images("val2017"), "--output", tmp_path / "out")
    assert isinstance(done.exception, JobFailed)
    assert "model.pt: no model.pt or step-*.pt of this trainer" in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"images": []}', "(damaged, or not written by torch.save)"),
        (None, "(Is a directory)"),
        ({"model": {}}, "(it has no hyperparameters, categories)"),
        ({"model": {}, "hyperparameters": {"x": 1}, "categories": {}}, "(its hyperparameters: x"),
        ([Path()], "(it holds Python objects, which are not read since they could execute anyth"),
    ],
)
def test_other_files_and_folders_are_refused_in_our_words(
    content: Any, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt"
    if content is None:
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(JobFailed) as failed:
        load_model(path, torch.device("cpu"))
    message = str(failed.value)
    assert message.startswith(f"{path}: no model.pt or step-*.pt of this trainer {reason}")
    for word in ("weights_only", "KeyError", "\n", "\x1b"):
        assert word not in message


def test_a_model_with_a_weight_that_is_not_finite_is_refused(one_rank: Any, tmp_path: Path) -> None:
    content = torch.load(one_rank.channel.model)
    content["model"]["rpn.head.cls_logits.bias"][:] = float("nan")
    torch.save(content, tmp_path / "model.pt")
    with pytest.raises(JobFailed) as failed:
        load_model(tmp_path / "model.pt", torch.device("cpu"))
    told = f"{tmp_path / 'model.pt'}: rpn.head.cls_logits.bias has 1 values of 1 that are not fini"
    assert str(failed.value).startswith(told)


def test_a_model_with_a_changed_byte_is_refused(one_rank: Any, tmp_path: Path) -> None:
    content = bytearray(one_rank.channel.model.read_bytes())
    weight = torch.load(one_rank.channel.model)["model"]["roi_heads.box_head.fc6.weight"]
    content[content.index(weight.numpy().tobytes()[:64])] ^= 1
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    with pytest.raises(JobFailed) as failed:
        load_model(path, torch.device("cpu"))
    assert str(failed.value) == f"{path}: damaged, it differs from its own checksums"


def test_weights_of_another_size_are_named_in_one_line(one_rank: Any, tmp_path: Path) -> None:
    content = torch.load(one_rank.channel.model)
    content["hyperparameters"]["fpn_channels"] = 24
    torch.save(content, tmp_path / "model.pt")
    with pytest.raises(JobFailed, match="its weights do not fit its hyperparameters: ") as failed:
        load_model(tmp_path / "model.pt", torch.device("cpu"))
    assert "backbone.fpn.inner_blocks.0.0.weight is 16 x " in str(failed.value)
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("is_full_at", ["start", "end"])
def test_a_full_disk_ends_with_1_whenever_it_is_found(
    is_full_at: str,
    one_rank: Any,
    shapes: TrainChannel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = files.write_atomically

    def refuse(path: Path, data: bytes) -> None:
        if is_full_at == "start" or path.name == "predictions.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "write_atomically", refuse)
    (picture, *_) = sorted(shapes.images("val2017").iterdir())
    done = invoke(one_rank.channel.model, picture, "--output", tmp_path / "out", "--no-pictures")
    assert isinstance(done.exception, JobFailed)
    assert done.exception.exit_code == 1
    assert str(done.exception).endswith("(No space left on device)")


@pytest.mark.parametrize("name", ["train", "predict", "export", "replay"])
def test_help_comes_without_waiting_for_torch(name: str) -> None:
    code = (
        f"import sys, training.maskrcnn.{name} as command\n"
        "from typer.testing import CliRunner\n"
        "done = CliRunner().invoke(command.app, ['--help'])\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "print(done.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"python -m training.maskrcnn.{name} " in done.stdout
