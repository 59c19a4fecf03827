"""The settings of the last deploy, which the stacks' templates tell, beside those of the next."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from training.aws.cloudformation import CloudFormation
from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.consequence import Consequence
from training.preflight.stacks.consequences import consequences
from training.preflight.stacks.planned_zones import PlannedZones

if TYPE_CHECKING:
    from stacks.settings import Settings

LONGEST_SHOWN = 48

Record = Mapping[str, str]
"""Context key to text, of what differed from the defaults."""


@dataclass(frozen=True)
class SettingsStay(Check):
    """No setting of the last deploy was forgotten, and no change loses data or fails."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "replaces-vpc": "error",
        "replaces-subnets": "error",
        "replaces-file-system": "error",
        "deletes-file-system": "error",
        "replaces-notebook": "error",
        "notebook-needs-new-name": "error",
        "change-refused-by-aws": "error",
        "leaves-data-behind": "warning",
        "replaces-cluster": "warning",
        "replaces-nodes": "warning",
        "replaces-kubernetes": "warning",
        "replaces-kubernetes-nodes": "warning",
        "ends-gpu-nodes": "warning",
        "setting-forgotten": "warning",
        "setting-changed": "info",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:DescribeStacks",
        "cloudformation:GetTemplateSummary",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeSubnets",
    )

    cloudformation: CloudFormation
    ec2: Ec2
    settings: Settings
    given: Collection[str] = ()
    """The keys that this deploy is given, with their defaults or others."""

    def find(self) -> Iterator[Finding]:
        from stacks.settings import Settings
        from stacks.settings.recorded import record_of, texts_of

        records = {name: record for name in _stacks() if (record := self._record(name)) is not None}
        then = _merged(records)
        now = _merged({name: record_of(self.settings, name) for name in records})
        defaults = _merged({name: texts_of(Settings(), name) for name in records})
        old, new = defaults | then, defaults | now
        changed = [key for key in defaults if old[key] != new[key]]
        told: set[str] = set()
        for each in consequences(_settings_of(records, self.settings), self.settings, self._zones):
            reasons = [key for key in each.keys if key in changed]
            if reasons:
                told.update(reasons)
                yield self._consequence(each, reasons, old, new)
        absent = [key for key in changed if key not in now and key not in self.given]
        forgotten = {key: then[key] for key in absent if key in then}
        if forgotten:
            yield self._forgotten(forgotten)
        rest = [key for key in changed if key not in told and key not in forgotten]
        if rest:
            yield self._changed(rest, old, new)

    def _record(self, stack_name: str) -> Record | None:
        """Return what a stack's template tells; None where there is no such stack, or no record."""
        from stacks.settings.recorded import RECORD

        stack = self.cloudformation.stack(stack_name)
        # A stack whose first deploy was rolled back holds nothing.
        if stack is None or stack["StackStatus"].startswith("ROLLBACK_"):
            return None
        found: Record | None = self.cloudformation.metadata(stack_name).get(RECORD)
        return found

    def _zones(self, settings: Settings) -> list[str]:
        network = settings.network
        return PlannedZones(network.zone_names, network.number_of_zones).resolve(self.ec2)

    def _consequence(
        self, each: Consequence, reasons: list[str], old: Record, new: Record
    ) -> Finding:
        return self.found(
            each.code,
            ",".join(reasons),
            f"{_differences(reasons, old, new)}. {each.message}. If you mean it: "
            f"--suppress {each.code}",
        )

    def _forgotten(self, forgotten: Record) -> Finding:
        given = " ".join(f"-c {shlex.quote(f'{key}={text}')}" for key, text in forgotten.items())
        return self.found(
            "setting-forgotten",
            ",".join(forgotten),
            "the last deploy was given settings that this one is not, so that their defaults come "
            f"back. Give them again, here and to cdk deploy, or write them in cdk.json: {given}",
        )

    def _changed(self, keys: list[str], old: Record, new: Record) -> Finding:
        return self.found("setting-changed", ",".join(keys), _differences(keys, old, new))


def _stacks() -> list[str]:
    from stacks.settings.recorded import GROUPS

    return list(GROUPS)


def _differences(keys: list[str], old: Record, new: Record) -> str:
    return "; ".join(
        f"{key} was {_shown(old[key])} at the last deploy, and is {_shown(new[key])} now"
        for key in keys
    )


def _shown(text: str) -> str:
    """Return a value for a sentence, which a list of subnets would fill."""
    return f"{text[:LONGEST_SHOWN]}…" if len(text) > LONGEST_SHOWN else text


def _merged(records: Mapping[str, Record]) -> dict[str, str]:
    """Return one record of all; where stacks differ in a general setting, the first one's."""
    return {key: text for name in reversed([*records]) for key, text in records[name].items()}


def _settings_of(records: Mapping[str, Record], now: Settings) -> Settings:
    """Return the settings of the last deploy; those of now where there was none.

    Each group is read by itself: what does not go together need not have been deployed together.
    """
    from pydantic import ValidationError

    from stacks.settings import Settings
    from stacks.settings.recorded import GROUPS

    values: dict[str, Any] = {name: getattr(now, name) for name in Settings.groups()}
    then = _merged(records)
    for stack in records:
        for name in GROUPS[stack]:
            group = Settings.groups()[name]
            try:
                values[name] = group.model_validate(
                    {key: then[key] for key in group.allowed() if key in then}
                )
            except ValidationError:
                # Of another version of this project, which allowed what this one does not.
                continue
    return Settings.model_construct(**values)
