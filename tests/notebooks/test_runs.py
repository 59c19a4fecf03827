"""The notebooks, run by Jupyter against local AWS with the app's own stacks.

Nothing is typed but the image of data parallel PyTorch: the kernel knows the region, as on the
notebook instance, and the stacks tell the rest. Local AWS runs no container; what a job would write
to its log channel is put there for it.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient

from tests.notebooks.place import LOGS, TRAIN, Place
from tests.notebooks.reading import DATA_PARALLEL, FSX, S3_OR_EFS, cell_of, choose, code_of, read

TIMEOUT_S = 240
"""Of a cell. A job takes six seconds on local AWS."""

METRICS = [
    {
        "kind": "train",
        "step": step,
        "epoch": step / 10,
        "time_s": 1000.0 + step,
        "values": {"total_loss": 4.0 / step},
    }
    for step in (1, 5, 10)
]


@dataclass(frozen=True)
class Run:
    """One notebook, before and after it was run."""

    name: str
    choice: Mapping[str, str | list[str]]
    source: str
    """Where its data is."""
    notebook: Any
    folder: Path

    @property
    def job_name(self) -> str:
        """The name of the job that it launched, from what the cell shows."""
        [name] = set(re.findall(r"--name (\S+)", self.printed("launch")))
        return str(name)

    def printed(self, cell_id: str) -> str:
        """Return the text that a cell shows."""
        return "".join(
            output.text if output.output_type == "stream" else output.data["text/plain"]
            for output in cell_of(self.notebook, cell_id).outputs
        )


def prepare(name: str, folder: Path, source: str, **choice: str | list[str]) -> Run:
    notebook = read(name)
    choose(notebook, choice)
    home = folder / name
    home.mkdir()
    return Run(name, choice, source, notebook, home)


def launch_twice(run: Run) -> None:
    """Have the cell that launches run once more after it has been followed."""
    again = copy.deepcopy(cell_of(run.notebook, "launch"))
    again.id = "launch-again"
    after = run.notebook.cells.index(cell_of(run.notebook, "follow")) + 1
    run.notebook.cells.insert(after, again)


async def run_all(runs: Sequence[Run], place: Place) -> None:
    """Run notebooks at a time, each in a kernel of its own."""

    async def execute(run: Run) -> None:
        def play_the_job(cell: Any, **_: Any) -> None:
            if cell.id == "launch":
                write_log(place, run)

        client = NotebookClient(
            run.notebook,
            timeout=TIMEOUT_S,
            resources={"metadata": {"path": str(run.folder)}},
            on_cell_executed=play_the_job,
        )
        await client.async_execute(env=place.process_env(run.folder))

    await asyncio.gather(*map(execute, runs))


def write_log(place: Place, run: Run) -> None:
    """Leave in the log channel what a job leaves there."""
    text = "".join(f"{json.dumps(line)}\n" for line in METRICS)
    if run.source == "s3":
        key = f"{LOGS}/log-{run.job_name}/metrics.jsonl"
        s3 = place.aws.client("s3")
        s3.put_object(Bucket=place.storage.bucket_name, Key=key, Body=text.encode())
        return
    # The launch has made the folder: SageMaker mounts only those that exist.
    folder = place.folder(run.source) / LOGS / f"log-{run.job_name}"
    (folder / "metrics.jsonl").write_text(text)


@pytest.mark.slow
def test_a_notebook_goes_from_data_on_s3_to_report_with_nothing_typed(
    place: Place, jupyter: Path, tmp_path: Path
) -> None:
    run = prepare(S3_OR_EFS, tmp_path, "s3", SOURCE="s3")
    launch_twice(run)
    asyncio.run(run_all([run], place))
    check_what_it_shows(run, place)
    check_job_on_s3(place.describe(run.job_name), place)
    assert f"{run.job_name} is there already" in run.printed("launch-again")
    assert place.job_names() == {run.job_name}


@pytest.mark.soak
def test_the_others_go_from_data_to_report_with_only_an_image_typed(
    place: Place, jupyter: Path, tmp_path: Path
) -> None:
    # The image only has to be there: nobody runs it.
    image = place.image("horovod")
    # Local AWS's EC2 knows no P3, the default of tensorpack.
    machines = ["--instance-type", "ml.g4dn.12xlarge", "--instance-count", "2"]
    on_fsx = prepare(FSX, tmp_path, "fsx", ALGORITHM="tensorpack", MACHINES=machines)
    data_parallel = prepare(DATA_PARALLEL, tmp_path, "fsx", IMAGE=image)
    asyncio.run(run_all((on_fsx, data_parallel), place))
    for run in (on_fsx, data_parallel):
        check_what_it_shows(run, place)
    check_job_on_fsx(place.describe(on_fsx.job_name), place)
    check_data_parallel_job(place.describe(data_parallel.job_name), image)
    assert place.job_names() == {on_fsx.job_name, data_parallel.job_name}


def check_what_it_shows(run: Run, place: Place) -> None:
    assert all(cell_of(run.notebook, cell_id).execution_count for cell_id in code_of(run.notebook))
    job, bucket = run.job_name, place.storage.bucket_name
    shown = run.printed("place")
    assert "us-east-1" in shown
    assert "NetworkStack, StorageStack, RegistryStack, NotebookStack" in shown
    assert re.search(rf"data on S3: s3://{bucket}/{TRAIN}, \d+ files", shown)
    assert "learning rate" in run.printed("plan")
    assert job in run.printed("plan")
    assert "Training job completed" in run.printed("follow")
    assert f"{job}: completed (Completed)" in run.printed("status")
    assert f"report-{job}.html" in run.printed("result")
    assert "total_loss" in (run.folder / f"report-{job}.html").read_text()
    assert f"log-{job}" in run.printed("metrics")
    assert run.printed("stop") == ""


def channels(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return channel to its source."""
    return {each["ChannelName"]: each["DataSource"] for each in job["InputDataConfig"]}


def check_job_on_s3(job: Mapping[str, Any], place: Place) -> None:
    name, bucket = job["TrainingJobName"], place.storage.bucket_name
    assert name.startswith("mask-rcnn-horovod-")
    assert job["AlgorithmSpecification"]["TrainingImage"] == place.image("horovod")
    assert list(channels(job)) == ["train"]
    train = channels(job)["train"]["S3DataSource"]["S3Uri"]
    assert train.rstrip("/") == f"s3://{bucket}/{TRAIN}"
    assert job["CheckpointConfig"]["S3Uri"] == f"s3://{bucket}/{LOGS}/log-{name}"


def check_job_on_fsx(job: Mapping[str, Any], place: Place) -> None:
    job_name = job["TrainingJobName"]
    assert job_name.startswith("mask-rcnn-tensorpack-")
    assert job["AlgorithmSpecification"]["TrainingImage"] == place.image("tensorpack")
    assert job["ResourceConfig"]["InstanceType"] == "ml.g4dn.12xlarge"
    lustre = place.storage.lustre(asked_by="the test")
    root = f"/{lustre.mount_name}{lustre.data_path}"
    common = {"FileSystemId": lustre.id, "FileSystemType": "FSxLustre"}
    found = {name: source["FileSystemDataSource"] for name, source in channels(job).items()}
    assert found == {
        "train": common | {"FileSystemAccessMode": "ro", "DirectoryPath": f"{root}/{TRAIN}"},
        "log": common
        | {"FileSystemAccessMode": "rw", "DirectoryPath": f"{root}/{LOGS}/log-{job_name}"},
    }
    assert job["VpcConfig"]["Subnets"] == [lustre.subnet_id]


def check_data_parallel_job(job: Mapping[str, Any], image: str) -> None:
    assert job["AlgorithmSpecification"]["TrainingImage"] == image
    assert job["TrainingJobName"].startswith("mask-rcnn-pytorch-")
    assert job["Environment"]["MASK_RCNN_ALGORITHM"] == "horovod"
    assert job["Environment"]["MASK_RCNN_DISTRIBUTION"] == "smddp"
    assert job["HyperParameters"]["bad_annotations"] == "skip"
    assert job["ResourceConfig"]["InstanceType"] == "ml.p4d.24xlarge"
    assert set(channels(job)) == {"train", "log"}
