"""AWS::EC2::VPCEndpoint: a private way to a service, such as S3."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, changed, only
from localaws.cloudformation.resources.network import is_true

_LISTS = {
    "RouteTableIds": "RouteTable",
    "SubnetIds": "Subnet",
    "SecurityGroupIds": "SecurityGroup",
}


class VpcEndpoint(Resource):
    """A gateway or interface endpoint."""

    TYPE = "AWS::EC2::VPCEndpoint"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        endpoint = aws.ec2.create_vpc_endpoint(
            VpcEndpointType=_kind(properties),
            **only(properties, ("VpcId", "ServiceName")),
            **only(properties, _LISTS),
            **_private_dns(properties),
            **_policy(properties),
            **ec2_tags.specification("vpc-endpoint", properties),
        )["VpcEndpoint"]
        return cls(
            endpoint["VpcEndpointId"],
            Id=endpoint["VpcEndpointId"],
            CreationTimestamp=endpoint["CreationTimestamp"].isoformat(),
            DnsEntries=[
                f"{entry['HostedZoneId']}:{entry['DnsName']}"
                for entry in endpoint.get("DnsEntries", [])
            ],
            NetworkInterfaceIds=endpoint.get("NetworkInterfaceIds", []),
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        handled = {*_LISTS, "PolicyDocument", "PrivateDnsEnabled", "Tags"}
        if others := set(changed(old, new)) - handled:
            raise CannotUpdate(", ".join(sorted(others)))
        changes: dict[str, Any] = _policy(new)
        if "PolicyDocument" in old and "PolicyDocument" not in new:
            changes["ResetPolicy"] = True
        if _private_dns(old) != _private_dns(new):
            changes |= _private_dns(new)
        old, new = ({**each, **_groups(aws, each)} for each in (old, new))
        for name, api_name in _LISTS.items():
            before, after = set(old.get(name, [])), set(new.get(name, []))
            if added := sorted(after - before):
                changes[f"Add{api_name}Ids"] = added
            if gone := sorted(before - after):
                changes[f"Remove{api_name}Ids"] = gone
        if changes:
            aws.ec2.modify_vpc_endpoint(VpcEndpointId=self.physical_resource_id, **changes)
        ec2_tags.update(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        found = aws.ec2.describe_vpc_endpoints(VpcEndpointIds=[self.physical_resource_id])
        (endpoint,) = found["VpcEndpoints"]
        names = ("VpcId", "ServiceName", "VpcEndpointType", "PrivateDnsEnabled")
        return {
            **only(endpoint, (*names, "SubnetIds", "RouteTableIds")),
            "SecurityGroupIds": [group["GroupId"] for group in endpoint.get("Groups", [])],
            "PolicyDocument": json.loads(endpoint["PolicyDocument"]),
            "Tags": endpoint.get("Tags", []),
        }

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_vpc_endpoints(VpcEndpointIds=[self.physical_resource_id])


def _kind(properties: Properties) -> str:
    return str(properties.get("VpcEndpointType", "Gateway"))


def _groups(aws: Aws, properties: Properties) -> Properties:
    """Return the groups of an interface endpoint: its VPC's default one where it names none."""
    if _kind(properties) != "Interface" or properties.get("SecurityGroupIds"):
        return {}
    filters = [
        {"Name": "vpc-id", "Values": [properties["VpcId"]]},
        {"Name": "group-name", "Values": ["default"]},
    ]
    (group,) = aws.ec2.describe_security_groups(Filters=filters)["SecurityGroups"]
    return {"SecurityGroupIds": [group["GroupId"]]}


def _private_dns(properties: Properties) -> dict[str, bool]:
    """Return whether an interface endpoint takes over the service's public name.

    Not by default, other than in EC2's own API.
    """
    if _kind(properties) != "Interface":
        return {}
    return {"PrivateDnsEnabled": is_true(properties.get("PrivateDnsEnabled", False))}


def _policy(properties: Properties) -> dict[str, str]:
    policy = properties.get("PolicyDocument")
    return {"PolicyDocument": json.dumps(policy)} if policy else {}
