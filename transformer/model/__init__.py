"""The model, in the paper's words, one idea per file."""

from transformer.model.cache import DecoderState
from transformer.model.edited_transformer import EditedTransformer
from transformer.model.probe import NULL_PROBE, NullProbe, Probe
from transformer.model.site_census import census
from transformer.model.transformer import Transformer

__all__ = ["NULL_PROBE", "DecoderState", "EditedTransformer", "NullProbe", "Probe", "Transformer", "census"]
