"""What tells a request that is sent again from another one of the same name."""

from __future__ import annotations

from training.platforms.sagemaker.fingerprint import fingerprint_of, with_fingerprint

BODY = {"TrainingJobName": "a", "Environment": {"A": "1"}, "Tags": [{"Key": "k", "Value": "v"}]}


def test_the_same_request_has_the_same_fingerprint_however_its_keys_lie() -> None:
    turned = dict(reversed(BODY.items()))
    assert fingerprint_of(with_fingerprint(BODY)) == fingerprint_of(with_fingerprint(turned))


def test_another_request_has_another_one() -> None:
    others = [{**BODY, "TrainingJobName": "b"}, {**BODY, "Environment": {"A": "2"}}, {}]
    found = {fingerprint_of(with_fingerprint(body)) for body in (BODY, *others)}
    assert len(found) == 4


def test_it_is_added_and_nothing_else_changes_also_the_second_time() -> None:
    once = with_fingerprint(BODY)
    assert with_fingerprint(once) == once
    assert {**once, "Environment": {"A": "1"}} == BODY


def test_a_job_of_somebody_else_has_none() -> None:
    assert fingerprint_of({"TrainingJobName": "a"}) is None
