"""What can be wrong with a COCO set."""

from __future__ import annotations

from dataclasses import dataclass

from training.preflight.finding import Severity

_SKIPS = "Training skips and counts them"


@dataclass(frozen=True)
class Rule:
    """One kind of fault.

    Attributes:
        code: Of the finding; stable.
        what: What the places have in common, after their number: "annotations whose box …".
        remedy: What is allowed, and what to do.
        severity: Where bad annotations stop the job.
        alone: Of an annotation: the fault in words that fit after "annotation 7 of image 3: ".
        when_skipped: What the trainer does with such an annotation where bad ones are skipped;
            None where it uses it all the same, or cannot go on.
    """

    code: str
    what: str
    remedy: str
    severity: Severity = "error"
    alone: str = ""
    when_skipped: str | None = None

    @property
    def keeps_out(self) -> bool:
        """Whether training cannot use an annotation with this fault."""
        return self.when_skipped is not None


CATEGORY_MALFORMED = Rule(
    "category-malformed",
    "entries of categories that are not an object with a whole number id and a text name",
    'Write each as {"id": 1, "name": "person"}',
)
CATEGORY_DUPLICATE_ID = Rule(
    "category-duplicate-id", "category ids used twice", "Give each category its own id"
)
CATEGORY_NAME_TWICE = Rule(
    "category-name-twice",
    "categories with the same name as another",
    "Training tells them apart: give them one id, or two names",
    severity="warning",
)
CATEGORY_GROUP = Rule(
    "category-group",
    "categories without objects that only group others",
    "Training would learn a class that never occurs (Roboflow's exports begin with such a one): "
    "remove them",
    severity="warning",
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
IMAGE_EXTRA = Rule(
    "image-extra",
    "files that no entry of images names",
    "Training leaves them out: remove them, or add their entries",
    severity="info",
)
IMAGE_FILE_TWICE = Rule(
    "image-file-twice",
    "files that two entries of images name",
    "Training reads such a file once for each: give it one entry with all its annotations",
    severity="warning",
)
IMAGE_UNREADABLE = Rule(
    "image-unreadable",
    "files that are no pictures",
    "Copy them again from their source, or remove their entries",
)
IMAGE_BROKEN = Rule(
    "image-broken",
    "pictures that cannot be decoded to their end",
    "Copy them again from their source, or remove their entries. Training skips and counts such "
    "pictures up to the limit max_broken_pictures",
)
IMAGE_HUGE = Rule(
    "image-huge",
    "pictures with more pixels than the decoder's limit against decompression bombs",
    "Cut them into tiles, or scale them down with their annotations",
)
IMAGE_LARGE = Rule(
    "image-large",
    "pictures that are very large",
    "Each pass over the data decodes them whole: cut them into tiles, or scale them down with "
    "their annotations",
    severity="warning",
)
IMAGE_SIZE = Rule(
    "image-size",
    "pictures whose width and height differ from the annotations",
    "Masks and boxes would lie elsewhere: use the pictures that the annotations were made for, "
    "or correct width and height",
)
IMAGE_ROTATED = Rule(
    "image-rotated",
    "pictures with an EXIF rotation, whose size fits as it is stored",
    "Training reads the pixels as they are stored, as COCO does; OpenCV, and so the tensorpack "
    "algorithm, turns them. Remove the tag, and see that boxes were drawn on the stored picture",
    severity="warning",
)
IMAGE_TURN_UNCLEAR = Rule(
    "image-turn-unclear",
    "pictures with an EXIF rotation, whose size fits both ways",
    "Training reads the pixels as they are stored, as COCO does; browsers, and so most programs "
    "for annotating, show them turned. See how boxes lie, and remove the tag",
    severity="warning",
)
IMAGE_DEEP = Rule(
    "image-deep",
    "pictures with more than 8 bits a value",
    "Read as 8 bits, all but the darkest values become white: scale them to 8 bits",
)
IMAGE_CMYK = Rule(
    "image-cmyk",
    "pictures in printing colours (CMYK)",
    "Programs turn them into RGB each in its own way: save them as RGB",
    severity="warning",
)
IMAGE_TRANSPARENT = Rule(
    "image-transparent",
    "pictures with transparent parts",
    "Training drops the transparency and sees the colours that lie hidden below: put them on a "
    "background",
    severity="warning",
)
IMAGE_ANIMATED = Rule(
    "image-animated",
    "pictures with more than one frame",
    "Training reads the first: save it alone",
    severity="warning",
)
IMAGE_EXTENSION = Rule(
    "image-extension",
    "pictures whose name ends as that of another format",
    "Programs that go by the name fail on them: rename them, in file_name too",
    severity="warning",
)
ANNOTATION_MALFORMED = Rule(
    "annotation-malformed",
    "annotations with a value that is missing or of the wrong kind",
    "id, image_id and category_id are whole numbers, iscrowd is 0 or 1, bbox is four numbers, "
    "area a number of 0 or more",
    alone="a value is missing or of the wrong kind",
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
    alone="its box has no area",
    when_skipped=_SKIPS,
)
BOX_OFF = Rule(
    "annotation-box-off",
    "annotations whose box lies outside of the picture",
    "A box is [x, y, width, height] in pixels from the upper left corner. Remove or mend them",
    alone="its box lies outside of the picture",
    when_skipped=_SKIPS,
)
BOX_OUTSIDE = Rule(
    "annotation-box-outside",
    "annotations whose box leaves the picture by more than a pixel",
    "A box is [x, y, width, height] in pixels from the upper left corner. Training cuts them at "
    "the border: see that they belong to pictures of this size",
    severity="warning",
)
CATEGORY_UNKNOWN = Rule(
    "annotation-category-unknown",
    "annotations of a category that is not in categories",
    "Add the category, or remove them",
    alone="its category is not in the file",
    when_skipped=_SKIPS,
)
IMAGE_UNKNOWN = Rule(
    "annotation-image-unknown",
    "annotations of a picture that is not in images",
    "Add the picture, or remove them",
    alone="its image is not in the file",
    when_skipped=_SKIPS,
)
SEGMENTATION_EMPTY = Rule(
    "annotation-segmentation-empty",
    "annotations without a mask",
    "segmentation is a list of polygons, or an RLE object. Remove them, or draw the masks",
    alone="it has no mask",
    when_skipped=_SKIPS,
)
POLYGON_MALFORMED = Rule(
    "annotation-polygon",
    "annotations with no polygon of 3 points or more near the picture",
    "A polygon is [x1, y1, x2, y2, x3, y3, …] in pixels. Remove or draw them",
    alone="it has no polygon of 3 points or more near the picture",
    when_skipped=_SKIPS,
)
POLYGON_LEFT_OUT = Rule(
    "annotation-polygon-left-out",
    "annotations with a polygon of under 3 points, or far from the picture, beside good ones",
    "COCO itself has some; training leaves such a polygon out",
    severity="warning",
)
RLE_MALFORMED = Rule(
    "annotation-rle",
    "annotations whose RLE mask does not fit the picture",
    "size is [height, width] of the picture, and counts add up to height x width",
    alone="its RLE mask does not fit the picture",
    when_skipped=_SKIPS,
)


RLE_OF_OBJECT = Rule(
    "annotation-rle-object",
    "annotations of single objects with an RLE mask",
    "This trainer reads them; the tensorpack and aws-samples algorithms take polygons for what is "
    "no crowd, and stop",
    severity="warning",
)
