"""What the LayerNorms of the loaded checkpoint have learned: a gain and a shift for each dimension."""

from torch import nn

from app.figures.strips import Norm
from app.library.checkpoints import CheckpointFile, load


def norm_at(file: CheckpointFile, site: str) -> Norm:
    """The one whose output is this site.

    Args:
        site: for example `encoder.layers.0.self_attention.norm_out`, or `encoder.norm_out` of a pre-norm model.
    """
    place = site.removesuffix(".norm_out")
    found = load(file).model.get_submodule(f"{place}_residual.norm" if ".layers." in place else f"{place}.norm")
    assert isinstance(found, nn.LayerNorm)
    gain, shift = (part.detach().float().cpu().numpy().copy() for part in (found.weight, found.bias))
    return Norm(gain, shift, found.eps)
