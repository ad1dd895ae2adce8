"""Adam, with the paper's constants (section 5.3: beta1 0.9, beta2 0.98, epsilon 1e-9), and which weights decay.

The paper has no weight decay. If a recipe sets it, it applies to the matrices of attention and feed-forward only, not
to norms, biases and embeddings.
"""

from torch import Tensor, nn
from torch.optim import AdamW

from transformer.config import TrainingConfig
from transformer.model import Transformer


def parameter_groups(model: Transformer) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(decayed, not decayed) by name. A shared matrix occurs once, because `named_parameters` names it once."""
    matrices = {
        f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)
    }  # embeddings and positions are not nn.Linear
    named = dict(model.named_parameters())
    return (
        {name: parameter for name, parameter in named.items() if name in matrices},
        {name: parameter for name, parameter in named.items() if name not in matrices},
    )


def make_optimizer(model: Transformer, config: TrainingConfig) -> AdamW:
    """Adam in one fused kernel; with weight_decay 0 (the default) AdamW is Adam to the bit."""
    decayed, plain = parameter_groups(model)
    return AdamW(
        [
            {"params": list(decayed.values()), "weight_decay": config.weight_decay},
            {"params": list(plain.values()), "weight_decay": 0.0},
        ],
        lr=0.0,  # set before every update, from the schedule
        betas=(config.beta1, config.beta2),
        eps=config.adam_epsilon,
        fused=True,
    )
