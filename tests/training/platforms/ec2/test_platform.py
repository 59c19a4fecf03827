"""Plans for the cluster: what is sent, and what it runs."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.platforms.ec2.planning import REQUESTS, document, outputs, plan, request
from tests.training.platforms.ec2.samples import SAMPLES
from tests.training.platforms.sagemaker.planning import ACCOUNT, launch
from tests.training.platforms.sagemaker.service_model import service_model
from training.platforms.ec2.command import MAX_REQUEST_LENGTH


def decoded(text: str) -> Any:
    return json.loads(base64.b64decode(text, validate=True))


def test_what_is_sent_is_one_command_of_the_clusters_document_to_its_head_group() -> None:
    found = request(name="job-1")
    body = found.to_json()["SendCommand"]
    assert body == {
        "DocumentName": "ClusterStack-Request-GHI",
        "Targets": [{"Key": "tag:aws:autoscaling:groupName", "Values": ["ClusterStack-Head-ABC"]}],
        "Parameters": {"Action": ["submit"], "Request": body["Parameters"]["Request"]},
        "TimeoutSeconds": 60,
        "Comment": f"mask-rcnn submit job-1 {found.document['fingerprint'][:12]}",
    }
    assert decoded(body["Parameters"]["Request"][0]) == found.document


def test_systems_manager_takes_the_command() -> None:
    from botocore.validate import ParamValidator

    shape = service_model("ssm").operation_model("SendCommand").input_shape
    body = request(name="j" * 63).to_json()["SendCommand"]
    assert ParamValidator().validate(body, shape).generate_report() == ""
    assert len(body["Comment"]) <= 100


@pytest.mark.parametrize("name", SAMPLES)
def test_the_nodes_tests_read_what_the_launcher_writes(name: str) -> None:
    kept = json.loads((REQUESTS / f"{name}.json").read_text(encoding="utf-8"))
    found = document(**SAMPLES[name])
    # The defaults of hyperparameters, and with them the fingerprint, change with the trainer.
    for each in (kept, found):
        assert each.pop("hyperparameters").items()
        assert len(each.pop("fingerprint")) == 64
    assert found == kept


@pytest.mark.parametrize(
    ("source", "data"),
    [
        (
            "s3",
            {
                "s3": "s3://bucket/mask-rcnn/sagemaker/input/train",
                "path": "/scratch/mask-rcnn/sagemaker/input/train",
            },
        ),
        ("efs", {"path": "/efs/mask-rcnn/sagemaker/input/train"}),
        ("fsx", {"path": "/fsx/data/mask-rcnn/sagemaker/input/train"}),
    ],
)
def test_data_is_read_where_the_nodes_have_it_and_logs_go_to_efs(
    source: str, data: dict[str, str]
) -> None:
    found = document(name="job-1", data_source=source)
    assert found["data"] == data
    assert found["log"] == "/efs/mask-rcnn/sagemaker/output/log-job-1"
    assert found["model_copied_to"] == "s3://bucket/mask-rcnn/sagemaker/output/job-1/model.pt"


def test_hyperparameters_are_the_texts_that_sagemaker_would_pass() -> None:
    found = document(hyperparameters={"lr_epoch_schedule": [[2, 0.1], [3, None]], "seed": 7})
    assert found["hyperparameters"]["lr_epoch_schedule"] == "[(2, 0.1), (3, None)]"
    assert found["hyperparameters"]["seed"] == "7"
    assert found["hyperparameters"]["batch_norm"] == "FreezeBN"


@pytest.mark.parametrize(
    ("stacks", "overrides", "hosts", "world_size"),
    [
        ({}, {}, 2, 16),
        ({"HeadInstanceType": "p4d.24xlarge"}, {}, 3, 24),
        ({}, {"instances__processes_per_instance": 2}, 2, 4),
        ({"HeadInstanceType": "g5.xlarge"}, {"instances__processes_per_instance": 1}, 3, 3),
        ({"WorkerInstanceType": "m6i.xlarge"}, {}, 2, 2),
    ],
    ids=["head conducts", "head takes part", "fewer processes", "small head", "no GPU"],
)
def test_all_nodes_with_gpus_take_part(
    stacks: dict[str, str], overrides: dict[str, Any], hosts: int, world_size: int
) -> None:
    found = plan(stacks=outputs(**stacks), **overrides)
    runs = found.request.to_json()["runs"]
    assert (runs["hosts"], runs["processes"]) == (hosts, world_size)
    assert found.learning_rates is not None
    assert found.learning_rates.global_batch_size == 4 * world_size


def test_a_job_without_a_count_takes_the_algorithms_or_all_that_the_cluster_may_have() -> None:
    assert document(instances__count=None)["workers"] == 4
    assert document(instances__count=None, stacks=outputs(MostWorkers="3"))["workers"] == 3


@pytest.mark.parametrize(
    ("overrides", "distribution", "least"),
    [
        ({}, "elastic", 1),
        ({"ec2__least_workers": 2}, "elastic", 2),
        ({"ec2__distribution": "mpi"}, "mpi", 2),
        ({"ec2__distribution": "torchrun"}, "torchrun", 2),
        (
            {"algorithm": "tensorpack", "stacks": outputs(WorkerInstanceType="p3.16xlarge")},
            "mpi",
            2,
        ),
    ],
)
def test_ours_is_elastic_by_default_and_the_others_need_all_workers(
    overrides: dict[str, Any], distribution: str, least: int
) -> None:
    found = document(**overrides)
    assert (found["distribution"], found["least_workers"]) == (distribution, least)


def test_bf16_compression_goes_with_torchrun_which_asks_no_horovod() -> None:
    found = document(hyperparameters={"gradient_compression": "bf16"}, ec2__distribution="torchrun")
    assert found["hyperparameters"]["gradient_compression"] == "bf16"


def test_the_same_launch_has_the_same_fingerprint_and_another_job_another() -> None:
    later = launch()
    same = document(name="job-1", launched=later)
    assert document(name="job-1")["fingerprint"] == same["fingerprint"]
    assert document(name="job-2")["fingerprint"] != same["fingerprint"]
    assert document(name="job-1", retries=1)["fingerprint"] != same["fingerprint"]


def test_a_job_that_goes_on_keeps_name_and_folder_and_is_another_request_each_time() -> None:
    from dataclasses import replace
    from datetime import timedelta

    first = launch(resume=True)
    again = replace(first, now=first.now + timedelta(minutes=1))
    one, other = document(name="job-1", launched=first), document(name="job-1", launched=again)
    assert (one["name"], one["log"], one["resume"]) == (
        "job-1",
        "/efs/mask-rcnn/sagemaker/output/log-job-1",
        True,
    )
    assert one["fingerprint"] != other["fingerprint"]
    assert document(name="job-1", launched=first)["fingerprint"] == one["fingerprint"]


def test_over_ssh_the_request_is_on_stdin_and_the_host_key_must_be_known() -> None:
    found = request(
        name="job-1",
        stacks=outputs(HeadAddress="203.0.113.7"),
        ec2__access="ssh",
        ec2__ssh_key="/home/me/key.pem",
    )
    sent = found.to_json()["ssh"]
    argv = sent["argv"]
    assert argv[argv.index("--") :] == [
        "--",
        "ec2-user@203.0.113.7",
        *("sudo", "-n", "/opt/mask-rcnn/bin/mask-rcnn-node", "submit", "-"),
    ]
    assert argv[:2] == ["ssh", "-T"]
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes"):
        assert argv[argv.index(option) - 1] == "-o"
    assert argv[argv.index("-i") + 1] == "/home/me/key.pem"
    assert decoded(sent["stdin"]) == found.document
    assert "SendCommand" not in found.to_json()


def test_values_of_secrets_are_not_shown_decoded() -> None:
    found = request(environment={"API_TOKEN": "hush", "LEVEL": "debug", "MY_KEY": "a"})
    shown = found.to_json()["runs"]["request"]["environment"]
    assert shown == {"API_TOKEN": "***", "LEVEL": "debug", "MY_KEY": "a"}
    assert found.document["environment"]["API_TOKEN"] == "hush"


def test_jobs_run_in_the_image_of_the_registry_or_in_the_nodes_environment() -> None:
    found = document(image=None)["image"]
    assert found.startswith(f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/horovod:")
    assert document(image=None, stacks=outputs(RunsIn="environment"))["image"] is None


def test_a_plan_for_a_thousand_hosts_takes_no_longer_and_sends_no_more() -> None:
    stacks = outputs(MostWorkers="1000")
    request(instances__count=1, stacks=stacks).to_json()
    begun = time.process_time()
    found = request(instances__count=1000, stacks=stacks).to_json()
    assert time.process_time() - begun < 2
    assert found["runs"]["processes"] == 8000
    few = request(instances__count=1, stacks=stacks).to_json()
    sizes = [len(each["SendCommand"]["Parameters"]["Request"][0]) for each in (found, few)]
    # The nodes are no part of it: only the digits of their number are.
    assert sizes[0] - sizes[1] <= 8
    assert sizes[0] < MAX_REQUEST_LENGTH / 10


@settings(max_examples=30, deadline=None)
@given(
    value=st.text(max_size=60).filter(
        lambda text: "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)
    )
)
def test_whatever_a_user_types_travels_in_an_alphabet_that_no_shell_reads(value: str) -> None:
    found = request(name="job-1", environment={"VALUE": value})
    (sent,) = found.to_json()["SendCommand"]["Parameters"]["Request"]
    assert set(sent) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
    assert decoded(sent)["environment"]["VALUE"] == value
