"""The network interfaces of a node."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2

Interface = ec2.CfnLaunchTemplate.NetworkInterfaceProperty

CARDS_WITHOUT_EFA = {"p6-b300.48xlarge": 1}
"""Types whose first network cards take no EFA, to how many those are.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html; a test compares with
what EC2's DescribeInstanceTypes says.
"""


def interfaces(
    *, instance_type: str, efa: int, groups: Sequence[str], public_address: bool
) -> list[Interface]:
    """Return the interface with the node's address and one for each EFA.

    An interface for EFA alone takes no address of the subnet. It is the second device of the first
    network card, and the first of every other:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html

    Args:
        instance_type: EC2's name.
        efa: How many Elastic Fabric Adapters.
        groups: Ids of the security groups of all of them.
        public_address: Whether the node gets one from EC2, which works with one interface only.
    """
    first_card = CARDS_WITHOUT_EFA.get(instance_type, 0)
    return [
        Interface(
            network_card_index=0,
            device_index=0,
            groups=list(groups),
            delete_on_termination=True,
            # With several interfaces EC2 takes neither yes nor no, and gives none.
            # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html
            associate_public_ip_address=public_address if efa == 0 else None,
        ),
        *(
            Interface(
                network_card_index=card,
                device_index=1 if card == 0 else 0,
                interface_type="efa-only",
                groups=list(groups),
                delete_on_termination=True,
            )
            for card in range(first_card, first_card + efa)
        ),
    ]
