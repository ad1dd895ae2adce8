"""What the app translates, loads and draws at most: a checkpoint or a visitor may ask for more than a server has.

The command line has none of these limits. A file in the folder of checkpoints is trusted to fit into memory; an upload
is not.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.languages import _
from transformer.checkpoint.header import Header
from transformer.config import DecodingConfig, ModelConfig
from transformer.decoding.length_penalty import length_limit
from transformer.errors import CheckpointError, TranslationError

MOST_BEAM = 12
MOST_EXTRA_LENGTH = 50  # tokens of a translation beyond those of its source, as in the paper (section 6.1)
MOST_HEADS = 1024  # layers x heads of one kind of attention; each head is a picture of up to 151 x 151 weights
MOST_FLOP = 5e11  # of one search, if all its hypotheses reach the length limit: some 10 s on one core
MOST_UPLOAD_MEMORY = 2**30  # bytes that an uploaded checkpoint may take once it is loaded
BYTES_PER_TOKEN = 4 * 4 * 151  # of the vocabulary: four copies of the longest translation's logits (151 rows, float32)
BYTES_PER_PARAMETER = 10  # measured: 4 of the model, 4 of the copy that decodes, and what loading needs besides


def bounded(settings: DecodingConfig) -> DecodingConfig:
    """The settings of a checkpoint's recipe, reduced to the limits of the app."""
    beam = min(settings.beam, MOST_BEAM)
    return replace(
        settings,
        beam=beam,
        n_best=min(settings.n_best, beam),
        max_extra_length=min(settings.max_extra_length, MOST_EXTRA_LENGTH),
    )


def check_search(config: ModelConfig, parameters: int, lengths: Sequence[int], settings: DecodingConfig) -> None:
    """Refuses a search that would delay all other visitors.

    Args:
        parameters: of the model; each takes 2 FLOP for each decoded token.
        lengths: tokens of each source sentence, </s> included.

    Raises:
        TranslationError: the search is too long.
    """
    rows = settings.beam if settings.method == "beam" else settings.n_best
    tokens = rows * sum(length_limit(length, settings, config.max_positions) for length in lengths)
    if 2 * parameters * tokens <= MOST_FLOP:
        return
    most = int(MOST_FLOP / (2 * parameters))
    raise TranslationError(
        _(
            "This search could take {steps:,} decoding steps, and the page makes up to {most:,} with this checkpoint. "
            "{remedy} Long texts are a job for `python -m transformer translate`.",
            steps=tokens,
            most=most,
            remedy=_remedy(settings.method, rows > 1, len(lengths) > 1),
        )
    )


def _remedy(method: str, several_rows: bool, several_sentences: bool) -> str:
    """What makes a search shorter."""
    if several_rows and method == "beam":
        return _("Lower the beam or give fewer sentences.") if several_sentences else _("Lower the beam.")
    if several_rows:
        if several_sentences:
            return _("Draw fewer translations or give fewer sentences.")
        return _("Draw fewer translations.")
    return _("Give fewer sentences.") if several_sentences else _("Shorten the sentence.")


def check_showable(header: Header) -> None:
    """Raises CheckpointError for a model with more heads than a page can show."""
    config = header.config
    layers = max(config.encoder_layers, config.decoder_layers)
    if layers * config.heads > MOST_HEADS:
        raise CheckpointError(
            _(
                "{file} has {layers} layers of {heads} heads. The app draws all heads of a model side by side, and "
                "{most:,} at most; translate with `python -m transformer translate` instead.",
                file=header.path,
                layers=layers,
                heads=config.heads,
                most=MOST_HEADS,
            )
        )


def check_upload(header: Header) -> None:
    """Raises CheckpointError for an upload that would take too much memory once it is loaded."""
    needed = BYTES_PER_PARAMETER * header.parameters + BYTES_PER_TOKEN * header.config.vocab_size
    if needed > MOST_UPLOAD_MEMORY:
        raise CheckpointError(
            _(
                "{file} has {parameters:,} parameters and a vocabulary of {tokens:,} tokens. Together they take about "
                "{needed:.1f} GiB of memory, and an upload may take {most:.0f} GiB. Put the file into the folder of "
                "checkpoints (pretrained) instead.",
                file=header.path,
                parameters=header.parameters,
                tokens=header.config.vocab_size,
                needed=needed / 2**30,
                most=MOST_UPLOAD_MEMORY / 2**30,
            )
        )
