"""Public scanners of CloudFormation templates, run offline; each returns what it found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.stacks.scanning.environment import ScannerEnvironment


@dataclass(frozen=True, order=True)
class Finding:
    """One rule that one resource of one template breaks."""

    template: str
    """Name of the file."""
    logical_id: str
    rule: str


class ScannerFailed(Exception):
    """A scanner did not come to an end, or could not read a template."""


def checkov(environment: ScannerEnvironment, templates: Sequence[Path]) -> Iterator[Finding]:
    """Yield the failed checks of checkov's own rules.

    https://www.checkov.io/5.Policy%20Index/cloudformation.html
    """
    files = [word for template in templates for word in ("--file", str(template))]
    printed = _run(
        [
            environment.python, environment.program("checkov"), *files, "--framework",
            "cloudformation", "--skip-download", "--quiet", "--compact", "--output", "json",
        ],
        exit_codes=(0, 1),
    )  # fmt: skip
    report = json.loads(printed)
    if report["summary"]["parsing_errors"]:
        raise ScannerFailed(f"checkov could not read {report['results']['parsing_errors']}")
    for check in report["results"]["failed_checks"]:
        yield Finding(
            template=Path(check["file_path"]).name,
            logical_id=check["resource"].rpartition(".")[2],
            rule=check["check_id"],
        )


def cfripper(
    environment: ScannerEnvironment, templates: Sequence[Path], scratch: Path
) -> Iterator[Finding]:
    """Yield what cfripper's rules find.

    https://cfripper.readthedocs.io/en/latest/rules/
    """
    readable = scratch / "templates"
    readable.mkdir()
    for template in templates:
        (readable / template.name).write_text(_without_open_endpoints(template), "utf-8")
    # It names what it writes after the templates, with their folders where they are given.
    _run(
        [
            environment.python, environment.program("cfripper"), *(each.name for each in templates),
            "--resolve", "--format", "json", "--logging", "ERROR", "--output-folder", scratch,
        ],
        exit_codes=(0, 2),
        cwd=readable,
    )  # fmt: skip
    for template in templates:
        written = scratch / f"{template.name}.cfripper.results.json"
        report = json.loads(written.read_text("utf-8"))
        if report["exceptions"]:
            raise ScannerFailed(f"cfripper: {template}: {report['exceptions']}")
        for failure in report["failures"]:
            for logical_id in failure["resource_ids"]:
                yield Finding(template.name, logical_id, failure["rule"])


def _without_open_endpoints(template: Path) -> str:
    """Return a template whose EKS endpoint, if it is open to everybody, is open to a few.

    cfripper's model makes a list of all addresses in such a range, which takes tens of gigabytes.
    No rule of its looks at them; checkov's CKV_AWS_39 does.
    """
    document = json.loads(template.read_text("utf-8"))
    for resource in document["Resources"].values():
        if resource["Type"] == "AWS::EKS::Cluster":
            config = resource["Properties"]["ResourcesVpcConfig"]
            if "PublicAccessCidrs" in config:
                config["PublicAccessCidrs"] = ["192.0.2.0/24"]
    return json.dumps(document)


def control_tower(
    environment: ScannerEnvironment, templates: Sequence[Path], scratch: Path
) -> Iterator[Finding]:
    """Yield what cfn-guard finds with AWS Control Tower's proactive controls.

    https://docs.aws.amazon.com/controltower/latest/controlreference/proactive-controls.html
    """
    bundle = _unpacked_bundle(environment, scratch)
    printed = _run(
        [
            bundle / "bin/ubuntu/x86_64/cfn-guard", "validate", "--rules",
            bundle / "rules/control-tower/cfn-guard", "--data", *templates, "--show-summary",
            "none", "--output-format", "json", "--structured",
        ],
        exit_codes=(0, 19),
    )  # fmt: skip
    for report in json.loads(printed):
        for broken in report["not_compliant"]:
            # Paths and the control's name stand at any depth of the tree of clauses.
            text = json.dumps(broken)
            rule = re.search(r"\[(CT\.[A-Z0-9.]+)\]", text)
            if rule is None:
                raise ScannerFailed(f"cfn-guard names no control: {text[:500]}")
            for logical_id in set(re.findall(r"/Resources/([A-Za-z0-9]+)", text)):
                yield Finding(Path(report["name"]).name, logical_id, rule[1])


def _unpacked_bundle(environment: ScannerEnvironment, scratch: Path) -> Path:
    """Unpack what the CDK plugin of cfn-guard carries: the program and the rules."""
    [archive] = environment.packages.glob("cdklabs/cdk_validator_cfnguard/_jsii/*.tgz")
    with tarfile.open(archive) as tar:
        tar.extractall(
            scratch,
            [each for each in tar if each.name.startswith(("package/bin/", "package/rules/"))],
            filter="data",
        )
    bundle = scratch / "package"
    (bundle / "bin/ubuntu/x86_64/cfn-guard").chmod(0o755)
    return bundle


def _run(
    command: Sequence[str | Path], *, exit_codes: Sequence[int], cwd: Path | None = None
) -> str:
    """Run a scanner without credentials and return what it prints."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if not key.startswith("AWS_")},
        check=False,
    )
    if done.returncode not in exit_codes:
        raise ScannerFailed(
            f"{' '.join(words[:4])} ...: exit code {done.returncode}\n{done.stderr[-2000:]}"
        )
    return done.stdout
