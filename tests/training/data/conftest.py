from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from training.layout import TrainChannel

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing-key",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_REGION": "eu-west-1",
    "AWS_DEFAULT_REGION": "eu-west-1",
}


SIZES = {"a.jpg": (40, 30), "b.jpg": (20, 20)}


@dataclass(frozen=True)
class S3:
    """An S3 that is local, with one bucket of its own for each test."""

    client: Any
    bucket: str
    environ: dict[str, str]


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_url: str, request: pytest.FixtureRequest) -> S3:
    client = boto3.client(
        "s3",
        endpoint_url=s3_url,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=CREDENTIALS["AWS_REGION"],
    )
    bucket = f"bucket-{os.urandom(8).hex()}"
    client.create_bucket(
        Bucket=bucket,
        CreateBucketConfiguration={"LocationConstraint": CREDENTIALS["AWS_REGION"]},
    )
    return S3(client, bucket, {**CREDENTIALS, "AWS_ENDPOINT_URL": s3_url})


@pytest.fixture
def write_set(tmp_path: Path) -> Callable[[Any], TrainChannel]:
    """Write an annotation document, or raw bytes, with the pictures that the sound set names."""
    from PIL import Image

    def write(document: Any) -> TrainChannel:
        channel = TrainChannel(tmp_path / "set")
        path = channel.annotations("train2017")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        channel.images("train2017").mkdir(exist_ok=True)
        for name, size in SIZES.items():
            Image.new("RGB", size).save(channel.images("train2017") / name)
        return channel

    return write


@pytest.fixture
def document() -> dict[str, Any]:
    """A sound set of two pictures with an object each."""
    return {
        "images": [
            {"id": number, "file_name": name, "width": width, "height": height}
            for number, (name, (width, height)) in enumerate(SIZES.items(), start=1)
        ],
        "annotations": [
            {
                "id": number,
                "image_id": number,
                "category_id": 3,
                "bbox": [2, 3, 10, 8],
                "area": 80,
                "iscrowd": 0,
                "segmentation": [[2, 3, 12, 3, 12, 11, 2, 11]],
            }
            for number in (1, 2)
        ],
        "categories": [{"id": 3, "name": "star"}],
    }
