"""AWS::EC2::FlowLog."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class FlowLog(Resource):
    """The record of a VPC's traffic."""

    TYPE = "AWS::EC2::FlowLog"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        answer = aws.ec2.create_flow_logs(
            ResourceIds=[properties["ResourceId"]],
            **only(
                properties,
                (
                    "ResourceType",
                    "TrafficType",
                    "DeliverLogsPermissionArn",
                    "LogDestinationType",
                    "LogDestination",
                    "LogGroupName",
                    "LogFormat",
                    "MaxAggregationInterval",
                ),
            ),
            **ec2_tags.specification("vpc-flow-log", properties),
        )
        if refused := answer.get("Unsuccessful"):
            raise ValueError(refused[0]["Error"]["Message"])
        (flow_log_id,) = answer["FlowLogIds"]
        return cls(flow_log_id, Id=flow_log_id)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ec2_tags.update_only(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties | None:
        found = aws.ec2.describe_flow_logs(FlowLogIds=[self.physical_resource_id])["FlowLogs"]
        if not found:
            return None
        names = ("ResourceId", "TrafficType", "LogDestinationType", "LogGroupName", "LogFormat")
        return {**only(found[0], names), "Tags": found[0].get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_flow_logs(FlowLogIds=[self.physical_resource_id])
