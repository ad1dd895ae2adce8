"""The lines of a lesson file -> blocks: the lines below "# Title", and those below each "## Title of a scene"."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from app.languages import _

_KEY = re.compile(r"([a-z][a-z_-]*)\s*:\s*(.*)")


@dataclass(frozen=True)
class Mistake:
    """What is wrong in a line, and what to write instead. `stops`: the lesson cannot be opened with it."""

    line: int
    problem: str
    instead: str
    stops: bool = True

    def __str__(self) -> str:
        if self.stops:
            return _("Line {line}: {problem} {instead}", line=self.line, problem=self.problem, instead=self.instead)
        return _("Line {line}: Note: {problem} {instead}", line=self.line, problem=self.problem, instead=self.instead)


@dataclass
class Block:
    """What is below a title: lines "key: value", then text, and notes in lines that begin with ">".

    Attributes:
        keys: value and number of the line of each key.
    """

    title: str
    line: int
    keys: dict[str, tuple[str, int]] = field(default_factory=dict)
    text_lines: list[tuple[int, str]] = field(default_factory=list)
    notes_lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(line for number, line in self.text_lines)

    @property
    def notes(self) -> str:
        """The notes, with the lines of each paragraph joined."""
        paragraphs = "\n".join(line for number, line in self.notes_lines).split("\n\n")
        return "\n\n".join(" ".join(each.split("\n")).strip() for each in paragraphs if each.strip())

    @property
    def text_line(self) -> int:
        return self.text_lines[0][0] if self.text_lines else self.line

    @property
    def notes_line(self) -> int:
        return self.notes_lines[0][0] if self.notes_lines else self.line


def blocks(
    text: str, lesson_keys: Sequence[str], scene_keys: Sequence[str], mistakes: list[Mistake]
) -> tuple[Block, list[Block]]:
    """The block of the lesson and those of its scenes."""
    head, scenes = Block("", 1), list[Block]()
    block = head
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = line.strip()
        heading = re.match(r"(#+)\s*(.*)", line)
        if heading and heading[1] == "#":
            if head.title or scenes:
                problem = _("This is a second title of the lesson.")
                mistakes.append(Mistake(number, problem, _("A scene begins with ##.")))
            else:
                head.title, head.line = heading[2], number
        elif heading and heading[1] == "##":
            block = Block(heading[2], number)
            scenes.append(block)
        elif heading:
            problem = _("{marks} begins nothing in a lesson.", marks=heading[1])
            mistakes.append(Mistake(number, problem, _("A scene begins with ##.")))
        elif line.startswith(">"):
            block.notes_lines.append((number, line[1:].strip()))
        elif line:
            _read_line(block, line, number, scene_keys if scenes else lesson_keys, mistakes)
        elif block.notes_lines:
            block.notes_lines.append((number, ""))
    if head.notes:
        instead = _("Move these lines below a scene's text.")
        mistakes.append(Mistake(head.notes_line, _("Only a scene has notes."), instead))
    return head, scenes


def _read_line(block: Block, line: str, number: int, valid: Sequence[str], mistakes: list[Mistake]) -> None:
    """Reads a line that has a key and its value, or is a part of the text."""
    key = _KEY.fullmatch(line)
    begun = bool(block.text_lines or block.notes_lines)
    if key is None or (begun and key[1] not in valid):
        block.text_lines.append((number, line))
    elif begun:
        problem = _("“{key}:” comes after the text.", key=key[1])
        mistakes.append(Mistake(number, problem, _("Write it directly below the title.")))
    elif key[1] not in valid:
        instead = did_you_mean(key[1], valid, _("Begin a text with a capital letter; the keys are"))
        mistakes.append(Mistake(number, _("“{key}” is not a key.", key=key[1]), instead))
    elif key[1] in block.keys:
        problem = _("“{key}” is already in line {line}.", key=key[1], line=block.keys[key[1]][1])
        mistakes.append(Mistake(number, problem, _("Remove one of the two lines.")))
    else:
        block.keys[key[1]] = key[2], number


def did_you_mean(name: str, valid: Iterable[str], otherwise: str) -> str:
    """The nearest valid name as a question. If none is near: `otherwise`, and all valid names unless they are many."""
    valid = list(valid)
    near = get_close_matches(name, valid, 1, 0.6)
    if near:
        return _("Did you mean {name}?", name=near[0])
    return f"{otherwise}." if len(valid) > 20 or not valid else f"{otherwise}: {', '.join(valid)}."
