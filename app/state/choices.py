"""All choices of a visitor that outlive a click: default, where each is written, and which event resets it.

A page reads a choice with `value`, or with `open` where it draws the widget, and changes it with `choose`. Tokens,
steps and sentences count from 0 here and from 1 in the address; layers and heads count from 1.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from app.library.checkpoints import MOST_CHARACTERS
from app.state.choice import Choice, Event
from transformer.model.attention_kinds import KINDS, Kind

Name = TypeVar("Name", bound=str)

LONGEST_SECOND = 400  # characters
LONGEST_REFERENCE = 2000
MOST_EDITS = 200
GIVEN_SHOWN = -1  # in place of an alternative: the visitor's own translation
CLEAREST = (-1, -1)  # in place of a layer and a head


def text(most: int) -> Callable[[str], str]:
    return lambda value: value[:most]


def one_of(names: Sequence[Name]) -> Callable[[str], Name]:
    return lambda value: names[names.index(cast(Name, value))]


def whole(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 7):
        raise ValueError(value)
    return int(value)


def from_one(value: str) -> int:
    """A number that counts from 1 in the address and from 0 here."""
    if whole(value) == 0:
        raise ValueError(value)
    return whole(value) - 1


def plus_one(value: int) -> str:
    return str(value + 1)


def switch(value: str) -> bool:
    return {"true": True, "false": False}[value]


def lower(value: object) -> str:
    return str(value).lower()


def ids(value: str) -> tuple[int, ...]:
    return tuple(map(whole, value.split("-"))) if value else ()


def joined(value: tuple[int, ...]) -> str:
    return "-".join(map(str, value))


def heads(value: str) -> list[tuple[int, int]]:
    """Heads such as "1.3,2.4", layer and head from 1."""
    pairs = [part.split(".") for part in value.split(",")]
    return [(from_one(layer), from_one(head)) for layer, head in pairs]


def heads_text(value: list[tuple[int, int]]) -> str:
    return ",".join(f"{layer + 1}.{head + 1}" for layer, head in value)


def one_head(value: str) -> tuple[int, int]:
    return heads(value)[0]


def one_head_text(value: tuple[int, int]) -> str:
    return heads_text([value])


def strings(value: str) -> list[str]:
    return value.split(",")


SENTENCE_CHANGES: tuple[Event, ...] = ("sentence", "checkpoint")
SEARCH_CHANGES: tuple[Event, ...] = ("sentence", "checkpoint", "search")

# The checkpoint and what it translates
CHECKPOINT = Choice("checkpoint", "", str)
SENTENCE = Choice("sentence", "", text(MOST_CHARACTERS + 1), written="link")
EXAMPLE = Choice("example", 0, from_one, plus_one, written="session")  # which is in the box until the visitor types
SECOND = Choice("second_sentence", "", text(LONGEST_SECOND), written="link")  # the other sentence of a batch
SHOWN_SENTENCE = Choice("nth", 0, from_one, plus_one, reset_by=SENTENCE_CHANGES)
ALTERNATIVE = Choice(
    "alternative",
    0,
    lambda value: GIVEN_SHOWN if value == "given" else from_one(value),
    lambda value: "given" if value == GIVEN_SHOWN else plus_one(value),
    reset_by=SENTENCE_CHANGES,  # and by another search, unless the visitor's own translation is shown
)
GIVEN = Choice("given", "", text(MOST_CHARACTERS), written="link", reset_by=SENTENCE_CHANGES)  # the visitor's own
# Its tokens, if it was made token by token
GIVEN_IDS = Choice[tuple[int, ...]](
    "given_ids", (), ids, joined, written="link", reset_by=SENTENCE_CHANGES
)  # if made token by token
# What was shown before each token that the reader put in place of one: (alternative, own translation, its ids, step)
UNDO = Choice[tuple[tuple[int, str, tuple[int, ...], int], ...]](
    "undo", (), lambda _: (), written="session", reset_by=SENTENCE_CHANGES
)

# What is changed in the model while it runs, as texts of transformer.analysis.edits
EDITS = Choice[tuple[str, ...]](
    "edits", (), lambda value: tuple(value.split(";")[:MOST_EDITS]), ";".join, reset_by=("checkpoint",)
)

# The search
METHOD = Choice("method", "beam", str)
BEAM = Choice("beam", 4, whole)
ALTERNATIVES = Choice("alternatives", 3, whole)
PENALTY = Choice("penalty", "paper", str)
ALPHA = Choice("alpha", 0.6, float)
TEMPERATURE = Choice("temperature", 1.0, float)
TOP_K = Choice("top_k", 0, whole)
TOP_P = Choice("top_p", 1.0, float)
DRAWS = Choice("draws", 3, whole)
SEED = Choice("seed", 0, whole)

# Head and tokens
KIND = Choice[Kind]("kind", "cross", one_of(tuple(KINDS)), always=True)
LAYER = Choice("layer", 0, whole, always=True, reset_by=("checkpoint",))
HEAD = Choice("head", 0, whole, always=True, reset_by=("checkpoint",))
STEP = Choice("t", 0, from_one, plus_one, always=True, reset_by=SEARCH_CHANGES)  # of the decoder
SOURCE_TOKEN = Choice("s", 0, from_one, plus_one, always=True, reset_by=SEARCH_CHANGES)
OTHER_TOKEN = Choice("k", 0, from_one, plus_one, always=True, reset_by=SEARCH_CHANGES)  # of self-attention: the key

# Whether the details below the picture are open, on every page
DETAILS = Choice("details", False, switch, lower)

# Attention
HIDE_SPECIAL = Choice("hide", False, switch, lower, page="attention")
WORDS = Choice("words", False, switch, lower, page="attention")
ONE_ROW = Choice("one", False, switch, lower, page="attention")
NAMING = Choice("naming", "both", str, page="attention")
NAMING_OF_WORDS = Choice("naming_words", "predicts", str, page="attention")
TAB = Choice("more", "layers", str, page="attention")
SHIFT = Choice("shift", "predicts", str, page="attention", reset_by=("checkpoint",))
THRESHOLD = Choice("threshold", 0.3, float, page="attention")
ALIGNMENT_HEADS = Choice[list[tuple[int, int]]](
    "alignment_heads", [], heads, heads_text, page="attention", reset_by=("checkpoint",)
)
BERTVIZ = Choice("bertviz", "head", str, page="attention")

# Step by step, one head by hand, multi-head, masks
STATION = Choice("at", "", str, page="steps")
DETAIL = Choice("detail", "lecture", str, page="steps")
WRITTEN_STEP = Choice("written", "product", str, page="hand")
ALL_TERMS = Choice("all_terms", False, switch, lower, page="hand")
MATRIX = Choice("matrix", "query", str, page="multihead")
ROW_OF_BATCH = Choice("sentence_of_batch", 2, whole, page="masks")
MASK_HEAD = Choice[tuple[int, int]](
    "mask_head", CLEAREST, one_head, one_head_text, page="masks", reset_by=("checkpoint",)
)

# Residual stream: whose token is shown; at first the source's
STREAM = Choice("stream", "encoder", one_of(("encoder", "decoder")), page="residual")

# Positions, scaling
SHUFFLE = Choice("shuffle", 1, whole, page="positions")
DIMENSION = Choice("dimension", 8, whole, page="positions")
WAVE_SPAN = Choice("wave_span", 64, whole, page="positions")
LAYOUT_WIDTH = Choice("layout_width", 16, whole, page="positions")
FROM_POSITION = Choice("from_position", 4, whole, page="positions")
OFFSET = Choice("offset", 5, whole, page="positions")
WIDTH_OF_HEAD = Choice("d_k", 64, whole, page="scaling")
COUNTS_ABOVE = Choice("counts_above", 0.01, float, page="scaling")

# Decoding
PART = Choice("part", "loop", str, page="decoding")
NODE = Choice[tuple[int, ...]]("node", (), ids, joined, page="decoding", reset_by=SEARCH_CHANGES)  # step, node
PREFIX = Choice[tuple[int, ...]](
    "beginning", (), ids, joined, written="link", page="decoding", reset_by=SENTENCE_CHANGES
)  # tokens that the visitor makes the search begin with
CONTINUED_NODE = Choice("continued_node", -1, whole, page="decoding", reset_by=SEARCH_CHANGES)
REFERENCE = Choice("reference", "", text(LONGEST_REFERENCE), written="link", page="decoding", reset_by=SENTENCE_CHANGES)

# Training, models
RUN = Choice("run", "", str, page="training")
COMPARED = Choice[list[str]]("compare", [], strings, ",".join, page="training")
RUN_KIND = Choice[Kind]("run_attention", "cross", one_of(tuple(KINDS)), page="training")
RUN_HEAD = Choice("run_head", CLEAREST, one_head, one_head_text, page="training")
RUN_SENTENCE = Choice("run_sentence", "", text(MOST_CHARACTERS), written="link", page="training")
RUN_RIGHT = Choice("run_right", "", text(MOST_CHARACTERS), written="link", page="training")
AT_UPDATE = Choice("at_update", -1, whole, page="training")
EPSILON = Choice("epsilon", 0.1, float, page="training")
FAMILY = Choice("family", "", str, page="models")
MEASURE = Choice("measure", "bleu", str, page="models")

# What if
EXPERIMENT = Choice("experiment", "heads", str, page="whatif")

SEARCH = (METHOD, BEAM, ALTERNATIVES, PENALTY, ALPHA, TEMPERATURE, TOP_K, TOP_P, DRAWS, SEED)
SCENE = (CHECKPOINT, EDITS, SENTENCE, SHOWN_SENTENCE, ALTERNATIVE, GIVEN, GIVEN_IDS, *SEARCH)  # what a scene is made of

PRIVATE = (SECOND, PREFIX, REFERENCE, RUN_SENTENCE, RUN_RIGHT)  # what else a copied link has
PLACE = (KIND, LAYER, HEAD, STEP, SOURCE_TOKEN, OTHER_TOKEN)  # what a picture shows of it

CHOICES: tuple[Choice, ...] = tuple(value for value in vars().values() if isinstance(value, Choice))


def happened(event: Event) -> None:
    """Resets what the event resets."""
    for choice in CHOICES:
        if event in choice.reset_by:
            choice.forget()


def search_changed() -> None:
    """Another search: the best translation is shown, unless the visitor's own is."""
    happened("search")
    if ALTERNATIVE.value != GIVEN_SHOWN:
        ALTERNATIVE.forget()


def sentence_typed() -> None:
    """Another text was entered."""
    happened("sentence")


def show_sentence(index: int) -> None:
    """Chooses one of several sentences, from 0: its best translation, from its beginning."""
    happened("sentence")
    SHOWN_SENTENCE.choose(index)


def take_sentence(value: str) -> None:
    """Puts a sentence into the box, as if the visitor had typed it."""
    happened("sentence")
    SENTENCE.choose(value)


def take_example(index: int) -> None:
    """Puts an example of the checkpoint, from 0, into the box."""
    happened("sentence")
    SENTENCE.forget()
    EXAMPLE.choose(index)


def open_checkpoint(name: str) -> None:
    """Opens a checkpoint on the sentence that is in the box; what else is chosen belongs to another model."""
    CHECKPOINT.choose(name)
    happened("checkpoint")


def show_given(text: str, ids: tuple[int, ...] = ()) -> None:
    """Shows the visitor's own translation, which may be chosen token by token."""
    GIVEN.choose(text)
    GIVEN_IDS.choose(ids)
    ALTERNATIVE.choose(GIVEN_SHOWN)


def choose_head(layer: int, head: int) -> None:
    """Chooses a head, from 0."""
    LAYER.choose(layer + 1)
    HEAD.choose(head + 1)
