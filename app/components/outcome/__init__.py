"""Two translations of a sentence, token by token, the second by a changed model: which tokens are gone or new."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from app.components.registration import component

_component = component("outcome")


@dataclass(frozen=True)
class OutcomeToken:
    """A token of one of the two translations.

    Attributes:
        text: as the tokenizer writes it. Text that a user typed is safe here.
        changed: whether the other translation lacks this token at this place.
        note: a text below it, such as "−1.2".
        share: the length of the bar below it, 0 to 1.
    """

    text: str
    changed: bool
    note: str = ""
    share: float = 0.0


@dataclass(frozen=True)
class OutcomeRow:
    """One of the two translations: `label` says whose it is, `note` is below the label, and `tokens` are its tokens."""

    label: str
    note: str
    tokens: Sequence[OutcomeToken]


def outcome(rows: tuple[OutcomeRow, OutcomeRow], *, summary: str, color: str, language: str, key: str) -> None:
    """Draws the two rows and a sentence below them.

    Args:
        color: of the bars.
        language: the code of the language of the tokens, or "".
    """
    data = {"rows": [asdict(row) for row in rows], "summary": summary, "color": color, "lang": language}
    _component(data=data, key=key)
