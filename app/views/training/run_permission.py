"""Who may train in the browser, and whose a run is.

HEADLIGHT_TRAINING=off switches training from the browser off. In an app that serves other machines it is off unless
HEADLIGHT_TRAINING=on. On such a server a run belongs to the visitor who started it: only they can stop and resume it
(launch_run.py), and rename and delete it (manage_run.py).
"""

import os

from app.languages import _, gettext_noop
from app.library.runs import Run
from app.library.snapshots import OWNER
from app.server.visitor import identity, is_at_this_machine
from transformer.errors import HeadlightError

NOT_YOURS = gettext_noop(
    "This run was started by another visitor. Only they can stop, resume, rename or delete it here, in the browser in "
    "which they started it."
)


class LaunchError(HeadlightError):
    """A run cannot be started, stopped, resumed or changed; the message says why."""


def is_allowed() -> bool:
    """Whether this visitor may start processes. HEADLIGHT_TRAINING, "on" or "off", decides; if it is not set, only the
    person at the machine may."""
    stated = os.environ.get("HEADLIGHT_TRAINING", "").strip().lower()
    return stated == "on" if stated else is_at_this_machine()


def check_allowed() -> None:
    """Raises LaunchError if this visitor may not start processes."""
    if not is_allowed():
        raise LaunchError(_("Training from the browser is switched off."))


def is_owner(run: Run) -> bool:
    """Whether this visitor may stop and resume the run: they started it, or sit at the machine that runs the app."""
    if is_at_this_machine():
        return True
    try:
        owner = (run.folder / OWNER).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(owner) and owner == identity()


def check_owner(run: Run) -> None:
    """Raises LaunchError if the run is another visitor's."""
    if not is_owner(run):
        raise LaunchError(_(NOT_YOURS))


def owner_of_new_run() -> str:
    """What is stored in the folder of a run as its owner; "" for the person at the machine, if they have no cookie.
    Raises LaunchError for another visitor without one."""
    owner = identity()
    if not owner and not is_at_this_machine():
        raise LaunchError(
            _(
                "Your browser keeps no cookies for this page, so the run could not be recognised as yours and nobody "
                "could stop it here. Allow cookies for this page and reload it."
            )
        )
    return owner
