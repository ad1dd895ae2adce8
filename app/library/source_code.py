"""The very lines that compute what a page shows; those of the model are found by the name of a tensor's site.

In the code a site is an expression `probe("weights", ...)`. The statement around it is what a page shows, so text and
code cannot drift apart: a site that is renamed or moved is found where it is now (test_every_site_has_its_lines).

A running app shows the code that it runs. Where a file has changed since, its lines may be wrong, and the
page shows a sentence instead (test_a_file_that_has_changed_says_so_in_place_of_its_lines).
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import transformer
from app.languages import gettext_noop

PACKAGE = Path(transformer.__file__).resolve().parent
APP = Path(__file__).resolve().parents[1]
# The times of change when the app started
KNOWN = {path: path.stat().st_mtime_ns for folder in (PACKAGE, APP) for path in folder.rglob("*.py")}
# In place of the text of `SourceLines`; translated where it is drawn
CHANGED = gettext_noop("# This file has changed since the app was started: restart the app.")
_RESIDUAL = ("residual_in", "residual_connection", "residual_sum", "norm_out")


@dataclass(frozen=True)
class SourceLines:
    """Lines of a file of this repository."""

    path: str  # "transformer/model/attention.py"
    first: int  # counted from 1
    text: str


def lines_of(site: str, pre_norm: bool = False) -> SourceLines:
    """The statement that computes this site.

    Args:
        site: for example `encoder.layers.0.self_attention.weights`.
        pre_norm: whether the model normalises before its sub-layers; the code of the two differs.

    Raises:
        KeyError: the code has no such site.
    """
    part = "residual" if site.endswith(_RESIDUAL) else site.split(".")[-2] if "." in site else ""
    name = site.rsplit(".", 1)[-1]
    if part == "residual":
        if site.split(".")[-2] in ("self_attention", "cross_attention", "feed_forward"):
            return _find("model/layers.py", name, which=0 if pre_norm else -1)
        return _find("model/transformer.py", name, stack=site.split(".")[0])
    if part == "embedding":
        return _find("model/embedding.py", name)
    if part in ("self_attention", "cross_attention"):
        return _find("model/attention.py", name, which=-1)  # of two paths to the output, the usual one
    if part == "feed_forward":
        return _find("model/feed_forward.py", name)
    return _find("model/transformer.py", name)


def lines_of_definition(path: str, name: str) -> SourceLines:
    """A whole function or class, its docstring left out.

    Args:
        path: below `transformer/`, for example "model/masks.py".
        name: of a function or class at the top of the file, or "Class.method".

    Raises:
        KeyError: there is none.
    """
    if _has_changed(PACKAGE / path):
        return SourceLines(f"transformer/{path}", 1, CHANGED)
    tree, lines = _parsed(path)
    body: list[ast.stmt] = tree.body
    node: ast.stmt | None = None
    for part in name.split("."):
        found = [
            n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and n.name == part
        ]
        if not found:
            raise KeyError(f"transformer/{path} has no {name}")
        node, body = found[0], found[0].body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    first, last = node.lineno, node.end_lineno or node.lineno
    kept = lines[first - 1 : last]
    if ast.get_docstring(node) is not None:
        doc = node.body[0]
        kept = lines[first - 1 : doc.lineno - 1] + lines[doc.end_lineno or doc.lineno : last]
    return SourceLines(f"transformer/{path}", first, _dedented(kept))


def lines_from(function: Callable[..., object], first: str, last: str = "") -> SourceLines:
    """Some lines of a function of this repository.

    Args:
        first: words that are in the first of them.
        last: words that are in the last of them, at or after the first; "" for one line.

    Raises:
        KeyError: the function has no such line any more.
    """
    file = Path(inspect.getfile(inspect.unwrap(function))).resolve()
    path = file.relative_to(PACKAGE.resolve().parent).as_posix()
    if _has_changed(file):
        return SourceLines(path, 1, CHANGED)
    lines, start = inspect.getsourcelines(function)
    begin = next((i for i, line in enumerate(lines) if first in line), None)
    end = next(
        (i for i, line in enumerate(lines) if begin is not None and i >= begin and (last or first) in line), None
    )
    if begin is None or end is None:
        raise KeyError(f"{function.__qualname__} has no lines from {first!r} to {last!r}")
    text = _dedented([line.rstrip("\n") for line in lines[begin : end + 1]])
    return SourceLines(path, start + begin, text)


def joined_lines(*parts: SourceLines) -> SourceLines:
    """Several places of one file, one below the other; its line is that of the first.

    Raises:
        ValueError: they are of several files.
    """
    if len({part.path for part in parts}) != 1:
        raise ValueError(f"Lines of {', '.join(part.path for part in parts)} cannot be shown together.")
    if any(part.text == CHANGED for part in parts):
        return SourceLines(parts[0].path, 1, CHANGED)
    return SourceLines(parts[0].path, parts[0].first, "\n\n".join(part.text for part in parts))


def _has_changed(file: Path) -> bool:
    try:
        return file.stat().st_mtime_ns != KNOWN.get(file)
    except OSError:  # it is gone
        return True


@cache
def _parsed(path: str) -> tuple[ast.Module, list[str]]:
    text = (PACKAGE / path).read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


def _find(path: str, name: str, stack: str = "", which: int = 0) -> SourceLines:
    if _has_changed(PACKAGE / path):
        return SourceLines(f"transformer/{path}", 1, CHANGED)
    return _statement(path, name, stack, which)


@cache
def _statement(path: str, name: str, stack: str, which: int) -> SourceLines:
    """The statement that holds `probe("name", ...)`: of several, number `which`.

    `stack` picks the class Encoder or Decoder where both have one.
    """
    tree, lines = _parsed(path)
    found = [
        (getattr(top, "name", ""), node)
        for top in tree.body
        for node in ast.walk(top)
        if isinstance(node, ast.Assign | ast.Return | ast.Expr) and _calls(node, name)
    ]
    if not found:
        raise KeyError(f"transformer/{path} has no site {name}")
    nodes = [node for owner, node in found if owner.lower() == stack] or [node for _, node in found]
    node = sorted(nodes, key=lambda node: node.lineno)[which]
    return SourceLines(f"transformer/{path}", node.lineno, _dedented(lines[node.lineno - 1 : node.end_lineno]))


def _calls(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "probe"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == name
        for node in ast.walk(statement)
    )


def _dedented(lines: list[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip("\n")
