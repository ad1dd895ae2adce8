"""The choices of figures in the details of a page, and of what a picture shows of its data."""

from typing import Literal

from app.state.address_texts import one_of, switch, switch_text, text, whole
from app.state.choice import Choice

HeadsLeft = Literal["without", "alone"]
ScoresOf = Literal["random", "words"]
MODES_OF_HEADS: tuple[HeadsLeft, ...] = ("without", "alone")  # in the order of the buttons
MODES_OF_SCORES: tuple[ScoresOf, ...] = ("random", "words")

# Decoding: what the cells of the logit lens show; whether the tree has the candidates that were pruned; the α of each
# form of the length penalty; and the settings with which a step is sampled again
LENS_CELLS = Choice("lens_cells", "rank", str, page="decoding")
SHOW_PRUNED = Choice("show_pruned", True, switch, switch_text, page="decoding")
PAPER_ALPHA = Choice("alpha_paper", 0.6, float, page="decoding", reset_by=("search",))
POWER_ALPHA = Choice("alpha_power", 0.6, float, page="decoding", reset_by=("search",))
TRIED_TEMPERATURE = Choice("tried_temperature", 1.0, float, page="decoding", reset_by=("search",))
TRIED_TOP_K = Choice("tried_top_k", 0, whole, page="decoding", reset_by=("search",))
TRIED_TOP_P = Choice("tried_top_p", 1.0, float, page="decoding", reset_by=("search",))

# One head by hand: the dimension of the values that is written out
SUMMED_DIMENSION = Choice("summed_dimension", 0, whole, page="hand", reset_by=("checkpoint",))

# Heads: whether each is left out or left alone; and the first dimensions that are shown of a head's slice and of what
# the heads wrote
HEADS_LEFT = Choice[HeadsLeft]("heads_left", "without", one_of(MODES_OF_HEADS), page="multihead")
SLICE_FROM = Choice("slice_from", 0, whole, page="multihead", reset_by=("checkpoint",))
WRITTEN_FROM = Choice("written_from", 0, whole, page="multihead", reset_by=("checkpoint",))

# Scaling and softmax: whose scores are shown; the window of self-attention. Lessons: the lesson whose scenes are listed
SCORES_OF = Choice[ScoresOf]("scores_of", "random", one_of(MODES_OF_SCORES), page="scaling")
WINDOW = Choice("window", 2, whole, page="scaling")
SCENES_OF = Choice("scenes_of", "", text(200), page="lessons")
