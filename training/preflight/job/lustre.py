"""FSx for Lustre, where channels are on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.aws.fsx import Fsx
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.peers import Members
from training.preflight.ports import closed_lustre_ports

KEY = "data_source"


@dataclass(frozen=True)
class JobsReachLustre(Check):
    """The file system works, is what the path says, in the job's zone, and its ports are open."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "fsx-missing": "error",
        "fsx-not-available": "error",
        "fsx-mount-name-differs": "error",
        "fsx-in-another-zone": "warning",
        "fsx-ports-closed": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "fsx:DescribeFileSystems",
    )

    ec2: Ec2
    fsx: Fsx
    file_system_id: str
    directory_path: str
    """Of a channel."""
    jobs: Members

    def find(self) -> Iterator[Finding]:
        found = self.fsx.file_system(self.file_system_id)
        if found is None:
            yield self.found(
                "fsx-missing",
                KEY,
                f"there is no FSx file system {self.file_system_id} in this account and region; "
                "deploy StorageStack again, or read its outputs anew (leave --outputs-file out)",
            )
            return
        if found["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
            yield self.found(
                "fsx-not-available",
                KEY,
                f"FSx for Lustre {self.file_system_id} is {found['Lifecycle']}, not AVAILABLE. "
                "Wait, or repair it",
            )
        yield from self._judge_mount_name(found)
        yield from self._judge_zone(found)
        yield from self._judge_ports(found)

    def _judge_mount_name(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        name = found.get("LustreConfiguration", {}).get("MountName")
        first = self.directory_path.strip("/").partition("/")[0]
        if first != name:
            yield self.found(
                "fsx-mount-name-differs",
                KEY,
                f"paths on FSx for Lustre {self.file_system_id} begin with its mount name {name}, "
                f"and the job's with {first}. Read the outputs of StorageStack anew (leave "
                "--outputs-file out)",
            )

    def _judge_zone(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        own = found["SubnetIds"][0]
        subnets = self.ec2.subnets([own, *self.jobs.subnet_ids])
        zones = {name: subnet["AvailabilityZone"] for name, subnet in subnets.items()}
        apart = [
            name for name in self.jobs.subnet_ids if zones.get(name, zones.get(own)) != zones[own]
        ]
        if apart:
            yield self.found(
                "fsx-in-another-zone",
                KEY,
                f"FSx for Lustre {self.file_system_id} is in {zones[own]}, and the job may run in "
                f"{', '.join(f'{name} ({zones[name]})' for name in apart)}: traffic between zones "
                f"is slower, and paid for. Run it in {own}",
            )

    def _judge_ports(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        interfaces = self.ec2.network_interfaces(found.get("NetworkInterfaceIds", []))
        group_ids = {group["GroupId"] for each in interfaces for group in each["Groups"]}
        groups = self.ec2.security_groups([*group_ids, self.jobs.group_id])
        clients_group = groups.get(self.jobs.group_id)
        if not group_ids or clients_group is None:
            return  # Another check says so of the job's group.
        clients = self.jobs.resolve(self.ec2)
        closed = {
            group_id: closed_lustre_ports(
                groups[group_id],
                Members(group_id, found["SubnetIds"]).resolve(self.ec2),
                clients_group,
                clients,
            )
            for group_id in sorted(group_ids & groups.keys())
        }
        # One of several groups that lets everything through is enough.
        if closed and all(closed.values()):
            group_id, ports = next(iter(closed.items()))
            yield self.found(
                "fsx-ports-closed",
                KEY,
                f"Lustre's TCP ports are not all open between {group_id} (the file system) and "
                f"{self.jobs.group_id} (jobs): {', '.join(ports)}. Add the rules, or deploy "
                "StorageStack again with fsx_security_group_rules=create",
            )


@dataclass(frozen=True)
class LustreIsLinked(Check):
    """The link over which the channel's data comes from S3 works, and has brought its names.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryAssociation.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "fsx-link-not-made": "error",
        "fsx-link-broken": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("fsx:DescribeDataRepositoryAssociations",)

    fsx: Fsx
    file_system_id: str
    directory_path: str
    """Of the channel `train`."""

    def find(self) -> Iterator[Finding]:
        # Without the mount name.
        path = self.directory_path.strip("/").partition("/")[2]
        for link in self.fsx.associations(self.file_system_id):
            folder = link.get("FileSystemPath", "/").strip("/")
            if not _is_below(path, folder):
                continue
            state = link.get("Lifecycle", "AVAILABLE")
            where = f"/{folder} of FSx for Lustre {self.file_system_id}"
            address = link.get("DataRepositoryPath", "S3")
            if state == "CREATING":
                yield self.found(
                    "fsx-link-not-made",
                    KEY,
                    f"the link of {where} to {address} is being made, and its files are being "
                    "listed: wait until aws fsx describe-data-repository-associations says "
                    "AVAILABLE",
                )
            elif state in ("MISCONFIGURED", "FAILED", "DELETING"):
                said = link.get("FailureDetails", {}).get("Message")
                yield self.found(
                    "fsx-link-broken",
                    KEY,
                    f"the link of {where} to {address} is {state}{f' ({said})' if said else ''}: "
                    "files of S3 do not come through it. Repair it (the bucket's policy, the key), "
                    "or deploy StorageStack again",
                )


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")
