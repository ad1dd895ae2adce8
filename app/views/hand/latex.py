"""The arithmetic of `arithmetic.ByHand`, written out as LaTeX: numbers and indices only, never a token.

Each sum has its largest terms first; the others are added up to one number, so that the printed sum is still right.
Query, key and value keep their colours. Tokens count from 1, dimensions from 0 as in the code.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.figures.theme import Role, mantissa_exponent, resolved, role_color
from app.languages import _, ngettext
from app.languages.numbers import in_latex
from app.views.hand.arithmetic import DIGITS, ByHand

TERMS = 6  # how many terms of a sum are written out
PER_LINE = 3


def digits(value: float, count: int = DIGITS) -> str:
    """A number as `theme.number` writes it, with `count` digits: 0.3804, 12.34, 76,213, 1.234 · 10^7.

    A number just below 1 has as many digits as distinguish it from 1: 0.99995.
    """
    if value in (float("inf"), float("-inf")):
        return r"\infty" if value > 0 else r"-\infty"
    text, exponent = mantissa_exponent(float(value), count)
    text = in_latex(text)
    return rf"{text} \cdot 10^{{{exponent}}}" if exponent else text


def exponent(value: float, decimals: int = DIGITS) -> str:
    """An exponent with `decimals` decimals, four by default.

    With e^14.61 a calculator gets only two digits of the result right, with e^14.6074 four.
    """
    return in_latex(f"{value:.{decimals}f}") if abs(value) < float("inf") else digits(value)


@dataclass(frozen=True)
class Writing:
    """What the formulas of one calculation need to be written down.

    Attributes:
        query: the position of the query, from 0.
        terms: how many terms of a sum are shown; None: all.
    """

    hand: ByHand
    query: int
    dark: bool = False
    terms: int | None = TERMS

    def _colored(self, role: Role, text: str) -> str:
        return rf"\textcolor{{{resolved(role_color(role), self.dark)}}}{{{text}}}"

    @property
    def _q(self) -> str:
        return self._colored("query", f"q_{{{self.query + 1}}}")

    @property
    def _k(self) -> str:
        return self._colored("key", f"k_{{{self.hand.chosen + 1}}}")

    def _v(self, key: int) -> str:
        return self._colored("value", f"v_{{{key + 1}}}")

    def _e(self, value: float) -> str:
        """An exponential or the sum of them."""
        return digits(value, self.hand.digits)

    @property
    def _less(self) -> str:
        """What is subtracted from every score, if anything is."""
        size, sign = exponent(abs(self.hand.subtracted), self.hand.digits), "-" if self.hand.subtracted > 0 else "+"
        return f" {sign} {size}" if self.hand.subtracted else ""

    def _raised(self, score: float) -> str:
        """e to the score."""
        return rf"e^{{{exponent(score, self.hand.digits)}{self._less}}}"

    def _shown(self, count: int) -> int:
        """How many terms of a sum of `count` are shown; a single remaining term is shown too."""
        return count if self.terms is None or count <= self.terms + 1 else self.terms

    def summary(self) -> str:
        """The whole calculation for the chosen key, one line per step."""
        hand, j = self.hand, self.hand.chosen
        product, score, masked = (float(row[j]) for row in (hand.products, hand.scores, hand.masked_scores))
        e, weight = float(hand.exponentials[j]), float(hand.weights[j])
        dims, keys, mask = f"{hand.d_k}", int(hand.mask.sum()), _("mask")
        over = ngettext("over {count} key", "over {count} keys", keys)
        decimals = _("four decimals") if hand.digits == DIGITS else _("{count} decimals", count=hand.digits)
        lines = [
            (rf"{self._q} \cdot {self._k}", f"= {digits(product)}", _("{count} products", count=dims)),
            (rf"{digits(product)} / \sqrt{{{dims}}}", f"= {digits(score)}", _("the score")),
            (rf"\text{{{mask}}}", rf"\to {digits(masked)}", _("allowed") if hand.mask[j] else _("forbidden")),
            (self._raised(masked), f"= {self._e(e)}", decimals),
            (rf"\textstyle\sum_j e^{{s_j{self._less}}}", f"= {self._e(hand.total)}", over),
            (rf"{self._e(e)} / {self._e(hand.total)}", rf"= \mathbf{{{digits(weight)}}}", _("the weight")),
        ]
        written = [rf"{a} & {b} & {{\footnotesize\text{{{note}}}}}" for a, b, note in lines]
        rows = r" \\[.4em] ".join(written)
        return rf"\begin{{array}}{{rll}} {rows} \end{{array}}"

    def product(self) -> str:
        """q·k term by term, below each number its name: q_{3,17} is number 17 of the query of token 3."""
        hand, j = self.hand, self.hand.chosen
        parts = []
        for i in hand.order[: self._shown(hand.d_k)]:
            q, k = self._colored("query", digits(hand.query[i])), self._colored("key", digits(hand.keys[j][i]))
            q_name = self._colored("query", f"q_{{{self.query + 1},{i}}}")
            k_name = self._colored("key", f"k_{{{j + 1},{i}}}")
            parts.append(rf"\underset{{\textstyle {q_name}}}{{({q})}}\,\underset{{\textstyle {k_name}}}{{({k})}}")
        total = rf"= {digits(hand.products[hand.chosen])}"
        rest = float(hand.terms[hand.order[len(parts) :]].sum())
        return _sum(rf"{self._q} \cdot {self._k}", parts, hand.d_k - len(parts), rest, total)

    def scale(self) -> str:
        """The division by sqrt(d_k)."""
        hand = self.hand
        product, root = digits(hand.products[hand.chosen]), digits(hand.d_k**0.5)
        return (
            rf"s_{{{self.hand.chosen + 1}}} = \frac{{{self._q} \cdot {self._k}}}{{\sqrt{{d_k}}}} = "
            rf"\frac{{{product}}}{{\sqrt{{{hand.d_k}}}}} = \frac{{{product}}}{{{root}}} = "
            rf"{digits(hand.scores[hand.chosen])}"
        )

    def mask(self) -> str:
        """The chosen score before and after the mask."""
        hand, j = self.hand, self.hand.chosen
        label = _("may be attended to") if hand.mask[j] else _("may not be attended to")
        return rf"{digits(hand.scores[j])} \;\xrightarrow{{\text{{{label}}}}}\; {digits(hand.masked_scores[j])}"

    def softmax(self) -> str:
        """The exponentials of the row, largest first, their sum, and the weight."""
        hand, j = self.hand, self.hand.chosen
        allowed = [int(key) for key in hand.keys_by_weight if hand.mask[key]]
        shown = allowed[: self._shown(len(allowed))]
        parts = [rf"\underset{{{key + 1}}}{{{self._raised(hand.masked_scores[key])}}}" for key in shown]
        rest = float(sum(hand.exponentials[key] for key in allowed[len(shown) :]))
        total = self._e(hand.total)
        left = rf"\textstyle\sum_j e^{{s_j{self._less}}}"
        written = _sum(left, parts, len(allowed) - len(shown), rest, rf"= {total}")
        name = _("weight")
        share = (
            rf"\text{{{name}}}_{{{j + 1}}} = \frac{{{self._raised(hand.masked_scores[j])}}}"
            rf"{{\sum_j e^{{s_j{self._less}}}}} = \frac{{{self._e(hand.exponentials[j])}}}{{{total}}} = "
            rf"\mathbf{{{digits(hand.weights[j])}}}"
        )
        return rf"\begin{{gathered}} {written} \\[1.2em] {share} \end{{gathered}}"

    def context(self, dimension: int) -> str:
        """The weighted sum of the value vectors, and one of its numbers in full."""
        hand = self.hand
        positive = [int(key) for key in hand.keys_by_weight if hand.weights[key] > 0]
        keys = positive[: self._shown(len(positive))]
        left = positive[len(keys) :]
        vectors = [rf"{digits(hand.weights[key])}\,{self._v(key)}" for key in keys]
        folded = float(sum(hand.weights[key] for key in left))
        parts = [
            rf"({digits(hand.weights[key])})({self._colored('value', digits(hand.values[key][dimension]))})"
            for key in keys
        ]
        rest = float(sum(hand.contributions[key][dimension] for key in left))
        context = r"\text{" + _("context") + "}"
        first = _sum(context, vectors, 0, 0.0, "")
        if left:
            more = _("{count} more,", count=len(left))
            first = _sum(context, vectors, 0, 0.0, rf"+ \dots \text{{ {more} }} {digits(folded)}")
        second = _sum(
            rf"{context}[{dimension}]",
            parts,
            len(left),
            rest,
            rf"= \mathbf{{{digits(hand.context[dimension])}}}",
        )
        return rf"\begin{{gathered}} {first} \\[1.2em] {second} \end{{gathered}}"


def _sum(left: str, parts: Sequence[str], more: int, rest: float, end: str) -> str:
    """left = a + b + c, three terms per line; the terms left out are one number with their count."""
    terms = list(parts) or ["0"]
    if more:
        left_out = _("and {count} more, together", count=more)
        terms.append(rf"\underset{{\text{{{left_out}}}}}{{({digits(rest)})}}")
    lines = [" + ".join(terms[i : i + PER_LINE]) for i in range(0, len(terms), PER_LINE)]
    written = [rf"{left} &= {lines[0]}", *(rf"&\quad + {line}" for line in lines[1:])]
    if end:
        written.append(rf"&{end}" if end.startswith("=") else rf"&\quad {end}")
    return _aligned(written)


def _aligned(lines: Sequence[str]) -> str:
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"
