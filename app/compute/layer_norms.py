"""What the LayerNorms of the loaded checkpoint have learned: a gain and a shift for each dimension."""

from torch import nn

from app.compute.subject import Subject
from app.figures.strips import Norm


def norm_at(subject: Subject, site: str) -> Norm:
    """The LayerNorm whose output is this site.

    Args:
        site: for example `encoder.layers.0.self_attention.norm_out`, or `encoder.norm_out` of a pre-norm model.
    """
    place = site.removesuffix(".norm_out")
    found = subject.translator.model.get_submodule(f"{place}_residual.norm" if ".layers." in place else f"{place}.norm")
    assert isinstance(found, nn.LayerNorm)
    gain, shift = (part.detach().float().cpu().numpy().copy() for part in (found.weight, found.bias))
    return Norm(gain, shift, found.eps)
