"""Patch a vector: one vector of the encoder is replaced by that of another sentence. Where is the word that differs?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from app.components import cell_grid
from app.components.cell_grid import Axis, View
from app.compute import patch_results
from app.figures.axes import in_words
from app.figures.tables import Table
from app.figures.theme import fixed, role_color, signed_scale
from app.languages import _, ngettext, pgettext
from app.library.source_code import lines_of_definition
from app.stage import template
from app.stage.scene import Scene
from app.stage.text_check import NoScene
from app.state import edit_choices
from app.state.choices import ALL_PATCHES
from app.views.shared.number_tables import readable
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from app.views.whatif.before_and_after import before_and_after, note_of_original_model
from app.views.whatif.other_sentence import Sentences, other_sentence
from transformer.analysis.edits import VectorPatched
from transformer.errors import HeadlightError

QUICK = 2.5e11  # cells x tokens x parameters; up to this, all cells are computed when the page opens (3 s on one core)
LITTLE = 0.05  # a smaller effect is not mentioned


@dataclass(frozen=True)
class Grid:
    """The effect of each patch, (1 + L, S): row 0 after the embedding, row l after layer l."""

    sentences: Sentences
    effect: np.ndarray

    @property
    def rows(self) -> list[str]:
        """The name of each row: the embedding or the layer after which a vector is replaced."""
        return [_("Embedding"), *(_("Layer {layer}", layer=layer + 1) for layer in range(len(self.effect) - 1))]

    def edit(self, row: int, position: int) -> VectorPatched:
        """The edit of the model for a cell."""
        return VectorPatched(row - 1 if row else None, position, self.sentences.other.source_ids)

    def cell_of(self, scene: Scene) -> tuple[int, int] | None:
        """Row and position of the edit that the model has."""
        for edit in scene.subject.edits:
            if isinstance(edit, VectorPatched) and edit.source_ids == self.sentences.other.source_ids:
                return 0 if edit.layer is None else edit.layer + 1, edit.position
        return None

    @property
    def farthest(self) -> tuple[int, int] | None:
        """The cell with the largest effect at a position whose token is the same in both sentences."""
        same = self.effect.copy()
        same[:, list(self.sentences.changed)] = 0
        same[0] = 0  # after the embedding, equal tokens have equal vectors
        row, position = np.unravel_index(same.argmax(), same.shape)
        return (int(row), int(position)) if same[row, position] >= LITTLE else None

    @property
    def best(self) -> int:
        """Of the positions with different tokens, the one with the largest effect after the last layer."""
        return max(self.sentences.changed, key=lambda position: float(self.effect[-1, position]))


def draw(scene: Scene) -> None:
    """Draws the other sentence, the grid, and the translations by the original and the edited model."""
    place = st.container(gap=None)
    try:
        with place:
            grid = _grid(scene)
    except (NoScene, HeadlightError) as problem:
        with place, st.container(key="text_no_patch"):
            st.text(str(problem))
        grid = None
    if grid:
        with place:
            _picture(scene, grid)
    before_and_after(scene, key="whatif_patch_outcome")
    if grid:
        template.say(*_sentences(grid))
    template.details(partial(_details, grid))


def _grid(scene: Scene) -> Grid | None:
    """The effects of all cells; None if they take long and were not requested."""
    sentences = other_sentence(scene)
    subject, pair = scene.subject.original, sentences.pair
    layers = [None, *range(scene.config.encoder_layers)]
    tokens = len(pair.sources[0])
    passes, read = tokens * len(layers), tokens + sum(map(len, pair.targets))
    work = passes * read * subject.translator.model.parameter_count
    if not ALL_PATCHES.open(work <= QUICK):
        name = _("Compute all {cells:,} cells of this long sentence", cells=passes)
        st.button(name, on_click=ALL_PATCHES.choose, args=(True,))
        return None
    bar = st.empty()
    rows = []
    for row, layer in enumerate(layers):
        if work > QUICK / 3:
            bar.progress(row / len(layers), _("Patching row {row} of {rows}", row=row + 1, rows=len(layers)))
        rows.append(patch_results.effects(subject, pair, layer))
    bar.empty()
    return Grid(sentences, np.stack(rows))


def _picture(scene: Scene, grid: Grid) -> None:
    chosen = grid.cell_of(scene)
    color = role_color("encoder")
    view = View(
        _("Effect"),
        grid.effect.tolist(),
        signed_scale(),
        signed=True,
        says=_("Only the vector of {column} from the other sentence, after {row}: effect {value}."),
        means=_("0: as your sentence. 1: as the other one.") + note_of_original_model(scene),
        digits=2,
    )
    rows = ngettext("{count} row (embedding, layers)", "{count} rows (embedding, layers)", len(grid.effect))
    positions = ngettext("{count} position", "{count} positions", len(grid.sentences.tokens))
    with st.container(key="picture_patch"):
        cell_grid(
            [view],
            Axis(pgettext("title of an axis", "after"), grid.rows, color),
            Axis(pgettext("title of an axis", "position"), grid.sentences.tokens, color),
            key="patch",
            alt=_(
                "Effect of one vector of the other sentence: {rows}, {positions}. Enter adds the patch, or removes it.",
                rows=rows,
                positions=positions,
            ),
            chosen=chosen or grid.farthest or (len(grid.effect) - 1, grid.best),
            framed=bool(chosen),
            on_choose=_chooser(scene, grid),
            height=220,
        )
    download_and_table(key="patch", name=_("Effect of each patched vector"), table=partial(table, grid))


def _chooser(scene: Scene, grid: Grid) -> Callable[[int, int], None]:
    def choose(row: int, position: int) -> None:
        """Patches this vector only, or removes the patch if it is this one."""
        edit = grid.edit(row, position)
        edit_choices.replace(VectorPatched, None if edit_choices.is_on(edit) else edit, scene.subject.edits)

    return choose


def _sentences(grid: Grid) -> list[str]:
    """What the grid says, in at most three sentences, with its numbers."""
    tokens = list(map(in_words, grid.sentences.tokens))
    best = {"token": tokens[grid.best], "effect": fixed(grid.effect[-1, grid.best], 2)}
    if grid.farthest:
        row, position = grid.farthest
        other = {"other": tokens[position], "far": fixed(grid.effect[row, position], 2)}
        where = _(
            "After the last layer, the vector of “{token}” has an effect of {effect}. The vector of “{other}”, a token "
            "that is the same in both sentences, has an effect of up to {far} (layer {layer}): attention has copied "
            "something there.",
            **best,
            **other,
            layer=row,
        )
    else:
        where = _(
            "It stays at its position: after the last layer, the vector of “{token}” has an effect of {effect}, and "
            "each token that is the same in both sentences has less than {little}.",
            **best,
            little=LITTLE,
        )
    return [
        _(
            "In each cell, one vector of your sentence is replaced by that of the other sentence. 0: the model prefers "
            "your translation as much as before. 1: it prefers the other one as much as if it had read the other "
            "sentence."
        ),
        where,
        _("Click a cell, and every page shows the model with that patch."),
    ]


def _details(grid: Grid | None) -> None:
    triplet(
        _("the effect of a patch"),
        r"\frac{m - m_a}{m_b - m_a}, \quad m = \log p(y_b \mid x) - \log p(y_a \mid x)",
        _(
            "$y_a$ and $y_b$ are the translations of the sentences $a$ and $b$ by the original model; the decoder "
            "reads both (teacher forcing). $m$ is computed with one vector of $a$ replaced by that of $b$, and the "
            "layers after it compute on from there. The grid is of the original model, one patch at a time; the "
            "effects of several do not add up. A vector is patched at its own position only, so both sentences need as "
            "many tokens. The decoder is left out: from the first token that differs on, its rows read different "
            "translations."
        ),
        lines_of_definition("analysis/patching.py", "patch_effects"),
        origin="elsewhere",
    )
    st.markdown(
        _(
            "Vig et al. (2020), *Investigating Gender Bias in Language Models Using Causal Mediation Analysis*, "
            "replace activations to find the parts that carry a bias; Meng et al. (2022), *Locating and Editing "
            "Factual Associations in GPT*, restore activations to find where a fact is recalled. A patch shows what "
            "the model uses; attention weights show only what it could use."
        )
    )
    if grid:
        st.dataframe(**readable(dict(table(grid))), hide_index=True)


def table(grid: Grid) -> Table:
    """One row per position; one column for the embedding and one per layer."""
    effects = {name: row.tolist() for name, row in zip(grid.rows, grid.effect, strict=True)}
    return {_("position"): list(grid.sentences.tokens), **effects}
