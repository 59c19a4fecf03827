"""An instance is a machine of its own: what it has, and what it cannot reach."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.localaws.hosts.conftest import Cloud
from tests.waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]


def test_host_has_the_address_and_name_that_ec2_says(cloud: Cloud, host: str) -> None:
    (described,) = cloud.aws.client("ec2").describe_instances(InstanceIds=[host])["Reservations"]
    address = described["Instances"][0]["PrivateIpAddress"]
    shown = cloud.run(host, "ip -brief -4 address show eth0", "hostname")
    assert f" {address}/16" in shown
    assert shown.endswith("ip-" + address.replace(".", "-"))


def test_init_is_systemd_and_all_of_its_units_are_well(cloud: Cloud, host: str) -> None:
    assert cloud.run(host, "readlink /proc/1/exe").endswith("systemd")
    assert cloud.run(host, "systemctl is-system-running --wait") == "running"


def test_host_does_not_change_the_machines_files(cloud: Cloud, host: str) -> None:
    cloud.run(host, "echo theirs >/etc/mask-rcnn-test", "echo theirs >/usr/local/mask-rcnn-test")
    assert cloud.run(host, "cat /etc/mask-rcnn-test") == "theirs"
    assert not Path("/etc/mask-rcnn-test").exists()
    assert not Path("/usr/local/mask-rcnn-test").exists()


def test_host_sees_no_process_of_another(cloud: Cloud, host: str) -> None:
    commands = cloud.run(host, "cat /proc/[0-9]*/comm").split("\n")
    assert "systemd" in commands
    assert "pytest" not in commands
    assert commands.count("systemd") == 1


def test_hosts_reach_each_other_and_have_a_dead_bridge_of_the_same_address(
    cloud: Cloud, host: str
) -> None:
    (other,) = cloud.launch(zone="us-east-1b")
    listen = "import socket; s = socket.create_server(('', 4000)); s.accept()[0].sendall(b'hi')"
    sent = cloud.send(other["InstanceId"], f'python3 -c "{listen}"')
    ask = (
        "import socket, time\n"
        "end = time.time() + 10\n"
        "while True:\n"
        "    try:\n"
        f"        print(socket.create_connection(('{other['PrivateIpAddress']}', 4000)).recv(9))\n"
        "        break\n"
        "    except OSError:\n"
        "        assert time.time() < end\n"
    )
    assert cloud.run(host, f'python3 -c "{ask}"') == "b'hi'"
    assert cloud.outcome(sent, other["InstanceId"])["Status"] == "Success"
    for each in (host, other["InstanceId"]):
        assert "172.17.0.1/16" in cloud.run(each, "ip -brief -4 address show docker0")
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[other["InstanceId"]])


def test_user_data_runs_once_and_reaches_aws_as_the_instances_role(cloud: Cloud) -> None:
    ask = "aws sts get-caller-identity --region us-east-1 --query Arn"
    script = f"#!/bin/bash\ndate +%N >>/root/ran\n{ask}\n"
    instance_id = cloud.launch(script)[0]["InstanceId"]
    cloud.run(instance_id, "systemctl is-system-running --wait")
    said = cloud.run(instance_id, "cat /var/log/cloud-init-output.log")
    assert said == f'"arn:aws:sts::123456789012:assumed-role/node/{instance_id}"'
    cloud.run(instance_id, "systemctl restart cloud-final")
    assert cloud.run(instance_id, "wc -l </root/ran") == "1"
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[instance_id])


@pytest.mark.container
def test_host_runs_containers_by_the_name_docker(cloud: Cloud, host: str) -> None:
    said = cloud.run(
        host,
        "mkdir /root/image",
        "for file in /bin/sh $(ldd /bin/sh | grep -o '/[^ ]*'); do",
        "  cp --parents $file /root/image",
        "done",
        "tar -C /root/image -c . | docker import - tiny:1 >/dev/null 2>&1",
        "docker run --rm --network host --shm-size 1000000 tiny:1 /bin/sh -c 'echo inside'",
    )
    assert said == "inside"


def test_host_keeps_its_files_and_address_over_a_reboot(cloud: Cloud) -> None:
    (made,) = cloud.launch("#!/bin/bash\necho ran >>/root/ran\n")
    host = made["InstanceId"]
    boot = "cat /proc/1/stat | cut -d' ' -f22"
    before = cloud.run(host, "systemctl is-system-running --wait >/dev/null", boot)
    cloud.aws.client("ec2").reboot_instances(InstanceIds=[host])

    def is_up_again() -> bool:
        try:
            return cloud.run(host, boot) != before
        except (AssertionError, ClientError):
            return False

    wait_for(is_up_again, "the host after its reboot")
    assert cloud.run(host, "cat /root/ran") == "ran"
    assert made["PrivateIpAddress"] in cloud.run(host, "ip -brief -4 address show eth0")
    cloud.aws.client("ec2").terminate_instances(InstanceIds=[host])


def test_host_that_dies_ends_its_instance(cloud: Cloud) -> None:
    instance_id = cloud.launch()[0]["InstanceId"]
    cloud.run(instance_id, "true")
    ec2 = cloud.aws.client("ec2")
    # Its init ends, and with it all of its processes: SSM never hears of the command's end.
    cloud.send(instance_id, "systemctl poweroff --force --force")

    def is_terminated() -> bool:
        (found,) = ec2.describe_instances(InstanceIds=[instance_id])["Reservations"]
        return found["Instances"][0]["State"]["Name"] == "terminated"

    wait_for(is_terminated, "the instance's end")
    nodes = cloud.aws.client("ssm").describe_instance_information()["InstanceInformationList"]
    assert instance_id not in [node["InstanceId"] for node in nodes]
