"""What can be wrong with a COCO set, and how the wrongs of one kind become one finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from training.preflight.finding import Finding, Severity

PLACES_SHOWN = 3

_SKIPS = "Training skips and counts them"


@dataclass(frozen=True)
class Rule:
    """One kind of fault.

    Attributes:
        code: Of the finding; stable.
        what: What the places have in common, after their number: "annotations whose box …".
        remedy: What is allowed, and what to do.
        severity: Where bad annotations stop the job.
        when_skipped: What the trainer does with such an annotation where bad ones are skipped;
            None where it cannot go on.
    """

    code: str
    what: str
    remedy: str
    severity: Severity = "error"
    when_skipped: str | None = None


CATEGORY_MALFORMED = Rule(
    "category-malformed",
    "entries of categories that are not an object with a whole number id and a text name",
    'Write each as {"id": 1, "name": "person"}',
)
CATEGORY_DUPLICATE_ID = Rule(
    "category-duplicate-id", "category ids used twice", "Give each category its own id"
)
IMAGE_MALFORMED = Rule(
    "image-malformed",
    "entries of images without a proper id, file_name, width or height",
    "id is a whole number, file_name a text, width and height whole numbers above 0",
)
IMAGE_DUPLICATE_ID = Rule(
    "image-duplicate-id", "image ids used twice", "Give each picture its own id"
)
IMAGE_FILE_NAME = Rule(
    "image-file-name",
    "images whose file_name leaves the picture folder or is no file name",
    "file_name is relative to the split's folder",
)
IMAGE_MISSING = Rule(
    "image-missing",
    "pictures that the annotations name are not there",
    "Copy them into the folder, or remove their entries",
)
IMAGE_UNREADABLE = Rule(
    "image-unreadable",
    "files that are no pictures",
    "Copy them again from their source, or remove their entries",
)
IMAGE_SIZE = Rule(
    "image-size",
    "pictures whose width and height differ from the annotations",
    "Masks and boxes would lie elsewhere: use the pictures that the annotations were made for, "
    "or correct width and height",
)
IMAGE_ROTATED = Rule(
    "image-rotated",
    "pictures with an EXIF rotation",
    "Training reads the pixels as they are stored, as COCO does: see that boxes were drawn so",
    severity="info",
)
ANNOTATION_MALFORMED = Rule(
    "annotation-malformed",
    "annotations with a value that is missing or of the wrong kind",
    "id, image_id and category_id are whole numbers, iscrowd is 0 or 1, bbox is four numbers, "
    "area a number of 0 or more",
    when_skipped=_SKIPS,
)
ANNOTATION_INCOMPLETE = Rule(
    "annotation-incomplete",
    "annotations without iscrowd or area",
    "Training takes 0 and the box's area; pycocotools, with which other algorithms evaluate, fails",
    severity="warning",
)
ANNOTATION_DUPLICATE_ID = Rule(
    "annotation-duplicate-id",
    "annotation ids used twice",
    "The evaluation finds annotations by their id: give each its own",
)
BOX_EMPTY = Rule(
    "annotation-box-empty",
    "annotations whose box has no area",
    "A box is [x, y, width, height] with width and height above 0. Remove or mend them (COCO's "
    "own train2017 has two)",
    when_skipped=_SKIPS,
)
BOX_OUTSIDE = Rule(
    "annotation-box-outside",
    "annotations whose box leaves the picture by more than a pixel",
    "A box is [x, y, width, height] in pixels from the upper left corner. Cut them at the border",
    when_skipped="Training cuts them at the border, and skips those that lie outside",
)
CATEGORY_UNKNOWN = Rule(
    "annotation-category-unknown",
    "annotations of a category that is not in categories",
    "Add the category, or remove them",
    when_skipped=_SKIPS,
)
IMAGE_UNKNOWN = Rule(
    "annotation-image-unknown",
    "annotations of a picture that is not in images",
    "Add the picture, or remove them",
    when_skipped=_SKIPS,
)
SEGMENTATION_EMPTY = Rule(
    "annotation-segmentation-empty",
    "annotations without a mask",
    "segmentation is a list of polygons, or an RLE object. Remove them, or draw the masks",
    when_skipped=_SKIPS,
)
POLYGON_MALFORMED = Rule(
    "annotation-polygon",
    "annotations with no polygon of 3 points or more",
    "A polygon is [x1, y1, x2, y2, x3, y3, …] of numbers. Remove or draw them",
    when_skipped=_SKIPS,
)
POLYGON_LEFT_OUT = Rule(
    "annotation-polygon-left-out",
    "annotations with a polygon of under 3 points beside good ones",
    "COCO itself has some; training leaves such a polygon out",
    severity="warning",
)
RLE_MALFORMED = Rule(
    "annotation-rle",
    "annotations whose RLE mask does not fit the picture",
    "size is [height, width] of the picture, and counts add up to height x width",
    when_skipped=_SKIPS,
)


@dataclass
class Tally:
    """Counts faults by rule and keeps the first places of each."""

    path: str
    """The finding's path: an annotation file or a picture folder."""
    skip_bad_annotations: bool
    _counts: dict[Rule, int] = field(default_factory=dict)
    _places: dict[Rule, list[str]] = field(default_factory=dict)

    def add(self, rule: Rule, place: str) -> None:
        self._counts[rule] = self._counts.get(rule, 0) + 1
        places = self._places.setdefault(rule, [])
        if len(places) < PLACES_SHOWN:
            places.append(place)

    def findings(self) -> Iterator[Finding]:
        """Yield one finding a rule, in the order in which they were first met."""
        for rule, count in self._counts.items():
            places = self._places[rule]
            rest = f"; and {count - len(places):,} more" if count > len(places) else ""
            skipped = rule.when_skipped and self.skip_bad_annotations
            yield Finding(
                code=rule.code,
                severity="warning" if skipped else rule.severity,
                message=f"{count:,} {rule.what}: {'; '.join(places)}{rest}. {rule.remedy}"
                + self._what_training_does(rule),
                path=self.path,
            )

    def _what_training_does(self, rule: Rule) -> str:
        if rule.when_skipped is None:
            return ""
        if self.skip_bad_annotations:
            return f". {rule.when_skipped}"
        return ", or let training go on without them: bad_annotations=skip"
