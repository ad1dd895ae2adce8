"""Starting a run with the weights of another model (`--init-from`).

With the checkpoint's vocabulary all weights are copied. With the recipe's own vocabulary (`--own-vocabulary`, for
another language for example) the layers are copied, and the embeddings of the tokens that both vocabularies have (Zoph
et al. 2016, "Transfer Learning for Low-Resource Neural Machine Translation"). The embeddings of new tokens are drawn
around the mean of the known ones, so that no new token is too probable before it is learnt (Hewitt 2021, "Initializing
New Word Embeddings for Pretrained Language Models").

Preparing the text may take long, and before the first save there is no state. So the folder of the run first gets a
note of the checkpoint: a run that was killed early is resumed with these weights, not with random ones.
"""

import json
import logging
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from transformer.checkpoint.checkpoint_file import Checkpoint, load_checkpoint
from transformer.errors import TrainingError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import validate
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.training.run_folder import Run

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
        odd = [name for name, value in wanted.items() if value != given[name] and name not in free]
        if odd:
            listed = "\n".join(f"  model.{name}: {given[name]} there, {wanted[name]} here" for name in odd)
            raise TrainingError(
                f"--init-from {self.checkpoint.path} is not the architecture of the recipe:\n{listed}\nMake [model] "
                "equal, or start without --init-from."
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


@dataclass(frozen=True)
class Start:
    """The checkpoint to start with. Stored as `start.json` in the folder of the run."""

    init_from: str | Path
    own_vocabulary: bool = False  # the run has the vocabulary of the recipe, not that of the checkpoint


def initialisation(run: Run, resume: bool, start: Start | None) -> Initialisation | None:
    """The checkpoint to start with: the one that `start` names, or, with `resume`, the one that an earlier command has
    noted that was killed before its first save. None: the weights are random, or there is a state to resume from.

    Raises:
        HeadlightError: the checkpoint or the note cannot be read.
    """
    if run.resumed:
        return None
    note = run.folder / "start.json"
    if start is not None:
        start = replace(start, init_from=str(Path(start.init_from).absolute()))
        with replacing(note) as temporary:
            temporary.write_text(json.dumps(asdict(start)), encoding="utf-8")
    elif resume and note.exists():
        start = _noted(note)
        log.info("Nothing was saved yet: the run starts with %s, as before.", start.init_from)
    else:
        note.unlink(missing_ok=True)
        return None
    return Initialisation(load_checkpoint(start.init_from), start.own_vocabulary)


def _noted(note: Path) -> Start:
    try:
        start, problems = validate(Start, parse_json(note.read_text(encoding="utf-8")))
    except ValueError as error:
        start, problems = None, [f"{error}."]
    if start is None:
        listed = " ".join(problems)
        raise TrainingError(f"{note} does not name the checkpoint to start with: {listed} Name it with --init-from.")
    return start


def ids_in(other: Tokenizer, tokenizer: Tokenizer) -> Tensor:
    """(V): the id that each token of `tokenizer` has in `other`, -1 where it has none."""
    ids = {other.piece(id): id for id in range(other.vocab_size)}
    return torch.tensor([ids.get(tokenizer.piece(id), -1) for id in range(tokenizer.vocab_size)])


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
