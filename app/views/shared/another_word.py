"""A sentence that differs in one word from that of the page and has as many tokens, so that the two can be compared
token by token."""

from dataclasses import replace

from app.compute import patch_results
from app.library.catalogue import entry
from app.library.names_of_languages import english_name_of
from app.library.word_pairs import with_another_word, with_the_next_word
from app.stage.scene import Scene

MOST = 8  # at most so many sentences to choose from
MOST_TOKENS = 150  # at most so many tokens in all these sentences together


def with_as_many_tokens(scene: Scene) -> tuple[str, ...]:
    """The sentences to choose from; empty if none is known."""
    source, tokens = scene.translation.source, scene.subject.translator.tokenizer.encode
    size, most = len(tokens(source)), max(min(MOST, MOST_TOKENS // len(scene.translation.source_ids)), 1)

    def fitting(sentences: list[str]) -> list[str]:
        return [each for each in sentences if len(tokens(each)) == size]

    found = fitting(with_another_word(source, _language_read(scene))) or fitting(with_the_next_word(source))
    return tuple(found[:most])


def _language_read(scene: Scene) -> str:
    """The English name of the language that the model reads."""
    return english_name_of(str(entry(scene.subject.file).recipe("data").get("source_language")))


def most_striking(scene: Scene) -> str:
    """The one of these sentences whose word changes the encoder's output most at other positions; "" if none."""
    found, settings = with_as_many_tokens(scene), replace(scene.translation.settings, n_best=1)
    if not found:
        return ""
    return patch_results.most_spread(scene.subject.original, scene.translation.source, found, settings) or found[0]
