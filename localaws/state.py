"""Saves what all services know and brings it back.

moto keeps each service's state in ordinary Python objects that refer to one another across
services (a mount target holds its subnet), so all of it goes into one pickle.
"""

from __future__ import annotations

import os
import pickle
import threading
import weakref
from collections import OrderedDict, defaultdict
from importlib.metadata import version
from pathlib import Path
from types import GeneratorType
from typing import Any

import cloudpickle
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from moto import backends
from moto.core.base_backend import BackendDict
from moto.s3.models import s3_backends

from localaws.folders import StateDirectory
from training.errors import UsageError

FORMAT = 7
"""Raise it whenever an object that is kept here gets or loses an attribute: old ones lack it."""

Backends = dict[str, dict[str, dict[str, Any]]]
"""Service, account and region (or partition) to backend."""


PrivateKey = RSAPrivateKey | EllipticCurvePrivateKey
"""What a KMS key holds, used or not."""

_LOCKS = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}

_PLAIN_DICTS = (dict, defaultdict, OrderedDict)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Takes what moto's objects hold beside data: lambdas (cloudpickle's own), locks, keys,
    generators."""

    def reducer_override(self, value: Any) -> Any:
        if make := _LOCKS.get(type(value)):
            # Nobody holds one: the server has no request left.
            return make, ()
        if isinstance(value, GeneratorType):
            # The rest of a list that moto hands out page by page (Resource Groups Tagging API).
            return iter, (list(value),)
        if isinstance(value, weakref.ref):
            return weakref.ref, (value(),)
        if isinstance(value, PrivateKey):
            return _from_der, (_as_der(value),)
        if isinstance(value, dict) and type(value) not in _PLAIN_DICTS:
            # moto's own read and write through methods that hide things, such as an object's older
            # versions, and are made with arguments that pickle does not know.
            content = vars(value), list(dict.items(value))
            factory = getattr(value, "default_factory", None)
            return _new_dict, (type(value), factory), content, None, None, _fill_dict
        return super().reducer_override(value)


def _new_dict(kind: Any, factory: Any) -> Any:
    made = kind.__new__(kind)
    if factory is not None:
        made.default_factory = factory
    return made


def _fill_dict(made: Any, content: tuple[dict[str, Any], list[tuple[Any, Any]]]) -> None:
    attributes, items = content
    vars(made).update(attributes)
    for key, value in items:
        dict.__setitem__(made, key, value)


def _as_der(key: PrivateKey) -> bytes:
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def _from_der(key: bytes) -> Any:
    return load_der_private_key(key, password=None)


def save(path: Path) -> None:
    """Write the state to a file that is either the old one or the new one, whole."""
    snapshot = {
        "moto": version("moto"),
        "format": FORMAT,
        "backends": {
            service.service_name: {account: dict(regions) for account, regions in service.items()}
            for service in BackendDict._instances  # type: ignore[misc]
            # A few of moto's lesser services go by another one's name.
            if backends.get_backend(service.service_name) is service  # type: ignore[call-overload]
        },
        "bucket_accounts": s3_backends.bucket_accounts,
    }
    aside = path.with_suffix(".new")
    try:
        with aside.open("wb") as file:
            _Pickler(file).dump(snapshot)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except Exception:
        # Half a state would keep a full disk full.
        aside.unlink(missing_ok=True)
        raise


def load(path: Path) -> None:
    """Bring back what `save` wrote; without a file, start empty.

    Raises:
        UsageError: The file is damaged or of another version of moto.
    """
    if not path.exists():
        return
    again = StateDirectory(path.parent).command("start --discard")
    remedy = f"Start again without it: {again}"
    try:
        with path.open("rb") as file:
            # The file is as trustworthy as the code beside it: the user's own, in the user's tree.
            snapshot = pickle.load(file)  # noqa: S301
        saved_by, services = snapshot["moto"], snapshot["backends"]
        buckets = snapshot["bucket_accounts"]
    except Exception as error:
        raise UsageError(
            f"{path}: the kept state cannot be read ({type(error).__name__}: {error}). {remedy}"
        ) from error
    if saved_by != version("moto"):
        raise UsageError(
            f"{path}: kept by moto {saved_by}, but moto {version('moto')} is installed. {remedy}"
        )
    if snapshot.get("format") != FORMAT:
        raise UsageError(f"{path}: kept by another version of this program. {remedy}")
    for service, accounts in services.items():
        for account, regions in accounts.items():
            known = backends.get_backend(service)[account]
            for region, backend in regions.items():
                known[region] = backend
    s3_backends.bucket_accounts.update(buckets)
