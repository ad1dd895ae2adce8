"""What if: six experiments that change the model or the sentence while the model runs, each a picture of its own."""

from importlib import import_module

from app.languages import _, gettext_noop
from app.stage.scene import Scene
from app.state import edit_choices
from app.state.choices import EDITS, EXPERIMENT
from app.views.shared.buttons import buttons
from transformer.analysis.edits import MaskOff

# By experiment: its name on the page. The file {experiment}_part.py in this folder draws it
EXPERIMENTS = {
    "heads": gettext_noop("Switch parts off"),
    "masks": gettext_noop("Take a mask away"),
    "attention": gettext_noop("Move the attention"),
    "order": gettext_noop("Shuffle the words"),
    "words": gettext_noop("Change a word"),
    "patch": gettext_noop("Patch a vector"),
}
OF_MASKS = ("mask=", "allow=", "forbid=")  # how the texts of edits of masks begin


def draw(scene: Scene) -> None:
    """Draws the line of experiments, and the one that is chosen."""
    names = {experiment: _(name) for experiment, name in EXPERIMENTS.items()}
    name = buttons(EXPERIMENT, names, _("Experiment"), says=False, then=_opened)
    if name != "masks":
        edit_choices.forget_undone_for_page()
    import_module(f"app.views.whatif.{name}_part").draw(scene)


def prepare(scene: Scene) -> None:
    """Computes what the chosen experiment shows of a scene, before the page is opened, if that takes long."""
    name = EXPERIMENT.open(allowed=EXPERIMENTS)
    if part := getattr(import_module(f"app.views.whatif.{name}_part"), "prepare", None):
        part(scene)


def _opened() -> None:
    """The experiment with masks opens without the causal mask, which is put back when another experiment is opened."""
    if EXPERIMENT.value != "masks":
        edit_choices.undo_for_page()
    elif not any(text.startswith(OF_MASKS) for text in EDITS.value):
        edit_choices.add_for_page(MaskOff("causal"))
