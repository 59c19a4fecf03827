"""What RegistryStack is made of."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from tests.stacks.matrix import Synthesize, properties, resources
from training.outputs import RegistryOutputs, output_key


def test_each_image_has_a_scanned_immutable_encrypted_repository(synth: Synthesize) -> None:
    template = synth("default").templates["RegistryStack"]
    repositories = properties(template, "AWS::ECR::Repository")
    [key_id] = resources(template, "AWS::KMS::Key")
    assert len(repositories) == 4
    for repository in repositories:
        assert repository["ImageScanningConfiguration"] == {"ScanOnPush": True}
        assert repository["ImageTagMutability"] == "IMMUTABLE"
        assert repository["EncryptionConfiguration"] == {
            "EncryptionType": "KMS",
            "KmsKey": {"Fn::GetAtt": [key_id, "Arn"]},
        }


def test_untagged_images_go_by_age_and_tagged_ones_only_by_number(synth: Synthesize) -> None:
    for repository in properties(
        synth("default").templates["RegistryStack"], "AWS::ECR::Repository"
    ):
        rules = json.loads(repository["LifecyclePolicy"]["LifecyclePolicyText"])["rules"]
        selections = [rule["selection"] for rule in rules]
        assert [(each["tagStatus"], each["countType"]) for each in selections] == [
            ("untagged", "sinceImagePushed"),
            ("any", "imageCountMoreThan"),
        ]


def test_each_output_is_the_address_of_a_repository_of_its_own(synth: Synthesize) -> None:
    template = synth("default").templates["RegistryStack"]
    named = {
        key: {
            logical_id
            for logical_id in resources(template, "AWS::ECR::Repository")
            if logical_id in json.dumps(output)
        }
        for key, output in template["Outputs"].items()
        if key in {output_key(field.name) for field in fields(RegistryOutputs)}
        and key.endswith("RepositoryUri")
    }
    assert {key: len(ids) for key, ids in named.items()} == {
        "AwsSamplesRepositoryUri": 1,
        "HorovodRepositoryUri": 1,
        "TensorpackRepositoryUri": 1,
        "Tf2SmddpRepositoryUri": 1,
    }
    assert set.union(*named.values()) == set(resources(template, "AWS::ECR::Repository"))


def repositories(synth: Synthesize, row: str) -> list[dict[str, Any]]:
    return properties(synth(row).templates["RegistryStack"], "AWS::ECR::Repository")


def test_without_other_accounts_a_repository_has_no_policy(synth: Synthesize) -> None:
    assert [r for r in repositories(synth, "default") if "RepositoryPolicyText" in r] == []


def test_named_accounts_may_pull_and_nothing_else(synth: Synthesize) -> None:
    for repository in repositories(synth, "pulled-by-others"):
        [statement] = repository["RepositoryPolicyText"]["Statement"]
        assert sorted(statement["Action"]) == [
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ]
        named = json.dumps(statement["Principal"])
        assert "210987654321:root" in named
        assert "*" not in named
