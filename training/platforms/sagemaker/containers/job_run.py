"""The run itself of a job in containers: find, bring, start, follow, keep, judge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.cli import log as console
from training.cli import show_error
from training.container_engine import RUNNERS, Engine, find_engine
from training.errors import AwsError, JobFailed, PreflightError, TrainingError
from training.platforms.copied_data import COPY_JOBS, copy_data
from training.platforms.sagemaker.containers import cleaning, results
from training.platforms.sagemaker.containers.command import (
    Setting,
    make_network,
    run_container,
    shares,
)
from training.platforms.sagemaker.containers.contract import host_names, variables
from training.platforms.sagemaker.containers.first_run import require_right_start, run_name
from training.platforms.sagemaker.containers.fleet import Fleet
from training.platforms.sagemaker.containers.folders import HostFolders
from training.platforms.sagemaker.containers.image import find_image
from training.platforms.sagemaker.containers.log_place import LogPlace
from training.platforms.sagemaker.containers.mark import Mark, new_mark
from training.platforms.sagemaker.containers.mounts import Mount, bring_channels
from training.platforms.sagemaker.containers.verdict import conclude

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

FOLDERS = Path("runs") / "containers"
"""Below the working directory: a folder for each run, while it lasts."""


def run_job(body: Mapping[str, Any]) -> None:
    """Run a job; see `training.platforms.sagemaker.containers.run`."""
    engine = find_engine(None, RUNNERS)
    here = Path.cwd()
    for left in cleaning.sweep(engine, here / FOLDERS):
        console.print(f"removed what a run has left that was killed: {left}")
    image = find_image(
        engine,
        body["AlgorithmSpecification"]["TrainingImage"],
        body["Environment"]["MASK_RCNN_ALGORITHM"],
        gpus=_has_gpus(),
    )
    channels = bring_channels(body, environ=os.environ, here=here, copy=copy_data)
    _open_log_channel(body, channels)
    names = host_names(body["ResourceConfig"]["InstanceCount"])
    mark = new_mark()
    work = here / FOLDERS / mark.text
    setting = _setting(body, engine, mark, image, hosts=len(names))
    with cleaning.cleaned_up(engine, mark, work, image):
        hosts = {name: HostFolders(work / name) for name in names}
        for name, folders in hosts.items():
            folders.make(body, names, name)
        with _kept_checkpoints(body, list(hosts.values())):
            _run_containers(body, setting, hosts, channels, work)


def _setting(
    body: Mapping[str, Any], engine: Engine, mark: Mark, image: str, *, hosts: int
) -> Setting:
    algorithm = body["AlgorithmSpecification"]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    entrypoint = algorithm.get("ContainerEntrypoint")
    return Setting(
        engine=engine,
        mark=mark.text,
        image=image,
        # Two containers cannot share one GPU: NCCL refuses two ranks on it.
        gpus=_has_gpus() and hosts == 1,
        isolated=body.get("EnableNetworkIsolation", False),
        # Half of the memory is what Linux gives a tmpfs by default.
        shared_memory_bytes=memory // 2 // hosts,
        arguments=tuple(algorithm.get("ContainerArguments") or (() if entrypoint else ("train",))),
        entrypoint=entrypoint[0] if entrypoint else None,
    )


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _has_gpus() -> bool:
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _open_log_channel(body: Mapping[str, Any], channels: Sequence[Mount]) -> None:
    """Make the job's new folder, or find that of the job that goes on."""
    for folder in (mount.folder for mount in channels if mount.writable):
        is_used = folder.is_dir() and any(folder.iterdir())
        require_right_start(body, folder, is_used=is_used)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PreflightError(f"{folder}: cannot be made ({error.strerror})") from error


def _run_containers(
    body: Mapping[str, Any],
    setting: Setting,
    hosts: Mapping[str, HostFolders],
    channels: Sequence[Mount],
    work: Path,
) -> None:
    made = setting.engine.ask(*make_network(setting))
    if made.returncode:
        raise JobFailed(f"{setting.engine.name} made no network: {made.stderr.strip()}")
    console.print(f"{body['TrainingJobName']}: {len(hosts)} container(s) of {setting.image}")
    commands = {
        name: run_container(
            setting, name, variables(body, name), (*folders.mounts(body), *channels), cores
        )
        for (name, folders), cores in zip(hosts.items(), shares(_cores(), len(hosts)), strict=True)
    }
    end = Fleet(setting, _show).run(
        commands, max_run_s=body["StoppingCondition"]["MaxRuntimeInSeconds"]
    )
    place = LogPlace.of(body, channels, list(hosts.values()))
    _tell_where(place)
    try:
        conclude(
            end,
            {name: folders.failure_reason() for name, folders in hosts.items()},
            run_name=run_name(body),
            checkpoint=place.newest_checkpoint(),
        )
    except TrainingError as error:
        _try_keep(body, hosts, work, failed=isinstance(error, JobFailed))
        raise
    _keep(body, hosts, work, failed=False)


def _tell_where(place: LogPlace) -> None:
    console.print(f"log: {place.address}")
    if report := place.report():
        console.print(f"report: {report}")


def _show(host: str, line: str) -> None:
    console.out(f"{host} | {line}", highlight=False)


def _try_keep(
    body: Mapping[str, Any], hosts: Mapping[str, HostFolders], work: Path, *, failed: bool
) -> None:
    """Keep what there is of a job that did not end well; its own cause is what the user sees."""
    try:
        _keep(body, hosts, work, failed=failed)
    except TrainingError as error:
        show_error(error)


def _keep(
    body: Mapping[str, Any], hosts: Mapping[str, HostFolders], work: Path, *, failed: bool
) -> None:
    with _s3("the job has ended, but what it leaves is not on S3") as client:
        folders = list(hosts.values())
        for address in results.keep_results(client, body, folders, work, failed=failed):
            console.print(f"{address.rpartition('/')[2]}: {address}")


@contextmanager
def _kept_checkpoints(body: Mapping[str, Any], hosts: Sequence[HostFolders]) -> Iterator[None]:
    """Bring checkpoints from S3 before the start, and put them there at the end, however it ends.

    SageMaker does the second all the time; here the launcher does it, as long as it lives.
    """
    config = body.get("CheckpointConfig")
    if config is None:
        yield
        return
    address = config["S3Uri"]
    with _s3("the checkpoints cannot be brought from S3") as client:
        if not any(channel["ChannelName"] == "log" for channel in body["InputDataConfig"]):
            is_used = results.has_checkpoints(client, address)
            require_right_start(body, address, is_used=is_used)
        brought = results.bring_checkpoints(client, address, hosts)
    try:
        yield
    finally:
        with _s3("the checkpoints are not on S3") as client:
            results.keep_checkpoints(client, address, hosts, brought)


@contextmanager
def _s3(what_failed: str) -> Iterator[S3Client]:
    from training.aws.errors import translated
    from training.data.aws import make_s3_client

    try:
        with translated():
            yield make_s3_client(connections=COPY_JOBS)
    except AwsError as error:
        raise AwsError(f"{what_failed}: {error}") from error
