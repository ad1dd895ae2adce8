"""Tokens of a sentence as a strip of chips and as a table; the data of the browser component `token_strip`."""

from collections.abc import Sequence
from typing import Any

from app.figures.axes import visible
from app.figures.shares import probability_text
from app.figures.theme import role_color
from app.languages import _, gettext_noop
from transformer.text.tokenizer import Kind, Piece

KINDS = {
    "piece": "",
    "byte": gettext_noop("byte: this character is not in the vocabulary, so it goes in as its UTF-8 bytes"),
    "unknown": gettext_noop("unknown: the model sees <unk> here"),
    "control": gettext_noop("control: added by the model, not typed"),
}


def source_strip(pieces: Sequence[Piece]) -> dict[str, Any]:
    """What the encoder reads: each token with its id and the characters of the text that it covers."""
    chips = [
        {
            "text": visible(piece.text),
            "kind": piece.kind,
            "tag": _tag(piece.kind),
            "under": [str(piece.id), _places(piece)],
            "share": None,
            "title": _(KINDS[piece.kind]),
        }
        for piece in pieces
    ]
    return {
        "chips": chips,
        "color": role_color("encoder"),
        "label": _("Tokens of the source with id and characters"),
    }


def target_strip(pieces: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> dict[str, Any]:
    """What the decoder wrote: each token with its id and the probability that it had when it was chosen."""
    chips = [
        {
            "text": visible(text),
            "kind": _kind(text),
            "tag": _tag(_kind(text)),
            "under": [probability_text(probability), str(piece_id)],
            "share": float(probability),
            "title": "",
        }
        for text, piece_id, probability in zip(pieces, ids, probabilities, strict=True)
    ]
    return {
        "chips": chips,
        "color": role_color("decoder"),
        "label": _("Tokens of the translation with probability and id"),
    }


def source_table(pieces: Sequence[Piece], text: str) -> list[dict[str, Any]]:
    """The source tokens as rows of a table. A token that covers no character has no first and no last position."""
    return [
        {
            _("number"): number,
            _("piece"): piece.text,
            _("id"): piece.id,
            _("kind"): _kind_name(piece.kind),
            _("first position"): piece.begin + 1 if piece.end > piece.begin else None,
            _("last position"): piece.end if piece.end > piece.begin else None,
            _("characters"): text[piece.begin : piece.end],
        }
        for number, piece in enumerate(pieces, start=1)
    ]


def target_table(pieces: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """The tokens of a hypothesis with their probabilities, as rows of a table."""
    return [
        {_("number"): number, _("piece"): text, _("id"): piece_id, _("probability"): float(probability)}
        for number, (text, piece_id, probability) in enumerate(zip(pieces, ids, probabilities, strict=True), start=1)
    ]


def shifted_table(reads: Sequence[str], predicts: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the decoder, as rows of a table: what each reads, and what it predicts."""
    return [
        {_("row"): row, _("reads"): read, _("predicts"): predicted}
        for row, (read, predicted) in enumerate(zip(reads, predicts, strict=True), start=1)
    ]


def _kind_name(kind: Kind) -> str:
    return {"piece": _("piece"), "byte": _("byte"), "unknown": _("unknown"), "control": _("control")}[kind]


def _tag(kind: Kind) -> str:
    """What is written below a token that is not in the vocabulary."""
    return _kind_name(kind) if kind in ("byte", "unknown") else ""


def _places(piece: Piece) -> str:
    """The positions of its characters, from 1, the last one included: "1–5", "6"; a dash if it covers no character."""
    if piece.kind == "control":
        return _("end")
    first, last = piece.begin + 1, piece.end
    return f"{first}–{last}" if last > first else str(first) if last == first else "–"


def _kind(text: str) -> Kind:
    if text in ("<s>", "</s>", "<pad>"):
        return "control"
    if text == "<unk>":
        return "unknown"
    return "byte" if len(text) == 6 and text.startswith("<0x") and text.endswith(">") else "piece"
