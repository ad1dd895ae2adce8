"""Take a mask away: a query may then attend to keys that the mask forbids. Where does this matter, and where not?"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from app.components import causal_matrix, comparison
from app.components.switches import Options, switches
from app.compute import cached_results
from app.compute.cached_results import Observed
from app.compute.row_predictions import predictions
from app.compute.subject import Subject
from app.figures.axes import in_words
from app.figures.shares import Share, probability_text
from app.figures.theme import fixed, role_color
from app.languages import _, gettext_noop
from app.pages import page_named, query
from app.stage import template
from app.stage.heads import clearest_of
from app.stage.scene import Scene
from app.state import edit_choices
from app.state.choices import MASK_HEAD, SHOWN_MASK
from app.views.shared.causal_picture import Pass, message, table
from app.views.shared.show_figure import download_and_table
from app.views.shared.small_mask_models import small_mask_models_of
from app.views.whatif import padding_picture
from app.views.whatif.before_and_after import before_and_after
from app.views.whatif.mask_rows import Outcome, Reread, reread_of, rows_of, small_model_title
from app.views.whatif.padded_batch import Batch
from transformer.analysis.edits import Edit, MaskCell, MaskOff, edit_text
from transformer.analysis.edits.mask_edits import MaskPart
from transformer.model.attention_kinds import Kind

PARTS: dict[MaskPart, str] = {
    "causal": gettext_noop("Causal mask"),
    "padding": gettext_noop("Padding mask"),
    "cross": gettext_noop("Encoder-decoder mask"),
}

ALTS = (gettext_noop("{place}, original model. {rows}"), gettext_noop("{place}, edited model. {rows}"))
WEIGHTS = (gettext_noop("weight, original model"), gettext_noop("weight, edited model"))


def draw(scene: Scene) -> None:
    """Draws the switches, the matrix of a head, and what both models do."""
    off = tuple(part for part in PARTS if MaskOff(part) in scene.subject.edits)
    SHOWN_MASK.open()
    pads = "padding" in off or "cross" in off or ("causal" not in off and SHOWN_MASK.value != "causal")
    with st.container(key="whatif_masks_line", horizontal=True, vertical_alignment="center", gap="medium"):
        _switches(off)
        if pads:
            padding_picture.box(scene)
    mask: MaskPart = "padding" if "padding" in off or (SHOWN_MASK.value != "cross" and "cross" not in off) else "cross"
    batch = padding_picture.batch_or_reason(scene, MaskOff(mask)) if pads else None
    if isinstance(batch, str):
        with st.container(key="text_no_batch"):
            st.text(batch)
        batch = None
    elif batch and "causal" not in off:
        kind: Kind = "encoder" if mask == "padding" else "cross"
        padding_picture.draw(scene, batch, kind)
        template.say(*padding_picture.sentences(batch, kind))
        template.details(partial(_details, scene))
        return
    _causal(scene, off, batch)


def _causal(scene: Scene, off: tuple[MaskPart, ...], batch: Batch | None) -> None:
    """Draws the matrix of a head of the decoder, and the table of what both models do."""
    original = _original(scene)
    before, after = (_pass(each.subject, original) for each in (original, scene))
    reread = reread_of(scene, original)
    with st.container(key="whatif_masks_duo"):
        left, right = st.columns(2, gap="medium")
        with left:
            _matrix(scene, original, before, after)
        with right:
            both = small_mask_models_of(original)
            original_outcome = Outcome(before.predictions, original.hypothesis.text)
            edited_outcome = Outcome(after.predictions, scene.translation.hypotheses[0].text)
            comparison(
                (_("Original"), _("Edited"), *([small_model_title(both, original)] if both else [])),
                rows_of(original_outcome, edited_outcome, reread, batch, both),
                title=_("Where the masks matter"),
                key="whatif_masks",
                color=role_color("decoder"),
                language=scene.task.target_code,
            )
    masked = _pass(scene.subject.with_causal_mask, original)
    template.say(*[*_cell(scene, original, after), *_sentences(scene, off, masked, after, reread, batch)][:3])
    template.details(partial(_details, scene))


def _switches(off: tuple[MaskPart, ...]) -> None:
    """Draws a switch for each part. Without the padding mask nothing is left of the encoder-decoder mask, so its switch
    is off and disabled."""
    gone = {part: part in off or (part == "cross" and "padding" in off) for part in PARTS}
    switches(
        [
            Options(part, _(name), (_("on"), _("off")), int(gone[part]), disabled=gone[part] and part not in off)
            for part, name in PARTS.items()
        ],
        None,
        key="whatif_mask_switches",
        on_choose=partial(_choose, off),
    )


def _choose(off: tuple[MaskPart, ...], part: MaskPart, index: int) -> None:
    SHOWN_MASK.choose(part)
    if bool(index) != (part in off):
        edit_choices.toggle(MaskOff(part))


def _original(scene: Scene) -> Scene:
    """The same sentence, translated by the unedited model."""
    subject = scene.subject.original
    return replace(scene, subject=subject, translation=scene.translated_by(subject), shown=0, given=None, problem="")


def _pass(subject: Subject, original: Scene) -> Pass:
    """A pass of a model over the translation by the original one."""
    ids = original.hypothesis.ids
    found: Observed = cached_results.observed(subject, original.translation.source_ids, ids)
    return Pass(found.attention["decoder"], predictions(found.trace["logits"], ids))


def _matrix(scene: Scene, original: Scene, before: Pass, after: Pass) -> None:
    heads = [(i, j) for i in range(scene.config.decoder_layers) for j in range(scene.config.heads)]
    layer, head = MASK_HEAD.open(clearest_of(original, "decoder"), heads)
    with st.container(key="picture_whatif_causal"):
        shown = message(original, before, after, layer, head, alts=ALTS)
        causal_matrix(
            shown | {"given": bool(scene.subject.edits), "height": 300},
            key="whatif_causal",
            on_choose=lambda name, index: MASK_HEAD.choose((index, head) if name == "layer" else (layer, index)),
            on_cell=partial(toggle_cell, scene.subject.edits, after.mask(layer, head)),
        )
    name = _(
        "Decoder self-attention, original and edited model, layer {layer}, head {head}", layer=layer + 1, head=head + 1
    )
    download_and_table(
        key="whatif_causal", name=name, table=lambda: table(original.target, before, after, layer, head, WEIGHTS)
    )


def toggle_cell(edits: tuple[Edit, ...], mask: np.ndarray, query: int, key: int) -> None:
    """Allows a cell of decoder self-attention if the mask forbids it, else forbids it, in all layers and heads. If an
    earlier edit made the cell as it is, that edit is undone instead."""
    is_allowed = bool(mask[query, key])
    own, other = (MaskCell("decoder", None, None, query, key, allowed) for allowed in (is_allowed, not is_allowed))
    undone = own in edits
    for edit in (own, other):
        edit_choices.undo(edit_text(edit))
    if not undone:
        edit_choices.add([other])


def _cell(scene: Scene, original: Scene, after: Pass) -> list[str]:
    """What the newest edit of a cell does to the prediction of its row; all other edits stay."""
    edits = [edit for edit in scene.subject.edits if isinstance(edit, MaskCell) and edit.kind == "decoder"]
    target, size = original.target, len(original.target)
    if not edits or max(edits[-1].query, edits[-1].key) >= size:
        return []
    query, key = edits[-1].query, edits[-1].key
    others = tuple(edit for edit in scene.subject.edits if edit != edits[-1])
    before = _pass(replace(scene.subject, edits=others), original)
    was, now = (probability_text(math.exp(each.predictions.log_probabilities[query])) for each in (before, after))
    if edits[-1].allowed:
        text = gettext_noop(
            "Row {row} may attend to “{key}”: in a pass over all rows, its token “{token}” goes from {was} to {now}."
        )
    else:
        text = gettext_noop(
            "Row {row} may not attend to “{key}”: in a pass over all rows, its token “{token}” goes from {was} to "
            "{now}."
        )
    key_word, token = in_words(target.tokens[key]), in_words(target.predicts[query])
    return [_(text, row=query + 1, key=key_word, token=token, was=was, now=now)]


def _sentences(
    scene: Scene, off: tuple[MaskPart, ...], masked: Pass, after: Pass, reread: Reread | None, batch: Batch | None
) -> list[str]:
    """What the picture shows, in at most three sentences. `masked`: as `after`, but with the causal mask."""
    sentences = []
    if "causal" in off:
        if scene.subject.with_causal_mask.edits:
            text = gettext_noop(
                "All rows at once, {share:.0%} of the attention goes to later tokens, and the log-probability goes "
                "from {before}, with this mask and the same other edits, to {after}."
            )
        else:
            text = gettext_noop(
                "All rows at once, {share:.0%} of the attention goes to later tokens, and the log-probability goes "
                "from {before} to {after}."
            )
        numbers = {"before": fixed(masked.predictions.score, 1), "after": fixed(after.predictions.score, 1)}
        sentences += [
            _("In decoding with the cache, step t has only the keys 1 to t, so the causal mask hides nothing."),
            _(text, share=Share(after.share_on_later), **numbers),
        ]
        if reread and reread.cached != reread.after:
            sentences.append(
                _("Without a cache, earlier rows attend to later tokens at each step, and the translation changes.")
            )
    if batch and len(sentences) < 3:
        sentences.append(_in_the_batch(batch))
    return sentences or [
        _("A mask says which keys a query may attend to: no later tokens (causal), and no padding."),
        _("Switch one off, or click a cell of the matrix: where does it matter?"),
    ]


def _in_the_batch(batch: Batch) -> str:
    """Where the attention to padding is, and what becomes of the translation."""
    share, (masked, unmasked) = float(batch.share_on_padding("encoder").mean()), batch.written
    stays = masked.text == unmasked.text
    changes = _("but the translation stays the same") if stays else _("and the translation changes")
    if not share:
        return _("In the batch, the decoder's attention is also on padding, {changes}.", changes=changes)
    text = gettext_noop("In the batch, {share:.0%} of the encoder's attention is on padding, {changes}.")
    return _(text, share=Share(share), changes=changes)


def _details(scene: Scene) -> None:
    """Draws why a mask is used while translating, too; both translations token by token; a link to the page Masks."""
    st.markdown(
        _(
            "**Why is the mask used in decoding, too?** A step of a search has one query, the newest token, and all "
            "keys that there are may be attended to: the mask has nothing to forbid. But because no row attends to "
            "what comes after it, its keys and values stay the same when a token is added, and can be kept: the causal "
            "mask is what makes a cache possible. Without the mask, each new token would change all rows before it, as "
            "in the row “without a cache” above, and a pass over the finished translation would not be what the steps "
            "have computed."
        )
    )
    if scene.subject.window is not None:
        st.markdown(
            _(
                "This model also has an attention window, which stays: a step of the search attends only to the keys "
                "inside it."
            )
        )
    before_and_after(scene, key="whatif_masks_outcome")
    label = _("The masks of a batch, cell by cell: page Masks")
    st.page_link(page_named("masks"), label=label, icon=":material/grid_on:", query_params=query())
