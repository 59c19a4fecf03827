"""The FSx for Lustre file system that exists already."""

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
from training.preflight.stacks.file_system_vpc import JobsVpc, in_another_vpc

KEY = "fsx_id"
GROUP_KEY = "fsx_security_group_id"


@dataclass(frozen=True)
class LustreIsFit(Check):
    """The file system is there, works, and is the one and where the settings say."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "fsx-missing": "error",
        "fsx-not-lustre": "error",
        "fsx-not-available": "error",
        "fsx-mount-name-differs": "error",
        "fsx-in-another-vpc": "error",
        "fsx-in-another-zone": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:DescribeStacks",
        "ec2:DescribeSubnets",
        "fsx:DescribeFileSystems",
    )

    ec2: Ec2
    fsx: Fsx
    vpc: JobsVpc
    region: str
    file_system_id: str
    mount_name: str
    zone: str | None
    """Of the private subnet that `fsx_zone` names; None where CloudFormation finds it."""

    def find(self) -> Iterator[Finding]:
        found = self.fsx.file_system(self.file_system_id)
        if found is None:
            yield self.found(
                "fsx-missing",
                KEY,
                f"fsx_id is {self.file_system_id}, and this account has no such file system in "
                f"{self.region}. Correct the id (aws fsx describe-file-systems shows them), or "
                "leave it out and one is made",
            )
        elif found["FileSystemType"] != "LUSTRE":
            yield self.found(
                "fsx-not-lustre",
                KEY,
                f"fsx_id: {self.file_system_id} is FSx for {found['FileSystemType']}, and jobs "
                "mount FSx for Lustre only. Name another, or leave it out and one is made",
            )
        else:
            yield from self._judge_state(found)
            yield from self._judge_place(found)

    def _judge_state(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        if found["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
            yield self.found(
                "fsx-not-available",
                KEY,
                f"fsx_id: {self.file_system_id} is {found['Lifecycle']}, not AVAILABLE. Wait, "
                "repair it, or name another",
            )
        mount_name = found.get("LustreConfiguration", {}).get("MountName")
        if mount_name != self.mount_name:
            yield self.found(
                "fsx-mount-name-differs",
                "fsx_mount_name",
                f"fsx_mount_name is {self.mount_name}, but that of {self.file_system_id} is "
                f"{mount_name}. Set fsx_mount_name={mount_name}",
            )

    def _judge_place(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        subnet_id = found["SubnetIds"][0]
        subnet = self.ec2.subnets([subnet_id])[subnet_id]
        expected = self.vpc.find()
        if subnet["VpcId"] != expected:
            message = in_another_vpc(KEY, self.file_system_id, subnet["VpcId"], expected)
            yield self.found("fsx-in-another-vpc", KEY, message)
        zone = subnet["AvailabilityZone"]
        if self.zone and zone != self.zone:
            yield self.found(
                "fsx-in-another-zone",
                "fsx_zone",
                f"fsx_zone says that {self.file_system_id} is in {self.zone}, but it is in {zone} "
                f"({subnet_id}). Set fsx_zone to the number of the private subnet in {zone}",
            )


@dataclass(frozen=True)
class LustreAdmitsJobs(Check):
    """The security group named is that of the file system, and lets Lustre in and out."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "fsx-security-group-missing": "error",
        "fsx-security-group-unused": "error",
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
    group_id: str
    jobs: Members | None
    """Whom the rules that are there have to admit; None where StorageStack adds them, or where
    the security group of jobs is made, so that no rule can name it."""

    def find(self) -> Iterator[Finding]:
        group = self.ec2.security_groups([self.group_id]).get(self.group_id)
        if group is None:
            yield self.found(
                "fsx-security-group-missing",
                GROUP_KEY,
                f"{GROUP_KEY} is {self.group_id}, and there is no such security group here. "
                "Correct the id: it is that of the file system's network interfaces",
            )
            return
        file_system = self.fsx.file_system(self.file_system_id)
        if file_system is None:
            return  # Another check says so.
        yield from self._judge_use(file_system)
        if self.jobs:
            servers = Members(self.group_id, file_system["SubnetIds"])
            yield from self._judge_ports(group, self.jobs, servers)

    def _judge_use(self, file_system: Mapping[str, Any]) -> Iterator[Finding]:
        interfaces = self.ec2.network_interfaces(file_system.get("NetworkInterfaceIds", []))
        used = {group["GroupId"] for each in interfaces for group in each["Groups"]}
        if interfaces and self.group_id not in used:
            yield self.found(
                "fsx-security-group-unused",
                GROUP_KEY,
                f"{GROUP_KEY} is {self.group_id}, but {self.file_system_id} has "
                f"{', '.join(sorted(used))}. Name that one",
            )

    def _judge_ports(
        self, servers_group: Mapping[str, Any], jobs: Members, servers: Members
    ) -> Iterator[Finding]:
        clients_group = self.ec2.security_groups([jobs.group_id]).get(jobs.group_id)
        if clients_group is None:
            return  # Another check says so.
        closed = closed_lustre_ports(
            servers_group, servers.resolve(self.ec2), clients_group, jobs.resolve(self.ec2)
        )
        if closed:
            yield self.found(
                "fsx-ports-closed",
                "fsx_security_group_rules",
                "fsx_security_group_rules is existing, but Lustre's TCP ports are not all open "
                f"between {servers.group_id} (the file system) and {jobs.group_id} (jobs): "
                f"{', '.join(closed)}. Set fsx_security_group_rules=create, or add the rules",
            )
