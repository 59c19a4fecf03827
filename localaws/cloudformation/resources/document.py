"""AWS::SSM::Document."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, changed, only


class Document(Resource):
    """What Systems Manager runs on instances.

    Only with `UpdateMethod: NewVersion` a change keeps the document (localaws.cloudformation.schema
    says so); the new version is then the default one.
    """

    TYPE = "AWS::SSM::Document"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 128

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        aws.client("ssm").create_document(
            Name=name,
            Content=_text(properties["Content"]),
            DocumentType=properties.get("DocumentType", "Command"),
            DocumentFormat=properties.get("DocumentFormat", "JSON"),
            **only(properties, ("Requires", "TargetType", "VersionName", "Tags")),
        )
        return cls(name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ssm, name = aws.client("ssm"), self.physical_resource_id
        if set(changed(old, new)) - {"Tags", "UpdateMethod"}:
            version = ssm.update_document(
                Name=name,
                Content=_text(new["Content"]),
                DocumentVersion="$LATEST",
                DocumentFormat=new.get("DocumentFormat", "JSON"),
                **only(new, ("TargetType", "VersionName")),
            )["DocumentDescription"]["DocumentVersion"]
            ssm.update_document_default_version(Name=name, DocumentVersion=version)
        gone, wanted = tags.difference(old, new)
        kept = {"ResourceType": "Document", "ResourceId": name}
        if gone:
            ssm.remove_tags_from_resource(**kept, TagKeys=gone)
        if wanted:
            ssm.add_tags_to_resource(**kept, Tags=wanted)

    def read(self, aws: Aws) -> Properties:
        ssm, name = aws.client("ssm"), self.physical_resource_id
        shown = ssm.get_document(Name=name)
        given = ssm.list_tags_for_resource(ResourceType="Document", ResourceId=name)
        content = shown["Content"]
        return {
            "Content": json.loads(content) if shown["DocumentFormat"] == "JSON" else content,
            **only(shown, ("DocumentType", "DocumentFormat")),
            "Tags": given["TagList"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("ssm").delete_document(Name=self.physical_resource_id)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)
