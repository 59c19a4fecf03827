"""Which FSx for Lustre a region offers, as far as AWS's list says.

The table of deployment types in the Lustre guide, and for China its Chinese edition, both as of
November 2026. Only what is known to be missing is refused: a region that is new is not locked out
by an old list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

Deployment = Literal["PERSISTENT_2", "PERSISTENT_1", "SCRATCH_2"]

DEPLOYMENTS: tuple[Deployment, ...] = ("PERSISTENT_2", "PERSISTENT_1", "SCRATCH_2")
"""The newest first."""

LustreVersion = Literal["2.15", "2.12"]

_SOURCE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html"
_SOURCE_FOR_CHINA = "https://docs.amazonaws.cn/en_us/fsx/latest/LustreGuide/using-fsx-lustre.html"

_CHINA = frozenset({"cn-north-1", "cn-northwest-1"})
"""PERSISTENT_1 alone, and nothing newer than Lustre 2.12."""

# fmt: off
_SLOW_PERSISTENT_2_ONLY = frozenset({
    "ap-east-2", "ap-southeast-5", "ap-southeast-7", "ca-west-1", "il-central-1", "mx-central-1",
})
"""No persistent type but PERSISTENT_2, with 125 or 250 MB/s for each TiB and without EFA."""

MISSING: Mapping[Deployment, frozenset[str]] = {
    "PERSISTENT_2": frozenset({
        "af-south-1", "ap-northeast-3", "ap-south-2", "ap-southeast-3", "ap-southeast-4",
        "eu-central-2", "eu-south-1", "eu-south-2", "eu-west-3", "me-central-1", "me-south-1",
        "sa-east-1", "us-gov-east-1", "us-gov-west-1",
    }) | _CHINA,
    "PERSISTENT_1": _SLOW_PERSISTENT_2_ONLY,
    "SCRATCH_2": _SLOW_PERSISTENT_2_ONLY - {"il-central-1"} | _CHINA,
}
# fmt: on

SLOW_THROUGHPUTS = (125, 250)


def problems_of_region(
    region: str,
    *,
    deployment: Deployment,
    lustre_version: LustreVersion,
    throughput_mbps_per_tib: int | None,
    efa: bool,
) -> Iterator[str]:
    """Yield one message with all that a region does not offer, and what it does."""
    wrong: list[tuple[str, str]] = []
    if region in MISSING[deployment]:
        offered = [each for each in DEPLOYMENTS if region not in MISSING[each]]
        given = f"fsx_deployment = {deployment}"
        wrong.append((given, f"take {' or '.join(offered)}, or fsx = none"))
    if region in _CHINA and lustre_version != "2.12":
        wrong.append((f"fsx_lustre_version = {lustre_version}", "take 2.12"))
    if deployment == "PERSISTENT_2" and region in _SLOW_PERSISTENT_2_ONLY:
        if throughput_mbps_per_tib not in SLOW_THROUGHPUTS:
            given = f"fsx_throughput_mbps_per_tib = {throughput_mbps_per_tib}"
            wrong.append((given, f"take {' or '.join(map(str, SLOW_THROUGHPUTS))}"))
        if efa:
            wrong.append(("fsx_efa = true", "leave it out"))
    if wrong:
        yield _not_offered(region, wrong)


def _not_offered(region: str, wrong: Sequence[tuple[str, str]]) -> str:
    """Say all at once: who corrects one thing should not meet the next.

    Args:
        wrong: `key = value`, and what to do instead.
    """
    source = _SOURCE_FOR_CHINA if region in _CHINA else _SOURCE
    given = " and ".join(what for what, _ in wrong)
    if len(wrong) == 1:
        [(_, instead)] = wrong
        return f"{given} is not offered in {region}: {instead} ({source})"
    each = "; ".join(f"for {what.partition(' ')[0]} {instead}" for what, instead in wrong)
    return f"{given} are not offered in {region}: {each} ({source})"
