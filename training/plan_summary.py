"""What of a plan decides, in a few lines: where, on what, from what, and for how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from training.instances import known_instance
from training.platforms.api import Cost, Plan, Summarized
from training.preflight.finding import Finding

_PLURALS = {"error": "errors", "warning": "warnings", "info": "infos"}


def summary(plan: Plan, findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield titles, and what there is to say of each."""
    request = plan.request.to_json()
    if isinstance(plan.request, Summarized):
        yield from plan.request.summary()
    if "ResourceConfig" in request:
        yield "where", _where(request)
        yield "machines", _machines(request["ResourceConfig"])
        yield "data", _data(request)
    yield "cost", cost_text(plan.cost)
    yield "findings", _counts(findings)


def is_on_this_machine(request: Mapping[str, Any]) -> bool:
    """Return whether a request for SageMaker starts containers here instead."""
    return bool(request.get("ResourceConfig", {}).get("InstanceType") == "local")


def cost_text(cost: Cost) -> str:
    """Return a price in words; a price that is not known is never shown as 0."""
    if cost.per_hour is None:
        return "unknown"
    hour = f"{cost.per_hour:,.2f} {cost.currency} an hour"
    if cost.maximum is None:
        return f"{hour}; the maximum is unknown"
    return f"{hour}, at most {cost.maximum:,.2f} {cost.currency}"


def _where(request: Mapping[str, Any]) -> str:
    if is_on_this_machine(request):
        return "this machine: SageMaker is not asked for anything"
    account = request["RoleArn"].split(":")[4]
    # The stacks' key is where they are; no other part of the request names the region.
    region = request["OutputDataConfig"]["KmsKeyId"].split(":")[3]
    return f"account {account}, {region}"


def _machines(config: Mapping[str, Any]) -> str:
    kind, count = config["InstanceType"], config["InstanceCount"]
    if kind == "local":
        return f"{count} container(s)"
    instance = known_instance(kind)
    gpus = f" = {count * instance.gpus:,} GPUs" if instance else ""
    return f"{count:,} x {kind}{gpus}"


def _data(request: Mapping[str, Any]) -> str:
    train = next(each for each in request["InputDataConfig"] if each["ChannelName"] == "train")
    source = train["DataSource"]
    if found := source.get("S3DataSource"):
        return str(found["S3Uri"])
    files = source["FileSystemDataSource"]
    kind = {"FSxLustre": "FSx for Lustre"}.get(files["FileSystemType"], files["FileSystemType"])
    return f"{kind} {files['FileSystemId']}, {files['DirectoryPath']}"


def _counts(findings: Sequence[Finding]) -> str:
    counts = {
        severity: sum(finding.severity == severity for finding in findings) for severity in _PLURALS
    }
    said = [
        f"{count} {severity if count == 1 else _PLURALS[severity]}"
        for severity, count in counts.items()
        if count
    ]
    return ", ".join(said) or "none"
