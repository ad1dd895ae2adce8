"""A section of Masks: two sentences of different length in one batch, which queries may attend to which keys, and how
the mask changes the scores."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from app.components.canvas import Head
from app.components.chart import Point, chart
from app.compute import cached_results
from app.figures.mask_reasons import Parts
from app.languages import _
from app.library import checkpoints
from app.library.source_code import lines_of_definition
from app.library.tasks import Task
from app.stage.controls import Controls
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.choices import KIND, LONGEST_SECOND, ROW_OF_BATCH, SECOND
from app.views.masks.batch_figure import Line, batch_alt, batch_figure, batch_table
from app.views.masks.decoding_section import while_translating
from app.views.masks.mask_overview import Tile, overview_figure, overview_table
from app.views.masks.mask_parts_section import HeadOfBatchSentence, cell_and_parts
from app.views.masks.scores_and_padding_sections import padding_check, scores_and_weights
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.analysis.batch_masks import mask_parts
from transformer.analysis.trace import Trace
from transformer.decoding.translation import Translation
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import IN_ORDER, SITES


def masks_of_a_batch(scene: Scene, controls: Controls) -> None:
    """Draws the section. It opens with the mask that the paper adds, the causal one of the decoder."""
    kind, layer, head = controls.kind_layer_head("decoder")
    second = _second_sentence(scene)
    if second is None:
        return
    sources = (scene.translation.source_ids, second.source_ids)
    targets = (scene.hypothesis.ids, second.hypotheses[0].ids)
    site = SITES[kind].format(layer)
    heads = {k: Head(k, layer, head) if k == kind else Head(k, 0, 0) for k in IN_ORDER}  # whose masks are shown
    masks = tuple(f"{_site(heads[k])}.mask" for k in IN_ORDER)
    traces = cached_results.record_batch(scene.subject, sources, targets, masks)
    row = _batch(traces, sources, targets)
    tiles = [[_tile(scene, found, number, heads[k]) for k in IN_ORDER] for number, found in enumerate(traces)]
    _overview(scene, tiles, row, heads[kind])
    _rectangle(traces)
    this = HeadOfBatchSentence(
        scene=scene,
        kind=kind,
        site=site,
        head=head,
        layer=layer,
        number=row,
        trace=cached_results.record_batch(scene.subject, sources, targets, (f"{site}.*",))[row],
        real=(len(sources[row]), len(targets[row])),
        batch=len(traces),
    )
    cell = cell_and_parts(this, controls)
    if kind == "decoder":
        while_translating(this, cell[0], sources, targets)
    scores_and_weights(this, cell)
    padding_check(this, sources, targets)


def _second_sentence(scene: Scene) -> Translation | None:
    """The box for the other sentence of the batch, and its translation. None: there is none, and the page says why."""
    fits = partial(checkpoints.fits, scene.subject.file)
    SECOND.open(other_example(scene.task, scene.translation.source, fits))
    with st.container(key="second", horizontal=True, vertical_alignment="bottom", gap="medium"):
        text = st.text_input(
            _("Second sentence of the batch"),
            key=SECOND.key,
            persist_state="session",
            max_chars=LONGEST_SECOND,
            placeholder=_("Type a shorter or longer one and press Enter"),
            autocomplete="off",
        )
        shown = st.empty()
    if not (text or "").strip():
        st.info(_("Type a second sentence: a batch has padding only if its sentences differ in length."))
        return None
    longest = checkpoints.tokens_needed(scene.subject.file, text)[0]
    limit = checkpoints.most_tokens(scene.subject.translator)
    if longest > limit:
        st.warning(
            _(
                "The second sentence has {longest:,} tokens; the page shows up to {limit:,} with this checkpoint. "
                "Please shorten it.",
                longest=longest,
                limit=limit,
            )
        )
        return None
    try:
        settings = replace(scene.translation.settings, n_best=1)
        translated = cached_results.translate(scene.subject, text, settings)
    except HeadlightError as error:
        st.text(str(error))
        return None
    found = next((sentence for sentence in translated.sentences if sentence.hypotheses), None)
    if found is None:
        st.info(_("Nothing is left of the second sentence: it has only white space or invisible characters."))
        return None
    with shown.container(key="text_second"):
        st.text(found.hypotheses[0].text or _("(nothing)"))
    if len(translated.sentences) > 1:
        st.caption(_("Only the first of these sentences goes into the batch."))
    return found


def other_example(task: Task, sentence: str, fits: Callable[[str], bool]) -> str:
    """Another sentence for the batch: the shortest other example, or the beginning of this one if none fits."""
    others = [example for example in task.examples if example != sentence and fits(example)]
    if others:
        return min(others, key=len)
    words = sentence.split()
    return " ".join(words[: len(words) // 2]) or sentence[: max(len(sentence) // 2, 1)]


def _which_sentence(sources: tuple[tuple[int, ...], ...]) -> int:
    """The chosen sentence of the batch, from 0. Opens with the shorter one, which is padded."""
    shorter = min(range(len(sources)), key=lambda row: len(sources[row]))
    ROW_OF_BATCH.open(shorter + 1, (1, 2))
    st.segmented_control(
        _("Sentence of the batch"),
        (1, 2),
        required=True,
        key=ROW_OF_BATCH.key,
        persist_state="session",
        label_visibility="collapsed",
        format_func=lambda number: _("Sentence {number}", number=number),
    )
    return ROW_OF_BATCH.value - 1


def _batch(
    traces: tuple[Trace, ...], sources: tuple[tuple[int, ...], ...], targets: tuple[tuple[int, ...], ...]
) -> int:
    """Draws what encoder and decoder read. Returns the chosen sentence, from 0."""
    lines = [
        Line(_("encoder, sentence {number}", number=i + 1), "encoder", found.source_tokens, len(sources[i]))
        for i, found in enumerate(traces)
    ] + [
        Line(_("decoder, sentence {number}", number=i + 1), "decoder", found.target_tokens, len(targets[i]))
        for i, found in enumerate(traces)
    ]
    name = _("The batch: what encoder and decoder read")
    with st.container(key="picture_mask_batch"):
        figure = batch_figure(lines, title=name)
        chart(figure, key="mask_batch", alt=batch_alt(lines, name))
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        row = _which_sentence(sources)
        download_and_table(key="mask_batch", name=name, table=lambda: batch_table(lines))
    return row


def _site(head: Head) -> str:
    return SITES[head.kind].format(head.layer)


def _tile(scene: Scene, found: Trace, number: int, head: Head) -> Tile:
    parts: Parts = mask_parts(scene.config, found.source_ids, found.target_ids, head.kind)
    mask = found[f"{_site(head)}.mask"][head.head]
    return Tile(_(SHORT[head.kind]), _("sentence {number}", number=number + 1), mask, parts)


def _overview(scene: Scene, tiles: list[list[Tile]], row: int, chosen: Head) -> None:
    name = _("All masks of the batch")
    with st.container(key="picture_mask_overview"):
        chart(
            overview_figure(tiles, (row, IN_ORDER.index(chosen.kind)), title=name),
            key="mask_overview",
            on_click=_clicked,
            alt=_(
                "{name}, one line per sentence, one column per kind of attention. The table has their numbers; the "
                "buttons Attention and Sentence of the batch choose one.",
                name=name,
            ),
        )
    whose = _("All heads and layers share them.")
    if scene.subject.edits:
        whose = _(
            "The framed mask is that of layer {layer}, head {head}, the others are of layer 1, head 1: an edit may "
            "change the mask of one head.",
            layer=chosen.layer + 1,
            head=chosen.head + 1,
        )
    st.caption(_("Rows of a mask are queries, columns are keys. Click a mask to see it large.") + " " + whose)
    download_and_table(key="mask_overview", name=name, table=lambda: overview_table(tiles))


def _rectangle(traces: tuple[Trace, ...]) -> None:
    """Why there is padding at all."""
    read, written = traces[0].source_tokens, traces[0].target_tokens
    triplet(
        _("section 5.1"),
        r"S = \max_b S_b \qquad T = \max_b T_b",
        _(
            "“Sentence pairs were batched together by approximate sequence length.” Approximate: a tensor is a "
            "rectangle, so shorter sentences are padded to the length of the longest. The masks hide the padding."
        ),
        lines_of_definition("analysis/trace.py", "_padded"),
        shape=_(
            "sources: {sources}. targets: {targets}",
            sources=shape_text("BS", (len(traces), len(read))),
            targets=shape_text("BT", (len(traces), len(written))),
        ),
    )


def _clicked(mask: Point) -> None:
    row, column = mask.customdata
    ROW_OF_BATCH.choose(int(row) + 1)
    KIND.choose(IN_ORDER[int(column)])
