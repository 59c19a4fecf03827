"""Security groups and their rules, made and changed by a stack."""

from __future__ import annotations

from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

NFS = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049}
NOWHERE = {
    "CidrIp": "255.255.255.255/32",
    "Description": "Disallow all traffic",
    "IpProtocol": "icmp",
    "FromPort": 252,
    "ToPort": 86,
}


def group(**properties: Any) -> Resources:
    return {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "Test", "VpcId": {"Ref": "Vpc"}, **properties},
    }


def rule(direction: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::EC2::SecurityGroup{direction}", "Properties": properties}


BASE: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/24"}},
    "Clients": group(SecurityGroupEgress=[NOWHERE]),
    "Servers": group(SecurityGroupEgress=[NOWHERE]),
}

Rules = dict[str, tuple[Any, ...]]


def rules_of(aws: LocalAws, group_id: str) -> Rules:
    """Return id to direction, ports, peer and description of a group's rules."""
    filters = [{"Name": "group-id", "Values": [group_id]}]
    found = aws.client("ec2").describe_security_group_rules(Filters=filters)["SecurityGroupRules"]
    return {
        each["SecurityGroupRuleId"]: (
            "egress" if each["IsEgress"] else "ingress",
            each["IpProtocol"],
            each["FromPort"],
            each.get("CidrIpv4")
            or each.get("PrefixListId")
            or each["ReferencedGroupInfo"]["GroupId"],
            each.get("Description"),
        )
        for each in found
    }


def test_rule_of_its_own_is_redescribed_in_place_and_replaced_for_another_port(
    local_aws: LocalAws, stack: Stack
) -> None:
    def resources(port: int, description: str) -> Resources:
        return {
            **BASE,
            "In": rule(
                "Ingress",
                GroupId={"Ref": "Servers"},
                SourceSecurityGroupId={"Ref": "Clients"},
                IpProtocol="tcp",
                FromPort=port,
                ToPort=port,
                Description=description,
            ),
            "Out": rule(
                "Egress",
                GroupId={"Ref": "Clients"},
                DestinationSecurityGroupId={"Ref": "Servers"},
                IpProtocol="tcp",
                FromPort=port,
                ToPort=port,
                Description=description,
            ),
        }

    def check(port: int, description: str) -> None:
        ids = stack.ids()
        for logical_id, owner, peer in (
            ("In", "Servers", "Clients"),
            ("Out", "Clients", "Servers"),
        ):
            direction = "ingress" if logical_id == "In" else "egress"
            seen = rules_of(local_aws, ids[owner])
            assert seen[ids[logical_id]] == (direction, "tcp", port, ids[peer], description)

    made = stack.create(resources(988, "Lustre"))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    check(988, "Lustre")
    before = stack.ids()
    stack.update(resources(988, "Lustre clients"))
    assert stack.ids() == before
    check(988, "Lustre clients")
    stack.update(resources(1018, "Lustre clients"))
    assert stack.ids()["In"] != before["In"]
    check(1018, "Lustre clients")
    assert len(rules_of(local_aws, before["Servers"])) == 2
    stack.delete()


def test_rules_in_a_group_follow_the_template(local_aws: LocalAws, stack: Stack) -> None:
    ec2 = local_aws.client("ec2")
    lists = ec2.describe_managed_prefix_lists(
        Filters=[{"Name": "prefix-list-name", "Values": ["com.amazonaws.us-east-1.s3"]}]
    )
    s3 = lists["PrefixLists"][0]["PrefixListId"]

    def servers(ingress: list[Any], egress: list[Any]) -> Resources:
        return {**BASE, "Servers": group(SecurityGroupIngress=ingress, SecurityGroupEgress=egress)}

    cidr = {**NFS, "CidrIp": "10.0.0.0/24", "Description": "NFS from the VPC"}
    clients = {**NFS, "SourceSecurityGroupId": {"Ref": "Clients"}, "Description": "NFS of jobs"}
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    to_s3 = {**https, "DestinationPrefixListId": s3, "Description": "HTTPS to S3"}
    made = stack.create(servers([cidr, clients], [to_s3]))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids = stack.ids()
    assert sorted(rules_of(local_aws, ids["Servers"]).values()) == sorted(
        [
            ("ingress", "tcp", 2049, "10.0.0.0/24", "NFS from the VPC"),
            ("ingress", "tcp", 2049, ids["Clients"], "NFS of jobs"),
            ("egress", "tcp", 443, s3, "HTTPS to S3"),
        ]
    )
    changed = stack.update(servers([{**cidr, "Description": "NFS"}], [NOWHERE]))
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    assert sorted(rules_of(local_aws, ids["Servers"]).values()) == sorted(
        [
            ("ingress", "tcp", 2049, "10.0.0.0/24", "NFS"),
            ("egress", "icmp", 252, "255.255.255.255/32", "Disallow all traffic"),
        ]
    )
    stack.delete()


def test_same_rule_twice_is_refused_whatever_its_description(stack: Stack) -> None:
    twice = [
        {**NFS, "CidrIp": "10.0.0.0/24", "Description": description} for description in ("a", "b")
    ]
    made = stack.create({**BASE, "Group": group(SecurityGroupIngress=twice)})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "InvalidPermission.Duplicate" in made["StackStatusReason"]
