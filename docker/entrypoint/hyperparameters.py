"""hyperparameters.json: names and values, all of them text."""

import json
from typing import Dict

from .errors import EntrypointError
from .json_file import read_object


def read_hyperparameters(path: str) -> Dict[str, str]:
    """Return each hyperparameter as the job spec has it.

    A value may be quoted as JSON quotes text (`"FreezeBN"`), as SageMaker's SDK sends it: the
    quotes go. Everything else stays as it is.

    Raises:
        EntrypointError: A value is no text.
    """
    values = {}
    for name, value in read_object(path).items():
        if not isinstance(value, str):
            raise EntrypointError(
                f"{path}: {name}: {json.dumps(value)}; expected text, as SageMaker passes every "
                f"value: {json.dumps(json.dumps(value))}"
            )
        # The SDK's own, for its toolkit: sagemaker_program, sagemaker_region, …
        if not name.startswith("sagemaker_"):
            values[name] = unquoted(value)
    return values


def unquoted(value: str) -> str:
    """Undo JSON's quotes around a text; any other text is returned as it is."""
    if not (len(value) > 1 and value[0] == value[-1] == '"'):
        return value
    try:
        text = json.loads(value)
    except ValueError:
        return value
    return text if isinstance(text, str) else value
