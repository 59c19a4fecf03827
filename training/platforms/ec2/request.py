"""What is sent to the cluster's head node, and what it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training.outputs import ClusterOutputs, NetworkOutputs, StorageOutputs
from training.platforms.common.secrets import without_secrets
from training.platforms.ec2.command import PROGRAM, encoded, send_command
from training.platforms.ec2.machines import Machines
from training.platforms.ec2.options import Ec2Options
from training.platforms.ec2.ssh import ssh_argv


@dataclass(frozen=True, kw_only=True)
class Ec2Request:
    """One request to the head node, by Systems Manager or over SSH."""

    document: Mapping[str, Any]
    """What the head node's program reads."""
    network: NetworkOutputs
    storage: StorageOutputs
    cluster: ClusterOutputs
    options: Ec2Options
    on: Machines
    account: str
    region: str
    data: str
    """Where the data is, for people."""

    @property
    def job_name(self) -> str:
        return str(self.document["name"])

    @property
    def is_over_ssh(self) -> bool:
        return self.options.access == "ssh"

    @property
    def image(self) -> str | None:
        found = self.document["image"]
        return None if found is None else str(found)

    @property
    def log(self) -> str:
        """The log folder as <file system>:<path>; it is on EFS whatever the data source."""
        mount = self.cluster.efs_mount.rstrip("/")
        return f"{self.storage.efs_id}:{str(self.document['log']).removeprefix(mount)}"

    @property
    def send_command(self) -> dict[str, Any]:
        """The body of SendCommand:
        https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html
        """
        about = f"{self.job_name} {self.document['fingerprint'][:12]}"
        return send_command(self.cluster, "submit", self.document, about=about)

    def check(self) -> None:
        """Refuse what cannot be sent.

        Raises:
            UsageError: It is too long, or the cluster takes no SSH.
        """
        self._sent()

    def to_json(self) -> dict[str, Any]:
        """Return what is sent, exactly, and then what that runs, decoded."""
        return {**self._sent(), "runs": self._runs()}

    def summary(self) -> Iterator[tuple[str, str]]:
        """See `training.platforms.api.Summarized`."""
        yield "where", f"account {self.account}, {self.region}, cluster {self.cluster.cluster_name}"
        yield "machines", self._machines()
        yield "data", self.data

    def _sent(self) -> dict[str, Any]:
        if not self.is_over_ssh:
            return {"SendCommand": self.send_command}
        argv = ssh_argv(self.cluster, self.options, "submit")
        return {"ssh": {"argv": list(argv), "stdin": encoded(self.document)}}

    def _runs(self) -> dict[str, Any]:
        shown = {**self.document, "environment": without_secrets(self.document["environment"])}
        return {
            "on": f"the head node, {self.on.head_type}",
            "command": [PROGRAM, "submit", "-" if self.is_over_ssh else "{{ Request }}"],
            "request": shown,
            "hosts": self.on.hosts,
            "processes": self.on.world_size,
        }

    def _machines(self) -> str:
        worker, head = self.on.worker, self.on.head
        gpus = self.on.workers * (worker.gpus if worker else 0) + (head.gpus if head else 0)
        said = f"{self.on.workers:,} x {self.on.worker_type}"
        part = "takes part in training" if head else "conducts"
        counted = f" = {gpus:,} GPUs" if gpus else ""
        return (
            f"{said} + the head, {self.on.head_type}, which {part}{counted}: "
            f"{self.on.world_size:,} processes on {self.on.hosts:,} host(s)"
        )
