"""One attention head with random queries, keys and values: by hand, and as tensors of the model's function."""

import contextlib
import io
import re
from typing import Any

import numpy as np
import torch

from app.figures.axes import TokenAxis
from app.views.hand.arithmetic import ByHand
from transformer.model.attention import attend
from transformer.model.probe import Probe

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "_a_ $x$ :red[b]",
    '"""\nimport os',
    "x\nraise SystemExit",
    "\\",
    "🙂",
)
NAMES = ["products", "scores", "masked_scores", "weights"]


def case(queries: int = 4, keys: int = 6, d_k: int = 8, seed: int = 0, scale: float = 1.0) -> tuple[ByHand, Any]:
    """The last query but one of a random head, and the tensors of `attend` for all queries."""
    random = np.random.default_rng(seed)
    q, k, v = (scale * random.normal(size=(n, d_k)).astype(np.float32) for n in (queries, keys, keys))
    mask = random.random((queries, keys)) < 0.7
    chosen = min(1, keys - 1)
    mask[:, chosen], mask[:, 2:3] = True, False
    probe = Probe([*NAMES, "mask"], NAMES)
    query, key, value, allowed = (torch.from_numpy(x)[None, None] for x in (q, k, v, mask))
    context = attend(query, key, value, allowed, probe)
    tensors = {name: value[0, 0].numpy() for name, value in probe.records.items()} | {"context": context[0, 0].numpy()}
    row = max(queries - 2, 0)
    return ByHand(q[row], k, v, mask[row], chosen), (tensors, row)


def printed(snippet: str) -> dict[str, str]:
    """What the snippet prints, run by itself."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(snippet, "snippet", "exec"), {})
    return {name.strip(): value.strip() for name, value in re.findall(r"(.+?)\s*= (.+)", output.getvalue())}


def axis(count: int, role: Any = "encoder") -> TokenAxis:
    """Hostile tokens, as many as asked for."""
    return TokenAxis("Tokens", role, tuple((HOSTILE * count)[:count]))
