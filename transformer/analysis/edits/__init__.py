"""Edits: each removes or changes a part of a model while it runs. An edit is a frozen value and has a short text.

    translator.edited(model_edits([HeadOff("cross", 1, 5), MaskOff("causal")], translator.model))

An edited model translates, scores and traces like any other model, and shares the weights of the original model.
"""

from transformer.analysis.edits.attention_edits import MaskCell as MaskCell
from transformer.analysis.edits.attention_edits import WeightsSet as WeightsSet
from transformer.analysis.edits.edit_text import edit_text as edit_text
from transformer.analysis.edits.edit_text import parse_edit as parse_edit
from transformer.analysis.edits.model_edits import AttentionWindow as AttentionWindow
from transformer.analysis.edits.model_edits import Edit as Edit
from transformer.analysis.edits.model_edits import HeadOff as HeadOff
from transformer.analysis.edits.model_edits import HeadUniform as HeadUniform
from transformer.analysis.edits.model_edits import MaskOff as MaskOff
from transformer.analysis.edits.model_edits import PositionsOff as PositionsOff
from transformer.analysis.edits.model_edits import PositionsShifted as PositionsShifted
from transformer.analysis.edits.model_edits import PositionsShuffled as PositionsShuffled
from transformer.analysis.edits.model_edits import PositionsSwapped as PositionsSwapped
from transformer.analysis.edits.model_edits import Temperature as Temperature
from transformer.analysis.edits.model_edits import VectorPatched as VectorPatched
from transformer.analysis.edits.model_edits import model_edits as model_edits
from transformer.analysis.edits.sublayer_edits import ResidualOff as ResidualOff
from transformer.analysis.edits.sublayer_edits import SublayerOff as SublayerOff
