"""Runs a job as a SageMaker training job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from training import algorithms
from training.algorithms.pairings import check_pairing
from training.algorithms.possible import check_possible
from training.job import Job
from training.outputs import NetworkOutputs, Outputs, RegistryOutputs, StorageOutputs
from training.platforms.api import Cost, Ending, Launch, Plan, StepBefore, job_name
from training.platforms.common.image import image as image_of
from training.platforms.sagemaker.body import create_training_job
from training.platforms.sagemaker.experiment import plan_experiment
from training.platforms.sagemaker.machines import LOCAL, Machines, machines
from training.platforms.sagemaker.names import names
from training.platforms.sagemaker.preparation import plan_preparation
from training.platforms.sagemaker.request import SageMakerRequest
from training.preflight.finding import Finding
from training.prices.cache import price_cache
from training.prices.cost import sagemaker_cost

READS = (NetworkOutputs, StorageOutputs, RegistryOutputs)


def plan(job: Job, outputs: Outputs, launch: Launch) -> Plan:
    """Plan a job for SageMaker; see `training.platforms.api.Platform`."""
    on = machines(job, launch)
    pairing = check_pairing(
        algorithm=job.spec.algorithm,
        platform="sagemaker",
        data_source=job.spec.data_source,
        instance=on.instance,
        distribution=job.spec.sagemaker.distribution,
    )
    check_possible(
        job.spec.algorithm,
        job.hyperparameters,
        distribution=pairing.distribution,
        gpus=on.instance.gpus if on.instance else launch.machine.gpus,
    )
    network, storage = outputs.read(NetworkOutputs), outputs.read(StorageOutputs)
    image, called = image_of(job, outputs, here=on.type == LOCAL), names(job, launch)
    body = create_training_job(
        job,
        network=network,
        storage=storage,
        on=on,
        distribution=pairing.distribution,
        image=image,
        called=called,
        tagged=job_name(job, launch),
    )
    preparation = plan_preparation(
        job,
        network=network,
        storage=storage,
        image=image,
        log_path=f"{job.spec.channels.log}/{called.log}",
        job_name=called.job,
        launch=launch,
    )
    experiment = plan_experiment(job.spec.sagemaker.experiment, project=network.project)
    return Plan(
        platform="sagemaker",
        algorithm=job.spec.algorithm,
        job_name=called.job,
        request=SageMakerRequest(body),
        cost=_cost(on, body, preparation, storage, launch),
        # On this machine, the containers' own runner makes the folders.
        before=() if on.type == LOCAL else (*preparation, *experiment),
        learning_rates=algorithms.load(job.spec.algorithm).learning_rates(
            job.hyperparameters, world_size=on.world_size
        ),
    )


def _cost(
    on: Machines,
    body: Mapping[str, Any],
    preparation: Iterable[StepBefore],
    storage: StorageOutputs,
    launch: Launch,
) -> Cost:
    if on.type == LOCAL:
        return Cost(
            per_hour=0.0, maximum=0.0, assumptions=("this machine: AWS starts no instance",)
        )
    return sagemaker_cost(
        body,
        [step.request for step in preparation if step.request],
        region=storage.arn("encryption_key_arn").region,
        today=launch.now.date(),
        cache=price_cache(launch.machine.environ),
    )


def check(job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:
    """Yield what is wrong with a plan; see `training.platforms.api.Platform`."""
    from training.platforms.sagemaker import advice
    from training.preflight import job as of_job

    yield from advice.find(job.spec, _request(plan).body)
    yield from of_job.find(job, plan, offline=offline)


def submit(job: Job, plan: Plan, *, wait: bool) -> Ending:  # noqa: ARG001
    """Do what comes before, send the request, and follow the job where that is wanted."""
    request = _request(plan)
    if request.instance_type == LOCAL:
        from training.platforms.sagemaker.containers import run

        run(request.body)
        return "completed"
    from training.platforms.sagemaker.sending import send

    return send(plan, request.body, wait=wait)


def _request(plan: Plan) -> SageMakerRequest:
    assert isinstance(plan.request, SageMakerRequest)
    return plan.request
