"""The newest AMI of a line of AWS's."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.settings.deep_learning_ami import BaseAmi


def newest(scope: Construct, ami: BaseAmi) -> str:
    """Return its id, as CloudFormation looks it up at each deploy."""
    return ec2.MachineImage.from_ssm_parameter(ami.parameter).get_image(scope).image_id
