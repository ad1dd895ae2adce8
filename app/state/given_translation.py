"""Shows the visitor's own translation in place of the one that the search found, and undoes that."""

from app.state.choices import ALTERNATIVE, GIVEN, GIVEN_IDS, GIVEN_SHOWN, GIVEN_STEPS, STEP, UNDO
from app.state.shown_translation import Shown


def show_given(text: str, ids: tuple[int, ...] = (), steps: tuple[int, ...] | None = None) -> None:
    """Shows the visitor's own translation.

    Args:
        ids: its tokens, if it was chosen token by token.
        steps: those whose token the visitor gave, see GIVEN_STEPS.
    """
    GIVEN.choose(text)
    GIVEN_IDS.choose(ids)
    GIVEN_STEPS.choose(steps)
    ALTERNATIVE.choose(GIVEN_SHOWN)


def type_translation(text: str) -> None:
    """Shows a translation that the visitor typed."""
    UNDO.forget()
    show_given(text)


def show_instead(text: str, ids: tuple[int, ...], steps: tuple[int, ...] = ()) -> None:
    """Shows this translation until `take_back` shows what was there.

    Args:
        steps: those whose token the visitor chose, in order; () for another translation of the search.
    """
    before = Shown(ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value, GIVEN_STEPS.value, replaced=steps)
    kept = _given_before(steps[0]) if steps else set()
    show_given(text, ids, tuple(sorted(kept | set(steps))))
    UNDO.choose((*UNDO.value, before))


def _given_before(step: int) -> set[int]:
    """The steps before this one whose token is the visitor's. From a replaced token on, the model writes all tokens
    again, so that those that were given there do not count any more."""
    if ALTERNATIVE.value != GIVEN_SHOWN:
        return set()
    return {each for each in range(step) if is_visitors(each)}


def show_found() -> None:
    """Shows the translation that the search found. The visitor's own one stays in the list of translations."""
    ALTERNATIVE.forget()
    UNDO.forget()


def is_visitors(step: int) -> bool:
    """Whether the visitor gave the token at this step, from 0; otherwise the search found it, or the model wrote it
    after a token of the visitor."""
    return GIVEN_STEPS.value is None or step in GIVEN_STEPS.value


def is_of_search() -> bool:
    """Whether what is shown in place of the best translation was found by the search."""
    return GIVEN_STEPS.value == ()


def take_back() -> None:
    """Shows what was shown before the last `show_instead`, and chooses the step of the token that it replaced."""
    if not UNDO.value:
        return
    *earlier, before = UNDO.value
    show_given(before.text, before.ids, before.steps)
    ALTERNATIVE.choose(before.alternative)
    if before.replaced:
        STEP.choose(before.replaced[-1])
    UNDO.choose(tuple(earlier))
