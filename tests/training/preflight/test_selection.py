"""--only and --suppress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest

from training.errors import UsageError
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.selection import Selection

KNOWN = {"vpc-missing", "vpc-overlaps", "efs-missing", "check-timed-out"}


class OfVpc(Check):
    """Of the VPC."""

    codes: ClassVar[Mapping[str, Severity]] = {"vpc-missing": "error", "vpc-overlaps": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    def find(self) -> Iterator[Finding]:
        yield from ()


class OfEfs(OfVpc):
    """Of EFS."""

    codes: ClassVar[Mapping[str, Severity]] = {"efs-missing": "error"}


FINDINGS = [Finding(code, "error", "", "") for code in sorted(KNOWN)]


@pytest.mark.parametrize(
    ("only", "suppressed", "checks", "codes"),
    [
        ([], [], [OfVpc, OfEfs], sorted(KNOWN)),
        (["vpc-missing"], [], [OfVpc], ["check-timed-out", "vpc-missing"]),
        ([], ["vpc-missing"], [OfVpc, OfEfs], ["check-timed-out", "efs-missing", "vpc-overlaps"]),
        ([], ["vpc-missing", "vpc-overlaps"], [OfEfs], ["check-timed-out", "efs-missing"]),
        (["efs-missing"], ["check-timed-out"], [OfEfs], ["efs-missing"]),
        (["efs-missing"], ["efs-missing"], [], ["check-timed-out"]),
    ],
)
def test_what_is_wanted_is_looked_for_and_told(
    only: list[str], suppressed: list[str], checks: list[type[Check]], codes: list[str]
) -> None:
    selection = Selection.parse(only, suppressed, KNOWN)
    assert [type(check) for check in selection.of_checks([OfVpc(), OfEfs()])] == checks
    assert [found.code for found in selection.of_findings(FINDINGS)] == codes


@pytest.mark.parametrize(
    ("only", "suppressed", "message"),
    [
        (["vpc-mising"], [], "--only vpc-mising: .* did you mean vpc-missing"),
        (["MISSING"], [], "did you mean vpc-missing or efs-missing"),
        ([], ["what"], "--suppress what: .* of that name; docs/reference.md lists all of them$"),
    ],
)
def test_a_code_that_there_is_not_is_an_error_with_those_that_there_are(
    only: list[str], suppressed: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Selection.parse(only, suppressed, KNOWN)


def test_a_hint_names_few_codes() -> None:
    known = {f"nothing-{number}" for number in range(10, 30)}
    near = " or ".join(f"nothing-{number}" for number in range(10, 15))
    for code, hint in (("", ""), ("no", f"did you mean {near}? ")):
        with pytest.raises(UsageError) as error:
            Selection.parse([], [code], known)
        assert str(error.value) == (
            f"--suppress {code}: there is no finding of that name; {hint}docs/reference.md lists "
            "all of them"
        )
