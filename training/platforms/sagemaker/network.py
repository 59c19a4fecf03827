"""Where in the VPC a job runs, and what its containers may say to whom."""

from __future__ import annotations

from typing import Any

from training.errors import UsageError
from training.job import Job
from training.outputs import NetworkOutputs, StorageOutputs


def vpc_config(job: Job, network: NetworkOutputs, storage: StorageOutputs) -> dict[str, Any]:
    """Return VpcConfig; also of the job that prepares the file system for this one.

    Raises:
        UsageError: The file system is not there.
    """
    return {
        "SecurityGroupIds": [network.training_security_group_id],
        "Subnets": _subnets(job, network, storage),
    }


def networking(job: Job, network: NetworkOutputs, storage: StorageOutputs) -> dict[str, Any]:
    """Return VpcConfig, and the flags of the network where they are wanted.

    EFA needs no field of its own: SageMaker gives a type its adapters, and the group lets its
    members say everything to each other, which EFA asks for:
    https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html

    Raises:
        UsageError: The file system is not there, or isolation cuts off what the job needs.
    """
    flags = {}
    if job.spec.sagemaker.encrypt_traffic:
        flags["EnableInterContainerTrafficEncryption"] = True
    if job.spec.sagemaker.network_isolation:
        _check_isolation(job)
        flags["EnableNetworkIsolation"] = True
    return {"VpcConfig": vpc_config(job, network, storage), **flags}


def _subnets(job: Job, network: NetworkOutputs, storage: StorageOutputs) -> list[str]:
    if job.spec.data_source == "fsx":
        # FSx for Lustre is in one zone: elsewhere, traffic is slower and paid for.
        return [storage.lustre(asked_by="data_source: fsx").subnet_id]
    return list(network.private_subnet_ids)


def _check_isolation(job: Job) -> None:
    """Refuse weights from the internet, which an isolated container cannot reach."""
    values = job.hyperparameters.model_dump()
    if values.get("backbone_weights") == "torchvision" and values.get("load_model") is None:
        raise UsageError(
            "sagemaker.network_isolation: hyperparameters.backbone_weights is 'torchvision', which "
            "the containers download, and isolated they reach nothing; name a file in the train "
            "channel's pretrained-models, or None"
        )
