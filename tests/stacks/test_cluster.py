"""What ClusterStack is made of."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stacks.constructs.node_start import LONGEST_USER_DATA
from tests.stacks.cluster_template import (
    STACK,
    Node,
    group,
    launch,
    node_json,
    user_data,
)
from tests.stacks.matrix import MATRIX, Synthesize, properties, resources

every_row = pytest.mark.parametrize("row", MATRIX)
every_node = pytest.mark.parametrize("node", ["Head", "Worker"])

LONGEST_VALUE = "x" * 256
"""No id, ARN, DNS name or log group's name of AWS that a node is told is longer."""


def sizes(resource: dict[str, Any]) -> tuple[str, str, str]:
    of = resource["Properties"]
    return of["MinSize"], of["DesiredCapacity"], of["MaxSize"]


def test_there_is_always_one_head_and_workers_come_with_jobs(synth: Synthesize) -> None:
    assert sizes(group(synth("default"), "Head")[1]) == ("1", "1", "1")
    assert sizes(group(synth("default"), "Worker")[1]) == ("0", "0", "4")
    assert sizes(group(synth("cluster-of-spot"), "Worker")[1]) == ("0", "2", "4")


@every_row
@every_node
def test_a_deploy_leaves_the_size_alone_that_the_conductor_chose(
    node: Node, row: str, synth: Synthesize
) -> None:
    policy = group(synth(row), node)[1]["UpdatePolicy"]
    assert policy["AutoScalingScheduledAction"] == {"IgnoreUnmodifiedGroupSizeProperties": True}


@pytest.mark.parametrize(("row", "batch"), [("default", 1), ("cluster-in-a-block", 16)])
def test_other_nodes_take_the_place_of_old_ones_batch_by_batch_each_when_ready(
    row: str, batch: int, synth: Synthesize
) -> None:
    rolling = group(synth(row), "Worker")[1]["UpdatePolicy"]["AutoScalingRollingUpdate"]
    assert rolling == {
        "MaxBatchSize": batch,
        "MinInstancesInService": 0,
        "PauseTime": "PT33M",
        "SuspendProcesses": [
            "HealthCheck",
            "ReplaceUnhealthy",
            "AZRebalance",
            "AlarmNotification",
            "ScheduledActions",
        ],
        "WaitOnResourceSignals": True,
    }


def test_the_stack_waits_for_the_signals_of_the_nodes_that_it_starts(synth: Synthesize) -> None:
    assert group(synth("default"), "Head")[1]["CreationPolicy"] == {
        "ResourceSignal": {"Count": 1, "Timeout": "PT33M"}
    }
    assert "CreationPolicy" not in group(synth("default"), "Worker")[1]
    assert group(synth("cluster-of-spot"), "Worker")[1]["CreationPolicy"] == {
        "ResourceSignal": {"Count": 2, "Timeout": "PT33M"}
    }
    # CloudFormation waits an hour at most.
    slow = group(synth("cluster-whose-head-trains"), "Head")[1]
    assert slow["UpdatePolicy"]["AutoScalingRollingUpdate"]["PauseTime"] == "PT60M"


@every_row
@every_node
def test_a_group_launches_the_newest_version_of_its_template(
    node: Node, row: str, synth: Synthesize
) -> None:
    template = group(synth(row), node)[1]["Properties"]["LaunchTemplate"]
    assert template["Version"] == {
        "Fn::GetAtt": [template["LaunchTemplateId"]["Ref"], "LatestVersionNumber"]
    }


def test_another_ami_is_another_launch_template(synth: Synthesize) -> None:
    own = launch(synth("cluster-whose-head-trains"), "Worker")
    assert own["ImageId"] == "ami-0123456789abcdef0"
    parameters = synth("default").templates[STACK]["Parameters"]
    newest = parameters[launch(synth("default"), "Worker")["ImageId"]["Ref"]]
    assert newest["Default"].endswith("/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id")
    of_p3 = synth("cluster-of-spot")
    name = launch(of_p3, "Worker")["ImageId"]["Ref"]
    assert "proprietary" in of_p3.templates[STACK]["Parameters"][name]["Default"]
    assert launch(of_p3, "Head")["ImageId"] == {"Ref": name}


@every_row
@every_node
def test_nodes_have_encrypted_disks_and_ask_for_a_token_for_their_credentials(
    node: Node, row: str, synth: Synthesize
) -> None:
    data = launch(synth(row), node)
    [disk] = data["BlockDeviceMappings"]
    assert disk["DeviceName"] == "/dev/xvda"
    assert (disk["Ebs"]["Encrypted"], disk["Ebs"]["VolumeType"]) == (True, "gp3")
    assert data["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 1,
    }


@every_row
def test_only_a_head_with_ssh_has_a_public_address(row: str, synth: Synthesize) -> None:
    [head, *_] = launch(synth(row), "Head")["NetworkInterfaces"]
    assert head.get("AssociatePublicIpAddress", False) is ("cluster_ssh_location" in MATRIX[row])
    for each in launch(synth(row), "Worker")["NetworkInterfaces"]:
        assert not each.get("AssociatePublicIpAddress")


@every_row
@every_node
def test_what_a_node_is_made_of_has_the_projects_tag(
    node: Node, row: str, synth: Synthesize
) -> None:
    tagged = launch(synth(row), node)["TagSpecifications"]
    assert [each["ResourceType"] for each in tagged] == ["instance", "volume", "network-interface"]
    project = MATRIX[row].get("project", "distributed-mask-rcnn")
    for each in tagged:
        assert {"Key": "Project", "Value": project} in each["Tags"]


def network_output(value: Any) -> str:
    return str(value["Fn::GetStackOutput"]["OutputName"])


@pytest.mark.parametrize(
    ("row", "number"), [("default", 1), ("everything-set", 3), ("cluster-whose-head-trains", 2)]
)
def test_workers_are_in_one_private_subnet_that_of_fsx_unless_told_another(
    row: str, number: int, synth: Synthesize
) -> None:
    for node in ("Head", "Worker"):
        [subnet] = group(synth(row), node)[1]["Properties"]["VPCZoneIdentifier"]
        assert f"PrivateSubnet{number}Subnet" in network_output(subnet)


def test_a_head_with_ssh_is_in_a_public_subnet_with_a_lasting_address(synth: Synthesize) -> None:
    done = synth("cluster-with-ssh")
    [subnet] = group(done, "Head")[1]["Properties"]["VPCZoneIdentifier"]
    assert "PublicSubnet1" in network_output(subnet)
    [(address, _)] = resources(done.templates[STACK], "AWS::EC2::EIP").items()
    outputs = done.templates[STACK]["Outputs"]
    assert outputs["HeadAddress"]["Value"] == {"Fn::GetAtt": [address, "PublicIp"]}
    [(ssh, _)] = resources(done.templates[STACK], "AWS::EC2::SecurityGroup").items()
    [head] = launch(done, "Head")["NetworkInterfaces"]
    assert {"Fn::GetAtt": [ssh, "GroupId"]} in head["Groups"]
    assert launch(done, "Head")["KeyName"] == "mine"
    for worker in launch(done, "Worker")["NetworkInterfaces"]:
        assert ssh not in json.dumps(worker)


def test_without_ssh_there_is_no_address_and_no_group_of_its_own(synth: Synthesize) -> None:
    template = synth("default").templates[STACK]
    assert not resources(template, "AWS::EC2::EIP")
    assert not resources(template, "AWS::EC2::SecurityGroup")
    assert "HeadAddress" not in template["Outputs"]


@every_node
def test_nodes_are_in_the_group_that_admits_all_of_its_own_traffic_both_ways(
    node: Node, synth: Synthesize
) -> None:
    """EFA passes only so, whatever else is open (awslabs/awsome-distributed-ai#546)."""
    done = synth("cluster-whose-head-trains")
    for interface in launch(done, node)["NetworkInterfaces"]:
        [member] = interface["Groups"]
        assert "TrainingSecurityGroup" in network_output(member)
    network = done.templates["NetworkStack"]
    [training] = [
        logical_id
        for logical_id, resource in resources(network, "AWS::EC2::SecurityGroup").items()
        if resource["Properties"]["GroupDescription"] == "Training jobs and clusters"
    ]
    itself = {"Fn::GetAtt": [training, "GroupId"]}
    for direction, other in (
        ("Ingress", "SourceSecurityGroupId"),
        ("Egress", "DestinationSecurityGroupId"),
    ):
        [open_rule] = [
            rule
            for rule in properties(network, f"AWS::EC2::SecurityGroup{direction}")
            if rule["IpProtocol"] == "-1"
        ]
        assert (open_rule["GroupId"], open_rule[other]) == (itself, itself)


@pytest.mark.parametrize(
    ("row", "head", "worker"),
    [
        ("default", 0, 4),
        ("cluster-of-spot", 0, 0),
        ("cluster-in-a-block", 0, 16),
        ("cluster-whose-head-trains", 32, 32),
        ("cluster-without-efa", 0, 0),
    ],
)
def test_nodes_have_as_many_efas_as_their_type(
    row: str, head: int, worker: int, synth: Synthesize
) -> None:
    for node, count in (("Head", head), ("Worker", worker)):
        kinds = [
            each.get("InterfaceType") for each in launch(synth(row), node)["NetworkInterfaces"]
        ]
        assert kinds == [None, *["efa-only"] * count]


@pytest.mark.parametrize(
    ("row", "head", "worker"),
    [
        ("default", False, True),
        ("cluster-whose-head-trains", True, True),
        ("cluster-in-a-block", False, False),
        ("cluster-without-efa", False, False),
    ],
)
def test_who_trains_is_close_together(
    row: str, head: bool, worker: bool, synth: Synthesize
) -> None:
    groups = resources(synth(row).templates[STACK], "AWS::EC2::PlacementGroup")
    assert [each["Properties"]["Strategy"] for each in groups.values()] == ["cluster"] * worker
    for node, is_in in (("Head", head), ("Worker", worker)):
        placement = launch(synth(row), node).get("Placement")
        assert placement == ({"GroupName": {"Ref": next(iter(groups))}} if is_in else None)


def test_workers_are_bought_as_the_settings_say_and_the_head_never_is_spot(
    synth: Synthesize,
) -> None:
    spot = synth("cluster-of-spot")
    assert launch(spot, "Worker")["InstanceMarketOptions"] == {
        "MarketType": "spot",
        "SpotOptions": {"SpotInstanceType": "one-time"},
    }
    assert group(spot, "Worker")[1]["Properties"]["CapacityRebalance"] is True
    block = launch(synth("cluster-in-a-block"), "Worker")
    assert block["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert block["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    }
    for row in ("default", "cluster-of-spot", "cluster-in-a-block"):
        assert not {"InstanceMarketOptions", "CapacityReservationSpecification"} & set(
            launch(synth(row), "Head")
        )


def test_nodes_are_told_where_everything_is(synth: Synthesize) -> None:
    done = synth("cluster-with-ssh")
    told = node_json(done, "Head")
    value = "<value>"
    assert told == {
        "cluster": "distributed-mask-rcnn",
        "role": "head",
        "region": value,
        "stack": "ClusterStack",
        "resource": group(done, "Head")[0],
        "head_group": "distributed-mask-rcnn-head",
        "worker_group": "distributed-mask-rcnn-workers",
        "efs": {"id": value, "dns": "<value>.efs.<value>.<value>", "iam": True, "mount": "/efs"},
        "fsx": {"id": value, "dns": value, "mount_name": value, "mount": "/fsx"},
        "key_secret_arn": value,
        "log_group": value,
        "runs_in": "environment",
        "environment": "/opt/trainer",
        "elastic_ip_allocation": value,
        "setup_minutes": 30,
        "events": None,
    }
    worker = node_json(done, "Worker")
    assert worker == {
        **told,
        "role": "worker",
        "resource": group(done, "Worker")[0],
        "elastic_ip_allocation": None,
    }


def test_the_head_alone_tells_of_jobs_and_only_where_somebody_is_told(synth: Synthesize) -> None:
    assert node_json(synth("notified"), "Head")["events"] == {
        "source": "distributed-mask-rcnn",
        "detail_type": "Training Job State Change",
    }
    assert node_json(synth("notified"), "Worker")["events"] is None
    assert node_json(synth("default"), "Head")["events"] is None


def test_the_groups_have_the_names_that_nodes_are_told(synth: Synthesize) -> None:
    done = synth("cluster-whose-head-trains")
    told = node_json(done, "Worker")
    for node, key in (("Head", "head_group"), ("Worker", "worker_group")):
        name = group(done, node)[1]["Properties"]["AutoScalingGroupName"]
        assert name == told[key]
        output = done.templates[STACK]["Outputs"][f"{node}GroupName"]["Value"]
        assert output == name
    assert told["cluster"] == "vision"


def test_without_fsx_nodes_mount_none(synth: Synthesize) -> None:
    assert node_json(synth("no-fsx"), "Worker")["fsx"] is None
    assert "FsxMount" not in synth("no-fsx").templates[STACK]["Outputs"]


@every_row
@every_node
def test_user_data_stays_under_the_limit_of_ec2_with_the_longest_values(
    node: Node, row: str, synth: Synthesize
) -> None:
    script = user_data(synth(row), node, put_in=LONGEST_VALUE)
    assert len(script.encode()) < LONGEST_USER_DATA


@every_row
@every_node
def test_user_data_holds_no_secret(node: Node, row: str, synth: Synthesize) -> None:
    data = json.dumps(launch(synth(row), node)["UserData"])
    assert "{{resolve:" not in data
    # The secret is named, and nodes read it.
    assert set(re.findall(r'"Ref": "(Secrets\w+)"', data)) == {
        next(iter(resources(synth(row).templates[STACK], "AWS::SecretsManager::Secret"))),
        next(iter(resources(synth(row).templates[STACK], "AWS::Logs::LogGroup"))),
    }


@every_row
def test_the_secret_is_encrypted_and_without_a_value(row: str, synth: Synthesize) -> None:
    [secret] = properties(synth(row).templates[STACK], "AWS::SecretsManager::Secret")
    assert secret["KmsKeyId"]
    assert not {"SecretString", "GenerateSecretString"} & set(secret)


def test_the_document_runs_one_program_with_checked_words(synth: Synthesize) -> None:
    [document] = properties(synth("default").templates[STACK], "AWS::SSM::Document")
    assert (document["DocumentType"], document["UpdateMethod"]) == ("Command", "NewVersion")
    content = document["Content"]
    assert content["schemaVersion"] == "2.2"
    [step] = content["mainSteps"]
    assert step["inputs"]["runCommand"] == [
        "/opt/mask-rcnn/bin/mask-rcnn-node {{ Action }} {{ Request }}"
    ]
    assert content["parameters"]["Action"]["allowedValues"] == [
        *("submit", "status", "list", "logs", "stop", "health", "replace")
    ]


@pytest.mark.parametrize(
    ("request_text", "is_taken"),
    [
        ("", True),
        ("eyJuYW1lIjogImEifQ==", True),
        ("a+/=" * 15_000, True),
        ("a" * 60_001, False),
        ("a; reboot", False),
        ("$(reboot)", False),
        ("a\nreboot", False),
        ("a'b", False),
    ],
)
def test_a_request_is_base64_and_nothing_that_a_shell_knows(
    request_text: str, is_taken: bool, synth: Synthesize
) -> None:
    [document] = properties(synth("default").templates[STACK], "AWS::SSM::Document")
    pattern = document["Content"]["parameters"]["Request"]["allowedPattern"]
    # Systems Manager reads it as Java does: $ is the end, or a line's end before it.
    assert bool(re.fullmatch(pattern, request_text)) is is_taken


def test_nodes_wait_for_the_rights_of_their_roles(synth: Synthesize) -> None:
    policies = set(resources(synth("default").templates[STACK], "AWS::IAM::ManagedPolicy"))
    assert len(policies) == 4
    for node in ("Head", "Worker"):
        own = {each for each in policies if each.startswith(node)}
        assert own <= set(group(synth("default"), node)[1]["DependsOn"])
