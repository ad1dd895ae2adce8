"""The model, in the paper's words, one idea a file."""

from transformer.model.cache import DecoderState
from transformer.model.probe import SILENT, Probe, Silent
from transformer.model.site_census import census
from transformer.model.transformer import Transformer

__all__ = ["SILENT", "DecoderState", "Probe", "Silent", "Transformer", "census"]
