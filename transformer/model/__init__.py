"""The model, in the paper's words, one idea per file. In the order in which to read:

positions embedding masks attention feed_forward layers transformer     the paper, section 3
cache                                                                   decoding one token at a time
forced_target                                                           the probability of a given target
probe site_census edited_transformer zero_edit attention_kinds          to record and change what is computed
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer.model.cache import DecoderState
    from transformer.model.edited_transformer import EditedTransformer
    from transformer.model.probe import NULL_PROBE, BaseProbe, Probe
    from transformer.model.site_census import census
    from transformer.model.transformer import Transformer

__all__ = ["NULL_PROBE", "BaseProbe", "DecoderState", "EditedTransformer", "Probe", "Transformer", "census"]

_FILES = {
    "DecoderState": "cache",
    "EditedTransformer": "edited_transformer",
    "NULL_PROBE": "probe",
    "BaseProbe": "probe",
    "Probe": "probe",
    "Transformer": "transformer",
    "census": "site_census",
}


def __getattr__(name: str) -> object:
    """Imports a name when it is first used, so that attention_kinds.py can be imported without torch."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"transformer.model.{_FILES[name]}"), name)
