"""All choices of a visitor that outlive a click: default, where each is written, and which event resets it.

A page reads a choice with `value`, or with `open` where it draws the widget, and changes it with `choose`. Tokens,
steps and sentences count from 0 here and from 1 in the address; layers and heads count from 1.
"""

from app.library.checkpoints import MOST_CHARACTERS
from app.state.address_texts import (
    from_one,
    heads,
    heads_text,
    ids,
    ids_text,
    one_head,
    one_head_text,
    one_of,
    plus_one,
    strings,
    switch,
    switch_text,
    text,
    whole,
)
from app.state.choice import Choice, Event
from transformer.model.attention_kinds import KINDS, Kind

LONGEST_SECOND = 400  # characters
LONGEST_WORD = 60
LONGEST_REFERENCE = 2000
MOST_EDITS = 200
GIVEN_SHOWN = -1  # in place of an alternative: the visitor's own translation
CLEAREST = (-1, -1)  # in place of a layer and a head

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
GIVEN_IDS = Choice[tuple[int, ...]]("given_ids", (), ids, ids_text, written="link", reset_by=SENTENCE_CHANGES)
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
DETAILS = Choice("details", False, switch, switch_text)

# Attention
HIDE_SPECIAL = Choice("hide", False, switch, switch_text, page="attention")
WORDS = Choice("words", False, switch, switch_text, page="attention")
ONE_ROW = Choice("one", False, switch, switch_text, page="attention")
NAMING = Choice("naming", "both", str, page="attention")
NAMING_OF_WORDS = Choice("naming_words", "predicts", str, page="attention")
TAB = Choice("more", "layers", str, page="attention")
SHIFT = Choice("shift", "predicts", str, page="attention", reset_by=("checkpoint",))
THRESHOLD = Choice("threshold", 0.3, float, page="attention")
ALIGNMENT_HEADS = Choice[list[tuple[int, int]]](
    "alignment_heads", [], heads, heads_text, page="attention", reset_by=("checkpoint",)
)
# The heads that are drawn together as lines: the one that was chosen then, and those that are on
LINES_ON = Choice[tuple[int, ...]]("lines_on", (), ids, ids_text, page="attention", reset_by=("checkpoint",))
BERTVIZ = Choice("bertviz", "head", str, page="attention")

# Step by step, one head by hand, multi-head, masks
STATION = Choice("at", "", str, page="steps")
DETAIL = Choice("detail", "lecture", str, page="steps")
WRITTEN_STEP = Choice("written", "product", str, page="hand")
ALL_TERMS = Choice("all_terms", False, switch, switch_text, page="hand")
MATRIX = Choice("matrix", "query", str, page="multihead")
ROW_OF_BATCH = Choice("sentence_of_batch", 2, whole, page="masks")
MASK_TAKEN = Choice("mask_taken", False, switch, switch_text, page="masks")
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
NODE = Choice[tuple[int, ...]]("node", (), ids, ids_text, page="decoding", reset_by=SEARCH_CHANGES)  # step, node
PREFIX = Choice[tuple[int, ...]](
    "beginning", (), ids, ids_text, written="link", page="decoding", reset_by=SENTENCE_CHANGES
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
RANKED = Choice("ranked", False, switch, switch_text, page="whatif")  # what each head costs is shown
# The sentence whose vectors are patched; and whether all cells are computed although it takes long
PATCHED_SENTENCE = Choice(
    "patched_sentence", "", text(LONGEST_SECOND), written="link", page="whatif", reset_by=SENTENCE_CHANGES
)
ALL_PATCHES = Choice("all_patches", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
# The word that is changed, what stands in its place, and whether what takes long is computed
CHANGED_WORD = Choice("changed_word", 0, from_one, plus_one, page="whatif", reset_by=SENTENCE_CHANGES)
NEW_WORD = Choice("new_word", "", text(LONGEST_WORD), written="link", page="whatif", reset_by=SENTENCE_CHANGES)
WORDS_ASKED = Choice("all_words", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
INTEGRATED = Choice("integrated", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
ALL_HEADS = Choice("all_heads", False, switch, switch_text, page="whatif")  # of the layer, whose row is set by hand

# Compare: what differs, and the other side of each
SIDE = Choice("side", "search", str, page="compare")
COMPARED_SENTENCE = Choice("compared_sentence", "", text(LONGEST_SECOND), written="link", page="compare")
COMPARED_CHECKPOINT = Choice("compared_checkpoint", "", str, page="compare")
COMPARED_SEARCH = Choice("compared_search", "greedy", str, page="compare")
COMPARED_HEAD = Choice("compared_head", "", str, page="compare")  # kind, layer and head from 1: "cross.2.6"

# Side by side: which page, what is beside it; and whether this visitor is a frame of that page
BESIDE_PAGE = Choice("beside_page", "attention", str, page="beside")
BESIDE = Choice("beside", "checkpoint", str, page="beside")
BESIDE_SENTENCE = Choice("beside_sentence", "", text(LONGEST_SECOND), written="link", page="beside")
BESIDE_CHECKPOINT = Choice("beside_checkpoint", "", str, page="beside")
FRAMED = Choice("framed", False, switch, switch_text)

SEARCH = (METHOD, BEAM, ALTERNATIVES, PENALTY, ALPHA, TEMPERATURE, TOP_K, TOP_P, DRAWS, SEED)
SCENE = (CHECKPOINT, EDITS, SENTENCE, SHOWN_SENTENCE, ALTERNATIVE, GIVEN, GIVEN_IDS, *SEARCH)  # what a scene is made of

PRIVATE = (
    SECOND,
    PREFIX,
    REFERENCE,
    RUN_SENTENCE,
    RUN_RIGHT,
    COMPARED_SENTENCE,
    BESIDE_SENTENCE,
    PATCHED_SENTENCE,
    NEW_WORD,
)  # what else a copied link has
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


def choose_head(layer: int, head: int) -> None:
    """Chooses a head, from 0."""
    LAYER.choose(layer + 1)
    HEAD.choose(head + 1)
