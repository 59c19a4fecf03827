"""Events of jobs on nodes of our own, as the head puts them and EventBridge hands them on."""

from __future__ import annotations

import json
from typing import Any

from node.conductor.job_event import JobEvent, event_of
from node.conductor.state import State
from node.config import Efs, Events, NodeConfig
from stacks.constructs.own_job_events import DETAIL_TYPE, SOURCE

JOB = "mask-rcnn-efs-1"

HEAD = NodeConfig(
    cluster="distributed-mask-rcnn",
    role="head",
    region="us-west-2",
    stack="ClusterStack",
    resource="HeadGroup",
    head_group="distributed-mask-rcnn-head",
    worker_group="distributed-mask-rcnn-workers",
    efs=Efs(id="fs-1", mount="/efs", dns="fs-1.efs.us-west-2.amazonaws.com"),
    fsx=None,
    key_secret_arn="arn:aws:secretsmanager:us-west-2:123456789012:secret:keys-AbCdEf",
    log_group="ClusterStack-Log",
    runs_in="image",
    elastic_ip_allocation="",
    setup_minutes=30,
    events=Events(source=SOURCE, detail_type=DETAIL_TYPE),
)


def written(state: str, reason: str | None = None) -> State:
    """Return a state as the conductor has written it."""
    return State(
        name=JOB,
        algorithm="horovod",
        run="/efs/output/log-1",
        created="2026-07-14T12:00:00Z",
        updated="2026-07-14T12:26:13Z",
        state=state,
        reason=reason,
    )


def own_event_of(state: str, reason: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return the event of a job in a state; other fields on top."""
    event = event_of(HEAD, written(state, reason), ())
    assert isinstance(event, JobEvent)
    return {
        "version": "0",
        "id": "844e2571-85d4-695f-b930-0153b71dcb42",
        "detail-type": DETAIL_TYPE,
        "source": SOURCE,
        "account": "123456789012",
        "time": event.time,
        "region": HEAD.region,
        "resources": [],
        "detail": json.loads(json.dumps(event.detail)),
        **changes,
    }
