"""Synthesizes each row of the matrix once a session, by the function that app.py runs."""

from __future__ import annotations

from functools import cache

import pytest

from app import build_app
from stacks.nag import read_violations
from tests.stacks.matrix import CHECKED_BY_CDK, MATRIX, Synth, Synthesize, read_templates

# isort: split

from aws_cdk import CloudFormationValidatePlugin, Validations


@pytest.fixture(scope="session")
def synth(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Synthesize a row, with no finding accepted."""

    @cache
    def synthesize(row: str) -> Synth:
        assembly = tmp_path_factory.mktemp(f"assembly-{row}")
        app = build_app(MATRIX[row], outdir=str(assembly), accepted=())
        if row == CHECKED_BY_CDK:
            Validations.of(app).add_plugins(CloudFormationValidatePlugin())
        app.synth()
        return Synth(
            templates=read_templates(assembly),
            violations=tuple(read_violations(assembly)),
            assembly=assembly,
        )

    return synthesize
