"""Lines of an uploaded file that cannot be read as a pair: shown with their numbers and reasons before there is a run.

If they are few, the visitor may skip them: the recipe of the run then has data.on_error = "skip". Which lines
cannot be read and how many may be skipped is decided as on the command line (transformer/data/skipped_lines.py).
"""

from dataclasses import dataclass

import streamlit as st

from app.languages import _, ngettext
from transformer.data.data_options import DataConfig
from transformer.data.skipped_lines import SkippedLines

LIMIT = DataConfig.skip_limit  # as a share of the lines of a file


@dataclass(frozen=True)
class BadLines:
    """The lines of one file that cannot be read. The object is false if there are none.

    Attributes:
        count: how many.
        read: how many lines the file has, good and bad.
        first: "line 6: ..." for the first of them.
    """

    count: int = 0
    read: int = 0
    first: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def may_be_skipped(self) -> bool:
        """Whether a run on the other lines may begin."""
        return self.count < self.read and self.count <= LIMIT * self.read

    def described(self, name: str) -> str:
        """Some lines of text about the file of this name."""
        summary = ngettext(
            "{name}: {count:,} of {read:,} lines ({share:.2%}) cannot be read as a pair.",
            "{name}: {count:,} of {read:,} lines ({share:.2%}) cannot be read as pairs.",
            self.count,
            name=name,
            read=self.read,
            share=self.count / self.read,
        )
        more = self.count - len(self.first)
        others = [ngettext("and {count:,} more", "and {count:,} more", more)] if more else []
        return "\n".join([summary, *self.first, *others])

    def refusal(self, name: str) -> str:
        """Why the file of this name cannot be trained on, and what to do."""
        wanted = _(
            "Each line needs a sentence, a TAB and its translation, in UTF-8; spreadsheets export this as text with "
            "TABs. Correct the file and upload it again."
        )
        few = _("At most {limit:.0%} of the lines can be skipped.", limit=LIMIT)
        return "\n".join([self.described(name), wanted if self.count == self.read else f"{few} {wanted}"])


def bad_lines(skipped: SkippedLines, read: int, path: str) -> BadLines:
    """The bad lines of a file that was read from this path. The visitor does not know the path, so it is cut off."""
    return BadLines(skipped.count, read, tuple(found.removeprefix(f"{path}, ") for found in skipped.first))


def show_bad_lines(name: str, bad: BadLines) -> None:
    """Draws which lines of the file a run would skip, if there are any."""
    if bad:
        with st.container(border=True):
            st.text(bad.described(name))
            st.text(_("Correct them and upload the file again, or train without them."))


def label_of_start(*texts: BadLines) -> str:
    """The label of the button that starts a run on these texts."""
    return _("Skip these lines and train") if any(texts) else _("Start")
