"""The cluster's keys: made once, the same on all nodes, and in nobody's sight."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from node import config, key_files, key_pair, key_secret, paths
from node.cluster_keys import fetch
from node.errors import NodeError
from node.key_secret import ClusterKeys
from tests.node import aws_fake
from tests.node.aws_fake import AwsFake
from tests.node.setup.host import CONFIG, SECRET

NO_VALUE = [
    "ResourceNotFoundException",
    "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
]
REFUSED = ["AccessDeniedException", "not authorized to perform: secretsmanager:GetSecretValue"]


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AwsFake:
    monkeypatch.setattr(paths, "RUN", tmp_path / "run")
    monkeypatch.setattr(paths, "SSH", tmp_path / "ssh")
    return aws_fake.install(tmp_path / "aws", monkeypatch)


def node(tmp_path: Path, role: str) -> config.NodeConfig:
    file = tmp_path / "node.json"
    file.write_text(json.dumps({**CONFIG, "role": role}))
    return config.load(file)


def make_keys(folder: Path) -> ClusterKeys:
    folder.mkdir()
    return ClusterKeys(*key_pair.make(folder, "user"), *key_pair.make(folder, "host"))


def secret(value: Any) -> dict[str, Any]:
    return {"SecretString": json.dumps(value)}


def test_the_first_head_makes_keys_and_puts_them_by_a_file_that_is_gone_then(
    tmp_path: Path, aws: AwsFake
) -> None:
    keys = make_keys(tmp_path / "of-the-secret")
    aws.answers(
        get_secret_value=[NO_VALUE, secret(asdict(keys))], put_secret_value=[{"VersionId": "1"}]
    )
    assert fetch(node(tmp_path, "head"), timeout_s=60) == keys
    get, put, again = aws.calls
    assert (
        get
        == again
        == [
            *("secretsmanager", "get-secret-value", "--secret-id", SECRET),
            *("--region", "eu-central-1", "--output", "json"),
        ]
    )
    [(name, content)] = aws.files[1].items()
    assert put == [
        *("secretsmanager", "put-secret-value", "--secret-id", SECRET),
        # Of the secret's own name alone, so that a second head has the same.
        *("--client-request-token", "5d041511-1763-5a93-9d50-fd546157b284"),
        *("--secret-string", name, "--region", "eu-central-1", "--output", "json"),
    ]
    made = key_secret.parse(content)
    assert made is not None
    assert made != keys
    assert sorted(json.loads(content)) == [
        "host_private",
        "host_public",
        "user_private",
        "user_public",
    ]
    assert name.startswith(f"file://{tmp_path}/run/keys-")
    assert list((tmp_path / "run").iterdir()) == []
    for private in (made.user_private, made.host_private):
        assert private not in json.dumps(aws.calls)
        assert private not in repr(made)


def test_a_head_that_comes_second_uses_what_is_there(tmp_path: Path, aws: AwsFake) -> None:
    keys = make_keys(tmp_path / "of-the-first")
    aws.answers(
        get_secret_value=[NO_VALUE, secret(asdict(keys))],
        put_secret_value=[["ResourceExistsException", "that value is already in use"]],
    )
    assert fetch(node(tmp_path, "head"), timeout_s=60) == keys


@pytest.mark.parametrize("value", ["a password", {}, {"user_private": "x"}, None])
def test_what_is_not_the_clusters_keys_is_no_value(value: Any) -> None:
    assert key_secret.parse(json.dumps(value)) is None
    assert key_secret.parse(value) is None


def test_a_worker_waits_for_the_head_and_makes_none(tmp_path: Path, aws: AwsFake) -> None:
    keys = make_keys(tmp_path / "of-the-head")
    aws.answers(get_secret_value=[NO_VALUE, NO_VALUE, secret(asdict(keys))])
    assert fetch(node(tmp_path, "worker"), timeout_s=60, pause_s=0.05) == keys
    assert len(aws.calls) == 3


def test_a_worker_whose_head_never_comes_says_so(tmp_path: Path, aws: AwsFake) -> None:
    aws.answers(get_secret_value=[NO_VALUE])
    with pytest.raises(NodeError) as error:
        fetch(node(tmp_path, "worker"), timeout_s=0.5, pause_s=0.1)
    assert str(error.value) == (
        f"secret {SECRET}: the head has not put the cluster's SSH keys there. The log of its "
        "set-up says why (tried for 0.5 s)"
    )


def test_a_secret_that_is_not_readable_is_said(tmp_path: Path, aws: AwsFake) -> None:
    aws.answers(get_secret_value=[REFUSED])
    with pytest.raises(NodeError) as error:
        fetch(node(tmp_path, "head"), timeout_s=1, pause_s=0.1)
    assert str(error.value).startswith(
        f"secret {SECRET}: the secret is not readable: aws secretsmanager get-secret-value: "
        "An error occurred (AccessDeniedException)"
    )
    assert len(aws.calls) > 1  # the role may be younger than AWS's memory of it


def test_after_a_restart_without_aws_the_keys_of_before_serve(tmp_path: Path, aws: AwsFake) -> None:
    keys = make_keys(tmp_path / "of-before")
    key_files.install(keys, tmp_path / "ssh")
    aws.answers(get_secret_value=[["RequestTimeout", "no answer"]])
    assert fetch(node(tmp_path, "worker"), timeout_s=5) is None
    assert not key_files.are_there(tmp_path / "none")


def test_files_have_their_modes_and_are_written_once(tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys")
    folder = tmp_path / "ssh"
    names = ["host_key", "host_key.pub", "user_key", "user_key.pub"]
    names += ["authorized_keys", "known_hosts", "config"]
    assert key_files.install(keys, folder) == names
    assert folder.stat().st_mode & 0o7777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o7777 for path in folder.iterdir()}
    assert modes == {
        "host_key": 0o600,
        "host_key.pub": 0o644,
        "user_key": 0o600,
        "user_key.pub": 0o644,
        "authorized_keys": 0o600,
        "known_hosts": 0o644,
        "config": 0o644,
    }
    assert (folder / "known_hosts").read_text() == f"[*]:2222 {keys.host_public}\n"
    assert key_files.install(keys, folder) == []

    (folder / "user_key").chmod(0o644)
    assert key_files.install(replace(keys, host_public="ssh-ed25519 AAAA"), folder) == [
        "host_key.pub",
        "user_key",
        "known_hosts",
    ]
    assert (folder / "user_key").stat().st_mode & 0o7777 == 0o600
