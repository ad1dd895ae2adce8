"""The answers of questions, computed on another path than app/questions: the layers of torch.nn with the weights of the
checkpoint in float64, masks and shapes written out here, and the answers read from their texts.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from app.questions.question import Question
from transformer.config import BOS, ModelConfig
from transformer.decoding.translator import Translator
from transformer.export.torch_model import TorchModel

SITES = {
    "cross": "decoder.layers.{}.cross_attention.weights",
    "encoder": "encoder.layers.{}.self_attention.weights",
    "decoder": "decoder.layers.{}.self_attention.weights",
}
ROUNDING = 1e-4  # of what the app computes in float32


def shown(token: str) -> str:
    """A token as an answer has it: without the mark of a word's start, and cut to 18 characters."""
    text = token.removeprefix("▁") or token
    return text if len(text) <= 18 else text[:17] + "…"


@dataclass(frozen=True)
class Recomputed:
    """One sentence and its translation by one checkpoint, in float64."""

    translator: Translator
    model: TorchModel
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    weights: dict[str, Tensor]  # (1, H, Q, K) by site
    logits: Tensor  # (T, V)

    @classmethod
    def of(
        cls, translator: Translator, model: TorchModel, source_ids: tuple[int, ...], target_ids: tuple[int, ...]
    ) -> "Recomputed":
        pair = torch.tensor([source_ids]), torch.tensor([(BOS, *target_ids[:-1])])
        with torch.no_grad():
            return cls(translator, model, source_ids, target_ids, model.attention_weights(*pair), model(*pair)[0])

    def mistake(self, question: Question) -> str:
        """What is wrong with a question: "wrong", "wrong number", "ambiguous", "malformed", or ""."""
        if len(set(question.answers)) < len(question.answers) or not 2 <= len(question.answers) <= 5:
            return "malformed"
        check = getattr(self, "_" + question.kind.replace("-", "_"))
        found: str = check(question)
        return found

    def _keys(self, question: Question) -> list[str]:
        """The keys as an answer names them: with their position where the text is there twice."""
        ids = (BOS, *self.target_ids[:-1]) if question.place.kind == "decoder" else self.source_ids
        texts = [shown(self.translator.tokenizer.token(id)) for id in ids]
        count = Counter(texts)
        return [f"“{text}”" + (f" (token {i})" if count[text] > 1 else "") for i, text in enumerate(texts, 1)]

    def _row(self, question: Question) -> Tensor:
        place = question.place
        return self.weights[SITES[str(place.kind)].format(place.layer)][0, place.head, place.row]  # (K)

    def _most_attended(self, question: Question) -> str:
        row, keys = self._row(question), self._keys(question)
        asked = [keys.index(answer) for answer in question.answers]
        second, first = row.sort().values[-2:].tolist()
        if row[asked[question.right]] != first or max(range(len(asked)), key=lambda i: row[asked[i]]) != question.right:
            return "wrong"
        if abs(_number("weight of", question.why) - first) > 0.006:
            return "wrong number"
        return "" if first - second >= 0.15 - ROUNDING else "ambiguous"

    def _above_half(self, question: Question) -> str:
        if question.place.page == "decoding":
            step = int(question.place.row or 0)
            value = float(self.logits[step].softmax(-1)[self.target_ids[step]])
        else:
            value = float(self._row(question)[question.place.key])
        if ["larger than 0.5", "smaller than 0.5"][value < 0.5] != question.answers[question.right]:
            return "wrong"
        if abs(_number("is", question.why) - value) > 0.006:
            return "wrong number"
        return "" if abs(value - 0.5) >= 0.1 - ROUNDING else "ambiguous"

    def _next_word(self, question: Question) -> str:
        step = int(question.place.row or 0)
        probabilities = self.logits[step].softmax(-1)[3:]  # without padding, unknown and <s>
        best = int(probabilities.argmax()) + 3
        if best != self.target_ids[step]:
            return "wrong"
        if question.answers[question.right] != f"“{shown(self.translator.tokenizer.token(best))}”":
            return "wrong"
        first, second = probabilities.topk(2).values.tolist()
        return "" if first - second >= 0.2 - ROUNDING else "ambiguous"

    def _masked_cells(self, question: Question) -> str:
        mask = _mask(question, self.model.config, len(self.source_ids), len(self.target_ids))
        if "How many" in question.prompt:
            numbers = [int(answer.replace(",", "")) for answer in question.answers]
            return "" if numbers[question.right] == sum(not cell for row in mask for cell in row) else "wrong"
        cells = [re.match(r"row (\d+) .*, column (\d+) ", answer) for answer in question.answers]
        removed = [i for i, cell in enumerate(cells) if cell and not mask[int(cell[1]) - 1][int(cell[2]) - 1]]
        return "" if removed == [question.right] else "wrong" if len(removed) < 2 else "ambiguous"

    def _shape(self, question: Question) -> str:
        shapes = [tuple(int(n.replace(",", "")) for n in a.split(" = ")[1].split(" × ")) for a in question.answers]
        if len(set(shapes)) < len(shapes):
            return "ambiguous"
        expected = _shape_at(question.place.site, self.model.config, len(self.source_ids), len(self.target_ids))
        return "" if shapes[question.right] == expected else "wrong"

    def _head_off(self, question: Question) -> str:
        heads = [re.match(r"layer (\d+), head (\d+) ", answer) for answer in question.answers]
        lost = [self._lost(str(question.place.kind), int(head[1]) - 1, int(head[2]) - 1) for head in heads if head]
        right = lost[question.right]
        if abs(_number("falls by", question.prompt) - right) > 0.06:
            return "wrong"
        apart = min(abs(each - right) for i, each in enumerate(lost) if i != question.right)
        return "" if apart >= max(0.4, right / 4) - 10 * ROUNDING and right >= 0.5 - 10 * ROUNDING else "ambiguous"

    def _lost(self, kind: str, layer: int, head: int) -> float:
        """Nats lost where W^O gets nothing from the head."""
        config = self.model.config
        name = f"{'encoder' if kind == 'encoder' else 'decoder'}.layers.{layer}."
        attention: Any = self.model.stacks.get_submodule(name + ("multihead_attn" if kind == "cross" else "self_attn"))
        weight = attention.out_proj.weight
        columns, size = weight.detach().clone(), config.d_model // config.heads
        source, target = torch.tensor([self.source_ids]), torch.tensor([(BOS, *self.target_ids[:-1])])
        with torch.no_grad():
            weight[:, head * size : (head + 1) * size] = 0
            logits = self.model(source, target)[0]  # (T, V)
            weight.copy_(columns)
        return float(self._score(self.logits) - self._score(logits))

    def _score(self, logits: Tensor) -> Tensor:
        return logits.log_softmax(-1).gather(1, torch.tensor(self.target_ids)[:, None]).sum()


def _number(after: str, text: str) -> float:
    found = re.search(rf"{after} (\d+\.\d+)", text)
    return float(found[1]) if found else float("nan")


def in_float64(path: Path) -> tuple[Translator, TorchModel]:
    """A checkpoint, and the layers of torch.nn with its weights."""
    translator = Translator.load(path)
    return translator, TorchModel(translator.model.double())


def _mask(question: Question, config: ModelConfig, sources: int, targets: int) -> list[list[bool]]:
    """True = may attend."""
    kind, window = question.place.kind, config.attention_window
    rows = sources if kind == "encoder" else targets
    columns = targets if kind == "decoder" else sources
    near = [[kind == "cross" or window is None or abs(q - k) <= window for k in range(columns)] for q in range(rows)]
    return [[cell and (kind != "decoder" or k <= q) for k, cell in enumerate(row)] for q, row in enumerate(near)]


def _shape_at(site: str, config: ModelConfig, sources: int, targets: int) -> tuple[int, ...]:
    rows = sources if site.startswith("encoder") else targets
    keys = sources if site.startswith("encoder") or "cross_attention" in site else targets
    heads, width = config.heads, config.d_model // config.heads
    last = site.rsplit(".", 1)[-1]
    if site == "logits":
        return targets, config.vocab_size
    if last in ("query", "context"):
        return heads, rows, width
    if last in ("key", "value"):
        return heads, keys, width
    if last in ("scores", "weights"):
        return heads, rows, keys
    return rows, config.d_ff if last == "activated" else config.d_model
