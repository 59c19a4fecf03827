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
        return cls(group_id, GroupId=group_id, Id=group_id, VpcId=properties["VpcId"])

    def complete(self, aws: Aws, properties: Properties) -> None:
        if properties.get("SecurityGroupEgress"):
            # EC2 opens every new group to the outside; CloudFormation takes that back where the
            # template has rules of its own.
            revoke(aws, "egress", self.physical_resource_id, [_EVERYWHERE])
        self._set_rules(aws, {}, properties)

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

    def read(self, aws: Aws) -> Properties:
        # Rules are left out: those of its own cannot be told from the resources beside it.
        groups = aws.ec2.describe_security_groups(GroupIds=[self.physical_resource_id])
        (group,) = groups["SecurityGroups"]
        return {
            "GroupDescription": group["Description"],
            "VpcId": group["VpcId"],
            "Tags": group.get("Tags", []),
        }

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_security_group(GroupId=self.physical_resource_id)


class SecurityGroupIngress(Resource):
    """One rule, apart from its group: groups that refer to each other need it."""

    TYPE = "AWS::EC2::SecurityGroupIngress"
    TAGS = ""
    DIRECTION: Direction = "ingress"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        group_id = properties["GroupId"]
        (rule_id,) = authorize(aws, cls.DIRECTION, group_id, [permission(properties)])
        return cls(rule_id, Id=rule_id, group_id=group_id)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        # All but the description makes a new rule.
        describe = getattr(aws.ec2, f"update_security_group_rule_descriptions_{self.DIRECTION}")
        describe(GroupId=self.attributes["group_id"], IpPermissions=[permission(new)])

    def read(self, aws: Aws) -> Properties | None:
        filters = [{"Name": "security-group-rule-id", "Values": [self.physical_resource_id]}]
        found = aws.ec2.describe_security_group_rules(Filters=filters)["SecurityGroupRules"]
        if not found:
            return None
        (rule,) = found
        end = "Source" if self.DIRECTION == "ingress" else "Destination"
        shown = {
            "GroupId": rule["GroupId"],
            "IpProtocol": rule["IpProtocol"],
            "FromPort": rule["FromPort"],
            "ToPort": rule["ToPort"],
            "Description": rule.get("Description"),
            "CidrIp": rule.get("CidrIpv4"),
            "CidrIpv6": rule.get("CidrIpv6"),
            f"{end}PrefixListId": rule.get("PrefixListId"),
            f"{end}SecurityGroupId": rule.get("ReferencedGroupInfo", {}).get("GroupId"),
        }
        return {name: value for name, value in shown.items() if value is not None}

    def delete(self, aws: Aws) -> None:
        take_back = getattr(aws.ec2, f"revoke_security_group_{self.DIRECTION}")
        take_back(
            GroupId=self.attributes["group_id"], SecurityGroupRuleIds=[self.physical_resource_id]
        )


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


def authorize(
    aws: Aws, direction: Direction, group_id: str, rules: list[dict[str, Any]]
) -> list[str]:
    """Add rules to a group; return their ids."""
    call = getattr(aws.ec2, f"authorize_security_group_{direction}")
    answers = [call(GroupId=group_id, IpPermissions=[rule]) for rule in rules]
    return [
        rule["SecurityGroupRuleId"] for answer in answers for rule in answer["SecurityGroupRules"]
    ]


def revoke(aws: Aws, direction: Direction, group_id: str, rules: list[dict[str, Any]]) -> None:
    """Take rules out of a group."""
    call = getattr(aws.ec2, f"revoke_security_group_{direction}")
    for rule in rules:
        call(GroupId=group_id, IpPermissions=[rule])
