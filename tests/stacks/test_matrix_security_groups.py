"""Who reaches whom, whatever the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stacks.matrix import MATRIX, Synth, Synthesize, properties

every_row = pytest.mark.parametrize("row", MATRIX)

NOTHING_OUT = "Disallow all traffic"
"""CDK's rule that matches no traffic: it keeps EC2 from adding one that lets all out."""

WITHOUT_A_REASON = re.compile(
    r"from [\w.:${}-]+(:.*)?|to [\w.:${}-]+(:.*)?|allow all outbound traffic by default", re.I
)
"""What CDK writes where no description is given."""


@every_row
def test_no_group_admits_an_address_but_ssh_from_where_the_settings_say(
    row: str, synth: Synthesize
) -> None:
    chosen = set(filter(None, MATRIX[row].get("cluster_ssh_location", "").split(",")))
    admitted = set()
    for rule in ingress(synth(row)):
        assert "SourcePrefixListId" not in rule
        if "SourceSecurityGroupId" not in rule:
            assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 22, 22)
            admitted.add(rule.get("CidrIp") or rule["CidrIpv6"])
    assert admitted == chosen


@every_row
def test_only_members_of_a_group_talk_to_each_other_on_every_port(
    row: str, synth: Synthesize
) -> None:
    """But for EFA to FSx, where servers and clients admit all of each other's traffic."""
    rules = [
        *((rule, rule.get("SourceSecurityGroupId")) for rule in ingress(synth(row))),
        *((rule, rule.get("DestinationSecurityGroupId")) for rule in egress(synth(row))),
    ]
    for rule, other in rules:
        if rule["IpProtocol"] == "-1":
            assert other
            assert other == rule["GroupId"] or "fsx_efa" in MATRIX[row]


@every_row
def test_addresses_are_reached_over_tls_only(row: str, synth: Synthesize) -> None:
    for rule in egress(synth(row)):
        if "CidrIp" in rule and rule["Description"] != NOTHING_OUT:
            assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)


@every_row
def test_every_rule_says_why(row: str, synth: Synthesize) -> None:
    for rule in [*ingress(synth(row)), *egress(synth(row))]:
        description = rule["Description"]
        assert len(description) > 10, rule
        assert not WITHOUT_A_REASON.fullmatch(description), rule


@every_row
def test_every_group_says_what_it_is_for(row: str, synth: Synthesize) -> None:
    for template in synth(row).templates.values():
        for group in properties(template, "AWS::EC2::SecurityGroup"):
            assert len(group["GroupDescription"]) > 10
            assert "/" not in group["GroupDescription"], "CDK's own: the construct's path"


def ingress(synth: Synth) -> Iterator[dict[str, Any]]:
    yield from _rules(synth, "Ingress")


def egress(synth: Synth) -> Iterator[dict[str, Any]]:
    yield from _rules(synth, "Egress")


def _rules(synth: Synth, direction: str) -> Iterator[dict[str, Any]]:
    for template in synth.templates.values():
        yield from properties(template, f"AWS::EC2::SecurityGroup{direction}")
        for group in properties(template, "AWS::EC2::SecurityGroup"):
            yield from group.get(f"SecurityGroup{direction}", [])
