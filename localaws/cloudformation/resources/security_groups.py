"""Security groups and their rules."""

from __future__ import annotations

from typing import Any, Literal, Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource

Direction = Literal["ingress", "egress"]

_EVERYWHERE: dict[str, Any] = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


class SecurityGroup(Resource):
    """A security group with the rules written in it."""

    TYPE = "AWS::EC2::SecurityGroup"
    NAME_PROPERTY = "GroupName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        group_id = aws.ec2.create_security_group(
            GroupName=name,
            Description=properties["GroupDescription"],
            VpcId=properties["VpcId"],
            **ec2_tags.specification("security-group", properties),
        )["GroupId"]
        made = cls(group_id, GroupId=group_id, Id=group_id, VpcId=properties["VpcId"])
        if properties.get("SecurityGroupEgress"):
            # EC2 opens every new group to the outside; CloudFormation takes that back where the
            # template has rules of its own.
            aws.ec2.revoke_security_group_egress(GroupId=group_id, IpPermissions=[_EVERYWHERE])
        made._set_rules(aws, {}, properties)
        return made

    def _set_rules(self, aws: Aws, old: Properties, new: Properties) -> None:
        directions: tuple[tuple[str, Direction], ...] = (
            ("SecurityGroupIngress", "ingress"),
            ("SecurityGroupEgress", "egress"),
        )
        for name, direction in directions:
            before = [permission(rule) for rule in old.get(name, [])]
            after = [permission(rule) for rule in new.get(name, [])]
            gone = [rule for rule in before if rule not in after]
            added = [rule for rule in after if rule not in before]
            revoke(aws, direction, self.physical_resource_id, gone)
            authorize(aws, direction, self.physical_resource_id, added)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        self._set_rules(aws, old, new)
        ec2_tags.update(aws, self.physical_resource_id, old, new)

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_security_group(GroupId=self.physical_resource_id)


class SecurityGroupIngress(Resource):
    """One rule, apart from its group: groups that refer to each other need it."""

    TYPE = "AWS::EC2::SecurityGroupIngress"
    DIRECTION: Direction = "ingress"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        rule = permission(properties)
        group_id = properties["GroupId"]
        authorize(aws, cls.DIRECTION, group_id, [rule])
        return cls(name, Id=name, group_id=group_id, rule=rule)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        rule = permission(new)
        revoke(aws, self.DIRECTION, self.attributes["group_id"], [self.attributes["rule"]])
        authorize(aws, self.DIRECTION, self.attributes["group_id"], [rule])
        self.attributes["rule"] = rule

    def delete(self, aws: Aws) -> None:
        revoke(aws, self.DIRECTION, self.attributes["group_id"], [self.attributes["rule"]])


class SecurityGroupEgress(SecurityGroupIngress):
    """One outgoing rule."""

    TYPE = "AWS::EC2::SecurityGroupEgress"
    DIRECTION: Direction = "egress"


def permission(rule: Properties) -> dict[str, Any]:
    """Return a rule of a template as EC2's `IpPermission`."""
    described = {"Description": rule["Description"]} if rule.get("Description") else {}
    peers = {
        "CidrIp": ("IpRanges", "CidrIp"),
        "CidrIpv6": ("Ipv6Ranges", "CidrIpv6"),
        "SourceSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
        "DestinationSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
        "SourcePrefixListId": ("PrefixListIds", "PrefixListId"),
        "DestinationPrefixListId": ("PrefixListIds", "PrefixListId"),
    }
    result: dict[str, Any] = {"IpProtocol": str(rule["IpProtocol"])}
    for port in ("FromPort", "ToPort"):
        if port in rule:
            result[port] = int(rule[port])
    for name, (kind, key) in peers.items():
        if name in rule:
            result[kind] = [{key: rule[name], **described}]
    return result


def authorize(aws: Aws, direction: Direction, group_id: str, rules: list[dict[str, Any]]) -> None:
    """Add rules to a group."""
    for rule in rules:
        call = getattr(aws.ec2, f"authorize_security_group_{direction}")
        call(GroupId=group_id, IpPermissions=[rule])


def revoke(aws: Aws, direction: Direction, group_id: str, rules: list[dict[str, Any]]) -> None:
    """Take rules out of a group."""
    for rule in rules:
        call = getattr(aws.ec2, f"revoke_security_group_{direction}")
        call(GroupId=group_id, IpPermissions=[rule])
