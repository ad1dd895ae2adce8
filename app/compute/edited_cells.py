"""Which numbers of a tensor an edit replaces, in a pass over a whole sentence.

An edit is a pure function of a tensor (`transformer.model.probe`), so it is applied to random numbers of the same
shape: what it changes there it replaces in the tensor, too. An edit of a position or a query that the sentence does not
have changes nothing.
"""

import numpy as np
import torch

from app.compute.subject import Subject
from transformer.model.edited_transformer import EditedTransformer


def edited_cells(subject: Subject, site: str, shape: tuple[int, ...]) -> np.ndarray:
    """True where an edit replaces the number of the tensor at this site.

    Args:
        site: any but that of a mask, whose values are boolean.
        shape: of the recorded tensor, without the batch axis. The result has it, too.
    """
    model = subject.translator.model
    if not isinstance(model, EditedTransformer) or site not in model.edits:
        return np.zeros(shape, dtype=bool)
    numbers = torch.randn(1, *shape, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        found: np.ndarray = (model.edits[site](numbers) != numbers)[0].numpy()
    return found


def edited_rows(subject: Subject, site: str, shape: tuple[int, int]) -> np.ndarray:
    """(R,): the rows of a tensor (R, D) in which an edit replaces numbers."""
    return np.any(edited_cells(subject, site, shape), axis=-1)
