"""Starting a run with the weights of another model (`training.init_from`, on the command line `--init-from`).

With the checkpoint's vocabulary all weights are copied. With the recipe's own vocabulary (`training.own_vocabulary`,
for another language for example) the layers are copied, and the embeddings of the tokens that both vocabularies have
(Zoph et al. 2016, "Transfer Learning for Low-Resource Neural Machine Translation"). The embeddings of new tokens are
drawn around the mean of the known ones, so that no new token is too probable before it is learnt (Hewitt 2021,
"Initializing New Word Embeddings for Pretrained Language Models").
"""

import logging
import math
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from transformer.checkpoint.checkpoint_file import Checkpoint, load_checkpoint
from transformer.config import Recipe
from transformer.errors import ConfigError, TrainingError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

# One matrix under three names where `shared_embeddings` is on, else three.
EMBEDDINGS = ("encoder.embedding.tokens.weight", "decoder.embedding.tokens.weight", "output.weight")


@dataclass(frozen=True)
class Initialisation:
    """The weights of a checkpoint, and its vocabulary or the recipe's own."""

    checkpoint: Checkpoint
    own_vocabulary: bool = False

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The vocabulary to train with; None: the recipe's."""
        return None if self.own_vocabulary else self.checkpoint.tokenizer

    def copy_to(self, model: Transformer, tokenizer: Tokenizer) -> None:
        """Copies the weights into the model, for the tokens of `tokenizer`.

        Raises:
            TrainingError: the architectures differ. Options are compared, because shapes do not show heads, norm and
                others. Dropout may differ.
        """
        given, wanted = asdict(self.checkpoint.config), asdict(model.config)
        free = {"vocab_size"} | {name for name in wanted if name.endswith("dropout")}
        differing = [name for name, value in wanted.items() if value != given[name] and name not in free]
        if differing:
            listed = "\n".join(f"  model.{name}: {given[name]} there, {wanted[name]} here" for name in differing)
            raise TrainingError(
                f"The checkpoint to start with, {self.checkpoint.path}, does not have the architecture of the recipe:\n"
                f"{listed}\nMake [model] equal, or start without it (training.init_from, --init-from)."
            )
        ids = ids_in(self.checkpoint.tokenizer, tokenizer)
        weights, drawn = self.checkpoint.model.state_dict(), model.state_dict()
        for name in EMBEDDINGS:
            weights[name] = embed(ids, weights[name], drawn[name].to(weights[name]))
        if (bias := weights.get("output_bias")) is not None:  # a new token gets the median bias
            weights["output_bias"] = torch.where(ids >= 0, bias[ids.clamp(min=0)], bias.median())  # (V)
        model.load_state_dict(weights)
        known = int((ids >= 0).sum())
        log.info("%s: its vocabulary has %d of the %d tokens.", self.checkpoint.path, known, len(ids))


def initialisation(recipe: Recipe) -> Initialisation | None:
    """The checkpoint that a new run starts with; None: the weights are random.

    Raises:
        CheckpointError: it cannot be loaded.
        ConfigError: the recipe names another vocabulary than the checkpoint has.
    """
    config = recipe.training
    if config.init_from is None:
        return None
    if recipe.tokenizer.model and not config.own_vocabulary:
        raise ConfigError(
            "training.init_from brings the vocabulary of its checkpoint, and tokenizer.model names another one: "
            "leave tokenizer.model out, or set training.own_vocabulary = true."
        )
    return Initialisation(load_checkpoint(config.init_from), config.own_vocabulary)


def ids_in(other: Tokenizer, tokenizer: Tokenizer) -> Tensor:
    """(V): the id that each token of `tokenizer` has in `other`, -1 where it has none."""
    ids = {other.token(id): id for id in range(other.vocab_size)}
    return torch.tensor([ids.get(tokenizer.token(id), -1) for id in range(tokenizer.vocab_size)])


def embed(ids: Tensor, given: Tensor, drawn: Tensor) -> Tensor:
    """Embeddings (V, D) for a vocabulary, made from the embeddings `given` (W, D) of another vocabulary.

    Args:
        ids: (V), for each token its row in `given`, or -1.
        drawn: (V, D), from N(0, 1/D). Its rows, scaled to the mean and the deviation of `given`, are the embeddings of
            new tokens.
    """
    deviation, mean = torch.std_mean(given, dim=0)  # (D), (D)
    new = mean + deviation * drawn * math.sqrt(drawn.shape[1])  # (V, D)
    return torch.where(ids[:, None] >= 0, given[ids.clamp(min=0)], new)
