"""The schema that editors read says what the launcher does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from training.errors import UsageError
from training.job import read_job
from training.job_schema import SCHEMA, job_schema

JOBS = Path(__file__).resolve().parents[2] / "jobs"
VALIDATOR = jsonschema.Draft202012Validator(job_schema())


def complaints(spec: dict[str, Any]) -> list[str]:
    return [".".join(map(str, error.path)) for error in VALIDATOR.iter_errors(spec)]


def test_the_file_beside_the_examples_is_that_of_the_code() -> None:
    written = json.loads((JOBS / SCHEMA).read_text(encoding="utf-8"))
    assert written == job_schema(), "run: python docs/make_reference.py"
    jsonschema.Draft202012Validator.check_schema(written)


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_example_names_the_schema_and_keeps_to_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    assert complaints(yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"platfrom": "local"}, ""),
        ({"platform": "azure"}, "platform"),
        ({"algorithm": "yolo"}, "algorithm"),
        ({"data_source": "nfs"}, "data_source"),
        ({"instances": {"count": 0}}, "instances.count"),
        ({"instances": {"sort": "p4d.24xlarge"}}, "instances"),
        ({"limits": {"max_run_s": "long"}}, "limits.max_run_s"),
        # Without a name the algorithm is ours.
        ({"hyperparameters": {"batch_size_per_gpu": 0}}, "hyperparameters.batch_size_per_gpu"),
        ({"hyperparameters": {"train_batch_size": 4}}, "hyperparameters"),
        (
            {"algorithm": "tensorpack", "hyperparameters": {"batch_size_per_gpu": 2}},
            "hyperparameters.batch_size_per_gpu",
        ),
        (
            {"algorithm": "tf2-smddp", "hyperparameters": {"learning_rate_steps": [1, 2, 3]}},
            "hyperparameters.learning_rate_steps",
        ),
    ],
)
def test_what_it_refuses_the_launcher_refuses_too(
    spec: dict[str, Any], where: str, tmp_path: Path
) -> None:
    assert complaints(spec) == [where]
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(UsageError):
        read_job(file, {})


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"algorithm": "tensorpack", "hyperparameters": {"config:TRAIN.BASE_LR": 0.02}},
        {"algorithm": "tf2-smddp", "hyperparameters": {"train_batch_size": 4}},
        {"spot": {"enabled": True, "max_wait_s": None}},
    ],
)
def test_it_takes_what_the_launcher_takes(spec: dict[str, Any], tmp_path: Path) -> None:
    assert complaints(spec) == []
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    read_job(file, {})
