"""What a checkpoint translates from and to, in words, and example sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.languages import _, gettext_noop
from app.library.names_of_languages import LONGEST, is_language, name_of_language
from transformer.data.toy_tasks import TOY_TASKS

if TYPE_CHECKING:
    from transformer.decoding.translator import Translator

_OF_TOYS = {  # what toy tasks read and write, by the codes of their recipes
    "letters": gettext_noop("Letters"),
    "letters copied": gettext_noop("Letters copied"),
    "letters reversed": gettext_noop("Letters reversed"),
    "letters sorted": gettext_noop("Letters sorted"),
}

CAPTIONS = "captions"  # what a model that was trained on Multi30k has read: English captions of photographs

# The paper's own, in its figures 4 and 5
PAPERS_EXAMPLE = (
    "The Law will never be perfect, but its application should be just - this is what we are missing, in my opinion."
)

# A visitor sees the first one first. It is short, its words change places on the way into German, and its
# translation has another number of tokens, so that the two sides differ in shapes.
EXAMPLES = {
    "en": (
        "I was looking for my glasses all morning.",
        "Where is the nearest train station?",
        "The animal didn't cross the street because it was too tired.",
        "I have never seen such a beautiful garden.",
        "She gave him the book that he had asked for.",
        PAPERS_EXAMPLE,
    ),
    "de": (
        "Wo ist der nächste Bahnhof?",
        "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        "Ich habe noch nie einen so schönen Garten gesehen.",
    ),
    CAPTIONS: (
        "Two dogs are playing with a ball in the snow.",
        "A woman in a red coat is riding a bicycle down the street.",
        "An old man is sitting on a bench and reading a newspaper.",
        "Three children in yellow shirts are jumping into a lake.",
    ),
    **{name: task.examples for name, task in TOY_TASKS.items()},
}

NOTES = {  # below the examples
    "en": gettext_noop(
        "The last is the paper's own: its figures 4 and 5 show encoder self-attention on it, in layer 5 of 6. Its "
        "long and formal language is hard for models of everyday sentences."
    ),
}


@dataclass(frozen=True)
class Task:
    """What a checkpoint translates from and to, in words of the visitor's language."""

    source: str
    target: str
    source_code: str  # for the lang attribute, "" if there is no language
    target_code: str
    examples: tuple[str, ...]
    note: str = ""  # of the examples


def task_of(translator: "Translator") -> Task:
    """The task that the recipe in the checkpoint states. Without a recipe there are no names of languages and no
    examples."""
    return task_in(translator.checkpoint.recipe if translator.checkpoint else None)


def task_in(recipe: object) -> Task:
    """As `task_of`, from the recipe in the header of a checkpoint."""
    data: Any = recipe.get("data") if isinstance(recipe, dict) else None
    if not isinstance(data, dict):
        return Task(_("Source"), _("Target"), "", "", ())
    toy = data.get("toy")
    source, target = (str(data.get(f"{side}_language", ""))[:LONGEST] for side in ("source", "target"))
    which = str(toy) if toy else CAPTIONS if _reads_captions(data) else source
    return Task(
        language_name(source) or _("Source"),
        language_name(target) or _("Target"),
        source if is_language(source) else "",
        target if is_language(target) else "",
        EXAMPLES.get(which, ()),
        _(NOTES[which]) if which in NOTES else "",
    )


def language_name(code: str) -> str:
    """The name of a language, or of what a toy task reads or writes; "" for ""."""
    if code in _OF_TOYS:
        return _(_OF_TOYS[code])
    return name_of_language(code) or code[:1].upper() + code[1:]


def _reads_captions(data: dict[str, Any]) -> bool:
    return data.get("source_language") == "en" and "multi30k" in str(data.get("train"))
