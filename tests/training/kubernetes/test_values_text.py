from __future__ import annotations

import base64
import json
from pathlib import Path

import yaml

from training.kubernetes.helm import template

_CHART = {
    "Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
    "templates/all.yaml": "values: {{ .Values | toJson | b64enc | quote }}\n",
}
_CHARACTERS = [
    *range(0x20, 0x100),
    0x2028,
    0x2029,
    0xFEFF,
    0xFFFD,
    0xFFFE,
    0xFFFF,
    0x1F600,
    0x10FFFF,
]


def test_helm_reads_every_value_as_it_was_given(tmp_path: Path) -> None:
    for name, text in _CHART.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    values = {
        "texts": ["".join(map(chr, _CHARACTERS)), "\n\r\t", "yes", "1e3", "0x10", "", " a "],
        "nested": {"no": True, "on": None, "1": 1.5},
        "large": 120_000,
    }
    made = yaml.safe_load(template("r", tmp_path, values, namespace="n"))
    assert json.loads(base64.b64decode(made["values"])) == values
