"""Our model beside torch.nn.Transformer with the same weights: how far the numbers of each stage are apart."""

from app import components
from app.components.comparison import Cell, Row
from app.compute.against_torch import AgainstTorch, against_torch
from app.compute.compared import Compared
from app.figures.theme import fixed, number, role_color
from app.languages import _, gettext_noop
from app.stage.scene import Scene
from transformer.config import ModelConfig
from transformer.decoding.length_penalty import length_limit

ROUNDING = 1e-4  # share of the largest number: float32 has 7 digits, and a stack adds up many rounding errors

EXPLAINED = gettext_noop(
    "`torch.nn.Transformer` has both stacks: attention, feed-forward, residual sums and LayerNorm. Embeddings, "
    "positions and the projection to the vocabulary are ours, around it: see `transformer/export/torch_model.py`. "
    "Three things differ. $W^Q$, $W^K$ and $W^V$ are one matrix there. Its masks mean the opposite: True is “must not "
    "attend”. And it ends each stack with one more LayerNorm, also in post-norm mode, where the paper has none. In "
    "float64 the two agree to 10⁻¹⁰, which our tests check for the options of the model."
)


def computed(scene: Scene) -> AgainstTorch:
    """The results of torch.nn for the sentence. If ours was cut off, its translation gets at most as many tokens."""
    ours, translation = scene.hypothesis, scene.translation
    limit = length_limit(len(translation.source_ids), translation.settings, scene.config.max_positions)
    limit = limit if ours.finished else len(ours.ids)
    return against_torch(scene.subject, translation.source_ids, ours.ids, limit)


def draw_stages(found: AgainstTorch) -> None:
    """Draws a table with a column for each stage."""
    numbers = {
        _("Largest number"): [stage.largest for stage in found.stages],
        _("Largest difference"): [stage.difference for stage in found.stages],
    }
    components.comparison(
        [_(stage.name) for stage in found.stages],
        [Row(name, tuple(Cell(number(each) if each else "0") for each in row)) for name, row in numbers.items()],
        title=_("Over the same tokens, those of our translation"), key="torch_stages", color=role_color("decoder"),
    )  # fmt: skip


def says(found: AgainstTorch, compared: Compared, config: ModelConfig) -> list[str]:
    """Three sentences: the difference of the numbers, the translation by torch.nn, and where its layers normalise."""
    worst = max(found.stages, key=lambda stage: stage.difference / max(stage.largest, 1.0))
    most = found.stages[-1].difference
    is_rounding = worst.difference <= ROUNDING * max(worst.largest, 1.0)
    text = number(most) if most else "0"
    if is_rounding:
        sentence = _(
            "The log-probability of a token differs by at most {most}: that is the rounding of float32, which has "
            "seven digits.",
            most=text,
        )
    else:
        sentence = _(
            "The log-probability of a token differs by at most {most}: that is more than rounding of float32 explains.",
            most=text,
        )
    return [sentence, _written(compared), _norms(config)]


def _written(compared: Compared) -> str:
    step = compared.first_difference
    if step is None:
        return _("torch.nn.Transformer, which computes all tokens again at each step, writes the same translation.")
    both = [each.log_probabilities[step : step + 1] for each in (compared.one, compared.other)]
    there = [fixed(values[0], 4) for values in both if values]
    if len(there) == 1:
        return _(
            "torch.nn.Transformer writes a different translation: one of the two ends where the other continues with a "
            "token whose log-probability is {value}.",
            value=there[0],
        )
    return _(
        "torch.nn.Transformer writes a different translation: at the first token that differs, the log-probabilities "
        "are {values}.",
        values=_("{one} and {other}", one=there[0], other=there[1]),
    )


def _norms(config: ModelConfig) -> str:
    window, is_pre = config.attention_window, config.norm == "pre"
    if window is None and is_pre:
        return _("Both are pre-norm, with a LayerNorm at the end of each stack.")
    if window is None:
        return _("Both are post-norm, as in the paper; torch.nn's LayerNorm at the end of each stack is left out.")
    if is_pre:
        return _(
            "Both are pre-norm, with a LayerNorm at the end of each stack; torch.nn gets the attention window of "
            "{window} as a mask.",
            window=window,
        )
    return _(
        "Both are post-norm, as in the paper; torch.nn's LayerNorm at the end of each stack is left out; torch.nn gets "
        "the attention window of {window} as a mask.",
        window=window,
    )
