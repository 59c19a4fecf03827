"""Give all splits of a set one list of categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.data.annotation import shorten
from training.data.annotation_mending import whole_number
from training.data.entries import LARGEST_ID, groups_of
from training.data.ledger import Ledger

Category = dict[str, Any]


@dataclass(frozen=True)
class Categories:
    """The list of all splits, and what each split's own ids become in it."""

    entries: tuple[Category, ...]
    """By rising id."""
    ids: tuple[Mapping[int, int], ...]
    """Of each split: old id to new id."""


def unify_categories(
    lists: Sequence[tuple[Sequence[Any], frozenset[int], Ledger]],
) -> Categories:
    """Merge the categories of splits by name; the first split's ids stay.

    Args:
        lists: Of each split its entries of categories, the ids that its annotations use, and
            where changes are told.
    """
    entries: dict[int, Category] = {}
    ids_of_names: dict[str, int] = {}
    ids: list[Mapping[int, int]] = []
    for categories, _, ledger in lists:
        new_ids: dict[int, int] = {}
        for place, category in _sound(categories, ledger):
            old = category["id"]
            if old in new_ids:
                ledger.dropped("category", place, f"id {old} is there already")
                continue
            name = category["name"]
            new = ids_of_names.get(name)
            if new is None:
                new = ids_of_names[name] = old if old not in entries else _free_id(entries)
                entries[new] = {**category, "id": new}
            if new != old:
                ledger.changed(
                    "category", f"{place} {shorten(name)}", f"id {old} became {new}, by its name"
                )
            new_ids[old] = new
        ids.append(new_ids)
    used = {
        new[old]
        for new, (_, used_ids, _) in zip(ids, lists, strict=True)
        for old in used_ids
        if old in new
    }
    _drop_groups(entries, used, lists[0][2] if lists else None)
    return Categories(
        tuple(entries[category_id] for category_id in sorted(entries)),
        tuple({old: new for old, new in new_ids.items() if new in entries} for new_ids in ids),
    )


def _sound(categories: Sequence[Any], ledger: Ledger) -> Iterator[tuple[str, Category]]:
    """Yield the entries that have an id, with a name."""
    for index, told in enumerate(categories):
        place = f"categories[{index}]"
        category_id = whole_number(told.get("id")) if isinstance(told, dict) else None
        if category_id is None:
            ledger.dropped("category", f"{place} {shorten(told)}", "it has no id")
            continue
        category = {**told, "id": category_id}
        if type(told.get("name")) is not str:
            category["name"] = f"category {category_id}"
            ledger.changed("category", place, "named it by its id")
        elif type(told["id"]) is not int:
            ledger.changed("category", place, "wrote its id as a whole number")
        yield place, category


def _free_id(entries: Mapping[int, Category]) -> int:
    highest = max(entries)
    if highest < LARGEST_ID:
        return highest + 1
    return next(number for number in range(1, len(entries) + 2) if number not in entries)


def _drop_groups(entries: dict[int, Category], used: set[int], ledger: Ledger | None) -> None:
    groups = [
        category_id for category_id in groups_of(list(entries.values())) if category_id not in used
    ]
    if ledger is None or len(groups) == len(entries):
        return
    for category_id in groups:
        category = entries.pop(category_id)
        ledger.dropped(
            "category",
            f"{shorten(category['name'])}, id {category_id}",
            "it only groups others, and has no object",
        )
