"""Regions without notebook instances."""

from __future__ import annotations

from cfnlint.helpers import REGIONS
from cfnlint.schema import ResourceNotFoundError
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from tests.training.preflight.stacks.conftest import codes_of, only_finding_of
from training.preflight.stacks.notebook_region import WITHOUT_NOTEBOOKS, RegionHasNotebooks


def test_a_region_without_notebooks_is_a_warning() -> None:
    finding = only_finding_of(RegionHasNotebooks("me-central-1"), "notebooks-not-in-region")
    assert finding.severity == "warning"
    assert codes_of(RegionHasNotebooks("us-east-1")) == []


def test_they_are_those_where_cloudformation_does_not_have_the_type() -> None:
    def lacks(region: str) -> bool:
        try:
            PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, "AWS::SageMaker::NotebookInstance")
        except ResourceNotFoundError:
            return True
        return False

    assert {region for region in REGIONS if lacks(region)} == WITHOUT_NOTEBOOKS
