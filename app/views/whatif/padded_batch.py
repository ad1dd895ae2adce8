"""Two sentences in one batch, of which the shorter one is padded: what the model makes of the shorter one with the
padding mask, and without it. With the mask and without it, a forward pass and a translation are computed on the padded
batch (paper, section 5.1: batches)."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from app.compute import cached_results
from app.compute.mask_results import translate_batch
from app.compute.row_predictions import predictions
from app.compute.subject import Subject
from app.library import checkpoints
from app.stage.scene import Scene
from transformer.analysis.edits import MaskOff
from transformer.analysis.trace import Trace
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis, Translation
from transformer.model.attention_kinds import SITES, Kind

MASKS = (MaskOff("padding"), MaskOff("cross"))  # if one of them is taken away, padding is attended to
TRIED = 2  # so many longer sentences are tried to find one that changes the translation of the padded one
LEAST_PADDING = 4  # tokens of padding that a picture needs


@dataclass(frozen=True)
class Batch:
    """What a model makes of the shorter of two sentences in a batch with the longer one, with its masks and without.

    "Without" means: without one of `MASKS`, or both.

    Attributes:
        sentences: both, each translated alone.
        row: the number of the shorter one, which has the padding.
        masked, unmasked: the recorded passes over the batch with the masks and without. Each has the arrays of the
            shorter sentence: the weights of each layer, and the logits. The decoder reads the translations of
            `sentences`.
        is_off: whether the model of the page is the one without the mask.
        written: what the two models write, each in the batch.
        alone: the logits of the same pass over the shorter sentence alone, (T, V).
    """

    sentences: tuple[Translation, Translation]
    row: int
    masked: Trace
    unmasked: Trace
    is_off: bool
    written: tuple[Hypothesis, Hypothesis]
    alone: np.ndarray

    @property
    def sentence(self) -> Translation:
        """The sentence with padding."""
        return self.sentences[self.row]

    @property
    def own(self) -> Hypothesis:
        """The translation of this sentence when it is translated alone."""
        return self.sentence.hypotheses[0]

    @property
    def source_length(self) -> int:
        """The number of its tokens without padding."""
        return len(self.sentence.source_ids)

    @property
    def padding(self) -> int:
        return len(self.masked.source_ids) - self.source_length

    @property
    def scores(self) -> tuple[float, float, float]:
        """The log-probability of `own` three times: alone, in the batch with the masks, and in the batch without."""
        ids = self.own.ids
        logits = (self.alone, *(each["logits"][: len(ids)] for each in (self.masked, self.unmasked)))
        alone, masked, unmasked = (predictions(each, ids).score for each in logits)
        return alone, masked, unmasked

    @property
    def rounding(self) -> float:
        """The largest difference between the logits in the batch with the masks and the logits alone."""
        return float(np.abs(self.masked["logits"][: len(self.alone)] - self.alone).max())

    def weights(self, trace: Trace, kind: Kind) -> np.ndarray:
        """The weights of all layers and heads of a kind, (L, H, Q, S): queries without padding, all keys."""
        queries = self.source_length if kind == "encoder" else len(self.own.ids)
        layers = [trace[site] for layer in range(len(trace.arrays)) if (site := _site(kind, layer)) in trace.arrays]
        return np.stack(layers)[..., :queries, :]

    def share_on_padding(self, kind: Kind) -> np.ndarray:
        """The share of each head's attention that is on padding without the mask, (L, H)."""
        found: np.ndarray = (
            self.weights(self.unmasked, kind)[..., self.source_length :].sum(-1, dtype=np.float64).mean(-1)
        )
        return found


def _site(kind: Kind, layer: int | str) -> str:
    return f"{SITES[kind].format(layer)}.weights"


def with_masks(subject: Subject) -> Subject:
    """The model without the edits in `MASKS`, but with all others."""
    return replace(subject, edits=tuple(edit for edit in subject.edits if edit not in MASKS))


def batch_of(scene: Scene, other: str, mask: MaskOff) -> Batch | None:
    """The sentence of the page in a batch with another one.

    `unmasked` is by the model of the page if that has an edit in `MASKS`; otherwise by the same model without `mask`.
    None: the sentences are equally long, so nothing is padded, or one has no translation. Raises HeadlightError.
    """
    masked = with_masks(scene.subject)
    is_off = masked != scene.subject
    subject = scene.subject if is_off else scene.subject.edited(mask)
    settings = _settings(scene)
    own = _alone(scene, masked)
    both = own, cached_results.translate_one(masked, other, settings)
    sources = both[0].source_ids, both[1].source_ids
    row = min((0, 1), key=lambda number: len(sources[number]))
    if len(sources[0]) == len(sources[1]) or not all(each.hypotheses for each in both):
        return None
    targets = both[0].hypotheses[0].ids, both[1].hypotheses[0].ids
    sites = (_site("encoder", "*"), _site("cross", "*"), "logits")
    traces = [cached_results.record_batch(each, sources, targets, sites)[row] for each in (masked, subject)]
    written = [
        translate_batch(each, (own.source, both[1].source), settings)[row].hypotheses[0] for each in (masked, subject)
    ]
    alone = cached_results.record(masked, sources[row], targets[row], ("logits",))["logits"]
    return Batch(both, row, traces[0], traces[1], is_off, (written[0], written[1]), alone)


def _settings(scene: Scene) -> DecodingConfig:
    """The settings of the page's search; greedy decoding in place of sampling, which draws other tokens in a batch."""
    settings = replace(scene.translation.settings, n_best=1)
    return settings if settings.method in ("greedy", "beam") else replace(settings, method="greedy")


def _alone(scene: Scene, subject: Subject) -> Translation:
    """The sentence of the page, translated alone by this model with the settings that a batch has."""
    own, settings = scene.translated_by(subject), _settings(scene)
    if settings.method == scene.translation.settings.method:
        return own
    return cached_results.translate_one(subject, own.source, settings)


def other_sentence(scene: Scene) -> str:
    """The sentence that is put into a batch with that of the page, until the visitor types one.

    It is the first of the `TRIED` shortest longer examples in whose batch the padding, without the mask, changes the
    translation of the sentence of the page. If there is none, it is the longest example, or the shortest if no example
    is longer. If no example can be used, it is the sentence of the page twice, or half of it if that is too long.
    """
    source, size = scene.translation.source, len(scene.translation.source_ids)
    sizes = {text: checkpoints.tokens_needed(scene.subject.file, text)[0] + 1 for text in scene.task.examples}
    fits = partial(checkpoints.fits, scene.subject.file)
    fitting = sorted((text for text in sizes if text != source and fits(text)), key=sizes.__getitem__)
    longer = [text for text in fitting if sizes[text] >= size + LEAST_PADDING]
    if not fitting:
        is_short = 2 * (size - 1) <= checkpoints.most_tokens(scene.subject.translator)  # </s> does not count
        return f"{source} {source}" if is_short else source[: len(source) // 2]
    if not longer:
        return fitting[0]
    original, settings = scene.subject.original, _settings(scene)
    own = _alone(scene, original).hypotheses[0]
    for text in islice(longer, TRIED):
        found = translate_batch(original.edited(MASKS[0]), (source, text), settings)[0]
        if found.hypotheses and found.hypotheses[0].text != own.text:
            return text
    return longer[-1]
