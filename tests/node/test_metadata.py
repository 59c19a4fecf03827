"""The client of the instance's metadata service."""

from __future__ import annotations

import pytest

from node.errors import NodeError
from node.metadata import Metadata
from tests.node.metadata_service import metadata_service


def test_one_token_serves_many_questions() -> None:
    with metadata_service(instance_id="i-1", placement__availability_zone="a") as service:
        metadata = Metadata(service.endpoint)
        assert metadata.must("instance-id") == "i-1"
        assert metadata.must("placement/availability-zone") == "a"
        assert service.tokens == ["token-0"]


def test_a_token_that_is_not_good_any_more_is_replaced() -> None:
    with metadata_service(instance_id="i-1") as service:
        metadata = Metadata(service.endpoint)
        metadata.get("instance-id")
        service.tokens.append("of somebody else")
        assert metadata.get("instance-id") == "i-1"
        assert service.tokens[-1] == "token-2"


def test_what_there_is_not_is_none_or_an_error_that_names_it() -> None:
    with metadata_service() as service:
        metadata = Metadata(service.endpoint)
        assert metadata.get("spot/instance-action") is None
        with pytest.raises(NodeError, match="spot/instance-action: there is no such value"):
            metadata.must("spot/instance-action")
        service.is_broken = True
        with pytest.raises(NodeError, match="answers 503"):
            metadata.get("instance-id")


def test_a_service_that_does_not_answer_is_said() -> None:
    with metadata_service() as service:
        endpoint = service.endpoint
    with pytest.raises(NodeError, match="does not answer"):
        Metadata(endpoint).get("instance-id")


def test_a_proxy_never_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with metadata_service(instance_id="i-1") as service:
        assert Metadata(service.endpoint).get("instance-id") == "i-1"
