"""All choices of a visitor that outlive a click: default, where each is written, and which event resets it.

A page reads a choice with `value`, or with `open` where it draws the widget, and changes it with `choose`; what changes
several choices at once is in events.py. Tokens, steps, sentences and pairs (layer, head) count from 0 here and from 1
in the address; LAYER and HEAD count from 1 in both.
"""

from app.figures.canvas_message import FORMS, Form
from app.library.checkpoints import MOST_CHARACTERS
from app.state import detail_choices
from app.state.address_texts import (
    from_one,
    heads,
    heads_text,
    ids,
    ids_text,
    names_of_folders,
    names_of_folders_text,
    one_head,
    one_head_text,
    one_of,
    pinned,
    pinned_text,
    plus_one,
    steps,
    steps_text,
    switch,
    switch_text,
    text,
    whole,
)
from app.state.choice import Choice, Event
from app.state.language_choice import LANGUAGE  # noqa: F401
from app.state.lecture_choices import LECTURE, LESSON, LESSON_SCENE, PRESENTER  # noqa: F401
from app.state.shown_translation import Shown
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
AS_TYPED = Choice("as_typed", False, switch, switch_text, reset_by=("text",))  # its spelling is not corrected
MISSING = Choice("missing_checkpoint", "", str, written="session", reset_by=("checkpoint",))  # one that was open
UPLOAD_PROBLEM = Choice("upload_problem", "", str, written="session", reset_by=("checkpoint",))  # of the last upload
EXAMPLE = Choice("example", 0, from_one, plus_one, written="session")  # in the box until the visitor types
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
# The tokens of GIVEN, if the visitor made it token by token
GIVEN_IDS = Choice[tuple[int, ...]]("given_ids", (), ids, ids_text, written="link", reset_by=SENTENCE_CHANGES)
# The steps of GIVEN, from 0, whose token the visitor gave. None: all. (): none, it is another translation of the search
GIVEN_STEPS = Choice[tuple[int, ...] | None](
    "given_steps", None, steps, steps_text, written="link", reset_by=SENTENCE_CHANGES
)
# For each change of the visitor, what was shown before it
UNDO = Choice[tuple[Shown, ...]]("undo", (), lambda _: (), written="session", reset_by=SENTENCE_CHANGES)

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
KIND = Choice[Kind]("kind", "cross", one_of(tuple(KINDS)), varies=True)
LAYER = Choice("layer", 0, whole, varies=True, reset_by=("checkpoint",))
HEAD = Choice("head", 0, whole, varies=True, reset_by=("checkpoint",))
STEP = Choice("t", 0, from_one, plus_one, varies=True, reset_by=SEARCH_CHANGES)  # of the decoder
SOURCE_TOKEN = Choice("s", 0, from_one, plus_one, varies=True, reset_by=SEARCH_CHANGES)
OTHER_TOKEN = Choice("k", 0, from_one, plus_one, varies=True, reset_by=SEARCH_CHANGES)  # of self-attention: the key

# The words that are pinned on the canvas by a click: kind of attention, query and key (UNPINNED if it is not pinned),
# and whether the calculation of their weight is open
UNPINNED = -1
PINNED = Choice[tuple[Kind, int, int, bool]](
    "pinned", ("cross", UNPINNED, UNPINNED, False), pinned, pinned_text, reset_by=SEARCH_CHANGES
)

# Questions about the pictures. ASKED: the page over whose picture a question is open. ANOTHER: the scene and the kind
# of question for which the visitor asked for another one. ANSWERED: id of a question, number of the answer (-1: none),
# and whether the right answer is revealed
ASKED = Choice("asked", "", str, written="session", reset_by=SEARCH_CHANGES)
QUESTION_NUMBER = Choice("question_number", 0, whole, written="session")
ANOTHER = Choice("another_question", "", str, written="session")
NOBODY_ANSWERED = ("", -1, False)
ANSWERED = Choice[tuple[str, int, bool]]("answered", NOBODY_ANSWERED, lambda _: NOBODY_ANSWERED, written="session")

PINS_GIVEN = Choice("pins_given", 0, whole, written="session")  # how often words were pinned by a page, not by a click

# The form in which the canvas is drawn, on each page that has a canvas
TRANSLATE_FORM = Choice[Form]("translate_form", "arcs", one_of(FORMS), page="translate", varies=True)
ATTENTION_FORM = Choice[Form]("attention_form", "matrix", one_of(FORMS), page="attention", varies=True)

# Whether the details below the picture are open, on every page
DETAILS = Choice("details", False, switch, switch_text)

# The figure of the details that a lecture shows in place of the picture. "", or a name that the page does not have: the
# picture
FIGURE = Choice("figure", "", text(40))

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
# The heads that are drawn together as lines, from 1. The first number is the head that was chosen when the reader
# turned heads on or off; the others are the heads that are on, which counts only while that head is chosen
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
MASK_SCORES = Choice("mask_scores", False, switch, switch_text, page="masks")  # the scores are shown, not the weights
MASK_CELL = Choice("mask_cell", (UNPINNED, UNPINNED), one_head, one_head_text, page="masks", reset_by=SEARCH_CHANGES)
MASK_HEAD = Choice[tuple[int, int]](  # of the decoder; What if shows the same head as Masks
    "mask_head", CLEAREST, one_head, one_head_text, varies=True, reset_by=("checkpoint",)
)

# Residual stream: the stack whose token is shown; and the sub-layer whose row is chosen
STREAM = Choice("stream", "encoder", one_of(("encoder", "decoder")), page="residual", varies=True)
SUB_LAYER = Choice("sub_layer", -1, from_one, plus_one, page="residual", reset_by=("checkpoint",))

# Positions, scaling
POSITIONS_PICTURE = Choice("picture", "order", one_of(("order", "kinds")), page="positions")
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
COMPARED = Choice[list[str]]("compare", [], names_of_folders, names_of_folders_text, page="training")
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
EDIT = Choice("edit", "", str, page="whatif")  # an edit that a link to this page adds to the existing ones
# The part of the masks whose picture is shown; it stays when that part is switched on again
SHOWN_MASK = Choice("shown_mask", "causal", one_of(("causal", "padding", "cross")), page="whatif")
RANKED = Choice("ranked", False, switch, switch_text, page="whatif")  # whether it is shown what each head costs
# The other sentence of a padded batch, and the head that is shown of it
PADDED_WITH = Choice("padded_with", "", text(LONGEST_SECOND), written="link", page="whatif", reset_by=SENTENCE_CHANGES)
PADDED_HEAD = Choice[tuple[int, int]](
    "padded_head", CLEAREST, one_head, one_head_text, page="whatif", reset_by=("checkpoint",)
)
# The sentence whose vectors are patched in; and whether all cells are computed although that takes long
PATCHED_SENTENCE = Choice(
    "patched_sentence", "", text(LONGEST_SECOND), written="link", page="whatif", reset_by=SENTENCE_CHANGES
)
ALL_PATCHES = Choice("all_patches", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
# The word that is changed, its replacement, and whether what takes long is computed
CHANGED_WORD = Choice("changed_word", 0, from_one, plus_one, page="whatif", varies=True, reset_by=SENTENCE_CHANGES)
NEW_WORD = Choice("new_word", "", text(LONGEST_WORD), written="link", page="whatif", reset_by=SENTENCE_CHANGES)
WORDS_ASKED = Choice("all_words", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
INTEGRATED = Choice("integrated", False, switch, switch_text, page="whatif", reset_by=SENTENCE_CHANGES)
TAKEN = Choice("taken", "sublayer", one_of(("sublayer", "residual")), page="whatif")  # what the oval switches take away
ALL_HEADS = Choice("all_heads", False, switch, switch_text, page="whatif")  # the row is set in all heads of the layer

# Compare: what differs between the two sides; and for each such thing, what the other side has
SIDE = Choice("side", "sentence", str, page="compare")
COMPARED_SENTENCE = Choice("compared_sentence", "", text(LONGEST_SECOND), written="link", page="compare")
COMPARED_CHECKPOINT = Choice("compared_checkpoint", "", str, page="compare")
COMPARED_SEARCH = Choice("compared_search", "greedy", str, page="compare")
COMPARED_HEAD = Choice("compared_head", "", str, page="compare")  # kind, layer and head from 1: "cross.2.6"

# Side by side: which page is shown twice, and what the second one has; and whether this session is one of the frames
BESIDE_PAGE = Choice("beside_page", "attention", str, page="beside")
BESIDE = Choice("beside", "checkpoint", str, page="beside")
BESIDE_SENTENCE = Choice("beside_sentence", "", text(LONGEST_SECOND), written="link", page="beside")
BESIDE_CHECKPOINT = Choice("beside_checkpoint", "", str, page="beside")
FRAMED = Choice("framed", False, switch, switch_text)

SEARCH = (METHOD, BEAM, ALTERNATIVES, PENALTY, ALPHA, TEMPERATURE, TOP_K, TOP_P, DRAWS, SEED)
# What a scene is made of
SCENE = (CHECKPOINT, EDITS, SENTENCE, AS_TYPED, SHOWN_SENTENCE, ALTERNATIVE, GIVEN, GIVEN_IDS, GIVEN_STEPS, *SEARCH)

PLACE = (KIND, LAYER, HEAD, STEP, SOURCE_TOKEN, OTHER_TOKEN)  # with PINNED: what a picture shows of a scene

CHOICES: tuple[Choice, ...] = tuple(
    value for value in (*vars().values(), *vars(detail_choices).values()) if isinstance(value, Choice)
)
# What a copied link has in addition
PRIVATE = tuple(choice for choice in CHOICES if choice.written == "link" and choice not in SCENE)
