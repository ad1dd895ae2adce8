"""Tokens of a sentence as a strip of chips and as a table; the data of the browser component `pieces`."""

from collections.abc import Sequence
from typing import Any, Protocol

from app.figures.axes import visible
from app.figures.theme import probability_text, role_color


class PieceLike(Protocol):
    """What `transformer.text.tokenizer.Piece` offers."""

    @property
    def id(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...


KINDS = {
    "piece": "",
    "byte": "byte: this character is not in the vocabulary, so it goes in as its UTF-8 bytes",
    "unknown": "unknown: the model sees <unk> here",
    "control": "control: added by the model, not typed",
}


def source_strip(pieces: Sequence[PieceLike]) -> dict[str, Any]:
    """What the encoder reads: each token with its id and the characters of the text that it covers."""
    chips = [
        {
            "text": visible(piece.text),
            "kind": piece.kind,
            "under": [str(piece.id), _places(piece)],
            "share": None,
            "title": KINDS[piece.kind],
        }
        for piece in pieces
    ]
    return {
        "chips": chips,
        "color": role_color("encoder"),
        "label": "Tokens of the source with id and characters",
    }


def target_strip(pieces: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> dict[str, Any]:
    """What the decoder gave: each token with its id and the probability it had when it was chosen."""
    chips = [
        {
            "text": visible(text),
            "kind": _kind(text),
            "under": [probability_text(probability), str(piece_id)],
            "share": float(probability),
            "title": "",
        }
        for text, piece_id, probability in zip(pieces, ids, probabilities, strict=True)
    ]
    return {
        "chips": chips,
        "color": role_color("decoder"),
        "label": "Tokens of the translation with probability and id",
    }


def source_table(pieces: Sequence[PieceLike], text: str) -> list[dict[str, Any]]:
    """The same as rows of a table. Characters are counted from 0; a token that covers none has no first one."""
    return [
        {
            "number": number,
            "piece": piece.text,
            "id": piece.id,
            "kind": piece.kind,
            "first place": piece.begin if piece.end > piece.begin else None,
            "last place": piece.end - 1 if piece.end > piece.begin else None,
            "characters": text[piece.begin : piece.end],
        }
        for number, piece in enumerate(pieces, start=1)
    ]


def target_table(pieces: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """The tokens of a hypothesis with their probabilities, as rows of a table."""
    return [
        {"number": number, "piece": text, "id": piece_id, "probability": float(probability)}
        for number, (text, piece_id, probability) in enumerate(zip(pieces, ids, probabilities, strict=True), start=1)
    ]


def shifted_table(reads: Sequence[str], predicts: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the decoder, as rows of a table: what each reads, and what it predicts."""
    return [
        {"row": row, "reads": read, "predicts": predicted}
        for row, (read, predicted) in enumerate(zip(reads, predicts, strict=True), start=1)
    ]


def _places(piece: PieceLike) -> str:
    """The places of its characters, from 0, the last one included: "0–4", "5"; a dash where it covers none."""
    if piece.kind == "control":
        return "end"
    first, last = piece.begin, piece.end - 1
    return f"{first}–{last}" if last > first else str(first) if last == first else "–"


def _kind(text: str) -> str:
    if text in ("<s>", "</s>", "<pad>"):
        return "control"
    if text == "<unk>":
        return "unknown"
    return "byte" if len(text) == 6 and text.startswith("<0x") and text.endswith(">") else "piece"
