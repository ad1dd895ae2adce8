"""Shows the visitor's own translation in place of the one that the search found, and undoes that."""

from app.state.choices import ALTERNATIVE, GIVEN, GIVEN_IDS, GIVEN_SHOWN, STEP, UNDO


def show_given(text: str, ids: tuple[int, ...] = ()) -> None:
    """Shows the visitor's own translation, which may be chosen token by token."""
    GIVEN.choose(text)
    GIVEN_IDS.choose(ids)
    ALTERNATIVE.choose(GIVEN_SHOWN)


def show_instead(text: str, ids: tuple[int, ...], step: int) -> None:
    """Shows the visitor's own translation, with another token at `step`, until `take_back` shows what was there."""
    before = (ALTERNATIVE.value, GIVEN.value, GIVEN_IDS.value, step)
    show_given(text, ids)
    UNDO.choose((*UNDO.value, before))


def show_found() -> None:
    """Shows the translation that the search found. The visitor's own one stays in the list of translations."""
    ALTERNATIVE.forget()
    UNDO.forget()


def chosen_steps() -> set[int]:
    """The steps whose token the visitor replaced. After a replaced token the model writes all tokens again, so those
    that were replaced there before do not count any more."""
    found: set[int] = set()
    for *_, step in UNDO.value:
        found = {before for before in found if before < step} | {step}
    return found


def take_back() -> None:
    """Shows what was shown before the last `show_instead`, at the step of the other token."""
    if not UNDO.value:
        return
    *before, (alternative, text, ids, step) = UNDO.value
    show_given(text, ids)
    ALTERNATIVE.choose(alternative)
    STEP.choose(step)
    UNDO.choose(tuple(before))
