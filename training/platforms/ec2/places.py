"""Where a job's data and logs are on the nodes."""

from __future__ import annotations

from typing import Any

from training.errors import UsageError
from training.job import Job
from training.outputs import ClusterOutputs, StorageOutputs

SCRATCH = "/scratch"
"""The nodes' local NVMe: where data from S3 is copied to first."""

OWN_FOLDER = "mask-rcnn/clusters"
"""The folder of EFS in which the nodes keep their registrations and the list of jobs."""


def data_place(job: Job, storage: StorageOutputs, cluster: ClusterOutputs) -> dict[str, Any]:
    """Return where the nodes read the `train` channel: `path`, and `s3` where it comes from there.

    Raises:
        UsageError: There is no FSx for Lustre, or the nodes do not mount it.
    """
    train, source = job.spec.channels.train, job.spec.data_source
    if source == "s3":
        return {
            "s3": f"s3://{storage.bucket_name}/{storage.key(train)}",
            "path": f"{SCRATCH}/{train}",
        }
    if source == "efs":
        return {"path": f"{cluster.efs_mount}/{train}"}
    lustre = storage.lustre(asked_by="data_source: fsx")
    if cluster.fsx_mount is None:
        raise UsageError(
            f"data_source: fsx: the nodes of {cluster.STACK} do not mount FSx for Lustre: it was "
            f"deployed before the file system. Deploy it again (cdk deploy {cluster.STACK}), or "
            "take s3 or efs"
        )
    # Only this folder of the Lustre file system mirrors the bucket.
    folders = (cluster.fsx_mount, lustre.data_path.strip("/"), train)
    return {"path": "/".join(folder for folder in folders if folder)}


def log_place(job: Job, cluster: ClusterOutputs, run_name: str) -> str:
    """Return a job's log folder, which is on EFS whatever the data source.

    Raises:
        UsageError: It would be among the cluster's own files.
    """
    log = job.spec.channels.log
    if f"{log}/".startswith(f"{OWN_FOLDER}/"):
        raise UsageError(
            f"channels.log: {log}: {OWN_FOLDER} is the cluster's own folder; choose another"
        )
    return f"{cluster.efs_mount}/{log}/{run_name}"
