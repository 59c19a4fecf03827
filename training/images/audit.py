"""`python -m training.images audit`: known faults of the Python packages that images pin."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import JobFailed, PreflightError, UsageError
from training.images.recipes import RECIPES
from training.images.sources import PROJECT

SERVICES = ("pypi", "osv")

AlgorithmsOption = Annotated[
    list[str] | None,
    typer.Option("--algorithm", help=f"Whose image: {', '.join(RECIPES)}; default: all."),
]
ServiceOption = Annotated[
    str, typer.Option(help="Who is asked: pypi (pypi.org) or osv (api.osv.dev).")
]
OsvOption = Annotated[str | None, typer.Option(help="Another address of osv: a mirror.")]


def audit(
    algorithm: AlgorithmsOption = None,
    service: ServiceOption = "pypi",
    osv_url: OsvOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """Look for known faults in the Python packages that images pin.

    By pip-audit, from the files of pins: nothing is built or installed. Exit code 3 where there is
    a fault. Packages of a Deep Learning Container itself are not among them: `sbom` lists those.
    """
    faults = list(_faults(_pins(algorithm or list(RECIPES)), _service(service, osv_url)))
    if output is Format.JSON:
        print_json(faults)
    else:
        for fault in faults:
            fixed = ", ".join(fault["fixed_in"]) or "no version yet"
            result.print(
                f"{fault['file']}: {fault['package']} {fault['version']}: {fault['id']}, "
                f"fixed in {fixed}",
                markup=False,
            )
    if faults:
        raise PreflightError(
            f"{len(faults)} known faults. Take the versions they are fixed in, where there are any"
        )
    log.print("no known fault")


def _pins(algorithms: Sequence[str]) -> list[Path]:
    for name in algorithms:
        if name not in RECIPES:
            raise UsageError(f"--algorithm: {name!r} is not one of {', '.join(RECIPES)}")
    recipes = [recipe for name in algorithms for recipe in RECIPES[name].each()]
    return [PROJECT / pins for recipe in recipes for pins in recipe.pins]


def _service(name: str, osv_url: str | None) -> list[str]:
    if name not in SERVICES:
        raise UsageError(f"--service: {name!r} is not one of {', '.join(SERVICES)}")
    if osv_url is not None and name != "osv":
        raise UsageError(f"--osv-url: goes with --service osv, not {name}")
    return ["--vulnerability-service", name, *(("--osv-url", osv_url) if osv_url else ())]


def _faults(files: Sequence[Path], service: Sequence[str]) -> Iterator[dict[str, Any]]:
    if find_spec("pip_audit") is None:
        raise PreflightError("pip-audit is missing: pip install pip-audit")
    for file in files:
        log.print(f"{file.relative_to(PROJECT)} ...", markup=False)
        for package in _audit(file, service):
            for found in package.get("vulns", ()):
                yield {
                    "file": str(file.relative_to(PROJECT)),
                    "package": package["name"],
                    "version": package["version"],
                    "id": found["id"],
                    "aliases": found["aliases"],
                    "fixed_in": found["fix_versions"],
                }


def _audit(file: Path, service: Sequence[str]) -> list[dict[str, Any]]:
    """Return what pip-audit says of each package of a file of pins."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip_audit", "--requirement", str(file)),
            # As the file has them: pip would install for this machine's Python.
            *("--no-deps", "--disable-pip"),
            *("--format", "json", "--progress-spinner", "off", *service),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError) as error:
        said = done.stderr.strip().splitlines()
        raise JobFailed(
            f"{file.relative_to(PROJECT)}: pip-audit gave no answer: "
            f"{said[-1] if said else f'exit code {done.returncode}'}. It asks pypi.org, or with "
            "--service osv api.osv.dev: are they reached from here?"
        ) from error
    if skipped := [package for package in packages if "skip_reason" in package]:
        # pip-audit ends well with these: what nobody was asked about would pass for sound.
        raise JobFailed(
            f"{file.relative_to(PROJECT)}: {len(skipped)} of {len(packages)} packages could not be "
            f"looked up; the first: {skipped[0]['name']}: {skipped[0]['skip_reason']}"
        )
    return packages
