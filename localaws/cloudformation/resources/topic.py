"""AWS::SNS::Topic, AWS::SNS::TopicPolicy and AWS::SNS::Subscription."""

from __future__ import annotations

import json
from typing import Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, changed, only

_ATTRIBUTES = ("DisplayName", "KmsMasterKeyId")


class Topic(Resource):
    """A topic; its subscriptions are resources of their own."""

    TYPE = "AWS::SNS::Topic"
    NAME_PROPERTY = "TopicName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = aws.client("sns").create_topic(
            Name=name,
            Attributes=only(properties, _ATTRIBUTES),
            Tags=properties.get("Tags", []),
        )["TopicArn"]
        return cls(arn, TopicArn=arn, TopicName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        sns, arn = aws.client("sns"), self.physical_resource_id
        differs = set(changed(old, new))
        if others := differs - {*_ATTRIBUTES, "Tags"}:
            raise CannotUpdate(", ".join(sorted(others)))
        for name in sorted(differs - {"Tags"}):
            sns.set_topic_attributes(
                TopicArn=arn, AttributeName=name, AttributeValue=new.get(name, "")
            )
        gone, wanted = tags.difference(old, new)
        if gone:
            sns.untag_resource(ResourceArn=arn, TagKeys=gone)
        if wanted:
            sns.tag_resource(ResourceArn=arn, Tags=wanted)

    def read(self, aws: Aws) -> Properties | None:
        sns, arn = aws.client("sns"), self.physical_resource_id
        shown = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
        return {
            **only(shown, _ATTRIBUTES),
            "Tags": sns.list_tags_for_resource(ResourceArn=arn)["Tags"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("sns").delete_topic(TopicArn=self.physical_resource_id)


class TopicPolicy(Resource):
    """Who may do what with topics."""

    TYPE = "AWS::SNS::TopicPolicy"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _set_policy(aws, properties)
        return cls(name, Id=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _set_policy(aws, new)

    def delete(self, aws: Aws) -> None:
        # SNS puts its default in place. Here it stays: the topics go next.
        pass


def _set_policy(aws: Aws, properties: Properties) -> None:
    for topic in properties["Topics"]:
        aws.client("sns").set_topic_attributes(
            TopicArn=topic,
            AttributeName="Policy",
            AttributeValue=json.dumps(properties["PolicyDocument"]),
        )


class Subscription(Resource):
    """A subscriber of a topic. One by e-mail is to confirm it, which nothing waits for."""

    TYPE = "AWS::SNS::Subscription"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = aws.client("sns").subscribe(
            **only(properties, ("TopicArn", "Protocol", "Endpoint")), ReturnSubscriptionArn=True
        )["SubscriptionArn"]
        return cls(arn, Arn=arn)

    def read(self, aws: Aws) -> Properties | None:
        shown = aws.client("sns").get_subscription_attributes(
            SubscriptionArn=self.physical_resource_id
        )["Attributes"]
        return only(shown, ("TopicArn", "Protocol", "Endpoint"))

    def delete(self, aws: Aws) -> None:
        aws.client("sns").unsubscribe(SubscriptionArn=self.physical_resource_id)
