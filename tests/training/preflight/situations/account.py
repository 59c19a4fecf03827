"""An account in local AWS, with what that lacks: quotas, rights, and nodes that have an agent."""

from __future__ import annotations

import copy
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from training import job_options
from training.aws import client as clients
from training.errors import TrainingError
from training.preflight import job
from training.prices.cache import price_cache, write_cached
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING, PriceList
from training.shared_options import command_line

REGION = "us-west-2"
"""Of jobs; no other test of the session makes anything there."""

ACCOUNT = "123456789012"

TYPES = tuple(
    f"ml.{name}"
    for name in ("p4d.24xlarge", "p3dn.24xlarge", "p3.16xlarge", "g5.48xlarge", "m5.large")
)

PRICED = ("p4d.24xlarge", "p3dn.24xlarge", "g5.48xlarge", "m5.large", "m6i.large", "m6i.xlarge")

QUOTAS: Mapping[str, float] = {
    "Longest run time for a training job": 432_000,
    "ml.m5.2xlarge for notebook instance usage": 1,
    "Number of instances across all training jobs": 100,
    "Number of instances across all spot training jobs": 100,
    **{
        f"{each} for {kind} usage": 100
        for each in TYPES
        for kind in ("training job", "spot training job", "training warm pool")
    },
}
"""Of SageMaker by name, those of others by code; one that is not here is 10,000."""

Answer = Callable[[dict[str, Any], Callable[[], dict[str, Any]]], dict[str, Any]]
"""From what is asked, and what asks local AWS for its answer, to the answer."""

PATIENCE_S = 600
"""For each check, where commands do not wait for a service that is there."""

READING = ("Describe", "Get", "List", "Head", "Simulate", "BatchGet")


@dataclass(frozen=True)
class Told:
    """What a command left: its exit code, and the findings that it printed."""

    exit_code: int
    findings: list[dict[str, str]]
    stderr: str


@dataclass
class Account:
    """Local AWS through the clients that the commands make, which are made once.

    Attributes:
        quotas: Of a service, by code or name; others have no limit that matters.
        denied: IAM actions that nobody has.
        answers: Service and operation to what is answered instead of local AWS.
        asked: Service and operation of each request since it was last emptied.
        undo: Puts right what a test broke.
    """

    aws: LocalAws
    patch: pytest.MonkeyPatch
    """Of the environment of the commands."""
    prices: Path
    """The folder of the prices that the user has fetched."""
    region: str = REGION
    quotas: dict[str, float] = field(default_factory=lambda: dict(QUOTAS))
    denied: set[str] = field(default_factory=set)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    undo: ExitStack = field(default_factory=ExitStack)
    _sessions: dict[Any, Any] = field(default_factory=dict)
    _made: dict[Any, Any] = field(default_factory=dict)
    _changes: Counter[str] = field(default_factory=Counter)
    """By service, how often tests have changed something of it: commands change nothing."""
    _answers: dict[Any, Any] = field(default_factory=dict)

    def boto(self, service: str, region: str | None = None) -> Any:
        """Return a client for tests; what it asks is not noted."""
        region = region or self.region
        key = ("test", service, region)
        if key not in self._made:
            made = self.aws.session().client(
                service,  # type: ignore[call-overload]
                endpoint_url=self.aws.endpoint,
                region_name=region,
            )
            really = made._make_api_call

            def call(operation: str, request: dict[str, Any]) -> Any:
                if not operation.startswith(READING):
                    # Network interfaces and instances come and go with what has them.
                    self._changes.update({service, "ec2"})
                return really(operation, request)

            made._make_api_call = call
            self._made[key] = made
        return self._made[key]

    # What a test breaks.

    def put(self, values: dict[Any, Any], key: Any, value: Any) -> None:
        """Set a value of one of the mappings until the test is over."""
        before = dict(values)
        values[key] = value

        def restore() -> None:
            values.clear()
            values.update(before)

        self.undo.callback(restore)

    def quota(self, name: str, value: float) -> None:
        self.put(self.quotas, name, value)

    def deny(self, *actions: str) -> None:
        self.denied |= set(actions)
        self.undo.callback(self.denied.difference_update, actions)

    def fetch_prices(self, *, days_ago: int) -> None:
        """Let the user have fetched prices some days ago."""
        day = datetime.now(UTC).date() - timedelta(days=days_ago)
        for service, prefix in ((SAGEMAKER_TRAINING, "ml."), (EC2_ON_DEMAND, "")):
            price_list = PriceList(
                service=service,
                region=REGION,
                as_of=day,
                source="the tests",
                complete=False,
                usd_per_hour={f"{prefix}{name}": 10.0 for name in PRICED},
            )
            write_cached(self.prices, price_list)

    def refuses(self, service: str, operation: str, code: str) -> None:
        """Let AWS refuse a request, with an error of that code."""

        def refused(request: dict[str, Any], ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
            raise ClientError({"Error": {"Code": code, "Message": code}}, operation)

        self.put(self.answers, (service, operation), refused)

    def answers_with(self, service: str, operation: str, answer: dict[str, Any]) -> None:
        """Let AWS answer a request with something, whatever it asks."""
        self.put(self.answers, (service, operation), lambda _request, _ask: answer)

    def says(self, service: str, operation: str, change: Callable[[dict[str, Any]], Any]) -> None:
        """Let AWS say something else of what there is: a state that local AWS never reaches."""

        def changed(request: dict[str, Any], ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
            answer = ask()
            change(answer)
            return answer

        self.put(self.answers, (service, operation), changed)

    def repair(self) -> None:
        self.undo.close()
        self.undo = ExitStack()

    # The clients of the commands.

    def new_session(self, *, region: str | None = None, profile: str | None = None) -> Any:
        """Take the place of `training.aws.client.new_session`, which it asks once."""
        key = (region, profile)
        if key not in self._sessions:
            session = _new_session(region=region, profile=profile)
            make = session.client

            def kept(service: str, *, region_name: str | None = None, config: Any = None) -> Any:
                return self._client(make, service, region_name or session.region_name, config)

            session.client = kept  # type: ignore[method-assign, assignment]
            self._sessions[key] = session
        return self._sessions[key]

    def _client(self, make: Any, service: str, region: str, config: Any) -> Any:
        key = (service, region)
        if key not in self._made:
            made = make(service, region_name=region, config=config)
            really = made._make_api_call
            made._make_api_call = lambda operation, request: self._call(
                service, operation, request, lambda: really(operation, request)
            )
            self._made[key] = made
        return self._made[key]

    def _call(
        self,
        service: str,
        operation: str,
        request: dict[str, Any],
        ask: Callable[[], dict[str, Any]],
    ) -> dict[str, Any]:
        self.asked.append((service, operation))
        lacking = _LACKING.get((service, operation))
        really = partial(self._remembered, service, operation, request, ask)
        if lacking is not None:
            really = partial(lacking, self, request)
        answer = self.answers.get((service, operation))
        return really() if answer is None else answer(request, really)

    def _remembered(
        self,
        service: str,
        operation: str,
        request: dict[str, Any],
        ask: Callable[[], dict[str, Any]],
    ) -> dict[str, Any]:
        """Answer as before where no test has changed anything of the service since."""
        if operation == "GetObject":  # A stream, which is read once.
            return ask()
        changes = self._changes[service]
        key = (service, operation, json.dumps(request, sort_keys=True), changes)
        if key not in self._answers:
            try:
                self._answers[key] = ask()
            except ClientError as refused:
                self._answers[key] = refused
        answer = self._answers[key]
        if isinstance(answer, ClientError):
            raise answer
        return copy.deepcopy(answer)

    # The commands.

    def tell(self, app: typer.Typer, *arguments: str) -> Told:
        """Run a command in this process, with JSON for its result."""
        self.asked.clear()
        out, err = io.StringIO(), io.StringIO()
        code = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                command_line(app)([*arguments, "--format", "json"], standalone_mode=False)
            except TrainingError as error:
                code = int(error.exit_code)
                err.write(str(error))
        printed = out.getvalue()
        return Told(code, json.loads(printed)["findings"] if printed else [], err.getvalue())

    @property
    def writes(self) -> set[tuple[str, str]]:
        """What a command asked that does more than read."""
        return {each for each in self.asked if not each[1].startswith(READING)}


_new_session = clients.new_session


@contextmanager
def account_in(aws: LocalAws, folder: Path, region: str = REGION) -> Iterator[Account]:
    """Let commands of this process use local AWS as a laptop does, on which nothing is mounted."""
    with pytest.MonkeyPatch.context() as patch:
        account = Account(aws, patch, price_cache({"XDG_CACHE_HOME": str(folder)}), region)
        account.fetch_prices(days_ago=1)
        for name, value in {
            **aws.env,
            **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), region),
            # A .cdk.json of whoever runs the tests is no part of them.
            **dict.fromkeys(("HOME", "XDG_CACHE_HOME"), str(folder)),
        }.items():
            patch.setenv(name, value)
        patch.delenv("MASK_RCNN_MOUNTS", raising=False)
        patch.delenv("AWS_PROFILE", raising=False)
        patch.setattr(clients, "new_session", account.new_session)
        # One moment for all plans: helm's answers for the same job are the same then.
        now = datetime.now(UTC)
        patch.setattr(job_options, "datetime", SimpleNamespace(now=lambda _: now))
        # A loaded machine is no fault of the account.
        patch.setattr(job, "TIME_LIMIT_S", PATIENCE_S)
        yield account
        account.repair()


# What local AWS lacks.


def _list_quotas(account: Account, request: dict[str, Any]) -> dict[str, Any]:
    return {
        "Quotas": [
            {"QuotaName": name, "Value": value, "QuotaCode": "L-00000000"}
            for name, value in account.quotas.items()
            if not name.startswith("L-")
        ]
    }


def _get_quota(account: Account, request: dict[str, Any]) -> dict[str, Any]:
    value = account.quotas.get(request["QuotaCode"], 10_000.0)
    return {"Quota": {"QuotaCode": request["QuotaCode"], "Value": value}}


def _nodes(account: Account, request: dict[str, Any]) -> dict[str, Any]:
    """Without hosts no node of local AWS has an agent: let each be online."""
    (wanted,) = request["Filters"]
    return {
        "InstanceInformationList": [
            {"InstanceId": each, "PingStatus": "Online"} for each in wanted["Values"]
        ]
    }


def _simulate(account: Account, request: dict[str, Any]) -> dict[str, Any]:
    return {
        "EvaluationResults": [
            {
                "EvalActionName": name,
                "EvalDecision": "implicitDeny" if name in account.denied else "allowed",
            }
            for name in request["ActionNames"]
        ]
    }


_LACKING: Mapping[tuple[str, str], Callable[[Account, dict[str, Any]], dict[str, Any]]] = {
    ("service-quotas", "ListServiceQuotas"): _list_quotas,
    ("service-quotas", "GetServiceQuota"): _get_quota,
    ("iam", "SimulatePrincipalPolicy"): _simulate,
    ("ssm", "DescribeInstanceInformation"): _nodes,
}
