"""The map as text: tables of layers x heads in per cent, the best heads and the baselines."""

from math import exp

from transformer.analysis.alignment.alignment_map import AlignmentMap, Head, ShiftRates, TextMeasures
from transformer.analysis.alignment.word_attention import SHIFTS

SHOWN = 4  # of the best heads


def as_text(found: AlignmentMap) -> str:
    """The tables, the best heads, the baselines, and the measures of the text."""
    gold = found.gold
    left_out = f" ({gold.left_out:,} left out: too long for this model)" if gold.left_out else ""
    blocks = [
        f"{gold.name}: {gold.pairs:,} pairs{left_out}, {gold.sure:,} sure and {gold.possible:,} possible links"
        f"{'; the second column is the source' if gold.swapped else ''}\n"
        "Alignment error rate in per cent, 0 is perfect: decoder layers from top to bottom, heads from left to right"
    ]
    blocks += [_table(f"rows that {shift[:-1]} a word ({shift})", found.of_shift(shift)) for shift in SHIFTS]
    blocks.append("\n".join(["Best heads (chosen on the same text)", *best_heads(found)]))
    blocks.append(
        f"For comparison: the diagonal {percent(found.diagonal.aer)}, a random word {percent(found.chance.aer)}"
    )
    blocks.append(_texts(found))
    return "\n\n".join(blocks)


def percent(share: float) -> str:
    """0.4502 -> 45.0"""
    return f"{100 * share:.1f}"


def named(head: Head) -> str:
    """A head as the app names it: layer.head, from 1."""
    return f"{head[0] + 1}.{head[1] + 1}"


def _table(title: str, found: ShiftRates) -> str:
    heads = len(found.aer[0])
    lines = [title, "layer  " + "".join(f"{head + 1:>7}" for head in range(heads)) + "   mean of heads"]
    for number, (row, mean) in enumerate(zip(found.aer, found.layers, strict=True)):
        lines.append(f"{number + 1:>5}  " + "".join(f"{percent(share):>7}" for share in row) + f"{percent(mean):>16}")
    return "\n".join(lines)


def best_heads(found: AlignmentMap) -> list[str]:
    """A line for each of the best heads of each shift, and for the heads that align best together."""
    lines = []
    for shift in SHIFTS:
        rates = found.of_shift(shift)
        for layer, head in rates.best[:SHOWN]:
            lines.append(
                f"{shift:<8}  head {named((layer, head))}: AER {percent(rates.aer[layer][head])} "
                f"(precision {percent(rates.precision[layer][head])}, recall {percent(rates.recall[layer][head])})"
            )
        opening = found.heads_shown_first(shift)
        if len(opening) > 1:
            names = ", ".join(map(named, opening))
            lines.append(f"{shift:<8}  the mean of {names}: AER {percent(min(rates.together))}")
    return lines


def _texts(found: AlignmentMap) -> str:
    lines = ["This text (here) beside a text like that of training (home)"]
    lines.append(f"{'':>8}{'words per sentence':>20}{'tokens per word':>18}  loss per token")
    lines.append(_measures("here", found.text))
    if found.home:
        lines += [_measures("home", found.home), f"home is {found.home.name}, {found.home.pairs:,} pairs"]
    if found.valid_loss is not None:
        lines.append(f"the checkpoint's own validation loss: {_loss(found.valid_loss)}")
    if not found.home and found.valid_loss is None:
        lines.append("home is unknown: give a text like that of training with --home FILE.tsv")
    return "\n".join(lines)


def _measures(name: str, text: TextMeasures) -> str:
    words = f"{text.source_words:.1f} -> {text.target_words:.1f}"
    tokens = f"{text.source_tokens_per_word:.2f} -> {text.target_tokens_per_word:.2f}"
    return f"{name:>8}{words:>20}{tokens:>18}  {_loss(text.loss)}"


def _loss(loss: float) -> str:
    return f"{loss:.2f} nats (perplexity {exp(min(loss, 50)):,.1f})"
