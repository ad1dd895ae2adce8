"""The lines of code at each station: those that compute its tensor, or that make its text, its ids, its choice."""

from app.library.source_code import SourceLines, lines_between, lines_from, lines_of
from app.stage.scene import Scene
from app.views.shared.search_code import choice, method_of
from app.views.steps.stations import Station
from transformer.analysis.trace import trace_batch
from transformer.config import ModelConfig
from transformer.model.attention import attend
from transformer.model.positions import PositionalEncoding, sinusoids
from transformer.model.transformer import Transformer


def code_at(scene: Scene, here: Station) -> SourceLines:
    """What a page shows as the code of this station."""
    match here.shown_as:
        case "characters":
            return lines_between("text/normalisation.py", "normalise")
        case "pieces":
            return lines_between("text/tokenizer.py", "Tokenizer.encode")
        case "shifted":
            return lines_from(trace_batch, "BOS, *target_ids")
        case "chosen":
            return choice(method_of(scene))
    match here.name:
        case "positions":
            return code_of_positions(scene.config)
        case "mask":
            return code_of_mask(scene.config, here)
        case "context":
            return lines_from(attend, "@ value  # (B, H, Q, E)")
        case "concatenated":
            return lines_between("model/attention.py", "MultiHeadAttention.join")
        case "logits":
            return lines_from(Transformer.project, "return")
    return lines_of(here.site or here.id, pre_norm=scene.config.norm == "pre")


def code_of_positions(config: ModelConfig) -> SourceLines:
    """Where the vectors of the positions come from."""
    match config.positions:
        case "sinusoidal":
            return lines_from(sinusoids, "position = ", "return")
        case "learned":
            return lines_from(PositionalEncoding, "nn.Parameter")
        case "none":
            return lines_from(PositionalEncoding, "# no positions")


def code_of_mask(config: ModelConfig, here: Station) -> SourceLines:
    """The rules of this attention: of one sentence alone, padding is the rule only where there is no other."""
    own = here.part == "self_attention"
    names = ["causal_mask"] if own and here.stack == "decoder" else []
    names += ["window_mask"] if own and config.attention_window is not None else []
    rules = [lines_between("model/masks.py", name) for name in names or ["padding_mask"]]
    return SourceLines(rules[0].path, rules[0].first, "\n\n\n".join(rule.text for rule in rules))
