from __future__ import annotations

from pathlib import Path

import pytest

from training.data.download.catalogue import Catalogue, read_catalogue
from training.data.manifest import Entry
from training.data.paths import problem_of_path
from training.errors import UsageError
from training.layout import TrainChannel

CATALOGUE = read_catalogue()
COCO = CATALOGUE.select(["coco2017"])
PRETRAINED = CATALOGUE.select(["pretrained"])


@pytest.mark.parametrize(("split", "pictures"), [("train2017", 118_287), ("val2017", 5_000)])
def test_a_split_lands_where_the_trainer_reads_it(split: str, pictures: int) -> None:
    (item,) = CATALOGUE.select([split])
    assert item.contents
    channel = TrainChannel(Path("x"))
    assert Path("x") / item.path == channel.images(split)
    assert item.contents.files == pictures
    assert (
        channel.annotations(split).parent == Path("x") / CATALOGUE.select(["annotations"])[0].path
    )


@pytest.mark.parametrize(
    "name", ["ImageNet-R50-AlignPadding.npz", "COCO-R50FPN-MaskRCNN-Standard.npz"]
)
def test_the_weights_of_the_originals_land_where_a_job_looks_for_them(name: str) -> None:
    paths = [Path("x") / item.path for item in PRETRAINED]
    assert TrainChannel(Path("x")).weight_candidates(name)[0] in paths


def test_coco_is_nearly_all_there_is_of_it_and_small_files_come_first() -> None:
    sizes = [item.most_size for item in COCO]
    assert sum(sizes) == 252_907_541 + 815_585_330 + 19_336_861_798
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("item", CATALOGUE.items, ids=lambda item: item.key)
def test_each_figure_has_a_source_and_plain_http_a_checksum(item: object) -> None:
    item = next(known for known in CATALOGUE.items if known is item)
    cited = ", ".join(item.citations)
    assert "size" in cited
    assert "sha256" in cited or item.sha256 is None
    assert "https://" in " ".join(item.citations.values())
    assert item.published
    assert item.addresses[0].startswith("https://")
    assert item.sha256 or not any(url.startswith("http://") for url in item.addresses)


@pytest.mark.parametrize("item", CATALOGUE.items, ids=lambda item: item.key)
def test_stage_can_take_each_path(item: object) -> None:
    item = next(known for known in CATALOGUE.items if known is item)
    assert problem_of_path(item.path) is None
    assert Entry(path=item.path, size=item.most_size, sha256="0" * 64)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"--what moon: unknown\. Known are: coco2017, pretrained"):
        CATALOGUE.select(["moon"])


def test_a_group_and_its_member_are_one_download() -> None:
    assert CATALOGUE.select(["val2017", "coco2017", "val2017"]) == COCO


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("items: [", "is not YAML"),
        ("groups: {}", "items: Field required"),
        ("items: {a: 1}", "items.0"),
        (
            "items: {a: {name: x, addresses: ['https://h/x']}}",
            "give either size or size_between",
        ),
        ("items: {a: {name: ../x, size: 1, addresses: ['https://h/x']}}", "has a / in it"),
        ("items: {a: {name: x, size: 1, addresses: ['ftp://h/x']}}", "must begin with https://"),
        ("items: {a: {name: x, size: 1, addresses: ['https://u:p@h/x']}}", "name or password"),
        ("items: {}\ngroups: {g: [a]}", "group g has a, which is no item"),
    ],
)
def test_a_bad_catalogue_is_one_line_with_its_place(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_catalogue(path)
    assert str(caught.value).startswith(f"--catalogue {path}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mirrors_go_first_in_their_order() -> None:
    (item,) = CATALOGUE.select(["val2017"])
    assert item.from_mirrors(["https://a/coco/", "https://b"]) == (
        "https://a/coco/val2017.zip",
        "https://b/val2017.zip",
        *item.addresses,
    )


def test_the_catalogue_is_read_whole() -> None:
    assert isinstance(CATALOGUE, Catalogue)
    assert CATALOGUE.names == [
        "coco2017",
        "pretrained",
        "annotations",
        "val2017",
        "train2017",
        "imagenet-r50",
        "coco-r50fpn",
    ]
