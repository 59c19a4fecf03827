"""What a user may choose about the stacks, from CDK context (`cdk.json`, `-c key=value`)."""

from stacks.settings.settings import Settings

__all__ = ["Settings"]
