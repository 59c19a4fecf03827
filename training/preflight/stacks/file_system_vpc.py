"""Which VPC a file system has to be in."""

from __future__ import annotations

from dataclasses import dataclass

from training.aws.cloudformation import CloudFormation
from training.outputs import NetworkOutputs, output_key


@dataclass(frozen=True)
class JobsVpc:
    """The VPC of the jobs: a named one, or the one that NetworkStack makes."""

    named: str | None
    cloudformation: CloudFormation

    def find(self) -> str | None:
        """Return its id; None where it is not made yet, so that nothing can be in it."""
        if self.named:
            return self.named
        outputs = self.cloudformation.outputs(NetworkOutputs.STACK)
        return outputs.get(output_key("vpc_id"))


def in_another_vpc(key: str, file_system_id: str, vpc_id: str, expected: str | None) -> str:
    """Return the message for a file system that jobs cannot reach."""
    where = (
        f"the jobs will be in {expected}" if expected else "a new VPC is to be made for the jobs"
    )
    return (
        f"{key}: {file_system_id} is in {vpc_id}, but {where}. Set vpc_id={vpc_id} and name its "
        "subnets, or take a file system of that VPC"
    )
