"""The code of each station: the lines that compute its tensor, text, token ids or chosen token."""

from app.library.source_code import SourceLines, joined_lines, lines_from, lines_of, lines_of_definition
from app.stage.scene import Scene
from app.stage.search_method import method_of
from app.views.shared.search_code import choice
from app.views.steps.stations import Station
from transformer.config import ModelConfig
from transformer.model.attention import attend
from transformer.model.positions import PositionalEncoding, sinusoids
from transformer.model.transformer import Transformer


def code_at(scene: Scene, here: Station) -> SourceLines:
    """What a page shows as the code of this station."""
    match here.shown_as:
        case "characters":
            return lines_of_definition("text/normalisation.py", "normalise")
        case "token_ids":
            return lines_of_definition("text/tokenizer.py", "Tokenizer.encode")
        case "shifted":
            return lines_of_definition("model/forced_target.py", "shifted_right")
        case "chosen":
            return choice(method_of(scene))
    match here.name:
        case "positions":
            return _positions_code(scene.config)
        case "mask":
            return _mask_code(scene.config, here)
        case "context":
            return lines_from(attend, "@ value  # (B, H, Q, E)")
        case "concatenated":
            return lines_of_definition("model/attention.py", "MultiHeadAttention.join")
        case "logits":
            return lines_from(Transformer.project, "return")
    return lines_of(here.site or here.id, pre_norm=scene.config.norm == "pre")


def _positions_code(config: ModelConfig) -> SourceLines:
    """Where the vectors of the positions come from."""
    match config.positions:
        case "sinusoidal":
            return lines_from(sinusoids, "position = ", "return")
        case "learned":
            return lines_from(PositionalEncoding, "nn.Parameter")
        case "none":
            return lines_from(PositionalEncoding, "# no positions")


def _mask_code(config: ModelConfig, here: Station) -> SourceLines:
    """The mask functions of this attention. One sentence has no padding, so `padding_mask` is shown only if no other
    mask applies."""
    own = here.part == "self_attention"
    names = ["causal_mask"] if own and here.stack == "decoder" else []
    names += ["window_mask"] if own and config.attention_window is not None else []
    return joined_lines(*(lines_of_definition("model/masks.py", name) for name in names or ["padding_mask"]))
