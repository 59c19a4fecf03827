"""The engines with two real processes each; smddp over a stand-in for its library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.maskrcnn.forks import run_ranks, variables_of_horovod, variables_of_torch
from training.errors import UsageError
from training.maskrcnn.engines import start_engine

ROOT = Path(__file__).parents[4]
SCRIPT = Path(__file__).with_name("two_ranks.py")
STAND_IN = Path(__file__).with_name("stand_in")
INPUTS = [[0, 1, 2], [3, 4, 5]]
COLUMN_SUMS = [3, 5, 7]


def run_horovod(folder: Path) -> str:
    with variables_of_horovod(2) as variables:
        return told(run_ranks(SCRIPT, ["horovod"], folder, variables))


def run_torch(folder: Path) -> str:
    return told(run_ranks(SCRIPT, ["torch"], folder, variables_of_torch(2)))


def told(ranks: list[tuple[int, str]]) -> str:
    output = "".join(output for _, output in ranks)
    assert [code for code, _ in ranks] == [0, 0], output
    return output


def run_smddp(_: Path) -> str:
    """The library adds gradients up below mpirun alone."""
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    mpirun = ["mpirun", *as_root, "--oversubscribe", "--bind-to", "none", "-np", "2"]
    # The adapter of the image gives the place to meet.
    meeting = {key: variables_of_torch(2)[0][key] for key in ("MASTER_ADDR", "MASTER_PORT")}
    own = {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}:{STAND_IN}"}
    done = subprocess.run(
        [*mpirun, sys.executable, str(SCRIPT), "smddp"],
        cwd=ROOT,
        env={**os.environ, **own, **meeting},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


RUNNERS = {"horovod": run_horovod, "torch": run_torch, "smddp": run_smddp}


@pytest.fixture(scope="module", params=RUNNERS)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Any], str]:
    """The engine's name, what rank 0 and rank 1 found, and what both printed."""
    output = RUNNERS[request.param](tmp_path_factory.mktemp(request.param))
    results = dict(
        json.loads(line.partition("RESULT ")[2])
        for line in output.splitlines()
        if "RESULT " in line
    )
    return request.param, [results[0], results[1]], output


def both(engine: tuple[str, list[Any], str], key: str) -> Any:
    """Return what both ranks found alike."""
    first, second = (result[key] for result in engine[1])
    assert first == second
    return first


def gradient(scale: float = 1.0, samples: float = 1.0) -> dict[str, Any]:
    """Of both ranks: rank 1 has ten times the inputs of rank 0."""
    return {
        "first.weight": [[scale * 11 * value * (1 + samples) for value in COLUMN_SUMS]] * 2,
        "second.weight": [[scale * 11 * sum(COLUMN_SUMS) * samples] * 2],
    }


def test_gradients_of_all_ranks_are_added_up(engine: Any) -> None:
    assert both(engine, "none") == {**gradient(), "sent": ["torch.float32"]}


def test_a_head_without_samples_on_one_rank_gets_the_gradient_of_the_other(engine: Any) -> None:
    found = both(engine, "a head without samples")
    assert found["second.weight"] == [[sum(COLUMN_SUMS)] * 2]
    assert found["first.weight"] == [[2 * value + 10 * value for value in COLUMN_SUMS]] * 2


def test_gradients_travel_in_fp16_where_asked(engine: Any) -> None:
    assert both(engine, "fp16") == {**gradient(), "sent": ["torch.float16"]}


def test_gradients_travel_in_bf16_where_the_engine_can_add_it_up(engine: Any) -> None:
    found = both(engine, "bf16")
    if engine[0] == "horovod":
        assert found.startswith("gradient_compression: 'bf16': Horovod cannot add up bf16")
        return
    assert found["sent"] == ["torch.bfloat16"]
    assert found["second.weight"] == [[pytest.approx(165, rel=2**-7)] * 2]


def test_gradients_of_several_batches_travel_once_in_a_step(engine: Any) -> None:
    name = engine[0]
    # Horovod takes each parameter on its own and fuses them; torch has one bucket for both.
    sent = 2 if name == "horovod" else 1
    expected = [gradient(scale=3), 0, sent]
    assert both(engine, "accumulated") == {"step 1": expected, "step 2": expected}


def test_values_arrive_whole_and_in_the_order_of_ranks_in_parts_of_any_size(engine: Any) -> None:
    first, second = (result["messages"] for result in engine[1])
    assert first["gathered"] == [[0, 0, 0], [1, 5000, 5000 * 4999 // 2]]
    assert second["gathered"] == []
    for found in (first, second):
        assert found["sum"] == [3.0, 1.0]
        assert found["broadcast"] == [[0, "x"], "hello"]


def test_a_sum_that_was_begun_waits_for_nobody_until_it_is_asked_for(engine: Any) -> None:
    first, second = (result["begun sums"] for result in engine[1])
    for found in (first, second):
        assert found["sums"] == [[20.0, 20.0], [3.0]]
        assert found["in time"]
    # The tensors stay what they were.
    assert (first["own"], second["own"]) == ([[1.0], [10.0, 0.0]], [[2.0], [10.0, 20.0]])


def test_ranks_of_smddp_are_joined_by_the_backend_that_its_library_registers(engine: Any) -> None:
    """The library itself runs on SageMaker's GPU instances alone."""
    joined = [rank for rank in (0, 1) if f"named smddp joins {rank} 2 0:30:00" in engine[2]]
    assert joined == ([0, 1] if engine[0] == "smddp" else [])


def test_the_engine_smddp_says_where_its_library_is() -> None:
    with pytest.raises(UsageError, match="No module named 'smdistributed'") as error:
        start_engine("smddp")
    assert "AWS's Deep Learning Containers for SageMaker alone" in str(error.value)


def test_an_engine_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="--engine mpi: choose one of horovod, torch, smddp"):
        start_engine("mpi")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("raise RuntimeError('type ml.g5.48xlarge')", r"RuntimeError: type ml\.g5\.48xlarge"),
        ("import not_there", "No module named 'not_there'"),
    ],
)
def test_a_library_that_refuses_this_machine_is_told_as_wrong_usage(
    line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "smdistributed" / "dataparallel" / "torch" / "torch_smddp.py"
    library.parent.mkdir(parents=True)
    library.write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=rf"--engine smddp: cannot be imported \({told}.*p4de"):
        start_engine("smddp")


def test_hierarchical_sums_need_nccl_and_options_reach_horovod(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.maskrcnn.engines import horovod_engine

    with pytest.raises(UsageError, match="horovod_hierarchical_allreduce: True: needs"):
        horovod_engine.start(tiny(horovod_hierarchical_allreduce=True))
    monkeypatch.setattr(horovod_engine.hvd, "nccl_built", lambda: 1)
    values = tiny(
        horovod_hierarchical_allreduce=True,
        horovod_fusion_threshold=0,
        horovod_cycle_time=2.5,
    )
    assert horovod_engine._variables(values) == {
        "HOROVOD_FUSION_THRESHOLD": "0",
        "HOROVOD_CYCLE_TIME": "2.5",
        "HOROVOD_HIERARCHICAL_ALLREDUCE": "1",
    }
    assert horovod_engine._variables(tiny()) == {}
