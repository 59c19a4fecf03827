"""The trainer's hyperparameters on a machine without pydantic, which checks them elsewhere.

`settings.json` beside this has the defaults; `python -m bench.gpu.settings` writes it anew, and a
test compares. The model, the step and the optimizer only read attributes, so that a plain object
does for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

DEFAULTS = Path(__file__).with_name("settings.json")
REPLACED = "training.maskrcnn.hyperparameters"


def read_settings(changes: Mapping[str, Any]) -> Any:
    """Return the default hyperparameters with changes.

    Raises:
        ValueError: There is no such hyperparameter.
    """
    values: dict[str, Any] = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    unknown = sorted(changes.keys() - values.keys())
    if unknown:
        raise ValueError(f"no such hyperparameter: {', '.join(unknown)}")
    return SimpleNamespace(**{key: _frozen(value) for key, value in {**values, **changes}.items()})


def stand_in() -> None:
    """Put the plain object in the place of the checked one; before the model is imported."""
    module: Any = ModuleType(REPLACED)
    module.Hyperparameters = SimpleNamespace
    module.read_hyperparameters = lambda values, source: read_settings(values)  # noqa: ARG005
    sys.modules[REPLACED] = module


def default_values() -> dict[str, Any]:
    """Return the defaults of the trainer; needs pydantic."""
    from training.maskrcnn.hyperparameters import Hyperparameters

    return Hyperparameters().model_dump(mode="json")


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


if __name__ == "__main__":
    DEFAULTS.write_text(json.dumps(default_values(), indent=1) + "\n", encoding="utf-8")
