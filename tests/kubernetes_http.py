"""The HTTP side of the tests' API server: addresses, discovery, watching and logs."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import yaml

from tests.kubernetes_objects import Event, Kind, Object, Place, Refused, Store
from tests.kubernetes_protobuf import MAGIC, read_secret

if TYPE_CHECKING:
    from tests.kubernetes_server import KubernetesServer

_LIMIT_S = 60


class Handler(BaseHTTPRequestHandler):
    cluster: KubernetesServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer("get")

    def do_POST(self) -> None:
        self._answer("create")

    def do_PUT(self) -> None:
        self._answer("update")

    def do_PATCH(self) -> None:
        self._answer("patch")

    def do_DELETE(self) -> None:
        self._answer("delete")

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _answer(self, verb: str) -> None:
        url = urlsplit(self.path)
        self.cluster.requests.append((self.command, self.path))
        self.query = {key: values[0] for key, values in parse_qs(url.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        try:
            self.given = self._read(body)
            found = self._route(verb, [part for part in url.path.split("/") if part])
            if found is not None:
                self._send(201 if verb == "create" else 200, found)
        except Refused as error:
            status = {"apiVersion": "v1", "kind": "Status", "status": "Failure"}
            said = {"message": error.message, "reason": error.reason, "code": error.code}
            self._send(error.code, {**status, **said, "metadata": {}})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _read(self, body: bytes) -> Object:
        if not body:
            return {}
        if body.startswith(MAGIC):
            return read_secret(body)
        is_json = body.startswith(b"{")
        found: Object = json.loads(body) if is_json else yaml.load(body, yaml.CSafeLoader)
        return found

    def _send(self, code: int, body: Object) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _route(  # noqa: PLR0911  one for each address
        self, verb: str, path: list[str]
    ) -> Object | None:
        store = self.cluster.store
        match path:
            case ["version"]:
                major, minor = store.version.split(".")
                return {"major": major, "minor": minor, "gitVersion": f"v{store.version}.0"}
            case ["api"]:
                return {"kind": "APIVersions", "versions": ["v1"]}
            case ["apis"]:
                groups = {(each.group, each.version) for each in store.kinds if each.group}
                return {"kind": "APIGroupList", "groups": [_group(*one) for one in sorted(groups)]}
            case ["api", "v1"]:
                return _resources(store, "", "v1")
            case ["apis", group, version]:
                return _resources(store, group, version)
            case ["openapi", "v3"]:
                apis = {each.api_version: each.group for each in store.kinds}
                paths = {
                    f"apis/{one}" if group else f"api/{one}": one for one, group in apis.items()
                }
                return {
                    "paths": {
                        key: {"serverRelativeURL": f"/openapi/v3/{key}?hash=0"} for key in paths
                    }
                }
            case ["openapi", "v3", *rest]:
                return _openapi(store, rest)
            case ["api", "v1", *rest]:
                return self._objects(verb, "", "v1", rest)
            case ["apis", group, version, *rest]:
                return self._objects(verb, group, version, rest)
        raise Refused(404, "NotFound", "the server could not find the requested resource")

    def _objects(self, verb: str, group: str, version: str, rest: list[str]) -> Object | None:
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        kind = self.cluster.store.kind(group, version, rest[0])
        name, part = (rest[1] if len(rest) > 1 else ""), (rest[2] if len(rest) > 2 else "")
        if refusal := self.cluster.refusals.get((verb, kind.plural)):
            raise Refused(*refusal)
        if part == "log":
            return self._log(namespace, name)
        if verb == "get" and not name:
            return self._list(kind, namespace)
        if verb == "delete" and not name:
            raise Refused(405, "MethodNotAllowed", "delete one at a time")
        return self._one(verb, kind, (namespace if kind.namespaced else "", name))

    def _one(self, verb: str, kind: Kind, place: Place) -> Object:
        store, dry = self.cluster.store, "dryRun" in self.query
        if verb == "get":
            return store.get(kind, place)
        if verb == "create":
            return store.create(kind, place[0], self.given, dry=dry)
        if verb == "update":
            return store.replace(kind, place, self.given, dry=dry)
        if verb == "delete":
            return store.delete(kind, place)
        if "apply-patch" in self.headers["Content-Type"]:
            manager = self.query["fieldManager"]
            return store.apply(kind, place, self.given, manager, dry=dry)
        return store.merge(kind, place, self.given, dry=dry)

    def _list(self, kind: Kind, namespace: str) -> Object | None:
        chosen = (
            namespace,
            self.query.get("labelSelector", ""),
            self.query.get("fieldSelector", ""),
        )
        if self.query.get("watch") in ("1", "true"):
            self._watch(kind, *chosen)
            return None
        return {
            "apiVersion": kind.api_version,
            "kind": f"{kind.kind}List",
            "metadata": {"resourceVersion": self.cluster.store.revision},
            "items": self.cluster.store.list(kind, *chosen),
        }

    def _watch(self, kind: Kind, namespace: str, selector: str, fields: str) -> None:
        store = self.cluster.store
        self._stream("application/json")
        with store.changed:
            sent = len(store.events)
            first: list[Event] = []
            if self.query.get("sendInitialEvents") == "true":
                there = store.list(kind, namespace, selector, fields)
                first = [Event("ADDED", each, kind) for each in there]
                mark = {"k8s.io/initial-events-end": "true"}
                meta = {"resourceVersion": store.revision, "annotations": mark}
                head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
                first.append(Event("BOOKMARK", head, kind))
            elif since := self.query.get("resourceVersion"):
                sent = sum(
                    int(each.object["metadata"]["resourceVersion"]) <= int(since)
                    for each in store.events
                )
        for event in first:
            self._chunk(json.dumps({"type": event.type, "object": event.object}) + "\n")
        for _ in range(_LIMIT_S * 5):
            with store.changed:
                store.changed.wait_for(lambda: len(store.events) > sent, 0.2)  # noqa: B023
                new, sent = store.events[sent:], len(store.events)
            for event in new:
                if event.kind == kind and namespace in (
                    "",
                    event.object["metadata"].get("namespace"),
                ):
                    self._chunk(json.dumps({"type": event.type, "object": event.object}) + "\n")
        self._chunk("")

    def _log(self, namespace: str, pod: str) -> None:
        store, where = self.cluster.store, (namespace, pod)
        found = store.get(store.kind("", "v1", "pods"), where)
        container = self.query.get("container") or found["spec"]["containers"][0]["name"]
        since = self.query.get("sinceTime", "")
        self._stream("text/plain")
        sent = 0
        while True:
            with store.changed:
                lines = self.cluster.logs.get((*where, container), [])
                is_over = "follow" not in self.query or where in self.cluster.ended
                if len(lines) == sent and not is_over:
                    store.changed.wait(1)
                new, sent = lines[sent:], len(lines)
            for line in new:
                time, _, text = line.partition(" ")
                if time >= since:
                    self._chunk(f"{line if 'timestamps' in self.query else text}\n")
            if is_over:
                break
        self._chunk("")

    def _stream(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def _group(group: str, version: str) -> Object:
    found = {"groupVersion": f"{group}/{version}", "version": version}
    return {"name": group, "versions": [found], "preferredVersion": found}


def _resources(store: Store, group: str, version: str) -> Object:
    verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
    found = [each for each in store.kinds if (each.group, each.version) == (group, version)]
    if not found:
        raise Refused(404, "NotFound", "the server could not find the requested resource")
    return {
        "kind": "APIResourceList",
        "groupVersion": found[0].api_version,
        "resources": [
            {
                "name": each.plural,
                "singularName": each.kind.lower(),
                "namespaced": each.namespaced,
                "kind": each.kind,
                "verbs": verbs,
            }
            for each in found
        ],
    }


def _openapi(store: Store, path: list[str]) -> Object:
    """Return as much of a description as tells kubectl that the server checks fields itself."""
    group, version = ("", "v1") if path == ["api", "v1"] else (path[1], path[2])
    asked = [{"name": name, "in": "query", "schema": {"type": "string"}}
             for name in ("fieldValidation", "dryRun", "fieldManager")]  # fmt: skip
    paths = {}
    for each in store.kinds:
        if (each.group, each.version) == (group, version):
            gvk = {"group": group, "kind": each.kind, "version": version}
            root = f"/{'/'.join(path)}/{'namespaces/{namespace}/' if each.namespaced else ''}"
            verb = {"parameters": asked, "x-kubernetes-group-version-kind": gvk, "responses": {}}
            paths[f"{root}{each.plural}/{{name}}"] = {"patch": verb}
    info = {"title": "Kubernetes", "version": f"v{store.version}.0"}
    return {"openapi": "3.0.0", "info": info, "paths": paths}
