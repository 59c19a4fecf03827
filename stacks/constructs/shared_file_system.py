"""EFS: the file system that every zone reaches."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_kms as kms
from constructs import Construct


class SharedFileSystem(Construct):
    """An encrypted EFS with a mount target in each private subnet; it outlives the stack.

    It has no file system policy, which leaves the decision who may mount to the security group.
    SageMaker mounts without TLS, without IAM and without access points, so a policy that asks for
    any of them locks it out, and CDK's own default policy does not grant ClientMount at all
    (aws/aws-cdk#36224).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        key: kms.IKey,
        clients: ec2.ISecurityGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="EFS mount targets",
            allow_all_outbound=False,
        )
        self.file_system = efs.FileSystem(
            self,
            "FileSystem",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=vpc.private_subnets),
            security_group=self.security_group,
            encrypted=True,
            kms_key=key,
            # Throughput is paid for what is used, without credits that a long epoch can run out of.
            throughput_mode=efs.ThroughputMode.ELASTIC,
            enable_automatic_backups=True,
            allow_anonymous_access=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.file_system.connections.allow_default_port_from(
            clients, "Training jobs mount EFS over NFS"
        )
