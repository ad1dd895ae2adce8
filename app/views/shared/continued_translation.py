"""A translation that begins with chosen tokens: the model decodes on from there."""

from app.compute import cached_results
from app.languages import _
from app.stage.scene import Scene
from transformer.config import EOS
from transformer.decoding.length_penalty import length_limit
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.errors import TranslationError


def continued_translation(
    scene: Scene, prefix: tuple[int, ...], *, keep_tree: bool = False
) -> tuple[Hypothesis, tuple[SearchNode, ...]]:
    """The translation that begins with these tokens, and the tree of its search, if it is kept. If the tokens end the
    sentence, nothing is searched: they are the translation. Raises TranslationError."""
    subject, source, settings = scene.subject, scene.translation.source, scene.translation.settings
    if prefix[-1] == EOS:
        return cached_results.given(subject, source, prefix[:-1], settings), ()
    limit = length_limit(len(scene.translation.source_ids), settings, scene.config.max_positions)
    if len(prefix) >= limit:
        raise TranslationError(
            _(
                "Your beginning has {count:,} tokens, and it may have at most {most:,} for this sentence. Type fewer "
                "words, or choose an earlier node.",
                count=len(prefix),
                most=limit - 1,
            )
        )
    found = cached_results.translate_one(subject, source, settings, keep_tree=keep_tree, prefix=prefix)
    return found.hypotheses[0], found.tree
