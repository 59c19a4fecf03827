"""FSx for Lustre, where channels are on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """The link over which the channel's data comes from S3 is there, works, and has its names.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryAssociation.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "fsx-link-not-made": "error",
        "fsx-link-broken": "error",
        "fsx-link-missing": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "fsx:DescribeDataRepositoryAssociations",
        "fsx:DescribeFileSystems",
    )

    fsx: Fsx
    file_system_id: str
    directory_path: str
    """Of the channel `train`."""
    train: str
    """What of that is the channel's own path, below the folder that mirrors the bucket."""

    def find(self) -> Iterator[Finding]:
        # Without the mount name.
        path = self.directory_path.strip("/").partition("/")[2].strip("/")
        links = [
            (folder, link)
            for link in self.fsx.associations(self.file_system_id)
            if _is_below(path, folder := link.get("FileSystemPath", "/").strip("/"))
        ]
        yield from self._judge_states(links)
        if not links:
            yield from self._judge_absence(path.removesuffix(self.train.strip("/")).strip("/"))

    def _judge_absence(self, folder: str) -> Iterator[Finding]:
        """Judge that nothing links a folder: where it is not the root, a link was to be there.

        `fsx_bucket_link = none` has its data below the root, unless `fsx_data_path` says otherwise.
        """
        if not folder:
            return
        found = self.fsx.file_system(self.file_system_id)
        if found is None or _has_import_path(found):  # Another check says that it is gone.
            return
        yield self.found(
            "fsx-link-missing",
            KEY,
            f"/{folder} of FSx for Lustre {self.file_system_id} is linked to no place in S3: the "
            "link was deleted, or the data was copied. What was not read before it was deleted is "
            "not on FSx. Make it again: aws fsx create-data-repository-association "
            f"--file-system-id {self.file_system_id} --file-system-path /{folder} "
            "--data-repository-path s3://…; where `stage --to fsx` has copied the data, "
            "--suppress fsx-link-missing",
        )

    def _judge_states(self, links: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Finding]:
        for folder, link in links:
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


def _has_import_path(file_system: Mapping[str, Any]) -> bool:
    """Return whether a file system mirrors a bucket without an association."""
    lustre = file_system.get("LustreConfiguration", {})
    return bool(lustre.get("DataRepositoryConfiguration", {}).get("ImportPath"))
