"""The job spec: defaults, file, command line, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from training.errors import UsageError
from training.job import Job, JobSpec, parse_assignments, read_job


def read(tmp_path: Path, text: str, **overrides: Any) -> Job:
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return read_job(path, overrides)


def test_the_defaults_are_a_whole_job() -> None:
    job = read_job(None, {})
    assert job.spec == JobSpec()
    assert job.spec.channels.train == "mask-rcnn/sagemaker/input/train"
    assert job.spec.limits.max_run_s == 400_000


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("data_source: efs\nhyperparameters: {seed: 1, batch_size_per_gpu: 3}\n")
    job = read_job(path, {"hyperparameters.seed": 7, "instances.processes_per_instance": 2})
    assert job.spec.data_source == "efs"
    assert job.spec.instances.processes_per_instance == 2
    values = job.hyperparameters.model_dump()
    assert (values["seed"], values["batch_size_per_gpu"]) == (7, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hyperparameters: {sede: 1}", "hyperparameters.sede: unknown key; did you mean seed?"),
        ("hyperparameters: {batch_size: 4}", "did you mean batch_size_per_gpu?"),
        ("plattform: local", "plattform: unknown key; did you mean platform?"),
        ("instances: {cuont: 2}", "instances.cuont: unknown key; did you mean count?"),
        ("platform: moon", "platform: 'moon' is not one of local"),
        ("algorithm: magic", "algorithm: 'magic' is not one of horovod"),
        (
            "data_source: nfs",
            "data_source: 'nfs': input should be 's3', 'efs' or 'fsx'",
        ),
        (
            "instances: {count: 0}",
            "instances.count: 0: input should be greater than or equal to 1",
        ),
        ("instances: 4", "instances: 4: expected keys and values"),
        ("hyperparameters:", "hyperparameters: None: expected keys and values"),
        ("name: 123", "name: 123: expected a text; what YAML would take for something else goes"),
        ("environment: {A: 1}", "environment.A: 1: expected a text; what YAML would take for"),
        ("? [a]\n: b", "not YAML: a key is a word, and here is a list or a map"),
        ("? {a: 1}\n: b", "not YAML: a key is a word, and here is a list or a map"),
        ("retries: yes", "retries: True: expected a number"),
        ("instances: {count: true}", "instances.count: True: expected a number"),
        ("limits: {max_usd: true}", "limits.max_usd: True: expected a number"),
        ("limits: {max_usd: .inf}", "limits.max_usd: inf: input should be a finite number"),
        ("limits: {max_usd: 1e400}", "limits.max_usd: '1e400': input should be a finite number"),
        ("local: {root: }", "local.root: None: expected a path"),
        ("'': x", ": unknown key; known keys: algorithm"),
        (
            "hyperparameters: {images_per_epoch: 99999999999999999999999}",
            "hyperparameters.images_per_epoch: 99999999999999999999999: input should be less than "
            "or equal to 2147483647",
        ),
        ("tags: &x {a: *x}", "a value that holds itself"),
        ("sagemaker: {volume_gib: true}", "sagemaker.volume_gib: True: expected a number"),
        ("instances: {type: ''}", "instances.type: '': string should have at least 1 character"),
        ("channels: {log: --make}", "channels.log: '--make': expected folders with / betw"),
        ("channels: {train: a, log: a}", "log lies in train, and what a job writes would be data"),
        ("channels: {train: a, log: a/b}", "log lies in train, and what a job writes would be"),
        ("hyperparameters: {lr_epoch_schedule: 5}", "lr_epoch_schedule: 5: expected a list"),
        ("name: ../../etc", "name: '../../etc': expected 1 to 63 letters"),
        (
            "channels: {train: /absolute}",
            "channels.train: '/absolute': expected folders with / between them",
        ),
        ("limits: {max_run_s: soon}", "limits.max_run_s: 'soon': input should be a valid integer"),
        ("- a list", "expected keys and values, found list"),
        ("a: [", "not YAML"),
        ("name: a\nname: b", "the key 'name' is there twice"),
        ("hyperparameters: {seed: 1, seed: 2}", "the key 'seed' is there twice"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ("a: 2026-02-30", "a value cannot be read: day"),
        ("channels: {log: a/../../b}", "channels.log: 'a/../../b': a channel's path has no part"),
        ("hyperparameters: {data_train: [../x]}", "hyperparameters.data_train.0: '../x'"),
        ("local: {controller: nccl}", "local.controller: 'nccl': input should be 'gloo' or 'mpi'"),
        (
            "hyperparameters: {batch_size_per_gpu: many}",
            "hyperparameters.batch_size_per_gpu: ",
        ),
    ],
)
def test_a_wrong_spec_is_named_with_its_file_key_and_what_is_allowed(
    tmp_path: Path, text: str, expected: str
) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'job.yaml'}: ")
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_logs_may_lie_above_the_data_and_beside_it(tmp_path: Path) -> None:
    for channels in ("{train: a/b, log: a}", "{train: a, log: a-b}"):
        assert read(tmp_path, f"channels: {channels}").spec.channels.train.startswith("a")


def test_what_editors_put_around_the_text_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: first\r\ndata_source: efs\r\n")
    assert read_job(path, {}).spec.name == "first"


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"job\.yaml: not UTF-8 text"):
        read_job(path, {})


def test_every_wrong_key_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, "instances: {count: 0}\ndata_source: x\n")
    assert len(str(raised.value).splitlines()) == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.yaml: cannot be read \(No such file"):
        read_job(tmp_path / "nothing.yaml", {})


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("hyperparameters.seed=1", {"hyperparameters.seed": 1}),
        ("a=b=c", {"a": "b=c"}),
        ("a=", {"a": None}),
        ("a=[1, 2]", {"a": [1, 2]}),
        ("a='1'", {"a": "1"}),
        ("a=$(reboot)", {"a": "$(reboot)"}),
    ],
)
def test_an_assignment_is_read_as_yaml(assignment: str, expected: dict[str, Any]) -> None:
    assert parse_assignments([assignment]) == expected


@pytest.mark.parametrize(
    "assignment", ["novalue", "=1", " =1", ".=1", "a.=1", "a..b=1", "a=[", "a={"]
)
def test_a_broken_assignment_is_quoted_in_the_error(assignment: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        parse_assignments([assignment])


@pytest.mark.parametrize("key", ["name.x", "data_source.x.y", "nothing.x"])
def test_a_dotted_key_into_a_plain_value_is_refused(key: str) -> None:
    with pytest.raises(UsageError):
        read_job(None, {"name": "job", "data_source": "s3", key: 1})


@given(st.text(max_size=60))
def test_any_text_as_an_assignment_is_read_or_refused(text: str) -> None:
    try:
        values = parse_assignments([text])
    except UsageError:
        return
    assert len(values) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*JobSpec.model_fields, "count", "train", "other"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    )
)
def test_any_yaml_document_is_a_job_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    path = tmp_path_factory.mktemp("jobs") / "job.yaml"
    path.write_text(yaml.safe_dump(document))
    try:
        job = read_job(path, {})
    except UsageError as error:
        assert str(path) in str(error)
    else:
        assert isinstance(job.spec, JobSpec)
