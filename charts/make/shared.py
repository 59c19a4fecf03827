"""Keys that every chart has."""

from __future__ import annotations

from training.kubernetes.images import ADDRESS

from .key import FLAG, Group, Key, Schema, one_of, optional, text, texts, whole

NAMES = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
VARIABLES = r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"
HYPERPARAMETERS = r"^[A-Za-z_][A-Za-z0-9_.:-]{0,255}$"
FOLDER = r"^(/[A-Za-z0-9._+@=-]+)+$"
"""Plain names only, as node/conductor/request.py has it for platform ec2."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
HOST = rf"^{_LABEL}([.]{_LABEL})*$"
LONGEST_HOST = 253
"""https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4, as it is written with dots."""
IMAGE = f"^{ADDRESS.pattern}$"
"""With a tag or a digest. That it is not the tag latest, templates see to, with what to do
(charts/library/templates/_names.tpl)."""
CPU: Schema = {
    "type": ["string", "number"],
    "pattern": r"^([1-9][0-9]{0,3}([.][0-9]{1,3})?|0[.]([1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9])"
    r"|[1-9][0-9]{0,5}m)$",
    "minimum": 0.001,
    "maximum": 9999,
}
"""Cores, or thousandths of one: 2, 0.5, 500m."""
MEMORY: Schema = text(r"^[1-9][0-9]{0,9}([.][0-9]{1,3})?(Ki|Mi|Gi|Ti)$")

# What is always the same for everything that runs.
NAME = Key(
    name="name",
    default="",
    rule=text(r"^[a-zA-Z0-9-]{0,63}$"),
    about="The job's name; empty: the release's.",
)
TEXTS = Key(
    name="hyperparameters",
    default={},
    rule=texts(HYPERPARAMETERS, most=1000),
    about="More hyperparameters, name to text; each wins over its key in `maskrcnn`.",
)
ENVIRONMENT = Key(
    name="environment",
    default={},
    rule=texts(VARIABLES, most=200),
    about="Variables of what runs, name to text.",
)
MAX_RUN = Key(
    name="max_run_s",
    default=400_000,
    rule=whole(1, 366 * 24 * 3600),
    about="Seconds after which it stops, all tries together.",
)
RETRIES = Key(
    name="retries",
    default=0,
    rule=whole(0, 30),
    about="How often to start again after a failure, from the last checkpoint.",
    old="backoff_limit (2000, since the launcher crashed until its workers were there)",
)
TTL = Key(
    name="ttl_s",
    default=None,
    rule=optional(whole(0)),
    about="Seconds that a finished job's pods stay; null: until `helm uninstall`.",
)
TAGS = Key(
    name="tags",
    default={},
    rule=texts(r"^.{1,128}$", most=50),
    about="Noted on the job and its pods.",
)
FINGERPRINT = Key(
    name="fingerprint",
    default="",
    rule=text(r"^([0-9a-f]{64})?$"),
    about="The launcher's own: tells a request that came twice from another one.",
)
SERVICE_ACCOUNT = Key(
    name="serviceAccount",
    default="mask-rcnn",
    rule=text(NAMES),
    about="Whose role the pods have (EKS Pod Identity); charts/cluster makes it.",
)
PULL_POLICY = Key(
    name="image_pull_policy",
    default="IfNotPresent",
    rule=one_of("IfNotPresent", "Always", "Never"),
    about="When nodes fetch it.",
    old="the same (Always)",
)
NAMESPACE = Key(
    name="namespace",
    default="kubeflow",
    rule=text(NAMES),
    about="Where everything goes, whatever -n says.",
    old="the same",
)
POLICY = Group(
    name="network_policy",
    about="Who may talk to the pods, and to whom they may.",
    keys=(
        Key(
            name="enabled",
            default=True,
            rule=FLAG,
            about="Pods of a release reach each other and DNS only.",
        ),
        Key(
            name="https",
            default=True,
            rule=FLAG,
            about="And port 443 of any address, as S3 has, and EKS Pod Identity's agent.",
        ),
    ),
)
