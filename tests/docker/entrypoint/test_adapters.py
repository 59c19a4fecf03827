"""The image's adapter, and that of the first-party trainer."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from entrypoint.adapters import Adapter, load_adapter
from entrypoint.errors import EntrypointError

from tests.docker.entrypoint.test_commands import JOB

ROOT = Path(__file__).parents[3]
HOROVOD = Adapter(str(ROOT / "docker" / "horovod" / "adapter.py"))


def test_an_image_of_another_algorithm_is_refused_with_both_names(tmp_path: Path) -> None:
    (tmp_path / "algorithm").write_text("tensorpack\n")
    with pytest.raises(EntrypointError, match="the job is of horovod, but this image is of tensor"):
        load_adapter("horovod", str(tmp_path))


def test_an_image_that_is_not_whole_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(EntrypointError, match=r"/algorithm: cannot be read .*rebuild the image"):
        load_adapter("horovod", str(tmp_path))
    (tmp_path / "algorithm").write_text("horovod\n")
    with pytest.raises(EntrypointError, match=r"adapter.py: is not there"):
        load_adapter("horovod", str(tmp_path))


def test_what_a_user_can_mend_is_shown_alone_a_mistake_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "adapter.py"
    path.write_text(
        "from entrypoint.adapter_error import AdapterError\n"
        "def prepare(job): raise AdapterError('weights.npz: is missing')\n"
        "def command(job): return 1 / 0\n"
    )
    adapter = Adapter(str(path))
    with pytest.raises(EntrypointError, match=r"^weights\.npz: is missing$"):
        adapter.prepare(JOB)
    with pytest.raises(
        EntrypointError, match=r"adapter.py: command: ZeroDivisionError: .*, line 3"
    ):
        adapter.command(JOB)


@pytest.mark.parametrize(
    ("distribution", "engine"),
    [("mpi", "horovod"), ("torchrun", "torch"), ("smddp", "smddp")],
)
def test_the_trainers_command_holds_no_hyperparameter(distribution: str, engine: str) -> None:
    assert HOROVOD.command(JOB._replace(distribution=distribution)) == [
        *(sys.executable, "-m", "training.maskrcnn.train", "--data", JOB.data),
        *("--log-dir", JOB.log, "--hyperparameters", f"{JOB.log}/hyperparameters.json"),
        *("--engine", engine, "--resume", "auto"),
    ]


def test_ranks_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(96)))
    assert HOROVOD.environment(JOB) == {"OMP_NUM_THREADS": "12"}
    on_cpu = JOB._replace(gpus_per_host=0, processes_per_host=100)
    assert HOROVOD.environment(on_cpu) == {"OMP_NUM_THREADS": "1", "HOROVOD_CYCLE_TIME": "20"}


def test_an_earlier_outcome_is_forgotten_by_the_head_alone(tmp_path: Path) -> None:
    worker = JOB._replace(log=str(tmp_path))
    (tmp_path / "outcome.json").write_text(json.dumps({"status": "failed"}))
    HOROVOD.prepare(worker)
    assert HOROVOD.outcome(worker) == {"status": "failed"}
    HOROVOD.prepare(worker._replace(current_host="algo-1"))
    assert HOROVOD.outcome(worker) == {}
    (tmp_path / "outcome.json").write_text("{")
    assert HOROVOD.outcome(worker) == {}


def test_the_model_is_the_trainers(tmp_path: Path) -> None:
    job = JOB._replace(log=str(tmp_path))
    assert HOROVOD.model_files(job) == []
    (tmp_path / "model.pt").touch()
    assert HOROVOD.model_files(job) == [f"{tmp_path}/model.pt"]


def test_ranks_of_smddp_meet_at_the_head() -> None:
    with_smddp = JOB._replace(distribution="smddp")
    met = HOROVOD.environment(with_smddp)
    assert (met["MASTER_ADDR"], met["MASTER_PORT"]) == ("algo-1", "7777")
    alone = with_smddp._replace(hosts=["a-name-that-nobody-knows"])
    assert HOROVOD.environment(alone)["MASTER_ADDR"] == "127.0.0.1"
    assert not {"RANK", "MASTER_ADDR"} & set(HOROVOD.environment(JOB))


def test_the_trainer_saves_on_sigterm() -> None:
    assert HOROVOD.stops_with_checkpoint
