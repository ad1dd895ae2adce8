"""What edits change in a pass, as far as the walk speaks of it: the sites, and what is said there."""

from dataclasses import dataclass

import numpy as np

from app.compute.edited_cells import edited_cells
from app.compute.subject import Subject
from app.figures.mask_reasons import combined_mask
from app.languages import _, gettext_noop
from app.stage.scene import Scene
from transformer.analysis.edits import PositionsOff
from transformer.model import census
from transformer.model.attention_kinds import KINDS, SITES, depth

_PATCHED = ("embedding.output", "residual_sum", "norm_out")  # the ends of the sites where an edit replaces vectors
_OF_ONE_PASS = gettext_noop(
    "An edit lets rows attend to later tokens: this is one pass over the whole translation, and a step of decoding, "
    "which has no later tokens yet, computes other numbers."
)
_PREDICTED = {  # by station: what is said there if rows may attend to later tokens
    "logits": _OF_ONE_PASS,
    "probabilities": _OF_ONE_PASS,
    "chosen": gettext_noop(
        "These probabilities are of the steps of decoding. Those of the softmax are of one pass over the whole "
        "translation, in which an edit lets rows attend to later tokens."
    ),
}


@dataclass(frozen=True)
class EditedSites:
    """The sites whose tensor an edit changes for this sentence.

    Attributes:
        sites: where it changes numbers, or cells of a mask.
        fully_masked: the sites of weights that have a fully masked row.
        without_positions: the stacks to whose embeddings no positions are added.
        allow_later: whether rows of the decoder may attend to later tokens.
    """

    sites: frozenset[str] = frozenset()
    fully_masked: frozenset[str] = frozenset()
    without_positions: frozenset[str] = frozenset()
    allow_later: bool = False

    def below(self, prefix: str) -> frozenset[str]:
        """The names of the sites with this prefix, without it."""
        return frozenset(site.removeprefix(prefix) for site in self.sites if site.startswith(prefix))

    def layers_differ(self, stack: str, layers: int) -> bool:
        """Whether edits change some layers of a stack at other sites than others."""
        return len({self.below(f"{stack}.layers.{layer}.") for layer in range(layers)}) > 1

    def said_at(self, site: str) -> str:
        """What is said of edits at a site besides the words of its station; "" where there is nothing to say."""
        base, _dot, name = site.rpartition(".")
        said = []
        if site in self.fully_masked:
            said.append(_("The exception is a fully masked row: its weights are all 0."))
        if name == "residual_sum" and f"{base}.residual_connection" in self.sites:
            said.append(_("An edit takes the residual connection away: the sub-layer's output continues alone."))
        if site in self.sites and name != "mask":  # the words of a mask say it
            said.append(
                _("An edit replaces the vector of a token by one of another sentence; the picture shows that one.")
                if site.endswith(_PATCHED)
                else _(
                    "An edit changes numbers here after this calculation: the picture shows what the model continues "
                    "with."
                )
            )
        if self.allow_later and site in _PREDICTED:
            said.append(_(_PREDICTED[site]))
        return " ".join(said)


NO_EDITS = EditedSites()


def edited_sites(scene: Scene) -> EditedSites:
    """What the edits of the scene's model change for its sentence."""
    subject, sizes = scene.subject, scene.sizes
    if not subject.edits:
        return NO_EDITS
    shapes = {site: tuple(sizes[letter] for letter in axes[1:]) for site, axes in census(scene.config).items()}
    changed = {
        site
        for site, shape in shapes.items()
        if not site.endswith(".mask") and subject.is_edited_at(site) and edited_cells(subject, site, shape).any()
    }
    masks, fully_masked, allow_later = _edited_masks(scene)
    return EditedSites(frozenset(changed | masks), frozenset(fully_masked), _without_positions(subject), allow_later)


def _edited_masks(scene: Scene) -> tuple[set[str], set[str], bool]:
    """The sites of the masks that an edit changes, in one head or in all; those of weights with a fully masked row;
    and whether a row of the decoder may attend to later tokens."""
    recorded, changed, empty, allow_later = scene.record("*.mask"), set(), set(), False
    for kind in KINDS:
        unedited = combined_mask(scene.mask_parts(kind))
        for site in (SITES[kind].format(layer) for layer in range(depth(scene.config, kind))):
            mask = recorded[f"{site}.mask"]
            if np.any(mask != unedited):
                changed.add(f"{site}.mask")
            if not mask.any(axis=-1).all():
                empty.add(f"{site}.weights")
            allow_later |= kind == "decoder" and bool(np.triu(mask, 1).any())
    return changed, empty, allow_later


def _without_positions(subject: Subject) -> frozenset[str]:
    return frozenset(edit.stack for edit in subject.edits if isinstance(edit, PositionsOff))
