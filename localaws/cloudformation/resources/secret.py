"""AWS::SecretsManager::Secret."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, changed, only


class Secret(Resource):
    """A secret, with a value of the template, a generated one, or none yet."""

    TYPE = "AWS::SecretsManager::Secret"
    NAME_PROPERTY = "Name"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        secrets = aws.client("secretsmanager")
        value = _value(secrets, properties)
        made = secrets.create_secret(
            Name=name,
            **({} if value is None else {"SecretString": value}),
            **only(properties, ("Description", "KmsKeyId", "Tags")),
        )
        return cls(made["ARN"], Id=made["ARN"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        secrets, arn = aws.client("secretsmanager"), self.physical_resource_id
        differs = set(changed(old, new))
        if differs & {"Description", "KmsKeyId"}:
            secrets.update_secret(SecretId=arn, **only(new, ("Description", "KmsKeyId")))
        if differs & {"SecretString", "GenerateSecretString"}:
            value = _value(secrets, new)
            if value is not None:
                secrets.put_secret_value(SecretId=arn, SecretString=value)
        gone, wanted = tags.difference(old, new)
        if gone:
            secrets.untag_resource(SecretId=arn, TagKeys=gone)
        if wanted:
            secrets.tag_resource(SecretId=arn, Tags=wanted)

    def read(self, aws: Aws) -> Properties | None:
        shown = aws.client("secretsmanager").describe_secret(SecretId=self.physical_resource_id)
        if "DeletedDate" in shown:
            return None
        return {**only(shown, ("Name", "Description", "KmsKeyId")), "Tags": shown.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        # At once, as CloudFormation does: the name is free again.
        aws.client("secretsmanager").delete_secret(
            SecretId=self.physical_resource_id, ForceDeleteWithoutRecovery=True
        )


def _value(secrets: Any, properties: Properties) -> str | None:
    if "SecretString" in properties:
        return str(properties["SecretString"])
    if (generate := properties.get("GenerateSecretString")) is None:
        return None
    names = ("SecretStringTemplate", "GenerateStringKey")
    asked = {name: value for name, value in generate.items() if name not in names}
    password = str(secrets.get_random_password(**asked)["RandomPassword"])
    if "GenerateStringKey" not in generate:
        return password
    whole = json.loads(generate["SecretStringTemplate"])
    return json.dumps({**whole, generate["GenerateStringKey"]: password})
