"""The contract, seen from the training: reading what the stacks tell.

tests/stacks/test_contract.py sees it from the stacks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.errors import ExitCode, UsageError
from training.outputs import (
    CONTRACTS,
    ClusterOutputs,
    Contract,
    LustreOutputs,
    NetworkOutputs,
    Outputs,
    StorageOutputs,
    output_key,
    read_outputs_file,
)

NETWORK = NetworkOutputs(
    project="mask-rcnn",
    vpc_id="vpc-1",
    private_subnet_ids=("subnet-1", "subnet-2", "subnet-3"),
    public_subnet_ids=("subnet-4",),
    availability_zones=("us-west-2a", "us-west-2b", "us-west-2c"),
    training_security_group_id="sg-1",
)

words = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-/:.", min_size=1, max_size=20)


@dataclass(frozen=True, kw_only=True)
class SampleOutputs(Contract):
    STACK: ClassVar[str] = "SampleStack"

    cluster_name: str
    head_node_id: str | None = None


def test_a_field_is_written_under_its_name_in_capitals() -> None:
    assert output_key("vpc_id") == "VpcId"
    assert output_key("tf2_smddp_repository_uri") == "Tf2SmddpRepositoryUri"


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
def test_fields_are_of_the_types_that_travel(contract: type[Contract]) -> None:
    hints = get_type_hints(contract)
    travelling = (str, str | None, tuple[str, ...])
    assert [each.name for each in fields(contract) if hints[each.name] not in travelling] == []


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
def test_no_two_fields_share_an_output_key(contract: type[Contract]) -> None:
    """CloudFormation takes keys of letters and digits only."""
    keys = [output_key(each.name) for each in fields(contract)]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if not re.fullmatch(r"[A-Za-z0-9]{1,255}", key)] == []


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
@given(data=st.data())
def test_what_is_written_is_read_back(contract: type[Contract], data: st.DataObject) -> None:
    hints = get_type_hints(contract)
    values: dict[str, Any] = {
        each.name: data.draw(
            st.lists(words, min_size=1, max_size=4).map(tuple)
            if hints[each.name] == tuple[str, ...]
            else words
        )
        for each in fields(contract)
    }
    written = contract(**values)
    assert contract.from_outputs(written.to_outputs(), source="test") == written


def test_an_absent_field_is_not_written_and_comes_back_absent() -> None:
    written = SampleOutputs(cluster_name="c")
    assert written.to_outputs() == {"ClusterName": "c"}
    assert SampleOutputs.from_outputs({"ClusterName": "c"}, source="test") == written


CLUSTER = ClusterOutputs(
    cluster_name="mask-rcnn",
    head_group_name="heads",
    worker_group_name="workers",
    head_instance_type="m6i.xlarge",
    worker_instance_type="p4d.24xlarge",
    most_workers="4",
    runs_in="image",
    document_name="requests",
    log_group_name="nodes",
    key_secret_arn="arn:aws:secretsmanager:us-west-2:123456789012:secret:keys-abcdef",
    zone="us-west-2a",
    efs_mount="/efs",
    head_role_arn="arn:aws:iam::123456789012:role/head",
    worker_role_arn="arn:aws:iam::123456789012:role/worker",
    spot="false",
)


def test_a_cluster_without_ssh_and_lustre_has_neither_address_nor_mount() -> None:
    assert {"HeadAddress", "FsxMount"}.isdisjoint(CLUSTER.to_outputs())
    assert ClusterOutputs.from_outputs(CLUSTER.to_outputs(), source="test") == CLUSTER


def test_a_network_without_internet_has_no_public_subnets() -> None:
    private = replace(NETWORK, public_subnet_ids=())
    assert "PublicSubnetIds" not in private.to_outputs()
    assert NetworkOutputs.from_outputs(private.to_outputs(), source="test") == private


def test_exports_that_cdk_adds_are_left_alone() -> None:
    outputs = {**NETWORK.to_outputs(), "ExportsOutputRefNetworkVpc1234": "vpc-1"}
    assert NetworkOutputs.from_outputs(outputs, source="test") == NETWORK


@pytest.mark.parametrize("key", sorted(set(NETWORK.to_outputs()) - {"PublicSubnetIds"}))
@pytest.mark.parametrize("empty", [True, False])
def test_a_missing_or_empty_output_is_named_with_the_command_that_mends_it(
    key: str, empty: bool
) -> None:
    outputs = NETWORK.to_outputs()
    if empty:
        outputs[key] = ""
    else:
        del outputs[key]
    with pytest.raises(UsageError) as error:
        NetworkOutputs.from_outputs(outputs, source="outputs.json")
    assert str(error.value) == (
        f"outputs.json: NetworkStack has no output {key}. It was deployed by another version, or "
        "is another stack; deploy it again: cdk deploy NetworkStack"
    )
    assert error.value.exit_code == ExitCode.USAGE


def test_all_missing_outputs_are_named_at_once() -> None:
    with pytest.raises(UsageError, match="has no output BucketName, EncryptionKeyArn, EfsId"):
        StorageOutputs.from_outputs(NETWORK.to_outputs(), source="test")


STORAGE = {
    "BucketName": "bucket-1",
    "EncryptionKeyArn": "arn:aws:kms:us-east-1:123456789012:key/1",
    "EfsId": "fs-0ef5",
    "EfsSecurityGroupId": "sg-1",
    "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
}
LUSTRE = {
    "FsxId": "fs-0f5a",
    "FsxMountName": "abcdefgh",
    "FsxDnsName": "fs-0f5a.fsx.us-east-1.amazonaws.com",
    "FsxSubnetId": "subnet-1",
    "FsxAvailabilityZone": "us-east-1a",
    "FsxSecurityGroupId": "sg-2",
    "FsxDataPath": "/data",
}


def test_lustre_comes_whole() -> None:
    lustre = StorageOutputs.from_outputs({**STORAGE, **LUSTRE}, source="test").lustre(asked_by="x")
    assert lustre == LustreOutputs(
        id="fs-0f5a",
        mount_name="abcdefgh",
        dns_name="fs-0f5a.fsx.us-east-1.amazonaws.com",
        subnet_id="subnet-1",
        availability_zone="us-east-1a",
        security_group_id="sg-2",
        data_path="/data",
    )


def test_storage_without_lustre_says_who_asked_why_there_is_none_and_what_to_do() -> None:
    storage = StorageOutputs.from_outputs(STORAGE, source="test")
    with pytest.raises(UsageError) as error:
        storage.lustre(asked_by="data_source: fsx")
    assert str(error.value) == (
        "data_source: fsx: StorageStack has no FSx for Lustre file system: it was deployed with "
        "fsx = none. Take s3 or efs, or make one: cdk deploy StorageStack -c fsx=create (in "
        "cdk.json, take fsx out of context)"
    )


@pytest.mark.parametrize("key", LUSTRE)
def test_a_part_of_lustre_that_is_missing_is_named(key: str) -> None:
    outputs = {**STORAGE, **{name: value for name, value in LUSTRE.items() if name != key}}
    storage = StorageOutputs.from_outputs(outputs, source="test")
    with pytest.raises(UsageError, match=f"StorageStack has no output {key}. It was deployed by"):
        storage.lustre(asked_by="fsx")


def test_a_path_of_the_layout_lies_below_the_prefix_of_the_bucket() -> None:
    storage = StorageOutputs.from_outputs(STORAGE, source="test")
    assert storage.key("data/coco2017") == "data/coco2017"
    assert replace(storage, bucket_prefix="ml-platform").key("data/coco2017") == (
        "ml-platform/data/coco2017"
    )


def test_an_output_that_is_no_string_is_refused() -> None:
    outputs: dict[str, Any] = {**NETWORK.to_outputs(), "VpcId": 7}
    with pytest.raises(UsageError, match=r"test: NetworkStack\.VpcId is 7; outputs are strings"):
        NetworkOutputs.from_outputs(outputs, source="test")


def test_a_stack_that_is_not_there_is_named_with_those_that_are() -> None:
    outputs = Outputs({"OtherStack": {}}, source="account 1, us-west-2")
    with pytest.raises(UsageError) as error:
        outputs.read(NetworkOutputs)
    assert str(error.value) == (
        "account 1, us-west-2: NetworkStack is not there (stacks found: OtherStack). "
        "Deploy it: cdk deploy NetworkStack"
    )


def test_a_stack_is_looked_at_only_when_it_is_read() -> None:
    outputs = Outputs({"NetworkStack": NETWORK.to_outputs(), "StorageStack": {}}, source="test")
    assert outputs.read(NetworkOutputs) == NETWORK
    with pytest.raises(UsageError, match="StorageStack has no output"):
        outputs.read(StorageOutputs)


def test_a_byte_order_mark_before_the_file_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps({"NetworkStack": NETWORK.to_outputs()}), encoding="utf-8-sig")
    assert read_outputs_file(path).read(NetworkOutputs) == NETWORK


def test_the_file_of_cdk_deploy_is_read(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps({"NetworkStack": NETWORK.to_outputs()}), encoding="utf-8")
    outputs = read_outputs_file(path)
    assert outputs.read(NetworkOutputs) == NETWORK
    assert outputs.source == str(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "expected an object of stacks"),
        (b'{"NetworkStack": "vpc-1"}', "expected an object of stacks"),
        (b"", "not JSON"),
    ],
)
def test_a_file_of_another_form_is_refused_by_name(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "outputs.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_outputs_file(path)
    assert str(error.value).startswith(f"--outputs-file {path}: {said}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["absent", "folder"])
def test_a_file_that_cannot_be_read_is_named_with_the_command_that_writes_it(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "absent.json"
    with pytest.raises(UsageError) as error:
        read_outputs_file(path)
    assert f"--outputs-file {path}: cannot be read" in str(error.value)
    assert f"cdk deploy NetworkStack StorageStack --outputs-file {path}" in str(error.value)
