"""A lesson file -> a lesson, or everything that is wrong with the file. The format is in README.md beside this file.

# Title                 ## Title of a scene
minutes: 10             minutes: 2
checkpoint: en-de       show: translate?kind=cross&layer=4&head=4
                        sentence: What is translated.
What it is for.         question: most-attended

                        At most two sentences for the class.

                        > Notes for the presenter.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from app.languages import _
from app.lessons import lines
from app.lessons.lines import Block, Mistake, did_you_mean
from app.lessons.link_check import check_link, check_question
from app.library.checkpoints import MOST_CHARACTERS
from app.library.names_of_languages import all_languages, is_language
from transformer.text.sentence_splitting import split_sentences

MOST_BYTES = 1_000_000
MOST_SCENES = 80
MOST_MINUTES = 240.0
MOST_SENTENCES = 2
LONGEST_TITLE = 70  # characters: one line of a lecture at 1280x720
LONGEST_TEXT = 260  # three lines
LONGEST_ABOUT = 600
LONGEST_NOTES = 6000

LESSON_KEYS = ("minutes", "language", "checkpoint")
SCENE_KEYS = ("minutes", "show", "sentence", "checkpoint", "question")


@dataclass(frozen=True)
class LessonScene:
    """A page in one state, and what is said about it.

    Attributes:
        page: its name, one of `app.pages.PAGES`.
        query: the choices that `show` names, as texts of the address.
        checkpoint: "": the one that the app opens with.
        sentence: "": the scene names none; see `sentence_of`.
        text: what the class reads, at most two sentences.
        notes: what only the presenter reads; paragraphs are separated by an empty line.
        question: such as "most-attended?layer=4&head=4"; "": none.
        line: the line of its title in the file, counted from 1.
    """

    title: str
    minutes: float
    page: str
    query: dict[str, str] = field(hash=False)
    checkpoint: str
    sentence: str
    text: str
    notes: str
    question: str
    line: int

    @property
    def link(self) -> dict[str, str]:
        """All texts of a link that opens the page in this state; see `app.state.address.open_link`."""
        return self.query | {"sentence": self.sentence} | ({"checkpoint": self.checkpoint} if self.checkpoint else {})


@dataclass(frozen=True)
class Lesson:
    """Scenes in the order in which they are shown. `about`: for whom it is and what it shows."""

    title: str
    minutes: float
    language: str
    about: str
    scenes: tuple[LessonScene, ...]


@dataclass(frozen=True)
class ReadLesson:
    """What a file contains: a lesson, unless a mistake prevents it, and the mistakes in the order of their lines."""

    lesson: Lesson | None
    mistakes: tuple[Mistake, ...]


def sentence_of(scenes: Sequence[LessonScene], index: int) -> str:
    """The sentence with which a scene is shown: its own, or that of the last scene before it with the same checkpoint.
    "": the first example of the checkpoint. Scenes count from 0."""
    checkpoint = scenes[index].checkpoint
    named = [each.sentence for each in scenes[: index + 1] if each.sentence and each.checkpoint == checkpoint]
    return named[-1] if named else ""


def read_lesson(content: bytes, checkpoints: Collection[str] | None = None) -> ReadLesson:
    """Reads a file and finds all its mistakes.

    Args:
        checkpoints: the names of those that can be opened; None: not known, so names of checkpoints are not checked.
    """
    mistakes: list[Mistake] = []
    if len(content) > MOST_BYTES:
        problem = _("The file has {bytes:,} bytes; a lesson has at most {most:,}.", bytes=len(content), most=MOST_BYTES)
        return ReadLesson(None, (Mistake(1, problem, _("Make two lessons of it.")),))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        instead = _("Save the file in the encoding UTF-8.")
        return ReadLesson(None, (Mistake(line, _("This is not UTF-8."), instead),))
    head, blocks = lines.blocks(text, LESSON_KEYS, SCENE_KEYS, mistakes)
    lesson = _lesson(head, blocks, checkpoints, mistakes)
    found = tuple(sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake.line))
    return ReadLesson(None if any(mistake.stops for mistake in found) else lesson, found)


def _lesson(head: Block, blocks: list[Block], checkpoints: Collection[str] | None, mistakes: list[Mistake]) -> Lesson:
    checkpoint = _checkpoint(head, checkpoints, mistakes)
    language, line = head.keys.get("language", ("en", head.line))
    if not is_language(language):
        problem = _("“{code}” is not a language code.", code=language)
        instead = did_you_mean(language, all_languages(), _("Write one such as en or de"))
        mistakes.append(Mistake(line, problem, instead))
    problem = _("The description has {count} characters, too many.", count=len(head.text))
    _check_length(problem, head.text_line, head.text, LONGEST_ABOUT, mistakes)
    if not head.title:
        instead = _("Begin the file with a line such as # Masks.")
        mistakes.append(Mistake(head.line, _("The lesson has no title."), instead))
    if not blocks:
        instead = _("Each begins with a line such as ## A title.")
        mistakes.append(Mistake(head.line, _("The lesson has no scenes."), instead))
    if len(blocks) > MOST_SCENES:
        problem = _("The lesson has {count} scenes; it may have {most}.", count=len(blocks), most=MOST_SCENES)
        mistakes.append(Mistake(blocks[MOST_SCENES].line, problem, _("Make two lessons of it.")))
    titles: dict[str, int] = {}
    for block in blocks:
        if block.title and (first := titles.setdefault(block.title.casefold(), block.line)) != block.line:
            problem = _("The scene in line {line} has the same title.", line=first)
            mistakes.append(Mistake(block.line, problem, _("Give each scene its own title.")))
    scenes = tuple(_scene(block, checkpoint, checkpoints, mistakes) for block in blocks)
    minutes = _minutes(head, mistakes)
    total = sum(scene.minutes for scene in scenes)
    known = minutes and scenes and all(scene.minutes for scene in scenes)
    if known and abs(total - minutes) > max(0.5, minutes / 20):
        line = head.keys["minutes"][1]
        problem = _(
            "The lesson has {minutes:g} minutes, its scenes together have {total:g}.", minutes=minutes, total=total
        )
        instead = _("Write minutes: {total:g}, or change those of the scenes.", total=total)
        mistakes.append(Mistake(line, problem, instead))
    return Lesson(head.title, minutes, language, head.text, scenes)


def _scene(block: Block, checkpoint: str, checkpoints: Collection[str] | None, mistakes: list[Mistake]) -> LessonScene:
    page, query = "", dict[str, str]()
    if "show" not in block.keys:
        problem = _("The scene does not say what it shows.")
        mistakes.append(Mistake(block.line, problem, _("Write a line such as show: attention?layer=4&head=6.")))
    else:
        shown, line = block.keys["show"]
        page, query, problems = check_link(shown)
        mistakes += [Mistake(line, *problem) for problem in problems]
    question, line = block.keys.get("question", ("", 0))
    if "question" in block.keys:
        mistakes += [Mistake(line, *problem) for problem in check_question(question)]
    sentence, line = block.keys.get("sentence", ("", 0))
    if len(sentence) > MOST_CHARACTERS:
        problem = _("The sentence has {count:,} characters.", count=len(sentence))
        mistakes.append(Mistake(line, problem, _("Write at most {most:,}.", most=MOST_CHARACTERS)))
    if not block.title:
        mistakes.append(Mistake(block.line, _("The scene has no title."), _("Write it after ##.")))
    if len(block.title) > LONGEST_TITLE:
        problem = _(
            "The title has {count} characters and fills more than a line of the screen.", count=len(block.title)
        )
        mistakes.append(Mistake(block.line, problem, _("Write at most {most}.", most=LONGEST_TITLE)))
    sentences = split_sentences(block.text)
    if len(sentences) > MOST_SENTENCES:
        problem = _(
            "The text has {count} sentences; the class reads at most {most}.",
            count=len(sentences),
            most=MOST_SENTENCES,
        )
        instead = _("Move what you say yourself into the notes, in lines that begin with >.")
        mistakes.append(Mistake(block.text_line, problem, instead))
    problem = _("The text has {count} characters, too many.", count=len(block.text))
    _check_length(problem, block.text_line, block.text, LONGEST_TEXT, mistakes)
    problem = _("The notes have {count} characters, too many.", count=len(block.notes))
    _check_length(problem, block.notes_line, block.notes, LONGEST_NOTES, mistakes)
    return LessonScene(
        block.title,
        _minutes(block, mistakes),
        page,
        query,
        _checkpoint(block, checkpoints, mistakes) or checkpoint,
        sentence,
        block.text,
        block.notes,
        question,
        block.line,
    )


def _minutes(block: Block, mistakes: list[Mistake]) -> float:
    """The minutes of a lesson or a scene; 0 if they are missing or wrong."""
    if "minutes" not in block.keys:
        instead = _("Write a line such as minutes: 2.")
        mistakes.append(Mistake(block.line, _("The minutes are missing."), instead))
        return 0.0
    text, line = block.keys["minutes"]
    whole, *rest = text.split(".", 1)
    part = "".join(rest)
    is_number = text.isascii() and whole.isdigit() and (part.isdigit() or "." not in text) and len(text) < 8
    if is_number and 0 < float(text) <= MOST_MINUTES:
        return float(text)
    problem = _("“{text}” is not a number of minutes.", text=text)
    instead = _("Write a number above 0 and up to {most:g}, such as 2 or 1.5.", most=MOST_MINUTES)
    mistakes.append(Mistake(line, problem, instead))
    return 0.0


def _checkpoint(block: Block, known: Collection[str] | None, mistakes: list[Mistake]) -> str:
    name, line = block.keys.get("checkpoint", ("", 0))
    if name and known is not None and name not in known and not _is_of_a_run(name):
        instead = did_you_mean(name, known, _("The app opens another one in its place"))
        mistakes.append(Mistake(line, _("There is no checkpoint “{name}” here.", name=name), instead, stops=False))
    return name


def _is_of_a_run(name: str) -> bool:
    # Imported here, because it imports torch to read checkpoints, and few lessons name a checkpoint of a run.
    from app.library.run_checkpoints import run_checkpoint

    return run_checkpoint(name) is not None


def _check_length(problem: str, line: int, text: str, most: int, mistakes: list[Mistake]) -> None:
    if len(text) > most:
        mistakes.append(Mistake(line, problem, _("Write at most {most}.", most=most)))
