"""What can be chosen and left out by its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.training.platforms.sagemaker import planning
from training.errors import UsageError
from training.platforms.ec2 import advice as for_ec2
from training.platforms.eks import advice as for_eks
from training.platforms.sagemaker import advice
from training.preflight import budget
from training.preflight.job.report import CODES_OF_PLANS, check_job

_CODE = re.compile(r'^ +(?:code=)?"([a-z0-9]+(?:-[a-z0-9]+)+)",$', re.MULTILINE)


def test_every_code_of_the_findings_that_no_check_makes_is_known() -> None:
    of_preflight = Path(str(budget.__file__)).parent.glob("*.py")
    files = [path for path in of_preflight if path.stem != "side_by_side"]
    found = {
        code
        for path in [*files, *(Path(str(each.__file__)) for each in (advice, for_ec2, for_eks))]
        if "Finding(" in path.read_text()
        for code in _CODE.findall(path.read_text())
    }
    assert found == CODES_OF_PLANS


def test_a_job_for_this_machine_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.aws.client.new_session", lambda: pytest.fail("AWS is asked"))
    options: dict[str, Any] = {"instances__type": "local", "data_source": "s3"}
    report = check_job(
        planning.make_job(**options),
        planning.plan(**options),
        only=[],
        suppressed=[],
        time_limit_s=1,
    )
    assert (report.account, report.checks) == (None, 0)
    errors = [each for each in report.findings if each.severity == "error"]
    assert {each.path for each in errors} <= {"image", "instances.type"}  # Of its own engine.


def test_a_code_that_there_is_not_is_told_with_one_that_is_like_it() -> None:
    with pytest.raises(UsageError, match="did you mean image-missing"):
        check_job(
            planning.make_job(),
            planning.plan(),
            only=["image-mising"],
            suppressed=[],
            time_limit_s=1,
        )
