"""AWS::EC2::VPCEndpoint: a private way to a service, such as S3."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only

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
            **only(properties, ("VpcId", "ServiceName", "VpcEndpointType", "PrivateDnsEnabled")),
            **only(properties, _LISTS),
            **_policy(properties),
            **ec2_tags.specification("vpc-endpoint", properties),
        )["VpcEndpoint"]
        return cls(endpoint["VpcEndpointId"], Id=endpoint["VpcEndpointId"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        changes: dict[str, Any] = _policy(new)
        for name, api_name in _LISTS.items():
            before, after = set(old.get(name, [])), set(new.get(name, []))
            if added := sorted(after - before):
                changes[f"Add{api_name}Ids"] = added
            if gone := sorted(before - after):
                changes[f"Remove{api_name}Ids"] = gone
        if changes:
            aws.ec2.modify_vpc_endpoint(VpcEndpointId=self.physical_resource_id, **changes)
        ec2_tags.update(aws, self.physical_resource_id, old, new)

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_vpc_endpoints(VpcEndpointIds=[self.physical_resource_id])


def _policy(properties: Properties) -> dict[str, str]:
    policy = properties.get("PolicyDocument")
    return {"PolicyDocument": json.dumps(policy)} if policy else {}
