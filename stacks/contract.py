"""Writes a stack's side of the contract of `training.outputs`."""

from aws_cdk import CfnOutput, Stack

from training.outputs import Contract


def write_outputs(stack: Stack, outputs: Contract) -> None:
    """Make one CloudFormation output of each field that has a value.

    The fields hold CDK tokens: strings that become `Ref`, `Fn::GetAtt` or `Fn::Join` at synth.
    """
    if stack.stack_name != outputs.STACK:
        raise ValueError(
            f"{type(outputs).__name__} belongs to {outputs.STACK}, not {stack.stack_name}"
        )
    for key, value in outputs.to_outputs().items():
        CfnOutput(stack, key, value=value)
