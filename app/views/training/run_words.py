"""A training run in words: what it does now, and how far it has come."""

from app.languages import _, ngettext
from app.library.runs import Phase, Run, phase_of, read_curves, seconds_left


def run_status(run: Run, busy: bool, stopping: bool) -> str:
    """What the run does now. `busy`: a process works in its folder. `stopping`: it was asked to stop."""
    so_far = made(run)
    if busy and run.state == "stopped":
        if stopping:
            return _("Stopping: {made}", made=so_far)
        return _("Starting …") if not run.update else _("Starting again after {made} …", made=so_far)
    if run.state == "running":
        newest = [] if is_preparing(run) else _newest(run)
        so_far = progress(run)
        does = _("Stopping: {made}", made=so_far) if stopping else _("Running: {made}", made=so_far)
        return ", ".join([does, *newest, *([] if stopping else left(run))])
    if run.state == "stopped":
        return _("Stopped after {made}", made=so_far)
    return ", ".join([_finished(run, so_far), *_best(run)])


def _finished(run: Run, so_far: str) -> str:
    """That it is finished; and why, if `patience` ended it before the last of its updates."""
    patience = run.recipe.training.patience if run.recipe else 0
    if run.update >= run.updates or not patience:
        return _("Finished after {made}", made=so_far)
    return ngettext(
        "Finished after {made} (no better score in {count} validation)",
        "Finished after {made} (no better score in {count} validations)",
        patience,
        made=so_far,
    )


def progress(run: Run) -> str:
    """How far a running training has come."""
    return _("preparing its text and its model") if is_preparing(run) else made(run)


def is_preparing(run: Run) -> bool:
    """Whether it prepares its text and its model for the first update."""
    return run.state == "running" and not run.update and phase_of(run) == "preparing"


def _best(run: Run) -> list[str]:
    """The best BLEU of its validations, if they had one."""
    bleu = read_curves(run.folder).get(("valid", "bleu"))
    return [] if bleu is None else [_("best BLEU {bleu:.1f} on its validation text", bleu=max(bleu[1]))]


def left(run: Run) -> list[str]:
    """How long the remaining updates will take, if that is known."""
    seconds = seconds_left(run)
    return [] if seconds is None or run.update >= run.updates else [_("{time} left", time=about(seconds))]


def about(seconds: float) -> str:
    """A time in words."""
    if seconds < 55:
        return ngettext("about {count} second", "about {count} seconds", max(5 * round(seconds / 5), 5))
    if seconds < 10_800:
        return ngettext("about {count} minute", "about {count} minutes", round(seconds / 60))
    return ngettext("about {count} hour", "about {count} hours", round(seconds / 3600))


def made(run: Run) -> str:
    """How many updates the run has made."""
    if run.updates:
        return _("update {update:,} of {updates:,}", update=run.update, updates=run.updates)
    return _("update {update:,}", update=run.update)


def _newest(run: Run) -> list[str]:
    """The newest metrics in words, or the phase if the run is not making updates."""
    curves = read_curves(run.folder)
    loss, speed = (curves.get(("train", name)) for name in ("loss", "tokens_per_second"))
    words: dict[Phase, str] = {
        "preparing": _("now preparing to continue"),
        "updating": _("making its first updates")
        if speed is None
        else _("{speed:,.0f} target tokens per second", speed=speed[1][-1]),
        "validating": _("now validating"),
        "averaging": _("now averaging its last checkpoints and validating the average"),
    }
    return [*([] if loss is None else [_("loss {loss:.3f}", loss=loss[1][-1])]), words[phase_of(run)]]
