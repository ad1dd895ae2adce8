"""Finds numbers in a German or French text that are written in the English way: 0.42, .07, 97%."""

import re

# What has a point in every language
NOT_NUMBERS = re.compile(
    r"""(?:Abschnitte?|sections?)\s[\d.]+(?:(?:,\s|\sund\s|\set\s)[\d.]+)*     # sections of the paper
    |`[^`]*`|<code.*?</code>                              # code
    |rgba?\([^)]*\)                                       # colours
    |\b(?:Kopf|Köpfe|head|têtes?)\s\d+\.\d+                     # a head as an address names it: layer.head
    |https?:\S+|\b[\w-]+\.(?:py|md|toml|npz|svg|png|csv|html|ipynb|safetensors)\b
    |[“„][^“”]*\bα\s=\s0\.6\b[^“”]*[”“]|[“„][^“”]*ε_ls\s=\s0\.1\b[^“”]*[”“]   # quotations from the paper
    |%\{[^}]*\}                                           # what Plotly puts a number in, see chart.js
    """,
    re.VERBOSE | re.DOTALL,
)
DECIMAL = re.compile(r"(?<![\w.,\-+/=&?:])\d*\.\d+(?![\w.])")
THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d{3}")  # a German number: 12.345
PERCENT = re.compile(r"\d%")
GROUPED = re.compile(r"(?<![\d,.])[1-9]\d{0,2}(?:,\d{3}){2,}(?!\d)")


def english_numbers(text: str) -> list[str]:
    """The numbers of a text with a decimal point, with a per cent sign right after the number, or with two commas."""
    left = NOT_NUMBERS.sub(" ", text)
    decimals = [each for each in DECIMAL.findall(left) if not THOUSANDS.fullmatch(each)]
    return [*decimals, *PERCENT.findall(left), *GROUPED.findall(left)]
