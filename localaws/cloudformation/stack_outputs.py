"""`Fn::GetStackOutput`: a weak reference, which reads an output of another stack.

The value is that of the moment; the other stack may change or go without a word.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_NAME = "Fn::GetStackOutput"

Read = Callable[[Mapping[str, Any]], str]


def with_outputs(value: Any, conditions: Mapping[str, bool], read: Read) -> Any:
    """Return a value of a template with each of these functions replaced by what it reads.

    Args:
        value: Any part of a template.
        conditions: The template's conditions: the branch of an `Fn::If` that is not taken may name
            a stack that does not exist.
        read: Takes a function's arguments and returns the output.
    """
    if isinstance(value, list):
        return [with_outputs(item, conditions, read) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_NAME}:
        return read(value[_NAME])
    if value.keys() == {"Fn::If"}:
        condition, if_met, otherwise = value["Fn::If"]
        return with_outputs(if_met if conditions[condition] else otherwise, conditions, read)
    return {key: with_outputs(item, conditions, read) for key, item in value.items()}


def output_of(stacks: list[Any], stack_name: str, output_name: str, region: str) -> str:
    """Return an output of a stack.

    Args:
        stacks: The stacks of the region.
        stack_name: Its name or its id.
        output_name: The key of the output.
        region: For the message.

    Raises:
        ValueError: The stack does not exist or has no such output.
    """
    where = f"{_NAME}: output {output_name} of stack {stack_name} in {region}"
    found = next((s for s in stacks if stack_name in (s.name, s.stack_id)), None)
    if found is None:
        raise ValueError(f"{where}: the stack does not exist. Deploy it first: {stack_name}")
    outputs = {output["OutputKey"]: output["OutputValue"] for output in found.outputs or []}
    if output_name not in outputs:
        has = ", ".join(sorted(outputs)) or "none"
        raise ValueError(f"{where}: the stack has no such output (it has: {has}). Deploy it again")
    return str(outputs[output_name])
