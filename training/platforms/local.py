"""Runs a job on this machine: real Horovod processes, started by `horovodrun`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from training import algorithms
from training.algorithms.pairings import check_pairing
from training.algorithms.possible import check_possible
from training.errors import UsageError
from training.job import Job
from training.layout import LogChannel, TrainChannel
from training.outputs import Outputs, StorageOutputs
from training.platforms import local_elastic
from training.platforms.api import Cost, Ending, Launch, Plan, job_id, job_name
from training.preflight.finding import Finding

READS = (StorageOutputs,)

CPU_CYCLE_MS = "20"
"""Horovod's ranks talk every millisecond by default, whether there is something to add up or not.
On CPUs that takes from the training itself: two ranks with the light model of jobs/demo-shapes.yaml
on two cores made 12.6 pictures a second with 1 ms, 22.7 with 5 and 24.5 with 20. On an Intel Xeon a
step of bench.scaling took 0.34 s with 5 ms and 0.30 s with 20."""


@dataclass(frozen=True, kw_only=True)
class LocalRequest:
    """What is run, on what, and what becomes of it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Variables that are set for the processes, on top of this machine's."""
    working_directory: Path
    world_size: int
    max_world_size: int | None
    """How many processes there may be at a time; None where their number stays as it is."""
    data: Path
    data_copied_from: str | None
    """Where the data is copied from before the start; None where `data` is read in place."""
    log: Path
    hyperparameters: Mapping[str, Any]
    model_copied_to: str
    max_run_s: int
    resume: bool

    @property
    def process_argv(self) -> tuple[str, ...]:
        """What each rank runs: all that follows `horovodrun`'s own options."""
        return self.argv[self.argv.index("--network-interfaces") + 2 :]

    def to_json(self) -> dict[str, Any]:
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in asdict(self).items()
        }


def plan(job: Job, outputs: Outputs, launch: Launch) -> Plan:
    """Plan a job for this machine; see `training.platforms.api.Platform`."""
    _check_instances(job)
    check_pairing(
        algorithm=job.spec.algorithm,
        platform="local",
        data_source=job.spec.data_source,
        instance=None,
    )
    _check_hyperparameters(job, launch)
    storage = outputs.read(StorageOutputs)
    places = _places(job, storage, launch)
    processes = job.spec.instances.processes_per_instance or max(1, launch.machine.gpus)
    elastic = job.spec.local.elastic
    request = LocalRequest(
        argv=_horovodrun(job, places, processes, launch),
        env=_environment(processes, launch),
        working_directory=launch.machine.project,
        world_size=processes,
        max_world_size=local_elastic.most_processes(elastic, processes) if elastic else None,
        data=places.data,
        data_copied_from=places.data_copied_from,
        log=places.log,
        hyperparameters=job.hyperparameters.model_dump(mode="json"),
        model_copied_to=f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.log)}/"
        f"{job_name(job, launch)}/model.pt",
        max_run_s=job.spec.limits.max_run_s,
        resume=launch.resume,
    )
    return Plan(
        platform="local",
        algorithm=job.spec.algorithm,
        job_name=job_name(job, launch),
        request=request,
        cost=Cost(per_hour=0.0, maximum=0.0, assumptions=("this machine: AWS starts nothing",)),
        learning_rates=algorithms.load(job.spec.algorithm).learning_rates(
            job.hyperparameters, world_size=processes
        ),
    )


def check(job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:  # noqa: ARG001
    """Check the machine, the folders and, where it is here already, the data.

    All of it is here, so that nobody is asked in any case.
    """
    from training.preflight import log_folder, mounted, processes

    request = _request(plan)
    elastic = job.spec.local.elastic
    yield from processes.find(
        horovodrun=Path(request.argv[0]),
        controller=job.spec.local.controller,
        network_interface=job.spec.local.network_interface,
        host_discovery=elastic.host_discovery if elastic else None,
    )
    mount_findings = list(mounted.find(job.spec.data_source, request.data))
    yield from mount_findings
    if mount_findings:
        return
    yield from log_folder.find(
        LogChannel(request.log),
        request.hyperparameters,
        defaults=type(job.hyperparameters)().model_dump(mode="json"),
        resume=request.resume,
    )
    if request.data_copied_from is None:
        yield from check_data(job, request.data)


def check_data(job: Job, data: Path) -> Iterator[Finding]:
    """Check the annotations, pictures and weights that the job reads."""
    from training.preflight import data as data_check
    from training.preflight import weights

    algorithm = algorithms.load(job.spec.algorithm)
    yield from weights.find(TrainChannel(data), algorithm.weight_files(job.hyperparameters))
    yield from data_check.find(
        TrainChannel(data),
        algorithm.splits(job.hyperparameters),
        algorithm.bad_annotations(job.hyperparameters),
    )


def submit(job: Job, plan: Plan, *, wait: bool) -> Ending:  # noqa: ARG001  (it always waits)
    """Run the plan to its end; see `training.platforms.api.Platform`."""
    from training.platforms.local_run import run

    run(job, plan, _request(plan))
    return "completed"


@dataclass(frozen=True)
class _Places:
    data: Path
    data_copied_from: str | None
    log: Path


def _places(job: Job, storage: StorageOutputs, launch: Launch) -> _Places:
    """Return where the channels are on this machine."""
    channels, source = job.spec.channels, job.spec.data_source
    log_name = f"log-{job_id(job, launch)}"
    if source == "s3":
        root = launch.machine.working_directory / job.spec.local.root
        return _Places(
            data=root / "input" / storage.bucket_name / channels.train,
            data_copied_from=f"s3://{storage.bucket_name}/{storage.key(channels.train)}",
            log=root / log_name,
        )
    file_system = _file_system_root(source, storage, launch.machine.environ)
    return _Places(
        data=file_system / channels.train,
        data_copied_from=None,
        log=file_system / channels.log / log_name,
    )


def _file_system_root(source: str, storage: StorageOutputs, environ: Mapping[str, str]) -> Path:
    from training.data.mounts import UNMOUNTED_ROOT, find_mount

    if source == "efs":
        return find_mount(storage.efs_id, environ=environ) or UNMOUNTED_ROOT / storage.efs_id
    lustre = storage.lustre(asked_by="data_source: fsx")
    mount = find_mount(lustre.id, environ=environ, aliases=(lustre.mount_name,))
    # Only this folder of the Lustre file system mirrors the bucket.
    return (mount or UNMOUNTED_ROOT / lustre.id) / lustre.data_path.strip("/")


def _check_instances(job: Job) -> None:
    instances = job.spec.instances
    if instances.type is not None:
        raise UsageError(
            f"instances.type: {instances.type}: platform local runs on this machine; leave it out"
        )
    if instances.count not in (None, 1):
        raise UsageError(
            f"instances.count: {instances.count}: platform local has one machine; for more "
            "processes on it set instances.processes_per_instance"
        )


def _check_hyperparameters(job: Job, launch: Launch) -> None:
    check_possible(
        job.spec.algorithm,
        job.hyperparameters,
        distribution="mpi",
        gpus=launch.machine.gpus,
    )


def _algorithm(job: Job) -> algorithms.RunsHere:
    return cast(algorithms.RunsHere, algorithms.load(job.spec.algorithm))


def _horovodrun(job: Job, places: _Places, processes: int, launch: Launch) -> tuple[str, ...]:
    log = LogChannel(places.log)
    trainer = _algorithm(job).command(
        data=str(places.data),
        log_dir=str(places.log),
        hyperparameters=str(log.hyperparameters),
        resume=launch.resume,
    )
    return (
        str(launch.machine.python.parent / "horovodrun"),
        "-np",
        str(processes),
        *_hosts(job, processes, launch),
        f"--{job.spec.local.controller}",
        "--network-interfaces",
        job.spec.local.network_interface,
        str(launch.machine.python),
        *trainer,
    )


def _hosts(job: Job, processes: int, launch: Launch) -> tuple[str, ...]:
    if job.spec.local.elastic is None:
        return ("-H", f"localhost:{processes}")
    return local_elastic.options(
        job.spec.local.elastic, processes=processes, gpus=launch.machine.gpus
    )


def _environment(processes: int, launch: Launch) -> dict[str, str]:
    on_gpus = launch.machine.gpus > 0
    return {
        # Each process takes its share of the cores: more threads than cores slow all of them down.
        "OMP_NUM_THREADS": str(max(1, launch.machine.cores // processes)),
        "PYTHONPATH": str(launch.machine.project),
        "PYTHONUNBUFFERED": "1",
        **({} if on_gpus else {"HOROVOD_CYCLE_TIME": CPU_CYCLE_MS}),
    }


def _request(plan: Plan) -> LocalRequest:
    assert isinstance(plan.request, LocalRequest)
    return plan.request
