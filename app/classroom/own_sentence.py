"""A follower's own sentence: translated by the model of the class's scene, and packed as a message for the canvas.

One thread translates for all followers, which leaves a core for the lecturer's next scene. If `MOST_QUEUED` sentences
are not translated yet, a new one is refused at once.
"""

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from app.classroom.class_limits import LONGEST_SENTENCE, MOST_QUEUED, Busy, Unfit
from app.classroom.class_scene import ClassScene
from app.languages import Language, _, language, speaking

_POOL = ThreadPoolExecutor(1, thread_name_prefix="sentences of a class")
_LOCK = Lock()
_queued = 0


async def translated(scene: ClassScene, text: str) -> bytes:
    """The message of the canvas for this text, packed by gzip.

    Raises:
        Unfit: the text cannot be translated.
        Busy: too many others wait.
    """
    global _queued
    if scene.model is None:
        raise Unfit(_("This page cannot be drawn with a sentence of your own."))
    if not text.strip():
        raise Unfit(_("Type a sentence first."))
    if len(text) > LONGEST_SENTENCE:
        words = _(
            "At most {most} characters, please: this sentence has {count:,}.", most=LONGEST_SENTENCE, count=len(text)
        )
        raise Unfit(words)
    with _LOCK:
        if _queued >= MOST_QUEUED:
            raise Busy(_("Headlight is busy with the sentences of others. Try again in a few seconds."))
        _queued += 1
    try:
        return await asyncio.get_running_loop().run_in_executor(_POOL, _message, scene, text, language())
    finally:
        with _LOCK:
            _queued -= 1


def _message(scene: ClassScene, text: str, spoken: Language) -> bytes:
    from app.stage.canvas_of_scene import message_of  # imports torch, so not when the server starts
    from app.stage.scene import Selection, scene_of
    from app.stage.text_check import NoScene
    from transformer.errors import HeadlightError

    assert scene.model
    subject, settings = scene.model
    with speaking(spoken):
        try:
            found = scene_of(subject, text, settings, Selection(correct_spelling=True))
            if len(found.sentences) > 1:
                raise Unfit(_("These are {count} sentences. Type one of them.", count=len(found.sentences)))
            return packed(message_of(found))
        except NoScene as reason:
            raise Unfit(str(reason)) from None
        except (HeadlightError, OSError):  # the checkpoint was removed meanwhile, for example
            raise Unfit(_("This sentence cannot be translated. Try another one.")) from None


def packed(message: bytes) -> bytes:
    """Packed by gzip; equal messages give equal bytes, and so equal ETags."""
    return gzip.compress(message, compresslevel=6, mtime=0)
