"""Shows the visitor's own translation in place of the one that the search found, and undoes that."""

from app.state.choices import ALTERNATIVE, GIVEN, GIVEN_IDS, GIVEN_SHOWN, STEP, UNDO


def show_given(text: str, ids: tuple[int, ...] = ()) -> None:
    """Shows the visitor's own translation, which may be chosen token by token."""
    GIVEN.choose(text)
    GIVEN_IDS.choose(ids)
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
    before = (ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value, steps)
    show_given(text, ids)
    UNDO.choose((*UNDO.value, before))


def show_found() -> None:
    """Shows the translation that the search found. The visitor's own one stays in the list of translations."""
    ALTERNATIVE.forget()
    UNDO.forget()


def chosen_steps() -> set[int]:
    """The steps whose token is the visitor's. After a replaced token the model writes all tokens again, so those that
    were replaced there before do not count any more. Of a typed translation the tokens before the first replaced one
    are the visitor's, too."""
    found: set[int] = set()
    for alternative, text, ids, steps in UNDO.value:
        if alternative != GIVEN_SHOWN or not steps:
            found = set(steps)
            continue
        before = set(range(steps[0])) if text and not ids else {step for step in found if step < steps[0]}
        found = before | set(steps)
    return found


def is_visitors(step: int) -> bool:
    """Whether the visitor gave the token at this step, from 0; otherwise the search found it, or the model wrote it
    after a token of the visitor."""
    return not UNDO.value or step in chosen_steps()


def newest_step() -> int:
    """The step of the token that the visitor chose last; -1 if there is none."""
    steps = UNDO.value[-1][3] if UNDO.value else ()
    return steps[-1] if steps else -1


def is_of_search() -> bool:
    """Whether what is shown in place of the best translation was found by the search."""
    return bool(UNDO.value) and not UNDO.value[-1][3]


def take_back() -> None:
    """Shows what was shown before the last `show_instead`, and chooses the step of the token that it replaced."""
    if not UNDO.value:
        return
    *before, (alternative, text, ids, steps) = UNDO.value
    show_given(text, ids)
    ALTERNATIVE.choose(alternative)
    if steps:
        STEP.choose(steps[-1])
    UNDO.choose(tuple(before))
