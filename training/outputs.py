"""THE CONTRACT between the stacks and the training: what each stack tells.

A stack builds its class and hands it to `stacks.contract.write_outputs`, which makes one
CloudFormation output a field; `training` reads them back, from CloudFormation
(`training.aws.cloudformation`) or from the file that `cdk deploy --outputs-file` wrote. To add a
field, add a line here and one in the stack.

This module imports the standard library and `training.errors` alone: both halves import it, and a
plan must print in a quarter of a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

from training.errors import UsageError

PROJECT_TAG = "Project"
"""The cost allocation tag on everything that the stacks make, and on every job."""

JOB_TAG = "Job"
"""The cost allocation tag of one job: its name."""

BUILD_SOURCES_KEY = "sources.zip"
"""Where the builder's bucket takes the sources of a build; each build reads one version of it."""

StackOutputs = Mapping[str, str]
"""The outputs of one stack as CloudFormation has them: output key to value."""


def output_key(field_name: str) -> str:
    """Return the CloudFormation output key of a field: `vpc_id` is written as `VpcId`."""
    return "".join(word.capitalize() for word in field_name.split("_"))


@dataclass(frozen=True, kw_only=True)
class Arn:
    """What an ARN tells of where something is."""

    partition: str
    region: str
    account: str


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Base of the outputs of one stack.

    Fields are strings, or tuples of strings, which travel joined by commas. A field that may be
    absent is typed `str | None` with the default None, or is a tuple with the default (), and is
    written only where there is a value.
    """

    STACK: ClassVar[str]

    def to_outputs(self) -> dict[str, str]:
        """Return output key to value, without the absent ones."""
        outputs: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value != ():
                outputs[output_key(field.name)] = (
                    ",".join(value) if isinstance(value, tuple) else value
                )
        return outputs

    def number(self, field_name: str) -> int:
        """Return an output that is a whole number.

        Raises:
            UsageError: It is none.
        """
        text: str = getattr(self, field_name)
        if not text.isdecimal():
            raise UsageError(
                f"{self.STACK}.{output_key(field_name)} is {text!r}; expected a whole number"
            )
        return int(text)

    def arn(self, field_name: str) -> Arn:
        """Return the parts of an output that is an ARN.

        Raises:
            UsageError: It is none.
        """
        text: str = getattr(self, field_name)
        parts = text.split(":", 5)
        if len(parts) < 6 or parts[0] != "arn":
            raise UsageError(
                f"{self.STACK}.{output_key(field_name)} is {text!r}; expected an ARN, "
                "arn:<partition>:<service>:<region>:<account>:<resource>"
            )
        return Arn(partition=parts[1], region=parts[3], account=parts[4])

    @classmethod
    def from_outputs(cls, outputs: StackOutputs, *, source: str) -> Self:
        """Read the fields from a stack's outputs.

        Args:
            outputs: Output key to value. Keys that the contract does not know are left alone:
                CDK adds exports of its own.
            source: Where the outputs come from, for the message.

        Raises:
            UsageError: An output is missing or empty.
        """
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        missing: list[str] = []
        for field in fields(cls):
            text = outputs.get(output_key(field.name), "")
            if not isinstance(text, str):
                raise UsageError(
                    f"{source}: {cls.STACK}.{output_key(field.name)} is {text!r}; "
                    "outputs are strings"
                )
            if text:
                is_list = hints[field.name] == tuple[str, ...]
                values[field.name] = tuple(text.split(",")) if is_list else text
            elif _is_required(field):
                missing.append(output_key(field.name))
        if missing:
            raise UsageError(
                f"{source}: {cls.STACK} has no output {', '.join(missing)}. It was deployed by "
                f"another version, or is another stack; deploy it again: cdk deploy {cls.STACK}"
            )
        return cls(**values)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING


@dataclass(frozen=True, kw_only=True)
class NetworkOutputs(Contract):
    """Where jobs run."""

    STACK: ClassVar[str] = "NetworkStack"

    project: str
    """The value of the cost allocation tag `PROJECT_TAG`, for jobs too."""
    vpc_id: str
    private_subnet_ids: tuple[str, ...]
    """In the order of `availability_zones`."""
    public_subnet_ids: tuple[str, ...] = ()
    """Those that the internet can reach: none without internet access."""
    availability_zones: tuple[str, ...]
    training_security_group_id: str
    """Members may talk to each other on every port, and to the file systems."""


@dataclass(frozen=True, kw_only=True)
class StorageOutputs(Contract):
    """Where data, logs and models live."""

    STACK: ClassVar[str] = "StorageStack"

    bucket_name: str
    bucket_prefix: str | None = None
    """The folder of the bucket below which everything of ours lies, for example `ml-platform`."""
    encryption_key_arn: str
    """The KMS key of what the stack made: the bucket and the file systems."""
    efs_id: str
    efs_security_group_id: str
    """Of the mount targets."""
    efs_mount_targets: str = "create"
    """`create`: the stack made them; `existing`: they were there."""
    fsx_id: str | None = None
    """Absent, as all that follows, where the stack was deployed with `fsx = none`."""
    fsx_mount_name: str | None = None
    """The first part of every Lustre path: an FSx channel begins with `/<mount name>/`."""
    fsx_dns_name: str | None = None
    fsx_subnet_id: str | None = None
    """FSx for Lustre is in one zone; jobs that use it run in this subnet."""
    fsx_availability_zone: str | None = None
    """Of that subnet; node groups that use FSx are in this zone."""
    fsx_security_group_id: str | None = None
    fsx_data_path: str | None = None
    """The folder of the file system that mirrors the bucket, for example `/data`."""
    training_role_arn: str
    """What SageMaker's training jobs act as."""
    datasync_role_arn: str | None = None
    """What AWS DataSync acts as; absent where the stack was deployed without `datasync = true`."""

    def key(self, path: str) -> str:
        """Return where a path of the layout lies in the bucket.

        The same path leads below the root of EFS and below `fsx_data_path`.
        """
        return f"{self.bucket_prefix}/{path}" if self.bucket_prefix else path

    def lustre(self, *, asked_by: str) -> LustreOutputs:
        """Return what the stack tells about FSx for Lustre.

        Args:
            asked_by: What of the user's input asks for it, for the message.

        Raises:
            UsageError: There is none, or an output is missing.
        """
        values = {field.name: getattr(self, f"fsx_{field.name}") for field in fields(LustreOutputs)}
        missing = [output_key(f"fsx_{name}") for name, value in values.items() if value is None]
        if len(missing) == len(values):
            raise UsageError(
                f"{asked_by}: {self.STACK} has no FSx for Lustre file system: it was deployed "
                f"with fsx = none. Take s3 or efs, or make one: cdk deploy {self.STACK} -c "
                "fsx=create (in cdk.json, take fsx out of context)"
            )
        if missing:
            raise UsageError(
                f"{asked_by}: {self.STACK} has no output {', '.join(missing)}. It was deployed by "
                f"another version; deploy it again: cdk deploy {self.STACK}"
            )
        return LustreOutputs(**values)


@dataclass(frozen=True, kw_only=True)
class LustreOutputs:
    """The `fsx_` outputs of StorageStack, where there is an FSx for Lustre file system."""

    id: str
    mount_name: str
    dns_name: str
    subnet_id: str
    availability_zone: str
    security_group_id: str
    data_path: str


@dataclass(frozen=True, kw_only=True)
class RegistryOutputs(Contract):
    """Where training images live, one repository for each algorithm's image."""

    STACK: ClassVar[str] = "RegistryStack"

    horovod_repository_uri: str
    tensorpack_repository_uri: str
    aws_samples_repository_uri: str
    tf2_smddp_repository_uri: str
    builder_project: str | None = None
    """Of CodeBuild; absent, as the next, where the stack was deployed without it."""
    builder_bucket: str | None = None
    """Takes the sources that are to be built."""


@dataclass(frozen=True, kw_only=True)
class NotebookOutputs(Contract):
    """Where jobs are launched from."""

    STACK: ClassVar[str] = "NotebookStack"

    notebook_name: str
    notebook_role_arn: str


@dataclass(frozen=True, kw_only=True)
class ClusterOutputs(Contract):
    """The EC2 cluster: a head node and worker nodes, each in an auto-scaling group of its own."""

    STACK: ClassVar[str] = "ClusterStack"

    cluster_name: str
    """Its folder on EFS is `mask-rcnn/clusters/<cluster name>`."""
    head_group_name: str
    """Of the group that keeps exactly one head node."""
    worker_group_name: str
    head_instance_type: str
    worker_instance_type: str
    most_workers: str
    """A whole number: the largest size of the worker group."""
    runs_in: str
    """`image`: jobs run in a container of their image; `environment`: in the nodes' own."""
    document_name: str
    """Of the SSM document that hands a request to the head node's program."""
    log_group_name: str
    """What jobs print, and how each node was set up."""
    key_secret_arn: str
    """Of the secret with the cluster's SSH keys, which the head node makes."""
    zone: str
    """The availability zone of the workers; a head in a public subnet may be in another."""
    efs_mount: str
    """Where the nodes mount EFS."""
    fsx_mount: str | None = None
    """Where they mount FSx for Lustre; absent where the stack was deployed with `fsx = none`."""
    head_role_arn: str
    worker_role_arn: str
    head_address: str | None = None
    """The head's Elastic IP; absent where the cluster was deployed without SSH."""
    spot: str
    """`true` or `false`: whether the workers are spot instances."""


@dataclass(frozen=True, kw_only=True)
class KubernetesOutputs(Contract):
    """The EKS cluster: system nodes that stay, and GPU nodes that come and go with the jobs."""

    STACK: ClassVar[str] = "KubernetesStack"

    cluster_name: str
    cluster_arn: str
    api_access: str
    """`private`: the API answers inside the VPC only; `public`: to `eks_api_cidrs` too."""
    kubernetes_version: str
    """Of the control plane, for example `1.35`."""
    namespace: str
    """Where jobs run."""
    service_account: str
    """What jobs run as, in that namespace: pod identity gives it `job_role_arn`."""
    gpu_node_group: str
    """The name of the managed node group that starts and ends with no node."""
    gpu_instance_type: str
    most_gpu_nodes: str
    """A whole number: the largest size of that group."""
    gpu_volume_gib: str
    """A whole number: of a GPU node's disk. Where the type has local NVMe, pods have that."""
    gpu_zones: tuple[str, ...]
    """The availability zones of the GPU nodes: one, unless the cluster was told otherwise."""
    efs_access_point_id: str
    """By it pods mount EFS from its root on, and what they write there is root's: SageMaker's and
    EC2's files are root's too, and no pod is."""
    efa: str
    """`true` or `false`: whether the GPU nodes have EFA interfaces."""
    spot: str
    """`true` or `false`: whether the GPU nodes are spot instances."""
    system_instance_type: str
    system_nodes: str
    """A whole number: how many system nodes stay."""
    autoscaler_role_arn: str
    job_role_arn: str
    """Of the jobs' pods: what they may do with the bucket."""
    node_role_arn: str
    log_group_name: str
    """What the control plane logs."""


C = TypeVar("C", bound=Contract)

CONTRACTS: tuple[type[Contract], ...] = (
    NetworkOutputs,
    StorageOutputs,
    RegistryOutputs,
    NotebookOutputs,
    ClusterOutputs,
    KubernetesOutputs,
)


class StackMissing(UsageError):
    """A stack is not deployed."""


@dataclass(frozen=True)
class Outputs:
    """The outputs of all stacks that are there, each read when it is asked for."""

    stacks: Mapping[str, StackOutputs]
    """Stack name to its outputs."""
    source: str
    """A file's path, or the account and region."""

    def read(self, contract: type[C]) -> C:
        """Return one stack's outputs.

        Raises:
            StackMissing: The stack is not there.
            UsageError: One of its outputs is missing.
        """
        stack = self.stacks.get(contract.STACK)
        if stack is None:
            there = ", ".join(sorted(self.stacks)) or "none"
            raise StackMissing(
                f"{self.source}: {contract.STACK} is not there (stacks found: {there}). "
                f"Deploy it: cdk deploy {contract.STACK}"
            )
        return contract.from_outputs(stack, source=self.source)


def read_outputs_file(path: Path) -> Outputs:
    """Read the file that `cdk deploy --outputs-file` wrote.

    Raises:
        UsageError: The file cannot be read or is not of that form.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"--outputs-file {path}: cannot be read ({error.strerror}). Write it with: "
            f"cdk deploy NetworkStack StorageStack --outputs-file {path} (for platform ec2 with "
            "RegistryStack and ClusterStack, for eks with RegistryStack and KubernetesStack)"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--outputs-file {path}: not JSON ({error})") from error
    if not isinstance(document, dict) or not all(
        isinstance(stack, dict) for stack in document.values()
    ):
        raise UsageError(
            f"--outputs-file {path}: expected an object of stacks, each an object of outputs, "
            "as cdk deploy --outputs-file writes it"
        )
    return Outputs(document, source=str(path))
