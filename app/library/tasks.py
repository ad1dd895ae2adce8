"""What a checkpoint translates from and to, in words, and sentences to begin with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transformer.data.toy_tasks import TOY_TASKS

if TYPE_CHECKING:
    from transformer.decoding.translator import Translator

LANGUAGES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "nl": "Dutch", "pl": "Polish",
    "pt": "Portuguese", "cs": "Czech", "ru": "Russian", "uk": "Ukrainian", "tr": "Turkish", "vi": "Vietnamese",
    "ja": "Japanese", "zh": "Chinese", "ar": "Arabic", "he": "Hebrew", "fi": "Finnish", "sv": "Swedish", "da": "Danish",
}  # fmt: skip

CAPTIONS = "captions"  # what a model that was trained on Multi30k has read: English captions of photographs

# The first is what a visitor is met with. It is short, its words change places on the way into German, and its
# translation has another number of tokens, so that the two sides differ in shapes.
EXAMPLES = {
    "en": (
        "I was looking for my glasses all morning.",
        "Where is the nearest train station?",
        "The animal didn't cross the street because it was too tired.",
        "I have never seen such a beautiful garden.",
        "She gave him the book that he had asked for.",
        "The Law will never be perfect, but its application should be just - this is what we are missing, in my "
        "opinion.",  # the paper's own, in its figures 4 and 5
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
    "en": "The last is the paper's own: its figures 4 and 5 show encoder self-attention on it, in layer 5 of 6. Its "
    "long and formal language is hard for models of everyday sentences.",
}


@dataclass(frozen=True)
class Task:
    """What a checkpoint translates from and to, in words."""

    source: str
    target: str
    target_code: str  # for the lang attribute, "" if there is no language
    examples: tuple[str, ...]
    note: str = ""  # of the examples


def task_of(translator: "Translator") -> Task:
    """Read from the recipe in the checkpoint. A checkpoint of unknown origin has no names and no examples."""
    return task_in(translator.checkpoint.recipe if translator.checkpoint else None)


def task_in(recipe: object) -> Task:
    """The same from the recipe that the header of a checkpoint holds."""
    data: Any = recipe.get("data") if isinstance(recipe, dict) else None
    if not isinstance(data, dict):
        return Task("Source", "Target", "", ())
    toy = data.get("toy")
    source, target = str(data.get("source_language", ""))[:20], str(data.get("target_language", ""))[:20]
    which = str(toy) if toy else CAPTIONS if _reads_captions(data) else source
    return Task(
        LANGUAGES.get(source, source.capitalize() or "Source"),
        LANGUAGES.get(target, target.capitalize() or "Target"),
        target if target in LANGUAGES else "",
        EXAMPLES.get(which, ()),
        NOTES.get(which, ""),
    )


def _reads_captions(data: dict[str, Any]) -> bool:
    return data.get("source_language") == "en" and "multi30k" in str(data.get("train"))
