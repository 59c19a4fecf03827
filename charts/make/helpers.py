"""The values of the charts beside training: stage-data and attach."""

from __future__ import annotations

from . import shared
from .key import FLAG, Group, Key, optional, text, whole

_GLOBAL = Group(
    name="global", about="What the charts of a release share.", keys=(shared.NAMESPACE,)
)
_VOLUMES = Group(
    name="volumes",
    about="Which claims of charts/cluster are mounted, read-write.",
    keys=(
        Key(name="efs", default=True, rule=FLAG, about="mask-rcnn-efs at /efs."),
        Key(
            name="fsx",
            default=True,
            rule=FLAG,
            about="mask-rcnn-fsx at /fsx; false where StorageStack has no FSx.",
        ),
    ),
)


def _image(about: str) -> Key:
    return Key(
        name="image",
        default=None,
        rule=optional(text(shared.IMAGE)),
        about=about,
        old="the same",
    )


_NEWEST = (
    "with tag or digest; null: the horovod image that was pushed before "
    "`python -m training.kubernetes install`."
)
_USER = Key(
    name="user",
    default=1000,
    rule=whole(1, 65_533),
    about="User and group of the pod. Files of others it can read, not write.",
    old="root, privileged",
)


def _resources(cpu: str, memory: str) -> Group:
    return Group(
        name="resources",
        about="What a pod asks for, and may have.",
        keys=(
            Key(name="cpu", default=cpu, rule=shared.CPU, about="Cores."),
            Key(name="memory", default=memory, rule=shared.MEMORY, about="Such as 4Gi."),
        ),
    )


STAGE_DATA = (
    _GLOBAL,
    Group(
        name="",
        about="",
        keys=(
            _image(f"The horovod image, {_NEWEST}"),
            Key(
                name="args",
                default=["stage", "--to", "efs"],
                rule={"type": "array", "minItems": 1, "items": {"type": ["string", "number"]}},
                about="What to do: the arguments of `python -m training.data`.",
                old="the script stage-data.sh",
            ),
            _USER,
            shared.SERVICE_ACCOUNT,
        ),
    ),
    Group(
        name="job",
        about="How it runs.",
        keys=(
            shared.NAME,
            shared.TEXTS,
            shared.ENVIRONMENT,
            shared.MAX_RUN,
            shared.RETRIES,
            shared.TTL,
            shared.TAGS,
            shared.FINGERPRINT,
        ),
    ),
    _VOLUMES,
    _resources("2", "4Gi"),
    shared.POLICY,
)

_CLOSED = Group(
    name="network_policy",
    about="Whom the pods reach; the file systems are the nodes', and need no rule.",
    keys=(
        Key(name="enabled", default=True, rule=FLAG, about="DNS and nobody else."),
        Key(
            name="https",
            default=False,
            rule=FLAG,
            about="And port 443 of any address, as S3 has, and EKS Pod Identity's agent.",
        ),
    ),
)

ATTACH = (
    _GLOBAL,
    Group(
        name="",
        about="",
        keys=(
            _image(f"Any image with a shell and sleep, {_NEWEST}"),
            Key(
                name="hours",
                default=8,
                rule=whole(1, 168),
                about="After so many the pods end by themselves.",
                old="none: they ran until deleted",
            ),
            _USER,
            shared.SERVICE_ACCOUNT,
        ),
    ),
    _VOLUMES,
    _resources("500m", "1Gi"),
    _CLOSED,
)
