from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.docker.adapters.loading import FOLDERS, adapter, give_backbone, job
from training import algorithms
from training.hyperparameter_text import to_texts

from entrypoint.adapter_error import AdapterError  # isort: skip  (docker/ is on the path by now)
from entrypoint.values import Values  # isort: skip

NASTY = [
    "$(touch /tmp/here)",
    "`id`",
    "a b",
    "a'b\"c",
    "x; rm -rf /",
    "line\nbreak",
    "漢字 ü",
    "--load=/etc/passwd",
    "*" * 1000,
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_job_of_defaults_gives_the_command_of_no_hyperparameters_at_all(
    folder: str, tmp_path: Path
) -> None:
    give_backbone(tmp_path)
    texts = to_texts(algorithms.load(folder).HYPERPARAMETERS())
    own = adapter(folder)
    sent = job(folder, data=tmp_path, hyperparameters=texts)
    bare = job(folder, data=tmp_path)
    assert own.command(sent) == own.command(bare)
    assert own.environment(sent) == own.environment(bare)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_adapter_and_the_job_have_the_same_hyperparameters(folder: str) -> None:
    of_jobs = set(algorithms.load(folder).HYPERPARAMETERS.model_fields) - {"config"}
    assert set(adapter(folder).DEFAULTS) == of_jobs


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_name_that_would_be_lost_is_refused(folder: str) -> None:
    with pytest.raises(AdapterError, match="hyperparameter lr_shedule: unknown; there are "):
        adapter(folder).command(job(folder, hyperparameters={"lr_shedule": "[1]"}))


@pytest.mark.parametrize("folder", ["tensorpack", "aws-samples"])
def test_the_keys_that_hold_a_text_are_those_of_the_job(folder: str) -> None:
    assert set(adapter(folder).TEXT_KEYS) == algorithms.load(folder).HYPERPARAMETERS.TEXT_KEYS  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", NASTY)
def test_text_arrives_unchanged_in_one_argument(text: str) -> None:
    command = adapter("tensorpack").command(
        job("tensorpack", hyperparameters={"config:FPN.NORM": text, "load_model": text})
    )
    assert f"FPN.NORM={text}" in command
    assert command[-1] == f"/opt/ml/input/data/train/pretrained-models/{text}"


@pytest.mark.parametrize("text", NASTY)
def test_a_name_of_a_split_cannot_leave_its_quotes(text: str) -> None:
    command = adapter("tensorpack").command(
        job("tensorpack", hyperparameters={"data_train": text, "data_val": text})
    )
    values = dict(word.split("=", 1) for word in command if word.startswith("DATA."))
    # The program evaluates these; this is all that it may find.
    assert eval(values["DATA.TRAIN"], {"__builtins__": {}}) == [text.strip()]
    assert eval(values["DATA.VAL"], {"__builtins__": {}}) == (text.strip(),)


@pytest.mark.parametrize(
    "text", ["__import__('os').system('id')", "open('/etc/passwd')", "TRAIN", "1+1", "", "[1, x]"]
)
def test_what_the_program_would_evaluate_must_be_a_literal(text: str) -> None:
    with pytest.raises(AdapterError, match=r"config:TRAIN\.BASE_LR: .*expected a number"):
        adapter("tensorpack").command(
            job("tensorpack", hyperparameters={"config:TRAIN.BASE_LR": text})
        )


@pytest.mark.parametrize(
    "key", ["", "base_lr", "TRAIN..X", "TRAIN.BASE_LR=1 X", "A B", "__class__"]
)
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(AdapterError, match="no key of a configuration"):
        adapter("aws-samples").command(job("aws-samples", hyperparameters={f"config:{key}": "1"}))


@pytest.mark.parametrize(
    ("folder", "name", "text", "message"),
    [
        ("tensorpack", "batch_size_per_gpu", "4", "expected 1"),
        ("tensorpack", "precision", "fp16", "expected fp32"),
        ("aws-samples", "precision", "fp32", "expected fp16"),
        ("tensorpack", "resnet_arch", "resnet18", "expected resnet101 or resnet50"),
        ("tensorpack", "batch_norm", "BN", "expected FreezeBN or SyncBN or GN or None"),
        ("tensorpack", "mode_fpn", "yes", "expected a value as JSON or Python writes it"),
        ("tensorpack", "mode_mask", "1", "expected True or False"),
        ("tensorpack", "eval_period", "0", "expected 1 or more"),
        ("tensorpack", "images_per_epoch", "31", "an epoch has no step with 32 pictures"),
        ("tensorpack", "images_per_epoch", "-1", "expected a whole number"),
        ("tensorpack", "data_train", "[1]", "expected a name, or a list of names"),
        ("tensorpack", "data_val", "", "expected a name, or a list of names"),
        ("tensorpack", "horovod_cycle_time", "fast", "expected a value"),
        ("aws-samples", "batch_size_per_gpu", "True", "expected a whole number"),
        ("aws-samples", "batch_size_per_gpu", "0", "expected 1 or more"),
        ("aws-samples", "lr_epoch_schedule", "[16, 20]", "expected a list of pairs"),
        ("tf2-smddp", "mode", "predict", "expected train or train_and_eval"),
        ("tf2-smddp", "init_learning_rate", "'0.1'", "expected a number"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(
    folder: str, name: str, text: str, message: str, tmp_path: Path
) -> None:
    give_backbone(tmp_path)
    own = adapter(folder)
    given_job = job(folder, data=tmp_path, hyperparameters={name: text})
    with pytest.raises(AdapterError, match=f"hyperparameter {name}: .*{message}"):
        own.command(given_job), own.environment(given_job)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(JSON)
def test_python_and_json_spellings_mean_the_same(value: Any) -> None:
    import json

    from entrypoint.values import spelled

    assert spelled(repr(value)) == spelled(json.dumps(value)) == value


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    values = Values({"x": text}, {"x": ""})
    for read in (values.flag, values.count, values.number, values.items, values.names):
        try:
            read("x")
        except AdapterError as error:
            assert "hyperparameter x" in str(error)
