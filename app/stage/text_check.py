"""Whether a text can be shown: not empty, and short enough."""

from app.compute.subject import Subject
from app.languages import _, ngettext
from app.library import checkpoints
from app.library.checkpoints import MOST_CHARACTERS, MOST_SENTENCES


class NoScene(Exception):
    """There is nothing to show; the message says why and what to do. It may quote the text."""


def check_text(subject: Subject, text: str) -> None:
    """Raises NoScene for a text that is empty or too long to be shown."""
    if not text.strip() and subject.task.examples:
        raise NoScene(_("Type a sentence above and press Enter, or choose one of the examples."))
    if not text.strip():
        raise NoScene(_("Type a sentence above and press Enter."))
    if len(text) > MOST_CHARACTERS:
        raise NoScene(
            _(
                "This text has {length:,} characters; the page translates up to {most:,} at once. "
                "Please shorten it. To translate whole documents, use `python -m transformer translate`.",
                length=len(text),
                most=MOST_CHARACTERS,
            )
        )
    longest, sentences = checkpoints.tokens_needed(subject.file, text)
    limit = checkpoints.most_tokens(subject.translator)
    if longest > limit:
        raise NoScene(
            ngettext(
                "This sentence has {longest:,} tokens; the page shows up to {limit:,} with this checkpoint. "
                "Please shorten it, or end a sentence earlier with a full stop.",
                "The longest sentence has {longest:,} tokens; the page shows up to {limit:,} with this checkpoint. "
                "Please shorten it, or end a sentence earlier with a full stop.",
                sentences,
                longest=longest,
                limit=limit,
            )
        )
    if sentences > MOST_SENTENCES:
        raise NoScene(
            _(
                "This text has {sentences:,} sentences; the page translates up to {most} at once. Please give it "
                "fewer. The command `python -m transformer translate` translates whole files.",
                sentences=sentences,
                most=MOST_SENTENCES,
            )
        )
