"""How a training job runs: values that say nothing of what is trained."""

from __future__ import annotations

from dataclasses import replace

from . import shared
from .key import FLAG, Group, Key, one_of, optional, text, whole

_CLOCK = "its chart's name and the time, in UTC: maskrcnn-2026-11-29-01-30-00"


def job(*, elastic: bool) -> Group:
    ways = ("mpi", "elastic") if elastic else ("mpi",)
    return Group(
        name="job",
        about="How the job runs. The launcher (platform eks) says all of it.",
        keys=(
            shared.NAME,
            shared.TEXTS,
            Key(
                name="hyperparameters_complete",
                default=False,
                rule=FLAG,
                about="`hyperparameters` has all of them: those of `maskrcnn` are left out.",
            ),
            shared.ENVIRONMENT,
            Key(
                name="log",
                default="",
                rule=text(f"{shared.FOLDER}|^$", most=512),
                about=f"Folder below shared_fs; empty: {_CLOCK}. A job goes on from the "
                "checkpoints there.",
            ),
            Key(
                name="data",
                default="",
                rule=text(f"{shared.FOLDER}|^$", most=512),
                about="Folder of the data set as pods see it; empty: from data_fs and data_dir.",
            ),
            Key(
                name="s3",
                default={"source": "", "image": ""},
                rule={
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["source", "image"],
                    "properties": {
                        "source": text(r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/\S*)?)?$"),
                        "image": text(f"{shared.IMAGE}|^$"),
                    },
                },
                about="source: s3://bucket/key, which each worker first copies to its node's disk; "
                "image: the horovod image, which can, where the job's is another.",
            ),
            Key(
                name="distribution",
                default="mpi",
                rule=one_of(*ways),
                about="What starts and joins the processes"
                + ("; elastic: workers may be lost and come." if elastic else "."),
            ),
            Key(
                name="processes_per_node",
                default=None,
                rule=optional(whole(1, 64)),
                about="Training processes of each node; null: one for each GPU.",
            ),
            *(_LEAST_NODES if elastic else ()),
            replace(
                shared.MAX_RUN,
                about="Seconds after which it saves and stops, all tries together; workers_wait_s "
                "is added.",
            ),
            Key(
                name="workers_wait_s",
                default=1800,
                rule=whole(60, 86_400),
                about="Seconds that the launcher waits for its workers, and they for it.",
            ),
            Key(
                name="grace_s",
                default=120,
                rule=whole(30, 3600),
                about="Seconds between SIGTERM and SIGKILL: time to save.",
            ),
            shared.RETRIES,
            shared.TTL,
            shared.TAGS,
            shared.FINGERPRINT,
        ),
    )


_LEAST_NODES = (
    Key(
        name="least_nodes",
        default=None,
        rule=optional(whole(1, 1000)),
        about="elastic: with fewer nodes the job waits for more; null: 1.",
    ),
)

RESOURCES = Group(
    name="resources",
    about="What a worker asks for, and may have; null: by instance type, see charts/library.",
    keys=(
        Key(name="cpu", default=None, rule=optional(shared.CPU), about="Cores."),
        Key(name="memory", default=None, rule=optional(shared.MEMORY), about="Such as 600Gi."),
        Key(
            name="shm",
            default=None,
            rule=optional(shared.MEMORY),
            about="What /dev/shm may fill of it; a quarter.",
            old="the node's own /dev/shm",
        ),
        Key(
            name="efa",
            default=None,
            rule=optional(whole(0, 64)),
            about="EFA interfaces; 0: none, where the nodes have no EFA.",
        ),
        Key(
            name="hugepages",
            default=None,
            rule=optional(text(r"^[1-9][0-9]*[MG]i$")),
            about="Of 2 MiB; EFA wants 5120Mi.",
        ),
    ),
)
LAUNCHER = Group(
    name="launcher",
    about="What the launcher may have; it runs on a system node.",
    keys=(
        Key(name="cpu", default="1", rule=shared.CPU, about="Cores."),
        Key(name="memory", default="2Gi", rule=shared.MEMORY, about="It also writes the report."),
    ),
)
GANG = Group(
    name="gang",
    about="Start all workers of a job or none: needs that scheduler in the cluster.",
    keys=(
        Key(
            name="scheduler",
            default="none",
            rule=one_of("none", "volcano", "scheduler-plugins"),
            about="Whose PodGroup to make.",
        ),
        Key(
            name="scheduler_name",
            default=None,
            rule=optional(text(shared.NAMES)),
            about="As it is installed; null: volcano, or scheduler-plugins-scheduler.",
        ),
        Key(
            name="queue",
            default="default",
            rule=text(shared.NAMES),
            about="volcano's queue.",
        ),
        Key(
            name="timeout_s",
            default=None,
            rule=optional(whole(1)),
            about="scheduler-plugins: seconds to wait for all of them; null: its own.",
        ),
    ),
)
