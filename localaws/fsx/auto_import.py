"""S3's state, told to file systems that are linked to it and follow its changes."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from moto.fsx.models import fsx_backends
from moto.s3 import urls
from moto.s3.models import FakeKey, S3Backend

from localaws.fsx.association import Association, Event
from localaws.fsx.backend import LustreBackend


class FollowedS3Backend(S3Backend):
    """All buckets; what changes in them changes in linked folders."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def put_object(self, bucket_name: str, key_name: str, *args: Any, **kwargs: Any) -> FakeKey:
        known = bucket_name in self.buckets and key_name in self.buckets[bucket_name].keys
        key = super().put_object(bucket_name, key_name, *args, **kwargs)
        self._tell("CHANGED" if known else "NEW", bucket_name, key_name)
        return key

    def copy_object(
        self, src_key: FakeKey, dest_bucket_name: str, dest_key_name: str, *args: Any, **kwargs: Any
    ) -> None:
        super().copy_object(src_key, dest_bucket_name, dest_key_name, *args, **kwargs)
        self._tell("CHANGED", dest_bucket_name, dest_key_name)

    def delete_object(
        self, bucket_name: str, key_name: str, *args: Any, **kwargs: Any
    ) -> tuple[bool, dict[str, Any]]:
        answer = super().delete_object(bucket_name, key_name, *args, **kwargs)
        if not isinstance(self.buckets[bucket_name].keys.get(key_name), FakeKey):
            self._tell("DELETED", bucket_name, key_name)
        return answer

    def _tell(self, event: Event, bucket: str, key: str) -> None:
        for association in _followers(event, bucket, key):
            try:
                if event == "DELETED":
                    association.repository.forget_object(key)
                else:
                    association.repository.import_object(key, self.buckets[bucket].keys[key])
            except (OSError, ValueError):
                # As in FSx, the object stays and the folder goes without it.
                continue


def _followers(event: Event, bucket: str, key: str) -> Iterator[Association]:
    for _, _, backend in fsx_backends.iter_backends():
        if isinstance(backend, LustreBackend):
            for association in list(backend.associations.values()):
                if association.follows(event) and association.repository.mirrors(bucket, key):
                    yield association
