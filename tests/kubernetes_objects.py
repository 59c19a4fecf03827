"""The objects that the tests' API server keeps: kinds, schemas, selectors, and how they change."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jsonschema
import kubernetes_validate

from tests.kubernetes_selectors import matches

Object = dict[str, Any]
Place = tuple[str, str]
"""Namespace (empty for objects of the whole cluster) and name."""


@dataclass(frozen=True)
class Kind:
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """Of a custom resource; Kubernetes' own are known to `kubernetes_validate`."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_CORE = "configmaps:ConfigMap events:Event persistentvolumeclaims:PersistentVolumeClaim pods:Pod"
_CORE += " resourcequotas:ResourceQuota secrets:Secret serviceaccounts:ServiceAccount"
_CORE += " services:Service"
_OF_CLUSTER = "namespaces:Namespace nodes:Node persistentvolumes:PersistentVolume"


def _kinds(group: str, version: str, names: str, *, namespaced: bool = True) -> Iterable[Kind]:
    for pair in names.split():
        plural, kind = pair.split(":")
        yield Kind(group, version, plural, kind, namespaced)


BUILT_IN = (
    *_kinds("", "v1", _CORE),
    *_kinds("", "v1", _OF_CLUSTER, namespaced=False),
    *_kinds("apps", "v1", "daemonsets:DaemonSet deployments:Deployment statefulsets:StatefulSet"),
    *_kinds("apps", "v1", "replicasets:ReplicaSet"),
    *_kinds("batch", "v1", "jobs:Job"),
    *_kinds("policy", "v1", "poddisruptionbudgets:PodDisruptionBudget"),
    *_kinds("coordination.k8s.io", "v1", "leases:Lease"),
    *_kinds("networking.k8s.io", "v1", "networkpolicies:NetworkPolicy"),
    *_kinds("rbac.authorization.k8s.io", "v1", "roles:Role rolebindings:RoleBinding"),
    *_kinds(
        "rbac.authorization.k8s.io",
        "v1",
        "clusterroles:ClusterRole clusterrolebindings:ClusterRoleBinding",
        namespaced=False,
    ),
    *_kinds("scheduling.k8s.io", "v1", "priorityclasses:PriorityClass", namespaced=False),
    *_kinds(
        "storage.k8s.io", "v1", "storageclasses:StorageClass csidrivers:CSIDriver", namespaced=False
    ),
    *_kinds(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions:CustomResourceDefinition",
        namespaced=False,
    ),
)


class Refused(Exception):
    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message


@dataclass
class Event:
    type: str
    object: Object
    kind: Kind


@dataclass
class Store:
    """Everything that the server knows; each change wakes those who watch."""

    version: str
    """Of Kubernetes: whose schemas objects must fit, such as 1.35."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    kinds: list[Kind] = field(default_factory=lambda: list(BUILT_IN))
    objects: dict[Kind, dict[Place, Object]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    applied: dict[tuple[Kind, Place, str], Object] = field(default_factory=dict)
    on_change: Callable[[Kind, Object], None] = lambda _kind, _object: None
    _revision: int = 1

    @property
    def revision(self) -> str:
        return str(self._revision)

    def kind(self, group: str, version: str, plural: str) -> Kind:
        for each in self.kinds:
            if (each.group, each.version, each.plural) == (group, version, plural):
                return each
        raise Refused(404, "NotFound", "the server could not find the requested resource")

    def of(self, kind: Kind) -> dict[Place, Object]:
        return self.objects.setdefault(kind, {})

    def get(self, kind: Kind, place: Place) -> Object:
        found = self.of(kind).get(place)
        if found is None:
            group = f".{kind.group}" if kind.group else ""
            raise Refused(404, "NotFound", f'{kind.plural}{group} "{place[1]}" not found')
        return found

    def list(self, kind: Kind, namespace: str, selector: str, fields: str) -> list[Object]:
        return [
            found
            for (within, _), found in sorted(self.of(kind).items())
            if namespace in ("", within)
            and matches(selector, found["metadata"].get("labels") or {})
            and _has_fields(found, fields)
        ]

    def create(self, kind: Kind, namespace: str, given: Object, *, dry: bool = False) -> Object:
        made = copy.deepcopy(given)
        meta = made.setdefault("metadata", {})
        if kind.namespaced:
            meta["namespace"] = namespace
            self.get(self.kind("", "v1", "namespaces"), ("", namespace))
        if "name" not in meta and meta.get("generateName"):
            meta["name"] = f"{meta['generateName']}{self._revision:05d}"
        place = (meta.get("namespace", "") if kind.namespaced else "", meta["name"])
        if place in self.of(kind):
            raise Refused(409, "AlreadyExists", f'{kind.plural} "{meta["name"]}" already exists')
        meta.setdefault("uid", f"00000000-0000-0000-0000-{self._revision:012d}")
        meta.setdefault("creationTimestamp", _now())
        meta.setdefault("generation", 1)
        return self._keep(kind, place, made, "ADDED", dry)

    def replace(self, kind: Kind, place: Place, new: Object, *, dry: bool = False) -> Object:
        old = self.get(kind, place)
        kept = {key: old["metadata"][key] for key in ("uid", "creationTimestamp")}
        is_other = any(new.get(part) != old.get(part) for part in ("spec", "data", "rules"))
        generation = old["metadata"]["generation"] + is_other
        meta = {**new.get("metadata", {}), **kept, "generation": generation}
        return self._keep(kind, place, {**new, "metadata": meta}, "MODIFIED", dry)

    def merge(self, kind: Kind, place: Place, change: Object, *, dry: bool = False) -> Object:
        return self.replace(kind, place, _merged(self.get(kind, place), change), dry=dry)

    def apply(
        self, kind: Kind, place: Place, given: Object, manager: str, *, dry: bool = False
    ) -> Object:
        """Apply on the server's side: what the same manager gave before and not now goes."""
        before = self.applied.get((kind, place, manager))
        if place not in self.of(kind):
            made = self.create(kind, place[0], given, dry=dry)
        else:
            old = _without(self.get(kind, place), before or {}, given)
            made = self.replace(kind, place, _merged(old, given), dry=dry)
        if not dry:
            self.applied[(kind, place, manager)] = copy.deepcopy(given)
        return made

    def delete(self, kind: Kind, place: Place) -> Object:
        gone = self.get(kind, place)
        with self.changed:
            del self.of(kind)[place]
            self.applied = {
                key: one for key, one in self.applied.items() if key[:2] != (kind, place)
            }
            self._tell(kind, gone, "DELETED")
        return gone

    def _keep(self, kind: Kind, place: Place, made: Object, what: str, dry: bool) -> Object:
        made = {"apiVersion": kind.api_version, "kind": kind.kind, **made}
        self._check(kind, made)
        if dry:
            return made
        with self.changed:
            self.of(kind)[place] = made
            if kind.kind == "CustomResourceDefinition":
                self._define(made)
            self._tell(kind, made, what)
        self.on_change(kind, made)
        return self.of(kind)[place]

    def _tell(self, kind: Kind, changed: Object, what: str) -> None:
        self._revision += 1
        changed["metadata"]["resourceVersion"] = self.revision
        self.events.append(Event(what, copy.deepcopy(changed), kind))
        self.changed.notify_all()

    def _define(self, made: Object) -> None:
        spec = made["spec"]
        for version in spec["versions"]:
            self.kinds.append(
                Kind(
                    spec["group"],
                    version["name"],
                    spec["names"]["plural"],
                    spec["names"]["kind"],
                    spec["scope"] == "Namespaced",
                    version["schema"]["openAPIV3Schema"],
                )
            )

    def _check(self, kind: Kind, made: Object) -> None:
        """Refuse what the schemas of Kubernetes, or of the custom resource, do not allow."""
        if kind.kind in ("CustomResourceDefinition", "Event") or made.get("type") == HELM_RECORD:
            return
        try:
            if kind.schema is not None:
                jsonschema.validate(made, kind.schema)
            else:
                # What the server itself adds differs each time, and is right.
                meta = {k: v for k, v in made["metadata"].items() if k not in _OF_SERVER}
                plain = {k: v for k, v in made.items() if k != "status"} | {"metadata": meta}
                _validate(json.dumps(plain, sort_keys=True), self.version)
        except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as error:
            path = ".".join(str(part) for part in error.path)
            name = made["metadata"].get("name")
            message = f'{kind.kind} "{name}" is invalid: {path}: {error.message[:400]}'
            raise Refused(422, "Invalid", message) from error


HELM_RECORD = "helm.sh/release.v1"
_OF_SERVER = ("creationTimestamp", "generation", "resourceVersion", "uid")


@cache
def _validate(text: str, version: str) -> None:
    """Validate an object once, however many tests make it: this takes most of a request's time."""
    kubernetes_validate.validate(json.loads(text), version, strict=True)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _merged(old: Any, change: Any) -> Any:
    """Return a JSON merge patch's result (RFC 7386)."""
    if not isinstance(change, dict) or not isinstance(old, dict):
        return copy.deepcopy(change)
    result = dict(old)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(old.get(key, {}), value)
    return result


def _without(old: Any, before: Any, now: Any) -> Any:
    if not (isinstance(old, dict) and isinstance(before, dict) and isinstance(now, dict)):
        return old
    return {
        key: _without(value, before.get(key, {}), now.get(key, {}))
        for key, value in old.items()
        if key not in before or key in now or key in ("metadata",)
    }


def _has_fields(found: Object, fields: str) -> bool:
    for term in filter(None, fields.split(",")):
        path, _, wanted = term.partition("=")
        value: Any = found
        for part in path.split("."):
            value = (value or {}).get(part)
        if value != wanted.lstrip("="):
            return False
    return True
