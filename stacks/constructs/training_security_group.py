"""The security group of everything that trains."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class TrainingSecurityGroup(Construct):
    """Members talk to each other on every port, and to the internet over HTTPS.

    File systems add the rules between themselves and this group. There is no rule for DNS and
    time: security groups do not filter the VPC's own resolver and clock.

    HTTPS may go to any address in a VPC without internet too: there it gets no further than the
    endpoints, and S3's has public addresses, whose prefix list has another id in each region.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=vpc,
            description="Training jobs and clusters",
            allow_all_outbound=False,
        )
        # MPI, NCCL and gloo take any port. EFA passes only where both directions name the group
        # itself, whatever else is open (awslabs/awsome-distributed-ai#546).
        self.security_group.connections.allow_internally(
            ec2.Port.all_traffic(), "Ranks of a job talk on any port, and over EFA"
        )
        self.security_group.add_egress_rule(
            ec2.Peer.any_ipv4(),
            ec2.Port.tcp(443),
            "AWS APIs, S3, images, packages and data sets, all over TLS",
        )


def existing_training_security_group(
    scope: Construct, construct_id: str, *, security_group_id: str
) -> ec2.ISecurityGroup:
    """Return another's security group, to which constructs add what they need of it.

    Those are rules to and from groups that are new, so that none can be there already: file
    systems add theirs, and the interface endpoints one. They are added for the way out as well,
    since nothing here knows whether the group lets everything out. What its members need among
    themselves and from the internet is the owner's part.
    """
    return ec2.SecurityGroup.from_security_group_id(
        scope, construct_id, security_group_id, mutable=True, allow_all_outbound=False
    )
