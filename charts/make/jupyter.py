"""The values of the charts with Jupyter and TensorBoard: one chart under two names."""

from __future__ import annotations

from . import shared
from .key import FLAG, Group, Key, one_of, text
from .tables import types_of

CHARTS = ("maskrcnn-jupyter", "maskrcnn-optimized-jupyter")
"""The first has the files, the second links to them."""
FILE_SYSTEMS = ("fsx", "efs")
HASH_IN_A_KEY = r"^[A-Za-z0-9+/]{27,}$"
"""What `--set htpasswd={SHA}...` makes of a hash, which nothing is to print: a key."""
_NAME_OR_EMPTY = text(f"{shared.NAMES}|^$")

_GLOBAL = Group(
    name="global",
    about="What the charts of a release share.",
    keys=(
        Key(
            name="name",
            default="",
            rule=text(r"^$|^[a-z]([a-z0-9-]{0,48}[a-z0-9])?$"),
            about="Of every object; empty: the chart's name.",
        ),
        shared.NAMESPACE,
        Key(
            name="shared_fs",
            default="fsx",
            rule=one_of(*FILE_SYSTEMS),
            about="Where the job's logs are, mounted read-only at /fsx or /efs.",
        ),
        Key(
            name="shared_pvc",
            default="",
            rule=_NAME_OR_EMPTY,
            about="Its claim; empty: mask-rcnn-fsx or mask-rcnn-efs, which charts/cluster makes.",
        ),
        Key(
            name="source_cidr",
            default="",
            rule={"type": ["string", "array"], "items": {"type": "string"}},
            about="Required: from where a browser may come, such as 203.0.113.7/32; several as a "
            "list, {A,B} with --set. It has no default, and nothing wider than /8 is taken unless "
            "allow_open_cidr is true.",
        ),
        Key(
            name="allow_open_cidr",
            default=False,
            rule=FLAG,
            about="Whether source_cidr may be wider than /8, 0.0.0.0/0 included.",
        ),
        Key(
            name="log_dir",
            default="",
            rule=text(),
            about="Required: the job's log folder below the root of shared_fs, such as "
            "maskrcnn-2026-11-29-01-02-03, or a folder of several such folders.",
        ),
        Key(
            name="data_fs",
            default="",
            rule=one_of("", *FILE_SYSTEMS),
            about="The file system of the data set, for pictures with their true objects; empty: "
            "shared_fs. A second one is mounted too.",
        ),
        Key(
            name="data_dir",
            default="",
            rule=text(),
            about="The data set's folder below the root of data_fs; empty: where "
            "`python -m training.data stage` puts it.",
        ),
    ),
)

_SELF = Group(
    name="",
    about="",
    keys=(
        Key(
            name="image",
            default="",
            rule=text(f"{shared.IMAGE}|^$"),
            about="The notebook variant of our trainer's image, by digest or tag: `python -m "
            "training.images push --algorithm horovod --variant notebook` prints its name. Empty: "
            "the one that was pushed when `python -m training.kubernetes install` ran last.",
        ),
        shared.PULL_POLICY,
        Key(
            name="htpasswd",
            default="",
            # --set reads {SHA} as a list: the template says so, and prints nothing of it.
            rule={"type": ["string", "array"]},
            about="TensorBoard's password: its bcrypt hash, as `htpasswd -nB -C 10 tensorboard` "
            "prints it behind the colon. This or htpasswd_secret is required.",
        ),
        Key(
            name="htpasswd_secret",
            default="",
            rule=_NAME_OR_EMPTY,
            about="A Secret instead, whose key `htpasswd` holds lines of `user:hash`.",
        ),
        Key(
            name="allowLegacyHash",
            default=False,
            rule=FLAG,
            about="Whether hashes of MD5 or SHA-1 and plain texts are taken, which are guessed "
            "quickly.",
        ),
        Key(
            name="hosts",
            default=[],
            rule={
                "type": "array",
                "maxItems": 50,
                "items": text(shared.HOST, most=shared.LONGEST_HOST),
            },
            about="The names that a browser may ask for, if you have names of your own. Empty: "
            "those that AWS gives to network load balancers. `localhost`, for `kubectl "
            "port-forward`, is always among them.",
        ),
    ),
    gone={
        "nginx": "the password is htpasswd, its user tensorboard.user, the certificate tls.secret; "
        "the ports are 443 and 6443",
    },
    judged=HASH_IN_A_KEY,
)

_FIXED = {
    "port": "Jupyter is on 443, TensorBoard on 6443",
    "target_port": "only the proxy knows it",
    "name": "the containers are jupyter, tensorboard and proxy; global.name names the objects",
}


def _resources(cpu: str, memory: str) -> tuple[Key, ...]:
    return (
        Key(name="cpu", default=cpu, rule=shared.CPU, about="Cores."),
        Key(name="memory", default=memory, rule=shared.MEMORY, about="Such as 4Gi."),
    )


VALUES = (
    _GLOBAL,
    _SELF,
    Group(
        name="jupyter",
        about="Jupyter, on 443.",
        keys=(
            Key(
                name="token",
                default="",
                rule=text(),
                about="The token that it asks for, 32 characters or more. Neither this nor "
                "token_secret: the chart makes one, and keeps it over upgrades.",
            ),
            Key(
                name="token_secret",
                default="",
                rule=_NAME_OR_EMPTY,
                about="A Secret instead, whose key `token` holds it.",
            ),
            Key(
                name="gpu_instance_type",
                default="",
                rule=one_of("", *types_of("horovod")),
                about="Empty: a system node, without a GPU. With a type, such as g5.xlarge: a node "
                "of it with one GPU, where the cluster has such nodes.",
            ),
            *_resources("2", "6Gi"),
        ),
        gone=_FIXED,
    ),
    Group(
        name="tensorboard",
        about="TensorBoard, on 6443.",
        keys=(
            Key(
                name="user",
                default="tensorboard",
                rule=text(r"^[A-Za-z0-9._@-]{1,64}$"),
                about="Who logs in, with the password of htpasswd.",
            ),
            *_resources("1", "4Gi"),
        ),
        gone=_FIXED,
    ),
    Group(
        name="tls",
        about="The certificate.",
        keys=(
            Key(
                name="secret",
                default="",
                rule=_NAME_OR_EMPTY,
                about="A Secret of type kubernetes.io/tls. Empty: the chart makes a certificate "
                "for a year, signed by itself, and keeps it over upgrades until a month before its "
                "end.",
            ),
        ),
    ),
    Group(
        name="load_balancer",
        about="How it is reached.",
        keys=(
            Key(
                name="scheme",
                default="internet-facing",
                rule=one_of("internet-facing", "internal"),
                about="internet-facing, or internal: reached from the VPC and what is joined to "
                "it.",
            ),
        ),
    ),
)
