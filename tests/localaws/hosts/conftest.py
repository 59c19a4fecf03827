"""A local AWS whose instances are hosts, and one host to try things on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from localaws.hosts import requirements
from localaws.machine_images import IMAGES
from tests.conftest import LocalAws, running_local_aws
from tests.waiting import wait_for


@dataclass(frozen=True)
class Cloud:
    """A local AWS with hosts."""

    aws: LocalAws
    profile: str
    """Name of an instance profile."""

    def launch(self, user_data: str = "", count: int = 1, zone: str = "us-east-1a") -> list[Any]:
        """Start instances of the default VPC, as EC2 describes them."""
        ec2 = self.aws.client("ec2")
        subnets = ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": [zone]}])
        return ec2.run_instances(
            ImageId=IMAGES[0].id_in("us-east-1"),
            InstanceType="m6i.xlarge",
            IamInstanceProfile={"Name": self.profile},
            SubnetId=subnets["Subnets"][0]["SubnetId"],
            UserData=user_data,
            MinCount=count,
            MaxCount=count,
        )["Instances"]

    def send(self, instance_id: str, *lines: str, **more: Any) -> str:
        """Run lines of shell on a host; return the command's id."""
        sent = self.aws.client("ssm").send_command(
            InstanceIds=[instance_id],
            DocumentName="AWS-RunShellScript",
            Parameters={"commands": list(lines), **more},
        )
        return sent["Command"]["CommandId"]

    def outcome(self, command_id: str, instance_id: str) -> dict[str, Any]:
        """Return a command on a host, once it has ended."""
        ssm = self.aws.client("ssm")

        def look() -> dict[str, Any] | None:
            found = ssm.get_command_invocation(CommandId=command_id, InstanceId=instance_id)
            return None if found["Status"] in ("Pending", "InProgress") else found

        return wait_for(look, f"command {command_id}")

    def run(self, instance_id: str, *lines: str) -> str:
        """Run lines of shell on a host and return what they print; they must succeed."""
        found = self.outcome(self.send(instance_id, "set -e", *lines), instance_id)
        assert found["Status"] == "Success", found["StandardErrorContent"]
        return found["StandardOutputContent"].strip()


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    if lacking := requirements.missing():
        pytest.skip(lacking)
    # As nohup starts it: by such a signal a host's init says that it wants to be booted again.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with running_local_aws(tmp_path_factory.mktemp("hosts"), hosts=True) as aws:
        signal.signal(signal.SIGHUP, before)
        iam = aws.client("iam")
        trust = {"Service": "ec2.amazonaws.com"}
        statement = {"Effect": "Allow", "Principal": trust, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.create_role(RoleName="node", AssumeRolePolicyDocument=policy)
        iam.create_instance_profile(InstanceProfileName="node")
        iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
        yield Cloud(aws, "node")


@pytest.fixture(scope="session")
def host(cloud: Cloud) -> str:
    """The instance id of a host that tests share: leave it as it was."""
    return str(cloud.launch()[0]["InstanceId"])
