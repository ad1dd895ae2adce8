"""Makes the first picture of a checkpoint from its model, in each language, and stores it beside the checkpoint:

    python -m app.views.translate.make_first_picture [pretrained/en-de.safetensors ...]

A test compares the stored one with the model (tests/app/test_first_visit.py).
"""

import argparse
from pathlib import Path

from app.compute.subject import Subject
from app.languages import LANGUAGES, speaking
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.first_picture_file import FirstPicture, fingerprint, write_picture
from app.library.names import display_name
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Selection, scene_of
from app.views.shared.canvas_picture import alternatives


def make(file: CheckpointFile) -> FirstPicture:
    """The first picture of a checkpoint: of its first example, with the settings of its recipe, in the current
    language."""
    subject = Subject(file)
    task, translator = subject.task, subject.translator
    scene = scene_of(subject, task.examples[0], translator.settings, Selection(correct_spelling=True))
    return FirstPicture(
        of=fingerprint(Path(file.path)),
        label=display_name(file),
        task=task,
        used=checkpoints.tokens_needed(file, task.examples[0])[0],
        most=checkpoints.most_tokens(translator),
        text=scene.hypothesis.text,
        alternatives=alternatives(scene),
        message=message_of(scene),
    )


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = checkpoints.checkpoint_folder() / "en-de.safetensors"
    parser.add_argument("checkpoints", nargs="*", type=Path, default=[default], metavar="CHECKPOINT")
    for path in parser.parse_args().checkpoints:
        for each in LANGUAGES:
            with speaking(each):
                stored = write_picture(make(CheckpointFile.at(path)), path)
            print(f"{stored}: {stored.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
