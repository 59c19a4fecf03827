"""Keys that every chart has."""

from __future__ import annotations

from .key import FLAG, Group, Key, optional, text, texts, whole

NAMES = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
VARIABLES = r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"
HYPERPARAMETERS = r"^[A-Za-z_][A-Za-z0-9_.:-]{0,255}$"
FOLDER = r"^(/[A-Za-z0-9._+@=-]+)+$"
"""Plain names only, as node/conductor/request.py has it for platform ec2."""
IMAGE = r"^[a-z0-9][A-Za-z0-9._/:-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$"
"""With a tag or a digest, and so never whatever is newest."""
QUANTITY = r"^[1-9][0-9]*([.][0-9]+)?(m|Ki|Mi|Gi|Ti)?$"

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
