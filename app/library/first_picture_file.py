"""The first picture of a checkpoint shows its first example. It is stored beside the checkpoint as
NAME.first-picture.json, and in German as NAME.first-picture.de.json.

A fresh server shows it while torch and the model are loaded, which takes seconds. It is made from the model, by
`python -m app.views.translate.make_first_picture`, and belongs to one file of weights. The file is recognised by its
size and its first and last bytes (`fingerprint`), which are fast to read.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from app.languages import language
from app.languages.catalogues import ENGLISH
from app.library.checkpoints import CheckpointFile
from app.library.tasks import Task
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_object

COMPARED = 2**16  # bytes at either end of a checkpoint: the header with its metrics, and weights


@dataclass(frozen=True)
class FirstPicture:
    """What the page Translate shows first for a checkpoint.

    Attributes:
        of: `fingerprint` of the checkpoint.
        label: how the list names the checkpoint.
        task: its languages and examples; the first example is the sentence.
        used, most: number of tokens of the sentence, and its limit.
        text: the translation.
        alternatives: all translations, {"text", "detail"} of each.
        message: of the canvas, see `app.figures.canvas_message`.
    """

    of: str
    label: str
    task: Task
    used: int
    most: int
    text: str
    alternatives: Sequence[dict[str, str]]
    message: bytes


def fingerprint(path: Path) -> str:
    """A text that differs for different checkpoints; made without reading the whole file."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        found = hashlib.sha256(size.to_bytes(8) + file.read(COMPARED))
        file.seek(max(size - COMPARED, 0))
        found.update(file.read(COMPARED))
    return found.hexdigest()


def picture_path(checkpoint: Path) -> Path:
    """Where the first picture of a checkpoint is stored in the language of the visitor."""
    return checkpoint.with_suffix(
        ".first-picture.json" if language() == ENGLISH else f".first-picture.{language()}.json"
    )


def write_picture(picture: FirstPicture, checkpoint: Path) -> Path:
    """Writes the picture beside its checkpoint and returns the path."""
    path = picture_path(checkpoint)
    values = asdict(picture) | {"message": base64.b85encode(picture.message).decode()}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(values, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_picture(checkpoint: CheckpointFile) -> FirstPicture | None:
    """The first picture of a checkpoint. None: it is not stored, or is that of another file."""
    path = Path(checkpoint.path)
    try:
        values = parse_object(picture_path(path).read_text(encoding="utf-8"))
        task = Task(**values["task"] | {"examples": tuple(values["task"]["examples"])})
        picture = FirstPicture(**values | {"task": task, "message": base64.b85decode(values["message"])})
        return picture if picture.of == fingerprint(path) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
