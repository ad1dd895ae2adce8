"""The calculation as a few lines of NumPy that need nothing else: paste, run, and the page's numbers are printed.

It prints the numbers of the page's own lines, with the same four digits
(test_the_snippet_prints_the_numbers_of_the_page). Each number of a tensor is written with the digits that restore its
exact bits. Tokens are in comments only, as Python writes them (`repr`), so that no line break in a token can end a
comment and begin a statement (test_hostile_tokens_stay_in_their_comments).
"""

import textwrap

import numpy as np

from app.figures.axes import TokenAxis
from app.views.hand.arithmetic import DIGITS, ByHand

WIDTH = 110


def numpy_snippet(hand: ByHand, queries: TokenAxis, keys: TokenAxis, *, query: int, title: str) -> str:
    """Python source that prints each step to the weight of the chosen key, and the context vector.

    Args:
        query: the position of the query, from 0.
        title: the names of kind, layer and head; no token, because a token could end the comment.
    """
    reads = f", predicts {queries.predicts[query]!r}" if queries.predicts else ""
    kind = hand.query.dtype.name
    largest, e = ("masked - masked.max()", "e^(score - largest)") if hand.subtracted else ("masked", "e^score")
    more = f", {hand.digits}" if hand.digits > DIGITS else ""  # argument of `text`: how many digits
    why = "  # the same number from all changes no weight" if hand.subtracted else ""
    lines = [
        f"# {title}, by hand.",
        f"# Query {query + 1} of {len(queries)}: {queries.tokens[query]!r}{reads}",
        f"# Key {hand.chosen + 1} of {len(keys)}: {keys.tokens[hand.chosen]!r}",
        "import numpy as np",
        "",
        f"q = np.array([{_rows(hand.query[None])}], np.{kind})[0]  # (E,)",
        f"K = np.array([{_rows(hand.keys)}], np.{kind})  # (K, E)",
        f"V = np.array([{_rows(hand.values)}], np.{kind})  # (K, E)",
        f"mask = np.array({[int(allowed) for allowed in hand.mask]}, bool)  # True = may attend",
        f"j = {hand.chosen}  # the chosen key, from 0",
        "",
        "q, K, V = (x.astype(np.float64) for x in (q, K, V))",
        "products = K @ q",
        "scores = products / np.sqrt(len(q))",
        "masked = np.where(mask, scores, -np.inf)",
        f"e = np.exp({largest}){why}",
        "weights = e / (e.sum() or 1)",
        "context = weights @ V",
        "",
        "",
        "def text(x, digits=4):",
        "    if 10**digits - 0.5 <= abs(x) < 999_999.5:",
        '        return f"{x:,.0f}"',
        '    while 0.9 < x < 1 and float(f"{x:.{digits}g}") == 1:  # it is not 1',
        "        digits += 1",
        '    return f"{x:#.{digits}g}".rstrip(".") if x else "0"',
        "",
        "",
        'print("q·k =", text(products[j]))',
        'print("score =", text(scores[j]))',
        'print("masked =", text(masked[j]))',
        f'print("{e} =", text(e[j]{more}))',
        f'print("sum =", text(e.sum(){more}))',
        'print("weight =", text(weights[j]))',
        'print("context =", np.array2string(context, formatter={"float": text}))',
    ]
    return "\n".join(lines) + "\n"


def _row(values: np.ndarray) -> str:
    return f"[{', '.join(str(value) for value in values)}]"


def _rows(values: np.ndarray) -> str:
    # Trap: broken at hyphens, 1e-05 would become two lines (test_the_snippet_prints_the_numbers_of_the_page).
    line = textwrap.TextWrapper(
        WIDTH, initial_indent="    ", subsequent_indent="     ", break_long_words=False, break_on_hyphens=False
    )
    wrapped = (line.fill(f"{_row(row)},") for row in values)
    return "\n" + "\n".join(wrapped) + "\n"
