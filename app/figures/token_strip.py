"""Tokens of a sentence as a strip of chips and as a table; the data of the browser component `token_strip`."""

from collections.abc import Sequence
from typing import Any

from app.figures.axes import visible
from app.figures.shares import probability_text
from app.figures.theme import role_color
from app.languages import _, gettext_noop
from transformer.text.tokenizer import Kind, Token

KINDS = {
    "ordinary": "",
    "byte": gettext_noop("byte: this character is not in the vocabulary, so it goes in as its UTF-8 bytes"),
    "unknown": gettext_noop("unknown: the model sees <unk> here"),
    "control": gettext_noop("control: added by the model, not typed"),
}


def source_strip(tokens: Sequence[Token]) -> dict[str, Any]:
    """What the encoder reads: each token with its id and the characters of the text that it covers."""
    chips = [
        {
            "text": visible(token.text),
            "kind": token.kind,
            "tag": _tag(token.kind),
            "under": [str(token.id), _places(token)],
            "share": None,
            "title": _(KINDS[token.kind]),
        }
        for token in tokens
    ]
    return {
        "chips": chips,
        "color": role_color("encoder"),
        "label": _("Tokens of the source with id and characters"),
    }


def target_strip(tokens: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> dict[str, Any]:
    """What the decoder wrote: each token with its id and the probability that it had when it was chosen."""
    chips = [
        {
            "text": visible(text),
            "kind": _kind(text),
            "tag": _tag(_kind(text)),
            "under": [probability_text(probability), str(token_id)],
            "share": float(probability),
            "title": "",
        }
        for text, token_id, probability in zip(tokens, ids, probabilities, strict=True)
    ]
    return {
        "chips": chips,
        "color": role_color("decoder"),
        "label": _("Tokens of the translation with probability and id"),
    }


def source_table(tokens: Sequence[Token], text: str) -> list[dict[str, Any]]:
    """The source tokens as rows of a table. A token that covers no character has no first and no last position."""
    return [
        {
            _("number"): number,
            _("token"): token.text,
            _("id"): token.id,
            _("kind"): _kind_name(token.kind),
            _("first position"): token.begin + 1 if token.end > token.begin else None,
            _("last position"): token.end if token.end > token.begin else None,
            _("characters"): text[token.begin : token.end],
        }
        for number, token in enumerate(tokens, start=1)
    ]


def target_table(tokens: Sequence[str], ids: Sequence[int], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """The tokens of a hypothesis with their probabilities, as rows of a table."""
    return [
        {_("number"): number, _("token"): text, _("id"): token_id, _("probability"): float(probability)}
        for number, (text, token_id, probability) in enumerate(zip(tokens, ids, probabilities, strict=True), start=1)
    ]


def shifted_table(reads: Sequence[str], predicts: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the decoder, as rows of a table: what each reads, and what it predicts."""
    return [
        {_("row"): row, _("reads"): read, _("predicts"): predicted}
        for row, (read, predicted) in enumerate(zip(reads, predicts, strict=True), start=1)
    ]


def _kind_name(kind: Kind) -> str:
    return {"ordinary": _("ordinary"), "byte": _("byte"), "unknown": _("unknown"), "control": _("control")}[kind]


def _tag(kind: Kind) -> str:
    """What is written below a token that is not in the vocabulary."""
    return _kind_name(kind) if kind in ("byte", "unknown") else ""


def _places(token: Token) -> str:
    """The positions of its characters, from 1, the last one included: "1–5", "6"; a dash if it covers no character."""
    if token.kind == "control":
        return _("end")
    first, last = token.begin + 1, token.end
    return f"{first}–{last}" if last > first else str(first) if last == first else "–"


def _kind(text: str) -> Kind:
    if text in ("<s>", "</s>", "<pad>"):
        return "control"
    if text == "<unk>":
        return "unknown"
    return "byte" if len(text) == 6 and text.startswith("<0x") and text.endswith(">") else "ordinary"
